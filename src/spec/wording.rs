//! How what a schema refuses is said, in few words and with little of the message.
//!
//! Owns the choice among alternatives: that none of them fits says little, and often one was clearly meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

/// The longest phrase; a message is hostile text.
const MAX_SAYS: usize = 200;
/// A value of a message is quoted up to this length.
const MAX_QUOTED: usize = 60;
/// The members that tell alternatives apart: content and property schemas by type, elicitation by mode, input requests
/// by method. Any other constant is a rule like others, which an otherwise fitting alternative may break.
const TAGS: [&str; 3] = ["type", "mode", "method"];

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Said {
    /// A JSON pointer.
    pub(super) at: String,
    pub(super) says: String,
}

/// An error in words. Of alternatives, what the one says that was meant; where none is, what rules out all of them.
pub(super) fn said(error: &ValidationError<'_>) -> Vec<Said> {
    let here = error.instance_path().as_str();
    if let ValidationErrorKind::AnyOf { context } = error.kind() {
        let is_meant = |alternative: &&Vec<ValidationError<'_>>| {
            !alternative
                .iter()
                .any(|error| is_other_type(error, here) || is_other_tag(error, here))
        };
        let mut meant = context.iter().filter(is_meant);
        if let (Some(only), None) = (meant.next(), meant.next()) {
            return only.iter().flat_map(said).collect();
        }
        let tag = |alternative: &Vec<ValidationError<'static>>| {
            let error = alternative.iter().find(|error| is_other_tag(error, here))?;
            Some(tag_said(error))
        };
        let tags: Option<Vec<Said>> = context.iter().map(tag).collect();
        if let Some(first) = tags.and_then(|tags| tags.into_iter().next()) {
            return vec![first];
        }
    }
    vec![Said {
        at: bounded(here.to_owned()),
        says: says(error),
    }]
}

/// The value itself is of a type that the alternative is not for.
fn is_other_type(error: &ValidationError<'_>, here: &str) -> bool {
    let is_type = matches!(error.kind(), ValidationErrorKind::Type { .. });
    is_type && error.instance_path().as_str() == here
}

/// The value names another alternative, or none.
fn is_other_tag(error: &ValidationError<'_>, here: &str) -> bool {
    let at = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            at == here && TAGS.iter().any(|tag| property == tag)
        }
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => at
            .strip_prefix(here)
            .and_then(|member| member.strip_prefix('/'))
            .is_some_and(|member| TAGS.contains(&member)),
        _ => false,
    }
}

/// That the tag is missing, or that no alternative has it.
fn tag_said(error: &ValidationError<'_>) -> Said {
    let is_missing = matches!(error.kind(), ValidationErrorKind::Required { .. });
    Said {
        at: bounded(error.instance_path().to_string()),
        says: match quoted(error) {
            _ if is_missing => says(error),
            Some(value) => bounded(format!("{value} is none of the values expected")),
            None => "expected another value".to_owned(),
        },
    }
}

/// What the library says, with the value itself only where that is short.
fn says(error: &ValidationError<'_>) -> String {
    bounded(match quoted(error) {
        Some(_) => error.to_string(),
        None => error.masked().to_string(),
    })
}

/// The value as JSON, if it is short.
fn quoted(error: &ValidationError<'_>) -> Option<String> {
    use serde_json::Value;
    let value = error.instance().as_ref();
    let is_short = match value {
        Value::String(text) => text.len() <= MAX_QUOTED,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => true,
    };
    is_short.then(|| value.to_string())
}

/// The text, up to a length.
pub(super) fn bounded(text: String) -> String {
    match text.char_indices().nth(MAX_SAYS) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

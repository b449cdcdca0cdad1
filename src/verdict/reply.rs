//! Rows for replies that break a rule, whatever the control did.
//!
//! Owns the reply rules of elicitation: the envelope, the action, the content. What a message has to look like is
//! `spec`'s; who is to blame for it, and how strongly, is said here.

use serde_json::Value;

use super::{Blame, Case, Kind, Rule, Verdict, content, plain};
use crate::names::Revision;
use crate::outcome::{Kind as Came, Oddity};
use crate::spec::{Strength, Violation};

/// Lines in place of, or beside, the one reply that was asked for.
pub(super) fn not_a_message(case: &Case<'_>) -> Option<Verdict> {
    const MESSAGES: &str = "basic/index Messages (JSON-RPC 2.0)";
    const STDIO: &str = "basic/transports stdio";
    let rule = |section, reason: &str| {
        Some(Rule::of(case, Strength::Must, section).verdict(Kind::Violates, Blame::Client, reason))
    };
    for oddity in &case.outcome.oddities {
        let spoken = match oddity {
            Oddity::SecondReply => rule(MESSAGES, "the client replied twice to one request"),
            Oddity::UnknownId => rule(
                MESSAGES,
                "the client sent a reply with an id that no request had",
            ),
            Oddity::NoMessage => rule(
                MESSAGES,
                "the client wrote JSON that is neither a request, a notification nor a reply",
            ),
            // The schema of later revisions does not require the id of an error.
            Oddity::ErrorWithoutId
                if case
                    .revision
                    .is_some_and(|revision| revision < Revision::V2025_11_25) =>
            {
                rule(MESSAGES, "the client wrote an error without an id")
            }
            // JSON-RPC requires just this of what could not be read, whatever the schema says.
            Oddity::ErrorWithoutId | Oddity::ErrorWithNullId => None,
            Oddity::NotJson => rule(STDIO, "the client wrote a line that is not JSON"),
            Oddity::NotUtf8 => rule(STDIO, "the client wrote a line that is not UTF-8"),
            Oddity::Batch if case.revision != Some(Revision::V2025_03_26) => rule(
                MESSAGES,
                "the client wrote a batch, which this revision does not have",
            ),
            Oddity::TooDeep => {
                let reason = "the reply is nested deeper than capmatrix reads";
                Some(plain(Kind::Unknown, Blame::Nobody, reason))
            }
            Oddity::DuplicateMember => {
                let reason = "an object of the reply has the same member twice; no clause says which of the two counts";
                Some(plain(Kind::SpecSilent, Blame::Nobody, reason))
            }
            // Receivers SHOULD not reply, and MAY ignore what they cannot cancel (basic/utilities/cancellation).
            Oddity::ReplyToCancelled => {
                let reason = "replied to the cancelled request as well; a client may ignore what it cannot cancel";
                Some(plain(Kind::SpecSilent, Blame::Nobody, reason))
            }
            // Speaks of no message, but of how many there are.
            Oddity::Batch | Oddity::LateReply | Oddity::SecondRetry => None,
        };
        if spoken.is_some() {
            return spoken;
        }
    }
    None
}

/// The reply is not what JSON-RPC or the schema of the result has. The strongest rule is named first.
pub(super) fn breaks_a_rule(case: &Case<'_>) -> Option<Verdict> {
    let mut broken: Vec<&Violation> = case
        .reply
        .iter()
        .filter(|violation| is_the_clients(case, violation))
        .collect();
    broken.sort_by_key(|violation| violation.strength != Strength::Must);
    let first = broken.first()?;
    let named: Vec<String> = broken
        .iter()
        .filter(|other| other.clause == first.clause)
        .take(3)
        .map(|violation| named(violation))
        .collect();
    let rule = Rule::of(case, first.strength, &first.clause);
    let what = match case.is_modern() {
        true => "the call that was made again",
        false => "the reply",
    };
    let reason = format!("{what} breaks {}: {}", first.clause, named.join("; "));
    Some(rule.verdict(Kind::Violates, Blame::Client, reason))
}

/// A violation with its place, e.g. `/result/action: expected accept, decline or cancel`.
pub(super) fn named(violation: &Violation) -> String {
    match violation.at.as_str() {
        "" => violation.says.clone(),
        at => format!("{at}: {}", violation.says),
    }
}

/// What a place in a message is within the answer to a probe: in its result, or in what a retry carries for it.
pub(super) fn part_of_the_answer(at: &str) -> Option<&str> {
    at.strip_prefix("/result").or_else(|| {
        let key = at.strip_prefix("/params/inputResponses/")?;
        key.strip_prefix(crate::recording::line::INPUT)
    })
}

/// Null content is judged by a row of its own. Content for an invalid request is what the request asked for.
fn is_the_clients(case: &Case<'_>, violation: &Violation) -> bool {
    let part = part_of_the_answer(&violation.at);
    let is_content = part.is_some_and(|part| part.starts_with("/content"));
    !is_content || !case.has_null_content() && case.invalid_reason().is_none()
}

/// Something came back in which no action can be read, and no rule says more.
pub(super) fn nothing_readable(case: &Case<'_>) -> Option<Verdict> {
    let Came::Malformed { .. } = &case.outcome.kind else {
        return None;
    };
    let rule = Rule::of(case, Strength::Schema, "schema ElicitResult");
    Some(rule.verdict(Kind::Violates, Blame::Client, "the reply has no action"))
}

/// The schema has an object or nothing; servers read null as nothing.
pub(super) fn null_content(case: &Case<'_>) -> Option<Verdict> {
    if !case.has_null_content() {
        return None;
    }
    let rule = Rule::of(case, Strength::Schema, "schema ElicitResult");
    let reason = "content is null, where the schema has an object or leaves it out; servers commonly read it as left out";
    Some(rule.verdict(Kind::Lenient, Blame::Nobody, reason))
}

/// Presented, and accepted before the user had answered.
pub(super) fn answered_for_the_user(case: &Case<'_>) -> Option<Verdict> {
    case.outcome.presented.as_ref()?;
    if case.outcome.answer.is_some() || !case.accepts() {
        return None;
    }
    let strength = match case.revision {
        Some(revision) if revision < Revision::V2025_11_25 => Strength::Should,
        _ => Strength::Must,
    };
    let rule = Rule::of(case, strength, "client/elicitation User Interaction Model");
    let reason =
        "accepted before the user had answered, who is to review a response before it is sent";
    Some(rule.verdict(Kind::Violates, Blame::Client, reason))
}

/// Accepted without content, although the form requires some.
pub(super) fn no_content(case: &Case<'_>) -> Option<Verdict> {
    let Came::Answered { content: None, .. } = &case.outcome.kind else {
        return None;
    };
    let schema = case.form_to_fill()?;
    if content::violations(schema, &Value::Object(serde_json::Map::new())).is_empty() {
        return None;
    }
    let reason = "accepted without content, although the requested schema requires some";
    Some(validate(case).verdict(Kind::Violates, Blame::Client, reason))
}

/// On accept, content that is there is checked against the schema of a valid request, also when it is empty.
pub(super) fn content_breaks_schema(case: &Case<'_>) -> Option<Verdict> {
    let Came::Answered {
        content: Some(content),
        ..
    } = &case.outcome.kind
    else {
        return None;
    };
    let found = content::violations(case.form_to_fill()?, content);
    if found.is_empty() {
        return None;
    }
    let reason = format!(
        "the content breaks the requested schema: {}",
        found.join("; ")
    );
    Some(validate(case).verdict(Kind::Violates, Blame::Client, reason))
}

/// The sentence that asks for valid content moved between the revisions.
fn validate(case: &Case<'_>) -> Rule {
    let section = match case.revision {
        Some(revision) if revision < Revision::V2025_11_25 => {
            "client/elicitation Security Considerations (validate content)"
        }
        _ => "client/elicitation Form Mode Security (validate responses)",
    };
    Rule::of(case, Strength::Should, section)
}

/// The probe sent something invalid on purpose, and the client took it.
pub(super) fn invalid_request_accepted(case: &Case<'_>) -> Option<Verdict> {
    let why = case.invalid_reason()?;
    let what = match case.outcome.presented {
        Some(_) => "presented an invalid request",
        None => "accepted an invalid request",
    };
    let rule = case.norm();
    Some(rule.verdict(Kind::Lenient, Blame::Server, format!("{what} ({why})")))
}

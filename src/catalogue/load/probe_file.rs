//! One probe file: its format, and what must hold within it.
//!
//! Owns the meaning of every line of the file. It must not know other files.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::json;
use crate::catalogue::{Action, Answer, Capability, Probe};
use crate::names::{ProbeId, Revision, did_you_mean};
use crate::toml_error::{Problem, Source};

/// A good probe, with the places that checks across files point at.
pub(super) struct Parsed {
    pub(super) probe: Probe,
    pub(super) title: Range<usize>,
    pub(super) control: Option<Range<usize>>,
}

/// The file as it is written. What must be there is optional here, so that everything that is missing is told at once.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProbe {
    #[serde(rename = "format")]
    _format: u32,
    title: Option<Spanned<String>>,
    why: Option<Spanned<String>>,
    needs: Option<Spanned<String>>,
    revisions: Option<Spanned<Vec<Spanned<String>>>>,
    control: Option<Spanned<String>>,
    method: Option<Spanned<String>>,
    params: Option<Spanned<String>>,
    answer: Option<Spanned<RawAnswer>>,
    #[serde(default)]
    invalid: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    errata: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    action: Option<Spanned<String>>,
    content: Option<Spanned<String>>,
}

/// Reads one probe.
///
/// # Errors
/// Everything that is wrong with it, in the order of the format.
pub(super) fn parse(source: &Source, id: &ProbeId) -> Result<Parsed, Vec<Problem>> {
    let raw: RawProbe = source.parse().map_err(|problem| vec![problem])?;
    let mut check = Check {
        source,
        problems: Vec::new(),
    };
    let title_place = raw.title.as_ref().map(Spanned::span);
    let control_place = raw.control.as_ref().map(Spanned::span);
    let title = check.title(raw.title.as_ref());
    let why = check.text("why", raw.why.as_ref());
    let needs = check.name("needs", raw.needs.as_ref(), &CAPABILITIES);
    let revisions = check.revisions(raw.revisions.as_ref(), needs);
    let method = check.text("method", raw.method.as_ref());
    let params = check.params(raw.params.as_ref());
    let answer = check.answer(raw.answer.as_ref());
    let invalid = check.reasons(&raw.invalid, revisions.as_deref());
    let errata = check.reasons(&raw.errata, revisions.as_deref());
    let probe = (|| {
        Some(Parsed {
            probe: Probe {
                id: id.clone(),
                title: title?,
                why: why?,
                needs: needs?,
                revisions: revisions?,
                invalid,
                errata,
                method: method?,
                params: params?,
                control: raw.control.map(|control| ProbeId(control.into_inner())),
                answer: answer?,
            },
            title: title_place?,
            control: control_place,
        })
    })();
    match probe {
        Some(parsed) if check.problems.is_empty() => Ok(parsed),
        _ => Err(check.problems),
    }
}

/// The longest title in characters: it labels a row of the matrix.
const MAX_TITLE: usize = 60;

const CAPABILITIES: [(&str, Capability); 2] = [
    ("elicitation.form", Capability::ElicitationForm),
    ("elicitation.url", Capability::ElicitationUrl),
];

const ACTIONS: [(&str, Action); 3] = [
    ("accept", Action::Accept),
    ("decline", Action::Decline),
    ("cancel", Action::Cancel),
];

/// Collects problems. Every function gives what it read, or nothing after it has noted why.
struct Check<'a> {
    source: &'a Source,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn note(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.problems.push(self.source.at(span, message));
    }

    /// What must be in the file; `table` is where it is missed.
    fn required<'v, T>(
        &mut self,
        key: &str,
        value: Option<&'v Spanned<T>>,
        table: Range<usize>,
    ) -> Option<&'v Spanned<T>> {
        if value.is_none() {
            let line = match key {
                "answer" => "[answer]".to_owned(),
                key => format!("{key} = ..."),
            };
            self.note(table, format!("missing `{key}`, expected `{line}`"));
        }
        value
    }

    fn text(&mut self, key: &str, value: Option<&Spanned<String>>) -> Option<String> {
        let value = self.required(key, value, 0..0)?;
        let text = value.get_ref().trim();
        if text.is_empty() {
            self.note(value.span(), format!("empty `{key}`, expected a text"));
            return None;
        }
        Some(text.to_owned())
    }

    fn title(&mut self, value: Option<&Spanned<String>>) -> Option<String> {
        let title = self.text("title", value)?;
        let length = title.chars().count();
        if length > MAX_TITLE {
            let message = format!(
                "a title of {length} characters, expected at most {MAX_TITLE}: it labels a row"
            );
            self.note(value?.span(), message);
            return None;
        }
        Some(title)
    }

    fn name<T: Copy>(
        &mut self,
        key: &str,
        value: Option<&Spanned<String>>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let value = self.required(key, value, 0..0)?;
        self.known(key, value, known)
    }

    fn known<T: Copy>(
        &mut self,
        key: &str,
        value: &Spanned<String>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let text = value.get_ref();
        if let Some((_, found)) = known.iter().find(|(name, _)| name == text) {
            return Some(*found);
        }
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!(
            "unknown {key} `{}`, expected one of {}",
            text.escape_debug(),
            names.join(", ")
        );
        self.note(value.span(), message);
        None
    }

    fn revision(&mut self, value: &Spanned<String>) -> Option<Revision> {
        let text = value.get_ref();
        text.parse().ok().or_else(|| {
            let message = format!(
                "unknown revision `{}`, expected a date of the specification",
                text.escape_debug()
            );
            let hint = did_you_mean(text, Revision::ALL.iter().map(|known| known.as_str()));
            let problem = self.source.at(value.span(), message).hint(hint);
            self.problems.push(problem);
            None
        })
    }

    fn revisions(
        &mut self,
        value: Option<&Spanned<Vec<Spanned<String>>>>,
        needs: Option<Capability>,
    ) -> Option<Vec<Revision>> {
        let list = self.required("revisions", value, 0..0)?;
        let mut revisions = Vec::new();
        let mut good = true;
        for item in list.get_ref() {
            match self.revision(item) {
                Some(revision) if revisions.contains(&revision) => {
                    self.note(item.span(), format!("{revision} twice, expected it once"));
                }
                Some(revision) => {
                    if let Some(needs) = needs.filter(|needs| !needs.exists_in(revision)) {
                        self.absent(item.span(), needs, revision);
                    }
                    revisions.push(revision);
                }
                None => good = false,
            }
        }
        if !good {
            return None;
        }
        if revisions.is_empty() {
            self.note(list.span(), "no revision, expected at least one");
            return None;
        }
        Some(revisions)
    }

    /// A revision that does not know what the probe needs.
    fn absent(&mut self, span: Range<usize>, needs: Capability, revision: Revision) {
        let known: Vec<&str> = Revision::ALL
            .iter()
            .filter(|known| needs.exists_in(**known))
            .map(|known| known.as_str())
            .collect();
        let message = format!(
            "{revision} has no {}, expected one of {}",
            needs.as_str(),
            known.join(", ")
        );
        self.note(span, message);
    }

    fn params(&mut self, value: Option<&Spanned<String>>) -> Option<String> {
        let value = self.required("params", value, 0..0)?;
        self.json("params", value)?;
        let text = value.get_ref();
        let trimmed = text.trim_matches(JSON_SPACE);
        let start = text.len() - text.trim_start_matches(JSON_SPACE).len();
        if let Some(at) = trimmed.find(['\n', '\r']) {
            let at = start + at;
            self.problems.push(self.source.inside(
                value.span(),
                at..at,
                "`params` has a line break here, expected one line: a message on stdio ends at a line break",
            ));
            return None;
        }
        Some(trimmed.to_owned())
    }

    fn json(&mut self, key: &str, value: &Spanned<String>) -> Option<serde_json::Value> {
        match json::object(value.get_ref()) {
            Ok(object) => Some(object),
            Err(problem) => {
                let message = format!("`{key}`: {}", problem.message);
                let problem = self.source.inside(value.span(), problem.at, message);
                self.problems.push(problem);
                None
            }
        }
    }

    fn answer(&mut self, value: Option<&Spanned<RawAnswer>>) -> Option<Answer> {
        let table = self.required("answer", value, 0..0)?;
        let raw = table.get_ref();
        let action = self
            .required("action", raw.action.as_ref(), table.span())
            .and_then(|action| self.known("action", action, &ACTIONS));
        let content = match &raw.content {
            Some(text) => Some(self.json("content", text)?),
            None => None,
        };
        Some(Answer {
            action: action?,
            content,
        })
    }

    fn reasons(
        &mut self,
        raw: &BTreeMap<Spanned<String>, Spanned<String>>,
        revisions: Option<&[Revision]>,
    ) -> BTreeMap<Revision, String> {
        let mut invalid = BTreeMap::new();
        for (key, reason) in raw {
            let Some(revision) = self.revision(key) else {
                continue;
            };
            if revisions.is_some_and(|revisions| !revisions.contains(&revision)) {
                let message = format!("{revision} is not in `revisions`, expected one of those");
                self.note(key.span(), message);
            }
            let text = reason.get_ref().trim();
            if text.is_empty() {
                self.note(
                    reason.span(),
                    "empty reason, expected what makes the request invalid",
                );
            }
            invalid.insert(revision, text.to_owned());
        }
        invalid
    }
}

/// What JSON calls white space.
const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

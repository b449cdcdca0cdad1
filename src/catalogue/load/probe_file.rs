//! One probe file: its format, and what must hold within it.
//!
//! Owns the meaning of every line of the file. It must not know other files.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::check::Check;
use super::json;
use super::norms::RawNorm;
use super::script::RawScript;
use crate::catalogue::script::Script;
use crate::catalogue::{Action, Answer, Asks, Capability, Probe, Way};
use crate::names::{ProbeId, Revision};
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
    asks: Option<Spanned<String>>,
    needs: Option<Spanned<String>>,
    way: Option<Spanned<String>>,
    revisions: Option<Spanned<Vec<Spanned<String>>>>,
    control: Option<Spanned<String>>,
    method: Option<Spanned<String>>,
    params: Option<Spanned<String>>,
    answer: Option<Spanned<RawAnswer>>,
    handshake: Option<Spanned<RawScript>>,
    #[serde(default)]
    invalid: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    errata: BTreeMap<Spanned<String>, Spanned<String>>,
    norms: Option<Spanned<Vec<Spanned<RawNorm>>>>,
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
    let asks = check.asks(raw.asks.as_ref(), raw.control.as_ref());
    let needs = check.name("needs", raw.needs.as_ref(), &CAPABILITIES);
    let asked = check.asked(raw.revisions.as_ref(), needs);
    let revisions: Option<Vec<Revision>> = asked
        .as_ref()
        .map(|asked| asked.iter().map(|(revision, _)| *revision).collect());
    let (script, method, params) = check.stimulus(&raw).unwrap_or_default();
    let way = check.way(raw.way.as_ref(), asked.as_deref());
    let answer = check.answer(raw.answer.as_ref(), asks.unwrap_or_default());
    let invalid = check.reasons(&raw.invalid, revisions.as_deref());
    let errata = check.reasons(&raw.errata, revisions.as_deref());
    check.either_invalid_or_erratum(&raw.errata, &invalid);
    let norms = check.norms(raw.norms.as_ref(), asked.as_deref());
    let probe = (|| {
        Some(Parsed {
            probe: Probe {
                id: id.clone(),
                title: title?,
                why: why?,
                asks: asks?,
                needs: needs?,
                revisions: revisions?,
                invalid,
                errata,
                norms: norms?,
                way: way?,
                script,
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

const ASKS: [(&str, Asks); 5] = [
    ("handshake", Asks::Handshake),
    ("request", Asks::Request),
    ("declaration", Asks::Declaration),
    ("result", Asks::Result),
    ("method-not-found", Asks::MethodNotFound),
];

const CAPABILITIES: [(&str, Capability); 3] = [
    ("nothing", Capability::Nothing),
    ("elicitation.form", Capability::ElicitationForm),
    ("elicitation.url", Capability::ElicitationUrl),
];

const ACTIONS: [(&str, Action); 3] = [
    ("accept", Action::Accept),
    ("decline", Action::Decline),
    ("cancel", Action::Cancel),
];

impl Check<'_> {
    /// The request that is sent, or the script of the handshake: a file has one of the two.
    #[allow(clippy::type_complexity)]
    fn stimulus(
        &mut self,
        raw: &RawProbe,
    ) -> Option<(Option<Script>, Option<String>, Option<String>)> {
        let is_handshake = raw
            .asks
            .as_ref()
            .is_some_and(|asks| asks.get_ref() == "handshake");
        match (&raw.handshake, is_handshake) {
            (None, false) => {
                let method = self.text("method", raw.method.as_ref());
                let params = self.params(raw.params.as_ref());
                Some((None, method, params))
            }
            (Some(script), true) => {
                for (key, value) in [("method", &raw.method), ("params", &raw.params)] {
                    if let Some(value) = value {
                        let message = format!(
                            "`{key}` beside [handshake], expected none: the script says what is sent"
                        );
                        self.note(value.span(), message);
                    }
                }
                let scripted = self.script(script)?;
                Some((
                    Some(scripted.script),
                    Some(scripted.method),
                    Some(scripted.text),
                ))
            }
            (Some(script), false) => {
                self.note(
                    script.span(),
                    "[handshake] in a probe that does not ask about it, expected `asks = \"handshake\"`",
                );
                None
            }
            (None, true) => {
                self.note(0..0, "missing `[handshake]`, expected the script of one");
                None
            }
        }
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

    fn asks(
        &mut self,
        value: Option<&Spanned<String>>,
        control: Option<&Spanned<String>>,
    ) -> Option<Asks> {
        let asks = match value {
            Some(value) => self.known("asks", value, &ASKS)?,
            None => Asks::default(),
        };
        if let Some(control) = control.filter(|_| asks == Asks::Declaration) {
            self.note(
                control.span(),
                "a control of a probe that asks for the declaration, expected none: \
                 it is compared with what the client declares",
            );
        }
        Some(asks)
    }

    /// The revisions in which the probe is asked.
    fn asked(
        &mut self,
        value: Option<&Spanned<Vec<Spanned<String>>>>,
        needs: Option<Capability>,
    ) -> Option<Vec<(Revision, Range<usize>)>> {
        let list = self.required("revisions", value, 0..0)?;
        let revisions = self.revisions(list)?;
        for (revision, place) in &revisions {
            if let Some(needs) = needs.filter(|needs| !needs.exists_in(*revision)) {
                self.absent(place.clone(), needs, *revision);
            }
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
        self.line("params", value)
    }

    /// A JSON object that stands in one line.
    pub(super) fn line(&mut self, key: &str, value: &Spanned<String>) -> Option<String> {
        self.json(key, value)?;
        let text = value.get_ref();
        let trimmed = text.trim_matches(JSON_SPACE);
        let start = text.len() - text.trim_start_matches(JSON_SPACE).len();
        if let Some(at) = trimmed.find(['\n', '\r']) {
            let at = start + at;
            self.problems.push(self.source.inside(
                value.span(),
                at..at,
                format!("`{key}` has a line break here, expected one line: a message on stdio ends at a line break"),
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

    /// How the request is sent, in all revisions in which it is.
    fn way(
        &mut self,
        value: Option<&Spanned<String>>,
        asked: Option<&[(Revision, Range<usize>)]>,
    ) -> Option<Way> {
        let Some(value) = value else {
            return Some(Way::default());
        };
        let way = self.known("way", value, &Way::NAMES)?;
        let absent = asked.into_iter().flatten();
        let mut absent = absent.filter(|(revision, _)| !way.exists_in(*revision));
        if let Some((revision, place)) = absent.next() {
            let message = format!(
                "{revision} has no way `{}`, expected a revision of the era that it is of",
                value.get_ref()
            );
            self.note(place.clone(), message);
            return None;
        }
        Some(way)
    }

    /// What is answered. Where nobody is asked there is nothing to answer.
    fn answer(&mut self, value: Option<&Spanned<RawAnswer>>, asks: Asks) -> Option<Answer> {
        if !asks.is_answered_by_somebody() {
            if let Some(answer) = value {
                self.note(
                    answer.span(),
                    "an answer to a request that nobody is shown, expected none",
                );
                return None;
            }
            return Some(Answer {
                action: Action::Cancel,
                content: None,
            });
        }
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

    /// An erratum is about a valid request, so a revision cannot have a reason of both kinds.
    fn either_invalid_or_erratum(
        &mut self,
        errata: &BTreeMap<Spanned<String>, Spanned<String>>,
        invalid: &BTreeMap<Revision, String>,
    ) {
        for key in errata.keys() {
            // An unknown revision has been told already.
            let Ok(revision) = key.get_ref().parse::<Revision>() else {
                continue;
            };
            if invalid.contains_key(&revision) {
                let message = format!(
                    "{revision} stands under [invalid] too, expected it in one of them: an erratum is about a valid request"
                );
                self.note(key.span(), message);
            }
        }
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
                self.not_asked(key.span(), revision);
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

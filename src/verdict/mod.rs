//! Outcome -> verdict: what the specification says of what happened.
//!
//! Owns judgement. Pure. It must never look at a client's name, and says nothing that its evidence does not show.

mod answerless;
mod content;
mod control;
mod declaration;
mod fidelity;
mod handshake;
mod members;
mod reply;
pub mod session;
mod table;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::Probe;
use crate::names::Revision;
use crate::outcome::{Kind as Came, Outcome};
use crate::recording::AnsweredBy;
use crate::spec::{Strength, Violation};

/// The judgement of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which.
    pub kind: Kind,
    /// Whose doing it is.
    pub blame: Blame,
    /// How strong the broken rule is, where one is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The rule: revision, section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// One sentence.
    pub reason: String,
    /// Line numbers of the recording; the header is line 1.
    pub evidence: Vec<usize>,
}

impl Verdict {
    /// The word that a matrix shows. A refusal for which nobody is to blame is the client's policy: it was refused
    /// before anybody was asked, and so was the control.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (self.kind, self.blame) {
            (Kind::Refused, Blame::Nobody) => "refused by policy",
            (kind, _) => kind.word(),
        }
    }
}

/// The verdicts that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Presented unaltered, and the answer arrived intact.
    Works,
    /// Presented, but changed or with parts lost.
    Altered,
    /// Declined or cancelled by the client itself, and so was the control: policy, not a fault.
    Refused,
    /// A surface that never presents anything answered by itself.
    NotShown,
    /// The client broke a rule.
    Violates,
    /// A valid request fails although the control works.
    Breaks,
    /// Something invalid was let pass: the client accepted an invalid request, or wrote what the schema does not have
    /// and servers commonly read all the same. Worth knowing; nobody's fault.
    Lenient,
    /// The client does not claim the capability.
    NotDeclared,
    /// Behaviours differ and no clause decides.
    SpecSilent,
    /// Our own message or machinery was wrong.
    HarnessFault,
    /// The evidence does not decide.
    Unknown,
}

impl Kind {
    /// The word for this kind; faults of a client are in capitals, so that meaning needs no colour.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Works => "works",
            Kind::Altered => "altered",
            Kind::Refused => "refused",
            Kind::NotShown => "not shown",
            Kind::Violates => "VIOLATES",
            Kind::Breaks => "BREAKS",
            Kind::Lenient => "lenient",
            Kind::NotDeclared => "not declared",
            Kind::SpecSilent => "spec silent",
            Kind::HarnessFault => "HARNESS",
            Kind::Unknown => "unknown",
        }
    }

    /// The name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Works => "works",
            Kind::Altered => "altered",
            Kind::Refused => "refused",
            Kind::NotShown => "not_shown",
            Kind::Violates => "violates",
            Kind::Breaks => "breaks",
            Kind::Lenient => "lenient",
            Kind::NotDeclared => "not_declared",
            Kind::SpecSilent => "spec_silent",
            Kind::HarnessFault => "harness_fault",
            Kind::Unknown => "unknown",
        }
    }

    /// Whether the evidence decided.
    #[must_use]
    pub fn is_decided(self) -> bool {
        !matches!(self, Kind::Unknown | Kind::HarnessFault)
    }
}

/// Whose doing a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The client under test.
    Client,
    /// The server: the probe deliberately sent something invalid.
    Server,
    /// A known erratum of the specification.
    Specification,
    /// capmatrix.
    Harness,
    /// Nobody.
    Nobody,
}

impl Blame {
    /// The name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Blame::Client => "client",
            Blame::Server => "server",
            Blame::Specification => "specification",
            Blame::Harness => "harness",
            Blame::Nobody => "nobody",
        }
    }
}

/// All that a verdict may rest on.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The probe.
    pub probe: &'a Probe,
    /// The negotiated revision; none if the handshake did not come so far.
    pub revision: Option<Revision>,
    /// What happened.
    pub outcome: &'a Outcome,
    /// What happened to the control in the same session; none if the probe is a control itself.
    pub control: Option<&'a Outcome>,
    /// Who answers on the surface.
    pub answered_by: AnsweredBy,
    /// The capabilities that the client declared; none if it never came to that.
    pub declared: Option<&'a Value>,
    /// The `params` of the request as they were sent; none if it was not sent.
    pub sent: Option<&'a Value>,
    /// What is wrong with the client's reply by the rules of the revision.
    pub reply: &'a [Violation],
    /// The harness's own failure in this session or cell, if any.
    pub harness_error: Option<&'a str>,
}

impl<'a> Case<'a> {
    /// The same, in the revision whose rules the probe is about. A handshake that goes by a script settles on another
    /// one, or on none, as the script has it; what the client is to do then stands in the revision that it is asked in.
    fn in_the_probes_revision(&self) -> Case<'a> {
        let asked = &self.probe.revisions;
        let is_beside = self.probe.script.is_some()
            && self
                .revision
                .is_none_or(|settled| !asked.contains(&settled));
        Case {
            revision: match is_beside {
                true => asked.first().copied(),
                false => self.revision,
            },
            ..*self
        }
    }

    /// Whether the request stood in a result (2026-07-28 basic/patterns/mrtr).
    fn is_modern(&self) -> bool {
        self.revision.is_some_and(|revision| !revision.is_legacy())
    }

    /// Why the request is invalid in this revision, if it is.
    fn invalid_reason(&self) -> Option<&'a str> {
        self.probe.validity(self.revision?).err()
    }

    /// The rule that the probe itself names: the one that refusing it breaks or, of an invalid request, that it breaks.
    fn norm(&self) -> Rule {
        match self.revision.and_then(|revision| self.probe.norm(revision)) {
            Some(norm) => Rule::of(self, norm.keyword, &norm.section),
            None => Rule::of(self, Strength::Schema, "schema"),
        }
    }

    /// Whether the reply accepts.
    fn accepts(&self) -> bool {
        matches!(&self.outcome.kind, Came::Answered { action, .. } if action == "accept")
    }

    /// Whether the reply accepts a form; a URL has no content to give.
    fn accepts_a_form(&self) -> bool {
        let is_url = self.sent.is_some_and(|params| params["mode"] == "url");
        self.accepts() && !is_url
    }

    fn has_null_content(&self) -> bool {
        matches!(
            &self.outcome.kind,
            Came::Answered {
                content: Some(Value::Null),
                ..
            }
        )
    }

    /// The schema that accepted content has to fit: as it was sent, and only where the request is valid.
    fn form_to_fill(&self) -> Option<&'a Value> {
        if !self.accepts_a_form() || self.invalid_reason().is_some() {
            return None;
        }
        self.sent?.get("requestedSchema")
    }
}

/// Judges one cell.
#[must_use]
pub fn judge(case: &Case<'_>) -> Verdict {
    let case = &case.in_the_probes_revision();
    let mut verdict = table::decide(case);
    verdict.reason = one_line(&declaration::with_declaration(case, verdict.reason));
    verdict.evidence.clone_from(&case.outcome.evidence);
    verdict
}

/// A verdict that quotes no rule.
fn plain(kind: Kind, blame: Blame, reason: impl Into<String>) -> Verdict {
    Verdict {
        kind,
        blame,
        strength: None,
        clause: None,
        reason: reason.into(),
        evidence: Vec::new(),
    }
}

/// The rule that a verdict rests on: how strong it is, and where it stands.
struct Rule {
    strength: Strength,
    clause: String,
}

impl Rule {
    /// A rule of `section` in the revision that the session settled on.
    fn of(case: &Case<'_>, strength: Strength, section: &str) -> Rule {
        let clause = clause(case.revision, section);
        Rule { strength, clause }
    }

    fn verdict(self, kind: Kind, blame: Blame, reason: impl Into<String>) -> Verdict {
        Verdict {
            strength: Some(self.strength),
            clause: Some(self.clause),
            ..plain(kind, blame, reason)
        }
    }
}

/// A section with its revision before it, and by the name that its page has there.
fn clause(revision: Option<Revision>, section: &str) -> String {
    let Some(revision) = revision else {
        return section.to_owned();
    };
    let moved = [
        // Where a page or a heading has another name before, or since, a revision.
        (
            revision < Revision::V2025_03_26,
            "basic/index ",
            "basic/messages ",
        ),
        (
            revision >= Revision::V2025_11_25,
            "basic/index Responses",
            "basic/index Result Responses",
        ),
        (
            !revision.is_legacy(),
            "basic/transports stdio",
            "basic/transports/stdio",
        ),
    ];
    let renamed = moved.iter().find_map(|(applies, here, there)| {
        let rest = section.strip_prefix(here).filter(|_| *applies)?;
        Some(format!("{revision} {there}{rest}"))
    });
    renamed.unwrap_or_else(|| format!("{revision} {section}"))
}

/// The longest reason: one sentence, also where a client's own words are part of it.
const MAX_REASON: usize = 400;

/// A client's words may hold line feeds; a reason has none.
fn one_line(reason: &str) -> String {
    let words: Vec<&str> = reason
        .split(|c: char| c.is_whitespace() || c.is_control())
        .collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MAX_REASON).collect()
}

#[cfg(test)]
mod tests;

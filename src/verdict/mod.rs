//! Outcome -> verdict: what the specification says of what happened.
//!
//! Owns judgement. Pure. It must never look at a client's name, and says nothing that its evidence does not show.

mod content;
mod members;
mod table;

use serde::{Deserialize, Serialize};

use crate::catalogue::Probe;
use crate::names::Revision;
use crate::outcome::Outcome;
use crate::recording::AnsweredBy;

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
    /// An invalid request was accepted.
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
    /// The word that a matrix shows; faults of a client are in capitals, so that meaning needs no colour.
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

/// How strong a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Strength {
    /// MUST, MUST NOT.
    Must,
    /// SHOULD, SHOULD NOT.
    Should,
    /// MAY.
    May,
    /// No sentence, but the normative schema: stricter or looser than it allows.
    Schema,
}

impl Strength {
    /// The keyword.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strength::Must => "MUST",
            Strength::Should => "SHOULD",
            Strength::May => "MAY",
            Strength::Schema => "SCHEMA",
        }
    }
}

/// All that a verdict may rest on.
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
    /// The harness's own failure in this session, if any.
    pub harness_error: Option<&'a str>,
}

/// Judges one cell.
#[must_use]
pub fn judge(case: &Case<'_>) -> Verdict {
    let mut verdict = table::decide(case);
    verdict.reason = one_line(&verdict.reason);
    verdict.evidence.clone_from(&case.outcome.evidence);
    verdict
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

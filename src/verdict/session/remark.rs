//! What is said of one line of the client.
//!
//! Owns the shape of such a remark, and those that more than one rule makes. It must not know what was asked before.

use serde_json::Value;

use crate::names::Revision;
use crate::spec::{Source, Strength, Violation};
use crate::verdict::{Blame, Kind, Verdict, clause, plain};

/// A judgement of one line of the client.
#[derive(Debug)]
pub(super) struct Remark {
    pub(super) line: usize,
    /// Whether the line may belong to a probe's exchange: then the cell speaks of it first.
    pub(super) is_of_an_exchange: bool,
    pub(super) verdict: Verdict,
}

/// Whether a violation of a call that is made again is about what it carries for that.
pub(super) fn is_answer(violation: &Violation) -> bool {
    let members = ["/params/inputResponses", "/params/requestState"];
    let is_below = |member: &&str| violation.at.starts_with(*member);
    members.iter().any(is_below) || violation.clause.starts_with("basic/patterns/mrtr")
}

/// Where a sentence forbids at a place what the schema forbids there too, the sentence is the stronger word.
pub(super) fn without_weaker(mut found: Vec<Violation>) -> Vec<Violation> {
    let sentences = found.iter().filter(|other| other.source == Source::Prose);
    let places: Vec<String> = sentences
        .map(|sentence| sentence.at.clone())
        .filter(|place| !place.is_empty())
        .collect();
    found.retain(|violation| violation.source == Source::Prose || !places.contains(&violation.at));
    found
}

pub(super) fn broken(
    line: usize,
    strength: Strength,
    revision: Revision,
    section: &str,
    reason: String,
) -> Remark {
    let verdict = Verdict {
        strength: Some(strength),
        clause: Some(clause(Some(revision), section)),
        ..plain(Kind::Violates, Blame::Client, reason)
    };
    Remark {
        line,
        is_of_an_exchange: false,
        verdict,
    }
}

pub(super) fn reply_to_nobody(line: usize, revision: Revision, reason: String) -> Remark {
    let section = "basic/index Responses";
    Remark {
        is_of_an_exchange: true,
        ..broken(line, Strength::Must, revision, section, reason)
    }
}

/// Whether a message is an error as one about what could not be read may be: with a null id, as JSON-RPC has it, or with none
/// where the schema does not require one.
pub(super) fn may_be_about_noise(revision: Revision, value: &Value) -> bool {
    let may_name_nothing = match value.get("id") {
        Some(id) => id.is_null(),
        None => revision >= Revision::V2025_11_25,
    };
    may_name_nothing && value["error"].is_object() && value.get("method").is_none()
}

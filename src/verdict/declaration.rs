//! Rows for probes that ask whether a client does what it declares.
//!
//! Owns the two ways in which the declared and the measured can disagree: declared, but refused before anybody was
//! asked; and not declared, but answered all the same. The request of such a probe is a valid one, and is sent either way.

use serde_json::Value;

use super::{Blame, Case, Kind, Rule, Verdict, control, plain};
use crate::catalogue::Asks;
use crate::names::Revision;
use crate::outcome::Kind as Came;
use crate::spec::Strength;

/// Invalid params: what a request of a mode that is not declared is to be answered with.
const INVALID_PARAMS: i64 = -32602;

/// What the client does with a mode that it declares.
pub(super) fn declared(case: &Case<'_>) -> Option<Verdict> {
    if !asks_declaration(case) || !is_declared(case) || case.invalid_reason().is_some() {
        return None;
    }
    let needs = case.probe.needs.as_str();
    let outcome = case.outcome;
    match &outcome.kind {
        Came::Answered { .. } if outcome.presented.is_some() => None,
        Came::Answered { .. } if outcome.refusal().is_some() => {
            // A person's "no" is told apart by the rows that follow.
            control::person_refused(case).or_else(|| {
                let action = outcome.refusal().unwrap_or_default();
                let reason = format!(
                    "{needs} is declared but refused before presentation: answered {action} by the client itself"
                );
                Some(plain(Kind::Refused, Blame::Nobody, reason))
            })
        }
        Came::RpcError { code, message } => {
            let rule = Rule::of(case, Strength::Schema, schema(case));
            let reason = format!("{needs} is declared but rejected with error {code}: {message}");
            Some(rule.verdict(Kind::Violates, Blame::Client, reason))
        }
        _ => None,
    }
}

/// What the client does with a mode that it does not declare.
pub(super) fn undeclared(case: &Case<'_>) -> Option<Verdict> {
    if !asks_declaration(case) || is_declared(case) || case.invalid_reason().is_some() {
        return None;
    }
    let needs = case.probe.needs.as_str();
    // Before, and since requests travel inside results, no clause binds the client.
    let is_ruled = case.revision == Some(Revision::V2025_11_25);
    let broken = |reason: String| {
        let rule = Rule::of(case, Strength::Must, "client/elicitation Error Handling");
        match is_ruled {
            true => rule.verdict(Kind::Violates, Blame::Client, reason),
            false => plain(Kind::SpecSilent, Blame::Nobody, reason),
        }
    };
    match &case.outcome.kind {
        Came::RpcError { code, .. } if *code == INVALID_PARAMS || !has_elicitation(case) => {
            let reason = format!("{needs} is not declared, and a request is refused with {code}");
            Some(plain(Kind::NotDeclared, Blame::Nobody, reason))
        }
        Came::RpcError { code, .. } => Some(broken(format!(
            "{needs} is not declared; a request is refused with {code} in place of {INVALID_PARAMS}"
        ))),
        Came::Answered { action, .. } => Some(broken(format!(
            "{needs} is undeclared but answered: {action}"
        ))),
        Came::Silent { .. } | Came::CallEnded | Came::Gone { .. } => {
            let reason = format!("{needs} is not declared, and a request gets no reply");
            if case.is_modern() {
                return Some(plain(Kind::SpecSilent, Blame::Nobody, reason));
            }
            let rule = control::must_reply(case);
            Some(rule.verdict(Kind::Violates, Blame::Client, reason))
        }
        Came::NotRetried => {
            let reason = format!("{needs} is not declared, and the call was ended");
            Some(plain(Kind::NotDeclared, Blame::Nobody, reason))
        }
        Came::Result
        | Came::Followed { .. }
        | Came::NotReached { .. }
        | Came::NotDeclared { .. }
        | Came::Malformed { .. } => None,
    }
}

/// A reason with what was declared before it, where that is asked and was sent, and the reason does not say it already.
pub(super) fn with_declaration(case: &Case<'_>, reason: String) -> String {
    let needs = case.probe.needs.as_str();
    if !asks_declaration(case) || case.sent.is_none() || reason.starts_with(needs) {
        return reason;
    }
    let is_answered = matches!(case.outcome.kind, Came::Answered { .. });
    let declared = match (is_declared(case), is_answered) {
        (true, _) => "declared",
        (false, true) => "undeclared but answered",
        (false, false) => "undeclared",
    };
    format!("{needs} is {declared}; {reason}")
}

fn asks_declaration(case: &Case<'_>) -> bool {
    case.probe.asks == Asks::Declaration
}

fn is_declared(case: &Case<'_>) -> bool {
    case.declared
        .is_some_and(|capabilities| case.probe.needs.is_declared(capabilities))
}

/// Whether the client declares elicitation of any kind; one that has none may not know the method.
fn has_elicitation(case: &Case<'_>) -> bool {
    case.declared
        .and_then(|capabilities| capabilities.get("elicitation"))
        .is_some_and(Value::is_object)
}

/// The definition that the request is valid by.
fn schema(case: &Case<'_>) -> &'static str {
    match case.revision {
        Some(revision) if revision < Revision::V2025_11_25 => "schema ElicitRequest",
        _ => "schema ElicitRequestParams",
    }
}

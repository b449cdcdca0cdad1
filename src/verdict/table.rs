//! The decision table: one row a case, asked in order; the first that speaks decides.
//!
//! The order is the argument: our own faults first, then cells that did not come to the question, then
//! what breaks a rule whatever the control did, then what only the control can explain, then fidelity.

use super::{Blame, Case, Kind, Strength, Verdict, content, members};
use crate::outcome::{Change, Difference, Kind as Came, Oddity, Outcome};
use crate::recording::AnsweredBy;

type Row = fn(&Case<'_>) -> Option<Verdict>;

const ROWS: &[Row] = &[
    harness_failed,
    not_reached,
    not_declared,
    odd_reply,
    malformed_reply,
    unknown_action,
    content_breaks_schema,
    person_refused,
    control_not_asked,
    same_as_control,
    invalid_request,
    control_unusable,
    no_result,
    presentation_not_recorded,
    refused_unseen,
    answered_unseen,
    not_waited_for,
    altered,
    works,
];

pub(super) fn decide(case: &Case<'_>) -> Verdict {
    ROWS.iter().find_map(|row| row(case)).unwrap_or_else(|| {
        verdict(
            Kind::Unknown,
            Blame::Nobody,
            "no row of the decision table fits",
        )
    })
}

fn verdict(kind: Kind, blame: Blame, reason: impl Into<String>) -> Verdict {
    Verdict {
        kind,
        blame,
        strength: None,
        clause: None,
        reason: reason.into(),
        evidence: Vec::new(),
    }
}

fn rule(kind: Kind, strength: Strength, clause: String, reason: impl Into<String>) -> Verdict {
    Verdict {
        strength: Some(strength),
        clause: Some(clause),
        ..verdict(kind, Blame::Client, reason)
    }
}

fn clause(case: &Case<'_>, section: &str) -> String {
    match case.revision {
        Some(revision) => format!("{revision} {section}"),
        None => section.to_owned(),
    }
}

fn harness_failed(case: &Case<'_>) -> Option<Verdict> {
    let error = case.harness_error?;
    Some(verdict(Kind::HarnessFault, Blame::Harness, error))
}

fn not_reached(case: &Case<'_>) -> Option<Verdict> {
    let Came::NotReached { missing, note } = &case.outcome.kind else {
        return None;
    };
    let reason = match note {
        Some(note) => note.clone(),
        None => format!("not reached: {}", missing.words()),
    };
    Some(verdict(Kind::Unknown, Blame::Nobody, reason))
}

fn not_declared(case: &Case<'_>) -> Option<Verdict> {
    let Came::NotDeclared { needs } = &case.outcome.kind else {
        return None;
    };
    let reason = format!("the client does not declare {needs}; nothing was sent");
    Some(verdict(Kind::NotDeclared, Blame::Nobody, reason))
}

/// Replies beside the one that was asked for break JSON-RPC whatever they say.
fn odd_reply(case: &Case<'_>) -> Option<Verdict> {
    let reason = match case.outcome.oddities.first()? {
        Oddity::SecondReply => "the client replied twice to one request",
        Oddity::UnknownId => "the client sent a reply with an id that no request had",
        Oddity::NotJson => "the client wrote a line that is not JSON",
    };
    let clause = clause(case, "basic/index Messages (JSON-RPC 2.0)");
    Some(rule(Kind::Violates, Strength::Must, clause, reason))
}

fn malformed_reply(case: &Case<'_>) -> Option<Verdict> {
    let Came::Malformed { .. } = &case.outcome.kind else {
        return None;
    };
    let clause = clause(case, "schema ElicitResult");
    let reason = "the reply has no action";
    Some(rule(Kind::Violates, Strength::Schema, clause, reason))
}

fn unknown_action(case: &Case<'_>) -> Option<Verdict> {
    let Came::Answered { action, .. } = &case.outcome.kind else {
        return None;
    };
    if matches!(action.as_str(), "accept" | "decline" | "cancel") {
        return None;
    }
    let reason = format!("the action `{action}` is none of accept, decline, cancel");
    let clause = clause(case, "schema ElicitResult.action");
    Some(rule(Kind::Violates, Strength::Schema, clause, reason))
}

/// On accept, content is checked against the schema of a valid request, also when it is absent or empty.
fn content_breaks_schema(case: &Case<'_>) -> Option<Verdict> {
    let Came::Answered { action, content } = &case.outcome.kind else {
        return None;
    };
    if action != "accept" || invalid_reason(case).is_some() {
        return None;
    }
    let params = case.probe.params_value();
    let schema = params.get("requestedSchema")?;
    if content.as_ref().is_some_and(serde_json::Value::is_null) {
        let clause = clause(case, "schema ElicitResult.content");
        return Some(rule(
            Kind::Violates,
            Strength::Schema,
            clause,
            "content is null",
        ));
    }
    let empty = serde_json::json!({});
    let found = content::violations(schema, content.as_ref().unwrap_or(&empty));
    if found.is_empty() {
        return None;
    }
    let what = match content {
        None => "accepted without content although the schema requires some".to_owned(),
        Some(_) => format!(
            "the content breaks the requested schema: {}",
            found.join("; ")
        ),
    };
    let clause = clause(
        case,
        "client/elicitation Requested Schema (clients validate responses)",
    );
    Some(rule(Kind::Violates, Strength::Should, clause, what))
}

fn invalid_reason<'a>(case: &'a Case<'_>) -> Option<&'a str> {
    case.probe.validity(case.revision?).err()
}

/// The probe sent something invalid on purpose: whatever the client does with it is not a fault.
fn invalid_request(case: &Case<'_>) -> Option<Verdict> {
    let why = invalid_reason(case)?;
    let (kind, what) = match &case.outcome.kind {
        Came::Answered { .. } if case.outcome.presented.is_some() => {
            (Kind::Lenient, "presented an invalid request")
        }
        Came::Answered { action, .. } if action == "accept" => {
            (Kind::Lenient, "accepted an invalid request")
        }
        Came::Answered { .. } => (Kind::Refused, "refused an invalid request"),
        Came::RpcError { .. } => (Kind::Refused, "rejected an invalid request"),
        Came::Silent { .. } => (Kind::SpecSilent, "did not reply to an invalid request"),
        _ => (Kind::SpecSilent, "went away on an invalid request"),
    };
    Some(verdict(kind, Blame::Server, format!("{what} ({why})")))
}

/// A person may say no for reasons of their own.
fn person_refused(case: &Case<'_>) -> Option<Verdict> {
    let action = case.outcome.refusal()?;
    (case.answered_by == AnsweredBy::Person).then(|| {
        let reason =
            format!("answered {action}; whether by the person or the client is not recorded");
        verdict(Kind::Unknown, Blame::Nobody, reason)
    })
}

/// Without its control a probe that was not presented cannot be told from a client's policy.
fn control_not_asked(case: &Case<'_>) -> Option<Verdict> {
    let control = case.probe.control.as_ref()?;
    if case.control.is_some() {
        return None;
    }
    if matches!(case.outcome.kind, Came::Answered { .. })
        && (case.outcome.presented.is_some() || case.answered_by == AnsweredBy::Person)
    {
        return None;
    }
    let reason = format!("its control {control} was not asked in the same session");
    Some(verdict(Kind::Unknown, Blame::Nobody, reason))
}

/// Declined or cancelled unseen, and the control as well: policy. On a surface that never presents, it says
/// nothing about how the client reads the request.
fn same_as_control(case: &Case<'_>) -> Option<Verdict> {
    let outcome = case.outcome;
    let action = outcome.refusal()?;
    if outcome.presented.is_some() {
        return None;
    }
    let control = case.control.unwrap_or(outcome);
    if control.presented.is_some() || control.refusal() != Some(action) {
        return None;
    }
    let reason = match (case.answered_by, case.control) {
        (AnsweredBy::Client, Some(_)) => {
            format!(
                "answered {action} by the client itself, as the control; it says nothing about parsing"
            )
        }
        (AnsweredBy::Client, None) => {
            format!("answered {action} by the client itself; it says nothing about parsing")
        }
        (_, Some(_)) => format!("answered {action} by the client itself, as the control"),
        (_, None) => format!("answered {action} by the client itself"),
    };
    Some(verdict(Kind::Refused, Blame::Nobody, reason))
}

/// A probe can only be compared with a control that got an answer of its own.
fn control_unusable(case: &Case<'_>) -> Option<Verdict> {
    let control = case.control?;
    if matches!(control.kind, Came::Answered { .. }) {
        return None;
    }
    if matches!(case.outcome.kind, Came::Answered { .. }) && case.outcome.presented.is_some() {
        return None;
    }
    let reason = format!("the control failed too ({})", short(control));
    Some(verdict(Kind::Unknown, Blame::Nobody, reason))
}

/// A valid request got no result. For a probe with a working control that is `Breaks`; for a control it breaks
/// the rule that a declared capability is served and a request is answered.
fn no_result(case: &Case<'_>) -> Option<Verdict> {
    let what = match &case.outcome.kind {
        Came::RpcError { code, message } => format!("rejected with error {code}: {message}"),
        Came::Silent { after_ms } => format!("no reply within {after_ms} ms"),
        Came::Gone { exit: Some(code) } => format!("the client exited with code {code}"),
        Came::Gone { exit: None } => "the client was ended by a signal".to_owned(),
        _ => return None,
    };
    if case.control.is_none() {
        let clause = clause(case, "basic/index Responses");
        return Some(rule(Kind::Violates, Strength::Must, clause, what));
    }
    Some(breaks(
        case,
        format!("{what}, while the control was answered"),
    ))
}

fn breaks(case: &Case<'_>, reason: String) -> Verdict {
    let erratum = case
        .revision
        .and_then(|revision| case.probe.errata.get(&revision));
    if let Some(erratum) = erratum {
        let reason = format!("{reason}; but {erratum}");
        return verdict(Kind::Breaks, Blame::Specification, reason);
    }
    let clause = clause(case, "schema: the request is valid");
    rule(Kind::Breaks, Strength::Schema, clause, reason)
}

/// The driver answered something that was too deep to be recorded as presented.
fn presentation_not_recorded(case: &Case<'_>) -> Option<Verdict> {
    if case.outcome.presented.is_some() || case.outcome.answer.is_none() {
        return None;
    }
    let reason = "presented, but nested too deep to be recorded";
    Some(verdict(Kind::Unknown, Blame::Nobody, reason))
}

fn refused_unseen(case: &Case<'_>) -> Option<Verdict> {
    let action = case.outcome.refusal()?;
    if case.outcome.presented.is_some() {
        return None;
    }
    let control = case.control?;
    let reason = match control.refusal() {
        Some(other) if control.presented.is_none() => {
            let reason =
                format!("answered {action} by itself, the control {other}; no clause decides");
            return Some(verdict(Kind::SpecSilent, Blame::Nobody, reason));
        }
        _ if control.presented.is_some() => {
            format!("answered {action} without presenting it, while the control was presented")
        }
        _ => format!("answered {action} by itself, while the control was accepted"),
    };
    Some(breaks(case, reason))
}

fn answered_unseen(case: &Case<'_>) -> Option<Verdict> {
    if case.outcome.presented.is_some() {
        return None;
    }
    let reason = match case.answered_by {
        AnsweredBy::Person => "accepted by a person; what was shown is not recorded",
        AnsweredBy::Driver | AnsweredBy::Client => "accepted by the client itself; nobody saw it",
    };
    Some(verdict(Kind::NotShown, Blame::Nobody, reason))
}

/// Presented, and then answered before the driver did.
fn not_waited_for(case: &Case<'_>) -> Option<Verdict> {
    case.outcome.presented.as_ref()?;
    if case.outcome.answer.is_some() {
        return None;
    }
    let reason = "presented, but the reply does not rest on an answer of the driver";
    Some(verdict(Kind::Unknown, Blame::Nobody, reason))
}

fn altered(case: &Case<'_>) -> Option<Verdict> {
    let shown = case.outcome.presented.as_deref().unwrap_or_default();
    let answer = case.outcome.answer.as_deref().unwrap_or_default();
    if shown.is_empty() && answer.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if !shown.is_empty() {
        parts.push(format!("presented with differences: {}", list(shown)));
    }
    if !answer.is_empty() {
        parts.push(format!(
            "the answer did not arrive as given: {}",
            list(answer)
        ));
    }
    let mut reason = parts.join("; ");
    if answer.is_empty()
        && !shown
            .iter()
            .any(|difference| members::is_defined(&difference.at, case.revision))
    {
        reason.push_str(" (no clause defines what was changed)");
        return Some(verdict(Kind::Altered, Blame::Nobody, reason));
    }
    Some(verdict(Kind::Altered, Blame::Client, reason))
}

fn works(case: &Case<'_>) -> Option<Verdict> {
    case.outcome.presented.as_ref()?;
    let reason = "presented unaltered, and the answer arrived intact";
    Some(verdict(Kind::Works, Blame::Nobody, reason))
}

fn list(differences: &[Difference]) -> String {
    let mut words: Vec<String> = differences
        .iter()
        .take(4)
        .map(|difference| {
            let change = match difference.change {
                Change::Lost => "lost",
                Change::Added => "added",
                Change::Changed => "changed",
            };
            format!("{} {change}", difference.at)
        })
        .collect();
    if differences.len() > words.len() {
        words.push(format!("and {} more", differences.len() - words.len()));
    }
    words.join(", ")
}

/// An outcome in a few words.
pub(super) fn short(outcome: &Outcome) -> String {
    match &outcome.kind {
        Came::Answered { action, .. } => action.clone(),
        Came::RpcError { code, .. } => format!("error {code}"),
        Came::Silent { .. } => "no reply".to_owned(),
        Came::Gone { .. } => "client gone".to_owned(),
        Came::NotReached { missing, .. } => format!("not reached: {}", missing.words()),
        Came::NotDeclared { needs } => format!("{needs} not declared"),
        Came::Malformed { .. } => "malformed reply".to_owned(),
    }
}

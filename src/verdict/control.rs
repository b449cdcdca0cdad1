//! Rows that read a cell beside its control: refusals and missing results.
//!
//! Owns the difference between a policy and a fault, and between a refusal that the client made by itself and one
//! that a person may have made. It must not look at what the request asks for.

use super::{Blame, Case, Kind, Rule, Verdict, plain, reply};
use crate::outcome::{Kind as Came, Oddity, Outcome};
use crate::recording::AnsweredBy;
use crate::spec::Strength;

/// Within this time, in microseconds, nobody has read a form and said no. Recordings of a person keep tenths of a second.
const TOO_FAST_FOR_A_PERSON: u64 = 200_000;

/// The probe sent something invalid on purpose: refusing it is not a fault, nor is any other way to say no.
pub(super) fn invalid_refused(case: &Case<'_>) -> Option<Verdict> {
    let why = case.invalid_reason()?;
    let unseen = case.outcome.presented.is_none();
    let (kind, what) = match &case.outcome.kind {
        Came::Answered { .. } if unseen && case.outcome.refusal().is_some() => {
            (Kind::Refused, "refused an invalid request")
        }
        Came::RpcError { .. } => (Kind::Refused, "rejected an invalid request"),
        Came::NotRetried => (Kind::Refused, "did not call again after an invalid request"),
        Came::CallEnded => (Kind::Refused, "ended the call on an invalid request"),
        Came::Silent { .. } => (Kind::SpecSilent, "did not reply to an invalid request"),
        Came::Gone { .. } => (Kind::SpecSilent, "went away on an invalid request"),
        _ => return None,
    };
    Some(plain(kind, Blame::Server, format!("{what} ({why})")))
}

/// A person may say no for reasons of their own, but not before they can have read what is asked.
pub(super) fn person_refused(case: &Case<'_>) -> Option<Verdict> {
    let action = case.outcome.refusal()?;
    if case.answered_by != AnsweredBy::Person {
        return None;
    }
    Some(match case.outcome.latency_us {
        Some(latency) if latency <= TOO_FAST_FOR_A_PERSON => {
            let reason = format!(
                "answered {action} within {} ms: by the client itself, no person is that fast",
                TOO_FAST_FOR_A_PERSON / 1000
            );
            plain(Kind::Refused, Blame::Nobody, reason)
        }
        _ => {
            let reason =
                format!("answered {action}; whether by the person or the client is not recorded");
            plain(Kind::Unknown, Blame::Nobody, reason)
        }
    })
}

/// Without its control a probe that was not presented cannot be told from a client's policy.
pub(super) fn not_asked(case: &Case<'_>) -> Option<Verdict> {
    let control = case.probe.control.as_ref()?;
    if case.control.is_some() || !needs_the_control(case) {
        return None;
    }
    let reason = format!("its control {control} was not asked in the same session");
    Some(plain(Kind::Unknown, Blame::Nobody, reason))
}

/// Whether only the control can say what the outcome means: refused unseen, or no result at all.
fn needs_the_control(case: &Case<'_>) -> bool {
    match &case.outcome.kind {
        Came::Answered { .. } => {
            case.outcome.refusal().is_some()
                && case.outcome.presented.is_none()
                && case.answered_by != AnsweredBy::Person
        }
        Came::RpcError { .. }
        | Came::NotRetried
        | Came::CallEnded
        | Came::Silent { .. }
        | Came::Gone { .. } => true,
        Came::Result
        | Came::Followed { .. }
        | Came::NotReached { .. }
        | Came::NotDeclared { .. }
        | Came::Malformed { .. } => false,
    }
}

/// Declined or cancelled unseen, and the control as well: policy. On a surface that never presents, it says
/// nothing about how the client reads the request.
pub(super) fn same_refusal(case: &Case<'_>) -> Option<Verdict> {
    let outcome = case.outcome;
    let action = outcome.refusal()?;
    let lacks_control = case.probe.control.is_some() && case.control.is_none();
    if outcome.presented.is_some() || lacks_control || case.answered_by == AnsweredBy::Person {
        return None;
    }
    let control = case.control.unwrap_or(outcome);
    if control.presented.is_some() || control.refusal() != Some(action) {
        return None;
    }
    let mut reason = format!("answered {action} by the client itself, before anybody was asked");
    if case.control.is_some() {
        reason.push_str(", as the control");
    }
    if case.answered_by == AnsweredBy::Client {
        reason.push_str("; it says nothing about parsing");
    }
    Some(plain(Kind::Refused, Blame::Nobody, reason))
}

/// A call that is ended without being made again is a refusal, as long as the control is refused so too: servers are not
/// to rely on anything else (2026-07-28 basic/patterns/mrtr Server Requirements).
pub(super) fn same_lack_of_a_retry(case: &Case<'_>) -> Option<Verdict> {
    let ended = |outcome: &Outcome| matches!(outcome.kind, Came::NotRetried);
    let lacks_control = case.probe.control.is_some() && case.control.is_none();
    if !ended(case.outcome) || lacks_control || !ended(case.control.unwrap_or(case.outcome)) {
        return None;
    }
    let mut reason = NOT_RETRIED.to_owned();
    if case.control.is_some() {
        reason.push_str(", as the control");
    }
    Some(plain(Kind::Refused, Blame::Nobody, reason))
}

const NOT_RETRIED: &str = "ended the call without calling again with an answer";

/// A probe can only be compared with a control that got an answer of its own.
pub(super) fn unusable(case: &Case<'_>) -> Option<Verdict> {
    let control = case.control?;
    if matches!(control.kind, Came::Answered { .. }) || !needs_the_control(case) {
        return None;
    }
    let reason = format!("the control failed too ({})", short(control));
    Some(plain(Kind::Unknown, Blame::Nobody, reason))
}

/// A valid request got no result. Beside a working control that is `Breaks`; of a control itself it is a broken rule.
/// That there must be a reply is JSON-RPC's own MUST; that a valid request is understood is what the schema says.
pub(super) fn no_result(case: &Case<'_>) -> Option<Verdict> {
    if reply::not_a_message(case).is_some() {
        // Something else came, and the rules speak of it.
        return None;
    }
    if case.outcome.oddities.contains(&Oddity::LateReply) {
        let reason =
            "replied, but only after the harness had stopped waiting; no clause sets a time";
        return Some(plain(Kind::SpecSilent, Blame::Nobody, reason));
    }
    let (what, rule) = match &case.outcome.kind {
        Came::RpcError { code, message } => (
            format!("rejected with error {code}: {message}"),
            case.norm(),
        ),
        Came::NotRetried => (NOT_RETRIED.to_owned(), case.norm()),
        Came::CallEnded => (
            "ended the call without a reply".to_owned(),
            must_reply(case),
        ),
        // The server of the modern era waits for nothing; the harness does.
        Came::Silent { after_ms: 0 } => (
            "neither a reply nor the end of the call came in time".to_owned(),
            must_reply(case),
        ),
        Came::Silent { after_ms } => (format!("no reply within {after_ms} ms"), must_reply(case)),
        Came::Gone { exit: Some(code) } => (
            format!("the client exited with code {code}"),
            must_reply(case),
        ),
        Came::Gone { exit: None } => (
            "the client was ended by a signal".to_owned(),
            must_reply(case),
        ),
        _ => return None,
    };
    if case.control.is_none() {
        return Some(rule.verdict(Kind::Violates, Blame::Client, what));
    }
    let reason = format!("{what}, while the control was answered");
    Some(breaks(case, rule, reason))
}

/// JSON-RPC 2.0: a request is answered with a response, whatever the answer is. What a result asks for is no request of
/// JSON-RPC, and no clause makes a client call again (2026-07-28 basic/patterns/mrtr Server Requirements); then it is as
/// with any valid request that is not served.
pub(super) fn must_reply(case: &Case<'_>) -> Rule {
    if case.is_modern() {
        return case.norm();
    }
    Rule::of(
        case,
        Strength::Must,
        "basic/index Messages (JSON-RPC 2.0: every request gets a response)",
    )
}

/// The client's fault, unless a known erratum of the specification says of the request that it is invalid.
fn breaks(case: &Case<'_>, rule: Rule, reason: String) -> Verdict {
    let erratum = case
        .revision
        .and_then(|revision| case.probe.errata.get(&revision));
    match erratum {
        Some(erratum) => {
            let reason = format!("{reason}; but {erratum}");
            rule.verdict(Kind::Breaks, Blame::Specification, reason)
        }
        None => rule.verdict(Kind::Breaks, Blame::Client, reason),
    }
}

/// Refused by the client itself, while the control was treated in another way.
pub(super) fn refused_unseen(case: &Case<'_>) -> Option<Verdict> {
    let action = case.outcome.refusal()?;
    if case.outcome.presented.is_some() || case.answered_by == AnsweredBy::Person {
        return None;
    }
    let control = case.control?;
    let reason = match control.refusal() {
        Some(other) if control.presented.is_none() => {
            let reason =
                format!("answered {action} by itself, the control {other}; no clause decides");
            return Some(plain(Kind::SpecSilent, Blame::Nobody, reason));
        }
        _ if control.presented.is_some() => {
            format!("answered {action} without presenting it, while the control was presented")
        }
        _ => format!("answered {action} by itself, while the control was accepted"),
    };
    Some(breaks(case, case.norm(), reason))
}

/// An outcome in a few words.
fn short(outcome: &Outcome) -> String {
    match &outcome.kind {
        Came::Answered { action, .. } => action.clone(),
        Came::RpcError { code, .. } => format!("error {code}"),
        Came::Result => "a result".to_owned(),
        Came::Followed { then, .. } => then.words().to_owned(),
        Came::NotRetried => "not called again".to_owned(),
        Came::CallEnded => "call ended".to_owned(),
        Came::Silent { .. } => "no reply".to_owned(),
        Came::Gone { .. } => "client gone".to_owned(),
        Came::NotReached { missing, .. } => format!("not reached: {}", missing.words()),
        Came::NotDeclared { needs } => format!("{needs} not declared"),
        Came::Malformed { .. } => "malformed reply".to_owned(),
    }
}

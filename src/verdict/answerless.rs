//! Rows for requests that nobody has to answer: the client itself gives a result, or says that it has no such method.
//!
//! Owns what those replies have to be. Whether the reply is a message at all is `reply`'s.

use super::{Blame, Case, Kind, Rule, Verdict, control, plain, reply};
use crate::catalogue::Asks;
use crate::outcome::{Kind as Came, Oddity};
use crate::spec::Strength;

/// JSON-RPC 2.0 "Error object": the method does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// What became of such a request.
pub(super) fn replied(case: &Case<'_>) -> Option<Verdict> {
    let asks = case.probe.asks;
    if asks.is_answered_by_somebody() || case.invalid_reason().is_some() {
        return None;
    }
    let odd = reply::not_a_message(case).or_else(|| reply::breaks_a_rule(case));
    if odd.is_some() {
        return odd;
    }
    if case.outcome.oddities.contains(&Oddity::LateReply) {
        return control::no_result(case);
    }
    Some(match (&case.outcome.kind, asks) {
        (Came::Result, Asks::Result) => plain(Kind::Works, Blame::Nobody, "answered with a result"),
        (Came::Result, _) => {
            let reason = "answered a request with a result whose method no revision has";
            no_such_method(case).verdict(Kind::Lenient, Blame::Nobody, reason)
        }
        (Came::RpcError { code, .. }, Asks::MethodNotFound) if *code == METHOD_NOT_FOUND => {
            let reason = format!(
                "answered with error {code}, as JSON-RPC asks of a method that does not exist"
            );
            plain(Kind::Works, Blame::Nobody, reason)
        }
        (Came::RpcError { code, message }, Asks::MethodNotFound) => {
            let reason = format!(
                "a method that does not exist is answered with error {code} ({message}) in place of {METHOD_NOT_FOUND}"
            );
            no_such_method(case).verdict(Kind::Violates, Blame::Client, reason)
        }
        _ => return control::no_result(case),
    })
}

/// JSON-RPC 2.0: what a request is answered with whose method does not exist.
fn no_such_method(case: &Case<'_>) -> Rule {
    let section = "basic/index Messages (JSON-RPC 2.0: Error object)";
    Rule::of(case, Strength::Must, section)
}

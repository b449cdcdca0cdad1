//! Rows for handshakes that went by a script.
//!
//! Owns whether what the client did is one of the things that the probe's rule lets it do. It must not know what was sent.

use super::{Blame, Case, Kind, Verdict, plain};
use crate::catalogue::script::{Reply, Script, Then};
use crate::outcome::Kind as Came;
use crate::spec::Strength;

/// What became of the session.
pub(super) fn followed(case: &Case<'_>) -> Option<Verdict> {
    let script = case.probe.script.as_ref()?;
    let Came::Followed {
        then,
        methods,
        ended_by,
    } = &case.outcome.kind
    else {
        return None;
    };
    if script.reply == Reply::Stays {
        return Some(ended(case, *then, ended_by));
    }
    let did = did(*then, methods);
    if let Some(why) = case.invalid_reason() {
        return Some(match then {
            Then::GoesOn => case.norm().verdict(
                Kind::Lenient,
                Blame::Server,
                format!("{did}, although the answer is invalid ({why})"),
            ),
            Then::Initializes | Then::Resumes | Then::Stops => plain(
                Kind::Refused,
                Blame::Server,
                format!("{did} after an invalid answer ({why})"),
            ),
        });
    }
    // What stands first is what serves the user best. Stopping is a refusal only where something else does.
    let is_second_best = script.then.first() != Some(then) && script.then.contains(then);
    if *then == Then::Stops && is_second_best {
        return Some(plain(
            Kind::Refused,
            Blame::Nobody,
            format!("{did}, as it may"),
        ));
    }
    if script.then.contains(then) {
        return Some(plain(Kind::Works, Blame::Nobody, did));
    }
    Some(not_allowed(case, script, &did))
}

/// What the client did is none of what the rule lets it do; only a rule that says so can be broken.
fn not_allowed(case: &Case<'_>, script: &Script, did: &str) -> Verdict {
    let rule = case.norm();
    let allowed: Vec<&str> = script.then.iter().map(|then| to_do(*then)).collect();
    if script.then.is_empty() || rule.strength == Strength::May {
        return plain(
            Kind::SpecSilent,
            Blame::Nobody,
            format!("{did}; no clause decides"),
        );
    }
    let reason = format!("{did}, where it is to {}", allowed.join(" or "));
    rule.verdict(Kind::Violates, Blame::Client, reason)
}

/// How the client ended a server that stays (basic/lifecycle Shutdown, stdio): it closes the channel first.
fn ended(case: &Case<'_>, then: Then, ended_by: &[String]) -> Verdict {
    if then != Then::GoesOn {
        let reason = format!("{} after a usual handshake", then.words());
        return case.norm().verdict(Kind::Violates, Blame::Client, reason);
    }
    let order = ended_by.join(", then ");
    match ended_by.first().map(String::as_str) {
        Some("closed") => {
            let reason = match ended_by.get(1).map(String::as_str) {
                None | Some("nothing more") => {
                    "closed the channel, and did nothing more to a server that stayed".to_owned()
                }
                Some(_) => format!("ended the server in order: {order}"),
            };
            plain(Kind::Works, Blame::Nobody, reason)
        }
        Some(first) if first.contains("closed") => {
            let reason = format!("did both at once: {order}; no clause decides");
            plain(Kind::SpecSilent, Blame::Nobody, reason)
        }
        Some(_) => {
            let reason = format!("did not close the channel first: {order}");
            case.norm().verdict(Kind::Violates, Blame::Client, reason)
        }
        None => {
            let reason =
                "was gone before the server could see an order of endings; no clause decides";
            plain(Kind::SpecSilent, Blame::Nobody, reason)
        }
    }
}

fn did(then: Then, methods: &[String]) -> String {
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    match names.is_empty() {
        true => then.words().to_owned(),
        false => format!("{}: {}", then.words(), names.join(", ")),
    }
}

fn to_do(then: Then) -> &'static str {
    match then {
        Then::GoesOn => "go on",
        Then::Initializes => "send initialize",
        Then::Resumes => "ask for the rest of the stream",
        Then::Stops => "stop",
    }
}

//! Faults in when a reply comes: never, too late, or before anybody has answered.
//!
//! Owns those rows. What depends on an order waits for a state, never for a time: a late reply is written when the call has
//! come back, an early one before the request is shown.

use super::expect::{BREAKS_MUST, SPEC_SILENT, VIOLATES_MUST};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::{BEHAVES, Hooks, Meets, Replies, Request, Step, rejection, result};

const fn row(name: &'static str, does: &'static str, cell: Judgement, hooks: Hooks) -> Behaviour {
    super::row(Class::Timing, name, does, cell).with(hooks)
}

/// Replies by itself; the host is asked when it is too late.
const fn early(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    meets: fn(&Request) -> Vec<Step>,
) -> Behaviour {
    row(
        name,
        does,
        cell,
        Hooks {
            meets: Meets::Does(meets),
            // The host's answer comes when there is nothing left to say.
            replies: Replies::Does(|_, _| Vec::new()),
            ..BEHAVES
        },
    )
}

/// Has the answer, and does something else with it than to pass it on.
const fn answered(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    replies: fn(&Request, &str) -> Vec<Step>,
) -> Behaviour {
    row(
        name,
        does,
        cell,
        Hooks {
            replies: Replies::Does(replies),
            ..BEHAVES
        },
    )
}

pub(super) const ROWS: &[Behaviour] = &[
    early(
        "never-answers",
        "presents nothing and replies nothing",
        BREAKS_MUST,
        |_| Vec::new(),
    )
    .waits(),
    answered(
        "never-passes-the-answer-on",
        "presents the request and replies nothing when it has the answer",
        BREAKS_MUST,
        |_, _| Vec::new(),
    )
    .waits(),
    early(
        "pings-in-place-of-a-reply",
        "sends pings and never a reply",
        BREAKS_MUST,
        |_| {
            let ping = |number| {
                format!("{{\"jsonrpc\":\"2.0\",\"id\":\"own-{number}\",\"method\":\"ping\"}}\n")
            };
            vec![Step::Write((1..=3).map(ping).collect::<String>().into())]
        },
    )
    .waits(),
    answered(
        "answers-after-the-deadline",
        "replies after the server has given up",
        SPEC_SILENT,
        |request, answer| {
            vec![
                Step::UntilReturned,
                Step::Write(result(&request.id, answer)),
            ]
        },
    )
    .waits(),
    answered(
        "rejects-after-the-deadline",
        "replies with an error after the server has given up",
        SPEC_SILENT,
        |request, _| {
            let error = r#"{"code":-32603,"message":"nobody was there"}"#;
            vec![
                Step::UntilReturned,
                Step::Write(rejection(&request.id, error)),
            ]
        },
    )
    .waits(),
    answered(
        "repeats-its-reply-later",
        "replies again when the call has come back",
        VIOLATES_MUST,
        |request, answer| {
            let reply = || Step::Write(result(&request.id, answer));
            vec![reply(), Step::UntilReturned, reply()]
        },
    ),
    answered(
        "changes-its-mind",
        "replies, and cancels in a second reply when the call has come back",
        VIOLATES_MUST,
        |request, answer| {
            vec![
                Step::Write(result(&request.id, answer)),
                Step::UntilReturned,
                Step::Write(result(&request.id, r#"{"action":"cancel"}"#)),
            ]
        },
    ),
    early(
        "accepts-before-the-answer",
        "accepts, and only then asks",
        VIOLATES_MUST,
        |request| {
            reply_and_then_ask(
                request,
                r#"{"action":"accept","content":{"value":"hello"}}"#,
            )
        },
    ),
    early(
        "declines-before-the-answer",
        "declines, and only then asks",
        SPEC_SILENT,
        |request| reply_and_then_ask(request, r#"{"action":"decline"}"#),
    ),
    early(
        "cancels-before-the-answer",
        "cancels, and only then asks",
        SPEC_SILENT,
        |request| reply_and_then_ask(request, r#"{"action":"cancel"}"#),
    ),
];

/// Asking first would leave it to chance which of the two answers is there first.
fn reply_and_then_ask(request: &Request, answer: &str) -> Vec<Step> {
    vec![
        Step::Write(result(&request.id, answer)),
        Step::UntilReturned,
        Step::Present,
    ]
}

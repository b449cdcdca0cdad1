//! What clients do with requests that are sent in an unusual way: under odd ids, beside odd lines, two at a time, between
//! calls, or of methods that nobody has to answer for.
//!
//! Owns those rows, faults and what is allowed. All are of the legacy era, in which servers send requests.

use super::expect::{
    BREAKS_MUST, LENIENT_MUST, LENIENT_WITH_SERVER_MUST, SPEC_SILENT, SPEC_SILENT_INVALID,
    VIOLATES_MUST, WORKS,
};
use super::subject::{
    AFTER_CALL, AFTER_CANCELLED, AFTER_NOISE, AFTER_NOTIFICATION, CLIENTS_ID, ID_ZERO, PING,
    SECOND_OF_TWO, STRING_ID, UNKNOWN_METHOD,
};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::{BEHAVES, Hears, Hooks, Meets, Replies, Request, Step, result};

const fn row(
    name: &'static str,
    does: &'static str,
    subject: &'static str,
    cell: Judgement,
    hooks: Hooks,
) -> Behaviour {
    super::row(Class::Ways, name, does, cell)
        .at(subject)
        .with(hooks)
}

/// Neither presents the request nor replies to it.
const fn loses(name: &'static str, does: &'static str, subject: &'static str) -> Behaviour {
    let meets = Meets::Does(|_| Vec::new());
    row(name, does, subject, BREAKS_MUST, Hooks { meets, ..BEHAVES }).waits()
}

const fn replies(
    name: &'static str,
    does: &'static str,
    subject: &'static str,
    replies: Replies,
) -> Behaviour {
    let hooks = Hooks { replies, ..BEHAVES };
    row(name, does, subject, VIOLATES_MUST, hooks)
}

const fn hears(
    name: &'static str,
    does: &'static str,
    subject: &'static str,
    cell: Judgement,
    hears: &'static [(&'static str, Hears)],
) -> Behaviour {
    row(name, does, subject, cell, Hooks { hears, ..BEHAVES })
}

pub(super) const FAULTS: &[Behaviour] = &[
    replies(
        "number-for-a-string-id",
        "replies with a number as the id, which was a string",
        STRING_ID,
        Replies::Line(r#"{"jsonrpc":"2.0","id":1,"result":@answer}"#),
    )
    .waits(),
    loses(
        "loses-string-ids",
        "presents no request whose id is a string",
        STRING_ID,
    ),
    loses("loses-id-zero", "takes the id 0 for none", ID_ZERO),
    replies(
        "null-for-id-zero",
        "replies with null as the id, which was 0",
        ID_ZERO,
        Replies::Line(r#"{"jsonrpc":"2.0","id":null,"result":@answer}"#),
    )
    .waits(),
    loses(
        "loses-its-own-ids",
        "takes a request under an id that it has used itself for nothing new",
        CLIENTS_ID,
    ),
    replies(
        "renumbers-its-own-ids",
        "replies under the next id to a request under an id that it has used itself",
        CLIENTS_ID,
        Replies::Does(|request, answer| {
            let id: i64 = request.id.parse().unwrap_or_default();
            vec![Step::Write(result(&(id + 500).to_string(), answer))]
        }),
    )
    .waits(),
    hears(
        "exits-at-noise",
        "ends its process at a line that is no JSON",
        AFTER_NOISE,
        SPEC_SILENT_INVALID,
        &[("is no JSON", Hears::Exits(3))],
    ),
    hears(
        "replies-to-a-notification",
        "replies with an error to a notification that it does not know",
        AFTER_NOTIFICATION,
        VIOLATES_MUST,
        &[(
            "notifications/capmatrix/unknown",
            Hears::Writes(
                b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}\n",
            ),
        )],
    ),
    hears(
        "exits-at-an-unknown-notification",
        "ends its process at a notification that it does not know",
        AFTER_NOTIFICATION,
        BREAKS_MUST,
        &[("notifications/capmatrix/unknown", Hears::Exits(3))],
    ),
    Behaviour {
        cell: BREAKS_MUST,
        ..replies(
            "one-id-for-two",
            "replies to both of two requests under the id of the first",
            SECOND_OF_TWO,
            Replies::Does(reply_under_the_even_id),
        )
    }
    .with_finding(VIOLATES_MUST)
    .waits(),
    replies(
        "second-as-the-first",
        "replies to the first of two requests alone",
        SECOND_OF_TWO,
        Replies::Does(|request, answer| match is_first(request) {
            true => vec![Step::Write(result(&request.id, answer))],
            false => Vec::new(),
        }),
    )
    .getting(BREAKS_MUST)
    .waits(),
    loses(
        "loses-requests-between-calls",
        "presents no request while no call of its own is open",
        AFTER_CALL,
    ),
    hears(
        "exits-at-a-cancelled-request",
        "ends its process when a request is cancelled",
        AFTER_CANCELLED,
        BREAKS_MUST,
        &[("notifications/cancelled", Hears::Exits(3))],
    ),
    loses(
        "loses-what-follows-a-cancelled-request",
        "presents nothing more once a request was cancelled",
        AFTER_CANCELLED,
    ),
    hears(
        "ignores-pings",
        "does not reply to a ping",
        PING,
        VIOLATES_MUST,
        &[("\"method\":\"ping\"", Hears::Instead(b""))],
    )
    .waits(),
    hears(
        "rejects-pings",
        "replies to a ping with an error",
        PING,
        VIOLATES_MUST,
        &[(
            "\"method\":\"ping\"",
            Hears::Instead(
                b"{\"jsonrpc\":\"2.0\",\"id\":1001,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}\n",
            ),
        )],
    ),
    hears(
        "ignores-unknown-methods",
        "does not reply to a request whose method it does not have",
        UNKNOWN_METHOD,
        VIOLATES_MUST,
        &[("capmatrix/unknown", Hears::Instead(b""))],
    )
    .waits(),
    hears(
        "result-for-an-unknown-method",
        "replies with a result to a request whose method no revision has",
        UNKNOWN_METHOD,
        LENIENT_MUST,
        &[(
            "capmatrix/unknown",
            Hears::Instead(b"{\"jsonrpc\":\"2.0\",\"id\":1001,\"result\":{}}\n"),
        )],
    ),
    hears(
        "other-error-for-an-unknown-method",
        "replies with another error to a request whose method it does not have",
        UNKNOWN_METHOD,
        VIOLATES_MUST,
        &[(
            "capmatrix/unknown",
            Hears::Instead(
                b"{\"jsonrpc\":\"2.0\",\"id\":1001,\"error\":{\"code\":-32603,\"message\":\"no such method\"}}\n",
            ),
        )],
    ),
];

/// A sound client, served in that way.
const fn sound(name: &'static str, does: &'static str, subject: &'static str) -> Behaviour {
    Behaviour {
        class: Class::Allowed,
        ..row(name, does, subject, WORKS, BEHAVES)
    }
}

pub(super) const ALLOWED: &[Behaviour] = &[
    sound(
        "behaves-with-a-string-id",
        "replies with the string that it was given for an id",
        STRING_ID,
    ),
    sound(
        "behaves-with-id-zero",
        "presents and answers a request under the id 0",
        ID_ZERO,
    ),
    sound(
        "behaves-with-its-own-id",
        "keeps a request apart from its own call under the same id",
        CLIENTS_ID,
    ),
    sound(
        "behaves-after-noise",
        "passes over a line that is no JSON",
        AFTER_NOISE,
    )
    .getting(LENIENT_WITH_SERVER_MUST),
    sound(
        "behaves-after-an-unknown-notification",
        "passes over a notification that it does not know",
        AFTER_NOTIFICATION,
    ),
    sound(
        "behaves-with-two-requests",
        "answers two requests that are open at the same time",
        SECOND_OF_TWO,
    ),
    sound(
        "behaves-between-calls",
        "presents and answers a request while no call of its own is open",
        AFTER_CALL,
    ),
    sound(
        "behaves-after-a-cancelled-request",
        "leaves a cancelled request without a reply, and answers the next one",
        AFTER_CANCELLED,
    ),
    Behaviour {
        class: Class::Allowed,
        ..hears(
            "replies-to-a-cancelled-request",
            "replies to a request that was cancelled",
            AFTER_CANCELLED,
            SPEC_SILENT,
            &[(
                "notifications/cancelled",
                Hears::Writes(
                    b"{\"jsonrpc\":\"2.0\",\"id\":1002,\"result\":{\"action\":\"cancel\"}}\n",
                ),
            )],
        )
    },
    sound("behaves-when-pinged", "replies to a ping at once", PING),
    sound(
        "behaves-at-an-unknown-method",
        "replies that there is no such method",
        UNKNOWN_METHOD,
    ),
];

/// The ids of the two follow each other, and the first is an even one: the only request before them is the control's, and
/// the server counts from an odd number.
fn is_first(request: &Request) -> bool {
    request.id.parse::<u64>().is_ok_and(|id| id % 2 == 0)
}

fn reply_under_the_even_id(request: &Request, answer: &str) -> Vec<Step> {
    let id: u64 = request.id.parse().unwrap_or_default();
    vec![Step::Write(result(&(id & !1).to_string(), answer))]
}

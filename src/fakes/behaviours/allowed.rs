//! What a client may do: nobody is to be blamed for any of it.
//!
//! Owns those rows. A judge that blames one of them is stricter than the specification.

use std::time::Duration;

use super::expect::{
    ALTERED_FREELY, LENIENT_WITH_SERVER, NOT_DECLARED, REFUSED, REFUSED_INVALID, WORKS,
};
use super::subject::{DEFAULT, INTEGER, NESTED, TITLE};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::Edit::Set;
use crate::fakes::hooks::{
    After, BEHAVES, Change, Edit, Hooks, Meets, Replies, Request, Scope, Shows, Speaks, Step,
    result,
};
use crate::names::Revision;

/// A fraction of the time that a reply may take in the self-test.
const LATE: Duration = Duration::from_millis(200);

const fn row(name: &'static str, does: &'static str, hooks: Hooks) -> Behaviour {
    super::row(Class::Allowed, name, does, WORKS).with(hooks)
}

/// Writes its reply in another way.
const fn line(name: &'static str, does: &'static str, line: &'static str) -> Behaviour {
    replies(name, does, Replies::Line(line))
}

const fn replies(name: &'static str, does: &'static str, replies: Replies) -> Behaviour {
    row(name, does, Hooks { replies, ..BEHAVES })
}

const fn edits(name: &'static str, does: &'static str, edits: &'static [Edit]) -> Behaviour {
    replies(name, does, Replies::Edited(edits))
}

/// Sends other messages of its own.
const fn sends(
    name: &'static str,
    does: &'static str,
    sends: &'static [(&'static str, Change)],
) -> Behaviour {
    row(name, does, Hooks { sends, ..BEHAVES })
}

/// Answers everything by itself, the control included: a policy.
const fn policy(name: &'static str, does: &'static str, answer: &'static str) -> Behaviour {
    let hooks = Hooks {
        meets: Meets::Answers(answer),
        scope: Scope::EveryCall,
        ..BEHAVES
    };
    getting(REFUSED, row(name, does, hooks))
}

const fn getting(cell: Judgement, row: Behaviour) -> Behaviour {
    Behaviour { cell, ..row }
}

pub(super) const ROWS: &[Behaviour] = &[
    row(
        "behaves",
        "presents every request unaltered and passes the answer on, in whichever era the server speaks",
        Hooks {
            speaks: Speaks::Both,
            ..BEHAVES
        },
    )
    .at(TITLE)
    .in_revision(Revision::V2025_11_25),
    policy(
        "declines-everything",
        "declines every request by itself, because nobody is there",
        r#"{"action":"decline"}"#,
    ),
    policy(
        "cancels-everything",
        "cancels every request by itself, because nobody is there",
        r#"{"action":"cancel"}"#,
    ),
    policy(
        "declines-with-content",
        "declines every request by itself, with content beside it",
        r#"{"action":"decline","content":{"value":"hello"}}"#,
    ),
    policy(
        "cancels-with-content",
        "cancels every request by itself, with empty content beside it",
        r#"{"action":"cancel","content":{}}"#,
    ),
    edits(
        "extra-result-members",
        "has members in its result that no revision defines",
        &[
            Set("/resultType", r#""complete""#),
            Set("/com.example~1by", r#"["Ada"]"#),
        ],
    ),
    getting(
        ALTERED_FREELY,
        edits(
            "extra-content-member",
            "has a member in the content that the schema leaves open",
            &[Set("/content/remember", "true")],
        ),
    ),
    edits(
        "meta-object",
        "has a `_meta` object in its result",
        &[Set("/_meta", r#"{"example.com/took":3}"#)],
    ),
    line(
        "extra-envelope-member",
        "has a member in the envelope that JSON-RPC does not define",
        r#"{"jsonrpc":"2.0","id":@id,"result":@answer,"com.example/took":3}"#,
    ),
    line(
        "other-key-order",
        "writes the members of its reply in another order",
        r#"{"result":@answer,"id":@id,"jsonrpc":"2.0"}"#,
    ),
    line(
        "carriage-return",
        "ends its reply with a carriage return and a line feed",
        "{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}\r",
    ),
    line(
        "white-space",
        "writes white space around and inside its reply",
        "  { \"jsonrpc\" : \"2.0\" ,\t\"id\" : @id , \"result\" : @answer }  ",
    ),
    line(
        "escapes",
        "writes text with escapes that are not needed",
        r#"{"\u006asonrpc":"2.0","id":@id,"result":{"action":"\u0061ccept","content":{"value":"hell\u006F"},"_meta":{"example.com\/took":3}}}"#,
    ),
    edits(
        "integer-with-fraction-of-zero",
        "writes 7 as 7.0",
        &[Set("/content/value", "7.0")],
    )
    .at(INTEGER),
    replies(
        "late-but-in-time",
        "takes its time, and replies before the server gives up",
        Replies::Does(|request, answer| {
            vec![Step::Pass(LATE), Step::Write(result(&request.id, answer))]
        }),
    ),
    replies(
        "reply-in-two-writes",
        "writes its reply in two parts with a pause between them",
        Replies::Does(|request, answer| {
            let mut first = result(&request.id, answer);
            let second = first.split_off(first.len() / 2);
            vec![Step::Write(first), Step::Pass(LATE), Step::Write(second)]
        }),
    ),
    line(
        "pings-before-replying",
        "sends a ping between the request and its reply",
        "{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    ),
    line(
        "notifies-before-replying",
        "sends a notification of its own between the request and its reply",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/com.example/asked\",\"params\":{\"id\":@id}}\n{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    ),
    line(
        "asks-for-an-unknown-method",
        "sends a request of a method that there is not, between the request and its reply",
        "{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"com.example/hello\"}\n{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    ),
    replies(
        "reply-of-1-mb",
        "has a member of 1 MB in its reply",
        Replies::Does(|request, answer| padded(request, answer, 1)),
    ),
    replies(
        "reply-of-10-mb",
        "has a member of 10 MB in its reply",
        Replies::Does(|request, answer| padded(request, answer, 10)),
    ),
    row(
        "reorders-members",
        "presents the members of a request in another order",
        Hooks {
            shows: Shows::Text(reversed),
            ..BEHAVES
        },
    )
    .at(DEFAULT),
    row(
        "exits-after-the-last-call",
        "ends with code 0 when the last call has come back",
        Hooks {
            after: After::Leaves,
            ..BEHAVES
        },
    ),
    getting(
        REFUSED_INVALID,
        row(
            "rejects-an-invalid-request",
            "answers an invalid request with an error, and shows it to nobody",
            Hooks {
                meets: Meets::Rejects(
                    r#"{"code":-32602,"message":"requestedSchema: a property is an object"}"#,
                ),
                ..BEHAVES
            },
        ),
    )
    .at(NESTED),
    getting(
        LENIENT_WITH_SERVER,
        row(
            "presents-an-invalid-request",
            "presents an invalid request and passes the answer on",
            BEHAVES,
        ),
    )
    .at(NESTED),
    getting(
        NOT_DECLARED,
        sends(
            "declares-no-elicitation",
            "does not declare elicitation",
            &[(
                "initialize",
                Change::Edit(Set("/params/capabilities", "{}")),
            )],
        ),
    ),
    getting(
        NOT_DECLARED,
        sends(
            "declares-url-mode-alone",
            "declares elicitation of URLs and not of forms",
            &[(
                "initialize",
                Change::Edit(Set("/params/capabilities/elicitation", r#"{"url":{}}"#)),
            )],
        ),
    ),
    sends(
        "declares-elicitation-in-short",
        "declares elicitation with an empty object, which means forms",
        &[(
            "initialize",
            Change::Edit(Set("/params/capabilities/elicitation", "{}")),
        )],
    ),
    sends(
        "extra-capabilities",
        "declares experimental capabilities and one that no revision defines",
        &[
            (
                "initialize",
                Change::Edit(Set(
                    "/params/capabilities/experimental",
                    r#"{"com.example/x":{"ratio":0.5}}"#,
                )),
            ),
            (
                "initialize",
                Change::Edit(Set("/params/capabilities/com.example~1y", "1")),
            ),
        ],
    ),
    sends(
        "client-info-extras",
        "has a title and a member of its own in `clientInfo`",
        &[
            (
                "initialize",
                Change::Edit(Set("/params/clientInfo/title", r#""The reference client""#)),
            ),
            (
                "initialize",
                Change::Edit(Set("/params/clientInfo/com.example~1build", "7")),
            ),
        ],
    ),
    sends(
        "offers-a-later-version",
        "offers a version that there is not yet, and accepts the server's answer",
        &[(
            "initialize",
            Change::Edit(Set("/params/protocolVersion", r#""2099-01-01""#)),
        )],
    ),
    sends(
        "offers-an-earlier-version",
        "offers the revision before the last",
        &[(
            "initialize",
            Change::Edit(Set("/params/protocolVersion", r#""2025-06-18""#)),
        )],
    ),
    sends(
        "string-ids",
        "uses strings as the ids of its requests",
        &[("", Change::StringId)],
    ),
    sends(
        "lists-tools-twice",
        "asks for the tools two times",
        &[(
            "tools/list",
            Change::After(b"{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"tools/list\"}\n"),
        )],
    ),
    sends(
        "pings-after-the-handshake",
        "sends a ping before it asks for the tools",
        &[(
            "tools/list",
            Change::Before(b"{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"ping\"}\n"),
        )],
    ),
];

/// A sound reply with a member of so many megabytes.
fn padded(request: &Request, answer: &str, megabytes: usize) -> Vec<Step> {
    let mut reply = result(&request.id, answer);
    // Before the brace and the line feed.
    reply.truncate(reply.len() - 2);
    reply.extend_from_slice(b",\"padding\":\"");
    reply.extend(std::iter::repeat_n(b'x', megabytes * 1024 * 1024));
    reply.extend_from_slice(b"\"}\n");
    vec![Step::Write(reply)]
}

fn reversed(request: &Request) -> String {
    fn turn(value: serde_json::Value) -> serde_json::Value {
        match value {
            serde_json::Value::Object(members) => members
                .into_iter()
                .rev()
                .map(|(name, value)| (name, turn(value)))
                .collect(),
            // The order of an array means something.
            other => other,
        }
    }
    turn(serde_json::from_str(&request.params).unwrap_or_default()).to_string()
}

//! Faults in the JSON-RPC message around the reply.
//!
//! Owns those rows. Inside the envelope each reply is the host's own answer, so that nothing else is wrong with it.

use super::expect::VIOLATES_MUST;
use super::{Behaviour, Class};
use crate::fakes::hooks::{BEHAVES, Hooks, Replies, Request, Step, result};

const fn row(name: &'static str, does: &'static str, replies: Replies) -> Behaviour {
    super::row(Class::Envelope, name, does, VIOLATES_MUST).with(Hooks { replies, ..BEHAVES })
}

const fn line(name: &'static str, does: &'static str, line: &'static str) -> Behaviour {
    row(name, does, Replies::Line(line))
}

pub(super) const ROWS: &[Behaviour] = &[
    line(
        "no-jsonrpc",
        "leaves `jsonrpc` out of its reply",
        r#"{"id":@id,"result":@answer}"#,
    ),
    line(
        "jsonrpc-1-0",
        "replies in JSON-RPC 1.0",
        r#"{"jsonrpc":"1.0","id":@id,"result":@answer}"#,
    ),
    line(
        "jsonrpc-is-a-number",
        "replies with the number 2.0 as `jsonrpc`",
        r#"{"jsonrpc":2.0,"id":@id,"result":@answer}"#,
    ),
    line(
        "result-and-error",
        "replies with a result and an error at once",
        r#"{"jsonrpc":"2.0","id":@id,"result":@answer,"error":{"code":-32603,"message":"no"}}"#,
    ),
    line(
        "neither-result-nor-error",
        "replies with neither a result nor an error",
        r#"{"jsonrpc":"2.0","id":@id}"#,
    ),
    line(
        "error-is-a-string",
        "replies with an error that is a string",
        r#"{"jsonrpc":"2.0","id":@id,"error":"no such form"}"#,
    ),
    line(
        "error-code-is-a-string",
        "replies with an error whose code is a string",
        r#"{"jsonrpc":"2.0","id":@id,"error":{"code":"-32602","message":"no such form"}}"#,
    ),
    line(
        "error-code-is-fractional",
        "replies with an error whose code is a fraction",
        r#"{"jsonrpc":"2.0","id":@id,"error":{"code":-32602.5,"message":"no such form"}}"#,
    ),
    line(
        "error-without-message",
        "replies with an error that has no message",
        r#"{"jsonrpc":"2.0","id":@id,"error":{"code":-32602}}"#,
    ),
    line(
        "error-without-code",
        "replies with an error that has no code",
        r#"{"jsonrpc":"2.0","id":@id,"error":{"message":"no such form"}}"#,
    ),
    line(
        "result-is-an-array",
        "replies with its result in an array",
        r#"{"jsonrpc":"2.0","id":@id,"result":[@answer]}"#,
    ),
    line(
        "result-is-a-string",
        "replies with a string as its result",
        r#"{"jsonrpc":"2.0","id":@id,"result":"accept"}"#,
    ),
    line(
        "result-is-null",
        "replies with null as its result",
        r#"{"jsonrpc":"2.0","id":@id,"result":null}"#,
    ),
    line(
        "id-as-a-string",
        "replies with the request's id as a string, which was a number",
        r#"{"jsonrpc":"2.0","id":"@id","result":@answer}"#,
    )
    .waits(),
    line(
        "id-is-null",
        "replies with null as the id",
        r#"{"jsonrpc":"2.0","id":null,"result":@answer}"#,
    )
    .waits(),
    line(
        "no-id",
        "replies without an id",
        r#"{"jsonrpc":"2.0","result":@answer}"#,
    )
    .waits(),
    row(
        "wrong-id",
        "replies with an id that no request has used",
        Replies::Does(reply_with_unused_id),
    )
    .waits(),
    line(
        "answers-twice",
        "writes its reply two times",
        "{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}\n{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    ),
    line(
        "reply-in-a-batch",
        "replies with a batch of one",
        r#"[{"jsonrpc":"2.0","id":@id,"result":@answer}]"#,
    )
    .waits(),
    line(
        "reply-without-an-envelope",
        "replies with the bare result",
        "@answer",
    )
    .waits(),
];

/// An id of the same type, where it is a number: a client that miscounts, not one that cannot write ids.
fn reply_with_unused_id(request: &Request, answer: &str) -> Vec<Step> {
    let id = match request.id.parse::<i64>() {
        Ok(number) => number.wrapping_add(1000).to_string(),
        Err(_) => r#""nobody-used-this-id""#.to_owned(),
    };
    vec![Step::Write(result(&id, answer))]
}

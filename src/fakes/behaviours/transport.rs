//! Faults in the bytes around messages: lines that are not JSON, and messages that are not one line.
//!
//! Owns those rows. Where a line can stand beside a sound reply, the reply is sound, so that the line is all that is wrong.

use super::expect::{SPEC_SILENT, UNKNOWN, VIOLATES_MUST, WORKS};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::{BEHAVES, Change, Hooks, Replies, Request, Step, result};

const fn row(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    replies: Replies,
) -> Behaviour {
    super::row(Class::Transport, name, does, cell).with(Hooks { replies, ..BEHAVES })
}

/// Breaks the transport with the lines that it writes for a reply.
const fn line(name: &'static str, does: &'static str, line: &'static str) -> Behaviour {
    row(name, does, VIOLATES_MUST, Replies::Line(line))
}

/// The same with bytes that are no text.
const fn bytes(
    name: &'static str,
    does: &'static str,
    replies: fn(&Request, &str) -> Vec<Step>,
) -> Behaviour {
    row(name, does, VIOLATES_MUST, Replies::Does(replies))
}

/// Breaks it outside a probe, which is found beside the cells.
const fn outside(
    name: &'static str,
    does: &'static str,
    sends: &'static [(&'static str, Change)],
) -> Behaviour {
    Behaviour {
        finding: Some(VIOLATES_MUST),
        ..super::row(Class::Transport, name, does, WORKS).with(Hooks { sends, ..BEHAVES })
    }
}

/// Behind the handshake and the tool list, and behind the control's call.
const CALL: &str = "tools/call";

pub(super) const ROWS: &[Behaviour] = &[
    line(
        "not-json",
        "writes a line that is not JSON in place of its reply",
        "this is not JSON",
    )
    .waits(),
    line(
        "log-text",
        "writes a line of its log to the server before the reply",
        "[info] elicitation answered\n{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    ),
    line(
        "empty-line",
        "writes an empty line before the reply",
        "\n{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    ),
    line(
        "nul-byte",
        "writes a NUL byte before the reply",
        "\0{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    )
    .waits(),
    line(
        "byte-order-mark",
        "writes a byte order mark before the reply",
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}",
    )
    .waits(),
    line(
        "pretty-printed",
        "writes its reply over several lines",
        "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": @id,\n  \"result\": @answer\n}",
    )
    .waits(),
    line(
        "two-in-a-line",
        "writes a notification and its reply in one line",
        r#"{"jsonrpc":"2.0","method":"notifications/com.example/asked"}{"jsonrpc":"2.0","id":@id,"result":@answer}"#,
    )
    .waits(),
    line(
        "reply-twice-in-a-line",
        "writes its reply two times in one line",
        r#"{"jsonrpc":"2.0","id":@id,"result":@answer}{"jsonrpc":"2.0","id":@id,"result":@answer}"#,
    )
    .waits(),
    line(
        "sse-framing",
        "writes its reply as a server-sent event",
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":@id,\"result\":@answer}\n",
    )
    .waits(),
    line(
        "not-a-number",
        "writes NaN, which JSON does not have",
        r#"{"jsonrpc":"2.0","id":@id,"result":@answer,"elapsed":NaN}"#,
    )
    .waits(),
    line(
        "single-quotes",
        "writes its reply with single quotes",
        "{'jsonrpc':'2.0','id':@id,'result':{'action':'cancel'}}",
    )
    .waits(),
    bytes(
        "content-length",
        "frames its reply with a header, as the language server protocol does",
        |request, answer| {
            let reply = result(&request.id, answer);
            let body = reply.trim_ascii_end();
            let mut framed = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
            framed.extend_from_slice(body);
            vec![Step::Write(framed)]
        },
    )
    .waits(),
    bytes(
        "invalid-utf-8",
        "writes a byte that is not UTF-8 in a member of its reply",
        |request, answer| {
            let mut reply = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{answer},\"by\":\"Ren",
                request.id
            )
            .into_bytes();
            reply.extend_from_slice(b"\xe9\"}\n");
            vec![Step::Write(reply)]
        },
    ),
    bytes(
        "utf-16",
        "writes its reply in UTF-16, the higher byte first",
        |request, answer| {
            let reply = String::from_utf8(result(&request.id, answer)).unwrap_or_default();
            let bytes = reply.encode_utf16().flat_map(u16::to_be_bytes);
            vec![Step::Write(bytes.collect())]
        },
    )
    .waits(),
    row(
        "duplicate-members",
        "writes two actions in one result, of which only the last is the one that was answered",
        SPEC_SILENT,
        Replies::Line(
            r#"{"jsonrpc":"2.0","id":@id,"result":{"action":"decline","action":"accept","content":{"value":"hello"}}}"#,
        ),
    ),
    row(
        "nested-too-deep",
        "has a member in its reply that is nested deeper than is read",
        UNKNOWN,
        Replies::Does(|request, answer| {
            let mut reply = result(&request.id, answer);
            // Behind the result, and before the brace and the line feed.
            reply.truncate(reply.len() - 2);
            reply.extend_from_slice(b",\"deep\":");
            reply.extend(std::iter::repeat_n(b'[', DEPTH));
            reply.extend(std::iter::repeat_n(b']', DEPTH));
            reply.extend_from_slice(b"}\n");
            vec![Step::Write(reply)]
        }),
    ),
    outside(
        "greets-before-the-handshake",
        "writes its banner to the server before the handshake",
        &[("initialize", Change::Before(b"Example Client 1.0\n"))],
    ),
    outside(
        "logs-between-calls",
        "writes a line of its log to the server between calls",
        &[(CALL, Change::Before(b"[info] calling the tool\n"))],
    ),
    outside(
        "empty-line-between-calls",
        "writes an empty line between calls",
        &[(CALL, Change::Before(b"\n"))],
    ),
    outside(
        "invalid-utf-8-between-calls",
        "writes bytes that are not UTF-8 between calls",
        &[(
            CALL,
            Change::Before(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x-\xe9\"}\n"),
        )],
    ),
    outside(
        "batch-after-the-handshake",
        "sends a batch of a notification and a request, and then both alone",
        &[(
            "notifications/initialized",
            Change::Before(
                b"[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"tools/list\"}]\n",
            ),
        )],
    ),
];

/// Far beyond what readers of JSON follow, which is in the hundreds.
const DEPTH: usize = 10_000;

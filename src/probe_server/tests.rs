//! The conversation, line by line, without a process.

mod extreme_lines;
mod modern;
mod ways;

use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::catalogue::{Action, Answer, Capability};
use crate::recording::read;

pub(super) fn probe(id: &str, params: &str) -> Probe {
    Probe {
        id: ProbeId(id.to_owned()),
        title: id.to_owned(),
        why: String::new(),
        asks: crate::catalogue::Asks::Request,
        needs: Capability::ElicitationForm,
        revisions: vec![Revision::V2025_06_18, Revision::V2025_11_25],
        invalid: std::collections::BTreeMap::new(),
        errata: std::collections::BTreeMap::new(),
        norms: Vec::new(),
        way: crate::catalogue::Way::Plain,
        script: None,
        method: "elicitation/create".to_owned(),
        params: params.to_owned(),
        control: None,
        answer: Answer {
            action: Action::Accept,
            content: None,
        },
    }
}

/// Feeds `lines` and gives what the server wrote and the events that it recorded.
fn converse(lines: &[&str], timeout_ms: u64) -> (Vec<String>, Vec<Event>) {
    let probes = vec![
        probe("a/one", r#"{"z":1,"a":1.0}"#),
        probe("a/two", r#"{"message":"two"}"#),
    ];
    converse_about(probes, None, lines, timeout_ms)
}

/// The same about these probes, in this revision.
fn converse_about(
    probes: Vec<Probe>,
    revision: Option<Revision>,
    lines: &[&str],
    timeout_ms: u64,
) -> (Vec<String>, Vec<Event>) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server-1.jsonl");
    let recorder = Recorder::create(&file, "server").unwrap();
    let options = Options {
        probes,
        revision,
        answer_timeout: Duration::from_millis(timeout_ms),
        back: None,
        held: None,
        stop_when_silent: true,
    };
    let (sender, receiver) = mpsc::channel();
    for line in lines {
        sender
            .send(Incoming::line(line.as_bytes().to_vec()))
            .unwrap();
    }
    // With time left for a missing reply, the channel stays open until the deadline has spoken.
    let keep = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(3 * timeout_ms));
        drop(sender);
    });
    let mut output = Vec::new();
    serve(&options, &recorder, &receiver, &mut output).unwrap();
    keep.join().unwrap();
    let written = String::from_utf8(output)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    let events = read::entries(&file)
        .unwrap()
        .into_iter()
        .map(|entry| entry.event)
        .collect();
    (written, events)
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}}}}"#;

#[test]
fn params_go_out_byte_for_byte() {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"probe","arguments":{"id":"a/one"}}}"#;
    let (written, events) = converse(
        &[
            INITIALIZE,
            call,
            r#"{"jsonrpc":"2.0","id":1001,"result":{"action":"cancel"}}"#,
        ],
        50,
    );
    assert_eq!(
        written[1],
        r#"{"jsonrpc":"2.0","id":1001,"method":"elicitation/create","params":{"z":1,"a":1.0}}"#
    );
    assert!(
        written[2].starts_with(r#"{"jsonrpc":"2.0","id":7,"result":"#),
        "{}",
        written[2]
    );
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::NoReply { .. }))
    );
}

#[test]
fn calls_side_by_side_are_asked_one_after_another() {
    let call = |id: u64, probe: &str| {
        json!({"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name":"probe","arguments":{"id":probe}}})
            .to_string()
    };
    let (one, two) = (call(1, "a/one"), call(2, "a/two"));
    let lines = [
        INITIALIZE,
        &one,
        &two,
        r#"{"jsonrpc":"2.0","id":1001,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1002,"result":{}}"#,
    ];
    let (written, _) = converse(&lines, 50);
    let ids: Vec<Value> = written
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(
        ids,
        [json!("i"), json!(1001), json!(1), json!(1002), json!(2)]
    );
}

#[test]
fn silence_ends_the_session_for_later_calls() {
    let call = |id: u64, probe: &str| {
        json!({"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name":"probe","arguments":{"id":probe}}})
            .to_string()
    };
    let (one, two) = (call(1, "a/one"), call(2, "a/two"));
    let lines = [
        INITIALIZE,
        &one,
        &two,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    ];
    let (written, events) = converse(&lines, 50);
    assert!(events.contains(&Event::NoReply {
        probe: ProbeId("a/one".to_owned()),
        after_ms: 50
    }));
    assert!(
        written
            .last()
            .unwrap()
            .contains("not asked: a/one got no reply"),
        "{written:?}"
    );
}

#[test]
fn what_is_not_declared_or_not_known_is_not_sent() {
    let check = |initialize: &str, arguments: &str, expect: &str| {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"probe","arguments":{arguments}}}}}"#
        );
        let (written, _) = converse(&[initialize, &call], 10);
        assert!(written[1].contains(expect), "{arguments}: {}", written[1]);
    };
    let without = INITIALIZE.replace(r#"{"elicitation":{}}"#, "{}");
    check(
        &without,
        r#"{"id":"a/one"}"#,
        "does not declare elicitation.form",
    );
    let old = INITIALIZE.replace("2025-06-18", "2024-11-05");
    check(&old, r#"{"id":"a/one"}"#, "not asked in 2024-11-05");
    check(INITIALIZE, r#"{"id":"a/on"}"#, "did you mean `a/one`");
    check(INITIALIZE, "{}", "-32602");
    check(INITIALIZE, "7", "-32602");
}

#[test]
fn hostile_lines_are_recorded_and_survived() {
    let deep = "[".repeat(10_000);
    let lines = [
        "",
        "this is not JSON",
        "[]",
        "null",
        r#"{"id":null}"#,
        r#"{"id":1e400,"method":"x"}"#,
        r#"{"method":7}"#,
        r#"{"id":1,"id":2,"method":"ping"}"#,
        "\0",
        &deep,
        r#"{"jsonrpc":"2.0","id":5,"method":"server/discover"}"#,
    ];
    let (written, events) = converse(&lines, 5);
    assert!(written.last().unwrap().contains("-32601"), "{written:?}");
    let recorded = events.iter().filter(|event| {
        matches!(
            event,
            Event::Mcp {
                dir: Dir::ClientToServer,
                ..
            }
        )
    });
    assert_eq!(recorded.count(), lines.len());
}

#[test]
fn a_batch_is_answered_item_by_item() {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"probe","arguments":{"id":"a/one"}}}"#;
    let first =
        format!(r#"[{INITIALIZE}, {{"jsonrpc":"2.0","id":5,"method":"tools/list"}}, {call}]"#);
    let reply =
        r#"[{"jsonrpc":"2.0","id":1001.0,"result":{"action":"cancel"}},{"id":8,"method":"ping"}]"#;
    let (written, events) = converse(&[&first, reply], 50);
    let ids: Vec<Value> = written
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids, [json!("i"), json!(5), json!(1001), json!(7), json!(8)]);
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::NoReply { .. }))
    );
}

#[test]
fn a_reply_is_told_by_the_value_of_its_id() {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"probe","arguments":{"id":"a/one"}}}"#;
    for (id, is_reply) in [
        ("1001", true),
        ("1001.0", true),
        ("10010e-1", true),
        ("\"1001\"", false),
        ("1002", false),
        ("null", false),
    ] {
        let reply = format!(r#"{{"id":{id},"result":{{"action":"cancel"}}}}"#);
        let (_, events) = converse(&[INITIALIZE, call, &reply], 20);
        let gave_up = events
            .iter()
            .any(|event| matches!(event, Event::NoReply { .. }));
        assert_eq!(gave_up, !is_reply, "{id}");
    }
}

#[test]
fn the_offered_version_is_answered_where_it_is_known() {
    for (offered, answered) in [
        (Some("2024-11-05"), Revision::V2024_11_05),
        (Some("2025-06-18"), Revision::V2025_06_18),
        (Some("2026-07-28"), Revision::V2025_11_25),
        (Some("2099-01-01"), Revision::V2025_11_25),
        (None, Revision::V2025_11_25),
    ] {
        assert_eq!(super::legacy::negotiate(offered), answered, "{offered:?}");
    }
}

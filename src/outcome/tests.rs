//! What is read out of a recording, row by row. Probe `a` is the one looked at; `b` is its neighbour.

mod differences;
mod extreme_lines;
mod odd_lines;
mod retries;
mod scripts;
mod sessions;
mod stages;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::recording::{Dir, End, HostDir};
use crate::testing::{Script, form, hostile_recording, id, reply};

/// Up to the call of `a`: lines 1 to 7 of the recording.
fn called() -> Script {
    Script::new(&["a", "b"]).initialize().list().call("a")
}

/// The request of `a` is line 8.
fn sent() -> Script {
    called().send("a", 1)
}

fn outcome_of(recording: &Recording, probe: &str) -> Outcome {
    let found = all(recording).into_iter().find(|(p, _)| *p == id(probe));
    found.expect("every probe of the header has an outcome").1
}

fn a(recording: &Recording) -> Outcome {
    outcome_of(recording, "a")
}

fn answered(action: &str, content: Option<Value>) -> Kind {
    let action = action.to_owned();
    Kind::Answered { action, content }
}

fn not_reached(missing: Stage) -> Kind {
    Kind::NotReached {
        missing,
        note: None,
    }
}

fn malformed(bytes: impl AsRef<[u8]>) -> Kind {
    let bytes = Wire(bytes.as_ref().to_vec());
    Kind::Malformed { bytes }
}

fn tool_offered() -> Event {
    Event::ToolOffered {
        name: "probe".to_owned(),
        deferred: false,
    }
}

#[test]
fn what_came_back_is_told_apart() {
    let check = |what: &str, script: Script, expect: Kind| {
        assert_eq!(a(&script.finish()).kind, expect, "{what}");
    };
    let result = |result: Value| sent().reply(1, result).done("a");
    let full = json!({"action": "accept", "content": {"value": "x"}});
    let content = Some(full["content"].clone());
    check("accept", result(full), answered("accept", content));
    check(
        "accept, no content",
        result(json!({"action": "accept"})),
        answered("accept", None),
    );
    let null = json!({"action": "accept", "content": null});
    check(
        "accept, null",
        result(null),
        answered("accept", Some(Value::Null)),
    );
    check(
        "decline",
        result(json!({"action": "decline"})),
        answered("decline", None),
    );
    let null = json!({"action": "decline", "content": null});
    check(
        "decline, null",
        result(null),
        answered("decline", Some(Value::Null)),
    );
    let empty = json!({"action": "cancel", "content": {}});
    check(
        "cancel, empty",
        result(empty),
        answered("cancel", Some(json!({}))),
    );
    check(
        "unknown action",
        result(json!({"action": "Accept"})),
        answered("Accept", None),
    );
    let meta = json!({"_meta": {"x": 1}, "action": "cancel", "more": []});
    check("more members", result(meta), answered("cancel", None));

    let error = |error: Value| sent().client(json!({"id": 1, "error": error}).to_string());
    let rpc = |code, message: &str| Kind::RpcError {
        code,
        message: message.to_owned(),
    };
    check(
        "error",
        error(json!({"code": -32602, "message": "no"})),
        rpc(-32602, "no"),
    );
    check(
        "a whole number",
        error(json!({"code": -32602.0, "message": ""})),
        rpc(-32602, ""),
    );
    for no_error in [
        json!({}),
        json!("no"),
        json!({"code": 1}),
        json!({"code": "1", "message": "no"}),
        json!({"code": 1.5, "message": "no"}),
    ] {
        let line = json!({"id": 1, "error": no_error}).to_string();
        check(&line, error(no_error), malformed(&line));
    }
    check(
        "long error",
        error(json!({"code": 1, "message": "é".repeat(999)})),
        rpc(1, &"é".repeat(400)),
    );

    check(
        "gave up",
        sent().no_reply("a").done("a"),
        Kind::Silent { after_ms: 500 },
    );
    check("never ended", sent(), Kind::Silent { after_ms: 0 });
    let killed = Event::Exit {
        code: None,
        signal: Some(9),
        killed: true,
    };
    check(
        "killed by us",
        sent().event(killed),
        Kind::Silent { after_ms: 0 },
    );
    check(
        "gave up, then exit",
        sent().no_reply("a").exit(Some(1), None),
        Kind::Silent { after_ms: 500 },
    );
    check(
        "exit",
        sent().exit(Some(3), None),
        Kind::Gone { exit: Some(3) },
    );
    check(
        "signal",
        sent().exit(None, Some(11)),
        Kind::Gone { exit: None },
    );
    check(
        "reply, then exit",
        result(json!({"action": "cancel"})).exit(Some(3), None),
        answered("cancel", None),
    );

    let no_action = r#"{"jsonrpc":"2.0","id":1,"result":{"content":{}}}"#;
    check("no action", sent().client(no_action), malformed(no_action));
    let number = r#"{"id":1,"result":{"action":1}}"#;
    check(
        "action is a number",
        sent().client(number),
        malformed(number),
    );
    let wrong = r#"{"id":99,"result":{"action":"accept"}}"#;
    check(
        "wrong id",
        sent().client(wrong).no_reply("a"),
        malformed(wrong),
    );
    let text = r#"{"id":"1","result":{"action":"accept"}}"#;
    check(
        "id of another type",
        sent().client(text).no_reply("a"),
        malformed(text),
    );
    check(
        "not JSON",
        sent().client("hello").no_reply("a"),
        malformed("hello"),
    );
    check("empty line", sent().client(""), malformed(""));
    check(
        "invalid UTF-8",
        sent().client(b"{\"id\":1,\"\xff\":0}"),
        malformed(b"{\"id\":1,\"\xff\":0}"),
    );
    check(
        "long rubbish",
        sent().client("x".repeat(999)),
        malformed("x".repeat(400)),
    );
    let late = sent().client("hello").reply(1, json!({"action": "accept"}));
    check("rubbish, then a reply", late, answered("accept", None));
    let other = sent()
        .client(r#"{"method":"notifications/x"}"#)
        .no_reply("a");
    check("only a notification", other, Kind::Silent { after_ms: 500 });

    let late = sent().no_reply("a").done("a");
    let late = late.reply(1, json!({"action": "cancel"}));
    check("after the deadline", late, Kind::Silent { after_ms: 500 });

    let null = r#"{"id":1,"result":{"action":"accept"},"error":null}"#;
    check(
        "result and null error",
        sent().client(null),
        answered("accept", None),
    );
    let both = r#"{"id":1,"result":{"action":"accept"},"error":{"code":1,"message":"no"}}"#;
    check("result and error", sent().client(both), malformed(both));
    let null = r#"{"id":1,"result":null,"error":null}"#;
    check(
        "null result and null error",
        sent().client(null),
        malformed(null),
    );
    let method = r#"{"id":1,"method":null,"result":{"action":"accept"}}"#;
    check(
        "null method",
        sent().client(method).done("a"),
        answered("accept", None),
    );
    let batch = r#"[{"id":1,"result":{"action":"accept"}}]"#;
    check(
        "a reply in an array",
        sent().client(batch),
        answered("accept", None),
    );
    let double = r#"{"id":1.0,"result":{"action":"accept"}}"#;
    check("1.0 is 1", sent().client(double), answered("accept", None));
    let twice = r#"{"id":9,"id":1,"result":{"action":"cancel","action":"accept"}}"#;
    check(
        "the last member counts",
        sent().client(twice),
        answered("accept", None),
    );
    let beyond = r#"{"id":1,"result":{"action":"accept","content":{"v":-1e400,"w":"\ud800"}}}"#;
    let content = json!({"v": f64::MIN, "w": "\u{fffd}\u{fffd}\u{fffd}"});
    check(
        "JSON beyond a double and with half a character",
        sent().client(beyond),
        answered("accept", Some(content)),
    );
    let deep = format!(
        r#"{{"id":1,"result":{{"action":"accept","x":{}{}}}}}"#,
        "[".repeat(99),
        "]".repeat(99)
    );
    check("too deep", sent().client(&deep), malformed(&deep));
    let deep = format!(
        r#"{{"id":1,"result":{{"action":"accept","x":{}{}}}}}"#,
        "[".repeat(98),
        "]".repeat(98)
    );
    check(
        "deep enough",
        sent().client(&deep),
        answered("accept", None),
    );

    let needs = || "elicitation.url".to_owned();
    let undeclared = Event::NotDeclared {
        probe: id("a"),
        needs: needs(),
    };
    check(
        "not declared",
        called().at_server(undeclared).done("a"),
        Kind::NotDeclared { needs: needs() },
    );
    let reason = || "not in 2024-11-05".to_owned();
    let unasked = Event::NotAsked {
        probe: id("a"),
        reason: reason(),
    };
    let note = Kind::NotReached {
        missing: Stage::RequestSent,
        note: Some(reason()),
    };
    check("not asked", called().at_server(unasked).done("a"), note);

    let new = || Script::new(&["a", "b"]);
    check("started only", new(), not_reached(Stage::Handshake));
    check(
        "initialize",
        new().initialize(),
        not_reached(Stage::ToolsListed),
    );
    check(
        "list",
        new().initialize().list(),
        not_reached(Stage::ToolCalled),
    );
    let model = || new().with_model().initialize().list();
    check("never offered", model(), not_reached(Stage::ToolOffered));
    check(
        "offered",
        model().event(tool_offered()),
        not_reached(Stage::ToolCalled),
    );
    check("called", called(), not_reached(Stage::RequestSent));
    check(
        "another is called",
        new().initialize().list().call("b"),
        not_reached(Stage::ToolCalled),
    );
    let mut nothing = new().finish();
    nothing.entries.clear();
    assert_eq!(a(&nothing).kind, not_reached(Stage::ClientStarted));
    let timed_out = sent().exit(Some(0), None).end(Some(End::TimedOut));
    assert_eq!(a(&timed_out).kind, Kind::Silent { after_ms: 0 });
}

#[test]
fn outcomes_survive_json() {
    let check = |kind: Kind| {
        let outcome = Outcome {
            kind,
            ..a(&sent().finish())
        };
        let text = serde_json::to_string(&outcome).unwrap();
        assert_eq!(
            serde_json::from_str::<Outcome>(&text).unwrap(),
            outcome,
            "{text}"
        );
    };
    for content in [
        None,
        Some(Value::Null),
        Some(json!({"v": [1, 2.5, "x", null]})),
    ] {
        check(answered("accept", content));
    }
    check(Kind::RpcError {
        code: i64::MIN,
        message: "a\nb".to_owned(),
    });
    check(Kind::Silent { after_ms: u64::MAX });
    check(Kind::Gone { exit: Some(-1) });
    check(Kind::Gone { exit: None });
    check(malformed("text"));
    check(malformed(b"\xff\0"));
    check(not_reached(Stage::ToolOffered));
    check(Kind::NotReached {
        missing: Stage::RequestSent,
        note: Some("a\nb".to_owned()),
    });
    let needs = "elicitation.url".to_owned();
    check(Kind::NotDeclared { needs });
}

proptest! {
    #[test]
    fn any_recording_has_one_outcome_a_probe(recording in hostile_recording()) {
        let found: Vec<ProbeId> = all(&recording).into_iter().map(|(probe, _)| probe).collect();
        prop_assert_eq!(&found, &recording.header.probes);
        let last = recording.entries.len() + 1;
        for (probe, outcome) in all(&recording) {
            prop_assert!(outcome.evidence.is_sorted());
            prop_assert!(outcome.evidence.iter().all(|line| (2..=last).contains(line)));
            let _ = broke_session(&recording, &probe) || was_touched(&recording, &probe);
        }
        let _ = harness_error(&recording);
    }
}

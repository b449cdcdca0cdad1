//! What of a recording is kept, and in which words.

mod extreme_lines;
mod logs;
mod same_outcomes;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::recording::{End, HostDir, read};
use crate::testing::{Script, form, header, hostile_recording, id};

/// What becomes of lines that the client wrote, in their order.
fn client_lines(lines: &[&[u8]]) -> Vec<String> {
    let script = lines.iter().fold(Script::new(&["a"]), Script::client);
    let events = evidence(&script.finish()).entries.into_iter();
    events
        .filter_map(|entry| match entry.event {
            Event::Mcp { line, .. } => Some(line.to_text().into_owned()),
            _ => None,
        })
        .collect()
}

#[test]
fn a_line_keeps_its_bytes_except_ids_and_meta() {
    let check = |line: &str, expect: &str| {
        assert_eq!(client_lines(&[line.as_bytes()]), [expect], "{line}");
    };
    check(
        r#"{"jsonrpc": "2.0",  "id":7,"result":{"action":"accept","content":{"v":1.0e1}}}"#,
        r#"{"jsonrpc": "2.0",  "id":1,"result":{"action":"accept","content":{"v":1.0e1}}}"#,
    );
    check(
        r#" { "id" : "x-7" , "method":"ping"} "#,
        r#" { "id" : "id-1" , "method":"ping"} "#,
    );
    check(r#"{"id":-7.5,"id2":7}"#, r#"{"id":1,"id2":7}"#);
    check(r#"{"id":null,"result":{}}"#, r#"{"id":null,"result":{}}"#);
    check(r#"{"id":[7],"result":{}}"#, r#"{"id":[7],"result":{}}"#);
    check(r#"{"result":{"id":7}}"#, r#"{"result":{"id":7}}"#);
    check(
        r#"{"result":{"a":"\u00e9\/"},"id":7}"#,
        r#"{"result":{"a":"\u00e9\/"},"id":1}"#,
    );
    check("", "");
    check("plain text", "plain text");
    check("\0", "\0");
    check(
        r#"{"id": 7, "result": {"_meta": {"t": "secret", "io.modelcontextprotocol/x": 1}, "a": 1.50}}"#,
        r#"{"id": 1, "result": {"_meta": {"t": "<redacted>", "io.modelcontextprotocol/x": 1}, "a": 1.50}}"#,
    );
    check(
        r#"{"method":"m","params":{"_meta":{"progressToken":7}}}"#,
        r#"{"method":"m","params":{"_meta":{"progressToken":"<redacted>"}}}"#,
    );
    check(
        r#"{"id":7,"result":["_meta"]}"#,
        r#"{"id":1,"result":["_meta"]}"#,
    );
    check(
        r#"{"id":1,"_meta":{"t":"secret"}}"#,
        r#"{"id":1,"_meta":{"t":"<redacted>"}}"#,
    );
    check(
        r#"{"result":{"\u005fmeta":{"t":"secret"}}}"#,
        r#"{"result":{"\u005fmeta":{"t":"<redacted>"}}}"#,
    );
    check(
        r#"{"result":{"a":[{"b":{"_meta":{"t":["secret"]}}}]}}"#,
        r#"{"result":{"a":[{"b":{"_meta":{"t":"<redacted>"}}}]}}"#,
    );
    check(
        r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#,
        r#"{"method":"notifications/cancelled","params":{"requestId":"<redacted>"}}"#,
    );
    // That a token is none is a fact to keep.
    for (odd, kept) in [
        ("{\"a\":7}", "{}"),
        ("[7]", "[]"),
        ("null", "null"),
        ("7.5", "0.5"),
        ("7.0", "\"<redacted>\""),
    ] {
        check(
            &format!(
                r#"{{"method":"x","params":{{"requestId":{odd},"_meta":{{"progressToken":{odd}}}}}}}"#
            ),
            &format!(
                r#"{{"method":"x","params":{{"requestId":{kept},"_meta":{{"progressToken":{kept}}}}}}}"#
            ),
        );
    }
    check(
        r#"{"method":"notifications/progress","params":{"progressToken":"secret","progress":1}}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":"<redacted>","progress":1}}"#,
    );
    let hidden = r#"{ "result": {"_meta": {"t": "<redacted>"}, "requestId": "<redacted>"}}"#;
    check(hidden, hidden);
}

#[test]
fn ids_are_renumbered_in_the_space_of_whoever_asked() {
    let found = client_lines(&[
        br#"{"id":5,"method":"ping"}"#,
        br#"{"id":"five","method":"ping"}"#,
        br#"{"id":5,"result":{}}"#,
        br#"{"id":5,"method":"ping"}"#,
        br#"{"id":9,"result":{}}"#,
    ]);
    let expect = [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"id":"id-2","method":"ping"}"#,
        r#"{"id":1,"result":{}}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"id":2,"result":{}}"#,
    ];
    assert_eq!(found, expect);
}

#[test]
fn ids_are_the_same_by_value() {
    let found = client_lines(&[
        br#"{"id":7,"result":{}}"#,
        br#"{"id":7.0,"result":{}}"#,
        br#"{"id":70e-1,"result":{}}"#,
        br#"{"id":"7","result":{}}"#,
        br#"{"id":"\u0037","result":{}}"#,
    ]);
    let expect = [
        r#"{"id":1,"result":{}}"#,
        r#"{"id":1.0,"result":{}}"#,
        r#"{"id":1.0,"result":{}}"#,
        r#"{"id":"id-2","result":{}}"#,
        r#"{"id":"id-2","result":{}}"#,
    ];
    assert_eq!(found, expect);
}

#[test]
fn members_that_are_there_twice_stay_so() {
    let check = |line: &str, expect: &str| {
        assert_eq!(client_lines(&[line.as_bytes()]), [expect], "{line}");
    };
    check(
        r#"{"id":3,"id":7,"result":{"action":"accept"}}"#,
        r#"{"id":1,"id":2,"result":{"action":"accept"}}"#,
    );
    check(
        r#"{"result":{"a":1,"a":2,"_meta":{"t":1,"t":2}},"_meta":{},"_meta":{"u":[{}]}}"#,
        r#"{"result":{"a":1,"a":2,"_meta":{"t":"<redacted>","t":"<redacted>"}},"_meta":{},"_meta":{"u":"<redacted>"}}"#,
    );
}

#[test]
fn the_items_of_an_array_are_messages() {
    let check = |line: &str, expect: &str| {
        assert_eq!(client_lines(&[line.as_bytes()]), [expect], "{line}");
    };
    check(
        r#"[{"id":7,"method":"ping","params":{"_meta":{}}}, {"id":8,"result":{}}]"#,
        r#"[{"id":1,"method":"ping","params":{"_meta":{}}}, {"id":1,"result":{}}]"#,
    );
    check(
        r#" [ 7, "ping", {"_meta": {"t": 1},"params":{"requestId":7}}, [{"id":4}] ]"#,
        r#" [ 7, "ping", {"_meta": {"t": "<redacted>"},"params":{"requestId":"<redacted>"}}, [{"id":4}] ]"#,
    );
    for array in [r#"[1,"_meta"]"#, "[7]", "[]"] {
        check(array, array);
    }
}

#[test]
fn what_is_too_deep_to_be_read_is_redacted() {
    let check = |inner: &str, expect: &str| {
        let line = |id: &str, inner: &str| {
            let (open, close) = (r#"{"a":["#.repeat(20_000), "]}".repeat(20_000));
            format!(r#"{{"result":{open}{inner}{close},"id":{id}}}"#)
        };
        assert_eq!(
            client_lines(&[line("7", inner).as_bytes()]),
            [line("1", expect)]
        );
    };
    check(
        r#"{"_meta":{"t":["secret"]}}"#,
        r#"{"_meta":{"t":"<redacted>"}}"#,
    );
    check(r#"{"id":7,"requestId":7}"#, r#"{"id":7,"requestId":7}"#);
}

#[test]
fn only_of_a_person_are_times_kept() {
    let times = |answered_by| {
        let mut recording = Script::new(&["a"])
            .call("a")
            .send("a", 1)
            .no_reply("a")
            .finish();
        recording.header.answered_by = answered_by;
        for (entry, t_us) in recording
            .entries
            .iter_mut()
            .zip([5_300_000, 5_399_999, 5_400_000, 7_999_999])
        {
            entry.t_us = t_us;
        }
        let once = evidence(&recording);
        assert_eq!(evidence(&once), once);
        once.entries
            .iter()
            .map(|entry| entry.t_us)
            .collect::<Vec<_>>()
    };
    assert_eq!(times(AnsweredBy::Person), [0, 0, 100_000, 2_600_000]);
    assert_eq!(times(AnsweredBy::Driver), [0; 4]);
    assert_eq!(times(AnsweredBy::Client), [0; 4]);
}

#[test]
fn of_a_tool_result_the_own_line_is_kept() {
    let check = |text: &str, expect: &str| {
        let event = Event::ToolResult {
            probe: id("a"),
            text: text.to_owned(),
        };
        let kept = evidence(&Script::new(&["a"]).event(event).finish());
        let Event::ToolResult { text: found, .. } = &kept.entries[1].event else {
            panic!("{kept:?}");
        };
        assert_eq!(found, expect, "{text:?}");
    };
    check("a: the client replied", "a: the client replied");
    check("Wall time: 0.1 s\nOutput:\na: no reply\nbye", "a: no reply");
    check("something else", "<redacted>");
    check("", "<redacted>");
}

#[test]
fn the_clients_own_chatter_is_dropped() {
    let secret = || Wire::text("secret");
    let params = json!({"message": "m", "_meta": {"t": "secret"}});
    let script = Script::new(&["a"])
        .event(Event::Host {
            dir: HostDir::FromClient,
            line: secret(),
        })
        .event(Event::Host {
            dir: HostDir::ToClient,
            line: secret(),
        })
        .event(Event::ModelRequest {
            method: "POST".into(),
            path: "secret".into(),
            body: secret(),
        })
        .event(Event::ModelReply {
            status: 200,
            body: secret(),
        })
        .event(Event::Stdout { line: secret() })
        .event(Event::Stderr {
            line: secret(),
            probe: None,
        })
        .event(Event::ClientStarted {
            argv: vec!["secret".into()],
        })
        .event(Event::ToolResult {
            probe: id("a"),
            text: "secret".into(),
        })
        .presented("a", params);
    let recording = script.finish();
    let kept = evidence(&recording);
    assert!(!read::to_text(&kept).contains("secret"), "{kept:?}");
    assert_eq!(kept.entries.len(), 4);
    assert!(kept.entries.iter().all(|entry| entry.t_us == 0));
    assert_eq!(
        (kept.header, kept.end),
        (recording.header, Some(End::Finished))
    );
}

#[test]
fn the_entries_of_a_cell_stand_together() {
    let accept = || json!({"action": "accept"});
    let script = Script::new(&["a", "b"]).event(Event::NameAsked {
        name: "z.example".into(),
    });
    let script = script
        .initialize()
        .list()
        .call("a")
        .call("b")
        .send("a", 1)
        .reply(1, accept());
    let script = script
        .done("a")
        .send("b", 2)
        .reply(1, accept())
        .presented("b", form());
    let script = script.reply(2, accept()).done("b").exit(Some(0), None);
    let kept = evidence(
        &script
            .event(Event::NameAsked {
                name: "b.example".into(),
            })
            .finish(),
    );
    let words: Vec<String> = kept
        .entries
        .iter()
        .zip(place(&kept))
        .map(|(entry, place)| {
            let what = match &entry.event {
                Event::Mcp { line, .. } => {
                    let value: Value = serde_json::from_slice(&line.0).unwrap();
                    let id = &value["id"];
                    value["method"]
                        .as_str()
                        .map_or(format!("reply {id}"), |m| format!("{m} {id}"))
                }
                Event::NameAsked { name } => name.clone(),
                event => {
                    let value = serde_json::to_value(event).unwrap();
                    value.as_object().unwrap().keys().next().unwrap().clone()
                }
            };
            format!(
                "{}{what}",
                place.map_or(String::new(), |probe| format!("{probe}: "))
            )
        })
        .collect();
    let expect = [
        "client_started",
        "initialize \"id-1\"",
        "reply \"id-1\"",
        "tools/list \"id-2\"",
        "reply \"id-2\"",
        "a: tools/call \"id-3\"",
        "a: elicitation/create 1",
        "a: reply 1",
        "a: probe_done",
        "a: reply \"id-3\"",
        "a: reply 1",
        "b: tools/call \"id-4\"",
        "b: elicitation/create 2",
        "b: presented",
        "b: reply 2",
        "b: probe_done",
        "b: reply \"id-4\"",
        "b.example",
        "z.example",
        "exit",
    ];
    assert_eq!(words, expect);
}

#[test]
fn a_header_is_kept_as_it_is() {
    let recording = Script::new(&["a"]).end(None);
    assert_eq!(evidence(&recording).header, header(&["a"]));
    assert_eq!(evidence(&recording).end, None);
}

proptest! {
    #[test]
    fn any_recording_is_redacted_once(mut recording in hostile_recording(), by_person in any::<bool>()) {
        if by_person {
            recording.header.answered_by = AnsweredBy::Person;
            for entry in &mut recording.entries {
                entry.t_us *= 12_345;
            }
        }
        let once = evidence(&recording);
        prop_assert_eq!(&evidence(&once), &once);
        prop_assert!(by_person || once.entries.iter().all(|entry| entry.t_us == 0));
    }
}

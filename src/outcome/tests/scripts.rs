//! What a client did once its handshake was answered as a script says.

use serde_json::json;

use super::*;
use crate::catalogue::script::Then;

/// A session with a script for `a`, whose stimulus is the answer to `initialize` on line 4.
fn scripted() -> Script {
    let hello = crate::testing::request(json!("init"), "initialize", &json!({}));
    Script::new(&["a"]).client(hello).at_server(Event::Mcp {
        dir: Dir::ServerToClient,
        line: Wire::text(reply(json!("init"), json!({})).to_string()),
        head: None,
        probe: Some(id("a")),
    })
}

fn followed(script: Script) -> (Then, Vec<String>, Vec<String>) {
    let mut recording = script.finish();
    recording.header.script = Some(id("a"));
    assert!(!broke_session(&recording, &id("a")));
    match a(&recording).kind {
        Kind::Followed {
            then,
            methods,
            ended_by,
        } => (then, methods, ended_by),
        kind => panic!("{kind:?}"),
    }
}

#[test]
fn what_comes_after_the_answer_is_named() {
    let say = |script: Script, method: &str| {
        script.client(json!({"jsonrpc": "2.0", "method": method}).to_string())
    };
    let check = |methods: &[&str], expect: Then| {
        let script = methods
            .iter()
            .fold(scripted(), |script, method| say(script, method));
        let (then, named, _) = followed(script);
        assert_eq!(then, expect, "{methods:?}");
        assert_eq!(named, methods, "{methods:?}");
    };
    check(&[], Then::Stops);
    check(&["notifications/initialized"], Then::Stops);
    check(&["ping"], Then::Stops);
    check(&["notifications/initialized", "tools/list"], Then::GoesOn);
    check(&["tools/call"], Then::GoesOn);
    check(&["initialize", "tools/list"], Then::Initializes);
    check(&["tools/list", "initialize"], Then::GoesOn);
    let many = (0..50).fold(scripted(), |script, _| say(script, "ping"));
    assert_eq!(followed(many).1.len(), 8);
    let elsewhere = say(scripted().server("server-2"), "tools/list");
    assert_eq!(followed(elsewhere).0, Then::Stops, "another server's");
}

#[test]
fn how_a_server_that_stays_was_ended_is_kept_in_order() {
    let ended = ["closed", "SIGTERM"].iter().fold(scripted(), |script, by| {
        script.at_server(Event::Ending {
            by: (*by).to_owned(),
        })
    });
    assert_eq!(followed(ended).2, ["closed", "SIGTERM"]);
}

#[test]
fn a_client_that_never_asks_is_not_reached() {
    let check = |script: Script, has_note: bool| {
        let mut recording = script.finish();
        recording.header.script = Some(id("a"));
        let Kind::NotReached { missing, note } = a(&recording).kind else {
            panic!("reached");
        };
        assert_eq!((missing, note.is_some()), (Stage::Handshake, has_note));
    };
    check(Script::new(&["a"]), false);
    check(Script::new(&["a"]).list(), true);
    let withheld = Script::new(&["a"]).at_server(Event::Withheld { probe: id("a") });
    assert_eq!(followed(withheld).0, Then::Stops);
}

//! Requests that stand in results, and the calls that are made again with an answer (2026-07-28 basic/patterns/mrtr).

use serde_json::json;

use super::*;

/// A result that asks for `a`'s input, to its call `id`; a stimulus.
fn asks(script: Script, id: &str, result: Value) -> Script {
    let line = Wire::text(reply(json!(id), result).to_string());
    script.at_server(Event::Mcp {
        dir: Dir::ServerToClient,
        line,
        head: None,
        probe: Some(self::id("a")),
    })
}

fn input() -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": {"probe": {"method": "elicitation/create", "params": form()}},
        "requestState": "s",
    })
}

/// The call of `a` came back with its request: line 4.
fn asked() -> Script {
    asks(Script::new(&["a", "b"]).call("a"), "call-a", input())
}

/// `probe` is called again with this in the params.
fn again(script: Script, probe: &str, members: &Value) -> Script {
    let mut params = json!({"name": "probe", "arguments": {"id": probe}});
    for (name, value) in members.as_object().expect("an object") {
        params[name] = value.clone();
    }
    script.client(crate::testing::request(
        json!("again"),
        "tools/call",
        &params,
    ))
}

fn with(answer: Value) -> Value {
    let mut members = json!({"requestState": "s", "inputResponses": {}});
    members["inputResponses"]["probe"] = answer;
    members
}

fn returned(script: Script, probe: &str) -> Script {
    script.event(Event::CallReturned { probe: id(probe) })
}

#[test]
fn a_call_made_again_is_the_answer() {
    let check = |what: &str, script: Script, expect: Kind| {
        assert_eq!(a(&script.finish()).kind, expect, "{what}");
    };
    let accept = json!({"action": "accept", "content": {"value": "x"}});
    check(
        "accept",
        again(asked(), "a", &with(accept.clone())),
        answered("accept", Some(json!({"value": "x"}))),
    );
    check(
        "decline",
        again(asked(), "a", &with(json!({"action": "decline"}))),
        answered("decline", None),
    );
    let no_state = json!({"inputResponses": {"probe": {"action": "cancel"}}});
    check(
        "no state",
        again(asked(), "a", &no_state),
        answered("cancel", None),
    );
    let state_alone = again(asked(), "a", &json!({"requestState": "s"})).finish();
    assert!(matches!(a(&state_alone).kind, Kind::Malformed { .. }));
    let other_key = json!({"inputResponses": {"x": {"action": "cancel"}}});
    let other_key = again(asked(), "a", &other_key).finish();
    assert!(matches!(a(&other_key).kind, Kind::Malformed { .. }));
    check(
        "another probe's",
        returned(again(asked(), "b", &with(accept.clone())), "a"),
        Kind::NotRetried,
    );
    check(
        "called anew",
        returned(asked().call("a"), "a"),
        Kind::NotRetried,
    );
    let reply = reply(json!("probe"), accept).to_string();
    check(
        "a reply of JSON-RPC",
        returned(asked().client(reply), "a"),
        Kind::NotRetried,
    );
}

#[test]
fn without_it_the_end_of_the_call_tells() {
    let check = |what: &str, recording: Recording, expect: Kind| {
        assert_eq!(a(&recording).kind, expect, "{what}");
    };
    check(
        "returned",
        returned(asked(), "a").finish(),
        Kind::NotRetried,
    );
    let told = asked().event(Event::ToolResult {
        probe: id("a"),
        text: "input required".to_owned(),
    });
    check("told the model", told.finish(), Kind::NotRetried);
    check(
        "gone",
        asked().exit(Some(7), None).end(Some(End::ClientGone)),
        Kind::Gone { exit: Some(7) },
    );
    check(
        "kept",
        asked().end(Some(End::TimedOut)),
        Kind::Silent { after_ms: 0 },
    );
    let early = again(
        Script::new(&["a"]).call("a"),
        "a",
        &with(json!({"action": "cancel"})),
    );
    let early = asks(early, "again", input());
    check(
        "called again before it was asked",
        returned(early, "a").finish(),
        Kind::NotRetried,
    );
}

#[test]
fn a_further_call_is_no_second_reply() {
    let cancel = with(json!({"action": "cancel"}));
    let decline = with(json!({"action": "decline"}));
    let outcome = a(&again(again(asked(), "a", &cancel), "a", &decline).finish());
    assert_eq!(outcome.kind, answered("cancel", None), "the first counts");
    assert_eq!(outcome.oddities, [Oddity::SecondRetry]);
    assert_eq!((outcome.request, outcome.reply), (Some(4), Some(5)));
    assert!(outcome.evidence.contains(&6));
}

#[test]
fn the_last_round_is_the_probes() {
    let first = json!({"resultType": "input_required", "requestState": "s"});
    let script = asks(Script::new(&["a"]).call("a"), "call-a", first);
    let script = again(script, "a", &json!({"requestState": "s"}));
    let script = asks(script, "again", input());
    let script = again(script, "a", &with(json!({"action": "decline"})));
    let outcome = a(&script.finish());
    assert_eq!(outcome.kind, answered("decline", None));
    assert_eq!((outcome.request, outcome.reply), (Some(6), Some(7)));
    assert_eq!(outcome.oddities, []);
}

#[test]
fn what_was_shown_is_compared_with_what_the_result_asks_for() {
    let given = json!({"action": "accept", "content": {"value": "x"}});
    let shown = |params: Value| asked().presented("a", params).answer("a", given.clone());
    let whole = again(shown(form()), "a", &with(given.clone()));
    let outcome = a(&whole.finish());
    assert_eq!(outcome.presented, Some(Vec::new()));
    assert_eq!(outcome.answer, Some(Vec::new()));
    assert_eq!(outcome.latency_us, Some(30));
    let mut lost = form();
    lost["message"] = json!("other");
    let less = json!({"action": "accept", "content": {}});
    let outcome = a(&again(shown(lost.clone()), "a", &with(less)).finish());
    assert_eq!(outcome.presented.map(|found| found.len()), Some(1));
    assert_eq!(outcome.answer.map(|found| found.len()), Some(1));
    // Of two inputs of one result, the one that is most like the probe's is the probe's.
    let two = again(shown(lost).presented("a", form()), "a", &with(given));
    assert_eq!(a(&two.finish()).presented, Some(Vec::new()));
}

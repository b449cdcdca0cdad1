//! Sessions of the modern era: what every request carries, which ids are free, and calls that are made again.

use super::*;
use crate::names::Revision;
use crate::recording::{Dir, Event, Wire};

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "acme", "version": "1.0.0"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    })
}

/// The params of a call of `a`, with more members.
fn call(more: &Value) -> Value {
    let mut params = json!({"name": "probe", "arguments": {"id": "a"}, "_meta": meta()});
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    params
}

/// A call that came back with a request and a state: lines 3 and 4.
fn asked() -> Script {
    let params = call(&json!({}));
    asks(
        Script::new(&["a"]).client(request(json!(1), "tools/call", &params)),
        1,
        &json!({"requestState": "s"}),
    )
}

/// Our result to request `number` asks for the input of `a`, with more members.
fn asks(script: Script, number: u64, more: &Value) -> Script {
    let mut result = json!({
        "resultType": "input_required",
        "inputRequests": {"probe": {"method": "elicitation/create", "params": form()}},
    });
    for (name, value) in more.as_object().expect("an object") {
        result[name] = value.clone();
    }
    script.at_server(Event::Mcp {
        dir: Dir::ServerToClient,
        line: Wire::text(reply(json!(number), result).to_string()),
        head: None,
        probe: Some(id("a")),
    })
}

/// What a call made again must look like; `id` and `more` are changed from it.
fn again(id: u64, change: &Value) -> String {
    let mut more = json!({
        "inputResponses": {"probe": {"action": "accept", "content": {"value": "x"}}},
        "requestState": "s",
    });
    for (name, value) in change.as_object().expect("an object") {
        more[name] = value.clone();
    }
    let mut params = call(&more);
    params
        .as_object_mut()
        .expect("an object")
        .retain(|_, value| value != "none");
    request(json!(id), "tools/call", &params)
}

/// In a session that the server speaks the modern era in, whatever the client says.
fn findings_of(script: Script) -> Vec<String> {
    let mut recording = script.finish();
    recording.header.revision = Some(Revision::V2026_07_28);
    let checked = checked(&recording);
    assert_eq!(checked.harness_error(), None);
    assert_eq!(checked.ours_of(Some(&id("a"))), None);
    let said = checked.findings(&BTreeMap::new(), &[]);
    let words = said.iter().map(|verdict| {
        let strength = verdict.strength.expect("a strength").name();
        let clause = verdict.clause.as_deref().expect("a clause");
        format!("{strength} {clause}")
    });
    words.collect()
}

const MRTR: &str = "MUST 2026-07-28 basic/patterns/mrtr Client Requirements";

#[test]
fn a_call_made_again_is_held_against_the_result_before() {
    let check = |what: &str, id: u64, change: Value, expect: &[&str]| {
        let found = findings_of(asked().client(again(id, &change)));
        assert_eq!(found, expect, "{what}");
    };
    check("sound", 2, json!({}), &[]);
    let more = json!({"probe": {"action": "cancel"}, "more": {"action": "cancel"}});
    check("an input too many", 2, json!({"inputResponses": more}), &[]);
    check("another state", 2, json!({"requestState": "t"}), &[MRTR]);
    check("white space", 2, json!({"requestState": "s "}), &[MRTR]);
    check("no state", 2, json!({"requestState": "none"}), &[MRTR]);
    check("no input", 2, json!({"inputResponses": {}}), &[MRTR]);
    check("no inputs", 2, json!({"inputResponses": "none"}), &[MRTR]);
    check("the same id", 1, json!({}), &[MRTR]);
    let bad = json!({"probe": {"action": "ok"}});
    let schema = "SCHEMA 2026-07-28 schema ElicitResult";
    check("a bad action", 2, json!({"inputResponses": bad}), &[schema]);
    let no_state = asks(
        Script::new(&["a"]).client(request(json!(1), "tools/call", &call(&json!({})))),
        1,
        &json!({}),
    );
    assert_eq!(
        findings_of(no_state.client(again(2, &json!({})))),
        [MRTR],
        "a state where none was given"
    );
}

#[test]
fn the_id_of_no_round_of_the_call_may_come_again() {
    let second = || {
        let script = asked().client(again(2, &json!({})));
        asks(script, 2, &json!({"requestState": "t"}))
    };
    let state = json!({"requestState": "t"});
    assert_eq!(findings_of(second().client(again(3, &state))), [""; 0]);
    for id in [1, 2] {
        assert_eq!(
            findings_of(second().client(again(id, &state))),
            [MRTR],
            "{id}"
        );
    }
}

#[test]
fn an_id_is_free_once_it_was_answered() {
    let list = || request(json!(7), "tools/list", &json!({"_meta": meta()}));
    let tools = json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"});
    let answered = Script::new(&["a"])
        .client(list())
        .said(&reply(json!(7), tools));
    assert_eq!(findings_of(answered.client(list())), [""; 0]);
    assert_eq!(
        findings_of(Script::new(&["a"]).client(list()).client(list())),
        ["MUST 2026-07-28 basic/index Requests"]
    );
}

#[test]
fn every_request_carries_what_it_has_to() {
    let check = |what: &str, meta: Option<Value>, expect: &[&str]| {
        let params = match meta {
            Some(meta) => json!({"_meta": meta}),
            None => json!({}),
        };
        let script = Script::new(&["a"]).client(request(json!(1), "tools/list", &params));
        assert_eq!(findings_of(script), expect, "{what}");
    };
    let without = |field: &str| {
        let field = format!("io.modelcontextprotocol/{field}");
        Some(super::without(meta(), &field))
    };
    let index = "MUST 2026-07-28 basic/index _meta";
    check("all", Some(meta()), &[]);
    check("no client info", without("clientInfo"), &[]);
    check("no version", without("protocolVersion"), &[index]);
    check("no capabilities", without("clientCapabilities"), &[index]);
    check("nothing in it", Some(json!({})), &[index]);
    check("no _meta", None, &[index]);
    let number = with(
        meta(),
        "io.modelcontextprotocol/protocolVersion",
        json!(20_260_728),
    );
    check(
        "a version that is a number",
        Some(number),
        &["SCHEMA 2026-07-28 schema ListToolsRequest"],
    );
}

#[test]
fn a_reply_of_the_client_breaks_a_rule() {
    let result = json!({"resultType": "complete", "action": "cancel"});
    let found = findings_of(asked().client(reply(json!("probe"), result).to_string()));
    assert_eq!(
        found,
        [
            "MUST 2026-07-28 basic/index Result Responses",
            "MUST 2026-07-28 basic/transports/stdio Sending Messages"
        ]
    );
}

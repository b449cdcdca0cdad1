//! How a request is put to a client in the modern era, way by way, and by which script a handshake goes.

use super::*;
use crate::catalogue::script::{Reply, Script, Then};
use crate::catalogue::{Asks, Way};

const MODERN: Option<Revision> = Some(Revision::V2026_07_28);

fn by(way: Way) -> Probe {
    Probe {
        way,
        revisions: vec![Revision::V2025_11_25, Revision::V2026_07_28],
        ..probe("a/one", r#"{"z":1}"#)
    }
}

/// A request of the modern era, with these members in its params beside `_meta`.
fn request(id: u64, method: &str, members: &Value, capabilities: &Value) -> String {
    let mut params = members.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn call(id: u64, more: &Value) -> String {
    let mut members = json!({"name": "probe", "arguments": {"id": "a/one"}});
    for (name, value) in more.as_object().unwrap() {
        members[name] = value.clone();
    }
    request(id, "tools/call", &members, &json!({"elicitation": {}}))
}

fn retry(id: u64) -> String {
    call(
        id,
        &json!({"inputResponses": {"probe": {"action": "cancel"}}, "requestState": "s"}),
    )
}

fn asks(id: u64, members: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required",{members}}}}}"#)
}

fn complete(id: u64, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"a/one: {text}"}}]}}}}"#
    )
}

const INPUT: &str = r#"{"method":"elicitation/create","params":{"z":1}}"#;

#[test]
fn each_way_has_its_own_rounds() {
    let check = |way: Way, lines: &[String], expect: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (written, events) = converse_about(vec![by(way)], MODERN, &lines, 5);
        assert_eq!(written, expect, "{way:?}");
        let done = |event: &&Event| matches!(event, Event::ProbeDone { .. });
        assert_eq!(events.iter().filter(done).count(), 1, "{way:?}");
        let sent = |event: &&Event| matches!(event, Event::Mcp { probe: Some(_), .. });
        assert!(events.iter().any(|event| sent(&event)), "{way:?}");
    };
    let nothing = json!({});
    let replied = |id: u64| complete(id, "the client replied");
    let plain = format!(r#""inputRequests":{{"probe":{INPUT}}},"requestState":"a/one: round 1""#);
    let once = [call(1, &nothing), retry(2)];
    check(Way::Plain, &once, &[asks(1, &plain), replied(2)]);
    check(
        Way::NoState,
        &once,
        &[
            asks(1, &format!(r#""inputRequests":{{"probe":{INPUT}}}"#)),
            replied(2),
        ],
    );
    let two = format!(
        r#""inputRequests":{{"other":{INPUT},"probe":{INPUT}}},"requestState":"a/one: round 1""#
    );
    check(Way::TwoInputs, &once, &[asks(1, &two), replied(2)]);
    let second = format!(r#""inputRequests":{{"probe":{INPUT}}},"requestState":"a/one: round 2""#);
    let twice = [call(1, &nothing), retry(2), retry(3)];
    check(
        Way::StateFirst,
        &twice,
        &[
            asks(1, r#""requestState":"a/one: round 1""#),
            asks(2, &second),
            replied(3),
        ],
    );
    let first = format!(r#""inputRequests":{{"first":{INPUT}}},"requestState":"a/one: round 1""#);
    check(
        Way::SecondRound,
        &twice,
        &[asks(1, &first), asks(2, &second), replied(3)],
    );
    let noise = || super::super::legacy::NOISE.to_owned();
    check(
        Way::AfterNoise,
        &once,
        &[noise(), noise(), noise(), asks(1, &plain), replied(2)],
    );
    let unknown = r#"{"jsonrpc":"2.0","method":"notifications/capmatrix/unknown","params":{}}"#;
    check(
        Way::AfterUnknownNotification,
        &once,
        &[unknown.to_owned(), asks(1, &plain), replied(2)],
    );
}

#[test]
fn an_odd_state_is_odd_and_one_line() {
    let (written, _) = converse_about(vec![by(Way::OddState)], MODERN, &[&call(1, &json!({}))], 5);
    let result: Value = serde_json::from_str(&written[0]).unwrap();
    let state = result["result"]["requestState"].as_str().unwrap();
    for odd in [
        "\u{1}", "\u{e9}", "e\u{301}", "\"", "\\", "&amp;", "%41", "\t",
    ] {
        assert!(state.contains(odd), "{odd:?} in {state:?}");
    }
    assert!(state.ends_with(' '));
}

#[test]
fn calls_out_of_turn_are_completed() {
    let nothing = json!({});
    let lines = [call(1, &nothing), call(2, &nothing), retry(3), retry(4)];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (written, _) = converse_about(vec![by(Way::Plain)], MODERN, &lines, 5);
    assert_eq!(written[1], complete(2, "asked already"));
    assert_eq!(written[2], complete(3, "the client replied"));
    let (written, _) = converse_about(vec![by(Way::Plain)], MODERN, &[&retry(1)], 5);
    assert_eq!(written[0], complete(1, "nothing was asked"));
}

#[test]
fn what_a_request_declares_holds_for_it_alone() {
    let declares = request(1, "tools/list", &json!({}), &json!({"elicitation": {}}));
    let mut silent: Value = serde_json::from_str(&call(2, &json!({}))).unwrap();
    for capabilities in [json!({}), Value::Null] {
        silent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let silent = silent.to_string();
        let (written, events) =
            converse_about(vec![by(Way::Plain)], MODERN, &[&declares, &silent], 5);
        let error: Value = serde_json::from_str(&written[1]).unwrap();
        assert_eq!(error["error"]["code"], -32021);
        assert_eq!(
            error["error"]["data"],
            json!({"requiredCapabilities": {"elicitation": {"form": {}}}})
        );
        let told = |event: &Event| matches!(event, Event::NotDeclared { .. });
        assert!(events.iter().any(told));
    }
}

#[test]
fn the_era_is_the_one_asked_for_or_the_one_of_the_request() {
    let discover = request(1, "server/discover", &json!({}), &json!({}));
    let check = |revision: Option<Revision>, line: &str, expect: &str| {
        let (written, _) = converse_about(vec![by(Way::Plain)], revision, &[line], 5);
        assert!(
            written[0].contains(expect),
            "{revision:?} {line}: {}",
            written[0]
        );
    };
    check(None, &discover, r#""supportedVersions":["2026-07-28"]"#);
    check(None, INITIALIZE, r#""protocolVersion":"2025-06-18""#);
    check(MODERN, &discover, r#""supportedVersions":["2026-07-28"]"#);
    check(MODERN, INITIALIZE, r#""code":-32022"#);
    check(MODERN, INITIALIZE, r#""supported":["2026-07-28"]"#);
    check(Some(Revision::V2025_11_25), &discover, r#""code":-32601"#);
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    check(MODERN, bare, r#""resultType":"complete""#);
    check(None, bare, r#""code":-32601"#);
}

fn scripted(to: &str, reply: Reply, text: &str) -> Probe {
    Probe {
        asks: Asks::Handshake,
        needs: Capability::Nothing,
        method: to.to_owned(),
        script: Some(Script {
            reply,
            then: vec![Then::GoesOn],
            starts_after_ms: 0,
            over: None,
        }),
        ..probe("a/one", text)
    }
}

#[test]
fn a_handshake_goes_by_its_script() {
    let discover = request(1, "server/discover", &json!({}), &json!({}));
    let check = |probe: Probe, revision: Option<Revision>, lines: &[&str], expect: &[&str]| {
        let (written, _) = converse_about(vec![probe], revision, lines, 5);
        assert_eq!(written.len(), expect.len(), "{written:?}");
        for (line, part) in written.iter().zip(expect) {
            assert!(line.contains(part), "{part}: {line}");
        }
    };
    let future = r#"{"protocolVersion":"2099-01-01"}"#;
    let result = || scripted("initialize", Reply::Result, future);
    check(
        result(),
        None,
        &[INITIALIZE],
        &[r#""id":"i","result":{"protocolVersion":"2099-01-01"}}"#],
    );
    let error = |code: i64| {
        let text = format!(r#"{{"code":{code},"message":"no"}}"#);
        scripted("server/discover", Reply::Error, &text)
    };
    // As a legacy server: it answers what it does not know with an error, and goes on by `initialize`.
    check(
        error(-32000),
        MODERN,
        &[&discover, INITIALIZE],
        &[r#""code":-32000"#, r#""protocolVersion":"2025-06-18""#],
    );
    // As a modern one, which has no such version.
    check(
        error(-32022),
        MODERN,
        &[&discover, INITIALIZE],
        &[r#""code":-32022"#, r#""code":-32022"#],
    );
    let silence = || scripted("server/discover", Reply::Silence, "{}");
    check(
        silence(),
        MODERN,
        &[&discover, INITIALIZE],
        &[r#""protocolVersion""#],
    );
    let usual = || scripted("initialize", Reply::Usual, "{}");
    check(
        usual(),
        None,
        &[INITIALIZE],
        &[r#""protocolVersion":"2025-06-18""#],
    );
    let (_, events) = converse_about(vec![silence()], MODERN, &[&discover], 5);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Withheld { .. }))
    );
    let (_, events) = converse_about(vec![usual()], None, &[INITIALIZE], 5);
    let is_marked = |event: &Event| matches!(event, Event::Mcp { probe: Some(_), .. });
    assert!(
        events.iter().any(is_marked),
        "the usual answer is the stimulus"
    );
}

//! How a request is put to a client in the legacy era, way by way.

use super::*;
use crate::catalogue::{Asks, Way};

fn by(way: Way) -> Probe {
    Probe {
        way,
        ..probe("a/one", r#"{"z":1}"#)
    }
}

fn call(id: u64) -> String {
    json!({"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name":"probe","arguments":{"id":"a/one"}}})
        .to_string()
}

fn reply(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"cancel"}}}}"#)
}

fn request(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{"z":1}}}}"#)
}

fn result(id: u64, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"a/one: {text}"}}]}}}}"#
    )
}

/// What follows the handshake when the client sends these lines; and that nothing was left unanswered.
fn check(way: Way, lines: &[String], expect: &[String]) {
    let lines: Vec<&str> = std::iter::once(INITIALIZE)
        .chain(lines.iter().map(String::as_str))
        .collect();
    let (written, events) = converse_about(vec![by(way)], None, &lines, 20);
    assert_eq!(written[1..].join("\n"), expect.join("\n"), "{way:?}");
    let gave_up = |event: &Event| matches!(event, Event::NoReply { .. });
    assert!(!events.iter().any(gave_up), "{way:?}");
    let done = |event: &&Event| matches!(event, Event::ProbeDone { .. });
    assert_eq!(events.iter().filter(done).count(), 1, "{way:?}");
}

#[test]
fn each_way_has_its_own_envelope() {
    let replied = || result(7, "the client replied");
    for (way, id) in [
        (Way::Plain, "1001"),
        (Way::StringId, r#""capmatrix-1""#),
        (Way::IdZero, "0"),
        (Way::ClientsId, "7"),
    ] {
        check(way, &[call(7), reply(id)], &[request(id), replied()]);
    }
    let before = |line: &str| [line.to_owned(), request("1001"), replied()];
    let lines = [call(7), reply("1001")];
    let noise = super::super::legacy::NOISE;
    check(Way::AfterNoise, &lines, &before(&[noise; 3].join("\n")));
    let notification =
        r#"{"jsonrpc":"2.0","method":"notifications/capmatrix/unknown","params":{}}"#;
    check(Way::AfterUnknownNotification, &lines, &before(notification));
}

#[test]
fn two_requests_are_open_until_both_are_answered() {
    let expect = [
        request("1001"),
        request("1002"),
        result(7, "the client replied"),
    ];
    for ids in [["1001", "1002"], ["1002", "1001"]] {
        check(
            Way::SecondOfTwo,
            &[call(7), reply(ids[0]), reply(ids[1])],
            &expect,
        );
    }
    let lines = [call(7), reply("1001"), reply("1001")];
    let lines: Vec<&str> = std::iter::once(INITIALIZE)
        .chain(lines.iter().map(String::as_str))
        .collect();
    let (_, events) = converse_about(vec![by(Way::SecondOfTwo)], None, &lines, 20);
    let gave_up = |event: &Event| matches!(event, Event::NoReply { .. });
    assert!(events.iter().any(gave_up), "the second is open");
}

#[test]
fn a_request_outside_any_call_comes_after_the_call() {
    check(
        Way::AfterCall,
        &[call(7), reply("1001")],
        &[result(7, "asked after this call"), request("1001")],
    );
}

#[test]
fn a_request_that_nobody_has_to_answer_needs_no_capability() {
    let ping = Probe {
        method: "ping".to_owned(),
        asks: Asks::Result,
        needs: Capability::Nothing,
        ..probe("a/one", "{}")
    };
    let plain = INITIALIZE.replace(r#"{"elicitation":{}}"#, "{}");
    let (call, reply) = (call(7), reply("1001"));
    let (written, _) = converse_about(vec![ping], None, &[&plain, &call, &reply], 20);
    assert_eq!(
        written[1],
        r#"{"jsonrpc":"2.0","id":1001,"method":"ping","params":{}}"#
    );
    assert_eq!(written[2], result(7, "the client replied"));
}

#[test]
fn a_revision_that_is_asked_for_is_answered_whatever_is_offered() {
    let (written, _) = converse_about(
        vec![by(Way::Plain)],
        Some(Revision::V2025_11_25),
        &[INITIALIZE],
        5,
    );
    assert!(
        written[0].contains(r#""protocolVersion":"2025-11-25""#),
        "{}",
        written[0]
    );
}

#[test]
fn a_cancelled_request_is_followed_by_another() {
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1001,"reason":"capmatrix: no longer needed"}}"#;
    let asked = |text: &str| {
        let lines = [request("1001"), cancelled.to_owned(), request("1002")];
        [lines.as_slice(), &[result(7, text)]].concat()
    };
    let way = Way::AfterCancelled;
    let lines = [call(7), reply("1001"), reply("1002")];
    check(way, &lines, &asked("the client replied"));
    // Where nobody says that it is held, it is cancelled at once; a reply is awaited to the next one alone.
    let (written, events) = converse_about(vec![by(way)], None, &[INITIALIZE, &call(7)], 20);
    assert_eq!(written[1..], asked("no reply"));
    let gave_up = |event: &&Event| matches!(event, Event::NoReply { .. });
    assert_eq!(events.iter().filter(gave_up).count(), 1);
}

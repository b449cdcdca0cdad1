//! Whose an odd line is, and which lines an outcome names as its evidence.

use serde_json::json;

use super::*;

#[test]
fn odd_lines_belong_to_the_only_open_probe() {
    use Oddity::{LateReply, NotJson, SecondReply, UnknownId};
    let check = |what: &str, script: Script, of_a: &[Oddity], of_b: &[Oddity]| {
        let recording = script.finish();
        assert_eq!(a(&recording).oddities, of_a, "{what}: a");
        assert_eq!(outcome_of(&recording, "b").oddities, of_b, "{what}: b");
    };
    let accept = || json!({"action": "accept"});
    let unknown = || reply(json!(99), accept()).to_string();
    let replied = || sent().reply(1, accept());
    let b_sent = || replied().done("a").call("b").send("b", 2);
    check("none", b_sent().reply(2, accept()).done("b"), &[], &[]);
    check(
        "twice at once",
        replied().reply(1, accept()).done("a"),
        &[SecondReply],
        &[],
    );
    check(
        "twice after its window",
        replied().done("a").reply(1, accept()),
        &[SecondReply],
        &[],
    );
    check(
        "twice in the next cell",
        b_sent().reply(1, accept()).reply(2, accept()),
        &[SecondReply],
        &[],
    );
    check(
        "thrice",
        replied().reply(1, accept()).reply(1, accept()),
        &[SecondReply, SecondReply],
        &[],
    );
    check(
        "unknown id",
        sent().client(unknown()).reply(1, accept()).done("a"),
        &[UnknownId],
        &[],
    );
    check(
        "null id",
        sent().client(reply(Value::Null, accept()).to_string()),
        &[UnknownId],
        &[],
    );
    check(
        "unknown id of b",
        b_sent().client(unknown()).done("b"),
        &[],
        &[UnknownId],
    );
    check(
        "unknown id between",
        replied().done("a").client(unknown()).call("b").send("b", 2),
        &[],
        &[],
    );
    check(
        "rubbish of b",
        b_sent().client("x").done("b"),
        &[],
        &[NotJson],
    );
    check("rubbish between", replied().done("a").client("x"), &[], &[]);
    check(
        "rubbish before",
        called().client("x").send("a", 1),
        &[],
        &[],
    );
    check(
        "all",
        sent()
            .client("x")
            .client(unknown())
            .reply(1, accept())
            .reply(1, accept()),
        &[NotJson, UnknownId, SecondReply],
        &[],
    );
    check(
        "late reply in the next cell",
        sent()
            .no_reply("a")
            .done("a")
            .call("b")
            .send("b", 2)
            .reply(1, accept())
            .reply(2, accept()),
        &[LateReply],
        &[],
    );
    check(
        "a late reply, twice",
        sent()
            .no_reply("a")
            .done("a")
            .reply(1, accept())
            .reply(1, accept()),
        &[LateReply, SecondReply],
        &[],
    );
    check(
        "a reply, and one after the server gave up",
        replied().no_reply("a").reply(1, accept()),
        &[SecondReply],
        &[],
    );
    check(
        "a call that shares the number",
        sent()
            .client(r#"{"id":1,"method":"ping"}"#)
            .reply(1, accept())
            .done("a"),
        &[],
        &[],
    );
    check(
        "a request that shares the unknown number",
        sent()
            .client(r#"{"id":99,"method":"ping"}"#)
            .reply(1, accept())
            .done("a"),
        &[],
        &[],
    );
}

/// Only after noise may an error name no request.
#[test]
fn an_error_may_be_about_noise() {
    let check = |line: &str, expect: &[Oddity]| {
        let start = || Script::new(&["a"]).initialize().list().call("a");
        let heard = start().stimulus("a", "noise").send("a", 1).client(line);
        let found = a(&heard
            .reply(1, json!({"action": "accept"}))
            .done("a")
            .finish());
        assert_eq!(found.oddities, expect, "{line}");
        assert!(found.reply.is_some(), "{line}");
    };
    let error = r#""error":{"code":-32700,"message":"what?"}"#;
    check(&format!("{{{error}}}"), &[Oddity::ErrorWithoutId]);
    let null = format!(r#"{{"id":null,{error}}}"#);
    check(&null, &[Oddity::ErrorWithNullId]);
    check(r#"{"id":null,"result":{}}"#, &[Oddity::UnknownId]);
    check(r#"{"result":{}}"#, &[Oddity::NoMessage]);
}

#[test]
fn odd_json_is_told_apart() {
    use Oddity::{Batch, DuplicateMember, NoMessage, NotJson, NotUtf8, TooDeep, UnknownId};
    let check = |line: &[u8], of_a: &[Oddity], of_b: &[Oddity]| {
        let accept = || json!({"action": "accept"});
        let b_sent = sent().reply(1, accept()).done("a").call("b").send("b", 2);
        let recording = b_sent.client(line).reply(2, accept()).done("b").finish();
        let shown = String::from_utf8_lossy(&line[..line.len().min(100)]);
        assert_eq!(a(&recording).oddities, of_a, "{shown}: a");
        let of_b = [of_b, &[]].concat();
        let mut found = outcome_of(&recording, "b");
        // What follows is a second reply only where the line held a first one.
        found
            .oddities
            .retain(|oddity| *oddity != Oddity::SecondReply);
        assert_eq!(found.oddities, of_b, "{shown}: b");
        assert_eq!(found.evidence.contains(&14), !of_b.is_empty(), "{shown}");
    };
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let check_text = |line: &str, of_b: &[Oddity]| check(line.as_bytes(), &[], of_b);
    check(b"\xff", &[], &[NotUtf8]);
    check(b"{\"id\":2,\"result\":{\"\xc3\x28\":1}}", &[], &[NotUtf8]);
    check(b"\0", &[], &[NotJson]);
    check(b"{\"id\":2,\"result\":{\"a\":\"\0\"}}", &[], &[NotJson]);
    check_text("", &[NotJson]);
    check_text(&"[".repeat(10_000), &[NotJson]);
    check_text(&nested(10_000), &[Batch, NoMessage, TooDeep]);
    check_text("[]", &[Batch]);
    check_text("[1,1,{},[]]", &[Batch, NoMessage]);
    for line in [
        "{}",
        "1",
        "null",
        r#""x""#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"id":2,"method":7}"#,
    ] {
        check_text(line, &[NoMessage]);
    }
    let error = r#""error":{"code":-32700,"message":"what?"}"#;
    check_text(&format!("{{{error}}}"), &[NoMessage]);
    check_text(&format!(r#"{{"id":null,{error}}}"#), &[UnknownId]);
    check_text(
        r#"{"id":2,"result":{"a":1,"\u0061":2}}"#,
        &[DuplicateMember],
    );
    check_text(r#"{"id":2,"id":2,"result":{}}"#, &[DuplicateMember]);
    check_text(
        &format!(r#"{{"id":2,"result":{}}}"#, nested(300)),
        &[TooDeep],
    );
    check_text(
        &format!(r#"{{"result":{},"id":2,"id":2}}"#, nested(300)),
        &[DuplicateMember, TooDeep],
    );
    check_text(
        &format!(r#"{{"error":{},"id":9}}"#, nested(300)),
        &[UnknownId, TooDeep],
    );
    check_text(r#"[{"id":2,"result":{}},{"method":"x"}]"#, &[Batch]);
    check_text(r#"[{"id":9,"result":{}}]"#, &[Batch, UnknownId]);
    // What no request is behind is of the cell that the batch replies to.
    check(
        br#"[{"id":9,"result":{}},{"id":1,"result":{}}]"#,
        &[Batch, UnknownId, Oddity::SecondReply],
        &[],
    );
    // These are of the session.
    check_text(r#"{"method":"x","method":"x"}"#, &[]);
    check_text(
        &format!(r#"{{"method":"x","id":2,"params":{}}}"#, nested(300)),
        &[],
    );
}

#[test]
fn servers_of_one_session_do_not_mix() {
    let script = called().server("server-2").initialize().list().call("b");
    let script = script
        .server("server-1")
        .send("a", 1)
        .server("server-2")
        .send("b", 1);
    let script = script.reply(1, json!({"action": "cancel"})).done("b");
    let recording = script
        .server("server-1")
        .reply(1, json!({"action": "accept"}))
        .done("a")
        .finish();
    assert_eq!(a(&recording).kind, answered("accept", None));
    assert_eq!(outcome_of(&recording, "b").kind, answered("cancel", None));
    for (probe, outcome) in all(&recording) {
        assert_eq!(outcome.oddities, [], "{probe}");
    }
    assert_eq!(
        a(&sent().server("server-2").client("x").finish()).oddities,
        []
    );
    // What one server sends, or ends, does not end the time of the other's probe.
    let both = sent().server("server-2").send("b", 1).done("b");
    let late = both.server("server-1").client("x").done("a").finish();
    assert_eq!(a(&late).oddities, [Oddity::NotJson]);
    assert_eq!(outcome_of(&late, "b").oddities, []);
}

#[test]
fn evidence_names_the_lines() {
    let check = |what: &str, script: Script, expect: &[usize]| {
        assert_eq!(a(&script.finish()).evidence, expect, "{what}");
    };
    let accept = || json!({"action": "accept"});
    // Line 7 is the call, line 8 the request.
    check("reply", sent().reply(1, accept()).done("a"), &[7, 8, 9]);
    let host = Event::Host {
        dir: HostDir::FromClient,
        line: Wire::text("x"),
    };
    let shown = sent()
        .event(host)
        .presented("a", form())
        .answer("a", accept());
    check(
        "presented",
        shown.reply(1, accept()).done("a"),
        &[7, 8, 10, 11, 12],
    );
    check(
        "second reply",
        sent().reply(1, accept()).done("a").reply(1, accept()),
        &[7, 8, 9, 12],
    );
    check("rubbish", sent().client("x").client("{}"), &[7, 8, 9, 10]);
    check(
        "late reply",
        sent().no_reply("a").done("a").reply(1, accept()),
        &[7, 8, 9, 12],
    );
    let log = |probe| Event::Stderr {
        line: Wire::text("x"),
        probe,
    };
    let logged = sent()
        .event(log(Some(id("a"))))
        .event(log(Some(id("b"))))
        .event(log(None));
    check("log", logged.reply(1, accept()), &[7, 8, 9, 12]);
    check(
        "silent",
        sent().no_reply("a").exit(Some(1), None),
        &[7, 8, 9, 10],
    );
    check("not called", Script::new(&["a"]).exit(Some(1), None), &[3]);
    let undeclared = Event::NotDeclared {
        probe: id("a"),
        needs: String::new(),
    };
    check("not declared", called().at_server(undeclared), &[7, 8]);
    let error = Event::HarnessError {
        message: String::new(),
    };
    check(
        "harness",
        sent().event(error).reply(1, accept()),
        &[7, 8, 9, 10],
    );
    check("gone", sent().exit(Some(3), None), &[7, 8, 9]);
    check(
        "replied, then gone",
        sent().reply(1, accept()).exit(Some(3), None),
        &[7, 8, 9],
    );
    check(
        "rubbish, then gone",
        sent().client("x").exit(Some(3), None),
        &[7, 8, 9, 10],
    );
    let killed = Event::Exit {
        code: None,
        signal: Some(9),
        killed: true,
    };
    check("killed by us", sent().event(killed), &[7, 8]);
    let lines = |script: Script| {
        let outcome = a(&script.finish());
        (outcome.request, outcome.reply)
    };
    assert_eq!(lines(called()), (None, None));
    assert_eq!(lines(sent()), (Some(8), None));
    let replied = sent().client("x").reply(1, accept()).reply(1, accept());
    assert_eq!(lines(replied), (Some(8), Some(10)));
    let late = sent().no_reply("a").reply(1, accept());
    assert_eq!(lines(late), (Some(8), None));
}

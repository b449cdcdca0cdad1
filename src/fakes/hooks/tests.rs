//! What hooks write and show, by examples.

use super::*;

const PARAMS: &str = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"value":{"type":"string","title":"t","enum":["a","b"]}}}}"#;
const ANSWER: &str = r#"{"action":"accept","content":{"value":"abc"}}"#;

fn request(id: &str) -> Request {
    Request {
        id: id.to_owned(),
        params: PARAMS.to_owned(),
    }
}

fn written(steps: Vec<Step>) -> String {
    match <[Step; 1]>::try_from(steps) {
        Ok([Step::Write(bytes)]) => String::from_utf8(bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_sound_client_presents_and_passes_on_what_it_gets() {
    let request = request("7");
    assert_eq!(BEHAVES.on_request(&request), [Step::Present]);
    assert_eq!(BEHAVES.shown(&request), PARAMS);
    assert_eq!(
        written(BEHAVES.on_answer(&request, ANSWER)),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{ANSWER}}}\n")
    );
    let line = b"{\"jsonrpc\": \"2.0\", \"id\":1, \"method\":\"tools/list\"}\n";
    assert_eq!(BEHAVES.outgoing(line), Ok(line.to_vec()));
}

#[test]
fn replies_are_written_as_the_hook_says() {
    let check = |hooks: Hooks, id: &str, expect: &str| {
        let request = request(id);
        let steps = match hooks.meets {
            Meets::Presents => hooks.on_answer(&request, ANSWER),
            _ => hooks.on_request(&request),
        };
        assert_eq!(written(steps), format!("{expect}\n"), "{hooks:?}");
    };
    let replies = |replies| Hooks { replies, ..BEHAVES };
    let meets = |meets| Hooks { meets, ..BEHAVES };
    // An id goes back as it came.
    check(
        BEHAVES,
        r#""a\u0062""#,
        r#"{"jsonrpc":"2.0","id":"a\u0062","result":{"action":"accept","content":{"value":"abc"}}}"#,
    );
    check(
        replies(Replies::Line("[@id] @answer")),
        "7",
        r#"[7] {"action":"accept","content":{"value":"abc"}}"#,
    );
    check(
        replies(Replies::Edited(&[
            Edit::Remove("/content"),
            Edit::Set("/action", "1"),
        ])),
        "7",
        r#"{"jsonrpc":"2.0","id":7,"result":{"action":1}}"#,
    );
    check(
        meets(Meets::Answers("{}")),
        "7",
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
    );
    check(
        meets(Meets::Rejects(r#"{"code":-1}"#)),
        "7",
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1}}"#,
    );
}

#[test]
fn an_answer_is_never_taken_for_a_place_to_fill() {
    let request = request("7");
    let answer = r#"{"action":"accept","content":{"value":"@id @answer"}}"#;
    let line = written(BEHAVES.on_answer(&request, answer));
    assert!(line.contains(answer), "{line}");
}

#[test]
fn edits_change_what_they_name_and_keep_the_order() {
    let check = |edits: &[Edit], expect: &str| {
        let json = r#"{"a":1,"b":{"c":[1,2,3],"d":null},"e":7.50}"#;
        assert_eq!(edited(json, edits), expect, "{edits:?}");
    };
    // With none, the text stays as it came.
    check(&[], r#"{"a":1,"b":{"c":[1,2,3],"d":null},"e":7.50}"#);
    check(
        &[Edit::Remove("/a")],
        r#"{"b":{"c":[1,2,3],"d":null},"e":7.5}"#,
    );
    check(
        &[Edit::Set("/b/d", r#"{"x":[]}"#), Edit::Remove("/e")],
        r#"{"a":1,"b":{"c":[1,2,3],"d":{"x":[]}}}"#,
    );
    check(
        &[Edit::Remove("/b/c/1"), Edit::Set("/b/c/0", "0")],
        r#"{"a":1,"b":{"c":[0,3],"d":null},"e":7.5}"#,
    );
    check(
        &[Edit::Remove("/b"), Edit::Set("/x~1y", "7.0")],
        r#"{"a":1,"e":7.5,"x/y":7.0}"#,
    );
    // Nothing is there.
    check(
        &[
            Edit::Remove("/z"),
            Edit::Remove("/b/c/9"),
            Edit::Set("/z/z", "1"),
            Edit::Set("/a/z", "1"),
        ],
        r#"{"a":1,"b":{"c":[1,2,3],"d":null},"e":7.5}"#,
    );
}

#[test]
fn messages_of_the_client_itself_are_changed_by_their_method() {
    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let check = |sends: &'static [(&'static str, Change)], expect: Result<&str, i32>| {
        let got = Hooks { sends, ..BEHAVES }.outgoing(format!("{LIST}\n").as_bytes());
        let got = got.map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(got, expect.map(str::to_owned), "{sends:?}");
    };
    check(
        &[("initialize", Change::Drop)],
        Ok("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n"),
    );
    check(&[("tools/list", Change::Drop)], Ok(""));
    check(&[("tools/list", Change::Exit(9))], Err(9));
    check(
        &[
            ("tools/list", Change::Before(b"before\n")),
            ("", Change::After(b"after\n")),
            ("tools/list", Change::Edit(Edit::Remove("/jsonrpc"))),
        ],
        Ok("before\n{\"id\":1,\"method\":\"tools/list\"}\nafter\n"),
    );
    check(
        &[("", Change::StringId)],
        Ok("{\"jsonrpc\":\"2.0\",\"id\":\"session-1\",\"method\":\"tools/list\"}\n"),
    );
}

#[test]
fn a_notification_gets_no_id() {
    let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    let hooks = Hooks {
        sends: &[("", Change::StringId)],
        ..BEHAVES
    };
    assert_eq!(hooks.outgoing(line), Ok(line.to_vec()));
}

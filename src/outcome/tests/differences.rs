//! What was lost, added or changed on the way to the person and back.

use serde_json::json;

use super::*;

#[test]
fn what_was_presented_is_compared_with_what_was_sent() {
    let check = |sent: Value, shown: Value, expect: &[(&str, Change)]| {
        let script = called().send_with("a", 1, &sent).presented("a", shown);
        let found = a(&script.finish()).presented.expect("it was presented");
        let found: Vec<_> = found.iter().map(|d| (d.at.as_str(), d.change)).collect();
        assert_eq!(found, expect, "{sent}");
    };
    check(form(), form(), &[]);
    let schema = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let with = |text: &str| json!({"message": "m", "requestedSchema": schema(text)});
    check(
        with(r#"{"a":{"maximum":3,"title":"t"}}"#),
        with(r#"{"a":{"title":"t","maximum":3.0}}"#),
        &[],
    );
    check(
        with(r#"{"a":{"title":"t"}}"#),
        with(r#"{"a":{}}"#),
        &[("/requestedSchema/a/title", Change::Lost)],
    );
    check(
        with(r#"{"a":{}}"#),
        with(r#"{"a":{"x":null}}"#),
        &[("/requestedSchema/a/x", Change::Added)],
    );
    check(
        with("[1,2]"),
        with("[2,1]"),
        &[
            ("/requestedSchema/0", Change::Changed),
            ("/requestedSchema/1", Change::Changed),
        ],
    );
    check(
        form(),
        json!({}),
        &[
            ("/message", Change::Lost),
            ("/requestedSchema", Change::Lost),
        ],
    );
    check(
        json!({}),
        json!({"mode": "form", "message": "m"}),
        &[("/message", Change::Added)],
    );
    let url = |url: &str| json!({"mode": "url", "url": url, "elicitationId": "e"});
    check(
        url("https://a.example/"),
        url("https://a.example"),
        &[("/url", Change::Changed)],
    );
    check(
        form(),
        Value::Null,
        &[
            ("/message", Change::Lost),
            ("/requestedSchema", Change::Lost),
        ],
    );
    assert_eq!(a(&sent().finish()).presented, None);
    assert_eq!(a(&sent().presented("b", form()).finish()).presented, None);
}

#[test]
fn the_answer_on_the_wire_is_compared_with_the_one_given() {
    let check = |given: Value, wire: Value, expect: &[(&str, Change)]| {
        let script = sent()
            .presented("a", form())
            .answer("a", given.clone())
            .reply(1, wire);
        let found = a(&script.finish()).answer.expect("an answer was given");
        let found: Vec<_> = found.iter().map(|d| (d.at.as_str(), d.change)).collect();
        assert_eq!(found, expect, "{given}");
    };
    let accept = |content: Value| json!({"action": "accept", "content": content});
    let bare = json!({"action": "accept"});
    check(accept(json!({"v": 3})), accept(json!({"v": 3.0})), &[]);
    check(bare.clone(), json!({"action": "accept", "_meta": {}}), &[]);
    check(
        accept(json!({"v": 3})),
        bare.clone(),
        &[("/content", Change::Lost)],
    );
    check(
        bare.clone(),
        accept(Value::Null),
        &[("/content", Change::Added)],
    );
    check(
        accept(json!({"v": "a"})),
        accept(json!({"v": "b"})),
        &[("/content/v", Change::Changed)],
    );
    check(
        bare,
        json!({"action": "cancel"}),
        &[("/action", Change::Changed)],
    );
    let no_reply = sent()
        .answer("a", json!({"action": "accept"}))
        .no_reply("a");
    assert_eq!(a(&no_reply.finish()).answer, None);
    assert_eq!(
        a(&sent().reply(1, json!({"action": "accept"})).finish()).answer,
        None
    );
}

#[test]
fn a_reply_that_was_there_before_the_answer_does_not_rest_on_it() {
    let accept = || json!({"action": "accept", "content": {"value": "x"}});
    let replied = sent().reply(1, accept()).done("a");
    let asked = replied.presented("a", form()).answer("a", accept());
    let outcome = a(&asked.finish());
    assert_eq!(outcome.presented, Some(Vec::new()));
    assert_eq!(outcome.answer, None);
}

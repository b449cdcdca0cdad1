//! What a recording says of its session: who broke it, whether the harness failed, how long a reply took.

use serde_json::json;

use super::*;

#[test]
fn latency_is_from_request_to_reply() {
    let late = sent()
        .presented("a", form())
        .reply(1, json!({"action": "accept"}));
    assert_eq!(a(&late.finish()).latency_us, Some(20));
    assert_eq!(a(&sent().no_reply("a").finish()).latency_us, None);
}

#[test]
fn a_break_is_told_from_an_end() {
    let check = |what: &str, script: Script, broke: bool, touched_b: bool| {
        let recording = script.finish();
        assert_eq!(broke_session(&recording, &id("a")), broke, "{what}: broke");
        assert_eq!(
            was_touched(&recording, &id("b")),
            touched_b,
            "{what}: touched"
        );
    };
    let called_by_driver = |probe: &str| Event::Called { probe: id(probe) };
    let returned = || Event::CallReturned { probe: id("a") };
    let replied = || sent().reply(1, json!({"action": "accept"})).done("a");
    check("not called", Script::new(&["a", "b"]), false, false);
    check("done", replied(), false, false);
    check("open", sent(), true, false);
    check("silent", sent().no_reply("a").done("a"), true, false);
    check(
        "driver waits",
        Script::new(&["a"]).event(called_by_driver("a")),
        true,
        false,
    );
    check(
        "driver is served",
        Script::new(&["a"])
            .event(called_by_driver("a"))
            .event(returned()),
        false,
        false,
    );
    check("b is sent", replied().call("b").send("b", 2), false, true);
    check(
        "b is called",
        replied().event(called_by_driver("b")),
        false,
        true,
    );
    let undeclared = Event::NotDeclared {
        probe: id("b"),
        needs: String::new(),
    };
    check(
        "b is not declared",
        replied().at_server(undeclared),
        false,
        true,
    );
    let refused = sent().no_reply("a").done("a").event(called_by_driver("b"));
    check("b is refused because a broke", refused, true, false);
    let both = sent().no_reply("a").done("a").send("b", 2);
    check("b was sent before the break", both, true, true);
}

#[test]
fn the_harness_names_its_own_failures() {
    let error = |text: &str| Event::HarnessError {
        message: text.to_owned(),
    };
    assert_eq!(harness_error(&sent().finish()), None);
    let twice = sent().event(error("first")).event(error("second"));
    assert_eq!(
        harness_error(&twice.clone().finish()).as_deref(),
        Some("first")
    );
    assert_eq!(harness_error(&twice.end(None)).as_deref(), Some("first"));
    assert!(
        harness_error(&sent().end(None))
            .unwrap()
            .contains("no footer")
    );
}

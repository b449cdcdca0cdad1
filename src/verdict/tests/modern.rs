//! Requests that stand in results (2026-07-28 basic/patterns/mrtr): what is said of a call that is made again, and of one
//! that is not.

use super::*;

fn modern(outcome: Outcome) -> Setup {
    host(outcome).under(Revision::V2026_07_28)
}

fn not_retried() -> Outcome {
    came(Came::NotRetried)
}

fn kept() -> Outcome {
    came(Came::Silent { after_ms: 0 })
}

#[test]
fn an_answer_in_a_call_is_judged_as_one_in_a_reply() {
    let check = |what: &str, outcome: Outcome, expect: &str| check(what, &modern(outcome), expect);
    check("accept", shown(accept()), "works nobody -");
    check("decline", shown(decline()), "works nobody -");
    check("cancel", shown(cancel()), "works nobody -");
    check(
        "an action of its own",
        shown(answered("ok", None)),
        "violates client SCHEMA",
    );
    check(
        "no content",
        shown(answered("accept", None)),
        "violates client SHOULD",
    );
    check(
        "null content",
        shown(answered("accept", Some(Value::Null))),
        "lenient nobody SCHEMA",
    );
    let wrong = answered("accept", Some(json!({"value": 5})));
    check("wrong content", shown(wrong), "violates client SHOULD");
    check("declined unseen", decline(), "breaks client SCHEMA");
    check(
        "lost",
        shown_without("/message", accept()),
        "altered client -",
    );
}

#[test]
fn no_clause_makes_a_client_call_again() {
    for (what, outcome) in [
        ("not called again", not_retried()),
        ("kept", kept()),
        ("gone", gone(Some(7))),
        ("killed", gone(None)),
    ] {
        // As with any valid request that is not served; JSON-RPC asks for no reply here.
        let setup = modern(outcome);
        check(what, &setup, "breaks client SCHEMA");
        let clause = setup.judge().clause.unwrap_or_default();
        assert_eq!(
            clause, "2026-07-28 schema ElicitRequestFormParams",
            "{what}"
        );
        check(
            what,
            &setup.clone().alone(),
            match what {
                "not called again" => "refused nobody -",
                _ => "violates client SCHEMA",
            },
        );
    }
    check("legacy", &host(silent()), "breaks client MUST");
    check(
        "as the control",
        &modern(not_retried()).control(not_retried()),
        "refused nobody -",
    );
    check(
        "otherwise than the control",
        &modern(kept()).control(not_retried()),
        "unknown nobody -",
    );
    let reason = modern(kept()).judge().reason;
    assert!(!reason.contains("0 ms"), "{reason}");
}

#[test]
fn a_further_call_breaks_nothing() {
    let twice = |outcome: Outcome| Outcome {
        oddities: vec![Oddity::SecondRetry],
        ..outcome
    };
    check(
        "twice",
        &modern(twice(shown(accept()))),
        "spec_silent nobody -",
    );
    check(
        "twice, the first one wrong",
        &modern(twice(shown(answered("ok", None)))),
        "violates client SCHEMA",
    );
    check(
        "a second reply",
        &host(odd(shown(accept()))),
        "violates client MUST",
    );
}

#[test]
fn what_is_not_declared_binds_nobody() {
    for (what, outcome) in [
        ("kept", kept()),
        ("gone", gone(None)),
        ("answered", shown(accept())),
    ] {
        let setup = modern(outcome).asks_declaration(json!({}));
        check(what, &setup, "spec_silent nobody -");
    }
    check(
        "not called again",
        &modern(not_retried()).asks_declaration(json!({})),
        "not_declared nobody -",
    );
}

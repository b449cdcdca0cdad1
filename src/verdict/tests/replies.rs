//! Replies that break a rule by themselves, and requests that are invalid on purpose.

use super::*;

#[test]
fn a_reply_that_breaks_a_rule_does_so_whatever_the_control_did() {
    check(
        "odd, accepted",
        &host(odd(shown(accept()))),
        "violates client MUST",
    );
    check(
        "odd, invalid",
        &headless(odd(accept())).invalid(),
        "violates client MUST",
    );
    check(
        "odd, malformed",
        &host(odd(malformed())),
        "violates client MUST",
    );
    check(
        "odd, a person",
        &person(odd(accept())),
        "violates client MUST",
    );
    check(
        "odd, control failed",
        &host(odd(malformed())).control(error()),
        "violates client MUST",
    );
    // What only the control explains is said first; the line itself is then a finding of the session.
    check(
        "odd, refused as the control",
        &headless(odd(cancel())),
        "refused nobody -",
    );
    for (oddity, expect) in [
        (Oddity::SecondReply, "violates client MUST"),
        (Oddity::UnknownId, "violates client MUST"),
        (Oddity::NoMessage, "violates client MUST"),
        (Oddity::ErrorWithoutId, "works nobody -"),
        (Oddity::ErrorWithNullId, "works nobody -"),
        (Oddity::NotJson, "violates client MUST"),
        (Oddity::NotUtf8, "violates client MUST"),
        (Oddity::Batch, "violates client MUST"),
        (Oddity::DuplicateMember, "spec_silent nobody -"),
        (Oddity::TooDeep, "unknown nobody -"),
    ] {
        let outcome = Outcome {
            oddities: vec![oddity],
            ..shown(accept())
        };
        check(&format!("{oddity:?}"), &host(outcome), expect);
    }
    let no_id = Outcome {
        oddities: vec![Oddity::ErrorWithoutId],
        ..shown(accept())
    };
    check(
        "an error without an id where it must have one",
        &host(no_id).under(Revision::V2025_06_18),
        "violates client MUST",
    );
    let batch = Outcome {
        oddities: vec![Oddity::Batch],
        ..shown(accept())
    };
    check(
        "a batch where there are some",
        &host(batch).under(Revision::V2025_03_26),
        "works nobody -",
    );
    check("malformed", &host(malformed()), "violates client SCHEMA");
    check(
        "malformed, control failed",
        &host(malformed()).control(silent()),
        "violates client SCHEMA",
    );
    check(
        "unknown action",
        &host(answered("reject", None)),
        "violates client SCHEMA",
    );
    check(
        "action in capitals",
        &headless(answered("Cancel", None)),
        "violates client SCHEMA",
    );
    check(
        "empty action",
        &person(answered("", None)),
        "violates client SCHEMA",
    );
}

#[test]
fn accepted_content_must_fit_what_was_asked() {
    let content = |content: Value| answered("accept", Some(content));
    check(
        "null",
        &host(shown(content(Value::Null))),
        "lenient nobody SCHEMA",
    );
    check(
        "none",
        &host(shown(answered("accept", None))),
        "violates client SHOULD",
    );
    check(
        "empty",
        &host(shown(content(json!({})))),
        "violates client SHOULD",
    );
    check(
        "another type",
        &host(shown(content(json!({"value": 1})))),
        "violates client SHOULD",
    );
    check(
        "not an object",
        &host(shown(content(json!("x")))),
        "violates client SCHEMA",
    );
    check(
        "unseen",
        &headless(content(json!({}))),
        "violates client SHOULD",
    );
    check(
        "a control",
        &host(content(json!({}))).alone(),
        "violates client SHOULD",
    );
    check(
        "a person",
        &person(content(json!({}))),
        "violates client SHOULD",
    );
    for (value, expect) in [
        (json!(null), "violates client SCHEMA"),
        (json!({"a": 1}), "violates client SCHEMA"),
        (json!([1]), "violates client SCHEMA"),
        (json!(["a"]), "violates client SHOULD"),
        (json!(1.5), "violates client SHOULD"),
    ] {
        let what = format!("a member that is {value}");
        check(
            &what,
            &host(shown(content(json!({"value": value})))),
            expect,
        );
    }
    let lists = host(shown(content(json!({"value": ["a"]})))).under(Revision::V2025_06_18);
    check(
        "a list, before there were lists",
        &lists,
        "violates client SCHEMA",
    );
    let more = content(json!({"value": "x", "more": 1}));
    check("more members", &host(shown(more)), "works nobody -");
    check(
        "invalid request",
        &headless(content(json!({}))).invalid(),
        "lenient server SCHEMA",
    );
    check(
        "invalid request, null",
        &headless(content(Value::Null)).invalid(),
        "lenient nobody SCHEMA",
    );
    check(
        "what the invalid request asked for",
        &host(shown(content(json!({"value": {"a": 1}})))).invalid(),
        "lenient server SCHEMA",
    );
    let optional = json!({"requestedSchema": {"type": "object", "properties": {}}});
    let nothing = || host(shown(answered("accept", None)));
    check(
        "nothing required",
        &nothing().params(&optional),
        "works nobody -",
    );
    check(
        "no schema",
        &nothing().params(&json!({"url": "https://a.example"})),
        "works nobody -",
    );
    let broken = json!({"requestedSchema": {"type": 7}});
    check(
        "a schema that does not compile",
        &nothing().params(&broken),
        "works nobody -",
    );
    check("declined", &host(shown(decline())), "works nobody -");
    let null = |action: &str| host(shown(answered(action, Some(Value::Null))));
    check("declined, null", &null("decline"), "lenient nobody SCHEMA");
    check("cancelled, null", &null("cancel"), "lenient nobody SCHEMA");
    check(
        "refused by policy, null",
        &headless(answered("cancel", Some(Value::Null))),
        "refused nobody -",
    );
    let url = json!({"mode": "url", "url": "https://a.example"});
    check(
        "URL, null",
        &null("accept").params(&url),
        "lenient nobody SCHEMA",
    );
    check(
        "URL, content",
        &host(shown(accept())).params(&url),
        "works nobody -",
    );
    let given = answered_without("/content", accept());
    check(
        "URL, content that nobody gave",
        &host(given).params(&url),
        "works nobody -",
    );
    let declined = host(shown(answered("decline", Some(json!({"value": 7})))));
    check("declined, content", &declined, "works nobody -");
}

#[test]
fn an_invalid_request_never_blames_the_client_for_how_it_is_taken() {
    let check = |what: &str, setup: Setup, expect: &str| check(what, &setup.invalid(), expect);
    check("presented", host(shown(accept())), "lenient server SCHEMA");
    check(
        "presented, declined",
        host(shown(decline())),
        "lenient server SCHEMA",
    );
    check(
        "presented, altered",
        host(shown_without("/message", accept())),
        "lenient server SCHEMA",
    );
    check(
        "accepted unseen",
        headless(accept()),
        "lenient server SCHEMA",
    );
    check(
        "accepted by a person",
        person(accept()),
        "lenient server SCHEMA",
    );
    check("refused unseen", host(cancel()), "refused server -");
    check(
        "refused otherwise than the control",
        headless(decline()),
        "refused server -",
    );
    check("rejected", host(error()), "refused server -");
    check(
        "rejected, a control",
        host(error()).alone(),
        "refused server -",
    );
    check(
        "rejected, the control too",
        host(error()).control(error()),
        "refused server -",
    );
    check("no reply", host(silent()), "spec_silent server -");
    check("gone", host(gone(Some(1))), "spec_silent server -");
    check("ended", host(gone(None)).alone(), "spec_silent server -");
    // A reply that was given must be one, whatever was asked: ElicitResult does not depend on the request.
    check("malformed", host(malformed()), "violates client SCHEMA");
    check(
        "unknown action",
        host(answered("reject", None)),
        "violates client SCHEMA",
    );
    // Invalid in another revision only.
    let mut elsewhere = host(error());
    elsewhere
        .probe
        .invalid
        .insert(Revision::V2025_06_18, "there".to_owned());
    self::check("elsewhere", &elsewhere, "breaks client SCHEMA");
}

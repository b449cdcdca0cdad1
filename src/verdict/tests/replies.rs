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
        "odd, refused as the control",
        &headless(odd(cancel())),
        "violates client MUST",
    );
    check(
        "odd, invalid",
        &headless(odd(cancel())).invalid(),
        "violates client MUST",
    );
    check(
        "odd, malformed",
        &host(odd(malformed())),
        "violates client MUST",
    );
    check(
        "odd, a person",
        &person(odd(cancel())),
        "violates client MUST",
    );
    check(
        "odd, control failed",
        &host(odd(error())).control(error()),
        "violates client MUST",
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
        "violates client SCHEMA",
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
        "violates client SHOULD",
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
    let more = content(json!({"value": "x", "more": 1}));
    check("more members", &host(shown(more)), "works nobody -");
    check(
        "invalid request",
        &headless(content(json!({}))).invalid(),
        "lenient server -",
    );
    check(
        "invalid request, null",
        &headless(content(Value::Null)).invalid(),
        "lenient server -",
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
    // Left for the next issue: null is no content in any schema, also of decline and cancel, and of an accepted
    // URL (`{"action":"decline","content":null}` is invalid in every revision). Only a form that is accepted is
    // judged by it so far.
    let null = |action: &str| host(shown(answered(action, Some(Value::Null))));
    check("declined, null", &null("decline"), "works nobody -");
    check(
        "cancelled, null",
        &headless(answered("cancel", Some(Value::Null))),
        "refused nobody -",
    );
    check(
        "URL, null",
        &null("accept").params(&json!({"url": "u"})),
        "works nobody -",
    );
    // Left with it: a URL is accepted without content, says the comment of ElicitResult.
    check(
        "URL, content",
        &host(shown(accept())).params(&json!({"url": "u"})),
        "works nobody -",
    );
}

#[test]
fn an_invalid_request_never_blames_the_client_for_how_it_is_taken() {
    let check = |what: &str, setup: Setup, expect: &str| check(what, &setup.invalid(), expect);
    check("presented", host(shown(accept())), "lenient server -");
    check(
        "presented, declined",
        host(shown(decline())),
        "lenient server -",
    );
    check(
        "presented, altered",
        host(shown_without("/message", accept())),
        "lenient server -",
    );
    check("accepted unseen", headless(accept()), "lenient server -");
    check("accepted by a person", person(accept()), "lenient server -");
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

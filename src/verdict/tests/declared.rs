//! What is declared beside what is done.

use super::*;

fn form_and_url() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}})
}

#[test]
fn what_is_declared_must_be_served() {
    let check = |what: &str, setup: Setup, expect: &str| {
        check(what, &setup.asks_declaration(form_and_url()), expect);
    };
    check("served", host(shown(accept())), "works nobody -");
    check(
        "served, and declined",
        host(shown(decline())),
        "works nobody -",
    );
    check("refused unseen", host(cancel()), "refused nobody -");
    check(
        "refused, never presents",
        headless(decline()),
        "refused nobody -",
    );
    check("accepted unseen", headless(accept()), "not_shown nobody -");
    check("a person's no", person(decline()), "unknown nobody -");
    check("rejected", host(error()), "violates client SCHEMA");
    check("no reply", host(silent()), "violates client MUST");
    check("gone", host(gone(None)), "violates client MUST");
    check("malformed", host(malformed()), "violates client SCHEMA");
    let reason = host(cancel())
        .asks_declaration(form_and_url())
        .judge()
        .reason;
    assert!(
        reason.contains("declared but refused before presentation"),
        "{reason}"
    );
}

#[test]
fn what_is_not_declared_must_be_refused() {
    let rejected = |code: i64| {
        let message = "no".to_owned();
        host(came(Came::RpcError { code, message }))
    };
    let url_only = || json!({"elicitation": {"url": {}}});
    for (what, setup, capabilities, in_2025_06_18, in_2025_11_25) in [
        (
            "invalid params",
            rejected(-32602),
            json!({}),
            "not_declared nobody -",
            "not_declared nobody -",
        ),
        (
            "method not found",
            rejected(-32601),
            json!({}),
            "not_declared nobody -",
            "not_declared nobody -",
        ),
        (
            "another mode, invalid params",
            rejected(-32602),
            url_only(),
            "not_declared nobody -",
            "not_declared nobody -",
        ),
        (
            "another mode, another error",
            rejected(-32601),
            url_only(),
            "spec_silent nobody -",
            "violates client MUST",
        ),
        (
            "answered",
            host(shown(accept())),
            json!({}),
            "spec_silent nobody -",
            "violates client MUST",
        ),
        (
            "refused unseen",
            headless(cancel()),
            json!({}),
            "spec_silent nobody -",
            "violates client MUST",
        ),
        (
            "another mode, answered",
            host(cancel()),
            url_only(),
            "spec_silent nobody -",
            "violates client MUST",
        ),
        (
            "no reply",
            host(silent()),
            json!({}),
            "violates client MUST",
            "violates client MUST",
        ),
        (
            "gone",
            host(gone(Some(1))),
            json!({}),
            "violates client MUST",
            "violates client MUST",
        ),
    ] {
        for (revision, expect) in [
            (Revision::V2025_06_18, in_2025_06_18),
            (Revision::V2025_11_25, in_2025_11_25),
        ] {
            let setup = setup
                .clone()
                .asks_declaration(capabilities.clone())
                .under(revision);
            check(what, &setup, expect);
        }
    }
    let reason = headless(cancel())
        .asks_declaration(json!({}))
        .judge()
        .reason;
    assert!(reason.contains("undeclared but answered"), "{reason}");
}

#[test]
fn the_reason_says_what_was_declared() {
    let check = |setup: Setup, expect: &str| assert_eq!(setup.judge().reason, expect);
    let works = "presented unaltered, and the answer arrived intact";
    let served = || host(shown(accept()));
    check(
        served().asks_declaration(form_and_url()),
        &format!("elicitation.form is declared; {works}"),
    );
    check(
        served().asks_declaration(json!({})).invalid(),
        "elicitation.form is undeclared but answered; presented an invalid request (on purpose)",
    );
    check(
        host(error()).asks_declaration(json!({})).invalid(),
        "elicitation.form is undeclared; rejected an invalid request (on purpose)",
    );
    check(served(), works);
}

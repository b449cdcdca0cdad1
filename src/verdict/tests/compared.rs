//! What only the control, or what was presented, can explain.

use super::*;

#[test]
fn a_refusal_like_the_controls_is_policy() {
    check("headless", &headless(cancel()), "refused nobody -");
    check(
        "headless, declined",
        &headless(decline()).control(decline()),
        "refused nobody -",
    );
    check(
        "headless, a control",
        &headless(cancel()).alone(),
        "refused nobody -",
    );
    check(
        "headless, invalid",
        &headless(cancel()).invalid(),
        "refused nobody -",
    );
    check(
        "headless, an invalid control",
        &headless(cancel()).alone().invalid(),
        "refused nobody -",
    );
    check(
        "a host",
        &host(cancel()).control(cancel()),
        "refused nobody -",
    );
    check(
        "a host, a control",
        &host(cancel()).alone(),
        "refused nobody -",
    );
    check(
        "otherwise than the control",
        &headless(decline()),
        "spec_silent nobody -",
    );
    check(
        "the control was accepted",
        &headless(cancel()).control(accept()),
        "breaks client SCHEMA",
    );
    check(
        "the control was presented",
        &host(cancel()),
        "breaks client SCHEMA",
    );
    let shown_and_refused = host(cancel()).control(shown(cancel()));
    check(
        "the control was presented, then cancelled",
        &shown_and_refused,
        "breaks client SCHEMA",
    );
    check("a person", &person(cancel()), "unknown nobody -");
    check(
        "a person, as the control",
        &person(decline()).control(decline()),
        "unknown nobody -",
    );
    check(
        "a person, a control",
        &person(decline()).alone(),
        "unknown nobody -",
    );
    check(
        "a person, invalid",
        &person(decline()).invalid(),
        "unknown nobody -",
    );
}

#[test]
fn a_request_without_a_result_is_compared_with_the_control() {
    for outcome in [error(), silent(), gone(Some(1)), gone(None)] {
        let what = format!("{:?}", outcome.kind);
        check(&what, &host(outcome.clone()), "breaks client SCHEMA");
        check(&what, &headless(outcome.clone()), "breaks client SCHEMA");
        check(&what, &person(outcome.clone()), "breaks client SCHEMA");
        check(
            &what,
            &host(outcome.clone()).alone(),
            "violates client MUST",
        );
        for control in [
            error(),
            silent(),
            gone(None),
            malformed(),
            not_reached(),
            not_declared(),
        ] {
            check(
                &what,
                &host(outcome.clone()).control(control),
                "unknown nobody -",
            );
        }
    }
    check(
        "refused, the control failed",
        &host(cancel()).control(error()),
        "unknown nobody -",
    );
    check(
        "accepted, the control failed",
        &headless(accept()).control(silent()),
        "unknown nobody -",
    );
    check(
        "presented, the control failed",
        &host(shown(accept())).control(silent()),
        "works nobody -",
    );
    let altered = host(shown_without("/message", accept()));
    check(
        "altered, the control failed",
        &altered.control(silent()),
        "altered client -",
    );
}

#[test]
fn without_its_control_a_probe_is_judged_only_by_what_was_seen() {
    let check = |what: &str, setup: Setup, expect: &str| {
        check(what, &setup.without_control(), expect);
    };
    for outcome in [
        error(),
        silent(),
        gone(Some(1)),
        gone(None),
        shown(error()),
        shown(silent()),
    ] {
        let what = format!("{:?}", outcome.kind);
        for surface in [host, headless, person] {
            check(&what, surface(outcome.clone()), "unknown nobody -");
            check(
                &what,
                surface(outcome.clone()).invalid(),
                "unknown nobody -",
            );
        }
    }
    for outcome in [accept(), cancel(), decline()] {
        let what = format!("{:?}", outcome.kind);
        check(&what, host(outcome.clone()), "unknown nobody -");
        check(&what, headless(outcome.clone()), "unknown nobody -");
        check(&what, host(shown(outcome.clone())), "works nobody -");
        check(&what, host(outcome.clone()).invalid(), "unknown nobody -");
        check(&what, host(shown(outcome)).invalid(), "lenient server -");
    }
    let title = "/requestedSchema/properties/value/title";
    let altered = host(shown_without(title, accept()));
    check("altered", altered, "altered client -");
    check("a person", person(accept()), "not_shown nobody -");
    check("a person, refused", person(cancel()), "unknown nobody -");
    check(
        "a person, invalid",
        person(accept()).invalid(),
        "lenient server -",
    );
    check("malformed", host(malformed()), "violates client SCHEMA");
    check("odd", headless(odd(cancel())), "violates client MUST");
    check(
        "not declared",
        host(not_declared()),
        "not_declared nobody -",
    );
    let reason = headless(cancel()).without_control().judge().reason;
    assert_eq!(
        reason,
        "its control control was not asked in the same session"
    );
}

#[test]
fn what_was_presented_is_judged_by_what_was_lost() {
    check("works", &host(shown(accept())), "works nobody -");
    check(
        "works, a control",
        &host(shown(accept())).alone(),
        "works nobody -",
    );
    check(
        "works, declined by the driver",
        &host(shown(decline())),
        "works nobody -",
    );
    check(
        "works, the control was refused",
        &host(shown(accept())).control(cancel()),
        "works nobody -",
    );
    let title = "/requestedSchema/properties/value/title";
    check(
        "a title lost",
        &host(shown_without(title, accept())),
        "altered client -",
    );
    check(
        "a property lost",
        &host(shown_without("/requestedSchema/properties/x-y", accept())),
        "altered client -",
    );
    let unknown = "/requestedSchema/properties/value/pattern";
    check(
        "an undefined member lost",
        &host(shown_without(unknown, accept())),
        "altered nobody -",
    );
    for undefined in ["/requestedSchema/title", "/requestedSchema/x-top"] {
        let outcome = shown_without(undefined, accept());
        check(undefined, &host(outcome), "altered nobody -");
    }
    let presented = Some([lost(unknown), lost(title)].concat());
    let mixed = Outcome {
        presented,
        ..shown(accept())
    };
    check("one of them is defined", &host(mixed), "altered client -");
    let mut added = shown_without(unknown, accept());
    let presented = added.presented.iter_mut().flatten();
    presented.for_each(|difference| difference.change = Change::Added);
    check(
        "an undefined member added",
        &host(added),
        "altered nobody -",
    );
    check(
        "the answer altered",
        &host(answered_without("/content", accept())),
        "altered client -",
    );
    let both = Outcome {
        presented: Some(lost(unknown)),
        ..answered_without("/content", accept())
    };
    check("both", &host(both), "altered client -");
    let cancelled = host(answered_without("/action", cancel()));
    check(
        "accepted by the driver, cancelled on the wire",
        &cancelled,
        "altered client -",
    );
    check("accepted unseen", &headless(accept()), "not_shown nobody -");
    check(
        "accepted unseen by a host",
        &host(accept()),
        "not_shown nobody -",
    );
    check(
        "accepted unseen, a control",
        &headless(accept()).alone(),
        "not_shown nobody -",
    );
    check(
        "accepted by a person",
        &person(accept()),
        "not_shown nobody -",
    );
    let unanswered = |outcome: Outcome| Outcome {
        answer: None,
        ..outcome
    };
    for outcome in [accept(), cancel(), decline()] {
        let what = format!("not answered by the driver: {:?}", outcome.kind);
        let shown = || unanswered(shown(outcome.clone()));
        check(&what, &host(shown()), "unknown nobody -");
        check(&what, &host(shown()).alone(), "unknown nobody -");
        check(&what, &host(shown()).invalid(), "lenient server -");
    }
    check(
        "altered, but not answered by the driver",
        &host(unanswered(shown_without(title, accept()))),
        "unknown nobody -",
    );
}

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
    // fixme: nobody gave this answer, so it did not arrive intact.
    let unanswered = Outcome {
        answer: None,
        ..shown(cancel())
    };
    check(
        "presented, but not answered by the driver",
        &host(unanswered),
        "works nobody -",
    );
}

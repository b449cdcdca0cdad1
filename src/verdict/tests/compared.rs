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
        "refused server -",
    );
    let after = |latency_us: u64| {
        person(Outcome {
            latency_us: Some(latency_us),
            ..cancel()
        })
    };
    check("nobody is that fast", &after(0), "refused nobody -");
    check("still too fast", &after(200_000), "refused nobody -");
    check("as fast as a person", &after(300_000), "unknown nobody -");
}

#[test]
fn a_request_without_a_result_is_compared_with_the_control() {
    for outcome in [error(), silent(), gone(Some(1)), gone(None)] {
        let what = format!("{:?}", outcome.kind);
        // That a valid request is understood is what the schema says; that there is a reply at all is JSON-RPC's MUST.
        let strength = match outcome.kind {
            Came::RpcError { .. } => "SCHEMA",
            _ => "MUST",
        };
        let breaks = format!("breaks client {strength}");
        check(&what, &host(outcome.clone()), &breaks);
        check(&what, &headless(outcome.clone()), &breaks);
        check(&what, &person(outcome.clone()), &breaks);
        check(
            &what,
            &host(outcome.clone()).alone(),
            &format!("violates client {strength}"),
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
        "not_shown nobody -",
    );
    let late = Outcome {
        oddities: vec![Oddity::LateReply],
        ..silent()
    };
    check("a late reply", &host(late.clone()), "spec_silent nobody -");
    check(
        "a late reply, a control",
        &host(late).alone(),
        "spec_silent nobody -",
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
            let invalid = surface(outcome.clone()).invalid();
            let expect = match outcome.kind {
                Came::RpcError { .. } => "refused server -",
                _ => "spec_silent server -",
            };
            check(&what, invalid, expect);
        }
    }
    for outcome in [accept(), cancel(), decline()] {
        let what = format!("{:?}", outcome.kind);
        let expect = match outcome.refusal() {
            Some(_) => "unknown nobody -",
            None => "not_shown nobody -",
        };
        check(&what, host(outcome.clone()), expect);
        check(&what, headless(outcome.clone()), expect);
        check(&what, host(shown(outcome.clone())), "works nobody -");
        check(
            &what,
            host(shown(outcome.clone())).invalid(),
            "lenient server SCHEMA",
        );
        let expect = match outcome.refusal() {
            Some(_) => "refused server -",
            None => "lenient server SCHEMA",
        };
        check(&what, host(outcome).invalid(), expect);
    }
    let title = "/requestedSchema/properties/value/title";
    let altered = host(shown_without(title, accept()));
    check("altered", altered, "altered client -");
    check("a person", person(accept()), "not_shown nobody -");
    check("a person, refused", person(cancel()), "unknown nobody -");
    check(
        "a person, invalid",
        person(accept()).invalid(),
        "lenient server SCHEMA",
    );
    check("malformed", host(malformed()), "violates client SCHEMA");
    check("odd", headless(odd(accept())), "violates client MUST");
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
        // Accepting for the user breaks a rule, refusing for them breaks none.
        let expect = match outcome.refusal() {
            Some(_) => "spec_silent nobody -",
            None => "violates client MUST",
        };
        check(&what, &host(shown()), expect);
        check(&what, &host(shown()).alone(), expect);
    }
    let refused = || host(unanswered(shown(cancel())));
    check(
        "an invalid request, refused after it was presented",
        &refused().invalid(),
        "lenient server SCHEMA",
    );
    check(
        "accepted for the user, before that was a MUST",
        &host(unanswered(shown(accept()))).under(Revision::V2025_06_18),
        "violates client SHOULD",
    );
    check(
        "altered, but not answered by the driver",
        &host(unanswered(shown_without(title, cancel()))),
        "spec_silent nobody -",
    );
}

//! Handshakes that went by a script.

use super::*;
use crate::catalogue::script::{Reply, Script, Then};

/// A probe of 2025-11-25 whose script lets a client do `then`, the best first.
fn probe(reply: Reply, then: &[Then], keyword: Strength) -> Probe {
    let revisions = vec![Revision::V2025_11_25];
    Probe {
        asks: Asks::Handshake,
        control: None,
        revisions: revisions.clone(),
        norms: vec![Norm {
            revisions,
            section: "basic/lifecycle Version Negotiation".to_owned(),
            keyword,
        }],
        script: Some(Script {
            reply,
            then: then.to_vec(),
            starts_after_ms: 0,
            over: None,
        }),
        ..host(accept()).probe
    }
}

fn judged(probe: &Probe, revision: Option<Revision>, then: Then, ended_by: &[&str]) -> Verdict {
    let outcome = came(Came::Followed {
        then,
        methods: Vec::new(),
        ended_by: ended_by.iter().map(|by| (*by).to_owned()).collect(),
    });
    judge(&Case {
        probe,
        revision,
        outcome: &outcome,
        control: None,
        answered_by: AnsweredBy::Driver,
        declared: None,
        sent: None,
        reply: &[],
        harness_error: None,
    })
}

#[test]
fn what_stands_first_is_best_and_what_does_not_stand_there_is_not_allowed() {
    use Then::{GoesOn, Initializes, Stops};
    let check = |allowed: &[Then], then: Then, keyword: Strength, expect: &str| {
        let probe = probe(Reply::Result, allowed, keyword);
        // A handshake may settle on nothing, or on another revision: the rule is the probe's all the same.
        for revision in [
            None,
            Some(Revision::V2025_11_25),
            Some(Revision::V2024_11_05),
        ] {
            let verdict = judged(&probe, revision, then, &[]);
            assert_eq!(said(&verdict), expect, "{allowed:?} {then:?} {revision:?}");
            let clause = verdict.clause.as_deref();
            let is_right =
                |clause: &str| clause == "2025-11-25 basic/lifecycle Version Negotiation";
            assert!(clause.is_none_or(is_right), "{clause:?}");
        }
    };
    check(&[GoesOn], GoesOn, Strength::Should, "works nobody -");
    check(
        &[GoesOn, Stops],
        Stops,
        Strength::Should,
        "refused nobody -",
    );
    check(
        &[Stops, Initializes],
        Stops,
        Strength::Should,
        "works nobody -",
    );
    check(
        &[Stops, Initializes],
        Initializes,
        Strength::Should,
        "works nobody -",
    );
    check(
        &[Initializes, Stops],
        Stops,
        Strength::Must,
        "refused nobody -",
    );
    check(&[Stops], GoesOn, Strength::Should, "violates client SHOULD");
    check(&[GoesOn], Stops, Strength::Schema, "violates client SCHEMA");
    check(
        &[Stops, GoesOn],
        Initializes,
        Strength::Must,
        "violates client MUST",
    );
    check(&[GoesOn], Stops, Strength::May, "spec_silent nobody -");
    check(&[], Stops, Strength::Must, "spec_silent nobody -");
}

#[test]
fn an_invalid_answer_may_be_taken_or_left() {
    let mut probe = probe(Reply::Result, &[Then::Stops], Strength::Schema);
    let reason = "on purpose".to_owned();
    probe.invalid.insert(Revision::V2025_11_25, reason);
    for revision in [None, Some(Revision::V2025_11_25)] {
        let says = |then: Then| said(&judged(&probe, revision, then, &[]));
        assert_eq!(says(Then::GoesOn), "lenient server SCHEMA");
        assert_eq!(says(Then::Stops), "refused server -");
    }
}

#[test]
fn a_server_is_ended_by_closing_the_channel_first() {
    let probe = probe(Reply::Stays, &[Then::GoesOn], Strength::Should);
    let check = |ended_by: &[&str], expect: &str| {
        let verdict = judged(&probe, None, Then::GoesOn, ended_by);
        assert_eq!(said(&verdict), expect, "{ended_by:?}");
    };
    check(&["closed"], "works nobody -");
    check(&["closed", "nothing more"], "works nobody -");
    check(&["closed", "SIGTERM"], "works nobody -");
    check(&["SIGTERM", "closed"], "violates client SHOULD");
    check(&[], "spec_silent nobody -");
    let stopped = judged(&probe, None, Then::Stops, &["closed"]);
    assert_eq!(said(&stopped), "violates client SHOULD");
}

//! What holds for every verdict, whatever the case.

use std::fs;
use std::path::Path;

use super::*;

/// What must hold for the verdict of `setup`.
pub(super) fn check(setup: &Setup, verdict: &Verdict) {
    let outcome = &setup.outcome;
    let context = format!(
        "{outcome:?} {:?} {:?}: {verdict:?}",
        setup.control, setup.answered_by
    );
    assert!(!verdict.reason.trim().is_empty(), "{context}");
    assert!(!verdict.reason.contains(char::is_control), "{context}");
    assert!(verdict.reason.chars().count() <= 400, "{context}");
    assert!(!verdict.reason.contains("no row"), "{context}");
    assert_eq!(verdict.evidence, outcome.evidence, "{context}");
    let is_broken = matches!(verdict.kind, Kind::Violates | Kind::Breaks);
    let names_a_rule = is_broken || verdict.kind == Kind::Lenient;
    assert_eq!(verdict.strength.is_some(), names_a_rule, "{context}");
    assert_eq!(verdict.clause.is_some(), names_a_rule, "{context}");
    assert!(
        verdict
            .clause
            .as_ref()
            .is_none_or(|c| c.starts_with(&format!("{} ", setup.revision))),
        "{context}"
    );
    let is_fault = is_broken || verdict.kind == Kind::Altered;
    let blames_client = verdict.blame == Blame::Client;
    assert!(!blames_client || is_fault, "{context}");
    assert!(!is_broken || blames_client, "{context}");
    assert_eq!(
        verdict.blame == Blame::Harness,
        setup.harness_error.is_some(),
        "{context}"
    );
    let action = match &outcome.kind {
        Came::Answered { action, .. } => action.as_str(),
        _ => "",
    };
    let is_bad_reply = !outcome.oddities.is_empty()
        || matches!(outcome.kind, Came::Malformed { .. })
        || matches!(outcome.kind, Came::Answered { .. })
            && !["accept", "decline", "cancel"].contains(&action);
    let is_invalid =
        !setup.probe.invalid.is_empty() && setup.probe.invalid.contains_key(&Revision::V2025_11_25);
    assert!(!(is_invalid && blames_client) || is_bad_reply, "{context}");
    let control = setup.control.as_ref().unwrap_or(outcome);
    let is_policy = setup.probe.asks == Asks::Request
        && setup.answered_by == AnsweredBy::Client
        && outcome.refusal().is_some()
        && outcome.refusal() == control.refusal()
        && outcome.presented.is_none()
        && control.presented.is_none();
    assert!(!is_policy || !blames_client, "{context}");
}

#[test]
fn every_combination_has_a_verdict_that_keeps_the_rules() {
    let plain = [
        accept(),
        cancel(),
        decline(),
        answered("reject", None),
        answered("accept", Some(Value::Null)),
        error(),
        silent(),
        gone(Some(1)),
        gone(None),
        malformed(),
        not_reached(),
        not_declared(),
    ];
    let mut all: Vec<Outcome> = plain.to_vec();
    for outcome in &plain {
        all.push(odd(outcome.clone()));
        all.push(shown(outcome.clone()));
        all.push(shown_without("/message", outcome.clone()));
        all.push(answered_without("/content", outcome.clone()));
    }
    let controls: Vec<Option<Outcome>> = all.iter().cloned().map(Some).chain([None]).collect();
    for outcome in &all {
        for control in &controls {
            for surface in [host, headless, person] {
                let setup = Setup {
                    control: control.clone(),
                    ..surface(outcome.clone())
                };
                check(&setup, &setup.judge());
                check(&setup.clone().alone(), &setup.clone().alone().judge());
                check(&setup.clone().invalid(), &setup.clone().invalid().judge());
                check(
                    &setup.clone().harness_error(),
                    &setup.harness_error().judge(),
                );
            }
        }
    }
}

#[test]
fn reasons_are_one_line() {
    let check = |what: &str, setup: Setup, part: &str| {
        let reason = setup.judge().reason;
        assert!(!reason.contains(char::is_control), "{what}: {reason:?}");
        assert!(reason.contains(part), "{what}: {reason:?}");
    };
    let content = |content: Value| host(shown(answered("accept", Some(content))));
    check(
        "content",
        content(json!({"value": ["a\nb"], "c\nd": 1})),
        "/value: ",
    );
    let message = "[\n  {\n    \"code\": \"invalid_type\"\n  }\n]".to_owned();
    let rejected = came(Came::RpcError {
        code: -32603,
        message,
    });
    check(
        "the client's error",
        host(rejected),
        r#"error -32603: [ { "code": "invalid_type" } ], while"#,
    );
    let at = "/requestedSchema/properties/a\nb";
    check(
        "the server's property",
        host(shown_without(at, accept())),
        "/properties/a b lost",
    );
    let (missing, note) = (Stage::RequestSent, Some("a\nb".to_owned()));
    check(
        "a note",
        host(came(Came::NotReached { missing, note })),
        "a b",
    );
    let error = Setup {
        harness_error: Some("a\nb"),
        ..host(accept())
    };
    check("the harness's error", error, "a b");
}

#[test]
fn reasons_stay_short() {
    let long = json!({"value": ["x".repeat(10_000)]});
    let reason = host(shown(answered("accept", Some(long)))).judge().reason;
    assert_eq!(reason.chars().count(), 400, "{reason}");
    let reason = host(answered(&"é".repeat(10_000), None)).judge().reason;
    assert!(reason.chars().count() <= 400, "{reason}");
    let many = vec![lost("/message").remove(0); 50];
    let presented = Some(many);
    let reason = host(Outcome {
        presented,
        ..shown(accept())
    })
    .judge()
    .reason;
    assert!(reason.ends_with("and 46 more"), "{reason}");
}

#[test]
fn names_are_those_of_the_json() {
    let check = |value: Value, name: &str| assert_eq!(value, name);
    for setup in [
        host(error()),
        headless(cancel()),
        host(not_declared()),
        headless(decline()),
        host(error()).invalid(),
        host(shown(accept())),
        headless(accept()),
        host(accept()).harness_error(),
        host(malformed()),
        person(cancel()),
    ] {
        let verdict = setup.judge();
        check(
            serde_json::to_value(verdict.kind).unwrap(),
            verdict.kind.name(),
        );
        check(
            serde_json::to_value(verdict.blame).unwrap(),
            verdict.blame.name(),
        );
        if let Some(strength) = verdict.strength {
            check(serde_json::to_value(strength).unwrap(), strength.name());
        }
    }
}

#[test]
fn only_broken_rules_and_our_own_faults_are_in_capitals() {
    let check = |setup: Setup, expect: &str| assert_eq!(setup.judge().word(), expect);
    check(host(shown(accept())), "works");
    check(host(shown_without("/message", accept())), "altered");
    check(headless(cancel()), "refused by policy");
    check(host(error()).invalid(), "refused");
    check(headless(accept()), "not shown");
    check(host(malformed()), "VIOLATES");
    check(host(error()), "BREAKS");
    check(headless(accept()).invalid(), "lenient");
    check(host(not_declared()), "not declared");
    check(headless(decline()), "spec silent");
    check(host(accept()).harness_error(), "HARNESS");
    check(host(not_reached()), "unknown");
}

/// The source files below `path` that are no tests, with their text.
fn sources(path: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((
                path.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            ));
        }
    }
}

#[test]
fn no_judge_knows_a_clients_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = vec![(
        "outcome.rs".to_owned(),
        fs::read_to_string(root.join("outcome.rs")).unwrap(),
    )];
    for folder in ["verdict", "outcome", "matrix"] {
        sources(&root.join(folder), &mut found);
    }
    assert!(found.len() >= 9, "{}", found.len());
    for (path, text) in found {
        let text = text.to_lowercase();
        for name in ["codex", "claude", "anthropic", "openai"] {
            assert!(!text.contains(name), "{path} names {name}");
        }
    }
}

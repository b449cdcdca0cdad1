//! The table is sound, and each behaviour departs from the sound client at its own subject.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::catalogue::{Probe, load};
use crate::fakes::hooks::{Change, Edit, Replies, Request, Scope, Shows, Step, edited};

fn catalogue() -> BTreeMap<String, Probe> {
    let probes = load::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("probes")).unwrap();
    probes
        .into_iter()
        .map(|probe| (probe.id.0.clone(), probe))
        .collect()
}

fn request(probe: &Probe) -> Request {
    Request {
        id: "7".to_owned(),
        params: probe.params.clone(),
    }
}

/// What rmcp sends before a call, and the call.
const SENT: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"n","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"probe","arguments":{}}}"#,
];

#[test]
fn the_table_is_well_formed() {
    let catalogue = catalogue();
    let mut seen = BTreeSet::new();
    for row in all() {
        let name = row.name;
        assert!(seen.insert(name), "{name} stands twice");
        assert!(
            name.split('-').all(|word| !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())),
            "{name} is not kebab-case"
        );
        assert!(!row.does.is_empty() && !row.does.ends_with('.'), "{name}");
        let subject = &catalogue[row.subject];
        // A control must behave, or no other cell could be compared with it.
        let is_policy = row.hooks.scope == Scope::EveryCall;
        assert!(
            subject.control.is_some() || row.subject == subject::URL || is_policy,
            "{name}"
        );
    }
    for class in Class::ALL {
        assert!(class.rows().next().is_some(), "{}", class.name());
        for row in class.rows() {
            assert_eq!(row.class, class, "{}", row.name);
        }
    }
}

#[test]
fn faults_are_faults_and_what_is_allowed_is_not() {
    let (allowed, faults): (Vec<&Behaviour>, Vec<&Behaviour>) =
        all().partition(|row| row.class == Class::Allowed);
    assert!(faults.len() >= 60, "{}", faults.len());
    assert!(allowed.len() >= 20, "{}", allowed.len());
    for row in faults {
        let is_clean = row.cell.kind == Kind::Works && row.finding.is_none();
        assert!(!is_clean, "{}", row.name);
    }
    for row in allowed {
        assert_ne!(row.cell.blame, Blame::Client, "{}", row.name);
        assert_eq!(row.finding, None, "{}", row.name);
    }
}

#[test]
fn judgements_are_of_one_piece() {
    for row in all() {
        for judgement in std::iter::once(row.cell).chain(row.finding) {
            let is_rule = matches!(judgement.kind, Kind::Violates | Kind::Breaks);
            let is_blamed = is_rule || judgement == expect::ALTERED;
            assert_eq!(judgement.blame == Blame::Client, is_blamed, "{}", row.name);
            let has_strength = is_rule || judgement.kind == Kind::Lenient;
            assert_eq!(judgement.strength.is_some(), has_strength, "{}", row.name);
        }
    }
}

#[test]
fn an_unknown_name_gets_a_hint() {
    assert_eq!(find("wrong-id").unwrap().name, "wrong-id");
    let near = find("never-answer").unwrap_err().to_string();
    assert!(near.contains("did you mean `never-answers`"), "{near}");
    let far = find("zzz").unwrap_err().to_string();
    assert!(far.contains("capmatrix self-test"), "{far}");
}

/// All that a behaviour does at its subject, in a form that can be compared.
fn deeds(row: &Behaviour, probe: &Probe) -> String {
    let (hooks, request) = (row.hooks, request(probe));
    let steps = hooks.on_request(&request);
    let is_presented = steps.contains(&Step::Present);
    let answer = probe.answer.to_value().to_string();
    let then = is_presented.then(|| (hooks.shown(&request), hooks.on_answer(&request, &answer)));
    let sends = SENT.map(|line| hooks.outgoing(line.as_bytes()));
    // The megabytes of padding are told apart by their number.
    let text = format!(
        "{:?} {:?} {:?} {steps:?} {then:?} {sends:?}",
        hooks.scope, hooks.calls, hooks.after
    );
    format!(
        "{} {}",
        text.len(),
        text.chars().take(20_000).collect::<String>()
    )
}

#[test]
fn each_behaviour_departs_from_the_sound_one_and_from_all_others() {
    let catalogue = catalogue();
    let mut seen: BTreeMap<(&str, String), &str> = BTreeMap::new();
    for row in all() {
        let deeds = deeds(row, &catalogue[row.subject]);
        let sound = row.with(BEHAVES);
        let sound = self::deeds(&sound, &catalogue[row.subject]);
        // These two are sound; what is judged is that a judge sees it.
        let is_sound = ["behaves", "presents-an-invalid-request"].contains(&row.name);
        assert_eq!(deeds == sound, is_sound, "{}", row.name);
        if let Some(other) = seen.insert((row.subject, deeds), row.name) {
            panic!("{} does what {other} does", row.name);
        }
    }
}

#[test]
fn each_edit_changes_something() {
    let catalogue = catalogue();
    let check = |row: &Behaviour, json: &str, edits: &[Edit]| {
        let mut json = json.to_owned();
        for edit in edits {
            let changed = edited(&json, &[*edit]);
            assert_ne!(changed, json, "{}: {edit:?}", row.name);
            json = changed;
        }
    };
    for row in all() {
        let probe = &catalogue[row.subject];
        if let Shows::Edited(edits) = row.hooks.shows {
            check(row, &probe.params, edits);
        }
        if let Replies::Edited(edits) = row.hooks.replies {
            check(row, &probe.answer.to_value().to_string(), edits);
        }
        for (method, change) in row.hooks.sends {
            let sent = SENT
                .iter()
                .find(|line| line.contains(&format!("\"{method}\"")));
            assert!(
                sent.is_some() || method.is_empty(),
                "{}: {method}",
                row.name
            );
            if let (Change::Edit(edit), Some(sent)) = (change, sent) {
                check(row, sent, &[*edit]);
            }
        }
    }
}

//! The table is sound, and each behaviour departs from the sound client at its own subject.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::catalogue::{Probe, Way, load};
use crate::fakes::hooks::{
    Again, Change, Edit, Meets, Replies, Request, Scope, Shows, Step, edited,
};
use crate::fakes::rounds::{Calls, Round};
use crate::recording::line::INPUT;

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

/// What rmcp sends before a call, and the call, in both eras.
const SENT: [&str; 7] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"n","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"probe","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}}}"#,
    CALL,
];

const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"probe","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}}}"#;

/// Whether a behaviour's requests stand in results.
fn is_modern(row: &Behaviour) -> bool {
    row.revision.is_some_and(|revision| !revision.is_legacy())
}

/// The result that asks for a probe's request, in the second round as in the first.
fn round(probe: &Probe) -> Round {
    let entry = |key: &str| {
        format!(
            r#""{key}":{{"method":"{}","params":{}}}"#,
            probe.method, probe.params
        )
    };
    let entries = match probe.way {
        Way::StateFirst => String::new(),
        Way::TwoInputs => format!("{},{}", entry("other"), entry(INPUT)),
        _ => entry(INPUT),
    };
    let state = match probe.way {
        Way::NoState => "",
        Way::OddState => r#","requestState":" \u0001 e\u0301 &amp; %41  end ""#,
        _ => r#","requestState":"s""#,
    };
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":2,"result":{{"resultType":"input_required","inputRequests":{{{entries}}}{state}}}}}"#
    );
    let mut calls = Calls::default();
    calls.sent(CALL.as_bytes(), None);
    calls.asked(line.as_bytes()).expect("a result that asks")
}

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
        let is_alone = row.subject == subject::URL || !subject.asks.is_answered_by_somebody();
        assert!(subject.control.is_some() || is_alone || is_policy, "{name}");
        if let Some(revision) = row.revision {
            let is_asked = subject.revisions.contains(&revision);
            assert!(is_asked || row.cell.kind == Kind::Unknown, "{name}");
        }
        // What is written in place of the other era's answer would never be.
        if is_modern(row) {
            assert!(!matches!(row.hooks.replies, Replies::Does(_)), "{name}");
            assert!(
                !matches!(row.hooks.meets, Meets::Rejects(text) if text != "null"),
                "{name}"
            );
        }
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
    let hooks = row.hooks;
    let answer = probe.answer.to_value().to_string();
    let exchange = match is_modern(row) {
        true => {
            let round = round(probe);
            let answers = vec![answer; round.inputs.len()];
            let shown: Vec<String> = round
                .inputs
                .iter()
                .map(|input| hooks.shown(input))
                .collect();
            let steps = hooks.on_round(&round);
            let is_presented = steps.contains(&Step::Present);
            let then = is_presented.then(|| (shown, hooks.on_inputs(&round, &answers)));
            format!("{steps:?} {then:?}")
        }
        false => {
            let request = request(probe);
            let steps = hooks.on_request(&request);
            let is_presented = steps.contains(&Step::Present);
            let then =
                is_presented.then(|| (hooks.shown(&request), hooks.on_answer(&request, &answer)));
            format!("{steps:?} {then:?}")
        }
    };
    let sends = SENT.map(|line| hooks.outgoing(line.as_bytes()));
    // The megabytes of padding are told apart by their number.
    let text = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {exchange} {sends:?}",
        hooks.scope, hooks.calls, hooks.after, hooks.hears, hooks.unknown, hooks.ends
    );
    format!(
        "{} {}",
        text.len(),
        text.chars().take(20_000).collect::<String>()
    )
}

/// Rows of sound clients: what is judged is that a judge sees it, wherever the server asks.
fn is_sound(row: &Behaviour) -> bool {
    let words = [
        "behaves",
        "presents-an-invalid-request",
        "legacy-at-a-modern-server",
        "modern-at-a-legacy-server",
        "never-discovers",
    ];
    let is_script = row.subject.starts_with("handshake/");
    let is_named = words.contains(&row.name) || row.name.starts_with("behaves-");
    is_named || is_script && row.class == Class::Allowed
}

#[test]
fn each_behaviour_departs_from_the_sound_one_and_from_all_others() {
    let catalogue = catalogue();
    let mut seen = BTreeMap::new();
    for row in all() {
        let deeds = deeds(row, &catalogue[row.subject]);
        let sound = row.with(BEHAVES);
        let sound = self::deeds(&sound, &catalogue[row.subject]);
        // Over HTTP it is the transport that departs.
        let is_sound = is_sound(row) || row.bends.is_some();
        assert_eq!(deeds == sound, is_sound, "{}", row.name);
        let speaks = format!("{:?} {:?}", row.hooks.speaks, row.bends);
        if let Some(other) = seen.insert((row.subject, row.revision, speaks, deeds), row.name) {
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
        if let (Again::Edited(edits), true) = (row.hooks.again, is_modern(row)) {
            let round = round(probe);
            let answers = vec![probe.answer.to_value().to_string(); round.inputs.len()];
            check(row, &round.again(&round.next_id, &answers), edits);
        }
        for (method, change) in row.hooks.sends {
            let mut lines = SENT.to_vec();
            if is_modern(row) {
                lines.reverse();
            }
            let sent = lines
                .into_iter()
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

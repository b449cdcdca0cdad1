//! The project's own rules against the official schema files: they agree on every message of the catalogue of
//! definitions, on the messages of ordinary sessions, and on tens of thousands of mutants of these.
//!
//! The files are not part of the project: `../shared/spec`, or the folder that `CAPMATRIX_SPEC_DIR` names. Without
//! them these tests fail; `scripts/test` says so where it leaves them out.

#[path = "official/mutants.rs"]
mod mutants;
#[path = "official/oracle.rs"]
mod oracle;
#[path = "official/seeds.rs"]
mod seeds;

use std::collections::{BTreeMap, BTreeSet};

use capmatrix::names::Revision;
use capmatrix::recording::Dir;
use capmatrix::spec::errata::{self, ERRATA};
use capmatrix::spec::{self, Message, Rules, Source};
use oracle::Oracle;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRng, TestRunner};
use seeds::Seed;
use serde_json::Value;

/// So many different mutants of every revision.
const MUTANTS: usize = 20_000;
/// Of all messages of a revision, at least so many percent are valid, and as many are not: a test of both.
const MIX: usize = 20;

/// Whether the project's rules find nothing that a schema could say.
fn is_valid(rules: &Rules, revision: Revision, seed: &Seed) -> bool {
    rules
        .check(revision, seed.direction, &seed.message())
        .iter()
        .all(|violation| violation.source == Source::Prose)
}

fn agree(oracle: &Oracle, revision: Revision, seed: &Seed) -> bool {
    let expected = oracle.is_valid(seed);
    let found = spec::check(revision, seed.direction, &seed.message());
    let ours = is_valid(Rules::builtin(), revision, seed);
    assert_eq!(
        ours,
        expected,
        "{revision} {:?} (answers {:?}): {}\nours: {found:?}\nofficial: {:?}",
        seed.direction,
        seed.answers,
        seed.value,
        oracle.errors(seed)
    );
    ours
}

#[test]
fn the_catalogue_agrees() {
    let mut checked = 0;
    for revision in Revision::ALL {
        let oracle = Oracle::of(revision);
        for seed in seeds::catalogue(revision) {
            agree(&oracle, revision, &seed);
            checked += 1;
        }
    }
    assert!(checked > 600, "only {checked} messages");
}

#[test]
fn ordinary_sessions_are_valid() {
    for revision in Revision::ALL {
        let oracle = Oracle::of(revision);
        for seed in seeds::session(revision) {
            assert!(
                agree(&oracle, revision, &seed),
                "{revision}: {}",
                seed.value
            );
        }
    }
}

fn mutants_agree(revision: Revision) {
    let oracle = Oracle::of(revision);
    let seeds: Vec<Seed> = seeds::all(revision);
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let strategy = mutants::mutant(seeds);
    let (mut valid, mut different, mut drawn) = (0, BTreeSet::new(), 0);
    while different.len() < MUTANTS {
        drawn += 1;
        assert!(
            drawn <= 20 * MUTANTS,
            "only {} mutants differ",
            different.len()
        );
        let seed = strategy.new_tree(&mut runner).expect("a mutant").current();
        let is_new = different.insert(format!("{:?} {}", seed.answers, seed.value));
        if is_new {
            valid += usize::from(agree(&oracle, revision, &seed));
        }
    }
    let share = 100 * valid / MUTANTS;
    assert!((MIX..=100 - MIX).contains(&share), "{share} % are valid");
}

#[test]
fn mutants_agree_2024_11_05() {
    mutants_agree(Revision::V2024_11_05);
}

#[test]
fn mutants_agree_2025_03_26() {
    mutants_agree(Revision::V2025_03_26);
}

#[test]
fn mutants_agree_2025_06_18() {
    mutants_agree(Revision::V2025_06_18);
}

#[test]
fn mutants_agree_2025_11_25() {
    mutants_agree(Revision::V2025_11_25);
}

#[test]
fn mutants_agree_2026_07_28() {
    mutants_agree(Revision::V2026_07_28);
}

/// What is looked up by method is what the official unions of requests and notifications hold.
#[test]
fn the_table_of_methods_agrees() {
    for revision in Revision::ALL {
        let unions = oracle::unions(revision);
        for direction in [Dir::ClientToServer, Dir::ServerToClient] {
            let known = |method: &str, definition: &'static str, has_id: bool| {
                let mut value = serde_json::json!({"jsonrpc": "2.0", "method": method});
                if has_id {
                    value["id"] = Value::from(1);
                }
                let message = Message {
                    value: &value,
                    answers: None,
                    inputs: None,
                };
                spec::definition_of(revision, direction, &message) == Some(definition)
            };
            let requests = spec::requests().filter(|row| known(row.0, row.2, true));
            let notifications = spec::notifications().filter(|row| known(row.0, row.2, false));
            let ours: BTreeSet<String> = requests
                .map(|row| row.2)
                .chain(notifications.map(|row| row.2))
                .map(str::to_owned)
                .collect();
            assert_eq!(ours, unions.of(direction), "{revision} {direction:?}");
        }
    }
}

/// With the value as released a known mistake refuses what is valid, and put right it does not.
#[test]
fn each_erratum_is_needed() {
    for erratum in ERRATA {
        assert!(!erratum.reason.is_empty());
        let example: Value = serde_json::from_str(erratum.example).expect("JSON");
        let released: Value = serde_json::from_str(erratum.released).expect("JSON");
        let corrected: Value = serde_json::from_str(erratum.corrected).expect("JSON");
        for (revision, at) in erratum.places {
            let what = format!("{} in {revision}", erratum.name);
            let mut definitions = oracle::definitions(*revision);
            let place = definitions
                .pointer_mut(at)
                .unwrap_or_else(|| panic!("{what}: no {at}"));
            assert!(*place == released || *place == corrected, "{what}: {place}");
            *place = released.clone();
            let is_valid = |definitions: &Value| {
                oracle::validator(definitions, erratum.definition).is_valid(&example)
            };
            assert!(!is_valid(&definitions), "{what}: not needed");
            errata::apply(*revision, &mut definitions);
            assert!(is_valid(&definitions), "{what}: not enough");
        }
    }
}

/// `--schema-dir` judges as the project's own rules do.
#[test]
fn the_official_files_can_be_judged_by() {
    let read = |revision: Revision| (revision, oracle::file(revision));
    let schemas: BTreeMap<Revision, Value> = Revision::ALL.into_iter().map(read).collect();
    let official = Rules::from_schemas(schemas.clone()).expect("the official files");
    for revision in Revision::ALL {
        for seed in seeds::all(revision) {
            let ours = is_valid(Rules::builtin(), revision, &seed);
            assert_eq!(
                is_valid(&official, revision, &seed),
                ours,
                "{revision}: {}",
                seed.value
            );
        }
    }
    let mut one_less = schemas;
    one_less.remove(&Revision::V2025_06_18);
    let error = Rules::from_schemas(one_less)
        .err()
        .expect("a revision is missing");
    assert_eq!(error.to_string(), "no schema for revision 2025-06-18");
}

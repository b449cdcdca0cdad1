//! Which differences of two matrices are changes.

use super::compare::{self, Asked, words};
use super::*;

/// What changed where all that there is was asked.
fn changes(expected: &Matrix, found: &Matrix) -> Vec<compare::Change> {
    compare::changes(expected, found, asked(true))
}

fn asked(all_probes: bool) -> Asked {
    Asked {
        all_probes,
        revision: None,
    }
}

fn expected() -> Matrix {
    build(&[evidence(&session())], &catalogue())
}

/// The changes from `expected()` to what `edit` makes of it: cell, then whether it was and is there.
fn changed(probes_are_all: bool, edit: impl Fn(&mut Matrix)) -> Vec<(String, bool, bool)> {
    let mut found = expected();
    edit(&mut found);
    compare::changes(&expected(), &found, asked(probes_are_all))
        .into_iter()
        .map(|change| {
            let name = change
                .cell
                .replace("acme@1.0.0/host/", "")
                .replace("#2025-11-25", "");
            (name, change.expected.is_some(), change.found.is_some())
        })
        .collect()
}

#[test]
fn another_revision_is_another_cell() {
    let found = changed(true, |matrix| matrix.cells[1].revision = None);
    let b = |was, is| ("b".to_owned(), was, is);
    assert_eq!(found, [b(false, true), b(true, false)]);
}

#[test]
fn every_change_of_a_cell_counts() {
    let check = |what: &str, edit: fn(&mut Cell)| {
        let found = changed(true, |matrix| edit(&mut matrix.cells[1]));
        assert_eq!(found, [("b".to_owned(), true, true)], "{what}");
    };
    check("verdict", |cell| cell.verdict.kind = Kind::Breaks);
    check("blame", |cell| cell.verdict.blame = verdict::Blame::Server);
    check("strength", |cell| {
        cell.verdict.strength = Some(crate::spec::Strength::Must);
    });
    check("clause", |cell| cell.verdict.clause = Some("x".to_owned()));
    check("reason", |cell| cell.verdict.reason.push('x'));
    check("outcome", |cell| {
        cell.outcome.kind = Came::Silent { after_ms: 1 }
    });
    check("stage", |cell| cell.outcome.stage = None);
    check("presented", |cell| cell.outcome.presented = None);
    check("answer", |cell| cell.outcome.answer = None);
    check("oddities", |cell| {
        cell.outcome.oddities.push(outcome::Oddity::NotJson);
    });
    check("content", |cell| {
        let content = Some(json!({"value": "y"}));
        let action = "accept".to_owned();
        cell.outcome.kind = Came::Answered { action, content };
    });
}

#[test]
fn what_is_not_a_result_does_not_count() {
    let check = |what: &str, edit: fn(&mut Matrix)| {
        assert_eq!(changed(true, edit), [], "{what}");
    };
    check("nothing", |_| {});
    check("evidence", |matrix| {
        matrix.cells[0].outcome.evidence.push(99);
        matrix.cells[0].verdict.evidence.clear();
    });
    check("file", |matrix| matrix.cells[0].recording.push('x'));
    check("latency", |matrix| {
        matrix.cells[0].outcome.latency_us = Some(1);
    });
    check("order", |matrix| matrix.cells.reverse());
    check("versions", |matrix| matrix.capmatrix.push('x'));
    check("facts", |matrix| {
        matrix.targets[0].notes.push("x".to_owned());
    });
}

#[test]
fn cells_come_and_go() {
    let gone = |matrix: &mut Matrix| {
        matrix.cells.pop();
    };
    assert_eq!(changed(true, gone), [("b".to_owned(), true, false)]);
    assert_eq!(changed(false, gone), [], "not all probes were asked");
    let added = |matrix: &mut Matrix| {
        let mut cell = matrix.cells[0].clone();
        cell.probe = id("c");
        matrix.cells.push(cell);
    };
    for all in [true, false] {
        assert_eq!(changed(all, added), [("c".to_owned(), false, true)]);
    }
    let other_version = changed(true, |matrix| matrix.cells[0].version = "2".to_owned());
    let expect = [
        ("acme@2/host/a".to_owned(), false, true),
        ("a".to_owned(), true, false),
    ];
    assert_eq!(other_version, expect);
}

#[test]
fn targets_that_were_not_asked_are_left_out() {
    let both = build(&[on("y", session()), on("z", session())], &catalogue());
    let one = build(&[on("z", session())], &catalogue());
    assert_eq!(changes(&both, &one), []);
    let added = changes(&one, &both);
    let names: Vec<&str> = added.iter().map(|change| change.cell.as_str()).collect();
    assert_eq!(
        names,
        ["acme@1.0.0/y/a#2025-11-25", "acme@1.0.0/y/b#2025-11-25"]
    );
    let none = build(&[], &catalogue());
    assert_eq!(changes(&both, &none), []);
}

#[test]
fn a_change_says_both_verdicts() {
    let mut found = expected();
    found.cells[0].verdict.kind = Kind::Breaks;
    found.cells[0].verdict.reason = "why".to_owned();
    let change = changes(&expected(), &found).remove(0);
    assert_eq!(change.expected, Some(words(&expected().cells[0])));
    assert_eq!(change.found.as_deref(), Some("BREAKS (why)"));
}

#[test]
fn a_stage_that_was_not_reached_is_a_result() {
    let not_reached = |missing| {
        let mut matrix = expected();
        let note = None;
        matrix.cells[0].outcome.kind = Came::NotReached { missing, note };
        matrix
    };
    let (offered, called) = (outcome::Stage::ToolOffered, outcome::Stage::ToolCalled);
    let found = changes(&not_reached(offered), &not_reached(called));
    let names: Vec<&str> = found.iter().map(|change| change.cell.as_str()).collect();
    assert_eq!(names, ["acme@1.0.0/host/a#2025-11-25"]);
}

#[test]
fn a_probe_that_was_asked_twice_is_one_cell() {
    let silent = Script::new(&["a"])
        .initialize()
        .call("a")
        .send("a", 1)
        .no_reply("a");
    // `recording::by_hand` gives it to the later recording only; a matrix has no two cells of one name.
    let mut first = session();
    first.header.cells.retain(|probe| *probe != id("a"));
    let twice = build(&[first, silent.finish()], &catalogue());
    let kinds: Vec<Kind> = twice.cells.iter().map(|cell| cell.verdict.kind).collect();
    assert_eq!(kinds, [Kind::Violates, Kind::Works]);
    assert_eq!(changes(&twice, &twice), []);
}

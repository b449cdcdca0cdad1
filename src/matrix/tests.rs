//! From evidence to cells, and which changes of a matrix count.

mod compared;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::catalogue::{Action, Answer, Capability};
use crate::outcome::Kind as Came;
use crate::recording::redact::evidence;
use crate::testing::{Script, form, hostile_recording, id};
use crate::verdict::Kind;

fn probe(name: &str, control: Option<&str>) -> Probe {
    Probe {
        id: id(name),
        title: format!("title of {name}"),
        why: String::new(),
        asks: crate::catalogue::Asks::Request,
        needs: Capability::ElicitationForm,
        revisions: Revision::ALL.to_vec(),
        invalid: BTreeMap::new(),
        errata: BTreeMap::new(),
        norms: Vec::new(),
        way: crate::catalogue::Way::Plain,
        script: None,
        method: "elicitation/create".to_owned(),
        params: form().to_string(),
        control: control.map(id),
        answer: Answer {
            action: Action::Accept,
            content: Some(json!({"value": "x"})),
        },
    }
}

fn catalogue() -> Vec<Probe> {
    vec![
        probe("a", None),
        probe("b", Some("a")),
        probe("c", Some("a")),
    ]
}

/// A session in which `a` and `b` are presented and answered as they should.
fn session() -> Recording {
    let accept = || json!({"action": "accept", "content": {"value": "x"}});
    let mut script = Script::new(&["a", "b"]).initialize().list();
    for (probe, number) in [("a", 1), ("b", 2)] {
        script = script
            .call(probe)
            .send(probe, number)
            .presented(probe, form());
        script = script
            .answer(probe, accept())
            .reply(number, accept())
            .done(probe);
    }
    script.finish()
}

/// The same session, of another surface.
fn on(surface: &str, mut recording: Recording) -> Recording {
    recording.header.target.surface = surface.to_owned();
    recording
}

fn names(matrix: &Matrix) -> Vec<String> {
    matrix.cells.iter().map(Cell::name).collect()
}

#[test]
fn a_cell_has_what_its_evidence_says() {
    let matrix = build(&[evidence(&session())], &catalogue());
    assert_eq!(
        names(&matrix),
        [
            "acme@1.0.0/host/a#2025-11-25",
            "acme@1.0.0/host/b#2025-11-25"
        ]
    );
    for cell in &matrix.cells {
        assert_eq!(cell.verdict.kind, Kind::Works, "{cell:?}");
        assert_eq!(cell.revision, Some(Revision::V2025_11_25));
        assert_eq!(cell.recording, "evidence.jsonl");
        assert_eq!(cell.verdict.evidence, cell.outcome.evidence);
    }
    let titles: Vec<&str> = matrix.probes.iter().map(|row| row.title.as_str()).collect();
    assert_eq!(titles, ["title of a", "title of b"]);
    assert_eq!(matrix.decided(), 2);
}

#[test]
fn targets_stand_as_they_come_and_probes_as_the_catalogue_has_them() {
    let mut backwards = session();
    backwards.header.cells.reverse();
    let mut again = on("z", Script::new(&["c"]).finish());
    again.header.note = Some("c alone".to_owned());
    let matrix = build(
        &[on("z", backwards), on("y", session()), again],
        &catalogue(),
    );
    let expect = [
        "z/a#2025-11-25",
        "z/b#2025-11-25",
        // Its handshake did not come so far as to tell a revision.
        "z/c",
        "y/a#2025-11-25",
        "y/b#2025-11-25",
    ]
    .map(|name| format!("acme@1.0.0/{name}"));
    assert_eq!(names(&matrix), expect);
    assert_eq!(matrix.cells[2].recording, "evidence.2.jsonl");
    assert_eq!(matrix.cells[3].recording, "evidence.jsonl");
    assert_eq!(matrix.targets.len(), 2);
    assert_eq!(matrix.targets[0].notes, ["c alone"]);
}

#[test]
fn only_cells_that_rest_on_the_recording_count() {
    let mut recording = session();
    recording.header.cells = vec![id("b"), id("gone from the catalogue"), id("c")];
    assert_eq!(
        names(&build(&[recording], &catalogue())),
        ["acme@1.0.0/host/b#2025-11-25"]
    );
}

#[test]
fn a_control_is_looked_up_in_the_same_session() {
    let no_reply = |probes: &[&str]| {
        let script = Script::new(probes)
            .initialize()
            .call("b")
            .send("b", 2)
            .no_reply("b");
        let matrix = build(&[script.done("b").finish()], &catalogue());
        let cell = matrix
            .cells
            .into_iter()
            .find(|cell| cell.probe == id("b"))
            .unwrap();
        (cell.outcome.kind, cell.verdict.kind)
    };
    let silent = || Came::Silent { after_ms: 500 };
    assert_eq!(no_reply(&["a", "b"]), (silent(), Kind::Unknown));
    let no_control = (silent(), Kind::Unknown);
    assert_eq!(no_reply(&["b"]), no_control, "not taken for a control");
}

#[test]
fn names_asked_are_listed_once() {
    let asked = |name: &str| Event::NameAsked {
        name: name.to_owned(),
    };
    let first = Script::new(&["a"])
        .event(asked("x.example"))
        .event(asked("x.example"));
    let second = Script::new(&["a"])
        .event(asked("w.example"))
        .event(asked("x.example"));
    let matrix = build(&[first.finish(), second.finish()], &catalogue());
    assert_eq!(matrix.targets[0].names_asked, ["x.example", "w.example"]);
}

#[test]
fn a_filtered_matrix_keeps_only_what_its_cells_need() {
    let whole = build(&[on("y", session()), on("z", session())], &catalogue());
    let some = whole.filtered(|cell| cell.surface == "z" && cell.probe == id("b"));
    assert_eq!(names(&some), ["acme@1.0.0/z/b#2025-11-25"]);
    assert_eq!((some.targets.len(), some.probes.len()), (1, 1));
    assert_eq!(whole.filtered(|_| true), whole);
}

#[test]
fn a_matrix_survives_json() {
    let not_reached = on("x", Script::new(&["a", "b"]).finish());
    let whole = build(
        &[evidence(&session()), on("z", session()), not_reached],
        &catalogue(),
    );
    let text = serde_json::to_string(&whole).unwrap();
    let mut found: Matrix = serde_json::from_str(&text).unwrap();
    // The latency is no result.
    for (cell, original) in found.cells.iter_mut().zip(&whole.cells) {
        cell.outcome.latency_us = original.outcome.latency_us;
    }
    assert_eq!(found, whole);
}

proptest! {
    #[test]
    fn any_recordings_have_a_matrix(
        recordings in prop::collection::vec(hostile_recording(), 0..3),
        is_redacted in any::<bool>(),
    ) {
        let recordings = if is_redacted {
            recordings.iter().map(evidence).collect()
        } else {
            recordings
        };
        let mut catalogue = catalogue();
        catalogue[1].invalid.insert(Revision::V2025_11_25, "on purpose".to_owned());
        let matrix = build(&recordings, &catalogue);
        prop_assert_eq!(matrix.cells.len(), 3 * recordings.len());
        if recordings.len() < 2 {
            prop_assert_eq!(compare::changes(&matrix, &matrix, compare::Asked { all_probes: true, revision: None }), []);
        }
    }
}

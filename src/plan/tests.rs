//! Which cells go into which session.

use super::*;
use crate::catalogue::{Action, Answer, Capability};

fn probe(id: &str, control: Option<&str>) -> Probe {
    Probe {
        id: ProbeId(id.to_owned()),
        title: id.to_owned(),
        why: String::new(),
        asks: crate::catalogue::Asks::Request,
        needs: Capability::ElicitationForm,
        revisions: Vec::new(),
        invalid: std::collections::BTreeMap::new(),
        errata: std::collections::BTreeMap::new(),
        norms: Vec::new(),
        way: crate::catalogue::Way::Plain,
        script: None,
        method: String::new(),
        params: String::new(),
        control: control.map(|id| ProbeId(id.to_owned())),
        answer: Answer {
            action: Action::Accept,
            content: None,
        },
    }
}

fn ids(probes: &[Probe]) -> Vec<&str> {
    probes.iter().map(|probe| probe.id.0.as_str()).collect()
}

#[test]
fn controls_come_first_and_once() {
    let catalogue = [
        probe("a", Some("control")),
        probe("b", Some("control")),
        probe("control", None),
        probe("own", None),
    ];
    assert_eq!(
        ids(&with_controls(&[&catalogue[1]], &catalogue)),
        ["control", "b"]
    );
    let all: Vec<&Probe> = catalogue.iter().collect();
    assert_eq!(
        ids(&with_controls(&all, &catalogue)),
        ["control", "own", "a", "b"]
    );
}

#[test]
fn a_break_costs_the_broken_cell_and_the_rest_a_session_each() {
    let session = [
        probe("control", None),
        probe("a", Some("control")),
        probe("b", Some("control")),
    ];
    let id = |text: &str| ProbeId(text.to_owned());
    let batches = after_break(&session, &id("a"), &[id("a"), id("b")]);
    assert_eq!(batches.len(), 2);
    assert_eq!(ids(&batches[0].probes), ["control", "a"]);
    assert_eq!(batches[0].alone_for, Some(id("a")));
    assert_eq!(ids(&batches[1].probes), ["control", "b"]);
    let last = after_break(&session, &id("b"), &[id("b")]);
    assert_eq!(last.len(), 1);
    let of_control = after_break(&session, &id("control"), &[id("control"), id("a"), id("b")]);
    assert_eq!(ids(&of_control[0].probes), ["control"]);
    assert_eq!(ids(&of_control[1].probes), ["control", "a", "b"]);
}

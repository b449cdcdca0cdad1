//! Which cells go into which session.

use super::*;
use crate::catalogue::script::{Fault, Reply, Script, Then};
use crate::catalogue::{Action, Answer, Capability};
use crate::clients::{DriverKind, Modern, Source};
use crate::names::TransportKind;

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

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

/// A client of both eras, the modern one from version 2.0.0 on.
fn target(version: &str, transport: TransportKind, handshakes: bool) -> PlannedTarget {
    let surface = Surface {
        title: "x".to_owned(),
        driver: DriverKind::HostLines,
        presents: true,
        handshakes,
        transport,
        args: Vec::new(),
        env: std::collections::BTreeMap::new(),
    };
    let client = Client {
        format: 1,
        id: "tool".to_owned(),
        title: "Tool".to_owned(),
        pinned: version.to_owned(),
        source: Source::Builtin { args: Vec::new() },
        env: std::collections::BTreeMap::new(),
        files: std::collections::BTreeMap::new(),
        model: None,
        revisions: vec![LEGACY, MODERN],
        modern: Some(Modern {
            since: Some("2.0.0".to_owned()),
            args: Vec::new(),
            env: std::collections::BTreeMap::new(),
        }),
        transports: std::collections::BTreeMap::new(),
        surfaces: std::collections::BTreeMap::new(),
    };
    let target = Target {
        client: client.id.clone(),
        version: version.to_owned(),
        surface: "host".to_owned(),
    };
    PlannedTarget {
        target,
        client,
        surface,
    }
}

fn in_revisions(id: &str, revisions: &[Revision]) -> Probe {
    Probe {
        revisions: revisions.to_vec(),
        ..probe(id, None)
    }
}

fn scripted(id: &str, revision: Revision, reply: Reply) -> Probe {
    Probe {
        script: Some(Script {
            reply,
            then: vec![Then::GoesOn],
            starts_after_ms: 0,
            over: None,
        }),
        ..in_revisions(id, &[revision])
    }
}

/// The sessions as `revision: probes`, and what is left out as `probe#revision: reason`.
fn check(target: PlannedTarget, only: Option<Revision>, sessions: &[&str], left_out: &[&str]) {
    let catalogue = [
        in_revisions("both", &[LEGACY, MODERN]),
        in_revisions("old", &[LEGACY]),
        scripted("exits", LEGACY, Reply::Exit),
        scripted("gone", LEGACY, Reply::Http(Fault::NotFound)),
        scripted("usual", MODERN, Reply::Usual),
    ];
    let selected: Vec<&Probe> = catalogue.iter().collect();
    let plan = plan(vec![target], &selected, &catalogue, only);
    let shown = plan.sessions.iter().map(|session| {
        let ids = ids(&session.probes).join(" ");
        format!("{}: {ids}", session.revision)
    });
    assert_eq!(shown.collect::<Vec<_>>(), sessions);
    let left = plan.left_out.iter().map(|left| {
        let reason = left.reason.split(' ').take(4).collect::<Vec<_>>().join(" ");
        format!("{}#{}: {reason}", left.probe, left.revision)
    });
    assert_eq!(left.collect::<Vec<_>>(), left_out);
}

#[test]
fn a_session_is_of_one_revision_and_a_script_has_one_for_itself() {
    check(
        target("2.0.0", TransportKind::Stdio, true),
        None,
        &[
            "2025-11-25: both old",
            "2026-07-28: both",
            "2025-11-25: exits",
            "2026-07-28: usual",
        ],
        &["gone#2025-11-25: it is about another"],
    );
    check(
        target("2.0.0", TransportKind::Http, true),
        Some(LEGACY),
        &["2025-11-25: both old", "2025-11-25: gone"],
        &[
            "both#2026-07-28: not selected by --revision",
            "exits#2025-11-25: it is about another",
            "usual#2026-07-28: not selected by --revision",
        ],
    );
    check(
        target("1.9.0", TransportKind::Stdio, false),
        None,
        &["2025-11-25: both old"],
        &[
            "both#2026-07-28: the client file does",
            "exits#2025-11-25: handshakes are asked about",
            "gone#2025-11-25: it is about another",
            "usual#2026-07-28: the client file does",
        ],
    );
}

//! The committed probes against the rules: a probe says of itself what `spec::check` says of its request.

use std::path::Path;

use capmatrix::catalogue::{self, Probe};
use capmatrix::names::Revision;
use capmatrix::recording::Dir;
use capmatrix::spec::{self, Message, Strength};
use serde_json::{Value, json};

/// Those that send a request. What a handshake is answered with is often no message of its revision, on purpose.
fn probes() -> Vec<Probe> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("probes");
    let mut probes = catalogue::load::load(&folder).expect("the catalogue loads");
    probes.retain(|probe| probe.script.is_none());
    probes
}

/// The message that carries the probe's request in that revision, and the method that it answers.
fn message(probe: &Probe, revision: Revision) -> (Value, Option<&'static str>) {
    let request = json!({"method": probe.method, "params": probe.params_value()});
    if revision.is_legacy() {
        let mut message = json!({"jsonrpc": "2.0", "id": 1});
        message["method"] = request["method"].clone();
        message["params"] = request["params"].clone();
        return (message, None);
    }
    let result = json!({"resultType": "input_required", "inputRequests": {"p": request}});
    (
        json!({"jsonrpc": "2.0", "id": 1, "result": result}),
        Some("tools/call"),
    )
}

#[test]
fn a_probe_is_valid_where_it_says_so_and_nowhere_else() {
    let mut checked = 0;
    for probe in probes() {
        for revision in &probe.revisions {
            checked += 1;
            let (value, answers) = message(&probe, *revision);
            let message = Message {
                value: &value,
                answers,
                inputs: None,
            };
            let found = spec::check(*revision, Dir::ServerToClient, &message);
            let place = format!("{} in {revision}: {found:?}", probe.id);
            match probe.validity(*revision) {
                Ok(()) => assert!(found.is_empty(), "says that it is valid: {place}"),
                // A rule in prose is broken without the schema's knowing.
                Err(_) if is_prose(&probe, *revision) => {}
                Err(_) => assert!(!found.is_empty(), "says that it is invalid: {place}"),
            }
        }
    }
    assert!(checked > 100, "only {checked} requests");
}

fn is_prose(probe: &Probe, revision: Revision) -> bool {
    probe
        .norm(revision)
        .is_some_and(|norm| norm.keyword != Strength::Schema)
}

/// What the driver answers to a valid request must be a valid answer, or a client would be blamed for passing it on.
#[test]
fn answers_to_valid_requests_are_valid() {
    for probe in probes() {
        for revision in probe
            .revisions
            .iter()
            .filter(|revision| revision.is_legacy())
        {
            if probe.validity(*revision).is_err() {
                continue;
            }
            let value = json!({"jsonrpc": "2.0", "id": 1, "result": probe.answer.to_value()});
            let message = Message {
                value: &value,
                answers: Some(&probe.method),
                inputs: None,
            };
            let found = spec::check(*revision, Dir::ClientToServer, &message);
            assert!(found.is_empty(), "{} in {revision}: {found:?}", probe.id);
        }
    }
}

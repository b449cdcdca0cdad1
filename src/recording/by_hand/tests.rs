//! What becomes of the parts that a probe server left which a person had added to a client.

use std::fs;

use serde_json::json;

use super::*;
use crate::testing::{Script, id, request};

/// The lines of a probe server that `client` spoke to, and that asked `probes`.
fn part(client: &Value, probes: &[&str]) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "clientInfo": client});
    let mut script = Script::new(&[]).client(request(json!(0), "initialize", &params));
    for (probe, number) in probes.iter().zip(1..) {
        script = script.call(probe).send(probe, number).done(probe);
    }
    let mut recording = script.finish();
    recording.entries.retain(|entry| entry.source != "session");
    let line = |entry| serde_json::to_string(entry).unwrap() + "\n";
    recording.entries.iter().map(line).collect()
}

fn acme() -> Value {
    json!({"name": "acme", "version": "1.0.0"})
}

/// Each recording that is loaded of `parts` (in the order of their names): its target, and its cells.
fn loaded(parts: &[String]) -> Vec<(String, Vec<ProbeId>)> {
    let dir = tempfile::tempdir().unwrap();
    for (number, text) in parts.iter().enumerate() {
        fs::write(dir.path().join(format!("server-{number:03}.jsonl")), text).unwrap();
    }
    let found = load(dir.path(), &["a", "b", "c"].map(id)).unwrap();
    let header = |recording: Recording| recording.header;
    let headers = found.into_iter().map(header);
    headers
        .map(|header| (header.target.to_string(), header.cells))
        .collect()
}

#[test]
fn a_probe_counts_as_it_was_asked_last() {
    let check = |parts: &[&[&str]], expect: &[&[&str]]| {
        let parts: Vec<String> = parts.iter().map(|probes| part(&acme(), probes)).collect();
        let cells: Vec<Vec<ProbeId>> = loaded(&parts).into_iter().map(|(_, cells)| cells).collect();
        let expect: Vec<Vec<ProbeId>> = expect
            .iter()
            .map(|probes| probes.iter().copied().map(id).collect())
            .collect();
        assert_eq!(cells, expect);
    };
    check(&[], &[]);
    check(&[&["b", "a"]], &[&["a", "b"]]);
    check(&[&["a", "b"], &["b", "c"]], &[&["a"], &["b", "c"]]);
    check(&[&["a"], &["b"], &["a"]], &[&[], &["b"], &["a"]]);
    check(&[&["a"], &[]], &[&["a"], &[]]);
    check(&[&["a", "stranger"], &["a"]], &[&[], &["a"]]);
}

#[test]
fn each_target_has_cells_of_its_own() {
    let other = json!({"name": "acme", "version": "2"});
    let parts = [part(&acme(), &["a"]), part(&other, &["a"]), String::new()];
    let expect = [
        ("acme@1.0.0/by-hand".to_owned(), vec![id("a")]),
        ("acme@2/by-hand".to_owned(), vec![id("a")]),
    ];
    assert_eq!(loaded(&parts), expect);
}

#[test]
fn a_clients_word_for_itself_is_made_plain() {
    let check = |info: Value, expect: &str| {
        assert_eq!(loaded(&[part(&info, &[])])[0].0, expect, "{info}");
    };
    check(
        json!({"name": "../a b/é", "version": ".."}),
        "..-a-b--@unknown/by-hand",
    );
    check(json!({"name": 7}), "unknown@unknown/by-hand");
    check(Value::Null, "unknown@unknown/by-hand");
}

#[test]
fn who_asks_and_answers_is_a_person() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("server-1.jsonl"), part(&acme(), &["a"])).unwrap();
    let found = load(dir.path(), &[id("a")]).unwrap().remove(0);
    assert_eq!(found.header.asked_by, AskedBy::Host);
    assert_eq!(found.header.answered_by, AnsweredBy::Person);
    assert_eq!(found.end, Some(End::ClientGone));
    assert!(load(&dir.path().join("no"), &[]).is_err());
}

//! The self-test as a whole: every fake is judged as it must be, and really does what it is judged for.
//!
//! What a fake writes is tested beside its table; here is what only a process can show: the order of things, and how it ends.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use capmatrix::recording::{Dir, Event, Recording, read};
use serde_json::Value;

/// A project folder with the real probes.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for name in ["probes", "clients"] {
        symlink(root.join(name), dir.path().join(name)).expect("a link");
    }
    dir
}

fn self_test(root: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_capmatrix"))
        .arg("--root")
        .arg(root)
        .arg("self-test")
        .args(args)
        .env_remove("CAPMATRIX_ROOT")
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .expect("capmatrix starts")
}

#[test]
fn each_fake_gets_the_judgement_that_it_must_get() {
    let project = project();
    let output = self_test(project.path(), &["--format", "json", "--jobs", "8"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let behaviours = value["behaviours"].as_array().expect("behaviours");
    let wrong: Vec<String> = behaviours
        .iter()
        .filter(|behaviour| !is_judged_as_expected(behaviour))
        .map(|behaviour| format!("{behaviour:#}"))
        .collect();
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    assert_eq!(value["misjudged"], 0);
    assert!(output.status.success(), "{:?}", output.status);
    let allowed = behaviours.iter().filter(|b| b["class"] == "allowed");
    let allowed = allowed.count();
    assert!(allowed >= 20, "{allowed}");
    assert!(behaviours.len() - allowed >= 60, "{}", behaviours.len());
    let counts = value["confusion"].as_array().expect("counts");
    let sum: u64 = counts.iter().filter_map(|c| c["count"].as_u64()).sum();
    assert_eq!(sum, behaviours.len() as u64);
}

/// By the parts that are printed, not by what the program itself says of them.
fn is_judged_as_expected(behaviour: &Value) -> bool {
    let is_cell_right = ["", "_blame", "_strength"]
        .iter()
        .all(|what| behaviour[format!("expected{what}")] == behaviour[format!("given{what}")]);
    let expected: Vec<&Value> = match &behaviour["expected_finding"] {
        Value::Null => Vec::new(),
        finding => vec![finding],
    };
    let given = behaviour["given_findings"].as_array().expect("findings");
    is_cell_right && given.iter().eq(expected)
}

/// What happened from the subject's request on, in a word each. That the host heard of the call's return is left out: it
/// is recorded by another process than what the client wrote to the server just before; so is the client's end, which
/// stands last here.
fn course(recording: &Recording) -> Vec<String> {
    let subject = recording.header.probes.last().expect("a subject");
    let is_request =
        |event: &Event| matches!(event, Event::Mcp { probe: Some(probe), .. } if probe == subject);
    let events = recording.entries.iter().map(|entry| &entry.event);
    let words = events
        .skip_while(|event| !is_request(event))
        .filter_map(|event| {
            let word = match event {
                Event::Mcp {
                    dir: Dir::ClientToServer,
                    ..
                } => "line",
                Event::Presented { .. } => "presented",
                Event::AnswerGiven { .. } => "answered",
                Event::NoReply { .. } => "given up",
                Event::Exit {
                    code: Some(code), ..
                } => return Some(format!("exit {code}")),
                Event::Exit {
                    signal: Some(signal),
                    ..
                } => return Some(format!("signal {signal}")),
                _ => return None,
            };
            Some(word.to_owned())
        });
    let (ends, before): (Vec<String>, Vec<String>) =
        words.partition(|word| word.starts_with("exit ") || word.starts_with("signal "));
    before.into_iter().chain(ends).collect()
}

#[test]
fn what_depends_on_an_order_or_an_end_happens_in_that_order_and_ends_so() {
    let project = project();
    let check = |name: &str, expect: &[&str]| {
        self_test(project.path(), &[name]);
        let sessions = project.path().join("runs/self-test/sessions");
        let mut seen = 0;
        for session in std::fs::read_dir(sessions).expect("sessions").flatten() {
            // A name may begin with another one.
            let folder = session.file_name().to_string_lossy().into_owned();
            let behaviour = folder.splitn(3, '-').nth(2).unwrap_or_default();
            let behaviour = behaviour.trim_end_matches("-2");
            let revisions = ["-2025-11-25", "-2026-07-28"].iter();
            let plain = revisions.fold(behaviour, |left, end| left.trim_end_matches(end));
            if plain != name {
                continue;
            }
            let recording = read::load(&session.path().join("recording.jsonl"));
            let recording = recording.expect("a recording");
            assert_eq!(course(&recording), expect, "{folder}");
            seen += 1;
        }
        assert!(seen > 0, "{name} left no session");
    };
    check("behaves", &["presented", "answered", "line", "exit 0"]);
    for name in [
        "accepts-before-the-answer",
        "declines-before-the-answer",
        "cancels-before-the-answer",
    ] {
        check(name, &["line", "presented", "answered", "exit 0"]);
    }
    check(
        "answers-after-the-deadline",
        &["presented", "answered", "given up", "line", "exit 0"],
    );
    for name in ["changes-its-mind", "repeats-its-reply-later"] {
        check(name, &["presented", "answered", "line", "line", "exit 0"]);
    }
    check("never-answers", &["given up", "exit 0"]);
    check("closes-the-channel", &["exit 0"]);
    check("exits-midway", &["exit 7"]);
    check("exits-midway-as-if-done", &["exit 0"]);
    check("aborts", &["signal 6"]);
    check("is-killed", &["signal 9"]);
    check("is-terminated", &["signal 15"]);
    check("exits-once-answered", &["presented", "answered", "exit 1"]);
    check(
        "exits-in-mid-reply",
        &["presented", "answered", "line", "exit 1"],
    );
}

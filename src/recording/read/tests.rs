//! Reading what was written, whole or cut off, in one file or in parts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::recording::{Dir, Wire};
use crate::testing::{Script, form, header, hostile_recording};

/// Loads a file of that text.
fn load_text(text: &[u8]) -> Result<Recording, ReadError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl");
    fs::write(&path, text).unwrap();
    load(&path)
}

/// The message of a file that cannot be read, without its folder.
fn refused(text: &str) -> String {
    let message = load_text(text.as_bytes()).expect_err(text).to_string();
    message[message.find("session.jsonl").expect("it names the file")..].to_owned()
}

fn sample() -> Recording {
    let script = Script::new(&["a"]).initialize().call("a").send("a", 1);
    let script = script
        .client(b"\xff\0\n")
        .client("")
        .client("é\u{2028}\"\\");
    let script = script
        .presented("a", form())
        .answer("a", json!({"action": "cancel", "content": null}));
    script.done("a").exit(None, Some(9)).finish()
}

#[test]
fn what_is_saved_is_loaded() {
    let check = |recording: Recording| {
        assert_eq!(
            load_text(to_text(&recording).as_bytes()).unwrap(),
            recording
        );
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl");
        save(&recording, &path).unwrap();
        save(&recording, &path).unwrap();
        assert_eq!(load(&path).unwrap(), recording);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    };
    check(sample());
    check(Recording {
        end: None,
        ..sample()
    });
    check(Recording {
        entries: Vec::new(),
        ..sample()
    });
}

#[test]
fn every_number_survives() {
    for text in [
        "0.1",
        "1e300",
        "-0.0",
        "18446744073709551615",
        "-9223372036854775808",
        "95.5",
    ] {
        let params: Value = serde_json::from_str(text).unwrap();
        let recording = Script::new(&["a"]).presented("a", params).finish();
        assert_eq!(
            load_text(to_text(&recording).as_bytes()).unwrap(),
            recording,
            "{text}"
        );
    }
}

#[test]
fn a_recording_that_is_cut_off_is_read_as_far_as_it_goes() {
    let whole = to_text(&sample());
    let without_footer = Recording {
        end: None,
        ..sample()
    };
    // The footer is the last line; any cut inside it loses just that.
    let footer = whole.trim_end().rfind('\n').unwrap() + 1;
    for cut in footer..whole.len() {
        assert_eq!(
            load_text(&whole.as_bytes()[..cut]).unwrap(),
            without_footer,
            "{cut}"
        );
    }
    assert_eq!(
        load_text(format!("{whole}{{\"t_us\":").as_bytes()).unwrap(),
        sample()
    );
    assert_eq!(
        refused(""),
        "session.jsonl:1:1: expected a header as the first line"
    );
    let header = whole.find('\n').unwrap();
    assert_eq!(
        refused(&whole[..header]),
        "session.jsonl:1:1: expected a header as the first line"
    );
}

#[test]
fn a_broken_line_is_named() {
    let whole = to_text(&sample());
    let lines: Vec<&str> = whole.lines().collect();
    let with_third = |line: &str| {
        let mut lines = lines.clone();
        lines[2] = line;
        refused(&(lines.join("\n") + "\n"))
    };
    let check = |line: &str, expect: &str| {
        let found = with_third(line);
        assert!(found.starts_with(expect), "{line}: {found}");
    };
    check(
        "{\"event\":",
        "session.jsonl:3:9: expected an entry of a recording: EOF",
    );
    check(
        "",
        "session.jsonl:3:0: expected an entry of a recording: EOF",
    );
    check(
        "nonsense",
        "session.jsonl:3:2: expected an entry of a recording: expected ident",
    );
    check(r#"{"event":"no_such_event"}"#, "session.jsonl:3:");
    check(
        r#"{"event":{"stdout":{"line":{"hex":"f"}}}}"#,
        "session.jsonl:3:",
    );
    check(
        r#"{"event":{"stdout":{"line":{"hex":"gg"}}}}"#,
        "session.jsonl:3:",
    );
    check(
        r#"{"event":{"stdout":{"line":{"text":""}}}}"#,
        "session.jsonl:3:",
    );
    check(r#"{"event":{"stdout":{"line":7}}}"#, "session.jsonl:3:");
    assert!(load_text(b"\xff\n").is_err());
}

#[test]
fn other_files_are_refused() {
    let mut other = sample();
    other.header.format = FORMAT + 1;
    assert_eq!(
        refused(&to_text(&other)),
        format!(
            "session.jsonl:1:1: format {}, but this capmatrix reads format {FORMAT}",
            FORMAT + 1
        ),
    );
    let whole = to_text(&sample());
    let (_, headless) = whole.split_once('\n').unwrap();
    assert_eq!(
        refused(headless),
        "session.jsonl:1:1: expected a header as the first line"
    );
    let missing = load(Path::new("/nonexistent/x.jsonl"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("cannot read /nonexistent/x.jsonl"),
        "{missing}"
    );
}

fn entry(t_us: u64, source: &str, line: &str) -> Entry {
    Entry {
        t_us,
        source: source.to_owned(),
        event: Event::Mcp {
            dir: Dir::ClientToServer,
            line: Wire::text(line),
            head: None,
            probe: None,
        },
    }
}

#[test]
fn parts_are_merged_by_time() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(dir.path().join(name), text).unwrap();
    let lines = |entries: &[Entry]| -> String {
        let line = |entry| serde_json::to_string(entry).unwrap() + "\n";
        entries.iter().map(line).collect()
    };
    let session = Recording {
        header: header(&["a"]),
        entries: vec![entry(10, "session", "s1"), entry(50, "session", "s2")],
        end: Some(End::Finished),
    };
    write("session.jsonl", to_text(&session));
    // Names end in the start time; what the parts call themselves does not count.
    write(
        "server-0200.jsonl",
        lines(&[entry(20, "server", "late1"), entry(70, "server", "late2")]),
    );
    write(
        "server-0100.jsonl",
        lines(&[entry(20, "server", "early1"), entry(20, "server", "early2")]) + "{\"cut",
    );
    write("server-0300.txt", "no part".to_owned());
    let merged = merge(dir.path(), "session.jsonl").unwrap();
    let expect = [
        entry(10, "session", "s1"),
        entry(20, "server-1", "early1"),
        entry(20, "server-1", "early2"),
        entry(20, "server-2", "late1"),
        entry(50, "session", "s2"),
        entry(70, "server-2", "late2"),
    ];
    assert_eq!(merged.entries, expect);
    assert_eq!(
        (merged.header, merged.end),
        (session.header, Some(End::Finished))
    );
    write("server-0050.jsonl", "broken\n".to_owned());
    let message = merge(dir.path(), "session.jsonl").unwrap_err().to_string();
    assert!(message.contains("server-0050.jsonl:1:1: "), "{message}");
    assert!(merge(dir.path(), "no.jsonl").is_err());
    assert!(merge(&dir.path().join("no"), "session.jsonl").is_err());
}

#[test]
fn what_was_presented_can_be_too_deep_to_read_back() {
    let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let check = |levels: usize, expect: bool| {
        let recording = Script::new(&["a"]).presented("a", deep(levels)).finish();
        assert_eq!(
            load_text(to_text(&recording).as_bytes()).is_ok(),
            expect,
            "{levels}"
        );
    };
    check(120, true);
    // A client may write up to 127 levels. Drivers record no more than 100 of what it presents, for this reason.
    check(126, false);
}

proptest! {
    #[test]
    fn any_recording_is_loaded_as_it_was(recording in hostile_recording()) {
        let mut expect = recording;
        // A footer counts wherever it stands: the format has one.
        let footers = |entry: &Entry| matches!(entry.event, Event::Footer { .. });
        expect.entries.retain(|entry| !footers(entry));
        let found = load_text(to_text(&expect).as_bytes()).unwrap();
        prop_assert_eq!(found, expect);
    }
}

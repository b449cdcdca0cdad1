//! The main path with the real, published clients, installed through npm if they are not in the cache.
//!
//! A client that cannot be had fails these tests, and the failure says why: nothing here is skipped.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Every target that has a snapshot: the pinned ones, and the version in which a fault was first seen.
const TARGETS: [&str; 4] = ["claude-code", "codex", "codex@0.142.4", "reference"];

fn capmatrix(args: &[&str], out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_capmatrix"))
        .args(args)
        .arg("--out")
        .arg(out)
        .output()
        .expect("capmatrix starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run_all(out: &Path) -> Vec<u8> {
    let mut args = vec!["run", "--format", "json"];
    args.extend(TARGETS);
    let output = capmatrix(&args, out);
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stderr),
        text(&output.stdout)
    );
    output.stdout
}

fn text_of<'a>(cell: &'a Value, member: &str) -> &'a str {
    cell[member].as_str().unwrap_or_default()
}

/// The verdict kind and blame of one cell.
fn verdict(
    results: &Value,
    client: &str,
    version: &str,
    surface: &str,
    probe: &str,
) -> (String, String) {
    let cells = results["cells"].as_array().expect("cells");
    let cell = cells
        .iter()
        .find(|cell| {
            cell["client"] == client
                && cell["version"] == version
                && cell["surface"] == surface
                && cell["probe"] == probe
                && cell["revision"] == "2025-11-25"
        })
        .unwrap_or_else(|| panic!("no cell {client}@{version}/{surface}/{probe}"));
    let word = |name: &str| {
        cell["verdict"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (word("kind"), word("blame"))
}

#[test]
fn real_clients_give_the_whole_matrix_the_same_in_every_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = run_all(&dir.path().join("1"));
    let results: Value = serde_json::from_slice(&first).expect("JSON");
    let cells = results["cells"].as_array().expect("cells");
    let targets: BTreeSet<String> = cells
        .iter()
        .map(|c| format!("{}@{}/{}", c["client"], c["version"], c["surface"]))
        .collect();
    assert_eq!(targets.len(), 11, "{targets:?}");
    // The main surfaces are asked over both transports, in both eras, and about handshakes.
    for main in [
        "claude-code@2.1.332/stream-json",
        "claude-code@2.1.332/stream-json-http",
        "codex@0.171.0/app-server",
        "codex@0.171.0/app-server-http",
    ] {
        let name = |c: &&Value| {
            format!(
                "{}@{}/{}",
                text_of(c, "client"),
                text_of(c, "version"),
                text_of(c, "surface")
            )
        };
        let of_main: Vec<&Value> = cells.iter().filter(|cell| name(cell) == main).collect();
        assert!(of_main.len() >= 120, "{} of {main}", of_main.len());
        let revisions: BTreeSet<&str> = of_main
            .iter()
            .map(|cell| text_of(cell, "revision"))
            .collect();
        for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            assert!(revisions.contains(revision), "{main} not in {revision}");
        }
    }
    let decided = cells
        .iter()
        .filter(|c| c["verdict"]["kind"] != "unknown" && c["verdict"]["kind"] != "harness_fault")
        .count();
    assert!(
        decided * 100 >= cells.len() * 95,
        "{decided} of {} decided",
        cells.len()
    );

    // The seed case: titled and described forms are told apart where the client shows forms at all.
    for version in ["0.142.4", "0.171.0"] {
        let of = |surface: &str, name: &str| {
            verdict(
                &results,
                "codex",
                version,
                surface,
                &format!("elicitation/form/{name}"),
            )
        };
        assert_eq!(of("app-server", "bare").0, "works");
        for name in ["top-level-title", "top-level-description"] {
            assert_ne!(
                of("app-server", name),
                of("app-server", "bare"),
                "{version} {name}"
            );
            assert_eq!(of("exec", name).1, "nobody", "{version} {name}");
        }
    }

    let second = run_all(&dir.path().join("2"));
    let third = run_all(&dir.path().join("3"));
    for number in ["2", "3"] {
        assert_same_tree(
            &dir.path().join("1/evidence"),
            &dir.path().join(number).join("evidence"),
        );
    }
    assert!(
        first == second && second == third,
        "three runs gave different results"
    );

    let mut args = vec!["check"];
    args.extend(TARGETS);
    let output = capmatrix(&args, &dir.path().join("check"));
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

#[test]
fn show_prints_the_bytes_behind_a_cell() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("run");
    let output = capmatrix(
        &[
            "run",
            "codex",
            "--probe",
            "elicitation/form/top-level-title",
        ],
        &out,
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let show = |cell: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_capmatrix"))
            .args(["show", cell, "--run"])
            .arg(&out)
            .output()
            .expect("capmatrix starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let shown = show("codex/app-server/elicitation/form/top-level-title#2025-11-25");
    for part in [
        r#""requestedSchema":{"type":"object","properties":{"value":{"type":"string"}},"required":["value"],"title":"ScalarElicitationType"}"#,
        r#""result":{"action":"#,
        "stderr  ",
        "host driver -> client",
    ] {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
    let shown = show("codex/exec/elicitation/form/top-level-title#2025-11-25");
    for part in [
        "model request  POST /v1/responses",
        "the scripted model calls the tool",
        "the model is given",
    ] {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
}

fn assert_same_tree(a: &Path, b: &Path) {
    let list = |dir: &Path| {
        let mut files: Vec<_> = walk(dir)
            .iter()
            .map(|f| f.strip_prefix(dir).expect("below").to_owned())
            .collect();
        files.sort();
        files
    };
    assert_eq!(list(a), list(b));
    for file in list(a) {
        let read = |dir: &Path| std::fs::read_to_string(dir.join(&file)).expect("evidence");
        let (one, other) = (read(a), read(b));
        let differs = (one.lines().chain([""]).zip(other.lines().chain([""])))
            .find(|(one, other)| one != other);
        let cut = |line: &str| line.chars().take(300).collect::<String>();
        let differs = differs.map(|(one, other)| format!("{}\n{}", cut(one), cut(other)));
        assert_eq!(differs, None, "{} differs between two runs", file.display());
    }
}

fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

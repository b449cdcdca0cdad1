//! Every committed recording is judged again, with no client installed: a change of judgement shows as a diff.
//!
//! To take a new state on purpose: `scripts/accept`, then read the diff.

use std::fs;
use std::path::{Path, PathBuf};

use capmatrix::catalogue::{self, Probe};
use capmatrix::recording::Recording;
use capmatrix::verdict::{Kind, Verdict};
use capmatrix::{commands, matrix, recording, render};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn load_catalogue() -> Vec<Probe> {
    catalogue::load::load(&root().join("probes")).expect("the catalogue loads")
}

fn all_evidence() -> Vec<Recording> {
    commands::evidence_below(&root().join("snapshots")).expect("the evidence loads")
}

/// A verdict in one line, without the lines of evidence, which move when a probe is added.
fn in_words(place: &str, verdict: &Verdict) -> String {
    let (kind, blame) = (verdict.kind.name(), verdict.blame.name());
    let rule = match (verdict.strength, &verdict.clause) {
        (Some(strength), Some(clause)) => format!("  [{} {clause}]", strength.name()),
        _ => String::new(),
    };
    format!("{place}  {kind}  {blame}  {}{rule}", verdict.reason)
}

#[test]
fn every_recording_gives_its_committed_verdicts() {
    let catalogue = load_catalogue();
    let mut seen = 0;
    insta::glob!("../snapshots", "*/*/*/evidence*.jsonl", |path| {
        seen += 1;
        let evidence = recording::read::load(path).expect("evidence");
        let matrix = matrix::build(std::slice::from_ref(&evidence), &catalogue);
        let cells = matrix
            .cells
            .iter()
            .map(|cell| in_words(&cell.probe.0, &cell.verdict));
        let findings = matrix.targets.iter().flat_map(|facts| &facts.findings);
        let findings = findings.map(|finding| in_words("beside the probes", &finding.verdict));
        let lines: Vec<String> = cells.chain(findings).collect();
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or("evidence");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(path.parent().expect("a folder"));
        settings.set_prepend_module_to_snapshot(false);
        settings.remove_snapshot_suffix();
        settings.remove_input_file();
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("{stem}-verdicts"), lines.join("\n")));
    });
    assert!(
        seen >= 7,
        "only {seen} committed recordings: pinned targets are missing"
    );
}

#[test]
fn results_files_say_what_the_evidence_says() {
    let catalogue = load_catalogue();
    let evidence = all_evidence();
    let whole = matrix::build(&evidence, &catalogue);
    assert!(!whole.targets.is_empty());
    for facts in &whole.targets {
        let target = facts.target();
        let path = root()
            .join("snapshots")
            .join(&target.client)
            .join(&target.version)
            .join(&target.surface)
            .join("results.json");
        let own = whole.filtered(|cell| cell.target() == target);
        assert_same_file(&path, &render::json::render(&own));
    }
}

/// What somebody publishes needs the rule, how strong it is, the lines and the reason.
#[test]
fn what_is_broken_or_lenient_carries_its_rule() {
    let whole = matrix::build(&all_evidence(), &load_catalogue());
    let results = serde_json::to_value(&whole).expect("JSON");
    let cells = results["cells"].as_array().expect("cells");
    let mut seen = 0;
    for (cell, value) in whole.cells.iter().zip(cells) {
        let rests_on_a_rule = [Kind::Violates, Kind::Breaks, Kind::Lenient];
        if !rests_on_a_rule.contains(&cell.verdict.kind) {
            continue;
        }
        seen += 1;
        let verdict = &value["verdict"];
        let name = cell.name();
        let clause = verdict["clause"].as_str().expect(&name);
        let revision = cell.revision.expect(&name).as_str();
        assert!(
            clause.starts_with(&format!("{revision} ")),
            "{name}: {clause}"
        );
        assert!(verdict["strength"].is_string(), "{name}");
        assert!(
            verdict["reason"]
                .as_str()
                .is_some_and(|reason| !reason.is_empty()),
            "{name}"
        );
        assert!(
            verdict["evidence"]
                .as_array()
                .is_some_and(|lines| !lines.is_empty()),
            "{name}"
        );
    }
    assert!(seen > 20, "only {seen} such cells");
}

#[test]
fn the_generated_pages_are_true() {
    let whole = matrix::build(&all_evidence(), &load_catalogue());
    assert_same_file(
        &root().join("snapshots/MATRIX.md"),
        &commands::matrix_page(&whole),
    );
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let expected = commands::with_short_matrix(&readme, &whole).expect("a place for the matrix");
    assert_same_file(&path, &expected);
}

#[test]
fn evidence_is_redacted_and_carries_no_prompt() {
    for recording in all_evidence() {
        let target = recording.header.target.to_string();
        assert_eq!(
            recording::redact::evidence(&recording),
            recording,
            "{target} is not redacted"
        );
        let text = recording::read::to_text(&recording);
        // What only a client's own prompt or this machine could have put there.
        for word in [
            "You are ",
            "/root",
            "/home/",
            "/tmp/",
            "api_key",
            "system-reminder",
        ] {
            assert!(
                !text.contains(word),
                "{target}: `{word}` in committed evidence"
            );
        }
    }
}

fn assert_same_file(path: &Path, expected: &str) {
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == expected,
        "{} is not what the evidence gives; run scripts/accept and read the diff",
        path.display()
    );
}

//! Bad probe files, each with the error that a person sees.

use std::fs;

use super::*;

const GOOD: &str = r#"format = 1
title = "Bare"
why = "The control."
needs = "elicitation.form"
revisions = ["2025-06-18", "2025-11-25"]
method = "elicitation/create"
params = '''
{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}
'''

[answer]
action = "accept"
content = '{"value":"hello"}'
"#;

/// Loads `files` as a catalogue.
fn load_files(files: &[(&str, &str)]) -> Result<Vec<Probe>, String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let folder = format!("{}/", dir.path().display());
    load(dir.path()).map_err(|problems| problems.to_string().replace(&folder, ""))
}

#[test]
fn a_good_file_keeps_its_bytes() {
    let probes = load_files(&[("a/bare.toml", GOOD)]).unwrap();
    assert_eq!(probes[0].id.0, "a/bare");
    assert!(
        probes[0].params.starts_with(r#"{"mode":"form","message""#)
            && probes[0].params.ends_with('}')
    );
    assert_eq!(
        probes[0].answer.content,
        Some(serde_json::json!({"value": "hello"}))
    );
}

#[test]
fn each_fault_is_named_with_its_place() {
    let check = |from: &str, to: &str, expect: &str| {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "`{from}` is not in the file");
        let error = load_files(&[("a/bare.toml", &text)]).expect_err(to);
        assert!(
            error.starts_with(expect),
            "expected: {expect}\ngot:      {error}"
        );
    };
    check(
        "title",
        "titel",
        "a/bare.toml:2:1: unknown field `titel`, expected one of",
    );
    check(
        "title = \"Bare\"\n",
        "",
        "a/bare.toml:1:1: missing field `title`",
    );
    check(
        "format = 1",
        "format = 2",
        "a/bare.toml:1:10: this capmatrix reads format 1",
    );
    check(
        "format = 1",
        "format = \"1\"",
        "a/bare.toml:1:10: invalid type: string \"1\", expected u32",
    );
    check("format = 1", "format = ", "a/bare.toml:1:10: ");
    check("\"Bare\"", "\"\"", "a/bare.toml:2:9: title is empty");
    check(
        "\"Bare\"",
        &format!("\"{}\"", "x".repeat(61)),
        "a/bare.toml:2:9: the title is a row's label",
    );
    check("The control.", " ", "a/bare.toml:3:7: why is empty");
    check(
        "elicitation.form",
        "elicitation.voice",
        "a/bare.toml:4:9: unknown variant `elicitation.voice`, expected",
    );
    check(
        "2025-11-25",
        "2025-11-26",
        "a/bare.toml:5:28: unknown variant `2025-11-26`, expected one of",
    );
    check(
        "2025-11-25",
        "2025-06-18",
        "a/bare.toml:5:13: revision 2025-06-18 is listed twice",
    );
    check(
        "2025-11-25",
        "2024-11-05",
        "a/bare.toml:5:13: elicitation.form does not exist in 2024-11-05",
    );
    check(
        "[\"2025-06-18\", \"2025-11-25\"]",
        "[]",
        "a/bare.toml:5:13: revisions is empty",
    );
    check(
        "\"message\":\"m\"",
        "\"message\":m",
        "a/bare.toml:8:26: params is no JSON: expected value",
    );
    check(
        "{\"mode\"",
        "{\n\"mode\"",
        "a/bare.toml:7:10: params must be one line",
    );
    check(
        "\"message\":\"m\"",
        "\"mode\":\"x\"",
        "a/bare.toml:8:21: params is no JSON: member `mode` stands twice",
    );
    check(
        "{\"mode\":\"form\",\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}",
        "[]",
        "a/bare.toml:7:10: params is not a JSON object",
    );
    check(
        "\"accept\"",
        "\"yes\"",
        "a/bare.toml:12:10: unknown variant `yes`, expected one of",
    );
    check(
        "{\"value\":\"hello\"}",
        "{\"value\":}",
        "a/bare.toml:13:21: content is no JSON: expected value",
    );
    check(
        "[answer]",
        "[answr]",
        "a/bare.toml:11:2: unknown field `answr`, expected one of",
    );
    check(
        "[answer]",
        "[invalid]\n\"2026-07-28\" = \"x\"\n\n[answer]",
        "a/bare.toml:12:1: 2026-07-28 is not among",
    );
    check(
        "[answer]",
        "[invalid]\n\"2025-06-18\" = \"\"\n\n[answer]",
        "a/bare.toml:12:16: expected the reason",
    );
    check(
        "method",
        "control = \"a/bar\"\nmethod",
        "a/bare.toml:6:11: no probe `a/bar`; did you mean `a/bare`?",
    );
    check(
        "method",
        "control = \"a/bare\"\nmethod",
        "a/bare.toml:6:11: `a/bare` has a control itself",
    );
}

#[test]
fn files_are_checked_against_each_other() {
    let other = GOOD.replace("\"Bare\"", "\"Other\"");
    let error = load_files(&[("a/bare.toml", GOOD), ("a/Bare.toml", &other)]).unwrap_err();
    assert!(
        error.contains("duplicate id: `a/bare` is the same as `a/Bare`"),
        "{error}"
    );
    let error = load_files(&[("a/bare.toml", GOOD), ("b/bare.toml", GOOD)]).unwrap_err();
    assert!(
        error.starts_with("b/bare.toml:2:9: `a/bare` has this title already"),
        "{error}"
    );
    let error = load_files(&[("readme.txt", "")]).unwrap_err();
    assert!(error.contains("no probe here"), "{error}");
}

#[test]
fn all_faults_come_at_once_with_their_source() {
    let bad = GOOD
        .replace("\"Bare\"", "\"\"")
        .replace("format = 1", "format = 3");
    let error = load_files(&[("a/x.toml", &bad), ("a/y.toml", "=")]).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    a/x.toml:1:10: this capmatrix reads format 1
      1 | format = 3
        |          ^

    a/x.toml:2:9: title is empty; expected some words
      2 | title = ""
        |         ^

    a/y.toml:1:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
      1 | =
        | ^
    "#);
}

#[test]
fn prefixes_select_whole_components() {
    let names = ["form/a.toml", "form/b.toml", "formx/c.toml"];
    let texts: Vec<String> = names
        .iter()
        .map(|name| GOOD.replace("\"Bare\"", &format!("\"{name}\"")))
        .collect();
    let files: Vec<(&str, &str)> = names
        .into_iter()
        .zip(texts.iter().map(String::as_str))
        .collect();
    let probes = load_files(&files).unwrap();
    let check = |prefixes: &[&str], expect: &[&str]| {
        let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
        let got: Vec<&str> = select(&probes, &prefixes)
            .unwrap()
            .iter()
            .map(|probe| probe.id.0.as_str())
            .collect();
        assert_eq!(got, expect, "{prefixes:?}");
    };
    check(&[], &["form/a", "form/b", "formx/c"]);
    check(&["form"], &["form/a", "form/b"]);
    check(&["form/"], &["form/a", "form/b"]);
    check(&["formx/c", "form/a", "form/a"], &["form/a", "formx/c"]);
    let error = select(&probes, &["form/x".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "no probe `form/x`, and none below it");
    assert!(error.hint().starts_with("did you mean"), "{}", error.hint());
}

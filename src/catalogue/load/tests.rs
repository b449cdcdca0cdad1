//! Loading and selecting; what is said of bad files is in `complaints` and `norms`, of our own in `committed`.

mod committed;
mod complaints;
mod norms;
mod ways;

use std::fs;

use super::*;
use crate::names::Revision;

const GOOD: &str = r#"format = 1
title = "Bare form"
why = "The smallest form."
needs = "elicitation.form"
revisions = ["2025-06-18", "2025-11-25"]
method = "elicitation/create"
params = '''
{"mode":"form","message":"hello"}
'''
[answer]
action = "accept"
content = '''{"value":"hello"}'''
[invalid]
"2025-06-18" = "no mode there"
[[norms]]
revisions = ["2025-06-18", "2025-11-25"]
section = "schema ElicitRequest"
keyword = "SCHEMA"
"#;

/// The good probe with one part replaced.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = dir.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    dir
}

/// What is said of these files; paths are relative to the folder.
fn complaint(files: &[(&str, &[u8])]) -> String {
    let dir = folder(files);
    match load(dir.path()) {
        Ok(_) => "good".to_owned(),
        Err(error) => error
            .to_string()
            .replace(&format!("{}/", dir.path().display()), "")
            .replace(&dir.path().display().to_string(), "DIR"),
    }
}

fn check_all(files: &[(&str, &str)], expect: &str) {
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    let got = complaint(&files);
    assert!(
        got == expect.trim_matches('\n'),
        "\n{got}\n--- expected ---{expect}"
    );
}

/// A catalogue of one probe.
fn check(text: &str, expect: &str) {
    check_all(&[("a/x.toml", text)], expect);
}

#[test]
fn files_that_cannot_be_read() {
    let got = complaint(&[("a/x.toml", b"format = 1\ntitle = \"caf\xe9\"\n")]);
    let expect = "\
a/x.toml:2:13: not UTF-8, expected UTF-8 text
  |
2 | title = \"caf\u{fffd}\"
  |             ^";
    assert_eq!(got, expect);
    assert_eq!(
        complaint(&[]),
        "DIR: no probe here, expected AREA/NAME.toml"
    );
    assert_eq!(
        complaint(&[("a b.toml", GOOD.as_bytes())]),
        "a b.toml: `a b` cannot be part of a probe's id, expected letters, digits, `-`, `_` and `.`"
    );
    let error = load(Path::new("/no/such/folder")).unwrap_err().to_string();
    assert!(
        error.starts_with("/no/such/folder: cannot read: No such file"),
        "{error}"
    );
}

#[test]
fn a_good_catalogue_is_sorted_and_links_do_not_loop() {
    let other = with("Bare form", "Other").replace("method", "control = \"b/x\"\nmethod");
    let files: [(&str, &[u8]); 4] = [
        ("b/x.toml", GOOD.as_bytes()),
        ("a/y.toml", other.as_bytes()),
        ("a/.#y.toml", b"an editor's"),
        ("a/README.md", b"no probe"),
    ];
    let dir = folder(&files);
    std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
    let probes = load(dir.path()).unwrap();
    let ids: Vec<&str> = probes.iter().map(|probe| probe.id.0.as_str()).collect();
    assert_eq!(ids, ["a/y", "b/x"]);
    assert_eq!(probes[1].params, r#"{"mode":"form","message":"hello"}"#);
    assert_eq!(
        probes[1].answer.content,
        Some(serde_json::json!({"value": "hello"}))
    );
    assert_eq!(
        probes[1].validity(Revision::V2025_06_18),
        Err("no mode there")
    );

    std::os::unix::fs::symlink("self.toml", dir.path().join("self.toml")).unwrap();
    let error = load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("self.toml: cannot read: "), "{error}");
}

#[test]
fn every_revision_has_what_a_probe_needs() {
    check(
        &with("\"2025-06-18\", ", "\"2025-03-26\", \"2025-06-18\", "),
        r#"
2 errors

a/x.toml:5:14: 2025-03-26 has no elicitation.form, expected one of 2025-06-18, 2025-11-25, 2026-07-28
  |
5 | revisions = ["2025-03-26", "2025-06-18", "2025-11-25"]
  |              ^^^^^^^^^^^^

a/x.toml:5:14: no norm for 2025-03-26, expected it in the `revisions` of at least one of [[norms]]
  |
5 | revisions = ["2025-03-26", "2025-06-18", "2025-11-25"]
  |              ^^^^^^^^^^^^
  = hint: name the rule that a client breaks by refusing the request, or that an invalid request itself breaks
"#,
    );
}

#[test]
fn a_title_fits_in_a_row() {
    let longest = "\u{e9}".repeat(60);
    check(&with("Bare form", &longest), "good");
    let got = complaint(&[(
        "a/x.toml",
        with("Bare form", &format!("{longest}x")).as_bytes(),
    )]);
    assert!(
        got.starts_with(
            "a/x.toml:2:9: a title of 61 characters, expected at most 60: it labels a row\n"
        ),
        "{got}"
    );
}

#[test]
fn prefixes_select_whole_components() {
    let mut probes = Vec::new();
    for id in [
        "elicitation/form/a",
        "elicitation/form/b",
        "elicitation/formx",
        "sampling/a",
    ] {
        let source = Source::new(Path::new("x"), GOOD.to_owned());
        probes.push(
            probe_file::parse(&source, &ProbeId(id.to_owned()))
                .unwrap()
                .probe,
        );
    }
    let check = |prefixes: &[&str], expect: Result<&[&str], (&str, &str)>| {
        let prefixes: Vec<String> = prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
        let got = select(&probes, &prefixes);
        let ids = got.map(|probes| {
            probes
                .into_iter()
                .map(|probe| probe.id.0.as_str())
                .collect::<Vec<_>>()
        });
        match (ids, expect) {
            (Ok(ids), Ok(expect)) => assert_eq!(ids, expect),
            (Err(error), Err((message, hint))) => {
                assert_eq!(
                    (error.to_string().as_str(), error.hint().as_str()),
                    (message, hint)
                );
            }
            (got, expect) => panic!("{got:?} instead of {expect:?}"),
        }
    };
    let form = ["elicitation/form/a", "elicitation/form/b"];
    check(&["elicitation/form"], Ok(&form));
    check(&["elicitation/form/"], Ok(&form));
    check(&["elicitation/formx"], Ok(&["elicitation/formx"]));
    check(
        &["sampling", "elicitation/form/b", "sampling/a"],
        Ok(&["elicitation/form/b", "sampling/a"]),
    );
    assert_eq!(select(&probes, &[]).unwrap().len(), 4);
    check(
        &["sampling", "elicitation/from"],
        Err((
            "no probe `elicitation/from`, and none below it",
            "did you mean `elicitation/form`, `elicitation/formx`, `elicitation/form/a`?",
        )),
    );
    check(
        &["sampl/"],
        Err((
            "no probe `sampl/`, and none below it",
            "did you mean `sampling/a`, `sampling`?",
        )),
    );
    check(
        &["", "zz"],
        Err((
            "no probe ``, and none below it",
            "known: `elicitation`, `elicitation/form`, `elicitation/form/a`, `elicitation/form/b`, \
             `elicitation/formx`, `sampling`, `sampling/a`",
        )),
    );
}

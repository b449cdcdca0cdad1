//! Bad `[[norms]]` and what else a probe says about rules, each with the whole text that a person gets to read.

use super::{GOOD, check, check_all, with};

#[test]
fn what_is_written_wrong_in_a_norm() {
    check(
        &with("\"SCHEMA\"", "\"must\""),
        r#"
a/x.toml:18:11: unknown keyword `must`, expected one of `MUST`, `SHOULD`, `MAY`, `SCHEMA`
   |
18 | keyword = "must"
   |           ^^^^^^
   = hint: did you mean `MUST`?
"#,
    );
    check(
        &with("\"SCHEMA\"", "\"SHALL\""),
        r#"
a/x.toml:18:11: unknown keyword `SHALL`, expected one of `MUST`, `SHOULD`, `MAY`, `SCHEMA`
   |
18 | keyword = "SHALL"
   |           ^^^^^^^
   = hint: did you mean `SHOULD`?
"#,
    );
    check(
        &with("keyword =", "keywort ="),
        r#"
a/x.toml:18:1: unknown field `keywort`, expected one of `revisions`, `section`, `keyword`
   |
18 | keywort = "SCHEMA"
   | ^^^^^^^
   = hint: did you mean `keyword`?
"#,
    );
    check(
        &with("\"schema ElicitRequest\"", "\" \""),
        r#"
a/x.toml:17:11: empty `section`, expected a text
   |
17 | section = " "
   |           ^^^
"#,
    );
    check(
        &with(
            "section = \"schema ElicitRequest\"\nkeyword = \"SCHEMA\"\n",
            "",
        ),
        r#"
2 errors

a/x.toml:15:1: missing `section`, expected `section = ...`
   |
15 | [[norms]]
   | ^^^^^^^^^

a/x.toml:15:1: missing `keyword`, expected `keyword = ...`
   |
15 | [[norms]]
   | ^^^^^^^^^
"#,
    );
    check(
        &with(
            "\"schema ElicitRequest\"",
            "\"client/elicitation Capabilities\"",
        ),
        r#"
a/x.toml:18:11: SCHEMA for a page, expected a section `schema DEFINITION` or the keyword of the page's sentence
   |
18 | keyword = "SCHEMA"
   |           ^^^^^^^^
"#,
    );
    check(
        &with("[[norms]]", "[norms]"),
        r#"
a/x.toml:15:1: invalid type: map, expected a sequence
   |
15 | [norms]
   | ^^^^^^^
"#,
    );
}

#[test]
fn what_does_not_fit_the_revisions_of_the_probe() {
    let norm = |revisions: &str| {
        with(
            "[[norms]]\nrevisions = [\"2025-06-18\", \"2025-11-25\"]",
            &format!("[[norms]]\nrevisions = [{revisions}]"),
        )
    };
    check(
        &norm("\"2025-06-18\", \"2025-11-25\", \"2026-07-28\""),
        r#"
a/x.toml:16:42: 2026-07-28 is not in `revisions`, expected one of those
   |
16 | revisions = ["2025-06-18", "2025-11-25", "2026-07-28"]
   |                                          ^^^^^^^^^^^^
"#,
    );
    check(
        &norm("\"2025-06-18\", \"2025-11-26\""),
        r#"
a/x.toml:16:28: unknown revision `2025-11-26`, expected a date of the specification
   |
16 | revisions = ["2025-06-18", "2025-11-26"]
   |                            ^^^^^^^^^^^^
   = hint: did you mean `2025-11-25`, `2025-03-26`, `2025-06-18`?
"#,
    );
    check(
        &norm("\"2025-06-18\", \"2025-11-25\", \"2025-06-18\""),
        r#"
a/x.toml:16:42: 2025-06-18 twice, expected it once
   |
16 | revisions = ["2025-06-18", "2025-11-25", "2025-06-18"]
   |                                          ^^^^^^^^^^^^
"#,
    );
    check(
        &norm(""),
        r#"
a/x.toml:16:13: no revision, expected at least one
   |
16 | revisions = []
   |             ^^
"#,
    );
    check(
        &norm("\"2025-11-25\""),
        r#"
a/x.toml:5:14: no norm for 2025-06-18, expected it in the `revisions` of at least one of [[norms]]
  |
5 | revisions = ["2025-06-18", "2025-11-25"]
  |              ^^^^^^^^^^^^
  = hint: name the rule that a client breaks by refusing the request, or that an invalid request itself breaks
"#,
    );
    let all = GOOD.find("[[norms]]").unwrap();
    check(
        &GOOD[..all],
        r#"
a/x.toml:1:1: missing `norms`, expected [[norms]] with `revisions`, `section` and `keyword`
  |
1 | format = 1
  | ^
  = hint: name the rule that a client breaks by refusing the request, or that an invalid request itself breaks
"#,
    );
    let again = "[[norms]]\nrevisions = [\"2025-11-25\"]\nsection = \"schema ElicitRequest\"\nkeyword = \"SCHEMA\"\n";
    check(
        &format!("{GOOD}{again}"),
        r#"
a/x.toml:20:14: `schema ElicitRequest` twice for 2025-11-25, expected each section once
   |
20 | revisions = ["2025-11-25"]
   |              ^^^^^^^^^^^^
"#,
    );
}

#[test]
fn an_erratum_is_about_a_valid_request() {
    check(
        &with(
            "[[norms]]",
            "[errata]\n\"2025-06-18\" = \"released by mistake\"\n[[norms]]",
        ),
        r#"
a/x.toml:16:1: 2025-06-18 stands under [invalid] too, expected it in one of them: an erratum is about a valid request
   |
16 | "2025-06-18" = "released by mistake"
   | ^^^^^^^^^^^^
"#,
    );
}

#[test]
fn what_a_probe_asks() {
    check(&with("needs =", "asks = \"request\"\nneeds ="), "good");
    check(
        &with("needs =", "asks = \"declared\"\nneeds ="),
        r#"
a/x.toml:4:8: unknown asks `declared`, expected one of `handshake`, `request`, `declaration`, `result`, `method-not-found`
  |
4 | asks = "declared"
  |        ^^^^^^^^^^
  = hint: did you mean `declaration`?
"#,
    );
    check(
        &with("needs =", "asks = true\nneeds ="),
        r#"
a/x.toml:4:8: invalid type: boolean `true`, expected a string
  |
4 | asks = true
  |        ^^^^
"#,
    );
    let declaration = with("needs =", "asks = \"declaration\"\nneeds =");
    check(&declaration, "good");
    let other = with("Bare form", "Other").replace("method", "control = \"a/x\"\nmethod");
    check_all(
        &[("a/x.toml", &declaration), ("a/y.toml", &other)],
        r#"
a/y.toml:6:11: `a/x` asks for the declaration, expected a probe that asks the request
  |
6 | control = "a/x"
  |           ^^^^^
"#,
    );
    let other = other.replace("needs =", "asks = \"declaration\"\nneeds =");
    check_all(
        &[("a/x.toml", GOOD), ("a/y.toml", &other)],
        r#"
a/y.toml:7:11: a control of a probe that asks for the declaration, expected none: it is compared with what the client declares
  |
7 | control = "a/x"
  |           ^^^^^
"#,
    );
}

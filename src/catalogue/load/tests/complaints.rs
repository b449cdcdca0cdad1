//! Bad files, each with the whole text that a person gets to read.

use super::{GOOD, check, check_all, with};

#[test]
fn what_is_written_wrong() {
    check(
        &with("title =", "titel ="),
        r#"
a/x.toml:2:1: unknown field `titel`, expected one of `format`, `title`, `why`, `asks`, `needs`, `way`, `revisions`, `control`, `method`, `params`, `answer`, `handshake`, `invalid`, `errata`, `norms`
  |
2 | titel = "Bare form"
  | ^^^^^
  = hint: did you mean `title`?
"#,
    );
    check(
        &with("format = 1\n", ""),
        r#"
a/x.toml:1:1: missing `format`, expected the line `format = 1`
  |
1 | title = "Bare form"
  | ^
"#,
    );
    check(
        &with("format = 1", "format = 2\nfuture = true"),
        r#"
a/x.toml:1:10: unknown format 2, expected 1
  |
1 | format = 2
  |          ^
"#,
    );
    check(
        &with("format = 1", "format = \"1\""),
        r#"
a/x.toml:1:10: `format` is a string, expected the number 1
  |
1 | format = "1"
  |          ^^^
"#,
    );
    check(
        &with("\"Bare form\"", "\"Bare form"),
        r#"
a/x.toml:2:19: invalid basic string, expected `"`
  |
2 | title = "Bare form
  |                   ^
"#,
    );
    check(
        &with("\"Bare form\"", "7"),
        r#"
a/x.toml:2:9: invalid type: integer `7`, expected a string
  |
2 | title = 7
  |         ^
"#,
    );
    check(
        &with("\"Bare form\"", "\"  \""),
        r#"
a/x.toml:2:9: empty `title`, expected a text
  |
2 | title = "  "
  |         ^^^^
"#,
    );
    check(
        &with(
            "why = \"The smallest form.\"\nneeds = \"elicitation.form\"\n",
            "",
        ),
        r#"
2 errors

a/x.toml:1:1: missing `why`, expected `why = ...`
  |
1 | format = 1
  | ^

a/x.toml:1:1: missing `needs`, expected `needs = ...`
  |
1 | format = 1
  | ^
"#,
    );
    check(
        &with("elicitation.form", "elicitation.fom"),
        r#"
a/x.toml:4:9: unknown needs `elicitation.fom`, expected one of `nothing`, `elicitation.form`, `elicitation.url`
  |
4 | needs = "elicitation.fom"
  |         ^^^^^^^^^^^^^^^^^
  = hint: did you mean `elicitation.form`?
"#,
    );
    check(
        &with("\"2025-06-18\", \"2025-11-25\"", ""),
        r#"
a/x.toml:5:13: no revision, expected at least one
  |
5 | revisions = []
  |             ^^
"#,
    );
    check(
        &with("2025-11-25", "2025-06-18"),
        r#"
2 errors

a/x.toml:5:28: 2025-06-18 twice, expected it once
  |
5 | revisions = ["2025-06-18", "2025-06-18"]
  |                            ^^^^^^^^^^^^

a/x.toml:16:28: 2025-11-25 is not in `revisions`, expected one of those
   |
16 | revisions = ["2025-06-18", "2025-11-25"]
   |                            ^^^^^^^^^^^^
"#,
    );
    check(
        &with("2025-11-25", "2025-11-26"),
        r#"
a/x.toml:5:28: unknown revision `2025-11-26`, expected a date of the specification
  |
5 | revisions = ["2025-06-18", "2025-11-26"]
  |                            ^^^^^^^^^^^^
  = hint: did you mean `2025-11-25`, `2025-03-26`, `2025-06-18`?
"#,
    );
    check(
        &with("\"2025-06-18\", \"2025-11-25\"]", "\"2024-11-05\"]"),
        r#"
4 errors

a/x.toml:5:14: 2024-11-05 has no elicitation.form, expected one of 2025-06-18, 2025-11-25, 2026-07-28
  |
5 | revisions = ["2024-11-05"]
  |              ^^^^^^^^^^^^

a/x.toml:14:1: 2025-06-18 is not in `revisions`, expected one of those
   |
14 | "2025-06-18" = "no mode there"
   | ^^^^^^^^^^^^

a/x.toml:16:14: 2025-06-18 is not in `revisions`, expected one of those
   |
16 | revisions = ["2025-06-18", "2025-11-25"]
   |              ^^^^^^^^^^^^

a/x.toml:16:28: 2025-11-25 is not in `revisions`, expected one of those
   |
16 | revisions = ["2025-06-18", "2025-11-25"]
   |                            ^^^^^^^^^^^^
"#,
    );
    check(
        &with(
            "\"2025-06-18\" = \"no mode there\"",
            "\"2026-07-28\" = \"\"",
        ),
        r#"
2 errors

a/x.toml:14:1: 2026-07-28 is not in `revisions`, expected one of those
   |
14 | "2026-07-28" = ""
   | ^^^^^^^^^^^^

a/x.toml:14:16: empty reason, expected what makes the request invalid
   |
14 | "2026-07-28" = ""
   |                ^^
"#,
    );
    check(
        &with("action = \"accept\"", "action = \"agree\""),
        r#"
a/x.toml:11:10: unknown action `agree`, expected one of `accept`, `decline`, `cancel`
   |
11 | action = "agree"
   |          ^^^^^^^
"#,
    );
    check(
        &with("action = \"accept\"\n", ""),
        r#"
a/x.toml:10:1: missing `action`, expected `action = ...`
   |
10 | [answer]
   | ^^^^^^^^
"#,
    );
    check(
        &with(
            "[answer]\naction = \"accept\"\ncontent = '''{\"value\":\"hello\"}'''\n",
            "",
        ),
        r#"
a/x.toml:1:1: missing `answer`, expected `[answer]`
  |
1 | format = 1
  | ^
"#,
    );
}

#[test]
fn what_json_is_wrong() {
    check(
        &with("\"form\",", "\"form\""),
        r#"
a/x.toml:8:15: `params`: expected `,` or `}`
  |
8 | {"mode":"form""message":"hello"}
  |               ^
"#,
    );
    check(
        &with("\"hello\"}\n", "\"hello\"\n"),
        r#"
a/x.toml:9:1: `params`: EOF while parsing an object
  |
9 | '''
  | ^
"#,
    );
    check(
        &with("{\"mode\":\"form\",\"message\":\"hello\"}", "[1, 2]"),
        r#"
a/x.toml:8:1: `params`: not a JSON object, expected `{`
  |
8 | [1, 2]
  | ^
"#,
    );
    check(
        &with("{\"mode\":\"form\",\"message\":\"hello\"}", ""),
        r#"
a/x.toml:8:1: `params`: empty, expected a JSON object
  |
8 |
  | ^
"#,
    );
    check(
        &with(
            "\"message\":\"hello\"}",
            "\"message\":{\"a\":1,\"b\":{},\"a\":2}}",
        ),
        r#"
a/x.toml:8:40: `params`: duplicate member `a`, expected each name once
  |
8 | {"mode":"form","message":{"a":1,"b":{},"a":2}}
  |                                        ^^^
"#,
    );
    check(
        &with("\"form\",\"message\"", "\"form\",\n\"message\""),
        r#"
a/x.toml:8:16: `params` has a line break here, expected one line: a message on stdio ends at a line break
  |
8 | {"mode":"form",
  |                ^
"#,
    );
    check(
        &with(
            "'''\n{\"mode\":\"form\",\"message\":\"hello\"}\n'''",
            "\"{\\\"mode\\\":\\\"\\u00e9\\\",x}\"",
        ),
        r#"
a/x.toml:7:32: `params`: key must be a string
  |
7 | params = "{\"mode\":\"\u00e9\",x}"
  |                                ^
"#,
    );
    check(
        &with("{\"value\":\"hello\"}", "\"hello\""),
        r#"
a/x.toml:12:14: `content`: not a JSON object, expected `{`
   |
12 | content = '''"hello"'''
   |              ^
"#,
    );
    check(
        &with("{\"value\":\"hello\"}", "{\"value\":hello}"),
        r#"
a/x.toml:12:23: `content`: expected value
   |
12 | content = '''{"value":hello}'''
   |                       ^
"#,
    );
}

#[test]
fn what_is_wrong_across_files() {
    check_all(
        &[("a/x.toml", GOOD), ("a/y.toml", GOOD)],
        r#"
a/y.toml:2:9: `a/x` has this title already, expected one of its own
  |
2 | title = "Bare form"
  |         ^^^^^^^^^^^
"#,
    );
    check_all(
        &[
            ("a/x.toml", GOOD),
            ("a/X.toml", &with("Bare form", "Other")),
        ],
        r#"
a/x.toml: duplicate id `a/x`: it differs from `a/X` only by case
"#,
    );
    check_all(
        &[("a/x.toml", &with("method", "control = \"a/z\"\nmethod"))],
        r#"
a/x.toml:6:11: no probe `a/z`, expected the id of a probe
  |
6 | control = "a/z"
  |           ^^^^^
  = hint: did you mean `a/x`?
"#,
    );
    check_all(
        &[("a/x.toml", &with("method", "control = \"a/x\"\nmethod"))],
        r#"
a/x.toml:6:11: a probe cannot be its own control, expected another probe
  |
6 | control = "a/x"
  |           ^^^^^
"#,
    );
    check_all(
        &[
            ("a/x.toml", GOOD),
            (
                "a/y.toml",
                &with("Bare form", "Y").replace("method", "control = \"a/x\"\nmethod"),
            ),
            (
                "a/z.toml",
                &with("Bare form", "Z").replace("method", "control = \"a/y\"\nmethod"),
            ),
        ],
        r#"
a/z.toml:6:11: `a/y` has itself a control, expected a probe without one
  |
6 | control = "a/y"
  |           ^^^^^
  = hint: its control is `a/x`
"#,
    );
}

#[test]
fn all_errors_are_told_together() {
    check_all(
        &[
            ("a/x.toml", &with("title =", "titel =")),
            (
                "a/y.toml",
                &with("\"accept\"", "\"x\"").replace("elicitation.form", ""),
            ),
            ("a/z.toml", &with("method", "control = \"a/x\"\nmethod")),
        ],
        r#"
3 errors

a/x.toml:2:1: unknown field `titel`, expected one of `format`, `title`, `why`, `asks`, `needs`, `way`, `revisions`, `control`, `method`, `params`, `answer`, `handshake`, `invalid`, `errata`, `norms`
  |
2 | titel = "Bare form"
  | ^^^^^
  = hint: did you mean `title`?

a/y.toml:4:9: unknown needs ``, expected one of `nothing`, `elicitation.form`, `elicitation.url`
  |
4 | needs = ""
  |         ^^

a/y.toml:11:10: unknown action `x`, expected one of `accept`, `decline`, `cancel`
   |
11 | action = "x"
   |          ^^^
"#,
    );
}

//! `way` and `[handshake]`: what is good, and what is said of what is not.

use super::*;
use crate::catalogue::Way;
use crate::catalogue::script::{Reply, Script, Then};

const HANDSHAKE: &str = r#"format = 1
title = "An error"
why = "What clients do after an error."
asks = "handshake"
needs = "nothing"
revisions = ["2025-11-25"]
[handshake]
to = "initialize"
error = '''
{"code":-32602,"message":"no"}
'''
then = ["stops", "initializes"]
[[norms]]
revisions = ["2025-11-25"]
section = "basic/lifecycle Error Handling"
keyword = "SHOULD"
"#;

/// The good handshake with one part replaced.
fn handshake_with(old: &str, new: &str) -> String {
    assert!(HANDSHAKE.contains(old), "{old}");
    HANDSHAKE.replacen(old, new, 1)
}

fn loaded(text: &str) -> Probe {
    let source = Source::new(Path::new("x"), text.to_owned());
    match probe_file::parse(&source, &ProbeId("a/x".to_owned())) {
        Ok(parsed) => parsed.probe,
        Err(problems) => panic!("{}", LoadError::from(problems)),
    }
}

#[test]
fn a_way_is_named_as_it_is_called() {
    assert_eq!(loaded(GOOD).way, Way::Plain);
    for (name, way) in Way::NAMES {
        let mut text = with("needs =", &format!("way = \"{name}\"\nneeds ="));
        if !way.exists_in(Revision::V2025_11_25) {
            text = text
                .replace("\"2025-06-18\", \"2025-11-25\"", "\"2026-07-28\"")
                .replace("\"2025-06-18\" =", "\"2026-07-28\" =");
        }
        assert_eq!(loaded(&text).way, way, "{name}");
    }
}

#[test]
fn a_way_belongs_to_an_era() {
    check(
        &with("needs =", "way = \"string_id\"\nneeds ="),
        r#"
a/x.toml:4:7: unknown way `string_id`, expected one of `plain`, `string-id`, `id-zero`, `clients-id`, `after-noise`, `after-unknown-notification`, `after-call`, `second-of-two`, `after-cancelled`, `no-state`, `odd-state`, `state-first`, `two-inputs`, `second-round`
  |
4 | way = "string_id"
  |       ^^^^^^^^^^^
  = hint: did you mean `string-id`?
"#,
    );
    check(
        &with("needs =", "way = \"no-state\"\nneeds ="),
        r#"
a/x.toml:6:14: 2025-06-18 has no way `no-state`, expected a revision of the era that it is of
  |
6 | revisions = ["2025-06-18", "2025-11-25"]
  |              ^^^^^^^^^^^^
"#,
    );
    let both = with("needs =", "way = \"id-zero\"\nneeds =")
        .replace("\"2025-11-25\"]", "\"2025-11-25\", \"2026-07-28\"]");
    check(
        &both,
        r#"
a/x.toml:6:42: 2026-07-28 has no way `id-zero`, expected a revision of the era that it is of
  |
6 | revisions = ["2025-06-18", "2025-11-25", "2026-07-28"]
  |                                          ^^^^^^^^^^^^
"#,
    );
    check(
        &with("needs =", "way = 3\nneeds ="),
        r#"
a/x.toml:4:7: invalid type: integer `3`, expected a string
  |
4 | way = 3
  |       ^
"#,
    );
}

#[test]
fn a_handshake_is_read() {
    let probe = loaded(HANDSHAKE);
    assert_eq!(probe.method, "initialize");
    assert_eq!(probe.params, r#"{"code":-32602,"message":"no"}"#);
    let script = Script {
        reply: Reply::Error,
        then: vec![Then::Stops, Then::Initializes],
        starts_after_ms: 0,
        over: None,
    };
    assert_eq!(probe.script, Some(script));
    let slow = handshake_with(
        "error = '''\n{\"code\":-32602,\"message\":\"no\"}\n'''\n",
        "reply = \"usual\"\nstarts_after_ms = 3500\n",
    );
    let slow = loaded(&slow);
    let script = slow.script.unwrap();
    assert_eq!((script.reply, script.starts_after_ms), (Reply::Usual, 3500));
    assert_eq!(slow.params, "{}");
}

#[test]
fn what_is_wrong_in_a_handshake() {
    check(
        &handshake_with("to = \"initialize\"", "to = \"initialise\""),
        r#"
a/x.toml:8:6: unknown to `initialise`, expected one of `initialize`, `server/discover`, `tools/list`, `tools/call`, `GET`
  |
8 | to = "initialise"
  |      ^^^^^^^^^^^^
  = hint: did you mean `initialize`?
"#,
    );
    check(
        &handshake_with("\"stops\"", "\"stop\""),
        r#"
a/x.toml:12:9: unknown then `stop`, expected one of `goes-on`, `initializes`, `resumes`, `stops`
   |
12 | then = ["stop", "initializes"]
   |         ^^^^^^
   = hint: did you mean `stops`?
"#,
    );
    check(
        &handshake_with("to = \"initialize\"", "to = \"tools/call\""),
        r#"
a/x.toml:8:6: only a reply `http-...` is of a request after the handshake, expected `initialize` or `server/discover`
  |
8 | to = "tools/call"
  |      ^^^^^^^^^^^^
"#,
    );
    check(
        &handshake_with(
            "to = \"initialize\"",
            "to = \"initialize\"\nover = \"pipe\"",
        ),
        r#"
a/x.toml:9:8: unknown over `pipe`, expected one of `stdio`, `http`
  |
9 | over = "pipe"
  |        ^^^^^^
"#,
    );
    let error = "error = '''\n{\"code\":-32602,\"message\":\"no\"}\n'''\n";
    check(
        &handshake_with(error, "reply = \"exit\"\nover = \"http\"\n"),
        r#"
a/x.toml:10:8: this reply goes over another transport only, expected no `over`
   |
10 | over = "http"
   |        ^^^^^^
"#,
    );
    check(
        &handshake_with(error, "reply = \"http-405\"\n"),
        r#"
a/x.toml:8:6: `http-405` answers `GET`, and nothing else does
  |
8 | to = "initialize"
  |      ^^^^^^^^^^^^
"#,
    );
    check(
        &handshake_with("to = \"initialize\"\n", ""),
        r#"
a/x.toml:7:1: missing `to`, expected `to = ...`
  |
7 | [handshake]
  | ^^^^^^^^^^^
"#,
    );
    check(
        &handshake_with(
            "to = \"initialize\"",
            "to = \"initialize\"\nreply = \"exit\"",
        ),
        r#"
a/x.toml:7:1: expected exactly one of `result`, `error` and `reply`
  |
7 | [handshake]
  | ^^^^^^^^^^^
"#,
    );
    check(
        &handshake_with("\"no\"}", "\"no\""),
        r#"
a/x.toml:11:1: `error`: EOF while parsing an object
   |
11 | '''
   | ^
"#,
    );
    check(
        &handshake_with(
            "error = '''\n{\"code\":-32602,\"message\":\"no\"}\n'''",
            "reply = \"late\"",
        ),
        r#"
a/x.toml:9:9: unknown reply `late`, expected one of `stays`, `silence`, `exit`, `usual`, `http-404`, `http-400`, `http-405`, `http-dropped`, `http-half-open`, `http-slow`, `http-events`, `http-commented-events`
  |
9 | reply = "late"
  |         ^^^^^^
"#,
    );
    check(
        &handshake_with(
            "to = \"initialize\"",
            "to = \"initialize\"\nstarts_after_ms = 60000",
        ),
        r#"
a/x.toml:9:19: a wait of 60000 ms, expected at most 10000
  |
9 | starts_after_ms = 60000
  |                   ^^^^^
"#,
    );
    check(
        &handshake_with("to = \"initialize\"", "to = \"initialize\"\nwait = 1"),
        r#"
a/x.toml:9:1: unknown field `wait`, expected one of `to`, `result`, `error`, `reply`, `starts_after_ms`, `over`, `then`
  |
9 | wait = 1
  | ^^^^
"#,
    );
}

#[test]
fn a_handshake_stands_where_it_is_asked_about_and_alone() {
    check(
        &handshake_with("asks = \"handshake\"\n", ""),
        r#"
2 errors

a/x.toml:6:1: [handshake] in a probe that does not ask about it, expected `asks = "handshake"`
  |
6 | [handshake]
  | ^^^^^^^^^^^

a/x.toml:1:1: missing `answer`, expected `[answer]`
  |
1 | format = 1
  | ^
"#,
    );
    let at = HANDSHAKE.find("[handshake]").unwrap();
    let end = HANDSHAKE.find("[[norms]]").unwrap();
    check(
        &format!("{}{}", &HANDSHAKE[..at], &HANDSHAKE[end..]),
        r#"
a/x.toml:1:1: missing `[handshake]`, expected the script of one
  |
1 | format = 1
  | ^
"#,
    );
    check(
        &handshake_with(
            "[handshake]",
            "method = \"ping\"\nparams = \"{}\"\n[handshake]",
        ),
        r#"
2 errors

a/x.toml:7:10: `method` beside [handshake], expected none: the script says what is sent
  |
7 | method = "ping"
  |          ^^^^^^

a/x.toml:8:10: `params` beside [handshake], expected none: the script says what is sent
  |
8 | params = "{}"
  |          ^^^^
"#,
    );
    check(
        &handshake_with("[handshake]", "[answer]\naction = \"accept\"\n[handshake]"),
        r#"
a/x.toml:7:1: an answer to a request that nobody is shown, expected none
  |
7 | [answer]
  | ^^^^^^^^
"#,
    );
}

//! Bad client files, each with what a person gets to read; and placeholders.

use super::*;
use crate::clients::{Dialect, Source as ClientSource};

const GOOD: &str = r#"format = 1
id = "tool"
title = "Tool"
pinned = "1.2.3"
model = "openai-responses"
revisions = ["2025-06-18", "2026-07-28"]
[source.npm]
package = "@scope/tool"
programs = ["node_modules/@scope/tool-*/tool"]
verify = ["--version"]
[env]
TOOL_HOME = "{home}/.tool"
TOOL_URL = "http://127.0.0.1:{model_port}"
[files]
".tool/config.json" = '''
{"server":{"command":"{server_command}","args":{server_args}},"empty":{}}
'''
[surfaces.exec]
title = "one prompt"
driver = "prompt"
presents = false
args = ["exec", "{prompt}", "{server}"]
"#;

fn write(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(name);
    fs::write(&file, text).unwrap();
    (dir, file)
}

/// `old` is replaced in the good file. `expect` is the first line of each error, without the file's name, and under
/// its carets the text that they mark.
fn check(old: &str, new: &str, expect: &[(&str, &str)]) {
    assert!(GOOD.contains(old), "{old}");
    let (dir, file) = write("tool.toml", &GOOD.replacen(old, new, 1));
    let said = load_file(&file).unwrap_err().to_string();
    // The error's own test has this list.
    let known = "`{home}`, `{wd}`, `{model_port}`, `{server_command}`, `{server_args}`, `{server_url}`, `{server_entry}`, `{server}`, `{prompt}`";
    let said = said.replace(known, "PLACEHOLDERS");
    let said = said.replace(&format!("{}/tool.toml:", dir.path().display()), "\u{1}");
    let got: Vec<(String, String)> = said
        .split('\u{1}')
        .skip(1)
        .map(|block| {
            let lines: Vec<&str> = block.lines().collect();
            let (line, carets) = (lines[2], lines[3]);
            let from = carets.find('^').unwrap();
            let marked = line
                .get(from..carets.len().min(line.len()))
                .unwrap_or_default();
            (lines[0].to_owned(), marked.to_owned())
        })
        .collect();
    let expect: Vec<(String, String)> = expect
        .iter()
        .map(|&(a, b)| (a.to_owned(), b.to_owned()))
        .collect();
    assert_eq!(got, expect, "{said}");
}

#[test]
fn a_good_file_loads() {
    let (_dir, file) = write("tool.toml", GOOD);
    let client = load_file(&file).unwrap();
    assert_eq!(client.model, Some(Dialect::OpenaiResponses));
    let (dir, _) = write("tool.toml", GOOD);
    fs::write(dir.path().join("a.toml"), GOOD.replace("\"tool\"", "\"a\"")).unwrap();
    fs::write(dir.path().join("README.md"), "no client").unwrap();
    let ids: Vec<String> = load_dir(dir.path())
        .unwrap()
        .into_iter()
        .map(|client| client.id)
        .collect();
    assert_eq!(ids, ["a", "tool"]);
}

#[test]
fn a_bad_file_is_told_at_its_place() {
    check(
        r#"id = "tool""#,
        r#"id = "tol""#,
        &[(
            "2:6: the file's name says `tool`, expected the same id",
            "\"tol\"",
        )],
    );
    check(
        r#"pinned = "1.2.3""#,
        r#"pinned = "latest""#,
        &[(
            "4:10: not an exact version, expected one such as `1.2.3`",
            "\"latest\"",
        )],
    );
    check(
        r#"pinned = "1.2.3""#,
        r#"pinned = "1.2.3/../x""#,
        &[(
            "4:10: not an exact version, expected one such as `1.2.3`",
            "\"1.2.3/../x\"",
        )],
    );
    check(
        r#"title = "Tool"
"#,
        r#"title = "Tool"
titel = 1
"#,
        &[(
            "4:1: unknown field `titel`, expected one of `format`, `id`, `title`, `pinned`, `source`, `env`, `files`, `model`, `revisions`, `modern`, `transports`, `surfaces`",
            "titel",
        )],
    );
    let revisions = r#"revisions = ["2025-06-18", "2026-07-28"]"#;
    check(
        revisions,
        "revisions = []",
        &[("6:13: no revision, expected at least one", "[]")],
    );
    check(
        revisions,
        r#"revisions = ["2026-07-28", "2025-06-18"]"#,
        &[(
            "6:13: not in order, expected each revision once and the oldest first",
            r#"["2026-07-28", "2025-06-18"]"#,
        )],
    );
    check(
        "[source.npm]",
        "[modern]\nsince = \"soon\"\nargs = [\"{nope}\"]\n[source.npm]",
        &[
            (
                "8:9: not an exact version, expected one such as `1.2.3`",
                "\"soon\"",
            ),
            (
                "9:10: unknown placeholder `{nope}`, expected one of PLACEHOLDERS",
                "{nope}",
            ),
        ],
    );
    check(
        "[source.npm]",
        "[transports.http]\nserver = \"{server_entri}\"\n[source.npm]",
        &[(
            "8:11: unknown placeholder `{server_entri}`, expected one of PLACEHOLDERS",
            "{server_entri}",
        )],
    );
    check(
        "presents = false",
        "presents = false\ntransport = \"sse\"",
        &[(
            "22:13: unknown variant `sse`, expected `stdio` or `http`",
            "\"sse\"",
        )],
    );
    check(
        r#"model = "openai-responses""#,
        r#"model = "openai-response""#,
        &[(
            "5:9: unknown variant `openai-response`, expected `openai-responses` or `anthropic-messages`",
            "\"openai-response\"",
        )],
    );
    check(
        r#"model = "openai-responses"
"#,
        "",
        &[
            (
                "12:30: `{model_port}` without a model, expected `model = ...` in this file",
                "{model_port}",
            ),
            (
                "19:10: the driver `prompt` needs a model, expected `model = ...` in this file",
                "\"prompt\"",
            ),
        ],
    );
    check(
        r#""@scope/tool""#,
        r#""--global""#,
        &[(
            "8:11: not a package's name, expected one such as `@scope/name`",
            "\"--global\"",
        )],
    );
    check(
        r#""@scope/tool""#,
        r#""file:../x""#,
        &[(
            "8:11: not a package's name, expected one such as `@scope/name`",
            "\"file:../x\"",
        )],
    );
    check(
        r#"["node_modules/@scope/tool-*/tool"]"#,
        "[]",
        &[("9:12: no program, expected at least one glob", "[]")],
    );
    check(
        "node_modules/@scope/tool-*/tool",
        "../tool",
        &[(
            "9:13: not below the install folder, expected a relative path without `..`",
            "\"../tool\"",
        )],
    );
    check(
        "node_modules/@scope/tool-*/tool",
        "a/***/tool",
        &[(
            "9:18: wildcards are either regular `*` or recursive `**`, expected a glob",
            "*",
        )],
    );
    check(
        r#""--version""#,
        r#""{home}""#,
        &[(
            "10:12: `{home}` is not filled here, expected text without placeholders",
            "{home}",
        )],
    );
    check(
        "{home}/.tool",
        "{hom}/.tool",
        &[(
            "12:14: unknown placeholder `{hom}`, expected one of PLACEHOLDERS",
            "{hom}",
        )],
    );
    check(
        "{home}/.tool",
        r#"{home}\u0000"#,
        &[(
            "12:20: a NUL cannot be given to a program, expected text without it",
            "\\u0000",
        )],
    );
    check(
        "TOOL_HOME",
        r#""A=B""#,
        &[(
            "12:1: not the name of an environment variable, expected one without `=`",
            "\"A=B\"",
        )],
    );
    check(
        r#"".tool/config.json""#,
        r#""../config.json""#,
        &[(
            "15:1: not below HOME, expected a relative path without `..`",
            "\"../config.json\"",
        )],
    );
    check(
        r#"".tool/config.json""#,
        r#""/etc/config.json""#,
        &[(
            "15:1: not below HOME, expected a relative path without `..`",
            "\"/etc/config.json\"",
        )],
    );
    check(
        r#"".tool/config.json""#,
        r#""{home}/x""#,
        &[(
            "15:1: `{home}` is not filled in a file's name",
            "\"{home}/x\"",
        )],
    );
    check(
        r#""command":"{server_command}""#,
        r#""command":"{server}","x":"{nope}""#,
        &[
            (
                "16:23: `{server}` stands for several words, expected it as an argument of its own",
                "{server}",
            ),
            (
                "16:38: unknown placeholder `{nope}`, expected one of PLACEHOLDERS",
                "{nope}",
            ),
        ],
    );
    check(
        r#""{server}"]"#,
        r#""-x={server}"]"#,
        &[(
            "22:33: `{server}` stands for several words, expected it as an argument of its own",
            "{server}",
        )],
    );
    check(
        "[surfaces.exec]",
        r#"[surfaces."a b"]"#,
        &[(
            "18:11: not a surface's name, expected letters, digits, `-`, `_`, `.` and `+`",
            "\"a b\"",
        )],
    );
    check(
        r#"driver = "prompt""#,
        r#"driver = "promt""#,
        &[(
            "20:10: unknown variant `promt`, expected one of `prompt`, `codex-app-server`, `claude-stream-json`, `host-lines`",
            "\"promt\"",
        )],
    );
    check(
        "presents = false",
        r#"presents = false
env.X = "{modelport}""#,
        &[(
            "22:10: unknown placeholder `{modelport}`, expected one of PLACEHOLDERS",
            "{modelport}",
        )],
    );
    check(
        &GOOD[GOOD.find("[surfaces.exec]").unwrap()..],
        "[surfaces]\n",
        &[("18:1: no surface, expected at least one", "[surfaces]")],
    );
    check(
        "presents = false\n",
        "",
        &[("18:1: missing field `presents`", "[surfaces.exec]")],
    );
    check(
        "[source.npm]",
        "[source.pip]",
        &[(
            "7:9: unknown variant `pip`, expected one of `npm`, `path`, `builtin`",
            "pip",
        )],
    );
}

#[test]
fn an_error_reads_well() {
    let (dir, file) = write("tool.toml", &GOOD.replace("{server_args}", "{server_arg}"));
    let said = load_file(&file).unwrap_err().to_string();
    let expect = r#"tool.toml:16:48: unknown placeholder `{server_arg}`, expected one of `{home}`, `{wd}`, `{model_port}`, `{server_command}`, `{server_args}`, `{server_url}`, `{server_entry}`, `{server}`, `{prompt}`
   |
16 | {"server":{"command":"{server_command}","args":{server_arg}},"empty":{}}
   |                                                ^^^^^^^^^^^^
   = hint: did you mean `server_args`, `server`, `server_url`?"#;
    assert_eq!(
        said.replace(&format!("{}/", dir.path().display()), ""),
        expect
    );

    fs::write(
        dir.path().join("b.toml"),
        GOOD.replace("format = 1", "format = 7"),
    )
    .unwrap();
    let said = load_dir(dir.path()).unwrap_err().to_string();
    assert!(said.starts_with("2 errors\n\n"), "{said}");
    assert!(
        said.contains("b.toml:1:10: unknown format 7, expected 1\n"),
        "{said}"
    );
    assert!(load_file(&dir.path().join("none.toml")).is_err());
}

#[test]
fn a_program_on_disk_is_relative_to_the_file() {
    let start = GOOD.find("[source.npm]").unwrap();
    let end = GOOD.find("[env]").unwrap();
    let path = "[source.path]\nprogram = \"bin/tool\"\nversion = [\"--version\"]\n";
    let (dir, file) = write("tool.toml", &GOOD.replace(&GOOD[start..end], path));
    match load_file(&file).unwrap().source {
        ClientSource::Path { program, .. } => {
            assert_eq!(Path::new(&program), dir.path().join("bin/tool"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_committed_clients_load() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
    load_dir(&dir).map_err(|error| error.to_string()).unwrap();
}

#[test]
fn placeholders_are_filled_in_one_pass() {
    let values = BTreeMap::from([
        ("home", "/h/{wd}".to_owned()),
        ("wd", "/w".to_owned()),
        ("server_args", r#"["a","b"]"#.to_owned()),
    ]);
    let check = |text: &str, expect: &str| assert_eq!(fill(text, &values), expect);
    check("", "");
    check("{home}/x {wd}", "/h/{wd}/x /w");
    check(
        r#"{"a":{"args":{server_args}}}"#,
        r#"{"a":{"args":["a","b"]}}"#,
    );
    check("{{wd}}", "{/w}");
    check("{unknown} {} {Home} {wd {wd", "{unknown} {} {Home} {wd {wd");
    check("{\u{e9}} \u{e9}{wd}", "{\u{e9}} \u{e9}/w");
}

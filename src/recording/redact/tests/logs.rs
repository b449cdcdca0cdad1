//! What is left of a log line: what is the same in every run.

use super::*;

/// The evidence of a session in which the client printed `line`.
fn with_log(line: &str) -> Recording {
    let (line, probe) = (Wire::text(line), Some(id("a")));
    evidence(
        &Script::new(&["a"])
            .event(Event::Stderr { line, probe })
            .finish(),
    )
}

fn check(line: &str, expect: &str) {
    let kept = with_log(line);
    let Event::Stderr { line: found, .. } = &kept.entries[1].event else {
        panic!("{kept:?}");
    };
    assert_eq!(found.to_text(), expect, "{line:?}");
    assert_eq!(evidence(&kept), kept, "{line:?}: twice");
}

const UUID: &str = "01234567-89ab-cdef-0123-456789ABCDEF";

#[test]
fn words_stay() {
    for line in [
        "",
        "plain words",
        "two  spaces ",
        "2026-01-01",
        "a/b ./c / 1/2",
        "id=none void=x",
        "01234567-89ab-cdef-0123-456789abcde",
        "127.0.0.1 0.0.0.0:80",
    ] {
        check(line, line);
    }
}

#[test]
fn colours_and_controls_go() {
    check("\u{1b}[31mERROR\u{1b}[0m x", "ERROR x");
    check("a\u{7}b\tc\u{1b}", "ab c");
    check("\u{1b}[", "");
    check("\t\r", " ");
}

#[test]
fn times_go() {
    check(
        "\u{1b}[2m2026-01-01T10:00:00.123456Z\u{1b}[0m \u{1b}[31mERROR\u{1b}[0m x",
        "<time> ERROR x",
    );
    check("2026-01-01T10:00:00Z", "<time>");
    check("x\t2026-01-01T10:00:00Z\ty", "x <time> y");
    check("[2026-01-01T10:00:00Z INFO x]", "[<time> INFO x]");
    check("(\"2026-01-01T10:00:00+01:00\")", "(\"<time>");
}

#[test]
fn ids_go() {
    check(&format!("call {UUID} done"), "call <uuid> done");
    check(&format!("call ({UUID}), done"), "call (<uuid>), done");
    check(&format!("{UUID}{UUID}0"), "<uuid><uuid>0");
    check(&format!("é{UUID}é"), "é<uuid>é");
    check(
        &format!(r#"{{"session_id":"{UUID}"}}"#),
        r#"{"session_id":"<uuid>"}"#,
    );
    check(&format!("thread_id={UUID}"), "thread_id=<uuid>");
    check(
        "pid=17 sessionId=17 ID=a1",
        "pid=<id> sessionId=<id> ID=<id>",
    );
}

#[test]
fn ports_go() {
    check("on 127.0.0.1:43117, ready", "on 127.0.0.1:<port> ready");
    check("http://127.0.0.1:43117/v1", "http://127.0.0.1:<port>");
}

#[test]
fn paths_outside_the_sandbox_go() {
    check("at /home/me/x.js:1:2 end", "at <path> end");
    check("('/home/me/x')", "('<path>");
    check("cwd=/home/me/x dir=\"/root\"", "cwd=<path> dir=<path>");
    check(
        "/mnt/work/x.js (/mnt/x) cwd=/mnt/x",
        "/mnt/work/x.js (/mnt/x) cwd=/mnt/x",
    );
    check("/mntx", "<path>");
}

#[test]
fn long_lines_are_cut_between_words() {
    check(&"é".repeat(3000), "<long>");
    check(&"x".repeat(2000), &"x".repeat(2000));
    check(&"x".repeat(2001), "<long>");
    check(&"abc ".repeat(1000), "abc ".repeat(500).trim_end());
    // What is left of the last word would be a UUID, or a time.
    let words = "x ".repeat(982);
    check(&format!("{words}{UUID}ffff"), &format!("{words}<uuid>ffff"));
    let words = "x ".repeat(990);
    let time = "2026-01-01T10:00:0";
    check(&format!("{words}x{time}123456"), words.trim_end());
}

//! The server gets over any line, and serves on.

use proptest::prelude::*;

use super::*;
use crate::testing::extreme_line;

/// Checks that a client is served in the end that writes `line` at these places of the conversation: before the
/// handshake, the call, the reply and a last request.
fn check(line: &[u8], places: std::ops::Range<usize>) {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&dir.path().join("server-1.jsonl"), "server").unwrap();
    let options = Options {
        probes: vec![probe("a/one", "{}")],
        revision: None,
        answer_timeout: Duration::from_secs(60),
        back: None,
        held: None,
        stop_when_silent: true,
    };
    let call =
        r#"{"id":7,"method":"tools/call","params":{"name":"probe","arguments":{"id":"a/one"}}}"#;
    let reply = r#"{"id":1001,"result":{"action":"cancel"}}"#;
    let ping = r#"{"id":"last","method":"ping"}"#;
    let (sender, receiver) = mpsc::channel();
    for (place, good) in [INITIALIZE, call, reply, ping].into_iter().enumerate() {
        if places.contains(&place) {
            sender.send(Incoming::line(line.to_vec())).unwrap();
        }
        sender
            .send(Incoming::line(good.as_bytes().to_vec()))
            .unwrap();
    }
    drop(sender);
    let mut output = Vec::new();
    serve(&options, &recorder, &receiver, &mut output).unwrap();
    let written = String::from_utf8(output).unwrap();
    for answer in [
        r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"#,
        r#"{"jsonrpc":"2.0","id":1001,"method":"elicitation/create","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a/one: the client replied"}]}}"#,
        r#"{"jsonrpc":"2.0","id":"last","result":{}}"#,
    ] {
        assert!(written.contains(answer), "{answer}");
    }
}

#[test]
fn ten_megabytes_are_survived() {
    let long = "x".repeat(10_000_000);
    let call = format!(r#"{{"name":"probe","arguments":{{"id":"{long}"}}}}"#);
    for line in [
        format!(r#"{{"id":"{long}","method":"{long}"}}"#),
        format!(r#"{{"id":3,"method":"tools/call","params":{call}}}"#),
        "[".repeat(10_000_000),
        format!("{}{}", "[".repeat(5_000_000), "]".repeat(5_000_000)),
        long,
    ] {
        check(line.as_bytes(), 2..3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn extreme_lines_are_survived(line in extreme_line(20_000)) {
        check(&line, 0..4);
    }

    #[test]
    fn any_bytes_are_survived(line in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&line, 0..4);
    }
}

//! Lines at the limits of a reader give an outcome, and nobody is blamed for what is not so.

use serde::de::IgnoredAny;

use super::*;
use crate::testing::extreme_line;

/// What a line is, found without the line reader.
fn oddity_of_bytes(line: &[u8]) -> Option<Oddity> {
    match std::str::from_utf8(line) {
        Err(_) => Some(Oddity::NotUtf8),
        Ok(text) if serde_json::from_str::<IgnoredAny>(text).is_err() => Some(Oddity::NotJson),
        Ok(_) => None,
    }
}

fn check(line: &[u8]) -> Outcome {
    let recording = sent().client(line).no_reply("a").done("a").finish();
    let outcome = a(&recording);
    let is_unreadable = |oddity: &Oddity| matches!(oddity, Oddity::NotUtf8 | Oddity::NotJson);
    let found = outcome.oddities.iter().find(|oddity| is_unreadable(oddity));
    assert_eq!(found.copied(), oddity_of_bytes(line));
    // What a client wrote can be written down, and read again.
    let text = serde_json::to_string(&outcome).expect("it is written");
    let read: Outcome = serde_json::from_str(&text).expect("it is read");
    assert_eq!(
        Outcome {
            latency_us: outcome.latency_us,
            ..read
        },
        outcome
    );
    if outcome.reply.is_some() && outcome.oddities.contains(&Oddity::TooDeep) {
        assert!(matches!(outcome.kind, Kind::Malformed { .. }));
    }
    // A good reply counts whatever came before it, unless that was one too.
    let replied = sent().client(line).reply(1, json!({"action": "accept"}));
    let replied = a(&replied.done("a").finish());
    assert!(replied.reply.is_some());
    if outcome.reply.is_none() {
        assert_eq!(replied.kind, answered("accept", None));
    }
    outcome
}

#[test]
fn ten_megabytes_are_read() {
    let long = "x".repeat(10_000_000);
    let reply = format!(r#"{{"id":1,"result":{{"action":"accept","content":{{"v":"{long}"}}}}}}"#);
    let content = Some(json!({"v": long}));
    assert_eq!(check(reply.as_bytes()).kind, answered("accept", content));
    let expect = malformed(&long[..400]);
    assert_eq!(check(long.as_bytes()).kind, expect);
    let many = format!("[{}1]", "1,".repeat(1_000_000));
    let rubbish = [Oddity::Batch, Oddity::NoMessage];
    assert_eq!(check(many.as_bytes()).oddities, rubbish);
    let deep = format!("{}{}", "[".repeat(5_000_000), "]".repeat(5_000_000));
    assert_eq!(
        check(deep.as_bytes()).oddities,
        [Oddity::Batch, Oddity::NoMessage, Oddity::TooDeep]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn extreme_lines_give_an_outcome(line in extreme_line(20_000)) {
        check(&line);
    }

    #[test]
    fn any_bytes_give_an_outcome(line in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&line);
    }
}

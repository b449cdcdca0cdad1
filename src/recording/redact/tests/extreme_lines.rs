//! Lines at the limits of a reader are redacted, written and read again.

use proptest::prelude::*;

use super::*;
use crate::testing::extreme_line;

fn check(line: &[u8]) {
    let script = Script::new(&["a"]).initialize().call("a").send("a", 1);
    let recording = script.client(line).no_reply("a").done("a").finish();
    let once = evidence(&recording);
    assert_eq!(evidence(&once), once);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("evidence.jsonl");
    for recording in [recording, once] {
        read::save(&recording, &path).unwrap();
        assert_eq!(read::load(&path).unwrap(), recording);
    }
}

#[test]
fn ten_megabytes_are_redacted() {
    let long = "x".repeat(10_000_000);
    check(
        format!(r#"{{"id":1,"result":{{"_meta":{{"t":"{long}"}},"action":"{long}"}}}}"#).as_bytes(),
    );
    check(
        format!(
            r#"{{"id":1,"result":{}}}"#,
            r#"{"_meta":"#.repeat(1_000_000) + "1" + &"}".repeat(1_000_000)
        )
        .as_bytes(),
    );
    check(long.as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn extreme_lines_are_redacted(line in extreme_line(20_000)) {
        check(&line);
    }
}

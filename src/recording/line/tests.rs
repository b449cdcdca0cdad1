//! Any bytes are read, and told apart.

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::json;

use super::*;
use crate::testing::extreme_line;

fn message(line: &[u8]) -> Message<'_> {
    match Line::read(line) {
        Line::Message(message) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_is_told_apart() {
    let check = |line: &[u8], expect: &str| {
        let found = match Line::read(line) {
            Line::NotUtf8 => "not UTF-8".to_owned(),
            Line::NotJson => "not JSON".to_owned(),
            Line::Message(message) => sort(&message),
            Line::Batch(items) => items.iter().map(sort).collect::<Vec<_>>().join(", "),
        };
        assert_eq!(found, expect, "{}", String::from_utf8_lossy(line));
    };
    fn sort(message: &Message<'_>) -> String {
        match message.sort() {
            Sort::Request { method, id } => format!("request {method} {id}"),
            Sort::Notification { method } => format!("notification {method}"),
            Sort::Reply { id } => format!("reply {id}"),
            Sort::Other => format!("other {}", message.value),
        }
    }
    check(b"", "not JSON");
    check(b" ", "not JSON");
    check(b"\0", "not JSON");
    check(b"{}{}", "not JSON");
    check(b"{\"id\":1,}", "not JSON");
    check(b"{\"a\":\"\x01\"}", "not JSON");
    check(b"\xef\xbb\xbf{}", "not JSON");
    check(b"\xff", "not UTF-8");
    check(b"{\"a\":\"\xff\"}", "not UTF-8");
    check(b"null", "other null");
    check(b" {} ", "other {}");
    check(b"[]", "");
    check(b"[[{\"id\":1}]]", "other [{\"id\":1}]");
    check(
        br#"[1,{"id":1},{"method":"m"}]"#,
        "other 1, reply 1, notification m",
    );
    check(br#"{"id":1,"method":"m"}"#, "request m 1");
    check(br#"{"\u0069d":"x","method":"m"}"#, "request m \"x\"");
    check(br#"{"id":null,"method":"m"}"#, "notification m");
    check(br#"{"id":null,"method":null}"#, "reply null");
    check(br#"{"id":1,"id":2,"method":"m","method":null}"#, "reply 2");
    check(br#"{"id":1,"method":7}"#, r#"other {"id":1,"method":7}"#);
    check(br#"{"id":1e400}"#, "reply 1.7976931348623157e+308");
    check(
        br#"{"id":"\ud800\/"}"#,
        "reply \"\u{fffd}\u{fffd}\u{fffd}/\"",
    );
}

#[test]
fn ids_keep_their_text_and_have_a_value() {
    let check = |line: &str, text: &str, key: &str| {
        let message = message(line.as_bytes());
        assert_eq!(message.id_text(), Some(text), "{line}");
        assert_eq!(id_key(&message.value["id"]), key, "{line}");
    };
    check(r#"{"id":1}"#, "1", "1");
    check(r#"{ "id" : 1.0 , "a":2}"#, "1.0", "1");
    check(r#"{"id":10e-1}"#, "10e-1", "1");
    check(r#"{"id":-1.5}"#, "-1.5", "-1.5");
    check(r#"{"id":"1"}"#, "\"1\"", "\"1\"");
    check(
        r#"{"a":{"id":2},"id":1,"id":[ 1 ],"b":{"id":3}}"#,
        "[ 1 ]",
        "[1]",
    );
    check(
        r#"{"id":18446744073709551616}"#,
        "18446744073709551616",
        "1.8446744073709552e+19",
    );
    check(
        r#"{"id":9007199254740993}"#,
        "9007199254740993",
        "9007199254740993",
    );
    assert_eq!(message(b"{\"a\":{\"id\":2}}").id_text(), None);
}

#[test]
fn a_called_probe_is_named_beside_what_is_too_deep() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let line = format!(
        r#"{{"params":{{"_meta":{deep},"arguments":{{"id":"a"}}}},"id":4,"method":"tools/call"}}"#
    );
    let message = message(line.as_bytes());
    assert_eq!(message.called_probe(), Some("a"));
    assert!(message.is_too_deep && !message.has_duplicate);
}

/// Values as serde reads them too.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((".{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn extreme_lines_are_read(line in extreme_line(20_000)) {
        let read = Line::read(&line);
        prop_assert_eq!(read == Line::NotUtf8, std::str::from_utf8(&line).is_err());
        let is_json = serde_json::from_slice::<IgnoredAny>(&line).is_ok();
        prop_assert_eq!(read == Line::NotJson, !is_json && read != Line::NotUtf8);
        for message in read.messages() {
            let again: Value = serde_json::from_str(&message.value.to_string()).unwrap();
            prop_assert_eq!(again, message.value.clone());
        }
    }

    #[test]
    fn any_bytes_are_read(line in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = Line::read(&line);
    }

    #[test]
    fn any_brackets_are_read(line in r#"[\[\]{}",:\\u0-9eE.\-a-f trnl]{0,60}"#) {
        let read = Line::read(line.as_bytes());
        if let Ok(value) = serde_json::from_str::<Value>(&line) {
            prop_assert!(read != Line::NotJson, "{}", value);
        }
    }

    #[test]
    fn a_value_is_read_as_serde_reads_it(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        // Not what was written: serde itself reads some doubles otherwise than it writes them.
        let expect: Value = serde_json::from_str(&text).unwrap();
        let found = match Line::read(text.as_bytes()) {
            Line::Batch(items) => items.into_iter().map(|item| item.value).collect(),
            Line::Message(message) => message.value,
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(found, expect);
    }
}

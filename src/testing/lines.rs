//! Lines that a hostile client may write.
//!
//! Owns no expectation.

use proptest::prelude::*;

/// Lines that a hostile client may write: well-formed, near misses, and rubbish.
pub(crate) fn hostile_line() -> impl Strategy<Value = Vec<u8>> {
    let ids = prop::sample::select(vec![
        "1",
        "2",
        "3",
        "1.0",
        "-1",
        "\"1\"",
        "\"call-a\"",
        "null",
        "true",
        "[1]",
        "{}",
        "18446744073709551616",
        "1e400",
        r#""\ud800""#,
    ]);
    let bodies = prop::sample::select(vec![
        r#""result":{"action":"accept","content":{"v":1.0e1}}"#,
        r#""result":{"action":"decline"}"#,
        r#""result":{"action":"cancel","content":null,"_meta":{"token":"t-1"}}"#,
        r#""result":{"action":7}"#,
        r#""result":[1,{"_meta":2}]"#,
        r#""result":null"#,
        r#""error":{"code":-32602,"message":"no\nno"}"#,
        r#""error":null,"result":{}"#,
        r#""method":"tools/call","params":{"arguments":{"id":"a"},"_meta":{"k":1}}"#,
        r#""method":"tools/call","params":{"arguments":{"id":["a"]}}"#,
        r#""method":"initialize","params":[{"_meta":{}}]"#,
        r#""method":"notifications/x""#,
        r#""method":null"#,
        r#""method":null,"result":{"action":"accept"}"#,
        r#""method":"notifications/cancelled","params":{"requestId":1}"#,
        r#""_meta":{"a":1},"params":null"#,
        r#""id":2,"result":{"action":"accept","action":"cancel","_meta":{"k":1}}"#,
        r#""method":"ping","method":null,"result":{"action":"decline"}"#,
    ]);
    let message = (ids, bodies)
        .prop_map(|(id, body)| format!(r#"{{"jsonrpc": "2.0",  "id":{id},{body}}}"#).into_bytes());
    let fixed = prop::sample::select(vec![
        Vec::new(),
        b"null".to_vec(),
        b"\0".to_vec(),
        b"{\"id\":1}\xff".to_vec(),
        b"\"_meta\"".to_vec(),
        b"[{\"id\":1}]".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
        b"{\"result\":{\"action\":\"a\0\"},\"id\":1}".to_vec(),
        b"[".repeat(200),
        [
            b"{\"id\":1,\"result\":".to_vec(),
            b"[".repeat(300),
            b"]".repeat(300),
            b"}".to_vec(),
        ]
        .concat(),
        format!(
            r#"{{"id":2,"result":{{"action":"{}"}}}}"#,
            "x".repeat(20_000)
        )
        .into_bytes(),
        b"[1,\"_meta\"]".to_vec(),
        b"[{\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{}}},{\"id\":2}]".to_vec(),
        b"{\"\\u005fmeta\":{\"t\":1},\"id\":1,\"result\":{\"action\":\"cancel\"}}".to_vec(),
    ]);
    prop_oneof![
        6 => message,
        2 => fixed,
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

/// `levels` containers in each other: `brackets` is what opens one of each kind that takes turns.
fn nested(levels: usize, brackets: &[&str]) -> String {
    let opened = || brackets.iter().cycle().take(levels);
    let open: String = opened().copied().collect();
    let mut close: Vec<&str> = opened()
        .map(|open| if open.starts_with('[') { "]" } else { "}" })
        .collect();
    close.reverse();
    format!(
        "{open}{}{}",
        if open.ends_with(':') { "0" } else { "" },
        close.concat()
    )
}

/// Lines at the limits of whoever reads them: up to `max_levels` deep at any place of a message, members that are there
/// twice, bytes that are no text, NUL, batches of all that, and parts of them.
pub(crate) fn extreme_line(max_levels: usize) -> impl Strategy<Value = Vec<u8>> {
    let brackets = prop::sample::select(vec![
        &["["][..],
        &[r#"{"a":"#],
        &["[", r#"{"_meta":"#],
        &[r#"{"id":"#, "[0,"],
    ]);
    let deep = (0..=max_levels, brackets)
        .prop_map(|(levels, brackets)| nested(levels, brackets).replace("[0,]", "[0]"));
    let place = prop::sample::select(vec![
        r#"{"id":1,"result":@}"#,
        r#"{"result":@,"id":1}"#,
        r#"{"result":{"action":"accept","content":{"v":@}},"id":1.0}"#,
        r#"{"id":1,"error":{"code":1,"message":"m","data":@}}"#,
        r#"{"id":1,"result":{"action":"accept"},"error":@}"#,
        r#"{"id":9,"result":@}"#,
        r#"{"id":@,"result":{"action":"accept"}}"#,
        r#"{"id":5,"method":"ping","params":@}"#,
        r#"{"id":6,"method":"tools/call","params":{"_meta":{"k":@},"arguments":{"id":"a"}}}"#,
        r#"{"method":@,"id":1}"#,
        r#"{"id":3,"id":1,"result":{"action":"accept","action":"cancel"},"x":@,"x":@}"#,
        r#"{"\u0069d":1,"id":1,"result":{"_meta":{"k":@},"action":"cancel"}}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":@,"_meta":@}}"#,
        "@",
    ]);
    let whole = (place, deep).prop_map(|(place, deep)| place.replace('@', &deep));
    let batch = prop::collection::vec(whole.clone(), 0..4)
        .prop_map(|items| format!("[{}]", items.join(" , ")));
    let line = prop_oneof![3 => whole, 1 => batch].prop_map(String::into_bytes);
    let spoil = prop::sample::select(vec![
        &b"\0"[..],
        b"\xff",
        b"\xed\xa0\x80",
        b"]",
        b"\"",
        b"\\",
    ]);
    (
        line,
        prop::option::weighted(0.3, (spoil, any::<prop::sample::Index>(), any::<bool>())),
    )
        .prop_map(|(mut line, spoil)| {
            if let Some((bytes, at, is_cut)) = spoil {
                let at = at.index(line.len() + 1);
                let rest = line.split_off(at);
                line.extend_from_slice(bytes);
                if !is_cut {
                    line.extend(rest);
                }
            }
            line
        })
}

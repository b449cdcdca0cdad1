//! The table is sound, and each behaviour writes what its name says.

use super::*;

#[test]
fn the_table_is_well_formed() {
    const VERDICTS: &[&str] = &[
        "works",
        "altered",
        "refused",
        "not_shown",
        "violates",
        "breaks",
        "lenient",
        "not_declared",
        "spec_silent",
        "harness_fault",
        "unknown",
    ];
    const BLAMES: &[&str] = &["client", "server", "specification", "harness", "nobody"];
    let mut seen = std::collections::BTreeSet::new();
    for row in BEHAVIOURS {
        let name = row.name;
        assert!(seen.insert(name), "{name} stands twice");
        assert!(
            name.split('-').all(|word| !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())),
            "{name} is not kebab-case"
        );
        assert!(!row.does.is_empty(), "{name}");
        assert!(VERDICTS.contains(&row.verdict), "{name}: {}", row.verdict);
        assert!(BLAMES.contains(&row.blame), "{name}: {}", row.blame);
        // The control must behave, or no other cell could be compared with it.
        assert_ne!(row.subject, "elicitation/form/bare", "{name}");
    }
    assert_eq!(BEHAVIOURS.len(), 13);
}

#[test]
fn an_unknown_name_names_the_known_ones() {
    assert_eq!(find("wrong-id").unwrap().name, "wrong-id");
    let near = find("never-answer").unwrap_err().to_string();
    assert!(near.contains("did you mean `never-answers`"), "{near}");
    let far = find("zzz").unwrap_err().to_string();
    assert!(
        far.contains("behaves") && far.contains("never-calls"),
        "{far}"
    );
}

const SENT: &str = r#"{"message":"m","requestedSchema":{"title":"T","description":"D","type":"object","properties":{"value":{"type":"string","title":"t","description":"d","maxLength":10}},"required":["value"]}}"#;
const ANSWER: &str = r#"{"action":"accept","content":{"value":"abc"}}"#;

fn request(id: &str) -> Request {
    Request {
        id: id.to_owned(),
        params: SENT.to_owned(),
    }
}

/// What a behaviour writes to the server for [`SENT`], and whether it showed it first.
fn wire(name: &str, id: &str) -> (bool, String) {
    let hooks = find(name).unwrap().hooks;
    let (shown, bytes) = match (hooks.on_request)(&request(id)) {
        Reaction::Present => (true, (hooks.replies)(&request(id), ANSWER)),
        Reaction::Write(bytes) => (false, bytes),
        Reaction::Exit(code) => (false, format!("exit {code}").into_bytes()),
    };
    (shown, String::from_utf8(bytes).unwrap())
}

#[test]
fn each_behaviour_writes_its_bytes() {
    let good = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{ANSWER}}}\n");
    let with = |result: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{result}}}\n");
    let check = |name: &str, shown: bool, expect: &str| {
        assert_eq!(wire(name, "7"), (shown, expect.to_owned()), "{name}");
    };
    check("behaves", true, &good);
    check(
        "rejects-title",
        false,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"requestedSchema: unknown member `title`\"}}\n",
    );
    check(
        "rejects-description",
        false,
        &with(r#"{"action":"cancel"}"#),
    );
    check("unknown-action", true, &with(r#"{"action":"reject"}"#));
    check(
        "accepts-without-content",
        true,
        &with(r#"{"action":"accept"}"#),
    );
    check(
        "accepts-invalid-content",
        true,
        &with(r#"{"action":"accept","content":{"value":5}}"#),
    );
    check("never-answers", false, "");
    check("answers-twice", true, &good.repeat(2));
    check("wrong-id", true, &good.replace(":7,", ":1007,"));
    check("exits-midway", false, "exit 7");
    check("not-json", true, "this is not JSON\n");
    check("alters-schema", true, &good);
    check("never-calls", true, &good);
}

#[test]
fn an_id_goes_back_as_it_came() {
    assert!(
        wire("behaves", r#""a\u0062""#)
            .1
            .contains(r#""id":"a\u0062","#)
    );
    assert!(
        wire("wrong-id", r#""ab""#)
            .1
            .contains(r#""id":"nobody-used-this-id","#)
    );
}

#[test]
fn only_alters_schema_shows_something_else() {
    for row in BEHAVIOURS {
        let shown = (row.hooks.presents)(&request("1"));
        if row.name == "alters-schema" {
            assert_eq!(
                shown,
                SENT.replace(r#","title":"t","description":"d""#, ""),
                "{}",
                row.name
            );
        } else {
            assert_eq!(shown, SENT, "{}", row.name);
        }
    }
}

#[test]
fn a_schema_without_the_offending_member_is_presented() {
    let plain = Request {
        id: "1".to_owned(),
        params: r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#.to_owned(),
    };
    for name in ["rejects-title", "rejects-description"] {
        assert_eq!(
            (find(name).unwrap().hooks.on_request)(&plain),
            Reaction::Present,
            "{name}"
        );
    }
}

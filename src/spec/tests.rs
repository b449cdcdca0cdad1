//! The rules by example: what is allowed in which revision, and how a violation reads.

mod envelope;
mod faults;
mod wording;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use Dir::{ClientToServer as Client, ServerToClient as Server};
use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

fn found(revision: Revision, direction: Dir, value: &Value, answers: Option<&str>) -> Vec<String> {
    let message = Message {
        value,
        answers,
        inputs: None,
    };
    let violations = check(revision, direction, &message);
    let words = violations.iter().map(|violation| {
        let strength = violation.strength.name();
        format!(
            "{strength} {} {}: {}",
            violation.clause, violation.at, violation.says
        )
    });
    words.collect()
}

fn result(result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "result": result})
}

#[test]
fn answers_of_elicitation() {
    let check = |value: Value, since: Option<Revision>| {
        for revision in [V2025_06_18, V2025_11_25] {
            let found = found(
                revision,
                Client,
                &result(&value),
                Some("elicitation/create"),
            );
            let is_allowed = since.is_some_and(|since| revision >= since);
            assert_eq!(
                found.is_empty(),
                is_allowed,
                "{revision} {value}: {found:?}"
            );
        }
    };
    let content = |value: Value| json!({"action": "accept", "content": {"v": value}});
    for value in [json!("x"), json!(1), json!(1.5), json!(true), json!(1e300)] {
        check(content(value), Some(V2025_06_18));
    }
    for value in [json!([]), json!(["a", "b"])] {
        check(content(value), Some(V2025_11_25));
    }
    for value in [json!(null), json!([1]), json!({"a": 1}), json!([["a"]])] {
        check(content(value), None);
    }
    for action in ["accept", "decline", "cancel"] {
        check(json!({"action": action}), Some(V2025_06_18));
        check(
            json!({"action": action, "content": {}, "more": [1]}),
            Some(V2025_06_18),
        );
        check(json!({"action": action, "content": null}), None);
        check(json!({"action": action, "_meta": []}), None);
    }
    for value in [
        json!({}),
        json!({"action": "reject"}),
        json!({"action": "Accept"}),
        json!({"action": null}),
    ] {
        check(value, None);
    }
    assert_eq!(
        found(
            V2025_11_25,
            Client,
            &result(&json!({"action": "reject"})),
            Some("elicitation/create")
        ),
        [
            r#"SCHEMA schema ElicitResult /result/action: "reject" is not one of "accept", "cancel" or "decline""#
        ]
    );
}

#[test]
fn each_answer_is_checked_as_the_result_of_its_own_request() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let inputs = json!({"a/b": {"method": "elicitation/create"}, "r": {"method": "roots/list"}});
    // Taken for a list of roots, the first answer would be one.
    let answers = json!({"a/b": {"action": "reject", "roots": []}, "r": {"roots": []}});
    let params = json!({"name": "t", "_meta": meta, "inputResponses": answers});
    let value = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let message = |inputs| Message {
        value: &value,
        answers: None,
        inputs,
    };
    assert_eq!(super::check(V2026_07_28, Client, &message(None)), []);
    let found = super::check(V2026_07_28, Client, &message(Some(&inputs)));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].at, "/params/inputResponses/a~1b/action");
    assert_eq!(found[0].definition, "ElicitResult");
    // Whatever else is wrong; and what no definition of an answer allows is said by the one that it is for.
    let mut value = value;
    value["jsonrpc"] = json!("1.0");
    value["params"]["name"] = json!(1);
    value["params"]["inputResponses"]["r"] = json!({"roots": 1});
    let check = |value: &Value| -> Vec<String> {
        let message = Message {
            value,
            answers: None,
            inputs: Some(&inputs),
        };
        let found = super::check(V2026_07_28, Client, &message);
        found.into_iter().map(|violation| violation.at).collect()
    };
    let answers = [
        "/params/inputResponses/a~1b/action",
        "/params/inputResponses/r/roots",
    ];
    assert_eq!(check(&value), [&["/jsonrpc"], &answers[..]].concat());
    value["jsonrpc"] = json!("2.0");
    assert_eq!(check(&value), [&["/params/name"], &answers[..]].concat());
}

#[test]
fn what_only_a_sentence_says() {
    let initialize = |elicitation: Value| {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": elicitation},
            "clientInfo": {"name": "a", "version": "1"},
        });
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    };
    for (elicitation, is_allowed) in [
        (json!({}), true),
        (json!({"form": {}}), true),
        (json!({"url": {}, "foo": {}}), true),
        (json!({"foo": {}}), false),
    ] {
        let value = initialize(elicitation.clone());
        assert_eq!(
            found(V2025_11_25, Client, &value, None).is_empty(),
            is_allowed,
            "{value}"
        );
        assert!(
            found(V2025_06_18, Client, &value, None).is_empty(),
            "{value}"
        );
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": elicitation},
        });
        let modern =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
        let at = "/params/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation";
        let expect = format!(
            "MUST client/elicitation Capabilities {at}: expected at least one mode, form or url"
        );
        let expect = [expect];
        let expect = if is_allowed { &[][..] } else { &expect };
        assert_eq!(found(V2026_07_28, Client, &modern, None), expect);
        assert!(modern.pointer(at).is_some());
    }
    let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}});
    assert_eq!(
        found(V2026_07_28, Client, &reply, None),
        ["MUST basic/transports/stdio Sending Messages : expected no JSON-RPC reply of a client"]
    );
    assert!(found(V2024_11_05, Client, &reply, None).is_empty());
}

#[test]
fn a_violation_is_short_whatever_the_message() {
    let long = "x".repeat(100_000);
    let mut content = serde_json::Map::new();
    content.insert(long.clone(), json!([1]));
    let value = result(&json!({"action": long, "content": content}));
    let message = Message {
        value: &value,
        answers: Some("elicitation/create"),
        inputs: None,
    };
    let found = super::check(V2025_11_25, Client, &message);
    assert_eq!(found.len(), 2);
    for violation in found {
        assert!(
            violation.says.len() <= 1000 && violation.at.len() <= 1000,
            "{violation:?}"
        );
    }
}

#[test]
fn every_definition_of_the_project_compiles() {
    assert_eq!(Rules::builtin().fault(), None);
    let rules = definitions::own_schemas().and_then(Rules::from_schemas);
    assert!(rules.is_ok(), "{:?}", rules.err());
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z]{0,6}".prop_map(Value::from),
        prop::sample::select(vec!["2.0", "initialize", "tools/call", "accept"])
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "_meta",
        "action",
        "content",
        "capabilities",
        "arguments",
        "inputResponses",
        "task",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_can_be_checked(value in json_value(), answers in prop::sample::select(vec![
        None, Some("elicitation/create"), Some("tools/call"), Some("initialize"), Some("x"),
    ])) {
        for revision in Revision::ALL {
            for direction in [Client, Server] {
                let message = Message { value: &value, answers, inputs: Some(&value) };
                for violation in super::check(revision, direction, &message) {
                    prop_assert!(!violation.says.is_empty());
                    prop_assert!(!violation.clause.is_empty());
                }
            }
        }
    }
}

//! The rules by example: what is allowed in which revision, and how a violation reads.

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
fn envelopes() {
    let check = |value: Value, expect: &[&str]| {
        for revision in Revision::ALL {
            let found = found(revision, Server, &value, None);
            // What a server may not send at all since 2026-07-28 is another rule.
            let found: Vec<&str> = found
                .iter()
                .map(String::as_str)
                .filter(|said| !said.contains("Receiving Messages"))
                .collect();
            assert_eq!(found, expect, "{revision}: {value}");
        }
    };
    let jsonrpc = "MUST basic/index Messages /jsonrpc: expected \"2.0\"";
    check(json!({"jsonrpc": "2.0", "id": 1, "method": "x"}), &[]);
    check(
        json!({"jsonrpc": "2.0", "id": "a", "method": "x", "params": {}}),
        &[],
    );
    check(json!({"jsonrpc": "2.0", "method": "x"}), &[]);
    check(
        json!({"jsonrpc": "2.0", "id": 1.0, "error": {"code": 1, "message": ""}}),
        &[],
    );
    check(json!({"id": 1, "method": "x"}), &[jsonrpc]);
    check(json!({"jsonrpc": 2.0, "id": 1, "method": "x"}), &[jsonrpc]);
    for id in [json!(null), json!(1.5), json!([1]), json!(true)] {
        check(
            json!({"jsonrpc": "2.0", "id": id, "method": "x"}),
            &["MUST basic/index Messages /id: expected a string or a whole number"],
        );
    }
    check(
        json!({"jsonrpc": "2.0", "id": 1}),
        &["MUST basic/index Messages : expected a method, a result or an error"],
    );
    check(
        json!({"jsonrpc": "2.0", "id": 1, "result": []}),
        &["MUST basic/index Messages /result: expected an object"],
    );
    check(
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "1"}}),
        &[
            "MUST basic/index Messages /error/code: expected a whole number",
            "MUST basic/index Messages /error/message: expected a string",
        ],
    );
    check(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}, "error": {"code": 1, "message": ""}}),
        &["MUST basic/index Messages /error: expected a result or an error, not both"],
    );
    check(
        json!("x"),
        &["MUST basic/index Messages : expected an object"],
    );
}

#[test]
fn batches_are_of_one_revision_only() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for revision in Revision::ALL {
        let is_allowed = found(revision, Client, &json!([ping]), None).is_empty();
        assert_eq!(is_allowed, revision == V2025_03_26, "{revision}");
    }
    let mixed = json!([ping, result(&json!({}))]);
    assert_eq!(found(V2025_03_26, Client, &mixed, None).len(), 1);
    assert_eq!(
        found(
            V2025_03_26,
            Client,
            &json!([{"id": 1, "method": "ping"}]),
            None
        ),
        ["MUST basic/index Messages /0/jsonrpc: expected \"2.0\""]
    );
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
        let value = initialize(elicitation);
        assert_eq!(
            found(V2025_11_25, Client, &value, None).is_empty(),
            is_allowed,
            "{value}"
        );
        assert!(
            found(V2025_06_18, Client, &value, None).is_empty(),
            "{value}"
        );
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

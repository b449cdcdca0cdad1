//! What is said of a value that fits none of several alternatives.

use super::*;

#[test]
fn of_alternatives_the_one_that_was_meant_is_named() {
    let check = |value: Value, expect: &[&str]| {
        let value = result(&json!({"role": "user", "model": "m", "content": value}));
        let found = found(V2025_06_18, Client, &value, Some("sampling/createMessage"));
        let found: Vec<&str> = found
            .iter()
            .map(|said| {
                said.split_once("CreateMessageResult ")
                    .map_or("", |said| said.1)
            })
            .collect();
        assert_eq!(found, expect, "{value}");
    };
    check(json!({"type": "text", "text": "x"}), &[]);
    check(
        json!({"type": "text"}),
        &[r#"/result/content: "text" is a required property"#],
    );
    check(
        json!({"type": "image", "data": 1}),
        &[
            r#"/result/content: "mimeType" is a required property"#,
            r#"/result/content/data: 1 is not of type "string""#,
        ],
    );
    check(
        json!({"text": "x"}),
        &[r#"/result/content: "type" is a required property"#],
    );
    check(
        json!({"type": "video"}),
        &[r#"/result/content/type: "video" is none of the values expected"#],
    );
    check(
        json!({"type": "x".repeat(1000)}),
        &["/result/content/type: expected another value"],
    );
    check(
        json!(1),
        &["/result/content: 1 is not valid under any of the schemas listed in the 'anyOf' keyword"],
    );
}

#[test]
fn of_alternatives_the_one_of_that_type_is_named() {
    let content = |value: Value| {
        let value = result(&json!({"action": "accept", "content": {"v": value}}));
        found(V2025_11_25, Client, &value, Some("elicitation/create"))
    };
    let said = "SCHEMA schema ElicitResult /result/content/v";
    assert_eq!(
        content(json!([1])),
        [format!(r#"{said}/0: 1 is not of type "string""#)]
    );
    assert_eq!(
        content(json!(null)),
        [format!(
            "{said}: null is not valid under any of the schemas listed in the 'anyOf' keyword"
        )]
    );
}

#[test]
fn of_modes_the_one_that_is_named_or_meant() {
    let request = |params: Value| {
        let value =
            json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params});
        found(V2025_11_25, Server, &value, None)
    };
    let said = "SCHEMA schema ElicitRequest /params";
    assert_eq!(
        request(json!({"mode": "url", "message": "go", "url": "https://a.example"})),
        [format!(r#"{said}: "elicitationId" is a required property"#)]
    );
    // Without a mode it is a form.
    assert_eq!(
        request(json!({"message": "go"})),
        [format!(
            r#"{said}: "requestedSchema" is a required property"#
        )]
    );
    // A format that there is not: no single alternative was meant.
    let property = json!({"type": "string", "format": "ipv4"});
    let schema = json!({"type": "object", "properties": {"v": property}});
    let found = request(json!({"message": "go", "requestedSchema": schema}));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with(&format!("{said}/requestedSchema/properties/v: ")),
        "{found:?}"
    );
}

//! Rules that are broken themselves: nothing is valid by them.

use super::*;

fn says(rules: &Rules, value: &Value) -> Vec<String> {
    let message = Message {
        value,
        answers: Some("elicitation/create"),
        inputs: None,
    };
    let found = rules.check(V2025_11_25, Client, &message);
    found.into_iter().map(|violation| violation.says).collect()
}

#[test]
fn nothing_is_valid_by_rules_that_cannot_be_loaded() {
    for (text, fault) in [
        ("{", "the project's own schema of 2024-11-05 is no JSON"),
        ("{}", "the schema of 2024-11-05 has neither"),
        (r#"{"$defs": {}}"#, "no schema for revision 2025-03-26"),
    ] {
        let rules = Rules::of(definitions::layered(&[(V2024_11_05, text)]));
        assert!(rules.fault().expect("a fault").starts_with(fault), "{text}");
        let said = says(&rules, &result(&json!({"action": "cancel"})));
        assert_eq!(said.len(), 1, "{text}");
        assert!(said[0].contains(fault), "{said:?}");
    }
}

#[test]
fn nothing_is_valid_by_a_definition_that_cannot_be_used() {
    let broken = [json!({"type": "wrong"}), json!({"$ref": "#/$defs/Nowhere"})];
    for definition in broken {
        let mut schemas = definitions::own_schemas().expect("schemas");
        let schema = schemas.get_mut(&V2025_11_25).expect("a schema");
        schema["$defs"]["ElicitResult"] = definition;
        let said = says(
            &Rules::of(Ok(schemas)),
            &result(&json!({"action": "cancel"})),
        );
        assert!(
            said.iter()
                .any(|said| said.starts_with("capmatrix cannot use its own rule: ")),
            "{said:?}"
        );
    }
    let mut schemas = definitions::own_schemas().expect("schemas");
    let schema = schemas.get_mut(&V2025_11_25).expect("a schema");
    let all = schema["$defs"].as_object_mut().expect("definitions");
    all.shift_remove("ElicitResult");
    let said = says(
        &Rules::of(Ok(schemas)),
        &result(&json!({"action": "cancel"})),
    );
    assert!(
        said.contains(&"capmatrix cannot use its own rule: there is no such definition".to_owned()),
        "{said:?}"
    );
}

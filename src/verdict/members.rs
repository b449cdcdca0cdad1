//! Which members of an elicitation request the specification defines.
//!
//! A client that drops a member which no revision defines has altered the request, but broken nothing: the
//! schemas are open, and no sentence asks a receiver to keep or to show what it does not know.

/// Members that some revision defines, in a request, a form schema or one of its property schemas
/// (schema `ElicitRequestFormParams`, `ElicitRequestURLParams`, `PrimitiveSchemaDefinition`).
const DEFINED: &[&str] = &[
    "message",
    "url",
    "elicitationId",
    "requestedSchema",
    "$schema",
    "type",
    "properties",
    "required",
    "title",
    "description",
    "minLength",
    "maxLength",
    "format",
    "default",
    "minimum",
    "maximum",
    "enum",
    "enumNames",
    "oneOf",
    "anyOf",
    "const",
    "items",
    "minItems",
    "maxItems",
];

/// Members of the form schema itself; `title` and `description` are defined for properties only.
const DEFINED_ON_TOP: &[&str] = &["$schema", "type", "properties", "required"];

/// Whether the member at JSON pointer `at` (of the request's params) is one that the specification defines.
pub(super) fn is_defined(at: &str) -> bool {
    let parts: Vec<&str> = at.split('/').skip(1).collect();
    match parts.as_slice() {
        ["requestedSchema", member] => DEFINED_ON_TOP.contains(member),
        // The name of a property is the server's own; a lost property is a lost question.
        ["requestedSchema", "properties", _] => true,
        ["requestedSchema", "properties", _, rest @ ..] => rest
            .iter()
            .all(|part| DEFINED.contains(part) || part.parse::<usize>().is_ok()),
        ["requestedSchema", "required", ..] => true,
        ["requestedSchema", ..] => false,
        parts => parts.iter().all(|part| DEFINED.contains(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::is_defined;

    #[test]
    fn members_are_told_apart() {
        for (at, expect) in [
            ("/message", true),
            ("/elicitationId", true),
            ("/requestedSchema/$schema", true),
            ("/requestedSchema/required/0", true),
            ("/requestedSchema/title", false),
            ("/requestedSchema/additionalProperties", false),
            ("/requestedSchema/x-top", false),
            ("/requestedSchema/properties/value", true),
            ("/requestedSchema/properties/pattern", true),
            ("/requestedSchema/properties/value/pattern", false),
            ("/requestedSchema/properties/value/exclusiveMinimum", false),
            ("/requestedSchema/properties/value/title", true),
            ("/requestedSchema/properties/value/oneOf/0/title", true),
            (
                "/requestedSchema/properties/value/items/anyOf/1/const",
                true,
            ),
        ] {
            assert_eq!(is_defined(at), expect, "{at}");
        }
    }
}

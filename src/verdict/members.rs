//! Which members of an elicitation request the specification defines.
//!
//! A client that drops a member which no revision defines has altered the request, but broken nothing: the
//! schemas are open, and no sentence asks a receiver to keep or to show what it does not know.

use crate::names::Revision;

/// Members of a request, a form schema or a property schema since 2025-06-18
/// (schema `ElicitRequest`, `PrimitiveSchemaDefinition`).
const DEFINED: &[&str] = &[
    "message",
    "requestedSchema",
    "type",
    "properties",
    "required",
    "title",
    "description",
    "minLength",
    "maxLength",
    "format",
    "minimum",
    "maximum",
    "enum",
    "enumNames",
];

/// Members that came with 2025-11-25 (schema `ElicitRequestURLParams`, `EnumSchema`; defaults of all types). A default of
/// a boolean is older; that it is not blamed before is on the safe side.
const DEFINED_SINCE_2025_11_25: &[&str] = &[
    "url", "$schema", "default", "oneOf", "anyOf", "const", "items", "minItems", "maxItems",
];

/// A member that 2025-11-25 alone has (schema `ElicitRequestURLParams`; 2026-07-28 removed it).
const ONLY_IN_2025_11_25: &str = "elicitationId";

/// Members of the form schema itself; `title` and `description` are defined for properties only.
const DEFINED_ON_TOP: &[&str] = &["$schema", "type", "properties", "required"];

/// Whether the member at JSON pointer `at` (of the request's params) is one that `revision` defines.
pub(super) fn is_defined(at: &str, revision: Option<Revision>) -> bool {
    let is_new_enough = revision.is_some_and(|revision| revision >= Revision::V2025_11_25);
    let known = |member: &str| {
        DEFINED.contains(&member)
            || is_new_enough && DEFINED_SINCE_2025_11_25.contains(&member)
            || revision == Some(Revision::V2025_11_25) && member == ONLY_IN_2025_11_25
    };
    let parts: Vec<&str> = at.split('/').skip(1).collect();
    match parts.as_slice() {
        ["requestedSchema"] => true,
        ["requestedSchema", member] => DEFINED_ON_TOP.contains(member) && known(member),
        // The name of a property is the server's own; a lost property is a lost question.
        ["requestedSchema", "properties", _] | ["requestedSchema", "required", ..] => true,
        ["requestedSchema", "properties", _, rest @ ..] => rest
            .iter()
            .all(|part| known(part) || part.parse::<usize>().is_ok()),
        ["requestedSchema", ..] => false,
        parts => parts.iter().all(|part| known(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::is_defined;
    use crate::names::Revision;

    #[test]
    fn members_are_told_apart() {
        for (at, expect) in [
            ("/message", true),
            ("/requestedSchema", true),
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
            assert_eq!(is_defined(at, Some(Revision::V2025_11_25)), expect, "{at}");
        }
        for (at, expect) in [
            ("/requestedSchema/$schema", false),
            ("/requestedSchema/properties/value/oneOf/0/title", false),
            ("/requestedSchema/properties/value/default", false),
            ("/requestedSchema/properties/value/enumNames", true),
        ] {
            assert_eq!(is_defined(at, Some(Revision::V2025_06_18)), expect, "{at}");
        }
        assert!(!is_defined("/elicitationId", Some(Revision::V2026_07_28)));
        assert!(is_defined("/url", Some(Revision::V2026_07_28)));
        assert!(!is_defined("/url", None));
    }
}

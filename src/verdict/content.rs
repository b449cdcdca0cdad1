//! Whether accepted content fits the schema that was asked for.
//!
//! Owns the use of the JSON Schema library. Formats annotate and are not asserted.

use serde_json::Value;

/// What is wrong with `content` under `schema`, one phrase a member, at most five; empty if it fits.
/// A schema that cannot be compiled decides nothing.
pub(super) fn violations(schema: &Value, content: &Value) -> Vec<String> {
    let validator = jsonschema::draft202012::options()
        .should_validate_formats(false)
        .build(schema);
    let Ok(validator) = validator else {
        return Vec::new();
    };
    validator
        .iter_errors(content)
        .take(5)
        .map(|error| {
            let at = error.instance_path().to_string();
            let at = if at.is_empty() {
                "content".to_owned()
            } else {
                format!("content{at}")
            };
            format!("{at}: {error}")
        })
        .collect()
}

//! Reading the parts of JSON that both dialects share, whatever shape they have.
//!
//! Owns no format: it must not know what a member means, only how to get at it without failing.

use serde_json::Value;

/// How much of one tool result's text is recorded beside the request itself.
const MAX_RESULT_TEXT: usize = 64 * 1024;

/// A member that is an array, else nothing.
pub(super) fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The text of a message's or a result's content: a string, or parts of which some have a `text`. Cut at
/// [`MAX_RESULT_TEXT`]; the recorded request has all of it.
pub(super) fn content_text(content: &Value) -> String {
    let mut text = String::new();
    let parts = match content {
        Value::String(whole) => {
            push_bounded(&mut text, whole);
            return text;
        }
        Value::Array(parts) => parts,
        // A wrapper around the content itself.
        Value::Object(wrapper) => match wrapper.get("content") {
            Some(Value::Array(parts)) => parts,
            Some(Value::String(whole)) => {
                push_bounded(&mut text, whole);
                return text;
            }
            _ => return text,
        },
        _ => return text,
    };
    for part in parts {
        push_bounded(&mut text, part["text"].as_str().unwrap_or_default());
    }
    text
}

fn push_bounded(text: &mut String, more: &str) {
    let room = MAX_RESULT_TEXT.saturating_sub(text.len());
    text.push_str(&more[..more.floor_char_boundary(room)]);
}

/// JSON that looks like a request, or not, for property tests: member names and texts are those that the
/// dialects look for, the shapes are arbitrary.
#[cfg(test)]
pub(super) fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    const WORDS: &str = "tools input messages content role type name namespace call_id id tool_use_id output \
        text defer_loading tool_name tool_search function function_call function_call_output tool_use \
        tool_search_output tool_result tool_reference assistant developer ToolSearch mcp__probe \
        mcp__probe__probe probe call_0001 toolu_0001 call_search instructions stream model";
    let word = prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        "(- mcp__probe)?.*".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 96, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..8).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(k, v)| (k.to_owned(), v))
                        .collect(),
                )
            }),
        ]
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_concatenated_and_bounded() {
        assert_eq!(content_text(&json!("a")), "a");
        assert_eq!(
            content_text(&json!([{"text": "a"}, {"type": "image"}, {"text": "b"}])),
            "ab"
        );
        assert_eq!(content_text(&json!({"content": [{"text": "a"}]})), "a");
        assert_eq!(content_text(&json!({"content": "a"})), "a");
        assert_eq!(content_text(&json!(3)), "");
        let long = "ü".repeat(MAX_RESULT_TEXT);
        assert_eq!(content_text(&json!(long)).len(), MAX_RESULT_TEXT);
        assert_eq!(
            content_text(&json!([{"text": "x"}, {"text": long}])).len(),
            MAX_RESULT_TEXT - 1
        );
    }
}

//! How two JSON values differ, by value: member order does not count, and 3 equals 3.0.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happened to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was there and is not any more.
    Lost,
    /// It was not there and is now.
    Added,
    /// It has another value.
    Changed,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// A JSON pointer, e.g. `/requestedSchema/properties/value/title`.
    pub at: String,
    /// What happened.
    pub change: Change,
}

/// The most differences that are listed; enough to see what kind of loss it is.
const MAX: usize = 50;

/// Adds the differences between `before` and `after` to `found`.
pub(super) fn compare(
    before: Option<&Value>,
    after: Option<&Value>,
    at: &str,
    found: &mut Vec<Difference>,
) {
    if found.len() >= MAX {
        return;
    }
    let mut push = |change| {
        found.push(Difference {
            at: at.to_owned(),
            change,
        });
    };
    match (before, after) {
        (None, None) => {}
        (Some(_), None) => push(Change::Lost),
        (None, Some(_)) => push(Change::Added),
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            for (key, value) in before {
                compare(Some(value), after.get(key), &child(at, key), found);
            }
            for (key, value) in after {
                if !before.contains_key(key) {
                    compare(None, Some(value), &child(at, key), found);
                }
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for index in 0..before.len().max(after.len()) {
                compare(
                    before.get(index),
                    after.get(index),
                    &format!("{at}/{index}"),
                    found,
                );
            }
        }
        (Some(before), Some(after)) => {
            if !same_scalar(before, after) {
                push(Change::Changed);
            }
        }
    }
}

/// Whether two values are the same by value.
#[must_use]
pub fn same_value(a: &Value, b: &Value) -> bool {
    let mut found = Vec::new();
    compare(Some(a), Some(b), "", &mut found);
    found.is_empty()
}

fn child(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn same_scalar(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b
                || match (a.as_i64(), b.as_i64(), a.as_f64(), b.as_f64()) {
                    (Some(a), Some(b), ..) => a == b,
                    (_, _, Some(a), Some(b)) => a == b,
                    _ => false,
                }
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named() {
        let check = |a: Value, b: Value, expect: &[(&str, Change)]| {
            let mut found = Vec::new();
            compare(Some(&a), Some(&b), "", &mut found);
            let got: Vec<(&str, Change)> =
                found.iter().map(|d| (d.at.as_str(), d.change)).collect();
            assert_eq!(got, expect, "{a} {b}");
        };
        check(json!({"a": 1, "b": 2}), json!({"b": 2.0, "a": 1}), &[]);
        check(
            json!({"a": {"b/c": 1}}),
            json!({"a": {}}),
            &[("/a/b~1c", Change::Lost)],
        );
        check(json!([1, 2]), json!([1]), &[("/1", Change::Lost)]);
        check(json!({}), json!({"x": null}), &[("/x", Change::Added)]);
        check(json!("a"), json!("b"), &[("", Change::Changed)]);
        check(json!(1), json!("1"), &[("", Change::Changed)]);
    }
}

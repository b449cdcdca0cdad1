//! Edits of JSON text.
//!
//! Owns what an edit does at a place. It must not know what is edited.

use serde_json::Value;

/// A change to a JSON value at a JSON pointer.
#[derive(Debug, Clone, Copy)]
pub(in crate::fakes) enum Edit {
    /// Takes the member away.
    Remove(&'static str),
    /// Puts this JSON text there, in the place of what there was.
    Set(&'static str, &'static str),
}

/// JSON text with edits made; the text itself where there is none.
pub(in crate::fakes) fn edited(json: &str, edits: &[Edit]) -> String {
    if edits.is_empty() {
        return json.to_owned();
    }
    let mut value: Value = serde_json::from_str(json).unwrap_or_default();
    for edit in edits {
        apply(&mut value, *edit);
    }
    value.to_string()
}

/// An edit at a place that is not there does nothing; a test keeps the table free of those.
pub(super) fn apply(value: &mut Value, edit: Edit) {
    let (Edit::Remove(at) | Edit::Set(at, _)) = edit;
    let Some((parent, name)) = at.rsplit_once('/') else {
        return;
    };
    let name = name.replace("~1", "/").replace("~0", "~");
    match (value.pointer_mut(parent), edit) {
        (Some(Value::Object(members)), Edit::Remove(_)) => {
            members.shift_remove(&name);
        }
        (Some(Value::Object(members)), Edit::Set(_, json)) => {
            members.insert(name, parsed(json));
        }
        (Some(Value::Array(items)), _) => {
            let Some(index) = name.parse().ok().filter(|index| *index < items.len()) else {
                return;
            };
            match edit {
                Edit::Remove(_) => {
                    items.remove(index);
                }
                Edit::Set(_, json) => items[index] = parsed(json),
            }
        }
        _ => {}
    }
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

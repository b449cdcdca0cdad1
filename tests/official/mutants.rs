//! Mutants: a message with a few things about it changed, as a careless or hostile client would.
//!
//! Owns the changes. Most are small, so that valid and invalid messages both come of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::seeds::Seed;

/// One change, at a place that is chosen by number among all places of the message.
#[derive(Debug, Clone)]
enum Change {
    /// The member or item goes.
    Remove,
    /// It has another value.
    Put(Value),
    /// It has the value that another place of the message has.
    Copy(usize),
    /// It is called otherwise, as an object's member.
    Rename,
    /// A member that nobody knows is added to the object.
    Add(Value),
    /// It stands in an array.
    Wrap,
    /// A whole number becomes a fraction, and a fraction a whole number; 3 becomes 3.0.
    Number,
    /// A string is written in capitals.
    Capitals,
    /// The message has an id, whatever it is.
    Identify,
}

fn change() -> impl Strategy<Value = Change> {
    let value = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(7),
        json!(-1),
        json!(0.5),
        json!(3.0),
        json!(1e300),
        json!(""),
        json!("x"),
        json!("2.0"),
        json!("string"),
        json!("object"),
        json!("accept"),
        json!("input_required"),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!({}),
        json!({"type": "string"}),
        json!({"x": {}}),
        json!({"x": 1}),
    ]);
    prop_oneof![
        3 => Just(Change::Remove),
        4 => value.clone().prop_map(Change::Put),
        2 => any::<usize>().prop_map(Change::Copy),
        1 => Just(Change::Rename),
        4 => value.prop_map(Change::Add),
        1 => Just(Change::Wrap),
        2 => Just(Change::Number),
        1 => Just(Change::Capitals),
        1 => Just(Change::Identify),
    ]
}

/// A seed with one to three changes.
pub(crate) fn mutant(seeds: Vec<Seed>) -> impl Strategy<Value = Seed> {
    let changes = prop::collection::vec((any::<usize>(), change()), 1..4);
    (prop::sample::select(seeds), changes).prop_map(|(mut seed, changes)| {
        for (place, change) in changes {
            seed.value = changed(seed.value, place, &change);
        }
        seed
    })
}

fn changed(mut message: Value, place: usize, change: &Change) -> Value {
    let mut places = Vec::new();
    collect(&message, "", &mut places);
    let at = places[place % places.len()].clone();
    match change {
        Change::Remove => {
            remove(&mut message, &at);
        }
        Change::Rename => {
            if let Some(value) = remove(&mut message, &at)
                && let Some(Value::Object(members)) = parent(&mut message, &at)
            {
                members.insert("renamed".to_owned(), value);
            }
        }
        Change::Copy(other) => {
            let value = message.pointer(&places[other % places.len()]).cloned();
            put(&mut message, &at, |_| value.unwrap_or_default());
        }
        Change::Put(value) => put(&mut message, &at, |_| value.clone()),
        Change::Add(value) => put(&mut message, &at, |before| match before {
            Value::Object(mut members) => {
                members.insert("nobody-knows".to_owned(), value.clone());
                Value::Object(members)
            }
            before => before,
        }),
        Change::Wrap => put(&mut message, &at, |before| json!([before])),
        Change::Number => put(&mut message, &at, |before| match before.as_f64() {
            Some(number) if number.fract() == 0.0 && before.is_i64() => json!(number),
            Some(number) => json!(number + 0.5),
            None => before,
        }),
        Change::Capitals => put(&mut message, &at, |before| match before {
            Value::String(text) => Value::from(text.to_uppercase()),
            before => before,
        }),
        Change::Identify => put(&mut message, "", |before| match before {
            Value::Object(mut members) => {
                members.insert("id".to_owned(), json!(7));
                Value::Object(members)
            }
            before => before,
        }),
    }
    message
}

/// The pointers of all values, the message itself first.
fn collect(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(value, &format!("{at}/{key}"), places);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, &format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
}

fn put(message: &mut Value, at: &str, new: impl FnOnce(Value) -> Value) {
    if let Some(value) = message.pointer_mut(at) {
        *value = new(value.take());
    }
}

fn parent<'v>(message: &'v mut Value, at: &str) -> Option<&'v mut Value> {
    let (parent, _) = at.rsplit_once('/')?;
    message.pointer_mut(parent)
}

fn remove(message: &mut Value, at: &str) -> Option<Value> {
    let (_, key) = at.rsplit_once('/')?;
    match parent(message, at)? {
        Value::Object(members) => members.shift_remove(&key.replace("~1", "/").replace("~0", "~")),
        Value::Array(items) => {
            let index: usize = key.parse().ok()?;
            (index < items.len()).then(|| items.remove(index))
        }
        _ => None,
    }
}

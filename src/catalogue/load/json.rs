//! Reading the JSON texts in a probe file more strictly than `serde_json` does by itself.
//!
//! Owns what a good JSON text is and where a bad one goes wrong. It must not know TOML.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What is wrong with a JSON text, and at which of its bytes.
#[derive(Debug)]
pub(super) struct JsonProblem {
    pub(super) at: Range<usize>,
    pub(super) message: String,
}

/// Parses a JSON object in which no member's name is used twice: clients differ in which of the two they take, so
/// such a probe would not say what it asks.
pub(super) fn object(text: &str) -> Result<Value, JsonProblem> {
    let problem = |error: serde_json::Error| {
        let end = offset(text, error.line(), error.column());
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = error.to_string();
        let message = message.strip_suffix(&place).unwrap_or(&message);
        JsonProblem {
            at: name_before(text, end, message),
            message: message.to_owned(),
        }
    };
    // At the start, because an error of the top level's type has the place of its end.
    let start = text.len() - text.trim_start().len();
    match text[start..].chars().next() {
        Some('{') => {}
        Some(c) => {
            return Err(JsonProblem {
                at: start..start + c.len_utf8(),
                message: "not a JSON object, expected `{`".to_owned(),
            });
        }
        None => {
            return Err(JsonProblem {
                at: 0..0,
                message: "empty, expected a JSON object".to_owned(),
            });
        }
    }
    serde_json::from_str(text)
        .map(|Strict(value)| value)
        .map_err(problem)
}

/// The byte that a line and a column of `serde_json` (columns count bytes, from 1) stand for.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// The member's name that a duplicate was found at: `serde_json` stands behind it.
fn name_before(text: &str, end: usize, message: &str) -> Range<usize> {
    let after = text.len().min(end + 1);
    let name = message
        .strip_prefix(DUPLICATE)
        .and_then(|rest| rest.strip_suffix(ONCE));
    match name.and_then(|name| text.get(..after)?.rfind(&format!("\"{name}\""))) {
        Some(start) => start..after,
        None => end..after,
    }
}

const DUPLICATE: &str = "duplicate member `";
const ONCE: &str = "`, expected each name once";

/// A JSON value without duplicate members.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Strict, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(value)) = elements.next_element()? {
            array.push(value);
        }
        Ok(Strict(array.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Strict, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("{DUPLICATE}{name}{ONCE}")));
            }
            let Strict(value) = members.next_value()?;
            object.insert(name, value);
        }
        Ok(Strict(object.into()))
    }
}

//! The envelope of JSON-RPC: what holds for every message, whatever it says.
//!
//! Owns the four kinds of message and their own members. Rule: basic/index "Messages" (all messages MUST follow
//! JSON-RPC 2.0), "Requests", "Notifications", "Responses", "Error Responses", the same in every revision.

use serde_json::{Map, Value};

use super::{Source, Strength, Violation};
use crate::names::Revision;

const MESSAGES: &str = "basic/index Messages";
/// "Requests MUST include a string or integer ID."
const REQUESTS: &str = "basic/index Requests";
/// "Notifications MUST NOT include an ID."
const NOTIFICATIONS: &str = "basic/index Notifications";

/// The four kinds of message, told apart by their members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Request,
    Notification,
    Result,
    Error,
    Neither,
}

/// The kind of a message by its members alone. A method that is no name is none, so that a message with a result is a
/// reply even then.
pub(super) fn shape(members: &Map<String, Value>) -> Shape {
    if members.get("method").is_some_and(Value::is_string) {
        return match members.contains_key("id") {
            true => Shape::Request,
            false => Shape::Notification,
        };
    }
    match (
        members.contains_key("result"),
        members.contains_key("error"),
    ) {
        (true, _) => Shape::Result,
        (false, true) => Shape::Error,
        (false, false) => Shape::Neither,
    }
}

/// What is wrong with the envelope of a message of that kind.
pub(super) fn check(
    revision: Revision,
    shape: Shape,
    members: &Map<String, Value>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |at: &str, says: &str| found.push(violation(at, says));
    if members
        .get("jsonrpc")
        .is_none_or(|version| version != "2.0")
    {
        wrong("/jsonrpc", "expected \"2.0\"");
    }
    let id = members.get("id");
    let has_id = id.is_some_and(|id| id.is_string() || is_integer(id));
    match shape {
        // No definition of a notification is closed, so that only the sentence forbids the id.
        Shape::Notification if id.is_some() => found.push(Violation {
            clause: NOTIFICATIONS.to_owned(),
            source: Source::Prose,
            ..violation("/id", "expected no id of a notification")
        }),
        Shape::Notification => {}
        Shape::Request if !has_id => found.push(Violation {
            clause: REQUESTS.to_owned(),
            ..violation("/id", "expected a string or a whole number")
        }),
        Shape::Request => {}
        Shape::Result => {
            if !has_id {
                wrong("/id", "expected the id of the request");
            }
            if !members["result"].is_object() {
                wrong("/result", "expected an object");
            }
        }
        Shape::Error => {
            // Left out where the request's own could not be read, since 2025-11-25.
            let may_lack = revision >= Revision::V2025_11_25 && id.is_none();
            if !has_id && !may_lack {
                wrong("/id", "expected the id of the request");
            }
            let error = &members["error"];
            if !is_integer(&error["code"]) {
                wrong("/error/code", "expected a whole number");
            }
            if !error["message"].is_string() {
                wrong("/error/message", "expected a string");
            }
        }
        Shape::Neither => wrong("", "expected a method, a result or an error"),
    }
    found
}

/// A whole number, as JSON Schema counts: 1.0 is one.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// A broken envelope.
pub(super) fn violation(at: &str, says: &str) -> Violation {
    Violation {
        at: at.to_owned(),
        definition: "JSONRPCMessage".to_owned(),
        says: says.to_owned(),
        strength: Strength::Must,
        clause: MESSAGES.to_owned(),
        source: Source::Schema,
    }
}

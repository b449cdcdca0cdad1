//! The rules of all revisions, and the one function that checks a message against them.
//!
//! Owns which definition a message is checked by, and how a violation is worded.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::ValidationError;
use serde_json::{Map, Value};

use super::definitions::{Definitions, SchemaError, own_schemas};
use super::envelope::{self, Shape, shape};
use super::{Message, Source, Strength, Violation, methods, prose};
use crate::names::Revision;
use crate::recording::Dir;

/// At most so many violations of one message are named.
const MAX: usize = 8;
/// The longest phrase; a message is hostile text.
const MAX_SAYS: usize = 200;
/// A value of a message is quoted up to this length.
const MAX_QUOTED: usize = 60;

/// What messages have to look like, in every revision.
pub struct Rules {
    revisions: BTreeMap<Revision, Definitions>,
}

impl Rules {
    /// The project's own.
    #[must_use]
    pub fn builtin() -> &'static Rules {
        static BUILTIN: LazyLock<Rules> = LazyLock::new(|| {
            let definitions = own_schemas().into_iter().filter_map(|(revision, schema)| {
                let definitions = Definitions::of(revision, schema).ok()?;
                Some((revision, definitions))
            });
            Rules {
                revisions: definitions.collect(),
            }
        });
        &BUILTIN
    }

    /// Those of schema files as the specification publishes them, its known mistakes put right.
    ///
    /// # Errors
    /// When a revision is missing, or a file is not the schema of a revision.
    pub fn from_schemas(mut schemas: BTreeMap<Revision, Value>) -> Result<Rules, SchemaError> {
        let mut revisions = BTreeMap::new();
        for revision in Revision::ALL {
            let schema = schemas
                .remove(&revision)
                .ok_or(SchemaError::NoRevision(revision))?;
            let definitions = Definitions::of(revision, schema)?;
            let broken = |definition: &str, reason: String| SchemaError::Broken {
                revision,
                definition: definition.to_owned(),
                reason,
            };
            for name in needed(revision) {
                if !definitions.has(name) {
                    return Err(broken(name, "there is no such definition".to_owned()));
                }
                definitions
                    .compile(name)
                    .map_err(|reason| broken(name, reason))?;
            }
            revisions.insert(revision, definitions);
        }
        Ok(Rules { revisions })
    }

    /// What is wrong with a message by the rules of `revision`; nothing, if it is valid.
    #[must_use]
    pub fn check(
        &self,
        revision: Revision,
        direction: Dir,
        message: &Message<'_>,
    ) -> Vec<Violation> {
        let mut found = match message.value {
            Value::Object(members) => self.check_one(revision, direction, message, members),
            Value::Array(items) => self.check_batch(revision, direction, message, items),
            _ => vec![envelope::violation("", "expected an object")],
        };
        found.extend(prose::check(revision, direction, message.value));
        found.truncate(MAX);
        found
    }

    /// Batches came with 2025-03-26 and went with 2025-06-18: requests and notifications, or replies.
    fn check_batch(
        &self,
        revision: Revision,
        direction: Dir,
        message: &Message<'_>,
        items: &[Value],
    ) -> Vec<Violation> {
        if revision != Revision::V2025_03_26 {
            return vec![envelope::violation(
                "",
                "expected no batch in this revision",
            )];
        }
        let is_reply = |item: &Value| {
            let shape = item.as_object().map(shape);
            matches!(shape, Some(Shape::Result | Shape::Error))
        };
        let replies = items.iter().filter(|item| is_reply(item)).count();
        if replies != 0 && replies != items.len() {
            return vec![envelope::violation(
                "",
                "expected requests or replies, not both",
            )];
        }
        let mut found = Vec::new();
        for (index, value) in items.iter().enumerate() {
            let item = Message { value, ..*message };
            let Value::Object(members) = value else {
                found.push(envelope::violation(
                    &format!("/{index}"),
                    "expected an object",
                ));
                continue;
            };
            let of_item = self.check_one(revision, direction, &item, members);
            found.extend(of_item.into_iter().map(|violation| Violation {
                at: format!("/{index}{}", violation.at),
                ..violation
            }));
            if found.len() >= MAX {
                break;
            }
        }
        found
    }

    fn check_one(
        &self,
        revision: Revision,
        direction: Dir,
        message: &Message<'_>,
        members: &Map<String, Value>,
    ) -> Vec<Violation> {
        let mut found = envelope::check(revision, members);
        let Some(definitions) = self.revisions.get(&revision).filter(|_| found.is_empty()) else {
            return found;
        };
        let generic = match shape(members) {
            Shape::Request => "JSONRPCRequest",
            Shape::Notification => "JSONRPCNotification",
            Shape::Result => "Result",
            Shape::Error | Shape::Neither => return found,
        };
        let (at, value) = match shape(members) {
            Shape::Result => ("/result", &members["result"]),
            _ => ("", message.value),
        };
        let specific = definition_of(revision, direction, message);
        for name in specific.into_iter().chain([generic]) {
            if found.is_empty() {
                check_by(definitions, name, at, value, &mut found);
            }
        }
        if found.is_empty()
            && let Some(inputs) = message.inputs
        {
            check_inputs(definitions, message.value, inputs, &mut found);
        }
        found
    }
}

/// The definition that a message is checked by, beside its envelope: of a request or notification the one of its
/// method, of a result the one of the request's. None where the method is unknown, or not one of that direction.
#[must_use]
pub fn definition_of(
    revision: Revision,
    direction: Dir,
    message: &Message<'_>,
) -> Option<&'static str> {
    let members = message.value.as_object()?;
    let method = members.get("method").and_then(Value::as_str);
    let name = match shape(members) {
        Shape::Request => methods::request(method?, direction, revision),
        Shape::Notification => methods::notification(method?, direction, revision),
        Shape::Result => result_of(revision, message.answers?, &members["result"]),
        Shape::Error | Shape::Neither => None,
    };
    name.filter(|name| {
        let builtin = Rules::builtin().revisions.get(&revision);
        builtin.is_some_and(|definitions| definitions.has(name))
    })
}

/// The definition of a result. Some requests have more than one kind, which the result itself tells apart.
fn result_of(revision: Revision, method: &str, result: &Value) -> Option<&'static str> {
    let may_be_task = ["tools/call", "sampling/createMessage", "elicitation/create"];
    let may_need_input = ["tools/call", "prompts/get", "resources/read"];
    if revision == Revision::V2025_11_25
        && may_be_task.contains(&method)
        && result["task"].is_object()
    {
        return Some("CreateTaskResult");
    }
    if !revision.is_legacy() {
        match result["resultType"].as_str() {
            Some("input_required") if may_need_input.contains(&method) => {
                return Some("InputRequiredResult");
            }
            // A kind of result that an extension defines.
            Some(kind) if kind != "complete" => return None,
            _ => {}
        }
    }
    methods::result(method)
}

/// Each answer to an input request is the result of that request; the schema alone would take it for any of them.
fn check_inputs(
    definitions: &Definitions,
    message: &Value,
    inputs: &Value,
    found: &mut Vec<Violation>,
) {
    let answers = message["params"]["inputResponses"].as_object();
    for (key, answer) in answers.into_iter().flatten() {
        let method = inputs[key]["method"].as_str();
        let Some(name) = method.and_then(methods::result) else {
            continue;
        };
        let key = key.replace('~', "~0").replace('/', "~1");
        let at = format!("/params/inputResponses/{key}");
        check_by(definitions, name, &at, answer, found);
    }
}

fn check_by(
    definitions: &Definitions,
    name: &str,
    at: &str,
    value: &Value,
    found: &mut Vec<Violation>,
) {
    let Some(validator) = definitions.validator(name) else {
        return;
    };
    if validator.is_valid(value) {
        return;
    }
    let errors = validator.iter_errors(value).take(MAX);
    found.extend(errors.map(|error| Violation {
        at: bounded(format!("{at}{}", error.instance_path())),
        definition: name.to_owned(),
        says: says(&error),
        strength: Strength::Schema,
        clause: format!("schema {name}"),
        source: Source::Schema,
    }));
}

/// What the library says, with the value itself only where that is short.
fn says(error: &ValidationError<'_>) -> String {
    let is_short = match error.instance().as_ref() {
        Value::String(text) => text.len() <= MAX_QUOTED,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => true,
    };
    bounded(match is_short {
        true => error.to_string(),
        false => error.masked().to_string(),
    })
}

fn bounded(text: String) -> String {
    match text.char_indices().nth(MAX_SAYS) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

/// The definitions that a schema file of `revision` must have: all that the project's own has and a message is checked by.
fn needed(revision: Revision) -> impl Iterator<Item = &'static str> {
    let requests = methods::requests().flat_map(|row| [row.2, row.3]);
    let notifications = methods::notifications().map(|row| row.2);
    let others = [
        "JSONRPCRequest",
        "JSONRPCNotification",
        "Result",
        "CreateTaskResult",
        "InputRequiredResult",
    ];
    let all = requests.chain(notifications).chain(others);
    all.filter(move |name| {
        let builtin = Rules::builtin().revisions.get(&revision);
        builtin.is_some_and(|definitions| definitions.has(name))
    })
}

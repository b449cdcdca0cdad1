//! The rules of all revisions, and the one function that checks a message against them.
//!
//! Owns which definition a message is checked by. A rule that cannot be used is a violation of every message that it is
//! for, the harness's own included, so that nothing is taken for valid that was not checked.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::definitions::{Definitions, SchemaError, own_schemas};
use super::envelope::{self, Shape, shape};
use super::wording::{bounded, said};
use super::{Message, Source, Strength, Violation, batch, methods, prose};
use crate::names::Revision;
use crate::recording::Dir;

/// At most so many violations of one message are named.
const MAX: usize = 8;

/// What messages have to look like, in every revision.
pub struct Rules {
    revisions: BTreeMap<Revision, Definitions>,
    /// Why there are none, if the project's own cannot be loaded.
    fault: Option<String>,
}

impl Rules {
    /// The project's own.
    #[must_use]
    pub fn builtin() -> &'static Rules {
        static BUILTIN: LazyLock<Rules> = LazyLock::new(|| Rules::of(own_schemas()));
        &BUILTIN
    }

    /// Those of the project's own schemas, or why there are none. Compiling waits until a definition is needed, since
    /// compiling all takes longer than most commands.
    pub(super) fn of(schemas: Result<BTreeMap<Revision, Value>, SchemaError>) -> Rules {
        let load = |mut schemas: BTreeMap<Revision, Value>| {
            let definitions = Revision::ALL.into_iter().map(|revision| {
                let schema = schemas.remove(&revision);
                let schema = schema.ok_or(SchemaError::NoRevision(revision))?;
                Ok((revision, Definitions::of(revision, schema)?))
            });
            definitions.collect::<Result<_, _>>()
        };
        match schemas.and_then(load) {
            Ok(revisions) => Rules {
                revisions,
                fault: None,
            },
            Err(error) => Rules {
                revisions: BTreeMap::new(),
                fault: Some(error.to_string()),
            },
        }
    }

    /// Why these rules cannot be used, if they cannot. Every message breaks them then.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Those of schema files as the specification publishes them, its known mistakes put right.
    ///
    /// # Errors
    /// When a revision is missing, or a file is not the schema of a revision.
    pub fn from_schemas(mut schemas: BTreeMap<Revision, Value>) -> Result<Rules, SchemaError> {
        if let Some(fault) = Rules::builtin().fault() {
            return Err(SchemaError::Builtin(fault.to_owned()));
        }
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
        Ok(Rules {
            revisions,
            fault: None,
        })
    }

    /// What is wrong with a message by the rules of `revision`; nothing, if it is valid.
    #[must_use]
    pub fn check(
        &self,
        revision: Revision,
        direction: Dir,
        message: &Message<'_>,
    ) -> Vec<Violation> {
        let Some(definitions) = self.revisions.get(&revision) else {
            return vec![unusable("JSONRPCMessage", self.fault().unwrap_or("none"))];
        };
        let mut found = match message.value {
            Value::Object(members) => check_one(definitions, revision, direction, message, members),
            Value::Array(items) => check_batch(definitions, revision, direction, message, items),
            _ => vec![envelope::violation("", "expected an object")],
        };
        if found.len() > MAX {
            found.sort_by_key(|violation| violation.strength != Strength::Must);
            found.truncate(MAX);
        }
        found
    }
}

/// A batch as such, and where that is one, each of its messages as if it stood alone.
fn check_batch(
    definitions: &Definitions,
    revision: Revision,
    direction: Dir,
    message: &Message<'_>,
    items: &[Value],
) -> Vec<Violation> {
    let mut found = batch::check(revision, &items.iter().collect::<Vec<_>>());
    if found.iter().any(|violation| violation.at.is_empty()) {
        return found;
    }
    for (index, value) in items.iter().enumerate() {
        let item = Message { value, ..*message };
        let of_item = match value {
            Value::Object(members) => check_one(definitions, revision, direction, &item, members),
            _ => vec![envelope::violation("", "expected an object")],
        };
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
    definitions: &Definitions,
    revision: Revision,
    direction: Dir,
    message: &Message<'_>,
    members: &Map<String, Value>,
) -> Vec<Violation> {
    let shape = shape_of(revision, direction, members);
    let mut found = envelope::check(revision, shape, members);
    let (generic, at, value) = match shape {
        Shape::Request => (Some("JSONRPCRequest"), "", message.value),
        Shape::Notification => (Some("JSONRPCNotification"), "", message.value),
        Shape::Result => (Some("Result"), "/result", &members["result"]),
        Shape::Error | Shape::Neither => (None, "", message.value),
    };
    // Where the envelope is broken, the definitions would only say so again.
    if found
        .iter()
        .all(|violation| violation.source == Source::Prose)
    {
        let specific = definition_of(revision, direction, message);
        let mut of_schema = Vec::new();
        for name in specific.into_iter().chain(generic) {
            if of_schema.is_empty() {
                check_by(definitions, name, at, value, &mut of_schema);
            }
        }
        found.extend(of_schema);
    }
    if let Some(inputs) = message.inputs {
        check_inputs(definitions, message.value, inputs, &mut found);
    }
    found.extend(prose::check(revision, direction, message.value));
    found
}

/// The kind of a message. Of a method that the revision has it is the method that tells a request from a notification:
/// a request that lacks its id (basic/index "Requests") is no unknown notification, nor is a notification with an id
/// ("Notifications") an unknown request.
fn shape_of(revision: Revision, direction: Dir, members: &Map<String, Value>) -> Shape {
    let shape = shape(members);
    let method = members.get("method").and_then(Value::as_str);
    let Some(method) = method else {
        return shape;
    };
    if known(revision, methods::request(method, direction, revision)).is_some() {
        Shape::Request
    } else if known(revision, methods::notification(method, direction, revision)).is_some() {
        Shape::Notification
    } else {
        shape
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
    let name = match shape_of(revision, direction, members) {
        Shape::Request => methods::request(method?, direction, revision),
        Shape::Notification => methods::notification(method?, direction, revision),
        Shape::Result => result_of(revision, message.answers?, &members["result"]),
        Shape::Error | Shape::Neither => None,
    };
    known(revision, name)
}

/// The definition, if the revision has it.
fn known(revision: Revision, name: Option<&'static str>) -> Option<&'static str> {
    let builtin = Rules::builtin().revisions.get(&revision)?;
    name.filter(|name| builtin.has(name))
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
        let mut of_answer = Vec::new();
        check_by(definitions, name, &at, answer, &mut of_answer);
        if !of_answer.is_empty() {
            // That it is the answer to nothing at all is said better by its own definition.
            found.retain(|violation| violation.at != at);
        }
        found.extend(of_answer);
    }
}

fn check_by(
    definitions: &Definitions,
    name: &str,
    at: &str,
    value: &Value,
    found: &mut Vec<Violation>,
) {
    let validator = match definitions.validator(name) {
        Ok(validator) => validator,
        Err(reason) => return found.push(unusable(name, reason)),
    };
    if validator.is_valid(value) {
        return;
    }
    let said = validator.iter_errors(value).flat_map(|error| said(&error));
    found.extend(said.take(MAX).map(|said| Violation {
        at: bounded(format!("{at}{}", said.at)),
        definition: name.to_owned(),
        says: said.says,
        strength: Strength::Schema,
        clause: format!("schema {name}"),
        source: Source::Schema,
    }));
}

/// A rule of the harness that is broken itself.
fn unusable(definition: &str, reason: &str) -> Violation {
    Violation {
        at: String::new(),
        definition: definition.to_owned(),
        says: bounded(format!("capmatrix cannot use its own rule: {reason}")),
        strength: Strength::Schema,
        clause: format!("schema {definition}"),
        source: Source::Schema,
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
    all.filter_map(move |name| known(revision, Some(name)))
}

//! The table of named behaviours: what each does to the conversation, and the judgement it must get.
//!
//! Owns what a behaviour writes and shows; every function here is pure. It must not know pipes or processes, and
//! nothing of how a verdict is reached: it only names the one that must come out.
//!
//! A new behaviour is a new row. It replaces those hooks of [`BEHAVES`] in which it differs.

use anyhow::bail;
use serde_json::{Value, json};

use crate::names::did_you_mean;

/// One named behaviour of the fake client and the judgement it must get.
#[derive(Debug, Clone, Copy)]
pub struct Behaviour {
    /// What `capmatrix fake-client` is given; kebab-case.
    pub name: &'static str,
    /// What it does, in one line; reads after "a client that".
    pub does: &'static str,
    /// The probe whose cell is judged, and the only one at which the client departs from `behaves`.
    pub subject: &'static str,
    /// The verdict's kind, in snake_case.
    pub verdict: &'static str,
    /// Who is to blame, in snake_case.
    pub blame: &'static str,
    pub(super) hooks: Hooks,
}

/// The points at which a behaviour can differ. They act while the subject is being called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hooks {
    /// Whether a call that the host asks for reaches the server.
    pub(super) calls: bool,
    /// What the client does at once when the request arrives.
    pub(super) on_request: fn(&Request) -> Reaction,
    /// The JSON text that the host is shown for the request.
    pub(super) presents: fn(&Request) -> String,
    /// The bytes that go to the server once the host has answered; the second argument is the answer's JSON text.
    pub(super) replies: fn(&Request, &str) -> Vec<u8>,
}

/// What a client does with a request before anybody sees it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Shows it to the host and waits for the answer.
    Present,
    /// Shows it to nobody and writes these bytes; none is silence.
    Write(Vec<u8>),
    /// Ends its own process with this code.
    Exit(i32),
}

/// An `elicitation/create` request as it arrived. Both members stay JSON text, so that nothing is lost by parsing:
/// the id goes back as it came, and the host sees what was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) params: String,
}

impl Request {
    fn params(&self) -> Value {
        serde_json::from_str(&self.params).unwrap_or_default()
    }
}

/// The hooks of the client that does everything right.
pub(super) const BEHAVES: Hooks = Hooks {
    calls: true,
    on_request: |_| Reaction::Present,
    presents: |request| request.params.clone(),
    replies: |request, answer| result(&request.id, answer),
};

const TITLE: &str = "elicitation/form/top-level-title";
const DESCRIPTION: &str = "elicitation/form/top-level-description";
const PROPERTY_TEXTS: &str = "elicitation/form/property-title-description";
/// The subject where any form would do. Its property is required and constrained, so that there is something to break.
const FORM: &str = "elicitation/form/string-length";

/// All behaviours, the sound one first.
pub const BEHAVIOURS: &[Behaviour] = &[
    Behaviour {
        name: "behaves",
        does: "presents every request unaltered and passes the answer on",
        subject: TITLE,
        verdict: "works",
        blame: "nobody",
        hooks: BEHAVES,
    },
    Behaviour {
        name: "rejects-title",
        does: "answers a schema that has a top-level title with a JSON-RPC error",
        subject: TITLE,
        verdict: "breaks",
        blame: "client",
        hooks: Hooks {
            on_request: reject_title,
            ..BEHAVES
        },
    },
    Behaviour {
        name: "rejects-description",
        does: "cancels a schema that has a top-level description, and shows it to nobody",
        subject: DESCRIPTION,
        verdict: "breaks",
        blame: "client",
        hooks: Hooks {
            on_request: cancel_description,
            ..BEHAVES
        },
    },
    Behaviour {
        name: "unknown-action",
        does: "replies with the action `reject`, which there is not",
        subject: FORM,
        verdict: "violates",
        blame: "client",
        hooks: Hooks {
            replies: |request, _| result(&request.id, r#"{"action":"reject"}"#),
            ..BEHAVES
        },
    },
    Behaviour {
        name: "accepts-without-content",
        does: "replies `accept` and leaves the content out, although the schema requires a property",
        subject: FORM,
        verdict: "violates",
        blame: "client",
        hooks: Hooks {
            replies: |request, _| result(&request.id, r#"{"action":"accept"}"#),
            ..BEHAVES
        },
    },
    Behaviour {
        name: "accepts-invalid-content",
        does: "replies `accept` with content of another type than the schema asks for",
        subject: FORM,
        verdict: "violates",
        blame: "client",
        hooks: Hooks {
            replies: accept_invalid_content,
            ..BEHAVES
        },
    },
    Behaviour {
        name: "never-answers",
        does: "presents nothing and replies nothing",
        subject: FORM,
        verdict: "breaks",
        blame: "client",
        hooks: Hooks {
            on_request: |_| Reaction::Write(Vec::new()),
            ..BEHAVES
        },
    },
    Behaviour {
        name: "answers-twice",
        does: "writes its reply two times",
        subject: FORM,
        verdict: "violates",
        blame: "client",
        hooks: Hooks {
            replies: |request, answer| result(&request.id, answer).repeat(2),
            ..BEHAVES
        },
    },
    Behaviour {
        name: "wrong-id",
        does: "replies with an id that no request has used",
        subject: FORM,
        verdict: "violates",
        blame: "client",
        hooks: Hooks {
            replies: |request, answer| result(&unused_id(&request.id), answer),
            ..BEHAVES
        },
    },
    Behaviour {
        name: "exits-midway",
        does: "ends its process with code 7 when the request arrives",
        subject: FORM,
        verdict: "breaks",
        blame: "client",
        hooks: Hooks {
            on_request: |_| Reaction::Exit(7),
            ..BEHAVES
        },
    },
    Behaviour {
        name: "not-json",
        does: "writes a line that is not JSON in place of its reply",
        subject: FORM,
        verdict: "violates",
        blame: "client",
        hooks: Hooks {
            replies: |_, _| b"this is not JSON\n".to_vec(),
            ..BEHAVES
        },
    },
    Behaviour {
        name: "alters-schema",
        does: "presents the request without the titles and descriptions of its properties",
        subject: PROPERTY_TEXTS,
        verdict: "altered",
        blame: "client",
        hooks: Hooks {
            presents: without_property_texts,
            ..BEHAVES
        },
    },
    Behaviour {
        name: "never-calls",
        does: "reports a call as done without having called the tool",
        subject: FORM,
        verdict: "unknown",
        blame: "nobody",
        hooks: Hooks {
            calls: false,
            ..BEHAVES
        },
    },
];

/// The behaviour of that name.
pub(super) fn find(name: &str) -> anyhow::Result<&'static Behaviour> {
    if let Some(behaviour) = BEHAVIOURS.iter().find(|behaviour| behaviour.name == name) {
        return Ok(behaviour);
    }
    let known = || BEHAVIOURS.iter().map(|behaviour| behaviour.name);
    let hint = match did_you_mean(name, known()) {
        hint if hint.is_empty() => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
        hint => hint,
    };
    bail!("no behaviour `{name}`; {hint}");
}

fn result(id: &str, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes()
}

fn reject_title(request: &Request) -> Reaction {
    if request.params()["requestedSchema"].get("title").is_none() {
        return Reaction::Present;
    }
    let error = json!({"code": -32602, "message": "requestedSchema: unknown member `title`"});
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}\n",
        request.id
    );
    Reaction::Write(line.into_bytes())
}

fn cancel_description(request: &Request) -> Reaction {
    if request.params()["requestedSchema"]
        .get("description")
        .is_none()
    {
        return Reaction::Present;
    }
    Reaction::Write(result(&request.id, r#"{"action":"cancel"}"#))
}

fn accept_invalid_content(request: &Request, _answer: &str) -> Vec<u8> {
    let params = request.params();
    let property = params["requestedSchema"]["properties"]
        .as_object()
        .and_then(|properties| properties.iter().next());
    let content = match property {
        Some((name, schema)) if schema["type"] != "string" => {
            json!({name: "not what was asked for"})
        }
        Some((name, _)) => json!({name: 5}),
        None => json!({"value": 5}),
    };
    let answer = json!({"action": "accept", "content": content});
    result(&request.id, &answer.to_string())
}

/// An id of the same type, where it is a number: a client that miscounts, not one that cannot write ids.
fn unused_id(id: &str) -> String {
    match id.parse::<i64>() {
        Ok(number) => number.wrapping_add(1000).to_string(),
        Err(_) => r#""nobody-used-this-id""#.to_owned(),
    }
}

fn without_property_texts(request: &Request) -> String {
    let mut params = request.params();
    if let Some(properties) = params["requestedSchema"]["properties"].as_object_mut() {
        for schema in properties.values_mut().filter_map(Value::as_object_mut) {
            schema.shift_remove("title");
            schema.shift_remove("description");
        }
    }
    params.to_string()
}

#[cfg(test)]
mod tests;

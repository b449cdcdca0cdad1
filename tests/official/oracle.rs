//! What the official schema files say of a message.
//!
//! Owns reading them. The known mistakes are put right first; everything else is taken as it stands. A message is held
//! against the definition of its kind of envelope and, where its method is known, the one of its method. Which that is
//! comes of the files' own unions and names, never of the rules that are tested here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use capmatrix::names::Revision;
use capmatrix::recording::Dir;
use capmatrix::spec::errata;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::seeds::Seed;

fn folder() -> PathBuf {
    std::env::var_os("CAPMATRIX_SPEC_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/spec"),
        PathBuf::from,
    )
}

/// The official schema file of a revision.
pub(crate) fn file(revision: Revision) -> Value {
    let path = folder().join(revision.as_str()).join("schema.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "the official schema {} is needed here: {error}; CAPMATRIX_SPEC_DIR names another folder",
            path.display()
        )
    });
    serde_json::from_str(&text).expect("the official schema is JSON")
}

/// The definitions of the official file, as they stand.
pub(crate) fn definitions(revision: Revision) -> Value {
    let mut file = file(revision);
    let place = ["$defs", "definitions"]
        .into_iter()
        .find(|place| file.get(place).is_some());
    file[place.expect("definitions")].take()
}

/// The validator of one definition.
pub(crate) fn validator(definitions: &Value, name: &str) -> Validator {
    let mut schema = json!({"$ref": format!("#/definitions/{name}")});
    // References in the files name either place.
    schema["definitions"] = definitions.clone();
    schema["$defs"] = definitions.clone();
    jsonschema::draft202012::options()
        .should_validate_formats(false)
        .build(&schema)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All official definitions of a revision that are needed here, compiled.
pub(crate) struct Oracle {
    revision: Revision,
    validators: BTreeMap<String, Validator>,
    unions: Unions,
    /// The definition of the result of each request, by method, whoever sends it.
    results: BTreeMap<String, String>,
}

impl Oracle {
    pub(crate) fn of(revision: Revision) -> Oracle {
        let mut definitions = definitions(revision);
        errata::apply(revision, &mut definitions);
        let unions = unions(revision);
        let results = results(&definitions);
        let others = [
            "JSONRPCRequest",
            "JSONRPCNotification",
            "JSONRPCResponse",
            "JSONRPCError",
            "JSONRPCResultResponse",
            "JSONRPCErrorResponse",
            "JSONRPCBatchRequest",
            "JSONRPCBatchResponse",
            "CreateTaskResult",
            "InputRequiredResult",
        ];
        let names: BTreeSet<String> = others
            .into_iter()
            .filter(|name| definitions.get(name).is_some())
            .map(str::to_owned)
            .chain(unions.client.values().cloned())
            .chain(unions.server.values().cloned())
            .chain(results.values().cloned())
            .collect();
        let compiled = names.into_iter().map(|name| {
            let compiled = validator(&definitions, &name);
            (name, compiled)
        });
        Oracle {
            revision,
            validators: compiled.collect(),
            unions,
            results,
        }
    }

    /// Whether the official definitions allow a message.
    pub(crate) fn is_valid(&self, seed: &Seed) -> bool {
        self.held_against(seed).is_some_and(|all| {
            all.iter()
                .all(|(name, value)| self.validators[*name].is_valid(value))
        })
    }

    /// What they say against it.
    pub(crate) fn errors(&self, seed: &Seed) -> Vec<String> {
        let all = self.held_against(seed).unwrap_or_default();
        let errors = all.iter().flat_map(|(name, value)| {
            let errors = self.validators[*name].iter_errors(value);
            errors.map(move |error| format!("{name}{}: {error}", error.instance_path()))
        });
        errors.take(5).collect()
    }

    /// The definitions that a message is held against, each with the part of the message that it is for; none if
    /// there is none for it.
    fn held_against<'s>(&'s self, seed: &'s Seed) -> Option<Vec<(&'s str, &'s Value)>> {
        let value = &seed.value;
        if let Value::Array(items) = value {
            let is_reply = items.iter().any(|item| item["method"].is_null());
            let name = if is_reply {
                "JSONRPCBatchResponse"
            } else {
                "JSONRPCBatchRequest"
            };
            let mut all = vec![(self.name(name)?, value)];
            for item in items {
                all.extend(self.of_one(seed, item)?);
            }
            return Some(all);
        }
        self.of_one(seed, value)
    }

    fn of_one<'s>(&'s self, seed: &'s Seed, value: &'s Value) -> Option<Vec<(&'s str, &'s Value)>> {
        let members = value.as_object()?;
        let method = members.get("method").and_then(Value::as_str);
        let known = method.and_then(|method| self.unions.by_method(seed.direction).get(method));
        let is_request = known.map_or(members.contains_key("id"), |name| name.ends_with("Request"));
        let envelope = match (method, is_request) {
            (Some(_), true) => self.name("JSONRPCRequest")?,
            (Some(_), false) => self.name("JSONRPCNotification")?,
            (None, _) if members.contains_key("result") => self
                .name("JSONRPCResultResponse")
                .or_else(|| self.name("JSONRPCResponse"))?,
            (None, _) => self
                .name("JSONRPCErrorResponse")
                .or_else(|| self.name("JSONRPCError"))?,
        };
        let mut all = vec![(envelope, value)];
        if let Some(name) = known {
            all.push((self.name(name)?, value));
        }
        if let (None, Some(result), Some(answers)) = (method, members.get("result"), &seed.answers)
            && let Some(name) = self.result_of(answers, result)
        {
            all.push((self.name(name)?, result));
        }
        Some(all)
    }

    /// The definition of a result. Which of several kinds it is, it says itself: basic/utilities/tasks (2025-11-25),
    /// basic/patterns/mrtr (2026-07-28).
    fn result_of(&self, answers: &str, result: &Value) -> Option<&str> {
        let may_be_task = ["tools/call", "sampling/createMessage", "elicitation/create"];
        let may_need_input = ["tools/call", "prompts/get", "resources/read"];
        match result["resultType"].as_str() {
            _ if self.revision == Revision::V2025_11_25
                && may_be_task.contains(&answers)
                && result["task"].is_object() =>
            {
                Some("CreateTaskResult")
            }
            Some("input_required")
                if !self.revision.is_legacy() && may_need_input.contains(&answers) =>
            {
                Some("InputRequiredResult")
            }
            // What an extension defines.
            Some(kind) if !self.revision.is_legacy() && kind != "complete" => None,
            _ => self.results.get(answers).map(String::as_str),
        }
    }

    fn name(&self, name: &str) -> Option<&str> {
        self.validators
            .get_key_value(name)
            .map(|(name, _)| name.as_str())
    }
}

/// The definitions of the results by method: by name, as the files give no other link in all revisions. Where there is
/// none of that name the result is empty.
fn results(definitions: &Value) -> BTreeMap<String, String> {
    let all = definitions.as_object().expect("definitions");
    let requests = all.iter().filter_map(|(name, definition)| {
        let method = definition["properties"]["method"]["const"].as_str()?;
        let result = format!("{}Result", name.strip_suffix("Request")?);
        let result = match all.contains_key(&result) {
            true => result,
            false => "EmptyResult".to_owned(),
        };
        Some((method.to_owned(), result))
    });
    requests.collect()
}

/// The members of the official unions of requests and notifications, by method.
pub(crate) struct Unions {
    client: BTreeMap<String, String>,
    server: BTreeMap<String, String>,
}

impl Unions {
    fn by_method(&self, direction: Dir) -> &BTreeMap<String, String> {
        match direction {
            Dir::ClientToServer => &self.client,
            Dir::ServerToClient => &self.server,
        }
    }

    pub(crate) fn of(&self, direction: Dir) -> BTreeSet<String> {
        self.by_method(direction).values().cloned().collect()
    }
}

pub(crate) fn unions(revision: Revision) -> Unions {
    let definitions = definitions(revision);
    let method = |definition: &Value| {
        let method = definition["properties"]["method"]["const"].as_str();
        method.map(str::to_owned)
    };
    let members = |name: &str| -> BTreeMap<String, String> {
        let union = &definitions[name];
        // A union of one was written out by the generator.
        if let Some(only) = method(union) {
            let kind = name
                .trim_start_matches("Client")
                .trim_start_matches("Server");
            let all = definitions.as_object().expect("definitions").iter();
            let mut same = all.filter(|(other, definition)| {
                *other != name
                    && other.ends_with(kind)
                    && method(definition).as_ref() == Some(&only)
            });
            let (name, _) = same.next().expect("a definition with that method");
            return BTreeMap::from([(only, name.clone())]);
        }
        let all = union["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
        let members = all.iter().map(|item| {
            let reference = item["$ref"].as_str().expect("a reference");
            let (_, name) = reference.rsplit_once('/').expect("a definition");
            let method = method(&definitions[name]).expect("a method");
            (method, name.to_owned())
        });
        members.collect()
    };
    let both = |a: &str, b: &str| members(a).into_iter().chain(members(b)).collect();
    Unions {
        client: both("ClientRequest", "ClientNotification"),
        server: both("ServerRequest", "ServerNotification"),
    }
}

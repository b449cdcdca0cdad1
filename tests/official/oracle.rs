//! What the official schema files say of a message.
//!
//! Owns reading them. The known mistakes are put right first; everything else is taken as it stands. A message is held
//! against the definition of its kind of envelope and, where its method is known, the one of its method.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use capmatrix::names::Revision;
use capmatrix::recording::Dir;
use capmatrix::spec::{self, errata};
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
}

impl Oracle {
    pub(crate) fn of(revision: Revision) -> Oracle {
        let mut definitions = definitions(revision);
        errata::apply(revision, &mut definitions);
        let requests = spec::requests().flat_map(|row| [row.2, row.3]);
        let notifications = spec::notifications().map(|row| row.2);
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
        let names = requests.chain(notifications).chain(others);
        let names: BTreeSet<&str> = names
            .filter(|name| definitions.get(name).is_some())
            .collect();
        let compiled = names
            .into_iter()
            .map(|name| (name.to_owned(), validator(&definitions, name)));
        Oracle {
            revision,
            validators: compiled.collect(),
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
        let is_request = members.get("method").is_some_and(Value::is_string);
        let envelope = match (is_request, members.contains_key("id")) {
            (true, true) => self.name("JSONRPCRequest")?,
            (true, false) => self.name("JSONRPCNotification")?,
            (false, _) if members.contains_key("result") => self
                .name("JSONRPCResultResponse")
                .or_else(|| self.name("JSONRPCResponse"))?,
            (false, _) => self
                .name("JSONRPCErrorResponse")
                .or_else(|| self.name("JSONRPCError"))?,
        };
        let mut all = vec![(envelope, value)];
        let message = spec::Message {
            value,
            answers: seed.answers.as_deref(),
            inputs: None,
        };
        if let Some(name) = spec::definition_of(self.revision, seed.direction, &message) {
            let part = if is_request { value } else { &value["result"] };
            all.push((self.name(name)?, part));
        }
        Some(all)
    }

    fn name(&self, name: &str) -> Option<&str> {
        self.validators
            .get_key_value(name)
            .map(|(name, _)| name.as_str())
    }
}

/// The members of the official unions of requests and notifications.
pub(crate) struct Unions {
    client: BTreeSet<String>,
    server: BTreeSet<String>,
}

impl Unions {
    pub(crate) fn of(&self, direction: Dir) -> BTreeSet<String> {
        match direction {
            Dir::ClientToServer => self.client.clone(),
            Dir::ServerToClient => self.server.clone(),
        }
    }
}

pub(crate) fn unions(revision: Revision) -> Unions {
    let definitions = definitions(revision);
    let members = |name: &str| -> BTreeSet<String> {
        let union = &definitions[name];
        let one = [union.clone()];
        let all = union["anyOf"].as_array().map_or(&one[..], Vec::as_slice);
        let names = all.iter().filter_map(|item| {
            let reference = item["$ref"].as_str()?;
            reference.rsplit('/').next().map(str::to_owned)
        });
        let mut names: BTreeSet<String> = names.collect();
        // A union of one was written out by the generator.
        if let Some(method) = union["properties"]["method"]["const"].as_str() {
            let row = spec::notifications()
                .find(|row| row.0 == method)
                .expect("a notification");
            names.insert(row.2.to_owned());
        }
        names
    };
    let both = |a: &str, b: &str| members(a).union(&members(b)).cloned().collect();
    Unions {
        client: both("ClientRequest", "ClientNotification"),
        server: both("ServerRequest", "ServerNotification"),
    }
}

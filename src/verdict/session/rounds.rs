//! The rounds of one tool call: results that ask for input, and the calls that are made again
//! (2026-07-28 basic/patterns/mrtr, Client Requirements).
//!
//! Owns the rules that need both. It must not know what an answer says, which is the result's own schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::spec::{Source, Strength, Violation};

/// The calls whose results asked for input, by what the call is for.
#[derive(Default)]
pub(super) struct Rounds(BTreeMap<String, Asked>);

/// A call, first made or made again, that came back with such a result.
#[derive(Default)]
struct Asked {
    /// The last of these results.
    result: Value,
    /// The ids under which the call was made.
    ids: BTreeSet<String>,
}

impl Rounds {
    /// Takes note of a result of ours for the call `call`, which was made under `id`.
    pub(super) fn ours(&mut self, call: &str, id: &str, result: &Value) {
        if result["resultType"] == "input_required" {
            let asked = self.0.entry(call.to_owned()).or_default();
            asked.result = result.clone();
            asked.ids.insert(id.to_owned());
        }
    }

    /// What the last result of this call asked for.
    pub(super) fn inputs(&self, call: &str) -> Option<&Value> {
        self.0.get(call)?.result.get("inputRequests")
    }

    /// What is wrong with a call that is made again under `id`, with these `params`. Other requests may use an id again
    /// once it was answered.
    pub(super) fn broken(&self, call: &str, id: Option<&str>, params: &Value) -> Vec<Violation> {
        let Some(Asked { result: asked, ids }) = self.0.get(call) else {
            return Vec::new();
        };
        let state = |value: &Value| value.get("requestState").cloned();
        let mut found = Vec::new();
        if id.is_some_and(|id| ids.contains(id)) {
            found.push(must("/id", "the id of the call that was made before"));
        }
        match (state(asked), state(params)) {
            (Some(given), Some(back)) if given != back => {
                found.push(must(
                    "/params/requestState",
                    "not the exact value that was given",
                ));
            }
            (Some(_), None) => found.push(must("/params", "the requestState is missing")),
            (None, Some(_)) => found.push(must(
                "/params/requestState",
                "a state, where none was given",
            )),
            _ => {}
        }
        let responses = params.get("inputResponses");
        let is_there = |key: &str| responses.is_some_and(|all| all.get(key).is_some());
        let wanted = asked["inputRequests"].as_object();
        for key in wanted.into_iter().flat_map(serde_json::Map::keys) {
            if !is_there(key) {
                let says =
                    format!("no input for \"{key}\", which is to be made before calling again");
                found.push(must("/params/inputResponses", &says));
            }
        }
        found
    }
}

fn must(at: &str, says: &str) -> Violation {
    Violation {
        at: at.to_owned(),
        definition: "InputRequiredResult".to_owned(),
        says: says.to_owned(),
        strength: Strength::Must,
        clause: "basic/patterns/mrtr Client Requirements".to_owned(),
        source: Source::Prose,
    }
}

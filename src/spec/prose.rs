//! Rules that only a sentence says: the official schema allows what they forbid.
//!
//! Owns these few. Each names its page and heading and the revisions that have it.

use serde_json::Value;

use super::{Source, Strength, Violation};
use crate::names::Revision;
use crate::recording::Dir;

struct Rule {
    about: &'static str,
    holds: fn(Revision, Dir) -> bool,
    clause: &'static str,
    strength: Strength,
    /// Where it is broken, if it is.
    breaks: fn(&Value) -> Option<&'static str>,
    says: &'static str,
}

const RULES: &[Rule] = &[
    // JSON-RPC 2.0, section 5: either the one or the other.
    Rule {
        about: "result and error",
        holds: |_, _| true,
        clause: "basic/index Messages",
        strength: Strength::Must,
        breaks: |message| {
            let is_reply = message["method"].is_null();
            let has = |member| {
                message
                    .get(member)
                    .is_some_and(|value: &Value| !value.is_null())
            };
            (is_reply && has("result") && has("error")).then_some("/error")
        },
        says: "expected a result or an error, not both",
    },
    Rule {
        about: "elicitation modes",
        holds: |revision, direction| {
            revision == Revision::V2025_11_25 && direction == Dir::ClientToServer
        },
        clause: "client/elicitation Capabilities",
        strength: Strength::Must,
        breaks: |message| {
            let is_broken = message["method"] == "initialize"
                && has_no_mode(&message["params"]["capabilities"]["elicitation"]);
            is_broken.then_some("/params/capabilities/elicitation")
        },
        says: "expected at least one mode, form or url",
    },
    // The same sentence; the capabilities are in every request since there is no handshake.
    Rule {
        about: "elicitation modes",
        holds: |revision, direction| {
            revision == Revision::V2026_07_28 && direction == Dir::ClientToServer
        },
        clause: "client/elicitation Capabilities",
        strength: Strength::Must,
        breaks: |message| {
            let capabilities =
                &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            has_no_mode(&capabilities["elicitation"])
                .then_some("/params/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation")
        },
        says: "expected at least one mode, form or url",
    },
    // "Fields marked as required MUST be included on every request."
    Rule {
        about: "per-request fields",
        holds: |revision, direction| {
            revision == Revision::V2026_07_28 && direction == Dir::ClientToServer
        },
        clause: "basic/index _meta",
        strength: Strength::Must,
        breaks: |message| {
            let method = message["method"].as_str();
            // With an id a notification is still none.
            let is_request = method.is_some_and(|method| !method.starts_with("notifications/"))
                && message.get("id").is_some();
            is_request
                .then(|| lacks_a_field(&message["params"]))
                .flatten()
        },
        says: "expected _meta with io.modelcontextprotocol/protocolVersion and /clientCapabilities",
    },
    Rule {
        about: "replies of a client",
        holds: |revision, direction| {
            revision == Revision::V2026_07_28 && direction == Dir::ClientToServer
        },
        clause: "basic/transports/stdio Sending Messages",
        strength: Strength::Must,
        breaks: |message| {
            let is_reply = message["method"].is_null()
                && (message.get("result").is_some() || message.get("error").is_some());
            is_reply.then_some("")
        },
        says: "expected no JSON-RPC reply of a client",
    },
    Rule {
        about: "requests of a server",
        holds: |revision, direction| {
            revision == Revision::V2026_07_28 && direction == Dir::ServerToClient
        },
        clause: "basic/transports/stdio Receiving Messages",
        strength: Strength::Must,
        breaks: |message| {
            (message["method"].is_string() && message.get("id").is_some()).then_some("/method")
        },
        says: "expected no JSON-RPC request of a server",
    },
];

/// Where a request lacks one of the fields that every request has to have, if it does.
fn lacks_a_field(params: &Value) -> Option<&'static str> {
    let fields = [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
    ];
    let has = |field: &&str| params["_meta"].get(*field).is_some();
    match params.get("_meta") {
        None if params.is_object() => Some("/params"),
        Some(meta) if meta.is_object() && !fields.iter().all(has) => Some("/params/_meta"),
        _ => None,
    }
}

/// "Clients that declare the elicitation capability MUST support at least one mode"; an empty object means form.
fn has_no_mode(capability: &Value) -> bool {
    let members = capability.as_object();
    members.is_some_and(|modes| {
        !modes.is_empty() && !["form", "url"].iter().any(|mode| modes.contains_key(*mode))
    })
}

/// What sentences forbid in a message that the schema allows. Of a batch, each item is a message.
pub(super) fn check(revision: Revision, direction: Dir, message: &Value) -> Vec<Violation> {
    RULES
        .iter()
        .filter(|rule| (rule.holds)(revision, direction))
        .filter_map(|rule| {
            let at = (rule.breaks)(message)?;
            Some(Violation {
                at: at.to_owned(),
                definition: rule.about.to_owned(),
                says: rule.says.to_owned(),
                strength: rule.strength,
                clause: rule.clause.to_owned(),
                source: Source::Prose,
            })
        })
        .collect()
}

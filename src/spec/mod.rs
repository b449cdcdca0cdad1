//! What the specification asks of messages, revision by revision.
//!
//! Owns the rules: the structure of the messages that pass between a probe server and a client, as compact JSON
//! Schemas of the project's own (`schemas/`, each revision's file holding what is new or changed since the one before),
//! the envelope of JSON-RPC, the few sentences that no schema can say, and the mistakes that the official schema
//! files are known to have. Pure. It must not know clients, probes or verdicts.
//!
//! `tests/official.rs` proves that these rules agree with the official files. Formats annotate and are not
//! asserted, here as there. A method that a revision does not have is an unknown one, which every revision's schema
//! leaves open (`JSONRPCRequest` and `JSONRPCNotification` ask for a `method` of any name): `initialize` and
//! `notifications/initialized`, which 2026-07-28 removed, are no violation there, and only their envelope is checked.

mod batch;
mod definitions;
mod envelope;
pub mod errata;
mod methods;
mod prose;
mod rules;
mod wording;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names::Revision;
use crate::recording::Dir;

pub use batch::check as check_batch;
pub use definitions::SchemaError;
pub use methods::{Who, notifications, requests};
pub use rules::{Rules, definition_of};

/// How strong a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Strength {
    /// MUST, MUST NOT.
    Must,
    /// SHOULD, SHOULD NOT.
    Should,
    /// MAY.
    May,
    /// No sentence, but the normative schema: stricter or looser than it allows.
    Schema,
}

impl Strength {
    /// The keyword.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strength::Must => "MUST",
            Strength::Should => "SHOULD",
            Strength::May => "MAY",
            Strength::Schema => "SCHEMA",
        }
    }
}

/// A message, and what must be known beside it to say what it has to look like.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The whole JSON-RPC message.
    pub value: &'a Value,
    /// Of a reply: the method of the request that it answers, if that is known.
    pub answers: Option<&'a str>,
    /// Of a request that is sent again with `inputResponses` (2026-07-28, basic/patterns/mrtr): the `inputRequests`
    /// that these answer, if they are known. Each answer is then checked as the result of its own request.
    pub inputs: Option<&'a Value>,
}

/// Something in a message that a rule does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where in the message, as a JSON pointer.
    pub at: String,
    /// The definition of the schema, e.g. `ElicitResult`, or what the rule is about.
    pub definition: String,
    /// What was expected, in one short phrase; may hold a little of the message.
    pub says: String,
    /// MUST for the envelope, SCHEMA for the structure, else the sentence's own keyword.
    pub strength: Strength,
    /// Page and heading, or `schema <definition>`; without the revision.
    pub clause: String,
    /// What kind of rule it is.
    pub source: Source,
}

/// What kind of rule was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// One that the normative schema says as well.
    Schema,
    /// One that only a sentence says.
    Prose,
}

/// What is wrong with a message by the project's own rules; nothing, if it is valid. `direction` tells who wrote it.
/// At most a handful of violations are named.
#[must_use]
pub fn check(revision: Revision, direction: Dir, message: &Message<'_>) -> Vec<Violation> {
    Rules::builtin().check(revision, direction, message)
}

#[cfg(test)]
mod tests;

//! The catalogue: one probe a file below `probes/`.
//!
//! Owns what a probe is. It must not know clients, or how a probe is sent.

pub mod load;
pub mod script;
mod way;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::{ProbeId, Revision};
use crate::spec::Strength;

pub use way::Way;

/// One scripted stimulus and what is asked of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The id.
    pub id: ProbeId,
    /// One line for a matrix row.
    pub title: String,
    /// Why this probe exists: who sends such a message, what breaks.
    pub why: String,
    /// What is asked with it.
    pub asks: Asks,
    /// The capability that it is about. A client must declare it before this may be sent, unless the declaration
    /// itself is asked.
    pub needs: Capability,
    /// The revisions in which it is asked.
    pub revisions: Vec<Revision>,
    /// Revisions in which the request breaks the specification on purpose, with the reason.
    pub invalid: BTreeMap<Revision, String>,
    /// Revisions in which a known erratum of the specification says of this valid request that it is invalid.
    pub errata: BTreeMap<Revision, String>,
    /// The rules that it rests on: for every revision at least one.
    pub norms: Vec<Norm>,
    /// How it is sent.
    pub way: Way,
    /// Where the handshake is what is asked about: what the server does in it. Then the probe has a session of its own.
    pub script: Option<script::Script>,
    /// The JSON-RPC method of the request; where there is a script, of the client's request that it answers.
    pub method: String,
    /// The JSON text of `params` (where there is a script, of the result or the error), exactly as it goes on the wire: the file's text with the white space at both ends removed.
    pub params: String,
    /// The probe that this one is compared with; none for the control itself.
    pub control: Option<ProbeId>,
    /// What a surface that can answer answers; cancel, where nobody is asked.
    pub answer: Answer,
}

/// What a probe asks of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// What becomes of the request, once the client has declared what it needs.
    #[default]
    Request,
    /// Whether what the client declares agrees with what it does, so that the request is sent in either case.
    Declaration,
    /// Whether it gets a result, which needs nobody to answer it.
    Result,
    /// Whether it gets the error "method not found", as any request does whose method the client does not have.
    MethodNotFound,
    /// What the client does once its handshake was answered as the script says.
    Handshake,
}

impl Asks {
    /// Whether somebody is asked, so that there is something to present and to answer.
    #[must_use]
    pub fn is_answered_by_somebody(self) -> bool {
        matches!(self, Asks::Request | Asks::Declaration)
    }
}

/// A rule of the specification that a probe rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Norm {
    /// The revisions in which it holds.
    pub revisions: Vec<Revision>,
    /// Where it stands: the page and its heading, e.g. `client/elicitation Error Handling`, or `schema` and the name
    /// of a definition, e.g. `schema StringSchema`.
    pub section: String,
    /// How strong it is.
    pub keyword: Strength,
}

/// A client capability that a probe needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Capability {
    /// Nothing: every client takes it.
    #[serde(rename = "nothing")]
    Nothing,
    /// `elicitation` or `elicitation.form` (2025-11-25: an empty object means form mode).
    #[serde(rename = "elicitation.form")]
    ElicitationForm,
    /// `elicitation.url`.
    #[serde(rename = "elicitation.url")]
    ElicitationUrl,
}

impl Capability {
    /// The dotted name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Capability::Nothing => "nothing",
            Capability::ElicitationForm => "elicitation.form",
            Capability::ElicitationUrl => "elicitation.url",
        }
    }

    /// The capabilities of a client that declares this one and nothing else.
    #[must_use]
    pub fn declaration(self) -> serde_json::Value {
        match self {
            Capability::Nothing => serde_json::json!({}),
            Capability::ElicitationForm => serde_json::json!({"elicitation": {"form": {}}}),
            Capability::ElicitationUrl => serde_json::json!({"elicitation": {"url": {}}}),
        }
    }

    /// Whether the specification knows it in `revision`. URL mode is younger than elicitation itself, but clients
    /// declare it in older revisions too, so that it may be asked wherever elicitation exists.
    #[must_use]
    pub fn exists_in(self, revision: Revision) -> bool {
        self == Capability::Nothing || revision >= Revision::V2025_06_18
    }

    /// Whether `capabilities` (of `initialize`) declare it.
    ///
    /// Rule: 2025-11-25 client/elicitation "Capabilities": an empty `elicitation` object is form mode only.
    #[must_use]
    pub fn is_declared(self, capabilities: &serde_json::Value) -> bool {
        if self == Capability::Nothing {
            return true;
        }
        let Some(elicitation) = capabilities.get("elicitation").and_then(|v| v.as_object()) else {
            return false;
        };
        match self {
            Capability::Nothing => true,
            Capability::ElicitationForm => {
                elicitation
                    .get("form")
                    .is_some_and(serde_json::Value::is_object)
                    || !elicitation.contains_key("url")
            }
            Capability::ElicitationUrl => elicitation
                .get("url")
                .is_some_and(serde_json::Value::is_object),
        }
    }
}

/// What the driver answers when the client presents a probe's request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The action.
    pub action: Action,
    /// The content, for an accepted form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<serde_json::Value>,
}

impl Answer {
    /// The answer in the shape of MCP's `ElicitResult`.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        let mut result = serde_json::json!({ "action": self.action });
        if let Some(content) = &self.content {
            result["content"] = content.clone();
        }
        result
    }
}

/// The three actions of `ElicitResult` (2025-06-18 and later, client/elicitation "Response Actions").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The user agreed.
    Accept,
    /// The user said no.
    Decline,
    /// The user turned away.
    Cancel,
}

impl Probe {
    /// Whether the request is valid in `revision`, or why not.
    ///
    /// # Errors
    /// The reason why it is invalid there.
    pub fn validity(&self, revision: Revision) -> Result<(), &str> {
        match self.invalid.get(&revision) {
            Some(reason) => Err(reason),
            None => Ok(()),
        }
    }

    /// The rule that decides in `revision`: the first one listed that holds there. For a valid request it is what a
    /// client breaks that does not serve it, for one that is invalid on purpose what the request itself breaks, and
    /// where the declaration is asked what a client breaks whose declaration and conduct disagree.
    #[must_use]
    pub fn norm(&self, revision: Revision) -> Option<&Norm> {
        self.norms
            .iter()
            .find(|norm| norm.revisions.contains(&revision))
    }

    /// The JSON value of [`Probe::params`]; loading has proved that it parses.
    #[must_use]
    pub fn params_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.params).unwrap_or(serde_json::Value::Null)
    }
}

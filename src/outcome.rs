//! Recording -> outcomes: what happened to each probe of a session.
//!
//! Owns reading the evidence. Total: any recording gives an outcome for every probe. It knows JSON-RPC
//! framing, but nothing of what the specification says of it, and blames nobody.

mod difference;
mod handshake;
mod index;
mod lines;
mod messages;
mod reading;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use difference::{Change, Difference, same_value};
pub use messages::{McpLine, Messages};

use crate::catalogue::script::Then;
use crate::names::ProbeId;
use crate::recording::{Event, Recording, Wire};

/// How far a cell came. In order; a stage counts only if all before it were passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The client's process was started.
    ClientStarted,
    /// The client spoke to the probe server.
    Handshake,
    /// It asked for the tools.
    ToolsListed,
    /// It offered the tool to the model (on surfaces with a model).
    ToolOffered,
    /// It called the tool for this probe.
    ToolCalled,
    /// The probe's request was sent.
    RequestSent,
    /// The client presented the request.
    Presented,
    /// The driver answered it.
    AnswerGiven,
    /// The client's reply stood on the wire.
    AnswerOnWire,
}

impl Stage {
    /// The stage in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Stage::ClientStarted => "client started",
            Stage::Handshake => "handshake",
            Stage::ToolsListed => "tools listed",
            Stage::ToolOffered => "tool offered",
            Stage::ToolCalled => "tool called",
            Stage::RequestSent => "request sent",
            Stage::Presented => "request presented",
            Stage::AnswerGiven => "answer given",
            Stage::AnswerOnWire => "answer on the wire",
        }
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// A result with an action.
    Answered {
        /// The action as it stood on the wire, known or not.
        action: String,
        /// The content, if there was any; null stays null.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            with = "present_null"
        )]
        content: Option<Value>,
    },
    /// A result, to a request that is no elicitation.
    Result,
    /// A JSON-RPC error.
    RpcError {
        /// Its code.
        code: i64,
        /// Its message, bounded.
        message: String,
    },
    /// No reply before the deadline.
    Silent {
        /// The deadline.
        after_ms: u64,
    },
    /// The request stood in a result (2026-07-28 basic/patterns/mrtr), and the client ended the call without calling
    /// again.
    NotRetried,
    /// The handshake was answered as a script says, and this is what the client did then.
    Followed {
        /// What that comes to.
        then: Then,
        /// The methods of its messages, in order, bounded.
        methods: Vec<String>,
        /// How it ended a server that stayed, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ended_by: Vec<String>,
    },
    /// The client ended its own call, in which the request was open, without a reply.
    CallEnded,
    /// The client went away with the request open.
    Gone {
        /// Its exit code, if it exited by itself.
        exit: Option<i32>,
    },
    /// The cell did not come to the request.
    NotReached {
        /// The first stage that was not reached.
        missing: Stage,
        /// More, where there is more to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The client does not declare what the probe needs; nothing was sent.
    NotDeclared {
        /// What it needs.
        needs: String,
    },
    /// Something came back that is no reply.
    Malformed {
        /// The bytes, bounded.
        bytes: Wire,
    },
}

/// Keeps `content: null` and absent `content` apart.
mod present_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(value: &Option<Value>, s: S) -> Result<S::Ok, S::Error> {
        value.serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
        Value::deserialize(d).map(Some)
    }
}

/// Something that a reply should not come with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oddity {
    /// A second reply to the same request.
    SecondReply,
    /// Another call that was made again for the same result.
    SecondRetry,
    /// A reply whose id no request of the server had.
    UnknownId,
    /// JSON that is none of JSON-RPC's messages: it has neither a method nor an id.
    NoMessage,
    /// An error that has no id, after a line that nobody can read.
    ErrorWithoutId,
    /// An error whose id is null, as JSON-RPC has it for a line that nobody can read.
    ErrorWithNullId,
    /// A line that is text, but not JSON.
    NotJson,
    /// A line that is not UTF-8.
    NotUtf8,
    /// A reply to another request of the probe, which had been cancelled.
    ReplyToCancelled,
    /// A reply that is JSON, but deeper than is read.
    TooDeep,
    /// A reply in which an object has two members with one name; the last one counts.
    DuplicateMember,
    /// An array where a message was expected; its items count as messages.
    Batch,
    /// A reply after the probe server had given up waiting for it.
    LateReply,
}

/// What happened to one probe in one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What came back.
    #[serde(flatten)]
    pub kind: Kind,
    /// The last stage that was reached.
    pub stage: Option<Stage>,
    /// How what was presented differs from what was sent; none if nothing was presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presented: Option<Vec<Difference>>,
    /// How the answer on the wire differs from the one that the driver gave; none if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Vec<Difference>>,
    /// The line number of the probe's request, if it was sent; the header is line 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<usize>,
    /// The line number of the reply that came in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<usize>,
    /// What else was odd.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oddities: Vec<Oddity>,
    /// Line numbers of the recording that this rests on; the header is line 1.
    pub evidence: Vec<usize>,
    /// From the request to the reply, in microseconds. Not part of results: it is never the same twice.
    #[serde(skip)]
    pub latency_us: Option<u64>,
}

impl Outcome {
    /// Whether the client's own reply was a decline or a cancel.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        match &self.kind {
            Kind::Answered { action, .. } if action == "decline" || action == "cancel" => {
                Some(action)
            }
            _ => None,
        }
    }
}

/// Whether this probe's cell broke the session: its request was sent, or its call begun, and nothing came of it.
#[must_use]
pub fn broke_session(recording: &Recording, probe: &ProbeId) -> bool {
    // A session that a probe has for itself cannot be broken by another one.
    if recording.header.script.is_some() {
        return false;
    }
    let mut open = false;
    for entry in &recording.entries {
        match &entry.event {
            Event::Mcp { probe: Some(p), .. } | Event::Called { probe: p } if p == probe => {
                open = true;
            }
            Event::NoReply { probe: p, .. } if p == probe => return true,
            Event::ProbeDone { probe: p }
            | Event::CallReturned { probe: p }
            | Event::ToolResult { probe: p, .. }
                if p == probe =>
            {
                open = false;
            }
            _ => {}
        }
    }
    open
}

/// Whether this probe was asked for, or sent, at all.
#[must_use]
pub fn was_touched(recording: &Recording, probe: &ProbeId) -> bool {
    recording.entries.iter().any(|entry| match &entry.event {
        Event::Mcp { probe: Some(p), .. }
        | Event::NotDeclared { probe: p, .. }
        | Event::NotAsked { probe: p, .. }
        | Event::Called { probe: p } => p == probe,
        _ => false,
    }) && !refused_as_broken(recording, probe)
}

/// Whether the probe server refused to send this probe because another one had broken the session.
fn refused_as_broken(recording: &Recording, probe: &ProbeId) -> bool {
    let broken = recording
        .entries
        .iter()
        .any(|e| matches!(e.event, Event::NoReply { .. }));
    let sent = recording.entries.iter().any(|e| match &e.event {
        Event::Mcp { probe: Some(p), .. }
        | Event::NotDeclared { probe: p, .. }
        | Event::NotAsked { probe: p, .. } => p == probe,
        _ => false,
    });
    broken && !sent
}

/// What happened to each probe of the session, in the order in which they were asked.
#[must_use]
pub fn all(recording: &Recording) -> Vec<(ProbeId, Outcome)> {
    all_of(&Messages::parse(recording))
}

/// As [`all`], of a recording whose lines were already read.
#[must_use]
pub fn all_of(messages: &Messages<'_>) -> Vec<(ProbeId, Outcome)> {
    let index = index::Index::of(messages);
    let probes = &messages.recording().header.probes;
    probes
        .iter()
        .map(|probe| {
            let is_script = messages.recording().header.script.as_ref() == Some(probe);
            let outcome = match is_script {
                true => handshake::outcome(messages, probe),
                false => reading::Reading::new(&index, probe).outcome(),
            };
            (probe.clone(), outcome)
        })
        .collect()
}

/// The harness's own failures in this session, if any.
#[must_use]
pub fn harness_error(recording: &Recording) -> Option<String> {
    let said = recording
        .entries
        .iter()
        .find_map(|entry| match &entry.event {
            Event::HarnessError { message } => Some(message.clone()),
            _ => None,
        });
    said.or_else(|| {
        recording
            .end
            .is_none()
            .then(|| "the recording has no footer: it is truncated".to_owned())
    })
}

#[cfg(test)]
mod tests;

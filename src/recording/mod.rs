//! The recording: the evidence of one session, JSON Lines with a header first and a footer last.
//!
//! Owns the format and nothing else. It must not know what an entry means for a verdict. Two kinds of
//! process write parts of one recording (the session supervisor and each probe server that the client
//! starts); all stamp with the host's monotonic clock, so that `read::merge` can order them.

pub mod by_hand;
mod http;
mod json_text;
mod label;
pub mod line;
pub mod read;
pub mod redact;
mod wire;
pub mod write;

use serde::{Deserialize, Serialize};

pub use http::Head;
pub use label::Label;
pub use wire::Wire;

use crate::names::{ProbeId, Revision, Target};

/// The version of this format. A reader refuses any other.
pub const FORMAT: u32 = 1;

/// One line of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Microseconds of the host's monotonic clock; 0 in redacted evidence.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub t_us: u64,
    /// Who wrote it: `session`, or `server-1`, `server-2`, ... for each probe server that the client started.
    #[serde(default = "session_source", skip_serializing_if = "is_session")]
    pub source: String,
    /// What happened.
    pub event: Event,
}

fn is_zero(t: &u64) -> bool {
    *t == 0
}

fn session_source() -> String {
    "session".to_owned()
}

fn is_session(source: &str) -> bool {
    source == "session"
}

/// Which way a message went on the MCP channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dir {
    /// Written by the client under test.
    ClientToServer,
    /// Written by the probe server.
    ServerToClient,
}

/// Which way a line went between the driver and the client's own host interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostDir {
    /// Written by the driver to the client's standard input.
    ToClient,
    /// Printed by the client on its standard output.
    FromClient,
}

/// Everything that can be recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// First line of every recording.
    Header(Box<Header>),
    /// The client's process was started.
    ClientStarted {
        /// What was run, with the sandbox's own paths.
        argv: Vec<String>,
    },
    /// The client started a probe server.
    ServerStarted,
    /// One line on the MCP channel, byte for byte without its line feed.
    Mcp {
        /// Who wrote it.
        dir: Dir,
        /// The bytes.
        line: Wire,
        /// What HTTP said before it: none on stdio, and for a message on a stream that is open already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Box<Head>>,
        /// Set on the request that is this probe's stimulus.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        probe: Option<ProbeId>,
    },
    /// An HTTP request of the client that brought the probe server no message.
    Http {
        /// What it said.
        request: Box<Head>,
        /// The status of the response.
        answer: u16,
        /// Set where the response is this probe's stimulus.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        probe: Option<ProbeId>,
    },
    /// What went over a connection to the probe server's endpoint, byte for byte.
    Bytes {
        /// Who wrote it.
        dir: Dir,
        /// Which connection, counted from 1.
        connection: u64,
        /// The bytes of one read or write.
        bytes: Wire,
    },
    /// The probe server did not send a probe, because the client does not declare what it needs.
    NotDeclared {
        /// The probe that was asked for.
        probe: ProbeId,
        /// The capability that it needs, e.g. `elicitation.url`.
        needs: String,
    },
    /// The probe server did not send a probe for another reason.
    NotAsked {
        /// The probe that was asked for.
        probe: ProbeId,
        /// Why it was not sent.
        reason: String,
    },
    /// The probe server gave up waiting for the reply to a probe's request.
    NoReply {
        /// The probe.
        probe: ProbeId,
        /// How long it had waited.
        after_ms: u64,
    },
    /// A probe is over: its tool call is about to be answered.
    ProbeDone {
        /// The probe.
        probe: ProbeId,
    },
    /// The probe server left a request without an answer, as this probe's script says.
    Withheld {
        /// The probe.
        probe: ProbeId,
    },
    /// How a probe server that stays was ended: `closed` (the channel), the name of a signal, or `nothing more`.
    Ending {
        /// By what.
        by: String,
    },
    /// The client closed the MCP channel.
    ServerClosed,
    /// The driver asked the client to call the tool for this probe.
    Called {
        /// The probe.
        probe: ProbeId,
    },
    /// The client showed its host a request; `params` are normalised by the driver to the names that the
    /// MCP request uses (`message`, `requestedSchema`, `url`, ...).
    Presented {
        /// The probe whose call was open.
        probe: ProbeId,
        /// What was shown.
        params: serde_json::Value,
    },
    /// The driver answered what was presented.
    AnswerGiven {
        /// The probe.
        probe: ProbeId,
        /// The answer in MCP's own shape: `{"action": ..., "content": ...}`.
        answer: serde_json::Value,
    },
    /// The call that the driver asked for came back to the host.
    CallReturned {
        /// The probe.
        probe: ProbeId,
    },
    /// One line between driver and client, byte for byte.
    Host {
        /// Who wrote it.
        dir: HostDir,
        /// The bytes.
        line: Wire,
    },
    /// A request that the client made to the model endpoint.
    ModelRequest {
        /// HTTP method.
        method: String,
        /// Path with query.
        path: String,
        /// The body.
        body: Wire,
    },
    /// What the scripted model answered.
    ModelReply {
        /// HTTP status.
        status: u16,
        /// The body.
        body: Wire,
    },
    /// The probe tool stood in the tools that a model request offers.
    ToolOffered {
        /// The name that the model was given.
        name: String,
        /// Whether it was offered only through a tool search.
        deferred: bool,
    },
    /// The scripted model told the client to call the probe tool.
    ToolCalled {
        /// The probe.
        probe: ProbeId,
    },
    /// The client gave the model a result of the probe tool.
    ToolResult {
        /// The probe.
        probe: ProbeId,
        /// The result's text as the model got it.
        text: String,
    },
    /// A line that the client printed on standard error.
    Stderr {
        /// The bytes.
        line: Wire,
        /// The probe whose call was open when it arrived, on surfaces where that is certain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        probe: Option<ProbeId>,
    },
    /// A line that a client without a host interface printed on standard output.
    Stdout {
        /// The bytes.
        line: Wire,
    },
    /// A name that was asked of the sandbox's resolver, which answers none.
    NameAsked {
        /// The name.
        name: String,
    },
    /// The client's process ended.
    Exit {
        /// Exit code, if it exited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i32>,
        /// Signal, if one ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        /// Whether the harness ended it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        killed: bool,
    },
    /// Something that the harness could not do; every cell of the session is suspect.
    HarnessError {
        /// What went wrong.
        message: String,
    },
    /// Some output was longer than what is kept.
    Truncated {
        /// Which stream.
        what: String,
    },
    /// Last line of every recording; without it the recording is truncated.
    Footer {
        /// How the session ended.
        end: End,
    },
}

impl Event {
    /// The probe that it names. A line of the client names none; see [`line::Message::called_probe`].
    #[must_use]
    pub fn probe(&self) -> Option<&ProbeId> {
        match self {
            Event::NotDeclared { probe, .. }
            | Event::NotAsked { probe, .. }
            | Event::NoReply { probe, .. }
            | Event::Withheld { probe }
            | Event::ProbeDone { probe }
            | Event::Called { probe }
            | Event::Presented { probe, .. }
            | Event::AnswerGiven { probe, .. }
            | Event::CallReturned { probe }
            | Event::ToolCalled { probe }
            | Event::ToolResult { probe, .. } => Some(probe),
            Event::Mcp { probe, .. } | Event::Http { probe, .. } | Event::Stderr { probe, .. } => {
                probe.as_ref()
            }
            _ => None,
        }
    }
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The driver had nothing left to ask.
    Finished,
    /// The client went away first.
    ClientGone,
    /// The session's deadline passed.
    TimedOut,
    /// The client could not be started, or never became ready.
    NotStarted,
}

/// What could change the result of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The format's version, [`FORMAT`].
    pub format: u32,
    /// The version of capmatrix.
    pub capmatrix: String,
    /// The target.
    pub target: Target,
    /// The revision that the session was to be in; none where client and server settled on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// The probe whose script the handshake goes by, in a session that is for this probe alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ProbeId>,
    /// sha-256 of the program that was run, in hex.
    pub digest: String,
    /// Operating system and architecture, e.g. `linux-x86_64`.
    pub platform: String,
    /// `namespace` or `env`.
    pub isolation: Isolation,
    /// Environment variables, settings and flags that the client was given, with the sandbox's own paths.
    pub settings: std::collections::BTreeMap<String, String>,
    /// The probes that the session carries, in the order asked.
    pub probes: Vec<ProbeId>,
    /// The probes whose cells rest on this recording; the others were asked as controls, or were cut off by a break.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<ProbeId>,
    /// Why the session was run, where it was not the target's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who has the client call the tool.
    pub asked_by: AskedBy,
    /// Who answers on this surface.
    pub answered_by: AnsweredBy,
}

/// Who has the client call the tool on a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedBy {
    /// The scripted model, which must have been offered the tool first.
    Model,
    /// The client's host: a driver, or a person.
    Host,
}

/// Who answers a request on a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// The driver: what the client presents is recorded.
    Driver,
    /// The client itself: the surface never presents anything.
    Client,
    /// A person, whose screen is not recorded.
    Person,
}

/// How far a client was shut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Own network, PID and mount namespaces with only loopback up.
    Namespace,
    /// Cleared environment and fresh HOME only.
    Env,
}

/// A whole recording in memory: the one value that goes from running to judging.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The header.
    pub header: Header,
    /// All entries between header and footer, in time order.
    pub entries: Vec<Entry>,
    /// How it ended; none if the footer is missing.
    pub end: Option<End>,
}

impl Recording {
    /// The revision that the session settled on: the version that the probe server answered to `initialize`, or the one
    /// that the client names in a request of the modern era (2026-07-28 basic/index `_meta`) other than the first
    /// question of which there are. Where neither came, the one of the modern era that the server was to speak: that era
    /// has nothing to settle.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        let settled = self.entries.iter().find_map(|entry| match &entry.event {
            // The stimulus of a probe has no version, and would only have to be read.
            Event::Mcp {
                dir,
                line,
                probe: None,
                ..
            } => settled_by(*dir, line),
            _ => None,
        });
        settled.or(self.header.revision.filter(|asked| !asked.is_legacy()))
    }
}

fn settled_by(dir: Dir, line: &Wire) -> Option<Revision> {
    let value: serde_json::Value = serde_json::from_slice(&line.0).ok()?;
    let version = match dir {
        Dir::ServerToClient => &value["result"]["protocolVersion"],
        Dir::ClientToServer if value["method"] == "server/discover" => return None,
        Dir::ClientToServer => &value["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
    };
    version.as_str()?.parse().ok()
}

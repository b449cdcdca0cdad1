//! Recording -> outcomes: what happened to each probe of a session.
//!
//! Owns reading the evidence. Total: any recording gives an outcome for every probe. It knows JSON-RPC
//! framing, but nothing of what the specification says of it, and blames nobody.

mod difference;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use difference::{Change, Difference, same_value};

use crate::names::ProbeId;
use crate::recording::{Dir, End, Event, Recording, Wire};

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
        #[serde(default, skip_serializing_if = "Option::is_none", with = "present_null")]
        content: Option<Value>,
    },
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
    /// The client went away with the request open.
    Gone {
        /// Its exit code, if it exited by itself.
        exit: Option<i32>,
    },
    /// The cell did not come to the request.
    NotReached {
        /// The first stage that was not reached.
        stage: Stage,
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
    /// A reply whose id no request of the server had.
    UnknownId,
    /// A line that is not JSON.
    NotJson,
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
            Kind::Answered { action, .. } if action == "decline" || action == "cancel" => Some(action),
            _ => None,
        }
    }
}

/// Whether this probe's cell broke the session: its request was sent, or its call begun, and nothing came of it.
#[must_use]
pub fn broke_session(recording: &Recording, probe: &ProbeId) -> bool {
    let mut open = false;
    for entry in &recording.entries {
        match &entry.event {
            Event::Mcp { probe: Some(p), .. } | Event::Called { probe: p } if p == probe => open = true,
            Event::NoReply { probe: p, .. } if p == probe => return true,
            Event::ProbeDone { probe: p } | Event::CallReturned { probe: p } if p == probe => open = false,
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
    let broken = recording.entries.iter().any(|e| matches!(e.event, Event::NoReply { .. }));
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
    let messages = parse_messages(recording);
    let of = |probe: &ProbeId| Reading::new(recording, &messages, probe).outcome();
    recording
        .header
        .probes
        .iter()
        .map(|probe| (probe.clone(), of(probe)))
        .collect()
}

/// The JSON value of every MCP line, by entry; `None` where there is no line or it is not JSON.
fn parse_messages(recording: &Recording) -> Vec<Option<Value>> {
    recording
        .entries
        .iter()
        .map(|entry| match &entry.event {
            Event::Mcp { line, .. } => serde_json::from_slice(&line.0).ok(),
            _ => None,
        })
        .collect()
}

/// The harness's own failures in this session, if any.
#[must_use]
pub fn harness_error(recording: &Recording) -> Option<String> {
    let said = recording.entries.iter().find_map(|entry| match &entry.event {
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

/// Bytes of a client that go into an outcome are bounded to this.
const MAX_SHOWN: usize = 400;

struct Reading<'a> {
    recording: &'a Recording,
    messages: &'a [Option<Value>],
    probe: &'a ProbeId,
    /// Index of the entry that sent the probe's request, if it was sent.
    sent: Option<usize>,
}

impl<'a> Reading<'a> {
    fn new(
        recording: &'a Recording,
        messages: &'a [Option<Value>],
        probe: &'a ProbeId,
    ) -> Reading<'a> {
        let sent = recording.entries.iter().rposition(
            |entry| matches!(&entry.event, Event::Mcp { probe: Some(p), .. } if p == probe),
        );
        Reading { recording, messages, probe, sent }
    }

    fn outcome(&self) -> Outcome {
        let (kind, oddities, mut evidence, reply) = self.what_came_back();
        let presented = self.presented_differences();
        let answer = self.answer_differences(reply.as_ref().map(|(_, value)| value));
        evidence.extend(self.other_evidence());
        evidence.sort_unstable();
        evidence.dedup();
        let latency_us = match (self.sent, &reply) {
            (Some(sent), Some((at, _))) => {
                let entries = &self.recording.entries;
                Some(entries[*at].t_us.saturating_sub(entries[sent].t_us))
            }
            _ => None,
        };
        Outcome {
            stage: self.stage(reply.is_some()),
            kind,
            presented,
            answer,
            oddities,
            evidence,
            latency_us,
        }
    }

    #[allow(clippy::type_complexity)]
    fn what_came_back(&self) -> (Kind, Vec<Oddity>, Vec<usize>, Option<(usize, Value)>) {
        let Some(sent) = self.sent else {
            return (self.not_sent(), Vec::new(), Vec::new(), None);
        };
        let mut oddities = Vec::new();
        let mut evidence = vec![sent + 2];
        let mut reply: Option<(usize, Value)> = None;
        let mut malformed: Option<&Wire> = None;
        let source = &self.recording.entries[sent].source;
        let request_id = self.id_at(sent);
        let window_end = self.window_end(sent);
        for (at, entry) in self.recording.entries.iter().enumerate().skip(sent + 1) {
            let Event::Mcp { dir: Dir::ClientToServer, line, .. } = &entry.event else {
                continue;
            };
            if &entry.source != source {
                continue;
            }
            let odd = match classify(self.messages[at].as_ref()) {
                Line::Reply(id, value) if Some(id) == request_id => {
                    if reply.is_some() {
                        Some(Oddity::SecondReply)
                    } else {
                        evidence.push(at + 2);
                        reply = Some((at, value.clone()));
                        None
                    }
                }
                Line::Reply(id, _) if at < window_end && !self.is_server_id(source, id) => {
                    Some(Oddity::UnknownId)
                }
                Line::NotJson if at < window_end => Some(Oddity::NotJson),
                _ => None,
            };
            if let Some(odd) = odd {
                evidence.push(at + 2);
                oddities.push(odd);
                if odd != Oddity::SecondReply {
                    malformed.get_or_insert(line);
                }
            }
        }
        let kind = match (&reply, malformed) {
            (Some((at, value)), _) => self.kind_of_reply(*at, value),
            (None, Some(line)) => Kind::Malformed { bytes: bounded(line) },
            (None, None) => self.no_reply(),
        };
        (kind, oddities, evidence, reply)
    }

    /// The index behind the last entry that can belong to this probe alone.
    fn window_end(&self, sent: usize) -> usize {
        let entries = &self.recording.entries;
        entries
            .iter()
            .enumerate()
            .skip(sent + 1)
            .find(|(_, entry)| {
                matches!(&entry.event, Event::Mcp { probe: Some(_), .. })
                    || matches!(&entry.event, Event::ProbeDone { probe } if probe == self.probe)
            })
            .map_or(entries.len(), |(at, _)| at)
    }

    fn is_server_id(&self, source: &str, id: &Value) -> bool {
        self.recording.entries.iter().enumerate().any(|(at, entry)| {
            entry.source == source
                && matches!(&entry.event, Event::Mcp { probe: Some(_), .. })
                && self.id_at(at) == Some(id)
        })
    }

    fn id_at(&self, at: usize) -> Option<&Value> {
        self.messages[at].as_ref()?.get("id")
    }

    fn kind_of_reply(&self, at: usize, value: &Value) -> Kind {
        if let Some(error) = value.get("error") {
            return Kind::RpcError {
                code: error["code"].as_i64().unwrap_or(0),
                message: cut(error["message"].as_str().unwrap_or_default()),
            };
        }
        match value["result"]["action"].as_str() {
            Some(action) => Kind::Answered {
                action: cut(action),
                content: value["result"].get("content").cloned(),
            },
            None => match &self.recording.entries[at].event {
                Event::Mcp { line, .. } => Kind::Malformed { bytes: bounded(line) },
                _ => Kind::Malformed { bytes: Wire(Vec::new()) },
            },
        }
    }

    fn no_reply(&self) -> Kind {
        let silent = self.recording.entries.iter().find_map(|entry| match &entry.event {
            Event::NoReply { probe, after_ms } if probe == self.probe => Some(*after_ms),
            _ => None,
        });
        if let Some(after_ms) = silent {
            return Kind::Silent { after_ms };
        }
        let exit = self.recording.entries.iter().find_map(|entry| match entry.event {
            Event::Exit { code, killed: false, .. } => Some(code),
            _ => None,
        });
        match (exit, self.recording.end) {
            (_, Some(End::TimedOut)) | (None, _) => Kind::Silent { after_ms: 0 },
            (Some(code), _) => Kind::Gone { exit: code },
        }
    }

    fn not_sent(&self) -> Kind {
        for entry in &self.recording.entries {
            match &entry.event {
                Event::NotDeclared { probe, needs } if probe == self.probe => {
                    return Kind::NotDeclared { needs: needs.clone() };
                }
                Event::NotAsked { probe, reason } if probe == self.probe => {
                    return Kind::NotReached {
                        stage: Stage::RequestSent,
                        note: Some(reason.clone()),
                    };
                }
                _ => {}
            }
        }
        let reached = self.stage(false);
        let stage = self
            .stages_without_a_reply()
            .into_iter()
            .find(|stage| reached.is_none_or(|reached| *stage > reached))
            .unwrap_or(Stage::RequestSent);
        Kind::NotReached { stage, note: None }
    }

    fn stages_without_a_reply(&self) -> Vec<Stage> {
        let has_model = self.any(|event| matches!(event, Event::ModelRequest { .. }));
        let mut stages = vec![Stage::ClientStarted, Stage::Handshake, Stage::ToolsListed];
        if has_model {
            stages.push(Stage::ToolOffered);
        }
        stages.extend([Stage::ToolCalled, Stage::RequestSent]);
        stages
    }

    fn stage(&self, replied: bool) -> Option<Stage> {
        let probe = self.probe;
        let mine = |at: usize, event: &Event| -> Option<Stage> {
            match event {
                Event::ClientStarted { .. } => Some(Stage::ClientStarted),
                Event::Mcp { dir: Dir::ClientToServer, .. } => self.client_stage(at),
                Event::ToolOffered { .. } => Some(Stage::ToolOffered),
                Event::NotDeclared { probe: p, .. } | Event::NotAsked { probe: p, .. } if p == probe => {
                    Some(Stage::ToolCalled)
                }
                Event::Mcp { probe: Some(p), .. } if p == probe => Some(Stage::RequestSent),
                Event::Presented { probe: p, .. } if p == probe => Some(Stage::Presented),
                Event::AnswerGiven { probe: p, .. } if p == probe => Some(Stage::AnswerGiven),
                _ => None,
            }
        };
        let entries = self.recording.entries.iter().enumerate();
        let seen = entries.filter_map(|(at, entry)| mine(at, &entry.event)).max();
        if replied { Some(Stage::AnswerOnWire) } else { seen }
    }

    fn presented_differences(&self) -> Option<Vec<Difference>> {
        let shown = self.recording.entries.iter().find_map(|entry| match &entry.event {
            Event::Presented { probe, params } if probe == self.probe => Some(params),
            _ => None,
        })?;
        let sent = self.messages[self.sent?].as_ref()?;
        let mut found = Vec::new();
        // What a person needs to see. `mode` is left out: a client that fills in the default loses nothing.
        for member in ["message", "requestedSchema", "url", "elicitationId"] {
            difference::compare(
                sent["params"].get(member),
                shown.get(member),
                &format!("/{member}"),
                &mut found,
            );
        }
        Some(found)
    }

    fn answer_differences(&self, reply: Option<&Value>) -> Option<Vec<Difference>> {
        let given = self.recording.entries.iter().find_map(|entry| match &entry.event {
            Event::AnswerGiven { probe, answer } if probe == self.probe => Some(answer),
            _ => None,
        })?;
        let result = &reply?["result"];
        let mut found = Vec::new();
        for member in ["action", "content"] {
            difference::compare(given.get(member), result.get(member), &format!("/{member}"), &mut found);
        }
        Some(found)
    }

    /// Lines beside the exchange itself: the tool call, what was presented and answered, what was said on
    /// standard error meanwhile, and how it ended where it ended badly.
    fn other_evidence(&self) -> Vec<usize> {
        let probe = self.probe;
        let ended_badly = self.sent.is_none() || self.any(|e| matches!(e, Event::NoReply { probe: p, .. } if p == probe));
        self.recording
            .entries
            .iter()
            .enumerate()
            .filter(|(at, entry)| match &entry.event {
                Event::Mcp { dir: Dir::ClientToServer, .. } => {
                    self.client_stage(*at) == Some(Stage::ToolCalled)
                }
                Event::Presented { probe: p, .. }
                | Event::AnswerGiven { probe: p, .. }
                | Event::NoReply { probe: p, .. }
                | Event::NotDeclared { probe: p, .. }
                | Event::NotAsked { probe: p, .. } => p == probe,
                Event::Stderr { probe: p, .. } => p.as_ref() == Some(probe),
                Event::HarnessError { .. } => true,
                Event::Exit { killed: false, .. } => ended_badly,
                _ => false,
            })
            .map(|(at, _)| at + 2)
            .collect()
    }

    /// The stage that a message of the client shows.
    fn client_stage(&self, at: usize) -> Option<Stage> {
        let message = self.messages[at].as_ref()?;
        match message["method"].as_str()? {
            "initialize" | "server/discover" => Some(Stage::Handshake),
            "tools/list" => Some(Stage::ToolsListed),
            "tools/call" if message["params"]["arguments"]["id"] == self.probe.0 => {
                Some(Stage::ToolCalled)
            }
            _ => None,
        }
    }

    fn any(&self, test: impl Fn(&Event) -> bool) -> bool {
        self.recording.entries.iter().any(|entry| test(&entry.event))
    }
}

enum Line<'a> {
    Reply(&'a Value, &'a Value),
    Other,
    NotJson,
}

fn classify(message: Option<&Value>) -> Line<'_> {
    match message {
        None => Line::NotJson,
        Some(value) => match value.get("id") {
            Some(id) if value.get("method").is_none() => Line::Reply(id, value),
            _ => Line::Other,
        },
    }
}

fn bounded(line: &Wire) -> Wire {
    Wire(line.0[..line.0.len().min(MAX_SHOWN)].to_vec())
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests;

//! Reading one probe's cell out of a recording.
//!
//! Owns which entries speak of a probe: replies by their id, odd lines by the time in which only this probe was open.

use serde_json::Value;

use super::difference::{self, Difference};
use super::{Kind, Oddity, Outcome, Stage};
use crate::names::ProbeId;
use crate::recording::{AskedBy, Dir, End, Event, Recording, Wire};

/// The JSON value of every MCP line, by entry; `None` where there is no line or it is not JSON.
pub(super) fn parse_messages(recording: &Recording) -> Vec<Option<Value>> {
    recording
        .entries
        .iter()
        .map(|entry| match &entry.event {
            Event::Mcp { line, .. } => serde_json::from_slice(&line.0).ok(),
            _ => None,
        })
        .collect()
}

/// Bytes of a client that go into an outcome are bounded to this.
const MAX_SHOWN: usize = 400;

pub(super) struct Reading<'a> {
    recording: &'a Recording,
    messages: &'a [Option<Value>],
    probe: &'a ProbeId,
    /// Index of the entry that sent the probe's request, if it was sent.
    sent: Option<usize>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        recording: &'a Recording,
        messages: &'a [Option<Value>],
        probe: &'a ProbeId,
    ) -> Reading<'a> {
        let sent = recording.entries.iter().rposition(
            |entry| matches!(&entry.event, Event::Mcp { probe: Some(p), .. } if p == probe),
        );
        Reading {
            recording,
            messages,
            probe,
            sent,
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        let (kind, oddities, mut evidence, reply) = self.what_came_back();
        let presented = self.presented_differences();
        let answer = self.answer_differences(reply.as_ref().map(|(_, value)| value));
        evidence.extend(self.other_evidence(reply.is_some()));
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
            let Event::Mcp {
                dir: Dir::ClientToServer,
                line,
                ..
            } = &entry.event
            else {
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
            (None, Some(line)) => Kind::Malformed {
                bytes: bounded(line),
            },
            (None, None) => self.no_reply(),
        };
        (kind, oddities, evidence, reply)
    }

    /// The index behind the last entry that can belong to this probe alone.
    fn window_end(&self, sent: usize) -> usize {
        let entries = &self.recording.entries;
        let source = &entries[sent].source;
        entries
            .iter()
            .enumerate()
            .skip(sent + 1)
            .filter(|(_, entry)| &entry.source == source)
            .find(|(_, entry)| {
                matches!(&entry.event, Event::Mcp { probe: Some(_), .. })
                    || matches!(&entry.event, Event::ProbeDone { probe } if probe == self.probe)
            })
            .map_or(entries.len(), |(at, _)| at)
    }

    fn is_server_id(&self, source: &str, id: &Value) -> bool {
        self.recording
            .entries
            .iter()
            .enumerate()
            .any(|(at, entry)| {
                entry.source == source
                    && matches!(&entry.event, Event::Mcp { probe: Some(_), .. })
                    && self.id_at(at) == Some(id)
            })
    }

    fn id_at(&self, at: usize) -> Option<&Value> {
        self.messages[at].as_ref()?.get("id")
    }

    fn kind_of_reply(&self, at: usize, value: &Value) -> Kind {
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
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
                Event::Mcp { line, .. } => Kind::Malformed {
                    bytes: bounded(line),
                },
                _ => Kind::Malformed {
                    bytes: Wire(Vec::new()),
                },
            },
        }
    }

    fn no_reply(&self) -> Kind {
        let silent = self
            .recording
            .entries
            .iter()
            .find_map(|entry| match &entry.event {
                Event::NoReply { probe, after_ms } if probe == self.probe => Some(*after_ms),
                _ => None,
            });
        if let Some(after_ms) = silent {
            return Kind::Silent { after_ms };
        }
        let exit = self
            .recording
            .entries
            .iter()
            .find_map(|entry| match entry.event {
                Event::Exit {
                    code,
                    killed: false,
                    ..
                } => Some(code),
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
                    return Kind::NotDeclared {
                        needs: needs.clone(),
                    };
                }
                Event::NotAsked { probe, reason } if probe == self.probe => {
                    return Kind::NotReached {
                        missing: Stage::RequestSent,
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
        Kind::NotReached {
            missing: stage,
            note: None,
        }
    }

    fn stages_without_a_reply(&self) -> Vec<Stage> {
        let mut stages = vec![Stage::ClientStarted, Stage::Handshake, Stage::ToolsListed];
        if self.recording.header.asked_by == AskedBy::Model {
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
                Event::Mcp {
                    dir: Dir::ClientToServer,
                    ..
                } => self.client_stage(at),
                Event::ToolOffered { .. } => Some(Stage::ToolOffered),
                Event::NotDeclared { probe: p, .. } | Event::NotAsked { probe: p, .. }
                    if p == probe =>
                {
                    Some(Stage::ToolCalled)
                }
                Event::Mcp { probe: Some(p), .. } if p == probe => Some(Stage::RequestSent),
                Event::Presented { probe: p, .. } if p == probe => Some(Stage::Presented),
                Event::AnswerGiven { probe: p, .. } if p == probe => Some(Stage::AnswerGiven),
                _ => None,
            }
        };
        let entries = self.recording.entries.iter().enumerate();
        let seen = entries
            .filter_map(|(at, entry)| mine(at, &entry.event))
            .max();
        if replied {
            Some(Stage::AnswerOnWire)
        } else {
            seen
        }
    }

    fn presented_differences(&self) -> Option<Vec<Difference>> {
        let shown = self
            .recording
            .entries
            .iter()
            .find_map(|entry| match &entry.event {
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
        let given = self
            .recording
            .entries
            .iter()
            .find_map(|entry| match &entry.event {
                Event::AnswerGiven { probe, answer } if probe == self.probe => Some(answer),
                _ => None,
            })?;
        let result = &reply?["result"];
        let mut found = Vec::new();
        for member in ["action", "content"] {
            difference::compare(
                given.get(member),
                result.get(member),
                &format!("/{member}"),
                &mut found,
            );
        }
        Some(found)
    }

    /// Lines beside the exchange itself: the tool call, what was presented and answered, what was said on
    /// standard error meanwhile, and how it ended where it ended badly.
    fn other_evidence(&self, replied: bool) -> Vec<usize> {
        let probe = self.probe;
        self.recording
            .entries
            .iter()
            .enumerate()
            .filter(|(at, entry)| match &entry.event {
                Event::Mcp {
                    dir: Dir::ClientToServer,
                    ..
                } => self.client_stage(*at) == Some(Stage::ToolCalled),
                Event::Presented { probe: p, .. }
                | Event::AnswerGiven { probe: p, .. }
                | Event::NoReply { probe: p, .. }
                | Event::NotDeclared { probe: p, .. }
                | Event::NotAsked { probe: p, .. } => p == probe,
                Event::Stderr { probe: p, .. } => p.as_ref() == Some(probe),
                Event::HarnessError { .. } => true,
                Event::Exit { killed: false, .. } => !replied,
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
            // As the probe server reads it: a method that is null is none.
            Some(id) if value["method"].is_null() => Line::Reply(id, value),
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

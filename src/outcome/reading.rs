//! Reading one probe's cell out of a recording.
//!
//! Owns which entries speak of a probe, in which time a line can only be its, and what all of them come to.

use serde_json::Value;

use super::difference::{self, Difference};
use super::index::{Index, Source, is_result, request_id};
use super::lines::{Came, Cell, Reply};
use super::{Kind, Outcome, Stage};
use crate::names::ProbeId;
use crate::recording::line::{INPUT, Line, Sort, id_key};
use crate::recording::{AskedBy, Dir, End, Event, Wire};

/// Bytes of a client that go into an outcome are bounded to this.
const MAX_SHOWN: usize = 400;

pub(super) struct Reading<'i> {
    index: &'i Index<'i>,
    /// The entries that speak of the probe.
    mine: &'i [usize],
    /// Index of the entry that sent the probe's request, if it was sent.
    sent: Option<usize>,
}

impl<'i> Reading<'i> {
    pub(super) fn new(index: &'i Index<'i>, probe: &ProbeId) -> Reading<'i> {
        let mine = index.of_probe(&probe.0);
        let entries = &index.recording.entries;
        let is_stimulus =
            |at: &usize| matches!(entries[*at].event, Event::Mcp { probe: Some(_), .. });
        // A client's line that calls for this probe may itself claim to be another's stimulus.
        let names_it = |at: &usize| entries[*at].event.probe() == Some(probe);
        let sent = mine.iter().rev().copied();
        let sent = sent.filter(is_stimulus).find(names_it);
        Reading { index, mine, sent }
    }

    pub(super) fn outcome(&self) -> Outcome {
        let came = self.sent.map(|sent| self.what_came_back(sent));
        let kind = match &came {
            None => self.not_sent(),
            Some(came) => self.kind(came),
        };
        let came = came.unwrap_or_default();
        let reply = came.reply.as_ref();
        let mut evidence = came.evidence;
        evidence.extend(self.sent);
        evidence.extend(self.other_evidence(reply.is_some()));
        evidence.sort_unstable();
        evidence.dedup();
        let entries = &self.index.recording.entries;
        let latency_us = self
            .sent
            .zip(reply)
            .map(|(sent, reply)| entries[reply.at].t_us.saturating_sub(entries[sent].t_us));
        let number = |at: usize| at + 2;
        Outcome {
            stage: match reply {
                Some(_) => Some(Stage::AnswerOnWire),
                None => self.stage(),
            },
            kind,
            presented: self.presented_differences(),
            answer: self.answer_differences(reply),
            request: self.sent.map(number),
            reply: reply.map(|reply| number(reply.at)),
            oddities: came.oddities,
            evidence: evidence.into_iter().map(number).collect(),
            latency_us,
        }
    }

    /// The entries that speak of the probe, with their events.
    fn events(&self) -> impl Iterator<Item = (usize, &'i Event)> {
        let entries = &self.index.recording.entries;
        self.mine.iter().map(|at| (*at, &entries[*at].event))
    }

    fn what_came_back(&self, sent: usize) -> Came<'i> {
        let mut came = Came::default();
        let messages = self.index.messages;
        let (Some(source), Some(stimulus)) = (self.index.source(sent), messages.of_entry(sent))
        else {
            return came;
        };
        if is_result(stimulus) {
            return self.retries(sent);
        }
        let id = request_id(stimulus).map(id_key);
        let gave_up = self
            .events()
            .find(|(at, event)| *at > sent && matches!(event, Event::NoReply { .. }));
        let after_noise = self.events().any(|(at, _)| {
            at < sent && matches!(messages.of_entry(at), Some(Line::NotJson | Line::NotUtf8))
        });
        let cancelled = self.cancelled();
        let window = sent + 1..self.window_end(sent, source);
        for at in source.lines_of(&window, id.as_deref()) {
            let Some(line) = messages.of_entry(at) else {
                continue;
            };
            let cell = Cell {
                id: id.as_deref(),
                source,
                is_late: gave_up.is_some_and(|(gave_up, _)| gave_up < at),
                is_in_window: window.contains(&at),
                after_noise,
                cancelled: &cancelled,
            };
            came.take(at, line, &cell);
        }
        came
    }

    /// The ids of the probe's requests that were cancelled: each stands right before its notification, whose own id evidence
    /// does not keep.
    fn cancelled(&self) -> Vec<String> {
        let mut last = None;
        let mut cancelled = Vec::new();
        for (at, event) in self.events() {
            let line = self.index.messages.of_entry(at);
            let (Event::Mcp { probe: Some(_), .. }, Some([message])) =
                (event, line.map(Line::messages))
            else {
                continue;
            };
            match message.sort() {
                Sort::Request { id, .. } => last = Some(id_key(id)),
                Sort::Notification {
                    method: "notifications/cancelled",
                } => {
                    cancelled.extend(last.take());
                }
                _ => {}
            }
        }
        cancelled
    }

    /// The calls that were made again with what the result at `sent` asked for. Calls name their probe, so that those of
    /// other cells may be open at the same time.
    fn retries(&self, sent: usize) -> Came<'i> {
        let mut came = Came::default();
        let later = self.mine.iter().copied().filter(|at| *at > sent);
        for at in later {
            let line = self.index.messages.of_entry(at);
            for message in line.iter().flat_map(|line| line.messages()) {
                let is_of_client = matches!(
                    self.index.recording.entries[at].event,
                    Event::Mcp {
                        dir: Dir::ClientToServer,
                        ..
                    }
                );
                if is_of_client && message.is_retry() {
                    came.take_retry(at, message);
                }
            }
        }
        came
    }

    /// The index behind the last entry that can belong to this probe alone.
    fn window_end(&self, sent: usize, source: &Source) -> usize {
        let entries = &self.index.recording.entries;
        let done = self.events().find(|(at, event)| {
            *at > sent
                && matches!(event, Event::ProbeDone { .. })
                && entries[*at].source == entries[sent].source
        });
        let done = done.map(|(at, _)| at);
        let ends = [done, source.next_stimulus(sent)];
        ends.into_iter().flatten().min().unwrap_or(entries.len())
    }

    fn kind(&self, came: &Came<'_>) -> Kind {
        match (&came.reply, came.malformed) {
            (Some(reply), _) => self.kind_of_reply(reply),
            // It came too late to be waited for, whatever else there was.
            (None, Some(at)) if !came.is_late => self.malformed(at),
            (None, _) => self.no_reply(),
        }
    }

    fn kind_of_reply(&self, reply: &Reply<'_>) -> Kind {
        let value = &reply.message.value;
        if reply.message.is_too_deep {
            return self.malformed(reply.at);
        }
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            return match (code(error), error["message"].as_str()) {
                (Some(code), Some(message)) if value.get("result").is_none() => Kind::RpcError {
                    code,
                    message: cut(message),
                },
                // Not one of JSON-RPC's errors, or a result as well: what it says cannot be read.
                _ => self.malformed(reply.at),
            };
        }
        let answer = reply.message.answer();
        if answer.is_object() && !self.is_elicitation() {
            return Kind::Result;
        }
        match answer["action"].as_str() {
            Some(action) => Kind::Answered {
                action: cut(action),
                content: answer.get("content").cloned(),
            },
            None => self.malformed(reply.at),
        }
    }

    /// Whether the probe's request is one that is answered with an action.
    fn is_elicitation(&self) -> bool {
        let stimulus = self
            .sent
            .and_then(|sent| self.index.messages.of_entry(sent));
        let message = stimulus.and_then(|line| line.messages().first());
        message.is_none_or(|message| match message.sort() {
            Sort::Request { method, .. } => method == "elicitation/create",
            _ => message.value["result"]["inputRequests"][INPUT]["method"] == "elicitation/create",
        })
    }

    fn malformed(&self, at: usize) -> Kind {
        let bytes = match &self.index.recording.entries[at].event {
            Event::Mcp { line, .. } => bounded(line),
            _ => Wire(Vec::new()),
        };
        Kind::Malformed { bytes }
    }

    fn no_reply(&self) -> Kind {
        let silent = self.events().find_map(|(_, event)| match event {
            Event::NoReply { after_ms, .. } => Some(*after_ms),
            _ => None,
        });
        if let Some(after_ms) = silent {
            return Kind::Silent { after_ms };
        }
        if self.call_came_back() {
            let stimulus = self.sent.and_then(|at| self.index.messages.of_entry(at));
            return match stimulus.is_some_and(is_result) {
                true => Kind::NotRetried,
                false => Kind::CallEnded,
            };
        }
        let entries = &self.index.recording.entries;
        let exit = self.index.exits.first().map(|at| &entries[*at].event);
        match (exit, self.index.recording.end) {
            (Some(Event::Exit { code, .. }), end) if end != Some(End::TimedOut) => {
                Kind::Gone { exit: *code }
            }
            _ => Kind::Silent { after_ms: 0 },
        }
    }

    /// Whether the call came back to whoever asked for it. Where the server still waited for a reply, or for another call, it
    /// was the client that ended it.
    fn call_came_back(&self) -> bool {
        self.events().any(|(_, event)| {
            matches!(event, Event::CallReturned { .. } | Event::ToolResult { .. })
        })
    }

    fn not_sent(&self) -> Kind {
        for (_, event) in self.events() {
            match event {
                Event::NotDeclared { needs, .. } => {
                    return Kind::NotDeclared {
                        needs: needs.clone(),
                    };
                }
                Event::NotAsked { reason, .. } => {
                    return Kind::NotReached {
                        missing: Stage::RequestSent,
                        note: Some(reason.clone()),
                    };
                }
                _ => {}
            }
        }
        let reached = self.stage();
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
        if self.index.recording.header.asked_by == AskedBy::Model {
            stages.push(Stage::ToolOffered);
        }
        stages.extend([Stage::ToolCalled, Stage::RequestSent]);
        stages
    }

    /// The last stage that was reached without a reply.
    fn stage(&self) -> Option<Stage> {
        let mine = self.events().filter_map(|(_, event)| match event {
            Event::Mcp {
                dir: Dir::ClientToServer,
                ..
            }
            | Event::NotDeclared { .. }
            | Event::NotAsked { .. } => Some(Stage::ToolCalled),
            Event::Mcp { .. } => Some(Stage::RequestSent),
            Event::Presented { .. } => Some(Stage::Presented),
            Event::AnswerGiven { .. } => Some(Stage::AnswerGiven),
            _ => None,
        });
        mine.max().max(self.index.stage)
    }

    /// Where several requests were shown, as of a result that asks for two inputs, the one that is most like the probe's.
    fn presented_differences(&self) -> Option<Vec<Difference>> {
        let sent = self.sent?;
        let stimulus = self.index.messages.of_entry(sent)?;
        let asked = stimulus.messages().first()?.asked_params();
        let shown = self.events().filter_map(|(at, event)| match event {
            Event::Presented { params, .. } if at > sent => Some(params),
            _ => None,
        });
        shown
            .map(|shown| {
                let mut found = Vec::new();
                // What a person needs to see. `mode` is left out: a client that fills in the default loses nothing.
                for member in ["message", "requestedSchema", "url", "elicitationId"] {
                    difference::compare(
                        asked.and_then(|asked| asked.get(member)),
                        shown.get(member),
                        &format!("/{member}"),
                        &mut found,
                    );
                }
                found
            })
            .min_by_key(Vec::len)
    }

    fn answer_differences(&self, reply: Option<&Reply<'_>>) -> Option<Vec<Difference>> {
        let (given_at, given) = self.events().find_map(|(at, event)| match event {
            Event::AnswerGiven { answer, .. } => Some((at, answer)),
            _ => None,
        })?;
        // A reply that was there before the answer does not rest on it.
        let reply = reply.filter(|reply| reply.at > given_at);
        // What is cut off of a value that is too deep was not lost by the client.
        let reply = reply.filter(|reply| !reply.message.is_too_deep)?;
        let result = reply.message.answer();
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

    /// Entries beside the exchange itself: the tool call, what was presented and answered, what was said on
    /// standard error meanwhile, and how it ended where it ended badly.
    fn other_evidence(&self, replied: bool) -> impl Iterator<Item = usize> {
        let mine = self.events().filter(|(_, event)| {
            matches!(
                event,
                Event::Mcp {
                    dir: Dir::ClientToServer,
                    ..
                } | Event::Presented { .. }
                    | Event::AnswerGiven { .. }
                    | Event::NoReply { .. }
                    | Event::NotDeclared { .. }
                    | Event::NotAsked { .. }
                    | Event::Stderr { .. }
            )
        });
        let exits = if replied { &[] } else { &self.index.exits[..] };
        let of_all = self.index.harness_errors.iter().chain(exits).copied();
        mine.map(|(at, _)| at).chain(of_all)
    }
}

/// An error's code: a whole number, also one that is written as a fraction.
fn code(error: &Value) -> Option<i64> {
    let code = &error["code"];
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 1e15;
    #[allow(clippy::cast_possible_truncation)]
    let as_whole = || {
        code.as_f64()
            .filter(|number| whole(*number))
            .map(|number| number as i64)
    };
    code.as_i64().or_else(as_whole)
}

fn bounded(line: &Wire) -> Wire {
    Wire(line.0[..line.0.len().min(MAX_SHOWN)].to_vec())
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

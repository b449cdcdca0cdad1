//! One conversation between the client and one probe server: rules that need more than one message.
//!
//! Owns what was asked under which id, so that a reply is checked as the result of its request, and the legacy
//! handshake's order. It must not know probes or cells.

use std::collections::BTreeMap;

use serde_json::Value;

use super::remark::{
    Remark, broken, is_answer, may_be_about_noise, reply_to_nobody, without_weaker,
};
use super::rounds::Rounds;
use crate::names::{ProbeId, Revision};
use crate::outcome::{McpLine, Messages};
use crate::recording::Dir;
use crate::recording::line::{self, Line, id_key};
use crate::spec::{self, Message, Rules, Strength, Violation};
use crate::verdict::{Blame, Kind, reply};

/// What is known of a request once it was written.
struct Asked {
    method: String,
    revision: Revision,
    /// How many replies came.
    replies: usize,
    /// The probe that a call is for.
    call: Option<String>,
}

pub(super) struct Conversation<'a> {
    rules: &'a Rules,
    /// The revision that the server answered to `initialize`, in every message of the session. Where none came that has
    /// `initialize`: the one in which the session was to be, else the newest legacy one.
    revision: Revision,
    asked_by_client: BTreeMap<String, Asked>,
    asked_by_us: BTreeMap<String, Asked>,
    handshake: Handshake,
    rounds: Rounds,
    /// The probe for which the server last wrote a line that nobody can read, until it writes for another one.
    noise: Option<ProbeId>,
    pub(super) declared: Option<Value>,
}

/// How far the legacy handshake came.
#[derive(Default)]
struct Handshake {
    /// The id of `initialize`.
    asked: Option<String>,
    /// The line of its result.
    answered: Option<usize>,
    is_confirmed: bool,
    /// The first request after it, other than ping.
    used: Option<usize>,
}

impl<'a> Conversation<'a> {
    /// The conversation with the probe server `source`.
    pub(super) fn of(rules: &'a Rules, source: &str, messages: &Messages<'_>) -> Conversation<'a> {
        let version = |line: &McpLine<'_>| {
            let message = line.line.messages().first()?;
            message.value["result"]["protocolVersion"]
                .as_str()?
                .parse()
                .ok()
        };
        let answered = messages
            .iter()
            .filter(|line| line.source == source && line.dir == Dir::ServerToClient)
            .find_map(|line| version(&line));
        let asked = messages.recording().header.revision;
        let answered = answered.filter(|revision: &Revision| revision.is_legacy());
        Conversation {
            rules,
            revision: answered.or(asked).unwrap_or(Revision::V2025_11_25),
            asked_by_client: BTreeMap::new(),
            asked_by_us: BTreeMap::new(),
            handshake: Handshake::default(),
            rounds: Rounds::default(),
            noise: None,
            declared: None,
        }
    }

    /// Takes note of a line of ours.
    pub(super) fn hears(&mut self, line: &McpLine<'_>) {
        if line.is_noise() {
            self.noise = line.probe.cloned();
        } else if line.probe.is_some() && line.probe != self.noise.as_ref() {
            self.noise = None;
        }
    }

    /// What is wrong with a message of ours.
    pub(super) fn ours(&mut self, line: usize, value: &Value) -> Vec<Violation> {
        let (mut revision, mut answers) = (self.revision, None);
        match (value.get("method").and_then(Value::as_str), value.get("id")) {
            (Some(method), Some(id)) => {
                let method = method.to_owned();
                self.asked_by_us.insert(
                    id_key(id),
                    Asked {
                        method,
                        revision,
                        replies: 0,
                        call: None,
                    },
                );
            }
            (None, Some(id)) => {
                let id = id_key(id);
                if let Some(asked) = self.asked_by_client.get_mut(&id) {
                    asked.replies += 1;
                    revision = asked.revision;
                    answers = Some(asked.method.as_str());
                    if let (Some(call), Some(result)) = (&asked.call, value.get("result")) {
                        self.rounds.ours(call, &id, result);
                    }
                }
                if self.handshake.asked.as_ref() == Some(&id) && value.get("result").is_some() {
                    self.handshake.answered.get_or_insert(line);
                }
            }
            _ => {}
        }
        let is_reply_to_client = answers.is_some();
        let message = Message {
            value,
            answers,
            inputs: None,
        };
        let mut found = self.rules.check(revision, Dir::ServerToClient, &message);
        // An id that is none goes back as it came; the request is what is wrong.
        found.retain(|violation| !is_reply_to_client || violation.at != "/id");
        found
    }

    /// Reads a line of the client. All that is wrong with it goes to `remarks`; what is wrong with it as a reply is
    /// given back as well.
    pub(super) fn clients(
        &mut self,
        line: &McpLine<'_>,
        remarks: &mut Vec<Remark>,
    ) -> Vec<Violation> {
        let number = line.number;
        match line.line {
            Line::NotUtf8 => remarks.push(self.no_message(line, "not UTF-8")),
            Line::NotJson => remarks.push(self.no_message(line, "not JSON")),
            // One that was not read to its end is not judged.
            Line::Message(message) if !message.is_too_deep => {
                return self.message(number, &message.value, remarks);
            }
            Line::Message(_) => {}
            Line::Batch(items) => return self.batch(number, items, remarks),
        }
        Vec::new()
    }

    /// The batch itself first; its messages are read one by one.
    fn batch(
        &mut self,
        line: usize,
        items: &[line::Message<'_>],
        remarks: &mut Vec<Remark>,
    ) -> Vec<Violation> {
        let values: Vec<&Value> = items.iter().map(|item| &item.value).collect();
        let found = spec::check_batch(self.revision, &values);
        remarks.extend(
            found
                .iter()
                .map(|violation| self.remark(line, self.revision, "a batch", violation)),
        );
        let read = items.iter().filter(|item| !item.is_too_deep);
        read.flat_map(|item| self.message(line, &item.value, remarks))
            .collect()
    }

    fn no_message(&self, line: &McpLine<'_>, what: &str) -> Remark {
        let (section, reason) = match line.head {
            None => ("basic/transports stdio", format!("a line that is {what}")),
            Some(_) => (
                "basic/transports Sending Messages to the Server",
                format!("a body that is {what}"),
            ),
        };
        let broken = broken(line.number, Strength::Must, self.revision, section, reason);
        Remark {
            is_of_an_exchange: true,
            ..broken
        }
    }

    fn message(&mut self, line: usize, value: &Value, remarks: &mut Vec<Remark>) -> Vec<Violation> {
        // As the probe server reads it: a method that is null is none.
        match value.get("method").filter(|method| !method.is_null()) {
            Some(method) => {
                let method = method
                    .as_str()
                    .unwrap_or("a message without a method's name");
                self.request(line, method, value, remarks)
            }
            None => self.reply(line, value, remarks),
        }
    }

    /// A request or a notification. Of a call that is made again, what is wrong with the answer that it carries is given
    /// back, as of a reply.
    fn request(
        &mut self,
        line: usize,
        method: &str,
        value: &Value,
        remarks: &mut Vec<Remark>,
    ) -> Vec<Violation> {
        let revision = self.revision_of(method, value);
        let call = (method == "tools/call")
            .then(|| value["params"]["arguments"]["id"].as_str())
            .flatten()
            .map(str::to_owned);
        let is_retry = ["inputResponses", "requestState"]
            .iter()
            .any(|member| value["params"].get(member).is_some());
        let mut found = match call.as_deref().filter(|_| is_retry) {
            Some(call) => {
                let inputs = self.rounds.inputs(call);
                let mut found = self.check(revision, value, None, inputs);
                let id = value.get("id").map(id_key);
                found.extend(self.rounds.broken(call, id.as_deref(), &value["params"]));
                found
            }
            None => self.check(revision, value, None, None),
        };
        for violation in &found {
            let mut remark = self.remark(line, revision, method, violation);
            remark.is_of_an_exchange = is_retry && is_answer(violation);
            remarks.push(remark);
        }
        found.retain(|violation| is_retry && is_answer(violation));
        let declared = value["params"]["_meta"].get("io.modelcontextprotocol/clientCapabilities");
        if let Some(declared) = declared.filter(|_| self.declared.is_none()) {
            self.declared = Some(declared.clone());
        }
        if method == "notifications/initialized" {
            self.handshake.is_confirmed = true;
        }
        let Some(id) = value.get("id").filter(|id| !id.is_null()).map(id_key) else {
            return found;
        };
        let asked = Asked {
            method: method.to_owned(),
            revision,
            replies: 0,
            call,
        };
        let earlier = self.asked_by_client.insert(id.clone(), asked);
        // In the modern era an id is free again once it was answered (2026-07-28 basic/index Requests).
        let is_taken = |earlier: Asked| revision.is_legacy() || earlier.replies == 0;
        if earlier.is_some_and(is_taken) {
            let reason = match revision.is_legacy() {
                true => format!("{method} has the id of an earlier request of the session"),
                false => format!("{method} has the id of a request that is not answered yet"),
            };
            remarks.push(broken(
                line,
                Strength::Must,
                revision,
                "basic/index Requests",
                reason,
            ));
        }
        self.handshake_step(line, method, &id, value, remarks);
        found
    }

    fn handshake_step(
        &mut self,
        line: usize,
        method: &str,
        id: &str,
        value: &Value,
        remarks: &mut Vec<Remark>,
    ) {
        if !self.revision_of(method, value).is_legacy() {
            return;
        }
        match method {
            "initialize" => {
                self.handshake.asked.get_or_insert_with(|| id.to_owned());
                let declared = value["params"].get("capabilities");
                self.declared = self.declared.take().or(declared.cloned());
            }
            "ping" => {}
            _ if self.handshake.answered.is_none() => {
                let section = "basic/lifecycle Initialization";
                let reason = format!("{method} was sent before the server had answered initialize");
                remarks.push(broken(
                    line,
                    Strength::Should,
                    self.revision,
                    section,
                    reason,
                ));
            }
            _ => {
                self.handshake.used.get_or_insert(line);
            }
        }
    }

    fn reply(&mut self, line: usize, value: &Value, remarks: &mut Vec<Remark>) -> Vec<Violation> {
        let asked = value
            .get("id")
            .and_then(|id| self.asked_by_us.get_mut(&id_key(id)));
        if asked.is_none() && self.noise.is_some() && may_be_about_noise(self.revision, value) {
            return Vec::new();
        }
        let (revision, answers) = match asked {
            Some(asked) => {
                asked.replies += 1;
                if asked.replies == 2 {
                    let reason = format!("a second reply to one {}", asked.method);
                    remarks.push(reply_to_nobody(line, asked.revision, reason));
                }
                (asked.revision, Some(asked.method.clone()))
            }
            None => {
                if value.is_object() {
                    let reason = match value.get("id") {
                        Some(_) => "a reply with an id that no request had".to_owned(),
                        None if value["error"].is_object() => "an error without an id".to_owned(),
                        None => "a message with neither a method nor an id".to_owned(),
                    };
                    remarks.push(reply_to_nobody(line, self.revision, reason));
                }
                (self.revision, None)
            }
        };
        let found = self.check(revision, value, answers.as_deref(), None);
        let what = answers.as_deref().map_or("a reply".to_owned(), |method| {
            format!("the reply to {method}")
        });
        let is_null = value["result"].get("content").is_some_and(Value::is_null);
        for violation in &found {
            let mut remark = self.remark(line, revision, &what, violation);
            // Servers read null content as none; see the row of the decision table.
            if is_null && violation.at == "/result/content" {
                remark.verdict.kind = Kind::Lenient;
                remark.verdict.blame = Blame::Nobody;
            }
            remarks.push(remark);
        }
        found
    }

    /// A handshake that the client never confirmed, although it went on.
    pub(super) fn never_confirmed(&self) -> Option<Remark> {
        let line = self
            .handshake
            .used
            .filter(|_| !self.handshake.is_confirmed)?;
        let reason = "went on without notifications/initialized".to_owned();
        Some(broken(
            line,
            Strength::Must,
            self.revision,
            "basic/lifecycle Initialization",
            reason,
        ))
    }

    /// The revision that a message of the client is written in: what it says of itself where it does, and of the
    /// handshake the version that it offers.
    fn revision_of(&self, method: &str, value: &Value) -> Revision {
        let params = &value["params"];
        let modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        let offered = params["protocolVersion"]
            .as_str()
            .filter(|_| method == "initialize");
        let parsed = |text: &str| text.parse::<Revision>().ok();
        modern
            .and_then(parsed)
            .or_else(|| {
                offered
                    .and_then(parsed)
                    .filter(|revision| revision.is_legacy())
            })
            .unwrap_or(self.revision)
    }

    fn check(
        &self,
        revision: Revision,
        value: &Value,
        answers: Option<&str>,
        inputs: Option<&Value>,
    ) -> Vec<Violation> {
        let message = Message {
            value,
            answers,
            inputs,
        };
        let found = self.rules.check(revision, Dir::ClientToServer, &message);
        without_weaker(found)
    }

    fn remark(&self, line: usize, revision: Revision, what: &str, violation: &Violation) -> Remark {
        let reason = format!("{what}: {}", reply::named(violation));
        let mut remark = broken(
            line,
            violation.strength,
            revision,
            &violation.clause,
            reason,
        );
        remark.is_of_an_exchange = true;
        remark
    }
}

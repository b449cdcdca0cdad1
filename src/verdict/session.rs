//! The messages of a session against the rules of its revision: ours first, then the client's.
//!
//! Owns what is said of messages beside the probes' exchanges (the handshake, `tools/list`, notifications). It must
//! not know what a probe asks. The rules that need more than one message are `conversation`'s.

mod conversation;
mod http;
mod remark;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Kind, Verdict, one_line, reply};
use crate::matrix::Cell;
use crate::names::ProbeId;
use crate::outcome::{McpLine, Messages, Outcome};
use crate::recording::Dir;
use crate::recording::line::Line;
use crate::spec::{Rules, Violation};
use conversation::Conversation;
use remark::Remark;

/// What the rules say of all messages of a session.
#[derive(Debug, Default)]
pub struct Checked {
    /// What is wrong with messages of ours, in words: by the probe whose stimulus it is; none: of the whole session.
    ours: Vec<(Option<ProbeId>, String)>,
    /// What is wrong with each reply of the client to a probe, by evidence line.
    replies: BTreeMap<usize, Vec<Violation>>,
    /// What is wrong with what the client wrote, line by line.
    remarks: Vec<Remark>,
    /// What the client declared in its first `initialize`.
    declared: Option<Value>,
}

/// A finding names at most so many lines: a fault in every message is one finding.
const MAX_LINES: usize = 20;
/// At most so many different findings are kept.
const MAX_FINDINGS: usize = 50;

/// Checks every message of a recording whose lines were read.
#[must_use]
pub fn check(rules: &Rules, messages: &Messages<'_>) -> Checked {
    let mut checked = Checked::default();
    let mut conversations: BTreeMap<&str, Conversation<'_>> = BTreeMap::new();
    for line in messages.iter() {
        let conversation = conversations
            .entry(line.source)
            .or_insert_with(|| Conversation::of(rules, line.source, messages));
        match line.dir {
            Dir::ServerToClient => {
                conversation.hears(&line);
                checked.ours.extend(ours(conversation, &line));
            }
            Dir::ClientToServer => {
                let violations = conversation.clients(&line, &mut checked.remarks);
                if !violations.is_empty() {
                    checked.replies.insert(line.number, violations);
                }
            }
        }
    }
    checked.remarks.extend(http::check(messages));
    for conversation in conversations.into_values() {
        checked.remarks.extend(conversation.never_confirmed());
        checked.declared = checked.declared.or(conversation.declared);
    }
    checked
}

/// What is wrong with a line of ours, and the probe that it is of.
fn ours(conversation: &mut Conversation<'_>, line: &McpLine<'_>) -> Vec<(Option<ProbeId>, String)> {
    let number = line.number;
    let wrong: Vec<String> = match line.line {
        Line::Message(message) => {
            let found = conversation.ours(number, &message.value);
            found.iter().map(reply::named).collect()
        }
        Line::NotUtf8 | Line::NotJson | Line::Batch(_) => vec!["no message".to_owned()],
    };
    wrong
        .into_iter()
        .map(|what| {
            let what = format!("line {number} is of ours and wrong: {what}");
            (line.probe.cloned(), what)
        })
        .collect()
}

impl Checked {
    /// What is wrong with our own messages of the handshake and the tool calls, if anything: the whole session is suspect.
    #[must_use]
    pub fn harness_error(&self) -> Option<&str> {
        self.ours_of(None)
    }

    /// What is wrong with our own request for `probe`, if anything. Of a probe that is invalid on purpose it is no fault.
    #[must_use]
    pub fn ours_of(&self, probe: Option<&ProbeId>) -> Option<&str> {
        let mut ours = self.ours.iter();
        ours.find(|(of, _)| of.as_ref() == probe)
            .map(|(_, what)| what.as_str())
    }

    /// What is wrong with the client's reply on that line of evidence.
    #[must_use]
    pub fn reply(&self, line: Option<usize>) -> &[Violation] {
        line.and_then(|line| self.replies.get(&line))
            .map_or(&[], Vec::as_slice)
    }

    /// The capabilities that the client declared.
    #[must_use]
    pub fn declared(&self) -> Option<&Value> {
        self.declared.as_ref()
    }

    /// The findings of the session: what no cell speaks of. `outcomes` are those of its probes, `cells` the judgements
    /// that rest on it; a probe without one was asked again in a session of its own, and is judged there. A fault that
    /// comes again and again is one finding with many lines.
    #[must_use]
    pub fn findings(&self, outcomes: &BTreeMap<ProbeId, Outcome>, cells: &[Cell]) -> Vec<Verdict> {
        let silent: BTreeSet<&ProbeId> = cells
            .iter()
            .filter(|cell| !speaks_of_the_reply(&cell.verdict))
            .map(|cell| &cell.probe)
            .collect();
        let spoken: BTreeSet<usize> = outcomes
            .iter()
            .filter(|(probe, _)| !silent.contains(probe))
            .flat_map(|(_, outcome)| outcome.evidence.iter().copied())
            .collect();
        let mut findings: Vec<Verdict> = Vec::new();
        for remark in &self.remarks {
            if remark.is_of_an_exchange && spoken.contains(&remark.line) {
                continue;
            }
            let mut verdict = remark.verdict.clone();
            verdict.reason = one_line(&verdict.reason);
            let known = findings
                .iter()
                .position(|other| other.clause == verdict.clause && other.reason == verdict.reason);
            match known {
                Some(at) if findings[at].evidence.len() < MAX_LINES => {
                    findings[at].evidence.push(remark.line);
                }
                None if findings.len() < MAX_FINDINGS => {
                    verdict.evidence = vec![remark.line];
                    findings.push(verdict);
                }
                _ => {}
            }
        }
        findings
    }
}

/// Whether a verdict is about the reply itself. A refusal is about what was decided, however it was written.
fn speaks_of_the_reply(verdict: &Verdict) -> bool {
    verdict.kind != Kind::Refused
}

#[cfg(test)]
mod tests;

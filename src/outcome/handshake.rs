//! Reading what a client did once its handshake was answered as a probe's script says.
//!
//! Owns which of its messages follow, and how it ended the server. A session with a script is for one probe alone, so that
//! all of it is that probe's. It must not know what the client should have done.

use super::{Kind, Messages, Outcome, Stage};
use crate::catalogue::script::{LISTEN, Then};
use crate::names::ProbeId;
use crate::recording::{Dir, Event};

/// So many messages after the answer are named.
const MAX_NAMED: usize = 8;
/// The longest name of a method.
const MAX_NAME: usize = 60;

/// The outcome of the probe whose script the session went by.
pub(super) fn outcome(messages: &Messages<'_>, probe: &ProbeId) -> Outcome {
    let entries = &messages.recording().entries;
    let number = |at: usize| at + 2;
    let answered = entries.iter().position(|entry| match &entry.event {
        Event::Mcp { probe: Some(p), .. }
        | Event::Http { probe: Some(p), .. }
        | Event::Withheld { probe: p } => p == probe,
        _ => false,
    });
    let harness = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| matches!(entry.event, Event::HarnessError { .. }))
        .map(|(at, _)| number(at));
    let Some(answered) = answered else {
        return plain(not_asked(messages), None, harness.collect());
    };
    let mut methods: Vec<String> = Vec::new();
    let mut evidence: Vec<usize> = vec![number(answered)];
    let source = &entries[answered].source;
    let event = &entries[answered].event;
    let from = since(messages, event, number(answered));
    // Over HTTP a client that begins anew talks to the same endpoint.
    let is_http = matches!(event, Event::Http { .. });
    let is_after = |line: &super::McpLine<'_>| {
        let is_of_it = is_http || line.source == source;
        line.number > from && is_of_it && line.dir == Dir::ClientToServer
    };
    for line in messages.iter().filter(is_after) {
        let names = line.line.messages().iter();
        let names = names.filter_map(|message| message.value["method"].as_str());
        for name in names.take(MAX_NAMED.saturating_sub(methods.len())) {
            methods.push(name.chars().take(MAX_NAME).collect());
            evidence.push(line.number);
        }
    }
    let mut ended_by = Vec::new();
    for (at, entry) in entries.iter().enumerate().skip(answered) {
        if let Event::Ending { by } = &entry.event
            && entry.source == *source
        {
            ended_by.push(by.clone());
            evidence.push(number(at));
        }
    }
    let resumed = entries.iter().position(|entry| is_resumption(&entry.event));
    evidence.extend(resumed.map(number));
    evidence.extend(harness);
    evidence.sort_unstable();
    evidence.dedup();
    let kind = Kind::Followed {
        then: match resumed {
            Some(_) => Then::Resumes,
            None => then(&methods),
        },
        methods,
        ended_by,
    };
    plain(kind, Some(number(answered)), evidence)
}

/// The line after which counts what the client sent. Its request for a stream to listen on comes beside the first list, so
/// that this may have been on its way.
fn since(messages: &Messages<'_>, event: &Event, answered: usize) -> usize {
    match event {
        Event::Http { request, .. } if request.method.as_deref() == Some(LISTEN) => {
            let list = messages.iter().find(|line| {
                let mut messages = line.line.messages().iter();
                messages.any(|message| message.value["method"] == "tools/list")
            });
            list.map_or(answered, |line| line.number)
        }
        _ => answered,
    }
}

/// Whether the client asks for the rest of a stream (2025-11-25 basic/transports Resumability and Redelivery).
fn is_resumption(event: &Event) -> bool {
    match event {
        Event::Http { request, .. } => request.header("last-event-id").is_some(),
        _ => false,
    }
}

/// What a client that sent these messages did.
fn then(methods: &[String]) -> Then {
    let telling = methods.iter().find_map(|method| match method.as_str() {
        "tools/list" | "tools/call" => Some(Then::GoesOn),
        "initialize" => Some(Then::Initializes),
        _ => None,
    });
    telling.unwrap_or(Then::Stops)
}

/// The client never sent what the script is about.
fn not_asked(messages: &Messages<'_>) -> Kind {
    let spoke = messages.iter().any(|line| line.dir == Dir::ClientToServer);
    let note =
        spoke.then(|| "the client never sent the request that the script answers".to_owned());
    Kind::NotReached {
        missing: Stage::Handshake,
        note,
    }
}

fn plain(kind: Kind, request: Option<usize>, evidence: Vec<usize>) -> Outcome {
    Outcome {
        stage: request.map(|_| Stage::Handshake),
        kind,
        presented: None,
        answer: None,
        request,
        reply: None,
        oddities: Vec::new(),
        evidence,
        latency_us: None,
    }
}

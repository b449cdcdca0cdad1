//! Recording -> evidence: what may be committed, and is the same in every run.
//!
//! Owns what is kept and in which order. Pure and idempotent. Ids are renumbered, times and `_meta` values
//! go, the client's own chatter (host lines, model requests, output) is dropped: its prompts are never
//! committed. The entries of a cell stand together, so that a race between cells does not show.

mod log;

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Dir, Entry, Event, Recording, Wire};
use crate::names::ProbeId;

/// The evidence of a recording.
#[must_use]
pub fn evidence(recording: &Recording) -> Recording {
    let places = place(recording);
    let order: BTreeMap<&ProbeId, usize> = recording.header.probes.iter().zip(1..).collect();
    let mut kept: Vec<(Key, &Entry)> = Vec::new();
    for (index, (entry, probe)) in recording.entries.iter().zip(&places).enumerate() {
        if let Some(rank) = rank(&entry.event) {
            let cell = probe
                .as_ref()
                .and_then(|id| order.get(id))
                .copied()
                .unwrap_or(0);
            // The end of the process comes after all cells.
            let cell = if matches!(entry.event, Event::Exit { .. }) {
                usize::MAX
            } else {
                cell
            };
            kept.push(((cell, rank, index), entry));
        }
    }
    kept.sort_by_key(|a| a.0);
    let mut ids = Ids::default();
    let mut names = std::collections::BTreeSet::new();
    let mut entries: Vec<Entry> = Vec::new();
    for (_, entry) in kept {
        let event = redact(&entry.event, &entry.source, &mut ids);
        if let Event::NameAsked { name } = event {
            names.insert(name);
            continue;
        }
        entries.push(Entry {
            t_us: 0,
            source: entry.source.clone(),
            event,
        });
    }
    let at = entries
        .iter()
        .position(|e| matches!(e.event, Event::Exit { .. }))
        .unwrap_or(entries.len());
    let asked = names.into_iter().map(|name| Entry {
        t_us: 0,
        source: "session".to_owned(),
        event: Event::NameAsked { name },
    });
    entries.splice(at..at, asked);
    Recording {
        header: recording.header.clone(),
        entries,
        end: recording.end,
    }
}

/// Cell (0: none), rank in the cell, place in time.
type Key = (usize, u8, usize);

/// Whether an event is kept, and how late in its cell it stands: what a second process writes at the same
/// time comes last, since its order among the others is a race.
fn rank(event: &Event) -> Option<u8> {
    match event {
        Event::Header(_)
        | Event::Footer { .. }
        | Event::Host { .. }
        | Event::ModelRequest { .. }
        | Event::ModelReply { .. }
        | Event::ServerClosed => None,
        Event::Stdout { .. } | Event::Stderr { probe: None, .. } => None,
        Event::ToolCalled { .. } => Some(0),
        Event::ToolResult { .. } => Some(2),
        Event::Stderr { .. } => Some(3),
        Event::HarnessError { .. } => Some(4),
        _ => Some(1),
    }
}

/// The probe that each entry belongs to; none for what is of the whole session.
#[must_use]
pub fn place(recording: &Recording) -> Vec<Option<ProbeId>> {
    let mut calls: BTreeMap<(String, String), ProbeId> = BTreeMap::new();
    let mut requests: BTreeMap<(String, String), ProbeId> = BTreeMap::new();
    let mut open: BTreeMap<String, ProbeId> = BTreeMap::new();
    let mut called: Option<ProbeId> = None;
    let mut places = Vec::with_capacity(recording.entries.len());
    for entry in &recording.entries {
        let source = &entry.source;
        if let Event::Called { probe } = &entry.event {
            called = Some(probe.clone());
        }
        let probe = match &entry.event {
            Event::Mcp { dir, line, probe } => {
                let message: Value = serde_json::from_slice(&line.0).unwrap_or(Value::Null);
                let id = (source.clone(), message["id"].to_string());
                let has_id = message.get("id").is_some();
                match (dir, probe) {
                    (Dir::ServerToClient, Some(probe)) => {
                        requests.insert(id, probe.clone());
                        open.insert(source.clone(), probe.clone());
                        Some(probe.clone())
                    }
                    (Dir::ServerToClient, None) => calls.get(&id).cloned(),
                    (Dir::ClientToServer, _) if message["method"] == "tools/call" => {
                        let probe = message["params"]["arguments"]["id"].as_str();
                        let probe = probe.map(|probe| ProbeId(probe.to_owned()));
                        if let Some(probe) = &probe {
                            calls.insert(id, probe.clone());
                        }
                        probe
                    }
                    (Dir::ClientToServer, _) if has_id && message["method"].is_null() => {
                        requests.get(&id).or_else(|| open.get(source)).cloned()
                    }
                    (Dir::ClientToServer, _) => open.get(source).cloned(),
                }
            }
            Event::Host { .. } => called.clone(),
            event => of_event(event).cloned(),
        };
        if matches!(entry.event, Event::CallReturned { .. }) {
            called = None;
        }
        if let Event::ProbeDone { .. } = entry.event {
            open.remove(source);
        }
        places.push(probe);
    }
    places
}

fn of_event(event: &Event) -> Option<&ProbeId> {
    match event {
        Event::NotDeclared { probe, .. }
        | Event::NotAsked { probe, .. }
        | Event::NoReply { probe, .. }
        | Event::ProbeDone { probe }
        | Event::Called { probe }
        | Event::Presented { probe, .. }
        | Event::AnswerGiven { probe, .. }
        | Event::CallReturned { probe }
        | Event::ToolCalled { probe }
        | Event::ToolResult { probe, .. } => Some(probe),
        Event::Stderr { probe, .. } => probe.as_ref(),
        _ => None,
    }
}

/// New numbers for JSON-RPC ids: one space for the client's requests, one for the server's, per server.
#[derive(Default)]
struct Ids(BTreeMap<(String, bool, String), usize>);

impl Ids {
    /// The new text of `id`, of the same JSON type, in the space of whoever sent the request.
    fn renumber(&mut self, source: &str, by_client: bool, id: &RawValue) -> String {
        let next = 1 + self
            .0
            .keys()
            .filter(|key| key.0 == source && key.1 == by_client)
            .count();
        let key = (source.to_owned(), by_client, id.get().to_owned());
        let number = *self.0.entry(key).or_insert(next);
        match id.get().as_bytes().first() {
            Some(b'"') => format!("\"id-{number}\""),
            Some(b'-' | b'0'..=b'9') => number.to_string(),
            // null, or something that is no id at all: a fact to keep.
            _ => id.get().to_owned(),
        }
    }
}

fn redact(event: &Event, source: &str, ids: &mut Ids) -> Event {
    match event {
        Event::ClientStarted { .. } => Event::ClientStarted { argv: Vec::new() },
        Event::Mcp { dir, line, probe } => Event::Mcp {
            dir: *dir,
            line: redact_line(line, *dir, source, ids),
            probe: probe.clone(),
        },
        Event::Presented { probe, params } => {
            let mut params = params.clone();
            redact_value(&mut params);
            Event::Presented {
                probe: probe.clone(),
                params,
            }
        }
        Event::ToolResult { probe, text } => Event::ToolResult {
            probe: probe.clone(),
            text: own_part(probe, text),
        },
        Event::Stderr { line, probe } => Event::Stderr {
            line: Wire::text(log::redact(&line.to_text())),
            probe: probe.clone(),
        },
        event => event.clone(),
    }
}

/// The parts of a message that are renumbered. Borrowed, so that the rest of the line stays byte for byte.
#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
}

fn redact_line(line: &Wire, dir: Dir, source: &str, ids: &mut Ids) -> Wire {
    let Ok(text) = std::str::from_utf8(&line.0) else {
        return line.clone();
    };
    // Only an object is a message; an array would be read as the envelope's members in their order.
    let Ok(Value::Object(_)) = serde_json::from_str(text) else {
        return line.clone();
    };
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return line.clone();
    };
    let mut text = text.to_owned();
    if let Some(id) = envelope.id {
        let by_client = envelope.method.is_some() == (dir == Dir::ClientToServer);
        let new = ids.renumber(source, by_client, id);
        let start = id.get().as_ptr() as usize - line.0.as_ptr() as usize;
        text.replace_range(start..start + id.get().len(), &new);
    }
    // Only a line that holds something to hide is written anew; all others keep their bytes.
    if let Ok(mut value) = serde_json::from_str::<Value>(&text)
        && redact_message(&mut value)
    {
        text = value.to_string();
    }
    Wire::text(text)
}

/// Hides what is never the same twice: what is in `_meta`, the token of a progress, the id that a cancellation
/// names. Only there: a form may ask for a `requestId`. Tells whether anything was hidden.
fn redact_message(message: &mut Value) -> bool {
    let mut changed = redact_value(message);
    for name in ["progressToken", "requestId"] {
        if let Some(value) = message
            .get_mut("params")
            .and_then(|params| params.get_mut(name))
        {
            changed |= hide(value);
        }
    }
    changed
}

/// Hides what is in `_meta` at any depth, but for what the protocol itself defines there.
fn redact_value(value: &mut Value) -> bool {
    let mut changed = false;
    match value {
        Value::Array(items) => {
            for item in items {
                changed |= redact_value(item);
            }
        }
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                changed |= match key.as_str() {
                    "_meta" => redact_meta(value),
                    _ => redact_value(value),
                };
            }
        }
        _ => {}
    }
    changed
}

fn redact_meta(meta: &mut Value) -> bool {
    let Some(meta) = meta.as_object_mut() else {
        return false;
    };
    let mut changed = false;
    for (key, value) in meta.iter_mut() {
        if !key.starts_with("io.modelcontextprotocol/") {
            changed |= hide(value);
        }
    }
    changed
}

fn hide(value: &mut Value) -> bool {
    let hidden = Value::from("<redacted>");
    let changed = *value != hidden;
    *value = hidden;
    changed
}

/// Of a tool result, the line that the probe server wrote; clients put times and words of their own around it.
fn own_part(probe: &ProbeId, text: &str) -> String {
    let start = format!("{probe}: ");
    match text.find(&start) {
        Some(at) => text[at..].lines().next().unwrap_or_default().to_owned(),
        None => "<redacted>".to_owned(),
    }
}

#[cfg(test)]
mod tests;

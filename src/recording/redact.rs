//! Recording -> evidence: what may be committed, and is the same in every run.
//!
//! Owns what is kept and in which order. Pure and idempotent. Ids are renumbered, times and `_meta` values
//! go, the client's own chatter (host lines, model requests, output) is dropped: its prompts are never
//! committed. The entries of a cell stand together, so that a race between cells does not show.

mod endings;
mod log;
mod message;
mod noise;
mod place;
mod side_by_side;

use std::collections::{BTreeSet, HashMap};

use super::line::Line;
use super::{AnsweredBy, Entry, Event, Recording, Wire};
use crate::names::ProbeId;

pub use place::place;

/// The evidence of a recording.
#[must_use]
pub fn evidence(recording: &Recording) -> Recording {
    let lines = place::lines(recording);
    let places = place::places(recording, &lines);
    let order: HashMap<&str, usize> = (recording.header.probes.iter())
        .map(|probe| probe.0.as_str())
        .zip(1..)
        .collect();
    let mut kept: Vec<Key> = Vec::new();
    for (index, (entry, probe)) in recording.entries.iter().zip(&places).enumerate() {
        if recording.header.script.is_some() {
            kept.extend(script_order(entry).map(|order| (order, 0, index)));
            continue;
        }
        if let Some(rank) = rank(&entry.event) {
            // The end of the process comes after all cells.
            let cell = match entry.event {
                Event::Exit { .. } => usize::MAX,
                // What is of a probe that is not asked comes last, as a reply to it must not come before it.
                _ => probe.map_or(0, |id| order.get(id).copied().unwrap_or(usize::MAX - 1)),
            };
            kept.push((cell, rank, index));
        }
    }
    kept.sort_unstable();
    side_by_side::arrange(recording, &lines, &mut kept);
    noise::settle(recording, &lines, &mut kept);
    let clock = Clock::of(recording, &kept);
    let mut ids = message::Ids::default();
    let mut names = BTreeSet::new();
    let mut endings = endings::Endings::default();
    let mut entries: Vec<Entry> = Vec::with_capacity(kept.len());
    for (_, _, index) in kept {
        let entry = &recording.entries[index];
        if let Event::NameAsked { name } = &entry.event {
            names.insert(name.clone());
            continue;
        }
        if endings.joins(entry, &mut entries) {
            continue;
        }
        entries.push(Entry {
            t_us: clock.time(entry.t_us),
            source: entry.source.clone(),
            event: redact(entry, lines[index].as_ref(), &mut ids),
        });
    }
    endings::settle(&mut entries);
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

/// What times become. They are never the same twice, so that they go; but what a person did is never reproduced
/// anyway, and how long it took tells a person's answer from one that the client gave by itself.
enum Clock {
    Zero,
    /// Relative to the first entry.
    Tenths {
        start_us: u64,
    },
}

impl Clock {
    const TENTH_US: u64 = 100_000;

    fn of(recording: &Recording, kept: &[Key]) -> Clock {
        let times = (kept.iter()).map(|(_, _, index)| recording.entries[*index].t_us);
        match recording.header.answered_by {
            AnsweredBy::Person => Clock::Tenths {
                start_us: times.min().unwrap_or(0),
            },
            AnsweredBy::Driver | AnsweredBy::Client => Clock::Zero,
        }
    }

    fn time(&self, t_us: u64) -> u64 {
        match self {
            Clock::Zero => 0,
            Clock::Tenths { start_us } => {
                let since = t_us.saturating_sub(*start_us);
                since - since % Clock::TENTH_US
            }
        }
    }
}

/// Cell (0: none), rank in the cell, place in time.
type Key = (usize, u8, usize);

/// In a session with a script everything is its probe's. What the probe servers write stays in their own order, one after
/// the other; how that lies among what the session's own process writes is a race.
fn script_order(entry: &Entry) -> Option<usize> {
    match &entry.event {
        Event::ClientStarted { .. } => Some(0),
        Event::Ending { .. } | Event::Withheld { .. } => Some(server_number(&entry.source)),
        // Whether it comes in time before the sandbox ends is a race.
        Event::Exit { .. } => Some(usize::MAX),
        event if rank(event).is_none() => None,
        // No line of it belongs to anything for certain, and the last may come too late.
        Event::Stderr { .. } => None,
        Event::Http { probe: None, .. } => Some(usize::MAX - 2),
        _ if entry.source == "session" => Some(usize::MAX - 1),
        _ => Some(server_number(&entry.source)),
    }
}

/// The number in `server-2`.
fn server_number(source: &str) -> usize {
    let digits = source.rsplit('-').next().unwrap_or_default();
    digits.parse().unwrap_or(1)
}

/// Whether an event is kept, and how late in its cell it stands: what a second process writes at the same
/// time comes last, since its order among the others is a race.
fn rank(event: &Event) -> Option<u8> {
    match event {
        Event::Header(_)
        | Event::Footer { .. }
        | Event::Host { .. }
        | Event::ModelRequest { .. }
        | Event::ModelReply { .. }
        | Event::Bytes { .. }
        | Event::ServerClosed => None,
        Event::Stdout { .. } | Event::Stderr { probe: None, .. } => None,
        Event::ToolCalled { .. } => Some(0),
        Event::ToolResult { .. } => Some(2),
        Event::Stderr { .. } => Some(3),
        Event::HarnessError { .. } => Some(4),
        // Whether it comes in time before the client is gone is a race.
        Event::Http { request, .. } if request.method.as_deref() == Some("DELETE") => None,
        // On a connection of its own, beside those that carry messages.
        Event::Http { .. } => Some(5),
        _ => Some(1),
    }
}

fn redact(entry: &Entry, line: Option<&Line<'_>>, ids: &mut message::Ids) -> Event {
    match (&entry.event, line) {
        (Event::ClientStarted { .. }, _) => Event::ClientStarted { argv: Vec::new() },
        (
            Event::Mcp {
                dir,
                line,
                head,
                probe,
            },
            Some(read),
        ) => Event::Mcp {
            dir: *dir,
            head: head.clone(),
            line: message::redact(line, read, *dir, &entry.source, ids),
            probe: probe.clone(),
        },
        // How it takes being ended by us depends on what it was doing.
        (Event::Exit { killed: true, .. }, _) => Event::Exit {
            code: None,
            signal: None,
            killed: true,
        },
        (Event::Presented { probe, params }, _) => {
            let mut params = params.clone();
            message::redact_value(&mut params);
            Event::Presented {
                probe: probe.clone(),
                params,
            }
        }
        (Event::ToolResult { probe, text }, _) => Event::ToolResult {
            probe: probe.clone(),
            text: own_part(probe, text),
        },
        (Event::Stderr { line, probe }, _) => Event::Stderr {
            line: Wire::text(log::redact(&line.to_text())),
            probe: probe.clone(),
        },
        (event, _) => event.clone(),
    }
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

//! Which cell an entry belongs to.
//!
//! Owns following the requests of both sides by their ids. It must not know what of an entry is kept.

use std::collections::HashMap;

use super::super::line::{Line, Sort, id_key};
use super::super::{Dir, Event, Recording};
use crate::names::ProbeId;

/// The probe that each entry belongs to; none for what is of the whole session.
#[must_use]
pub fn place(recording: &Recording) -> Vec<Option<ProbeId>> {
    let lines = lines(recording);
    let places = places(recording, &lines).into_iter();
    places
        .map(|probe| probe.map(|probe| ProbeId(probe.to_owned())))
        .collect()
}

/// The MCP line of each entry that has one.
pub(super) fn lines(recording: &Recording) -> Vec<Option<Line<'_>>> {
    let entries = recording.entries.iter();
    entries
        .map(|entry| match &entry.event {
            Event::Mcp { line, .. } => Some(Line::read(&line.0)),
            _ => None,
        })
        .collect()
}

/// One side's requests of one probe server.
#[derive(Default)]
struct Server<'a> {
    /// The probe of each call of the client, by the call's id.
    calls: HashMap<String, &'a str>,
    /// The probe of each stimulus, by the request's id.
    requests: HashMap<String, &'a str>,
    /// The probe whose stimulus was sent last and that is not over.
    open: Option<&'a str>,
}

pub(super) fn places<'a>(
    recording: &'a Recording,
    lines: &'a [Option<Line<'a>>],
) -> Vec<Option<&'a str>> {
    let mut servers: HashMap<&str, Server<'a>> = HashMap::new();
    let mut called: Option<&str> = None;
    let mut places = Vec::with_capacity(recording.entries.len());
    for (entry, line) in recording.entries.iter().zip(lines) {
        let own = entry.event.probe().map(|probe| probe.0.as_str());
        let probe = match (&entry.event, line) {
            (Event::Mcp { dir, .. }, Some(line)) => {
                let server = servers.entry(&entry.source).or_default();
                match dir {
                    Dir::ServerToClient => server.wrote(line, own),
                    Dir::ClientToServer => server.was_told(line),
                }
            }
            (Event::Host { .. }, _) => called,
            _ => own,
        };
        match &entry.event {
            Event::Called { .. } => called = own,
            Event::CallReturned { .. } => called = None,
            Event::ProbeDone { .. } => {
                if let Some(server) = servers.get_mut(entry.source.as_str()) {
                    server.open = None;
                }
            }
            _ => {}
        }
        places.push(probe);
    }
    places
}

impl<'a> Server<'a> {
    /// A line of the server, which is `stimulus`'s if that is given.
    fn wrote(&mut self, line: &Line<'a>, stimulus: Option<&'a str>) -> Option<&'a str> {
        let id = line.messages().iter().find_map(|m| m.value.get("id"));
        let id = id.map(id_key).unwrap_or_default();
        if let Some(probe) = stimulus {
            self.requests.insert(id, probe);
            self.open = stimulus;
            return stimulus;
        }
        self.calls.get(&id).copied()
    }

    /// A line of the client. A batch is of the first cell that an item replies to, or else calls for.
    fn was_told(&mut self, line: &'a Line<'a>) -> Option<&'a str> {
        let mut replied = None;
        let mut called = None;
        for message in line.messages() {
            match message.sort() {
                Sort::Reply { id } => {
                    replied = replied.or_else(|| self.requests.get(&id_key(id)).copied());
                }
                _ if message.value["method"] == "tools/call" => {
                    let probe = message.called_probe();
                    if let Some(probe) = probe {
                        let id = message.value.get("id").map(id_key).unwrap_or_default();
                        self.calls.insert(id, probe);
                    }
                    // A call without a probe is of no cell.
                    called = called.or(Some(probe));
                }
                _ => {}
            }
        }
        match (replied, called) {
            (Some(_), _) => replied,
            (None, Some(probe)) => probe,
            (None, None) => self.open,
        }
    }
}

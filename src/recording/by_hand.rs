//! Recordings of a probe server that a person added to a client: server parts without a supervisor.
//!
//! Owns giving them the header that a supervisor would have written, from what the client said of itself.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::line::Line;
use super::read::{self, ReadError};
use super::{AnsweredBy, AskedBy, Dir, End, Entry, Event, FORMAT, Header, Isolation, Recording};
use crate::names::{ProbeId, Target};

/// One recording for each probe server that was started with `--out dir`, oldest first. Of several that asked
/// the same probe of the same client, each has its own cells; the matrix shows the latest.
///
/// # Errors
/// When a part cannot be read.
pub fn load(dir: &Path, probes: &[ProbeId]) -> Result<Vec<Recording>, ReadError> {
    let mut recordings: Vec<Recording> = Vec::new();
    // The latest first: a probe that was asked again counts as it was last.
    for part in read::server_parts(dir)?.iter().rev() {
        let entries = read::entries(part)?;
        if entries.is_empty() {
            continue;
        }
        let mut new = recording(entries, probes);
        let same = recordings
            .iter()
            .filter(|later| later.header.target == new.header.target);
        let later: Vec<ProbeId> = same.flat_map(|later| later.header.cells.clone()).collect();
        new.header.cells.retain(|cell| !later.contains(cell));
        recordings.push(new);
    }
    recordings.reverse();
    Ok(recordings)
}

fn recording(entries: Vec<Entry>, probes: &[ProbeId]) -> Recording {
    let was_asked = |probe: &ProbeId| {
        entries.iter().any(|entry| match &entry.event {
            Event::Mcp { probe: Some(p), .. }
            | Event::NotDeclared { probe: p, .. }
            | Event::NotAsked { probe: p, .. } => p == probe,
            _ => false,
        })
    };
    let asked: Vec<ProbeId> = probes
        .iter()
        .filter(|probe| was_asked(probe))
        .cloned()
        .collect();
    let header = Header {
        format: FORMAT,
        capmatrix: env!("CARGO_PKG_VERSION").to_owned(),
        target: target(&entries),
        revision: None,
        script: None,
        digest: String::new(),
        platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
        isolation: Isolation::Env,
        settings: BTreeMap::new(),
        cells: asked.clone(),
        probes: asked,
        note: Some("recorded by hand: the client ran with its user's own settings".to_owned()),
        asked_by: AskedBy::Host,
        answered_by: AnsweredBy::Person,
    };
    let closed = entries
        .iter()
        .any(|entry| matches!(entry.event, Event::ServerClosed));
    // A client that kills its server leaves no last word; that is how most of them end one.
    let end = Some(if closed {
        End::Finished
    } else {
        End::ClientGone
    });
    Recording {
        header,
        entries,
        end,
    }
}

/// The client as it calls itself in `initialize`.
fn target(entries: &[Entry]) -> Target {
    let info = entries.iter().find_map(|entry| match &entry.event {
        Event::Mcp {
            dir: Dir::ClientToServer,
            line,
            ..
        } => {
            let line = Line::read(&line.0);
            let mut messages = line.messages().iter().map(|message| &message.value);
            let initialize = messages.find(|message| message["method"] == "initialize")?;
            Some(initialize["params"]["clientInfo"].clone())
        }
        _ => None,
    });
    let info = info.unwrap_or(Value::Null);
    Target {
        client: plain(info["name"].as_str()),
        version: plain(info["version"].as_str()),
        surface: "by-hand".to_owned(),
    }
}

/// A client's own word for itself as part of a name and of a path: hostile until it is plain.
fn plain(text: Option<&str>) -> String {
    let plain: String = text
        .unwrap_or_default()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .take(60)
        .collect();
    if plain.trim_matches('.').is_empty() {
        "unknown".to_owned()
    } else {
        plain
    }
}

#[cfg(test)]
mod tests;

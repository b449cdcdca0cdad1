//! Where in a recording what is that an outcome needs.
//!
//! Owns one pass over the entries, so that reading all cells takes time with the length of the recording and not with
//! its square. It must not know what an outcome is.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use super::{Messages, Stage};
use crate::recording::line::{Line, Sort, id_key};
use crate::recording::{Dir, Event, Recording};

/// All that is found in one pass. Places are indices of entries.
pub(super) struct Index<'m> {
    pub(super) recording: &'m Recording,
    pub(super) messages: &'m Messages<'m>,
    /// Entries that speak of a probe, in their order.
    of_probe: HashMap<&'m str, Vec<usize>>,
    sources: HashMap<&'m str, Source>,
    /// The last stage that the session reached, whatever its probes did.
    pub(super) stage: Option<Stage>,
    pub(super) harness_errors: Vec<usize>,
    /// Ends of the client's process that the harness did not bring about.
    pub(super) exits: Vec<usize>,
}

/// What one probe server wrote and was told.
#[derive(Default)]
pub(super) struct Source {
    /// The stimuli.
    stimuli: Vec<usize>,
    /// Their ids.
    request_ids: HashSet<String>,
    /// The client's lines.
    client_lines: Vec<usize>,
    /// The client's lines that hold a reply, by its id.
    replies: HashMap<String, Vec<usize>>,
}

impl<'m> Index<'m> {
    pub(super) fn of(messages: &'m Messages<'m>) -> Index<'m> {
        let recording = messages.recording();
        let mut index = Index {
            recording,
            messages,
            of_probe: HashMap::new(),
            sources: HashMap::new(),
            stage: None,
            harness_errors: Vec::new(),
            exits: Vec::new(),
        };
        for (at, entry) in recording.entries.iter().enumerate() {
            if let Some(probe) = entry.event.probe() {
                index.speaks_of(&probe.0, at);
            }
            match (&entry.event, messages.of_entry(at)) {
                (Event::ClientStarted { .. }, _) => index.reached(Stage::ClientStarted),
                (Event::ToolOffered { .. }, _) => index.reached(Stage::ToolOffered),
                (Event::HarnessError { .. }, _) => index.harness_errors.push(at),
                (Event::Exit { killed: false, .. }, _) => index.exits.push(at),
                (Event::Mcp { dir, probe, .. }, Some(line)) => {
                    let source = index.sources.entry(&entry.source).or_default();
                    if probe.is_some() {
                        source.stimuli.push(at);
                        source.request_ids.extend(request_id(line).map(id_key));
                    }
                    if *dir == Dir::ClientToServer {
                        source.add_client_line(line, at);
                        index.add_client_line(line, at);
                    }
                }
                _ => {}
            }
        }
        index
    }

    /// The entries that speak of a probe.
    pub(super) fn of_probe(&self, probe: &str) -> &[usize] {
        self.of_probe.get(probe).map_or(&[], Vec::as_slice)
    }

    /// The probe server that wrote the entry.
    pub(super) fn source(&self, at: usize) -> Option<&Source> {
        self.sources.get(self.recording.entries[at].source.as_str())
    }

    fn speaks_of(&mut self, probe: &'m str, at: usize) {
        let places = self.of_probe.entry(probe).or_default();
        if places.last() != Some(&at) {
            places.push(at);
        }
    }

    fn reached(&mut self, stage: Stage) {
        self.stage = self.stage.max(Some(stage));
    }

    fn add_client_line(&mut self, line: &'m Line<'m>, at: usize) {
        for message in line.messages() {
            match message.value["method"].as_str() {
                Some("initialize" | "server/discover") => self.reached(Stage::Handshake),
                Some("tools/list") => self.reached(Stage::ToolsListed),
                _ => {}
            }
            if let Some(probe) = message.called_probe() {
                self.speaks_of(probe, at);
            }
        }
    }
}

impl Source {
    fn add_client_line(&mut self, line: &Line<'_>, at: usize) {
        self.client_lines.push(at);
        for message in line.messages() {
            if let Sort::Reply { id } = message.sort() {
                let places = self.replies.entry(id_key(id)).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
    }

    /// Whether a request of the server has this id.
    pub(super) fn has_request(&self, id: &str) -> bool {
        self.request_ids.contains(id)
    }

    /// The stimulus that was sent after the one at `sent`.
    pub(super) fn next_stimulus(&self, sent: usize) -> Option<usize> {
        let next = self.stimuli.partition_point(|at| *at <= sent);
        self.stimuli.get(next).copied()
    }

    /// The client's lines in `window`, and all later ones that reply to `id`, in their order.
    pub(super) fn lines_of(&self, window: &Range<usize>, id: Option<&str>) -> Vec<usize> {
        let from = self.client_lines.partition_point(|at| *at < window.start);
        let to = self.client_lines.partition_point(|at| *at < window.end);
        let mut lines = self.client_lines[from..to.max(from)].to_vec();
        let replies = id.and_then(|id| self.replies.get(id));
        lines.extend(
            replies
                .into_iter()
                .flatten()
                .filter(|at| **at >= window.end),
        );
        lines
    }
}

/// The id of the server's own request; none of a result, whose id is the client's.
pub(super) fn request_id<'l>(line: &'l Line<'_>) -> Option<&'l Value> {
    match line.messages().first()?.sort() {
        Sort::Request { id, .. } => Some(id),
        _ => None,
    }
}

/// Whether a stimulus is a result that asks for input, so that the answer is a call that is made again.
pub(super) fn is_result(line: &Line<'_>) -> bool {
    line.messages()
        .first()
        .is_some_and(|message| matches!(message.sort(), Sort::Reply { .. }))
}

//! The MCP lines of a recording, read once for all who need them.
//!
//! Owns that no line is read twice. It must not know what a line means for a cell.

use crate::names::ProbeId;
use crate::recording::line::Line;
use crate::recording::{Dir, Event, Head, Recording};

/// A recording with its MCP lines read.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    recording: &'a Recording,
    /// By entry; none for entries that are no MCP line.
    lines: Vec<Option<Line<'a>>>,
}

/// One line on the MCP channel.
#[derive(Debug, Clone, Copy)]
pub struct McpLine<'m> {
    /// Its line number in the recording; the header is line 1.
    pub number: usize,
    /// The probe server that read or wrote it.
    pub source: &'m str,
    /// Who wrote it.
    pub dir: Dir,
    /// The probe whose stimulus it is, if it is one.
    pub probe: Option<&'m ProbeId>,
    /// What HTTP said before it.
    pub head: Option<&'m Head>,
    /// Its bytes.
    pub bytes: &'m [u8],
    /// What it is.
    pub line: &'m Line<'m>,
}

impl McpLine<'_> {
    /// Whether it is a line of ours that nobody can read.
    #[must_use]
    pub fn is_noise(&self) -> bool {
        self.dir == Dir::ServerToClient && matches!(self.line, Line::NotJson | Line::NotUtf8)
    }
}

impl<'a> Messages<'a> {
    /// Reads all MCP lines of a recording.
    #[must_use]
    pub fn parse(recording: &'a Recording) -> Messages<'a> {
        let read = |event: &'a Event| match event {
            Event::Mcp { line, .. } => Some(Line::read(&line.0)),
            _ => None,
        };
        let lines = recording.entries.iter().map(|entry| read(&entry.event));
        Messages {
            recording,
            lines: lines.collect(),
        }
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &'a Recording {
        self.recording
    }

    /// The line with this number (the header is line 1), if it is an MCP line.
    #[must_use]
    pub fn line(&self, number: usize) -> Option<McpLine<'_>> {
        self.at(number.checked_sub(2)?)
    }

    /// All MCP lines in their order.
    pub fn iter(&self) -> impl Iterator<Item = McpLine<'_>> {
        (0..self.lines.len()).filter_map(|at| self.at(at))
    }

    fn at(&self, at: usize) -> Option<McpLine<'_>> {
        let line = self.lines.get(at)?.as_ref()?;
        let entry = &self.recording.entries[at];
        let Event::Mcp {
            dir,
            probe,
            line: bytes,
            head,
        } = &entry.event
        else {
            return None;
        };
        Some(McpLine {
            number: at + 2,
            source: &entry.source,
            dir: *dir,
            probe: probe.as_ref(),
            head: head.as_deref(),
            bytes: &bytes.0,
            line,
        })
    }

    /// What the line of an entry is.
    pub(super) fn of_entry(&self, at: usize) -> Option<&Line<'a>> {
        self.lines.get(at)?.as_ref()
    }
}

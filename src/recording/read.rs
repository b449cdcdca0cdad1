//! Reading recordings: one file, or the parts that the processes of a session left.
//!
//! Owns parsing and the order of entries. A recording cut short by a crash is read as far as it goes and has no `end`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{End, Entry, Event, FORMAT, Header, Recording};

/// A recording that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all.
    #[error("cannot read {path}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is no entry.
    #[error("{path}:{line}:{column}: expected an entry of a recording: {message}")]
    Entry {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Which column, from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// The first line is no header.
    #[error("{path}:1:1: expected a header as the first line")]
    NoHeader {
        /// Which file.
        path: PathBuf,
    },
    /// The format is another one.
    #[error("{path}:1:1: format {found}, but this capmatrix reads format {FORMAT}")]
    Format {
        /// Which file.
        path: PathBuf,
        /// The format it claims.
        found: u32,
    },
}

/// Reads one recording.
///
/// # Errors
/// When the file cannot be read, a line before the last is no entry, or there is no header.
pub fn load(path: &Path) -> Result<Recording, ReadError> {
    let entries = entries(path)?;
    assemble(path, entries)
}

/// Merges the parts below `dir` (`session.jsonl`, `server-*.jsonl`) by time into one recording.
///
/// # Errors
/// As [`load`], for any of the parts.
pub fn merge(dir: &Path, session: &str) -> Result<Recording, ReadError> {
    let mut all = entries(&dir.join(session))?;
    for (index, part) in server_parts(dir)?.iter().enumerate() {
        let source = format!("server-{}", index + 1);
        all.extend(entries(part)?.into_iter().map(|entry| Entry {
            source: source.clone(),
            ..entry
        }));
    }
    // Stable: entries of one process keep their order where the clock did not move.
    all.sort_by_key(|entry| match entry.event {
        Event::Header(_) => (0, 0),
        Event::Footer { .. } => (2, 0),
        _ => (1, entry.t_us),
    });
    assemble(dir, all)
}

/// The probe servers' parts in the order in which they were started (their names end in the start time).
///
/// # Errors
/// When the folder cannot be listed.
pub fn server_parts(dir: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let io_error = |source| ReadError::Io {
        path: dir.to_owned(),
        source,
    };
    let mut parts = Vec::new();
    for entry in fs::read_dir(dir).map_err(io_error)? {
        let path = entry.map_err(io_error)?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with("server-") && name.ends_with(".jsonl") {
            parts.push(path);
        }
    }
    parts.sort();
    Ok(parts)
}

/// The entries of one file, as far as they are whole.
///
/// # Errors
/// When the file cannot be read, or a line is no entry.
pub fn entries(path: &Path) -> Result<Vec<Entry>, ReadError> {
    let bytes = fs::read(path).map_err(|source| ReadError::Io {
        path: path.to_owned(),
        source,
    })?;
    let mut entries = Vec::new();
    let mut rest = &bytes[..];
    let mut number = 0;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
        number += 1;
        let line = &rest[..at];
        rest = &rest[at + 1..];
        let entry = serde_json::from_slice(line).map_err(|error| ReadError::Entry {
            path: path.to_owned(),
            line: number,
            column: error.column(),
            message: error.to_string(),
        })?;
        entries.push(entry);
    }
    // What follows the last line feed was cut off while it was written: its process was killed.
    Ok(entries)
}

fn assemble(path: &Path, entries: Vec<Entry>) -> Result<Recording, ReadError> {
    let mut header: Option<Header> = None;
    let mut end: Option<End> = None;
    let mut kept = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry.event {
            Event::Header(found) if header.is_none() && kept.is_empty() => header = Some(*found),
            Event::Footer { end: found } => end = Some(found),
            _ => kept.push(entry),
        }
    }
    let header = header.ok_or_else(|| ReadError::NoHeader {
        path: path.to_owned(),
    })?;
    if header.format != FORMAT {
        return Err(ReadError::Format {
            path: path.to_owned(),
            found: header.format,
        });
    }
    Ok(Recording {
        header,
        entries: kept,
        end,
    })
}

/// The text of a recording: header, entries, footer.
#[must_use]
pub fn to_text(recording: &Recording) -> String {
    let header = Event::Header(Box::new(recording.header.clone()));
    let footer = recording.end.map(|end| Event::Footer { end });
    let line = |entry: &Entry| serde_json::to_string(entry).unwrap_or_default() + "\n";
    let own = |event| Entry {
        t_us: 0,
        source: "session".to_owned(),
        event,
    };
    let mut text = line(&own(header));
    for entry in &recording.entries {
        text.push_str(&line(entry));
    }
    if let Some(footer) = footer {
        text.push_str(&line(&own(footer)));
    }
    text
}

/// Writes a recording so that a reader never sees half of it.
///
/// # Errors
/// When the folder cannot be written.
pub fn save(recording: &Recording, path: &Path) -> io::Result<()> {
    write_atomically(path, to_text(recording).as_bytes())
}

/// Writes a file through a temporary one beside it.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(permissions)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests;

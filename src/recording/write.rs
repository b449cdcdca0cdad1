//! Writing a recording while things happen: one line an entry, flushed at once.
//!
//! A client may kill a probe server at any moment, so nothing may wait in a buffer.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Entry, Event};

/// A handle that any task may record through. Cloning it shares the file.
#[derive(Clone)]
pub struct Recorder {
    file: Arc<Mutex<File>>,
    source: Arc<str>,
}

impl Recorder {
    /// Creates the file that `source` records into.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path, source: &str) -> io::Result<Recorder> {
        let file = File::options().append(true).create_new(true).open(path)?;
        Ok(Recorder {
            file: Arc::new(Mutex::new(file)),
            source: source.into(),
        })
    }

    /// Records one event, stamped now. A failing disk shows as a recording without a footer.
    pub fn record(&self, event: Event) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = Entry {
            t_us: now_us(),
            source: self.source.to_string(),
            event,
        };
        // Serialising cannot fail: all keys are strings. Writing can, and the reader will see the gap.
        if let Ok(mut line) = serde_json::to_vec(&entry) {
            line.push(b'\n');
            let _ = file.write_all(&line);
        }
    }
}

/// The host's monotonic clock in microseconds: one clock for all processes, whatever namespace they are in.
#[must_use]
pub fn now_us() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000
        + u64::try_from(now.tv_nsec).unwrap_or(0) / 1000
}

//! Writing a recording while things happen: one line an entry, flushed at once.
//!
//! A client may kill a probe server at any moment, so nothing may wait in a buffer.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Entry, Event};

/// A handle that any task may record through. Cloning it shares the file.
#[derive(Clone)]
pub struct Recorder {
    file: Arc<Mutex<File>>,
    source: Arc<str>,
}

impl Recorder {
    /// Creates the file that `source` records into, and holds its lock for as long as this process records.
    ///
    /// # Errors
    /// When the file cannot be created or locked.
    pub fn create(path: &Path, source: &str) -> io::Result<Recorder> {
        let file = File::options().append(true).create_new(true).open(path)?;
        file.lock()?;
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

/// The name of the file that a probe server records into. Several may start at once: the start time gives the order, and the
/// rest makes it unique.
#[must_use]
pub fn part_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!(
        "server-{:020}-{}-{number}.jsonl",
        now_us(),
        std::process::id()
    )
}

/// Whether the process that records into `path` is gone, as its lock tells. A file that cannot be read counts as left.
#[must_use]
pub fn is_left(path: &Path) -> bool {
    let is_held = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    !File::open(path).is_ok_and(is_held)
}

/// The host's monotonic clock in microseconds: one clock for all processes, whatever namespace they are in.
#[must_use]
pub fn now_us() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000
        + u64::try_from(now.tv_nsec).unwrap_or(0) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_left_when_the_last_handle_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("server-1.jsonl");
        let recorder = Recorder::create(&file, "server").unwrap();
        let other = recorder.clone();
        assert!(!is_left(&file));
        drop(recorder);
        assert!(!is_left(&file));
        drop(other);
        assert!(is_left(&file));
        assert!(is_left(&dir.path().join("none")));
    }
}

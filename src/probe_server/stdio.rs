//! The probe server's stdio transport: lines in, lines out.
//!
//! Owns framing and its bounds; must not know what a line means.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use super::Incoming;

/// The longest line that is kept. A longer one is cut here and the rest up to its line feed is dropped, so that
/// a client that never ends a line cannot take the machine's memory.
pub const MAX_LINE: usize = 32 * 1024 * 1024;

/// Reads lines from `input` on a thread of its own, so that waiting for one can have a deadline.
/// The channel closes at end of input.
pub fn lines(input: impl Read + Send + 'static) -> Receiver<Incoming> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(input);
        while let Ok(Some(line)) = read_line(&mut reader, MAX_LINE) {
            if sender.send(Incoming::line(line)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reads one line without its line feed (and carriage return, as 2025-06-18 basic/transports asks for newline-delimited
/// messages and Windows habits add one); `None` at end of input. A last line without a line feed counts.
///
/// # Errors
/// When reading fails.
pub fn read_line(reader: &mut impl BufRead, max: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut seen_any = false;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(seen_any.then_some(line));
        }
        seen_any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        let room = max.saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = end.map_or(chunk.len(), |at| at + 1);
        reader.consume(used);
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_survive_any_cut(
            lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8),
            capacity in 1usize..16,
        ) {
            let lines: Vec<Vec<u8>> = lines
                .into_iter()
                .map(|line| line.into_iter().filter(|b| *b != b'\n' && *b != b'\r').collect())
                .collect();
            let mut bytes = Vec::new();
            for line in &lines {
                bytes.extend_from_slice(line);
                bytes.push(b'\n');
            }
            let mut reader = BufReader::with_capacity(capacity, &bytes[..]);
            let mut got = Vec::new();
            while let Some(line) = read_line(&mut reader, 1000).unwrap() {
                got.push(line);
            }
            prop_assert_eq!(got, lines);
        }

        #[test]
        fn a_line_is_never_longer_than_its_bound(bytes in proptest::collection::vec(any::<u8>(), 0..300), max in 0usize..50) {
            let mut reader = BufReader::with_capacity(7, &bytes[..]);
            while let Some(line) = read_line(&mut reader, max).unwrap() {
                prop_assert!(line.len() <= max);
            }
        }
    }
}

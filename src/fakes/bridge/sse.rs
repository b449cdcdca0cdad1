//! Server-sent events: bytes in, events out.
//!
//! Owns the format. It must not know what an event says.

use std::mem;

/// One event of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SseEvent {
    pub(super) id: Option<String>,
    pub(super) data: String,
    /// Whether a comment stood in it.
    pub(super) has_comment: bool,
}

/// What of a stream is no whole event yet.
#[derive(Default)]
pub(super) struct Reader {
    rest: Vec<u8>,
    event: SseEvent,
}

impl Reader {
    /// The events that are whole with these bytes.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]).into_owned();
            match line.trim_end_matches('\r') {
                "" => events.push(mem::take(&mut self.event)),
                line => self.event.take(line),
            }
        }
        events
    }
}

impl SseEvent {
    fn take(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => self.has_comment = true,
            "id" => self.id = Some(value.to_owned()),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_any_cut() {
        let text = ": note\n\nid: 7\nretry: 10\ndata:\n\nevent: message\r\ndata: {\"a\":1}\r\n\r\ndata: x\ndata: y\n\nrest";
        let event = |id: Option<&str>, data: &str, has_comment| SseEvent {
            id: id.map(str::to_owned),
            data: data.to_owned(),
            has_comment,
        };
        let expect = [
            event(None, "", true),
            event(Some("7"), "", false),
            event(None, "{\"a\":1}", false),
            event(None, "x\ny", false),
        ];
        for size in 1..text.len() {
            let mut reader = Reader::default();
            let cut = text.as_bytes().chunks(size);
            let found: Vec<SseEvent> = cut.flat_map(|part| reader.read(part)).collect();
            assert_eq!(found, expect, "{size}");
        }
    }
}

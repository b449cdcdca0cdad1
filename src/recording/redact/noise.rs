//! Errors about noise.
//!
//! Owns where the errors of a client about lines that are no JSON stand in evidence, and how many: it may say so in an error
//! that names no request, but after which line, and whether for each, differs from run to run. It must not touch an error that
//! may stand for the reply to a request.

use std::collections::{BTreeSet, HashMap};

use super::super::line::{Line, Sort, id_key};
use super::super::{Dir, Entry, Event, Recording};
use super::Key;
use crate::names::ProbeId;

/// Of the errors about the noise of a probe, one stays: as if it came right after what the server sent. A probe whose request
/// has no reply keeps its errors as they are, since one of them may be what the client has to say about the request.
pub(super) fn settle(recording: &Recording, lines: &[Option<Line<'_>>], kept: &mut Vec<Key>) {
    for noise in noises(recording, lines) {
        let [first, ..] = noise.errors[..] else {
            continue;
        };
        kept.retain(|key| !noise.errors.contains(&key.2));
        if let Some(at) = kept.iter().position(|key| key.2 == noise.last) {
            let (cell, rank, _) = kept[at];
            kept.insert(at + 1, (cell, rank, first));
        }
    }
}

/// The noise of probes whose request has a reply.
fn noises<'a>(recording: &'a Recording, lines: &[Option<Line<'_>>]) -> Vec<Noise<'a>> {
    let mut open: HashMap<&str, Noise<'_>> = HashMap::new();
    let mut found = Vec::new();
    for (index, (entry, line)) in recording.entries.iter().zip(lines).enumerate() {
        let Some(line) = line else { continue };
        let source = entry.source.as_str();
        let Some(probe) = stimulus_of(entry) else {
            if let Some(noise) = open.get_mut(source) {
                noise.read(index, line);
            }
            continue;
        };
        if let Some(noise) = open.get_mut(source).filter(|noise| noise.probe == probe) {
            noise.last = index;
            noise.requests.extend(request_id(line));
            continue;
        }
        found.extend(open.remove(source));
        if matches!(line, Line::NotJson | Line::NotUtf8) {
            open.insert(source, Noise::of(probe, index));
        }
    }
    found.extend(open.into_values());
    found.retain(|noise| noise.is_replied_to);
    found
}

/// What came after noise, until the next probe.
struct Noise<'a> {
    probe: &'a ProbeId,
    /// Where the last that the server sent for the probe stands.
    last: usize,
    requests: BTreeSet<String>,
    is_replied_to: bool,
    errors: Vec<usize>,
}

impl<'a> Noise<'a> {
    fn of(probe: &'a ProbeId, at: usize) -> Noise<'a> {
        Noise {
            probe,
            last: at,
            requests: BTreeSet::new(),
            is_replied_to: false,
            errors: Vec::new(),
        }
    }

    fn read(&mut self, index: usize, line: &Line<'_>) {
        let [message] = line.messages() else { return };
        match message.sort() {
            Sort::Reply { id } if !id.is_null() => {
                self.is_replied_to |= self.requests.contains(&id_key(id));
            }
            Sort::Reply { .. } | Sort::Other if message.is_error() => self.errors.push(index),
            _ => {}
        }
        self.is_replied_to |= message.is_retry() && message.called_probe() == Some(&self.probe.0);
    }
}

/// The probe that a server wrote an entry for.
fn stimulus_of(entry: &Entry) -> Option<&ProbeId> {
    match &entry.event {
        Event::Mcp {
            dir: Dir::ServerToClient,
            probe,
            ..
        } => probe.as_ref(),
        _ => None,
    }
}

fn request_id(line: &Line<'_>) -> Option<String> {
    match line.messages() {
        [message] => match message.sort() {
            Sort::Request { id, .. } => Some(id_key(id)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::evidence;
    use crate::recording::{Entry, Event, Recording};
    use crate::testing::{Script, form};

    const ERROR: &[u8] = br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#;

    fn errors(recording: &Recording) -> usize {
        let is_error = |entry: &&Entry| match &entry.event {
            Event::Mcp { line, .. } => line.to_text().contains("Parse error"),
            _ => false,
        };
        evidence(recording).entries.iter().filter(is_error).count()
    }

    fn start(noise: &str) -> Script {
        let script = Script::new(&["a", "b"]).initialize().list().call("a");
        script.stimulus("a", noise).send("a", 1)
    }

    fn accept() -> serde_json::Value {
        json!({"action": "accept", "content": {"value": "x"}})
    }

    #[test]
    fn an_error_about_noise_stands_once_and_in_one_place() {
        let shown = |script: Script| script.presented("a", form()).answer("a", accept());
        let end = |script: Script| script.reply(1, accept()).done("a");
        let early = end(shown(start("noise").client(ERROR))).finish();
        let late = end(shown(start("noise")).client(ERROR)).finish();
        let last = end(shown(start("noise"))).client(ERROR).finish();
        let thrice = start("noise").client(ERROR).client(ERROR);
        let thrice = end(shown(thrice).client(ERROR)).finish();
        let expect = evidence(&early);
        assert_eq!(errors(&early), 1);
        for recording in [&late, &last, &thrice, &expect] {
            assert_eq!(evidence(recording), expect);
        }
    }

    #[test]
    fn an_error_that_may_be_about_a_request_stays() {
        let unanswered = start("noise").client(ERROR).done("a").finish();
        assert_eq!(errors(&unanswered), 1);
        let no_noise = start("{}").client(ERROR).client(ERROR);
        assert_eq!(errors(&no_noise.reply(1, accept()).done("a").finish()), 2);
        let next = start("noise")
            .reply(1, accept())
            .done("a")
            .call("b")
            .send("b", 2);
        assert_eq!(errors(&next.client(ERROR).done("b").finish()), 1);
    }
}

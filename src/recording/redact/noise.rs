//! Errors about noise.
//!
//! Owns which errors of a client are about a line that is no JSON: JSON-RPC allows one that names no request, and whether a
//! client comes to write it before the next message takes its attention differs from run to run. It must not drop an error
//! that may stand for the reply to a request.

use std::collections::{BTreeSet, HashMap};

use super::super::line::{Line, Sort, id_key};
use super::super::{Dir, Entry, Event, Recording};
use crate::names::ProbeId;

/// The places in the recording of the errors about noise. A probe whose request has no reply keeps its errors: one of them may
/// be what the client has to say about the request.
pub(super) fn errors_about_it(
    recording: &Recording,
    lines: &[Option<Line<'_>>],
) -> BTreeSet<usize> {
    let mut open: HashMap<&str, Noise<'_>> = HashMap::new();
    let mut found = BTreeSet::new();
    for (index, (entry, line)) in recording.entries.iter().zip(lines).enumerate() {
        let Some(line) = line else { continue };
        let source = entry.source.as_str();
        if let Some(probe) = stimulus_of(entry) {
            let is_noise = matches!(line, Line::NotJson | Line::NotUtf8);
            if open.get(source).is_none_or(|noise| noise.probe != probe) {
                let before = open.remove(source).and_then(Noise::errors);
                found.extend(before.into_iter().flatten());
                if is_noise {
                    open.insert(source, Noise::of(probe));
                }
            } else if let (Some(noise), Some(id)) = (open.get_mut(source), request_id(line)) {
                noise.requests.insert(id);
            }
        } else if let Some(noise) = open.get_mut(source) {
            noise.read(index, line);
        }
    }
    found.extend(open.into_values().filter_map(Noise::errors).flatten());
    found
}

/// What came after noise, until the next probe.
struct Noise<'a> {
    probe: &'a ProbeId,
    requests: BTreeSet<String>,
    is_replied_to: bool,
    errors: Vec<usize>,
}

impl<'a> Noise<'a> {
    fn of(probe: &'a ProbeId) -> Noise<'a> {
        Noise {
            probe,
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
            Sort::Reply { .. } | Sort::Other if message.value.get("error").is_some() => {
                self.errors.push(index);
            }
            _ => {}
        }
    }

    fn errors(self) -> Option<Vec<usize>> {
        self.is_replied_to.then_some(self.errors)
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
    fn an_error_about_noise_is_left_out_wherever_it_comes() {
        let shown = |script: Script| script.presented("a", form()).answer("a", accept());
        let end = |script: Script| script.reply(1, accept()).done("a");
        let never = end(shown(start("noise"))).finish();
        let early = end(shown(start("noise").client(ERROR))).finish();
        let late = end(shown(start("noise")).client(ERROR)).finish();
        let last = end(shown(start("noise"))).client(ERROR).finish();
        for recording in [&early, &late, &last] {
            assert_eq!(evidence(recording), evidence(&never));
        }
    }

    #[test]
    fn an_error_that_may_be_about_a_request_stays() {
        let unanswered = start("noise").client(ERROR).done("a").finish();
        assert_eq!(errors(&unanswered), 1);
        let no_noise = start("{}").client(ERROR).reply(1, accept()).done("a");
        assert_eq!(errors(&no_noise.finish()), 1);
        let next = start("noise")
            .reply(1, accept())
            .done("a")
            .call("b")
            .send("b", 2);
        assert_eq!(errors(&next.client(ERROR).done("b").finish()), 1);
    }
}

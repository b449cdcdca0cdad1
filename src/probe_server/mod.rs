//! The probe server: the small MCP server that the client under test starts.
//!
//! Owns the conversation: it answers the handshake, offers one tool, and on a call puts that probe's request to the client
//! byte for byte. How is the era's business: `legacy` sends it and waits for the reply with a deadline, `modern` puts it
//! into the result. It judges nothing and must not know clients. It reads whatever comes, also what a typed SDK would refuse, and keeps going.

mod channel;
pub mod handshake;
pub mod http;
mod legacy;
mod modern;
pub mod stdio;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::catalogue::{Asks, Capability, Probe};
use crate::names::{self, ProbeId, Revision};
use crate::recording::line::{Line, Message, Sort, id_key};
use crate::recording::write::Recorder;
use crate::recording::{Dir, Event, Wire};

pub use channel::{Channel, Incoming};

/// The name of the server in a client's configuration, and of its one tool.
pub const NAME: &str = "probe";

/// The first id of a request of ours. Far from where clients start to count, so that an id of theirs which is used on
/// purpose is none that was used before.
const FIRST_ID: u64 = 1001;

/// How long the host is left alone before it is looked at again whether it holds a request open.
const POLL: Duration = Duration::from_millis(2);

/// The most characters of an unknown name that are looked at and said back.
const MAX_NAME: usize = 200;

/// What the probe server is told.
pub struct Options {
    /// The probes that may be asked for.
    pub probes: Vec<Probe>,
    /// The one revision to speak, whatever the client offers; none answers what is offered.
    pub revision: Option<Revision>,
    /// How long a reply may take.
    pub answer_timeout: Duration,
    /// A file that names the probe whose call has come back to the host, where a host says so. A request that is to stand
    /// outside any call waits for it: the client has then done with the call.
    pub back: Option<PathBuf>,
    /// A file that names the probe whose request the host holds open, where a host says so: the request is then cancelled.
    pub held: Option<PathBuf>,
    /// Whether a missing reply ends the session: later calls are then refused at once, so that no
    /// cell rests on a session that another one broke. Off where a person answers.
    pub stop_when_silent: bool,
}

/// Why a probe is not asked in this session.
enum Refusal {
    NotAsked(String),
    NotDeclared(Capability),
}

impl Refusal {
    fn words(&self) -> String {
        match self {
            Refusal::NotAsked(reason) => reason.clone(),
            Refusal::NotDeclared(needs) => {
                format!("not sent: the client does not declare {}", needs.as_str())
            }
        }
    }
}

/// The probe whose reply is awaited.
struct Open {
    probe: ProbeId,
    /// The ids of requests that are not answered yet.
    request_ids: Vec<Value>,
    /// The call that is answered when all are; none if it was answered before.
    call_id: Option<String>,
    since: Instant,
    /// What cancels the request that is open, and asks the next.
    cancels: Option<Cancels>,
}

/// What follows a request that is to be cancelled.
struct Cancels {
    lines: Vec<String>,
    /// The id of the request in them.
    next: Value,
}

struct Server<'a, C> {
    options: &'a Options,
    recorder: &'a Recorder,
    channel: C,
    capabilities: Value,
    revision: Option<Revision>,
    /// The id of the client's request that what is sent now belongs to, if it belongs to one.
    serving: Option<String>,
    /// Ids stay text, so that they go back as they came.
    calls: VecDeque<(String, ProbeId)>,
    open: Option<Open>,
    next_id: u64,
    broken_by: Option<ProbeId>,
    /// How many results have asked for input, by probe.
    rounds: BTreeMap<ProbeId, usize>,
    /// The probe whose stimulus the next line is, although it is one that is always sent.
    marked: Option<ProbeId>,
}

/// Serves until the client closes the channel.
///
/// # Errors
/// When the channel to the client breaks while writing.
pub fn serve(
    options: &Options,
    recorder: &Recorder,
    input: &Receiver<Incoming>,
    channel: impl Channel,
) -> io::Result<()> {
    let mut server = Server {
        options,
        recorder,
        channel,
        capabilities: Value::Null,
        revision: None,
        serving: None,
        calls: VecDeque::new(),
        open: None,
        next_id: FIRST_ID,
        broken_by: None,
        rounds: BTreeMap::new(),
        marked: None,
    };
    recorder.record(Event::ServerStarted);
    let script = handshake::scripted(&options.probes).and_then(|probe| probe.script.as_ref());
    let wait = script.map_or(0, |script| script.starts_after_ms);
    std::thread::sleep(Duration::from_millis(wait));
    loop {
        server.start_next_call()?;
        let wait = match &server.open {
            Some(open) if open.cancels.is_some() => POLL,
            Some(open) => options.answer_timeout.saturating_sub(open.since.elapsed()),
            None => Duration::from_secs(3600),
        };
        match input.recv_timeout(wait) {
            Ok(incoming) => server.take(incoming)?,
            Err(RecvTimeoutError::Timeout) => server.time_passed()?,
            Err(RecvTimeoutError::Disconnected) => {
                recorder.record(Event::ServerClosed);
                return Ok(());
            }
        }
    }
}

impl<'a, C: Channel> Server<'a, C> {
    fn take(&mut self, incoming: Incoming) -> io::Result<()> {
        let Incoming { line, head } = incoming;
        self.recorder.record(Event::Mcp {
            dir: Dir::ClientToServer,
            line: Wire(line.clone()),
            head,
            probe: None,
        });
        // What is no message stays in the recording; the outcome will speak of it. A batch is taken item by item,
        // whatever the revision says of batches: then it can be told what the client would have gone on to do.
        for message in Line::read(&line).messages() {
            self.message(message)?;
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        match (message.sort(), message.id_text()) {
            (Sort::Request { method, .. }, Some(id)) => {
                self.serving = Some(id.to_owned());
                self.request(method, id, &message.value["params"])?;
                self.serving = None;
                Ok(())
            }
            (Sort::Reply { id }, _) => self.reply(id),
            _ => Ok(()),
        }
    }

    fn request(&mut self, method: &str, id: &str, params: &Value) -> io::Result<()> {
        if self.follow_script(method, id, params)? {
            return Ok(());
        }
        if self.is_modern(method, params) {
            return self.modern_request(method, id, params);
        }
        match method {
            "initialize" => self.initialize(id, params),
            "ping" => self.result(id, &json!({})),
            "tools/list" => self.result(id, &json!({ "tools": [tool()] })),
            "tools/call" => self.call(id, params),
            _ => self.no_such_method(id, method),
        }
    }

    /// A client that tries the modern era first falls back on this (2026-07-28 basic/transports/stdio
    /// "Backward Compatibility": any other error means legacy).
    fn no_such_method(&mut self, id: &str, method: &str) -> io::Result<()> {
        let method: String = method.chars().take(MAX_NAME).collect();
        self.error(id, -32601, &format!("method not found: {method}"))
    }

    fn call(&mut self, id: &str, params: &Value) -> io::Result<()> {
        let Some(probe) = self.wanted(params) else {
            return self.no_such_probe(id, params);
        };
        if probe.script.is_some() {
            // The client came so far, and that is all that is asked.
            let text = format!("{}: the client went on", probe.id);
            self.recorder.record(Event::ProbeDone {
                probe: probe.id.clone(),
            });
            return self.tool_result(id, &text);
        }
        // Clients call read-only tools side by side. One after another keeps it certain what a reply belongs to.
        self.calls.push_back((id.to_owned(), probe.id.clone()));
        Ok(())
    }

    /// The probe that a call asks for.
    fn wanted(&self, params: &Value) -> Option<&'a Probe> {
        let wanted = params["arguments"]["id"].as_str()?;
        let mut probes = self.options.probes.iter();
        probes.find(|probe| params["name"] == NAME && probe.id.0 == wanted)
    }

    fn no_such_probe(&mut self, id: &str, params: &Value) -> io::Result<()> {
        let wanted = params["arguments"]["id"].as_str().unwrap_or_default();
        // Looking for what is near takes time with the length of a name, and no name is that long.
        let wanted: String = wanted.chars().take(MAX_NAME).collect();
        let known = self.options.probes.iter().map(|p| p.id.0.as_str());
        let hint = names::did_you_mean(&wanted, known);
        self.error(id, -32602, &format!("no probe `{wanted}`; {hint}"))
    }

    fn start_next_call(&mut self) -> io::Result<()> {
        while self.open.is_none() {
            let Some((call_id, id)) = self.calls.pop_front() else {
                return Ok(());
            };
            if let Some(culprit) = &self.broken_by {
                let text = format!("not asked: {culprit} got no reply in this session");
                self.tool_result(&call_id, &text)?;
                continue;
            }
            let options = self.options;
            let Some(probe) = options.probes.iter().find(|probe| probe.id == id) else {
                continue;
            };
            self.serving = Some(call_id.clone());
            self.send_probe(probe, call_id)?;
            self.serving = None;
        }
        Ok(())
    }

    /// Says why a probe is not asked in this session, if it is not.
    fn refuse(&mut self, probe: &Probe, revision: Option<Revision>) -> Option<Refusal> {
        if let Some(revision) = revision
            && !probe.revisions.contains(&revision)
        {
            let reason = format!("this probe is not asked in {revision}");
            self.recorder.record(Event::NotAsked {
                probe: probe.id.clone(),
                reason: reason.clone(),
            });
            return Some(Refusal::NotAsked(reason));
        }
        let must_be_declared = probe.asks != Asks::Declaration;
        if must_be_declared && !probe.needs.is_declared(&self.capabilities) {
            self.recorder.record(Event::NotDeclared {
                probe: probe.id.clone(),
                needs: probe.needs.as_str().to_owned(),
            });
            return Some(Refusal::NotDeclared(probe.needs));
        }
        None
    }

    fn reply(&mut self, id: &Value) -> io::Result<()> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        // A reply to nothing that is open is late, came twice, or has an id of its own. The recording has it.
        let id = id_key(id);
        open.request_ids.retain(|asked| id_key(asked) != id);
        if !open.request_ids.is_empty() {
            self.open = Some(open);
            return Ok(());
        }
        if let Some(cancels) = open.cancels.take() {
            return self.cancel(open, cancels);
        }
        self.finish(&open.probe, open.call_id.as_deref(), "the client replied")
    }

    /// Nothing came for as long as was waited.
    fn time_passed(&mut self) -> io::Result<()> {
        let Some(mut open) = self.open.take_if(|open| open.cancels.is_some()) else {
            return self.give_up();
        };
        let is_held = self.is_held(&open);
        match open.cancels.take_if(|_| is_held) {
            Some(cancels) => self.cancel(open, cancels),
            None => {
                self.open = Some(open);
                Ok(())
            }
        }
    }

    fn give_up(&mut self) -> io::Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        self.recorder.record(Event::NoReply {
            probe: open.probe.clone(),
            after_ms: u64::try_from(self.options.answer_timeout.as_millis()).unwrap_or(u64::MAX),
        });
        if self.options.stop_when_silent {
            self.broken_by = Some(open.probe.clone());
        }
        self.finish(&open.probe, open.call_id.as_deref(), "no reply")
    }

    fn finish(&mut self, probe: &ProbeId, call_id: Option<&str>, what: &str) -> io::Result<()> {
        self.recorder.record(Event::ProbeDone {
            probe: probe.clone(),
        });
        match call_id {
            Some(call_id) => self.tool_result(call_id, &format!("{probe}: {what}")),
            None => Ok(()),
        }
    }

    fn tool_result(&mut self, id: &str, text: &str) -> io::Result<()> {
        self.result(id, &json!({"content": [{"type": "text", "text": text}]}))
    }

    fn result(&mut self, id: &str, result: &Value) -> io::Result<()> {
        self.send(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            None,
        )
    }

    fn error(&mut self, id: &str, code: i64, message: &str) -> io::Result<()> {
        self.error_with(id, code, message, &Value::Null)
    }

    /// An error with `data`; null leaves it out.
    fn error_with(&mut self, id: &str, code: i64, message: &str, data: &Value) -> io::Result<()> {
        let mut error = json!({"code": code, "message": message});
        if !data.is_null() {
            error["data"] = data.clone();
        }
        self.send(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
            None,
        )
    }

    fn send(&mut self, line: String, probe: Option<ProbeId>) -> io::Result<()> {
        let probe = probe.or(self.marked.take());
        self.send_all(&[line], probe.as_ref())
    }

    /// Sends messages at once, so that the client has them all before it can do anything about the first.
    fn send_all(&mut self, lines: &[String], probe: Option<&ProbeId>) -> io::Result<()> {
        let call = self.serving.as_deref();
        for (index, line) in lines.iter().enumerate() {
            // They go out together, so that only the first can have something before it.
            let head = self.channel.head(line, call).filter(|_| index == 0);
            self.recorder.record(Event::Mcp {
                dir: Dir::ServerToClient,
                line: Wire::text(line.clone()),
                head,
                probe: probe.cloned(),
            });
        }
        self.channel.send(lines, call)
    }
}

fn tool() -> Value {
    json!({
        "name": NAME,
        "description": "Sends the scripted request of one capmatrix probe to this client and reports that it was answered.",
        "inputSchema": {
            "type": "object",
            "properties": {"id": {"type": "string", "description": "The probe's id, e.g. elicitation/form/bare"}},
            "required": ["id"],
        },
        // Some clients ask for approval, or refuse, unless a tool says that it only reads.
        "annotations": {"readOnlyHint": true},
    })
}

#[cfg(test)]
pub(super) mod tests;

//! The probe server: the small MCP server that the client under test starts.
//!
//! Owns the legacy-era conversation: it answers the handshake, offers one tool, and on a call sends that
//! probe's request byte for byte and waits for the reply with a deadline. It judges nothing and must
//! not know clients. It reads whatever comes, also what a typed SDK would refuse, and keeps going.

pub mod stdio;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::catalogue::{Asks, Probe};
use crate::names::{self, ProbeId, Revision};
use crate::recording::line::{Line, Message, Sort, id_key};
use crate::recording::write::Recorder;
use crate::recording::{Dir, Event, Wire};

/// The name of the server in a client's configuration, and of its one tool.
pub const NAME: &str = "probe";

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
    /// Whether a missing reply ends the session: later calls are then refused at once, so that no
    /// cell rests on a session that another one broke. Off where a person answers.
    pub stop_when_silent: bool,
}

/// The probe whose reply is awaited.
struct Open {
    probe: ProbeId,
    request_id: Value,
    call_id: String,
    since: Instant,
}

struct Server<'a, W> {
    options: &'a Options,
    recorder: &'a Recorder,
    output: W,
    capabilities: Value,
    revision: Option<Revision>,
    /// Ids stay text, so that they go back as they came.
    calls: VecDeque<(String, ProbeId)>,
    open: Option<Open>,
    next_id: u64,
    broken_by: Option<ProbeId>,
}

/// Serves until the client closes the channel. Each item of `input` is one line without its line feed.
///
/// # Errors
/// When the channel to the client breaks while writing.
pub fn serve(
    options: &Options,
    recorder: &Recorder,
    input: &Receiver<Vec<u8>>,
    output: impl Write,
) -> io::Result<()> {
    let mut server = Server {
        options,
        recorder,
        output,
        capabilities: Value::Null,
        revision: None,
        calls: VecDeque::new(),
        open: None,
        next_id: 1,
        broken_by: None,
    };
    recorder.record(Event::ServerStarted);
    loop {
        server.start_next_call()?;
        let wait = match &server.open {
            Some(open) => options.answer_timeout.saturating_sub(open.since.elapsed()),
            None => Duration::from_secs(3600),
        };
        match input.recv_timeout(wait) {
            Ok(line) => server.take(&line)?,
            Err(RecvTimeoutError::Timeout) => server.give_up()?,
            Err(RecvTimeoutError::Disconnected) => {
                recorder.record(Event::ServerClosed);
                return Ok(());
            }
        }
    }
}

impl<W: Write> Server<'_, W> {
    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        self.recorder.record(Event::Mcp {
            dir: Dir::ClientToServer,
            line: Wire(line.to_vec()),
            probe: None,
        });
        // What is no message stays in the recording; the outcome will speak of it. A batch is taken item by item,
        // whatever the revision says of batches: then it can be told what the client would have gone on to do.
        for message in Line::read(line).messages() {
            self.message(message)?;
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        match (message.sort(), message.id_text()) {
            (Sort::Request { method, .. }, Some(id)) => {
                self.request(method, id, &message.value["params"])
            }
            (Sort::Reply { id }, _) => self.reply(id),
            _ => Ok(()),
        }
    }

    fn request(&mut self, method: &str, id: &str, params: &Value) -> io::Result<()> {
        match method {
            "initialize" => {
                self.capabilities = params["capabilities"].clone();
                let forced = self.options.revision;
                let version =
                    forced.unwrap_or_else(|| negotiate(params["protocolVersion"].as_str()));
                self.revision = Some(version);
                self.result(id, &json!({
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "capmatrix-probe", "version": env!("CARGO_PKG_VERSION")},
                }))
            }
            "ping" => self.result(id, &json!({})),
            "tools/list" => self.result(id, &json!({ "tools": [tool()] })),
            "tools/call" => self.call(id, params),
            // A client that tries the modern era first falls back on this (2026-07-28 basic/transports/stdio
            // "Backward Compatibility": any other error means legacy).
            _ => {
                let method: String = method.chars().take(MAX_NAME).collect();
                self.error(id, -32601, &format!("method not found: {method}"))
            }
        }
    }

    fn call(&mut self, id: &str, params: &Value) -> io::Result<()> {
        let wanted = params["arguments"]["id"].as_str().unwrap_or_default();
        if params["name"] != NAME || !self.options.probes.iter().any(|p| p.id.0 == wanted) {
            // Looking for what is near takes time with the length of a name, and no name is that long.
            let wanted: String = wanted.chars().take(MAX_NAME).collect();
            let known = self.options.probes.iter().map(|p| p.id.0.as_str());
            let hint = names::did_you_mean(&wanted, known);
            return self.error(id, -32602, &format!("no probe `{wanted}`; {hint}"));
        }
        // Clients call read-only tools side by side. One after another keeps it certain what a reply belongs to.
        self.calls
            .push_back((id.to_owned(), ProbeId(wanted.to_owned())));
        Ok(())
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
            self.send_probe(probe, call_id)?;
        }
        Ok(())
    }

    fn send_probe(&mut self, probe: &Probe, call_id: String) -> io::Result<()> {
        if let Some(revision) = self.revision
            && !probe.revisions.contains(&revision)
        {
            let reason = format!("this probe is not asked in {revision}");
            self.recorder.record(Event::NotAsked {
                probe: probe.id.clone(),
                reason: reason.clone(),
            });
            return self.finish(&probe.id, &call_id, &reason);
        }
        let must_be_declared = probe.asks == Asks::Request;
        if must_be_declared && !probe.needs.is_declared(&self.capabilities) {
            self.recorder.record(Event::NotDeclared {
                probe: probe.id.clone(),
                needs: probe.needs.as_str().to_owned(),
            });
            let text = format!(
                "not sent: the client does not declare {}",
                probe.needs.as_str()
            );
            return self.finish(&probe.id, &call_id, &text);
        }
        let request_id = self.next_id;
        self.next_id += 1;
        // Written as text: the params go out as they stand in the file, member order and all.
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{request_id},"method":{method},"params":{params}}}"#,
            method = Value::from(probe.method.as_str()),
            params = probe.params,
        );
        self.send(line, Some(probe.id.clone()))?;
        self.open = Some(Open {
            probe: probe.id.clone(),
            request_id: Value::from(request_id),
            call_id,
            since: Instant::now(),
        });
        Ok(())
    }

    fn reply(&mut self, id: &Value) -> io::Result<()> {
        match self.open.take() {
            Some(open) if id_key(&open.request_id) == id_key(id) => {
                self.finish(&open.probe, &open.call_id, "the client replied")
            }
            // A reply to nothing that is open: late, twice, or with an id of its own. The recording has it.
            open => {
                self.open = open;
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
        self.finish(&open.probe, &open.call_id, "no reply")
    }

    fn finish(&mut self, probe: &ProbeId, call_id: &str, what: &str) -> io::Result<()> {
        self.recorder.record(Event::ProbeDone {
            probe: probe.clone(),
        });
        self.tool_result(call_id, &format!("{probe}: {what}"))
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
        let error = json!({"code": code, "message": message});
        self.send(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
            None,
        )
    }

    fn send(&mut self, line: String, probe: Option<ProbeId>) -> io::Result<()> {
        let mut bytes = line.into_bytes();
        self.recorder.record(Event::Mcp {
            dir: Dir::ServerToClient,
            line: Wire(bytes.clone()),
            probe,
        });
        bytes.push(b'\n');
        self.output.write_all(&bytes)?;
        self.output.flush()
    }
}

/// The version to answer: the one offered where it is a legacy one that we know, else our newest legacy one
/// (basic/lifecycle "Version Negotiation").
fn negotiate(offered: Option<&str>) -> Revision {
    offered
        .and_then(|text| text.parse::<Revision>().ok())
        .filter(|revision| revision.is_legacy())
        .unwrap_or(Revision::V2025_11_25)
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
mod tests;

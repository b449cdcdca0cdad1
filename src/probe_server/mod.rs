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

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::catalogue::Probe;
use crate::names::{self, ProbeId, Revision};
use crate::recording::write::Recorder;
use crate::recording::{Dir, Event, Wire};

/// The name of the server in a client's configuration, and of its one tool.
pub const NAME: &str = "probe";

/// What the probe server is told.
pub struct Options {
    /// The probes that may be asked for.
    pub probes: Vec<Probe>,
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
    call_id: Box<RawValue>,
    since: Instant,
}

struct Server<'a, W> {
    options: &'a Options,
    recorder: &'a Recorder,
    output: W,
    capabilities: Value,
    revision: Option<Revision>,
    calls: VecDeque<(Box<RawValue>, ProbeId)>,
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

/// The parts of a client's message that the server acts on. Ids stay text, so that they go back as they came.
#[derive(serde::Deserialize)]
struct Incoming<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

impl<W: Write> Server<'_, W> {
    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        self.recorder.record(Event::Mcp {
            dir: Dir::ClientToServer,
            line: Wire(line.to_vec()),
            probe: None,
        });
        // A line that is no JSON-RPC message stays in the recording; the outcome will speak of it.
        // Only an object is one: an array would be read as the members in their order.
        let is_object = line.trim_ascii_start().starts_with(b"{");
        let Some(message) = serde_json::from_slice::<Incoming<'_>>(line)
            .ok()
            .filter(|_| is_object)
        else {
            return Ok(());
        };
        match (message.method.as_deref(), message.id) {
            (Some(method), Some(id)) => self.request(method, id, &message.params),
            (Some(_), None) => Ok(()),
            (None, Some(id)) => self.reply(id),
            (None, None) => Ok(()),
        }
    }

    fn request(&mut self, method: &str, id: &RawValue, params: &Value) -> io::Result<()> {
        match method {
            "initialize" => {
                self.capabilities = params["capabilities"].clone();
                let version = negotiate(params["protocolVersion"].as_str());
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
            _ => self.error(id, -32601, &format!("method not found: {method}")),
        }
    }

    fn call(&mut self, id: &RawValue, params: &Value) -> io::Result<()> {
        let wanted = params["arguments"]["id"].as_str().unwrap_or_default();
        if params["name"] != NAME || !self.options.probes.iter().any(|p| p.id.0 == wanted) {
            let known = self.options.probes.iter().map(|p| p.id.0.as_str());
            let hint = names::did_you_mean(wanted, known);
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

    fn send_probe(&mut self, probe: &Probe, call_id: Box<RawValue>) -> io::Result<()> {
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
        if !probe.needs.is_declared(&self.capabilities) {
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

    fn reply(&mut self, id: &RawValue) -> io::Result<()> {
        let Ok(id) = serde_json::from_str::<Value>(id.get()) else {
            return Ok(());
        };
        match self.open.take() {
            Some(open) if open.request_id == id => {
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

    fn finish(&mut self, probe: &ProbeId, call_id: &RawValue, what: &str) -> io::Result<()> {
        self.recorder.record(Event::ProbeDone {
            probe: probe.clone(),
        });
        self.tool_result(call_id, &format!("{probe}: {what}"))
    }

    fn tool_result(&mut self, id: &RawValue, text: &str) -> io::Result<()> {
        self.result(id, &json!({"content": [{"type": "text", "text": text}]}))
    }

    fn result(&mut self, id: &RawValue, result: &Value) -> io::Result<()> {
        self.send(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            None,
        )
    }

    fn error(&mut self, id: &RawValue, code: i64, message: &str) -> io::Result<()> {
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

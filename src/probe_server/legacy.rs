//! The legacy era: the server sends a probe's request itself.
//!
//! Owns the handshake of `initialize`, and the envelope in which a request goes out. It must not know what a reply says.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Cancels, Channel, Open, Server};
use crate::catalogue::{Probe, Way};
use crate::names::{ProbeId, Revision};
use crate::recording::Event;

/// What stands before a request on its way [`Way::AfterNoise`].
pub(super) const NOISE: &str = "capmatrix: this line is no JSON";

/// How often. A client that is just busy with something else may never come to say anything about the first.
pub(super) const NOISES: usize = 3;

/// What stands before a request on its way [`Way::AfterUnknownNotification`].
pub(super) const UNKNOWN: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/capmatrix/unknown","params":{}}"#;

impl<C: Channel> Server<'_, C> {
    pub(super) fn initialize(&mut self, id: &str, params: &Value) -> io::Result<()> {
        self.capabilities = params["capabilities"].clone();
        let forced = super::handshake::legacy(self.options.revision);
        let version = forced.unwrap_or_else(|| negotiate(params["protocolVersion"].as_str()));
        self.revision = Some(version);
        self.result(
            id,
            &json!({
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "capmatrix-probe", "version": env!("CARGO_PKG_VERSION")},
            }),
        )
    }

    pub(super) fn send_probe(&mut self, probe: &Probe, call_id: String) -> io::Result<()> {
        if let Some(refusal) = self.refuse(probe, self.revision) {
            return self.finish(&probe.id, Some(&call_id), &refusal.words());
        }
        let mut requests = Vec::new();
        if probe.way == Way::SecondOfTwo {
            requests.push(self.request_line(probe, None));
        }
        let is_after_call = probe.way == Way::AfterCall;
        if is_after_call {
            self.tool_result(&call_id, &format!("{}: asked after this call", probe.id))?;
            self.wait_until_back(&probe.id);
            self.serving = None;
            if !self.channel.reaches_outside_calls() {
                return self.nowhere_to_ask(probe);
            }
        }
        let own_id = match probe.way {
            Way::StringId => Some(r#""capmatrix-1""#.to_owned()),
            Way::IdZero => Some("0".to_owned()),
            Way::ClientsId => Some(call_id.clone()),
            _ => None,
        };
        requests.push(self.request_line(probe, own_id));
        let (request_ids, requests): (Vec<Value>, Vec<String>) = requests.into_iter().unzip();
        let cancels = match probe.way {
            Way::AfterCancelled => Some(self.cancels(probe, &request_ids)),
            _ => None,
        };
        let mut lines = match probe.way {
            Way::AfterNoise => vec![NOISE.to_owned(); NOISES],
            Way::AfterUnknownNotification => vec![UNKNOWN.to_owned()],
            _ => Vec::new(),
        };
        lines.extend(requests);
        self.send_all(&lines, Some(&probe.id))?;
        self.open = Some(Open {
            probe: probe.id.clone(),
            request_ids,
            call_id: (!is_after_call).then_some(call_id),
            since: Instant::now(),
            cancels,
        });
        Ok(())
    }

    /// The notification that a request is not to be answered any more (basic/utilities/cancellation), and the next one.
    fn cancels(&mut self, probe: &Probe, open: &[Value]) -> Cancels {
        let cancelled = json!({"requestId": open.first(), "reason": "capmatrix: no longer needed"});
        let notification = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{cancelled}}}"#
        );
        let (next, request) = self.request_line(probe, None);
        Cancels {
            lines: vec![notification, request],
            next,
        }
    }

    /// The request, with the text of an id or the next number, and that id.
    fn request_line(&mut self, probe: &Probe, id: Option<String>) -> (Value, String) {
        let id = id.unwrap_or_else(|| {
            self.next_id += 1;
            (self.next_id - 1).to_string()
        });
        // Written as text: the params go out as they stand in the file, member order and all.
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#,
            method = Value::from(probe.method.as_str()),
            params = probe.params,
        );
        (serde_json::from_str(&id).unwrap_or_default(), line)
    }

    /// Cancels the request that is open, and asks the next.
    pub(super) fn cancel(&mut self, open: Open, cancels: Cancels) -> io::Result<()> {
        self.serving.clone_from(&open.call_id);
        self.send_all(&cancels.lines, Some(&open.probe))?;
        self.serving = None;
        self.open = Some(Open {
            request_ids: vec![cancels.next],
            since: Instant::now(),
            cancels: None,
            ..open
        });
        Ok(())
    }

    /// Whether the host holds the open request, as far as it says such things; or it was waited long enough.
    pub(super) fn is_held(&self, open: &Open) -> bool {
        let Some(file) = &self.options.held else {
            return true;
        };
        let is_held = fs::read_to_string(file).is_ok_and(|text| text == open.probe.0);
        is_held || open.since.elapsed() >= self.options.answer_timeout
    }

    /// Over HTTP a request needs a stream that the client holds open (2025-11-25 basic/transports "Listening for Messages
    /// from the Server").
    fn nowhere_to_ask(&self, probe: &Probe) -> io::Result<()> {
        self.recorder.record(Event::NotAsked {
            probe: probe.id.clone(),
            reason: "the client holds no stream open outside its calls".to_owned(),
        });
        self.recorder.record(Event::ProbeDone {
            probe: probe.id.clone(),
        });
        Ok(())
    }

    /// Waits until the call for `probe` has come back to the host, where one says so; at most as long as for a reply.
    fn wait_until_back(&self, probe: &ProbeId) {
        let Some(file) = &self.options.back else {
            return;
        };
        let since = Instant::now();
        let is_back = || fs::read_to_string(file).is_ok_and(|text| text == probe.0);
        while !is_back() && since.elapsed() < self.options.answer_timeout {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The version to answer: the one offered where it is a legacy one that we know, else our newest legacy one
/// (basic/lifecycle "Version Negotiation").
pub(super) fn negotiate(offered: Option<&str>) -> Revision {
    offered
        .and_then(|text| text.parse::<Revision>().ok())
        .filter(|revision| revision.is_legacy())
        .unwrap_or(Revision::V2025_11_25)
}

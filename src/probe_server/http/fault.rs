//! What the endpoint does with one request, as a probe's script says.
//!
//! Owns that it happens once, and what is recorded of it. What a client does then is in the recording; it must not be judged
//! here.

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::super::handshake::scripted;
use super::Options;
use super::routes::{COMMENT, Part, event};
use crate::catalogue::script::Fault;
use crate::names::ProbeId;
use crate::recording::write::Recorder;
use crate::recording::{Dir, Event, Head, Wire};

/// The id of the one event that a stream has before it breaks.
const EVENT_ID: &str = "capmatrix-event-1";

/// The fault of a session, if it goes by one.
pub(super) struct Faulty {
    pub(super) fault: Fault,
    probe: ProbeId,
    /// What it is done with.
    method: String,
    is_spent: bool,
    broken: Option<Broken>,
    /// Keeps a stream open on which nothing comes.
    silent: Option<UnboundedSender<Part>>,
}

/// A stream that broke.
struct Broken {
    call: Value,
    recorder: Recorder,
}

impl Faulty {
    pub(super) fn of(options: &Options) -> Option<Faulty> {
        let probe = scripted(&options.probes)?;
        Some(Faulty {
            fault: probe.script.as_ref()?.fault()?,
            probe: probe.id.clone(),
            method: probe.method.clone(),
            is_spent: false,
            broken: None,
            silent: None,
        })
    }

    /// Whether it is about `method` and did not happen yet; from now on it has.
    pub(super) fn strikes(&mut self, method: &str) -> bool {
        let strikes = self.method == method && !self.is_spent;
        self.is_spent |= strikes;
        strikes
    }

    /// Records what the client asked and how it is answered.
    pub(super) fn record(
        &self,
        recorder: &Recorder,
        head: &Head,
        body: Option<&[u8]>,
        answer: u16,
    ) {
        if let Some(body) = body {
            recorder.record(Event::Mcp {
                dir: Dir::ClientToServer,
                line: Wire(body.to_vec()),
                head: Some(Box::new(head.clone())),
                probe: None,
            });
        }
        recorder.record(Event::Http {
            request: Box::new(head.clone()),
            answer,
            probe: Some(self.probe.clone()),
        });
    }

    /// The stream in the place of the answer to `call`: it ends before that, or never. In a session it can be resumed.
    pub(super) fn stream(
        &mut self,
        call: Value,
        recorder: Recorder,
        is_session: bool,
    ) -> UnboundedReceiver<Part> {
        let (parts, receiver) = unbounded_channel();
        match self.fault {
            Fault::Dropped if !is_session => {
                let _ = parts.send(Part::Event(COMMENT.into()));
            }
            Fault::Dropped => {
                // 2025-11-25 basic/transports "Sending Messages to the Server": an id and no data; the client is to come back
                // at once.
                let first = format!("id: {EVENT_ID}\nretry: 10\ndata:\n\n");
                let _ = parts.send(Part::Event(first.into()));
                self.broken = Some(Broken { call, recorder });
            }
            _ => self.silent = Some(parts),
        }
        receiver
    }

    /// The rest of the stream that broke, for who asks for what came after its event.
    pub(super) fn rest(&mut self, last_event: &str) -> Option<UnboundedReceiver<Part>> {
        let broken = self.broken.take_if(|_| last_event == EVENT_ID)?;
        let text = format!("{}: the stream was resumed", self.probe);
        let result = json!({"content": [{"type": "text", "text": text}]});
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
            broken.call
        );
        let (parts, receiver) = unbounded_channel();
        let _ = parts.send(Part::Event(event(&line)));
        broken.recorder.record(Event::Mcp {
            dir: Dir::ServerToClient,
            line: Wire::text(line),
            head: None,
            probe: None,
        });
        Some(receiver)
    }
}

//! Which response of which request a message of the probe server goes into.
//!
//! Owns that a reply ends the response to its request, that what belongs to a call stands on the stream of that call, and which
//! status an error has. It must not know how a message came to be.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use hyper::body::Bytes;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::super::Channel;
use super::{EVENTS, JSON, lock};
use crate::recording::Head;
use crate::recording::line::{Line, Sort, id_key};

/// How a request is answered where it is answered at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// By one JSON object.
    Json,
    /// By a stream of events, the last of which is the reply.
    Events,
    /// As that, with comments around each event.
    Commented,
}

/// Whom an error is for, which its status depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request in a legacy session: an error is a reply as any other.
    InSession,
    /// A request without a session to a server that wants one: it is refused as a whole.
    WantsSession,
    /// A request of the modern era (2026-07-28 basic/transports/streamable-http).
    Modern,
}

/// A part of a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole {
        /// The HTTP status.
        status: u16,
        /// A JSON object.
        body: String,
    },
    /// The response is a stream of events.
    Opens,
    /// An event of such a stream.
    Event(Bytes),
}

/// A request of the client that has no reply yet.
struct Pending {
    mode: Mode,
    kind: Kind,
    is_open: bool,
    parts: UnboundedSender<Part>,
}

/// The responses of a conversation that are not at their end.
#[derive(Default)]
pub(super) struct Routes {
    pending: BTreeMap<String, Pending>,
    /// The stream for what belongs to no call.
    listening: Option<UnboundedSender<Part>>,
}

impl Routes {
    /// Awaits the replies to requests with these ids. The response ends when all have come.
    pub(super) fn ask<'i>(
        &mut self,
        ids: impl Iterator<Item = &'i Value>,
        mode: Mode,
        kind: Kind,
    ) -> UnboundedReceiver<Part> {
        let (parts, receiver) = unbounded_channel();
        for id in ids {
            let pending = Pending {
                mode,
                kind,
                is_open: false,
                parts: parts.clone(),
            };
            self.pending.insert(id_key(id), pending);
        }
        receiver
    }

    /// Opens the stream for what belongs to no call. One that was open before ends.
    pub(super) fn listen(&mut self) -> UnboundedReceiver<Part> {
        let (parts, receiver) = unbounded_channel();
        self.listening = Some(parts);
        receiver
    }

    fn send(&mut self, message: &str, call: Option<&str>) {
        if let Some(id) = replied_to(message)
            && let Some(mut pending) = self.pending.remove(&id)
        {
            let (status, is_whole) = pending.answer(message);
            if is_whole {
                let body = message.to_owned();
                let _ = pending.parts.send(Part::Whole { status, body });
            } else {
                pending.event(message);
            }
            return;
        }
        let pending = call.and_then(key).and_then(|id| self.pending.get_mut(&id));
        match (pending, &self.listening) {
            (Some(pending), _) => pending.event(message),
            (None, Some(listening)) => {
                let _ = listening.send(Part::Event(event(message)));
            }
            // It reaches nobody, as `reaches_outside_calls` said.
            (None, None) => {}
        }
    }

    fn head(&self, message: &str, call: Option<&str>) -> Option<Head> {
        let replied = replied_to(message).and_then(|id| self.pending.get(&id));
        if let Some(pending) = replied {
            let (status, is_whole) = pending.answer(message);
            return match (is_whole, pending.is_open) {
                (true, _) => Some(said(status, JSON)),
                (false, false) => Some(said(status, EVENTS)),
                (false, true) => None,
            };
        }
        let pending = call.and_then(key).and_then(|id| self.pending.get(&id))?;
        (!pending.is_open).then(|| said(200, EVENTS))
    }
}

impl Pending {
    /// The status of a reply, and whether it is the whole response.
    fn answer(&self, message: &str) -> (u16, bool) {
        let status = status(message, self.kind);
        let refused = status != 200 && !self.is_open;
        (status, refused || self.mode == Mode::Json && !self.is_open)
    }

    fn event(&mut self, message: &str) {
        if !self.is_open {
            self.is_open = true;
            let _ = self.parts.send(Part::Opens);
        }
        if self.mode == Mode::Commented {
            let _ = self.parts.send(Part::Event(COMMENT.into()));
        }
        let _ = self.parts.send(Part::Event(event(message)));
    }
}

/// The status of a reply.
fn status(message: &str, kind: Kind) -> u16 {
    let value: Value = serde_json::from_str(message).unwrap_or_default();
    let Some(code) = value["error"]["code"].as_i64() else {
        return 200;
    };
    match (kind, code) {
        (Kind::InSession, _) => 200,
        (Kind::Modern, -32601) => 404,
        (Kind::WantsSession, _) | (Kind::Modern, -32022..=-32020) => 400,
        (Kind::Modern, _) => 200,
    }
}

/// One that says nothing, and one that looks like something.
pub(super) const COMMENT: &str = ":\n: data: capmatrix, a comment\n\n";

fn said(status: u16, content_type: &str) -> Head {
    let mut head = Head {
        status: Some(status),
        ..Head::default()
    };
    head.keep("content-type", content_type.as_bytes());
    head
}

pub(super) fn event(message: &str) -> Bytes {
    format!("event: message\ndata: {message}\n\n").into()
}

fn key(id: &str) -> Option<String> {
    serde_json::from_str(id).ok().map(|id: Value| id_key(&id))
}

/// The id that a message is a reply to.
fn replied_to(message: &str) -> Option<String> {
    match Line::read(message.as_bytes()).messages() {
        [message] => match message.sort() {
            Sort::Reply { id } => Some(id_key(id)),
            _ => None,
        },
        _ => None,
    }
}

/// The way from a conversation to its client.
pub(super) struct Out(pub(super) Arc<Mutex<Routes>>);

impl Channel for Out {
    fn head(&self, message: &str, call: Option<&str>) -> Option<Box<Head>> {
        lock(&self.0).head(message, call).map(Box::new)
    }

    fn send(&mut self, messages: &[String], call: Option<&str>) -> io::Result<()> {
        let mut routes = lock(&self.0);
        for message in messages {
            routes.send(message, call);
        }
        Ok(())
    }

    fn reaches_outside_calls(&self) -> bool {
        let routes = lock(&self.0);
        let listening = routes.listening.as_ref();
        listening.is_some_and(|parts| !parts.is_closed())
    }
}

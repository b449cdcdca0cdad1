//! The conversations of one endpoint.
//!
//! Owns which there are: one a legacy session, and one from each `server/discover` on. Each is served on a thread of its own
//! and recorded in a file of its own, as a probe server on stdio is. It must not know HTTP.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use super::super::{Incoming, Options, handshake, serve};
use super::lock;
use super::routes::{Kind, Mode, Out, Part, Routes};
use crate::recording::Event;
use crate::recording::write::{Recorder, part_name};

/// No client that was seen begins more than four. What comes beyond is of the last one.
const MAX_CONVERSATIONS: usize = 64;

/// What a message begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// A session: `initialize`.
    Session,
    /// A conversation without one: `server/discover`.
    Conversation,
    /// Nothing.
    Nothing,
}

pub(super) struct Conversations {
    options: Arc<Options>,
    rec: PathBuf,
    recorder: Recorder,
    /// How many sessions there were.
    sessions: usize,
    all: Vec<Conversation>,
}

pub(super) struct Conversation {
    /// The id of its session, once it has one.
    session: Option<String>,
    has_discovered: bool,
    wants_session: bool,
    pub(super) recorder: Recorder,
    input: Sender<Incoming>,
    routes: Arc<Mutex<Routes>>,
}

impl Conversations {
    pub(super) fn new(options: Arc<Options>, rec: PathBuf, recorder: Recorder) -> Conversations {
        Conversations {
            options,
            rec,
            recorder,
            sessions: 0,
            all: Vec::new(),
        }
    }

    /// The conversation that a message is of: that of its session, else the last; a new one where it begins one. None where
    /// there is no such session.
    pub(super) fn of(
        &mut self,
        session: Option<&str>,
        begins: Begins,
    ) -> Option<&mut Conversation> {
        if let Some(id) = session {
            return self.by_session(id);
        }
        let is_new = match (self.all.last(), begins) {
            (None, _) => true,
            (Some(last), Begins::Session) => last.session.is_some(),
            (Some(last), Begins::Conversation) => last.has_discovered || last.session.is_some(),
            (Some(_), Begins::Nothing) => false,
        };
        if is_new && self.all.len() < MAX_CONVERSATIONS {
            let begun = self.begin()?;
            self.all.push(begun);
        }
        let last = self.all.last_mut()?;
        match begins {
            Begins::Session => {
                self.sessions += 1;
                last.session = Some(format!("capmatrix-{}", self.sessions));
            }
            Begins::Conversation => last.has_discovered = true,
            Begins::Nothing => {}
        }
        Some(last)
    }

    fn by_session(&mut self, id: &str) -> Option<&mut Conversation> {
        let mut all = self.all.iter_mut();
        all.find(|conversation| conversation.session.as_deref() == Some(id))
    }

    fn begin(&self) -> Option<Conversation> {
        let recorder = match Recorder::create(&self.rec.join(part_name()), "server") {
            Ok(recorder) => recorder,
            Err(error) => {
                let message = format!("the probe server cannot record: {error}");
                self.recorder.record(Event::HarnessError { message });
                return None;
            }
        };
        let (input, incoming) = mpsc::channel();
        let routes = Arc::new(Mutex::new(Routes::default()));
        let out = Out(Arc::clone(&routes));
        let options = Arc::clone(&self.options);
        let wants_session = handshake::is_legacy(&options);
        let own = recorder.clone();
        thread::spawn(move || {
            // Nothing is written here that could fail.
            let _ = serve(&options, &recorder, &incoming, out);
        });
        Some(Conversation {
            session: None,
            has_discovered: false,
            wants_session,
            recorder: own,
            input,
            routes,
        })
    }

    /// Opens the stream of a session.
    pub(super) fn listen(&mut self, id: &str) -> Option<UnboundedReceiver<Part>> {
        self.by_session(id)
            .map(|conversation| lock(&conversation.routes).listen())
    }

    /// Ends a session. Gives whether there was one.
    pub(super) fn delete(&mut self, id: &str) -> bool {
        let before = self.all.len();
        self.all
            .retain(|conversation| conversation.session.as_deref() != Some(id));
        self.all.len() < before
    }

    /// Ends all.
    pub(super) fn end(&mut self) {
        self.all.clear();
    }
}

impl Conversation {
    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Gives it what the client sent, with the ids of the requests in it.
    pub(super) fn ask<'i>(
        &self,
        ids: impl Iterator<Item = &'i Value>,
        mode: Mode,
        incoming: Incoming,
    ) -> UnboundedReceiver<Part> {
        let kind = match (&self.session, self.wants_session) {
            (Some(_), _) => Kind::InSession,
            (None, true) => Kind::WantsSession,
            (None, false) => Kind::Modern,
        };
        let parts = lock(&self.routes).ask(ids, mode, kind);
        let _ = self.input.send(incoming);
        parts
    }
}

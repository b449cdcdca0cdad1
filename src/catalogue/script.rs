//! Handshakes that go by a probe's script, so that each needs a session of its own.
//!
//! Owns what the server does in place of what it always does, and what a client is to do then. How it is sent is the
//! probe server's business.

use serde::{Deserialize, Serialize};

use crate::names::TransportKind;

/// What a session does that a probe has for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// How the client's request is answered.
    pub reply: Reply,
    /// What a client may do then; what it does instead breaks the probe's rule.
    pub then: Vec<Then>,
    /// How long the server waits before it reads anything, in milliseconds.
    pub starts_after_ms: u64,
    /// The one transport over which it goes; none where it goes over any.
    pub over: Option<TransportKind>,
}

/// How the request that the script is about is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// With this result.
    Result,
    /// With this error.
    Error,
    /// Never.
    Silence,
    /// By the end of the server's process.
    Exit,
    /// As always; what is asked is something else.
    Usual,
    /// As always; and when the client has closed the channel, the server stays, to see how it is ended.
    Stays,
    /// As always, but for what HTTP does with it.
    Http(Fault),
}

/// How long the first byte of a slow answer takes, in milliseconds.
pub const SLOW_MS: u64 = 3500;

/// What the endpoint does with an HTTP request, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It says that there is no such session: 404; and from then on there is none.
    NotFound,
    /// It refuses the request: 400 with an empty body.
    BadRequest,
    /// It has no stream to listen on: 405.
    NoStream,
    /// The stream with the answer ends before the answer; it can be resumed.
    Dropped,
    /// The stream with the answer opens, and nothing comes.
    HalfOpen,
    /// The answer is kept back for [`SLOW_MS`].
    Slow,
    /// The answer comes as the event of a stream.
    AsEvents,
    /// As that, between comments.
    Commented,
}

/// What stands for the request for a stream to listen on, which is no message.
pub const LISTEN: &str = "GET";

/// What a client does once its request was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// It uses the session: it lists or calls tools.
    GoesOn,
    /// It sends `initialize`: for the first time after a question of the modern era, or once more.
    Initializes,
    /// It asks for the rest of a stream that broke.
    Resumes,
    /// None of these.
    Stops,
}

impl Then {
    /// All, with the names that probe files use.
    pub const NAMES: [(&'static str, Then); 4] = [
        ("goes-on", Then::GoesOn),
        ("initializes", Then::Initializes),
        ("resumes", Then::Resumes),
        ("stops", Then::Stops),
    ];

    /// In words, of what a client did.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Then::GoesOn => "went on",
            Then::Initializes => "sent initialize",
            Then::Resumes => "asked for the rest of the stream",
            Then::Stops => "did not go on",
        }
    }
}

impl Script {
    /// Whether the client is made to wait, so that the session costs time and no work.
    #[must_use]
    pub fn waits(&self) -> bool {
        let is_silent = matches!(
            self.reply,
            Reply::Silence | Reply::Http(Fault::HalfOpen | Fault::Dropped | Fault::Slow)
        );
        is_silent || self.starts_after_ms > 0
    }

    /// The one transport over which it can go; none where it can go over any.
    #[must_use]
    pub fn transport(&self) -> Option<TransportKind> {
        match self.reply {
            // A client does not start a server that listens, so that it does not end it either.
            Reply::Exit | Reply::Stays => Some(TransportKind::Stdio),
            Reply::Http(_) => Some(TransportKind::Http),
            Reply::Result | Reply::Error | Reply::Silence | Reply::Usual => self.over,
        }
    }

    /// Whether the client's call fails, so that only its next one tells whether it found back.
    #[must_use]
    pub fn is_told_by_the_next_call(&self) -> bool {
        matches!(self.fault(), Some(Fault::NotFound | Fault::BadRequest))
    }

    /// What HTTP does with the request, if anything.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        match self.reply {
            Reply::Http(fault) => Some(fault),
            _ => None,
        }
    }
}

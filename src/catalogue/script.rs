//! Handshakes that go by a probe's script, so that each needs a session of its own.
//!
//! Owns what the server does in place of what it always does, and what a client is to do then. How it is sent is the
//! probe server's business.

use serde::{Deserialize, Serialize};

/// What a session does that a probe has for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// How the client's request is answered.
    pub reply: Reply,
    /// What a client may do then; what it does instead breaks the probe's rule.
    pub then: Vec<Then>,
    /// How long the server waits before it reads anything, in milliseconds.
    pub starts_after_ms: u64,
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
}

/// What a client does once its request was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// It uses the session: it lists or calls tools.
    GoesOn,
    /// It sends `initialize`: for the first time after a question of the modern era, or once more.
    Initializes,
    /// Neither.
    Stops,
}

impl Then {
    /// All, with the names that probe files use.
    pub const NAMES: [(&'static str, Then); 3] = [
        ("goes-on", Then::GoesOn),
        ("initializes", Then::Initializes),
        ("stops", Then::Stops),
    ];

    /// In words, of what a client did.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Then::GoesOn => "went on",
            Then::Initializes => "sent initialize",
            Then::Stops => "did not go on",
        }
    }
}

impl Script {
    /// Whether the client is made to wait, so that the session costs time and no work.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.reply == Reply::Silence || self.starts_after_ms > 0
    }
}

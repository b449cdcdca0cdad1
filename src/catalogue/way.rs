//! The ways in which a probe's request is put to a client.
//!
//! Owns what is peculiar about the envelope or the round trip around a request whose text is the probe file's. How it
//! is done is the probe server's business.

use serde::{Deserialize, Serialize};

use crate::names::Revision;

/// How a probe's request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// As every server does.
    #[default]
    Plain,
    /// With a string for an id (basic/index Requests: a string or an integer).
    StringId,
    /// With the id 0.
    IdZero,
    /// With the id of the client's own `tools/call` that is open: each side has ids of its own.
    ClientsId,
    /// After a line that is no JSON.
    AfterNoise,
    /// After a notification that no revision defines.
    AfterUnknownNotification,
    /// While no call of the client is open.
    AfterCall,
    /// As the second of two requests that are open at the same time.
    SecondOfTwo,
    /// After another one that the server cancelled at once (basic/utilities/cancellation).
    AfterCancelled,
    /// Asked for by a result that has no `requestState` (2026-07-28 basic/patterns/mrtr).
    NoState,
    /// Asked for by a result whose `requestState` has characters of every kind.
    OddState,
    /// Asked for once the client has called again after a result with a `requestState` only.
    StateFirst,
    /// Asked for together with another one.
    TwoInputs,
    /// Asked for once another one was answered.
    SecondRound,
}

impl Way {
    /// All ways, with the names that probe files use.
    pub const NAMES: [(&'static str, Way); 14] = [
        ("plain", Way::Plain),
        ("string-id", Way::StringId),
        ("id-zero", Way::IdZero),
        ("clients-id", Way::ClientsId),
        ("after-noise", Way::AfterNoise),
        ("after-unknown-notification", Way::AfterUnknownNotification),
        ("after-call", Way::AfterCall),
        ("second-of-two", Way::SecondOfTwo),
        ("after-cancelled", Way::AfterCancelled),
        ("no-state", Way::NoState),
        ("odd-state", Way::OddState),
        ("state-first", Way::StateFirst),
        ("two-inputs", Way::TwoInputs),
        ("second-round", Way::SecondRound),
    ];

    /// Whether there is this way in `revision`: since 2026-07-28 servers send no requests, and before it results asked
    /// for none.
    #[must_use]
    pub fn exists_in(self, revision: Revision) -> bool {
        match self {
            Way::Plain | Way::AfterNoise | Way::AfterUnknownNotification => true,
            Way::StringId
            | Way::IdZero
            | Way::ClientsId
            | Way::AfterCall
            | Way::SecondOfTwo
            | Way::AfterCancelled => revision.is_legacy(),
            Way::NoState | Way::OddState | Way::StateFirst | Way::TwoInputs | Way::SecondRound => {
                !revision.is_legacy()
            }
        }
    }

    /// Whether it goes on once the call has come back to the host.
    #[must_use]
    pub fn outlives_its_call(self) -> bool {
        self == Way::AfterCall
    }
}

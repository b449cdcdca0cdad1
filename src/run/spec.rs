//! What the supervisor of one session is told: plain data, written by the host as `spec.json`.
//!
//! Owns the contract between `capmatrix run` outside the sandbox and `capmatrix session` inside it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::catalogue::Probe;
use crate::clients::{Client, Installed, Surface};
use crate::names::{Revision, Target};
use crate::probe_server;
use crate::recording::Isolation;

use super::session;

/// The file's name in a session's folder.
pub const FILE: &str = "spec.json";

/// One session: one life of one client process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionSpec {
    /// The target.
    pub target: Target,
    /// The client's file.
    pub client: Client,
    /// The surface of the target.
    pub surface: Surface,
    /// The program.
    pub installed: Installed,
    /// The revision that the session is to be in; none where the client and the server settle on one.
    pub revision: Option<Revision>,
    /// The probes to ask, in this order.
    pub probes: Vec<Probe>,
    /// The deadlines.
    pub limits: Limits,
    /// How far the client is shut off.
    pub isolation: Isolation,
    /// Folders that must stay visible inside the sandbox although they lie below a hidden one.
    pub visible: Vec<PathBuf>,
}

impl SessionSpec {
    /// What the probe server of the session is told; `rec` is the session's folder.
    #[must_use]
    pub fn server_options(&self, rec: &Path) -> probe_server::Options {
        probe_server::Options {
            probes: self.probes.clone(),
            revision: self.revision,
            answer_timeout: Duration::from_millis(self.limits.answer_ms),
            back: Some(rec.join(session::BACK)),
            held: Some(rec.join(session::HELD)),
            stop_when_silent: true,
        }
    }
}

/// Deadlines, in milliseconds. Every wait of a session ends by one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// For the reply to one probe's request.
    pub answer_ms: u64,
    /// For any other single step: the client becoming ready, a call coming back, the process ending.
    pub step_ms: u64,
    /// For the whole session.
    pub session_ms: u64,
}

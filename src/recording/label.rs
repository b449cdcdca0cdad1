//! What tells the sessions of one target apart: the revision, or the probe that has the session for itself.
//!
//! Owns the words that file names and progress use for it. It must not know how many sessions bear the same label.

use std::fmt;

use crate::names::{ProbeId, Revision};

use super::Header;

/// A session's label: empty, a revision, or a probe's id with dashes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(String);

impl Label {
    /// The label of a session that was asked for this revision, or whose handshake goes by this probe's script. A script's
    /// own id says enough: it is asked in one revision at a time.
    #[must_use]
    pub fn new(revision: Option<Revision>, script: Option<&ProbeId>) -> Label {
        Label(match (script, revision) {
            (Some(probe), Some(revision)) => {
                format!("{}.{revision}", probe.0.replace('/', "-"))
            }
            (Some(probe), None) => probe.0.replace('/', "-"),
            (None, Some(revision)) => revision.to_string(),
            (None, None) => String::new(),
        })
    }

    /// The name of the target's `number`th session of this label (1: the first) below `base`: `base-LABEL` or
    /// `base-LABEL.2`.
    #[must_use]
    pub fn name(&self, base: &str, number: usize) -> String {
        let dash = if self.0.is_empty() { "" } else { "-" };
        match number {
            1 => format!("{base}{dash}{}", self.0),
            _ => format!("{base}{dash}{}.{number}", self.0),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Header {
    /// What tells this session from the others of its target.
    #[must_use]
    pub fn label(&self) -> Label {
        Label::new(self.revision, self.script.as_ref())
    }
}

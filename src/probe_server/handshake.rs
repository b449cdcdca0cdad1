//! Handshakes that go by a probe's script.
//!
//! Owns what is done in place of the usual answer, and staying on after the client has closed the channel. What the client
//! does then is in the recording; it must not be judged here.

use std::io;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{Channel, Options, Server};
use crate::catalogue::Probe;
use crate::catalogue::script::{Fault, Reply};
use crate::names::Revision;
use crate::recording::Event;
use crate::recording::write::Recorder;

/// How long a server stays that is to see how its client ends it.
const STAYS: Duration = Duration::from_secs(4);

/// Errors by which a server of the modern era makes itself known (2026-07-28 basic/index Error Codes); after any other a
/// client takes it for a legacy one.
const MODERN_ERRORS: std::ops::RangeInclusive<i64> = -32022..=-32020;

/// The probe whose script the handshake goes by, if one of `probes` has one.
#[must_use]
pub fn scripted(probes: &[Probe]) -> Option<&Probe> {
    probes.iter().find(|probe| probe.script.is_some())
}

impl<C: Channel> Server<'_, C> {
    /// Does what the script says of this request. Gives whether it says anything of it.
    ///
    /// # Errors
    /// When the channel breaks, or the script ends the server here.
    pub(super) fn follow_script(
        &mut self,
        method: &str,
        id: &str,
        params: &Value,
    ) -> io::Result<bool> {
        let Some(probe) = scripted(&self.options.probes).filter(|probe| probe.method == method)
        else {
            return Ok(false);
        };
        let Some(script) = &probe.script else {
            return Ok(false);
        };
        let (member, text) = match script.reply {
            Reply::Usual | Reply::Stays | Reply::Http(_) => {
                self.marked = Some(probe.id.clone());
                return Ok(false);
            }
            Reply::Silence | Reply::Exit => {
                self.recorder.record(Event::Withheld {
                    probe: probe.id.clone(),
                });
                return match script.reply {
                    Reply::Exit => Err(io::Error::other("the script ends here")),
                    _ => Ok(true),
                };
            }
            Reply::Result => ("result", &probe.params),
            Reply::Error => ("error", &probe.params),
        };
        if method == "initialize" {
            self.capabilities = params["capabilities"].clone();
            let said: Value = serde_json::from_str(text).unwrap_or_default();
            let version = said["protocolVersion"].as_str();
            self.revision = version.and_then(|version| version.parse().ok());
        }
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{text}}}"#);
        self.send(line, Some(probe.id.clone()))?;
        Ok(true)
    }

    /// Whether the script makes this a legacy server although the session is of the modern era: it answers the first
    /// question as one would.
    pub(super) fn is_legacy_by_script(&self) -> bool {
        scripted(&self.options.probes).is_some_and(answers_as_legacy)
    }

    /// Whether the script answers `initialize` with a revision of the modern era, which a client may then speak.
    pub(super) fn is_initialized_modern(&self) -> bool {
        scripted(&self.options.probes).is_some_and(|probe| {
            probe.method == "initialize"
                && probe.params_value()["protocolVersion"] == Revision::V2026_07_28.as_str()
        })
    }
}

/// Whether the server is one of the legacy era, by its revision or by its script.
pub(super) fn is_legacy(options: &Options) -> bool {
    options.revision.is_some_and(Revision::is_legacy)
        || scripted(&options.probes).is_some_and(answers_as_legacy)
}

fn answers_as_legacy(probe: &Probe) -> bool {
    let code = || probe.params_value()["code"].as_i64();
    probe.method == "server/discover"
        && match probe.script.as_ref().map(|script| script.reply) {
            Some(Reply::Silence | Reply::Http(Fault::BadRequest)) => true,
            Some(Reply::Error) => !code().is_some_and(|code| MODERN_ERRORS.contains(&code)),
            _ => false,
        }
}

/// What a modern session's revision is where it goes by `script` as a legacy one.
pub(super) fn legacy(asked: Option<Revision>) -> Option<Revision> {
    asked.filter(|revision| revision.is_legacy())
}

/// Stays after the client has closed the channel, and records how it is ended. Comes back when nothing has for a while.
pub fn stay(recorder: &Recorder) {
    recorder.record(ending("closed"));
    thread::sleep(STAYS);
    recorder.record(ending("nothing more"));
}

/// Records the signals that come, from now on; none of them ends the server any more.
pub fn watch_signals(recorder: Recorder) {
    let Ok(mut signals) = Signals::new([SIGTERM, SIGINT, SIGHUP]) else {
        return;
    };
    thread::spawn(move || {
        for signal in signals.forever() {
            recorder.record(ending(match signal {
                SIGTERM => "SIGTERM",
                SIGINT => "SIGINT",
                _ => "SIGHUP",
            }));
        }
    });
}

fn ending(by: &str) -> Event {
    Event::Ending { by: by.to_owned() }
}

//! Drivers: how to talk to a client's own host interface. One file a protocol.
//!
//! Owns asking for each probe and answering what is presented. A driver records facts in MCP's own
//! terms (`Presented`, `AnswerGiven`) and judges nothing.

mod claude_stream_json;
mod codex_app_server;
mod host_lines;
mod prompt;

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::host::Host;
use super::session;
use crate::catalogue::{Probe, Way};
use crate::clients::DriverKind;
use crate::names::ProbeId;
use crate::recording::write::Recorder;
use crate::recording::{End, Event, read};

/// What a driver works with.
pub struct Drive<'a> {
    /// The client.
    pub host: &'a mut Host,
    /// The probes to ask, in order.
    pub probes: &'a [Probe],
    /// Where facts go.
    pub recorder: &'a Recorder,
    /// The folder with the parts of the recording.
    pub rec: &'a std::path::Path,
    /// The client's working directory.
    pub wd: &'a std::path::Path,
    /// How long one step may take.
    pub step: Duration,
    /// The probe of which a request was left without an answer.
    pub held: Option<ProbeId>,
}

/// Asks for every probe. Returns how the conversation ended; the client is still to be ended.
pub async fn drive(kind: DriverKind, drive: &mut Drive<'_>) -> End {
    match kind {
        DriverKind::Prompt => prompt::drive(drive).await,
        DriverKind::CodexAppServer => codex_app_server::drive(drive).await,
        DriverKind::ClaudeStreamJson => claude_stream_json::drive(drive).await,
        DriverKind::HostLines => host_lines::drive(drive).await,
    }
}

/// The calls to ask for: one a probe, and another where what a client does after a call that failed tells.
fn calls(probes: &[Probe]) -> impl Iterator<Item = &Probe> {
    let times = |probe: &Probe| match probe.script.as_ref() {
        Some(script) if script.is_told_by_the_next_call() => 2,
        _ => 1,
    };
    probes
        .iter()
        .flat_map(move |probe| std::iter::repeat_n(probe, times(probe)))
}

/// Why a conversation stopped early.
enum Stop {
    /// The client closed its output, or does not take input any more.
    Gone,
    /// A step took too long.
    TimedOut,
    /// The client said that it cannot be used.
    Refused,
}

impl Stop {
    fn end(&self, ready: bool) -> End {
        match self {
            Stop::Refused => End::NotStarted,
            _ if !ready => End::NotStarted,
            Stop::Gone => End::ClientGone,
            Stop::TimedOut => End::TimedOut,
        }
    }
}

impl Drive<'_> {
    async fn send(&mut self, message: &Value) -> Result<(), Stop> {
        self.host
            .send(&message.to_string())
            .await
            .map_err(|_| Stop::Gone)
    }

    /// The next line that is a JSON object; other lines are recorded and passed over.
    async fn receive(&mut self, deadline: Instant) -> Result<Value, Stop> {
        loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            let line = timeout(wait, self.host.next_line())
                .await
                .map_err(|_| Stop::TimedOut)?;
            let line = line.ok_or(Stop::Gone)?;
            if let Ok(value @ Value::Object(_)) = serde_json::from_slice(&line) {
                return Ok(value);
            }
        }
    }

    /// The next message for `probe`, whose call has come back to the host if `is_back`. None is the end of it: then, or for a
    /// way that outlives its call once the probe server is done.
    async fn next_of(
        &mut self,
        probe: &Probe,
        is_back: bool,
        deadline: Instant,
    ) -> Result<Option<Value>, Stop> {
        if !is_back {
            return self.receive(deadline).await.map(Some);
        }
        if !probe.way.outlives_its_call() {
            return Ok(None);
        }
        // The probe server waits for this.
        let _ = std::fs::write(self.rec.join(session::BACK), &probe.id.0);
        loop {
            tokio::select! {
                biased;
                message = self.receive(deadline) => return message.map(Some),
                () = sleep(POLL) => {}
            }
            if self.is_over(probe) {
                return Ok(None);
            }
        }
    }

    /// Whether a probe server is done with `probe`, or asks nothing any more. Only its recording says so: a client need not
    /// tell its host that it replied.
    fn is_over(&self, probe: &Probe) -> bool {
        let done = Event::ProbeDone {
            probe: probe.id.clone(),
        };
        let done = serde_json::to_string(&done).unwrap_or_default();
        let parts = read::server_parts(self.rec).unwrap_or_default();
        let mut texts = parts
            .iter()
            .filter_map(|part| std::fs::read_to_string(part).ok());
        texts.any(|text| text.contains(&done) || text.contains(r#""event":{"no_reply""#))
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.step
    }

    fn begin(&mut self, probe: &Probe) {
        self.host.current = Some(probe.id.clone());
        self.recorder.record(Event::Called {
            probe: probe.id.clone(),
        });
    }

    fn returned(&mut self, probe: &Probe) {
        self.recorder.record(Event::CallReturned {
            probe: probe.id.clone(),
        });
        self.host.current = None;
    }

    /// Records what the client presented and gives back the probe's answer; none for the request that is to be cancelled
    /// while nobody has answered it yet.
    fn present(&mut self, probe: &Probe, params: Value) -> Option<Value> {
        // Deeper than a reader of the recording could follow; the raw line is recorded all the same.
        if depth(&params) <= MAX_DEPTH {
            self.recorder.record(Event::Presented {
                probe: probe.id.clone(),
                params,
            });
        }
        if probe.way == Way::AfterCancelled && self.held.as_ref() != Some(&probe.id) {
            self.held = Some(probe.id.clone());
            // The probe server waits for this.
            let _ = std::fs::write(self.rec.join(session::HELD), &probe.id.0);
            return None;
        }
        let answer = probe.answer.to_value();
        self.recorder.record(Event::AnswerGiven {
            probe: probe.id.clone(),
            answer: answer.clone(),
        });
        Some(answer)
    }
}

/// How long a probe server is left alone before its recording is looked at again.
const POLL: Duration = Duration::from_millis(2);

/// JSON readers stop at 128 levels; a recording wraps what it holds in a few of its own.
const MAX_DEPTH: usize = 100;

/// How deep a value is nested. It was parsed with a bound, so that recursion is safe.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The members of `from` that an MCP elicitation request has, under MCP's names: pairs of (theirs, MCP's).
/// Members that are absent or null are left out.
fn normalise(from: &Value, names: &[(&str, &str)]) -> Value {
    let mut params = serde_json::Map::new();
    for (theirs, mcp) in names {
        match from.get(theirs) {
            None | Some(Value::Null) => {}
            Some(value) => {
                params.insert((*mcp).to_owned(), value.clone());
            }
        }
    }
    Value::Object(params)
}

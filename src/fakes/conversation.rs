//! The conversation between the reference client's host, its behaviour and the MCP server.
//!
//! Owns who is asked and answered when: it takes the steps that hooks name. It must not know what a probe sends, how a
//! line gets to the server, or what a behaviour is for.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use anyhow::{Context, bail};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, JsonObject};
use rmcp::service::{RoleClient, RunningService, ServiceError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::behaviours::Behaviour;
use super::hooks::{After, BEHAVES, Calls, Death, Hooks, Scope, Step};
use super::pipes::{self, Channel, Taken};
use super::rounds::Asked;
use crate::probe_server;
use crate::probe_server::stdio::MAX_LINE;

/// A line from the host.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FromHost {
    /// Call the tool for this probe.
    Call(String),
    /// The answer to what was presented.
    Answer(Box<RawValue>),
}

/// The lines of standard input. A thread reads them and not tokio, whose stdin would keep the process from ending
/// when the server closes while the host is silent.
pub(super) fn host_lines() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = probe_server::stdio::read_line(&mut input, MAX_LINE) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

pub(super) struct Conversation {
    behaviour: &'static Behaviour,
    pub(super) service: RunningService<RoleClient, ClientConfig>,
    channel: Channel,
    to_host: tokio::io::Stdout,
    calls: JoinSet<Result<CallToolResult, ServiceError>>,
    /// The probe that was last called for. What a server asks between two calls is still on its account.
    current: Option<String>,
    /// What was presented and not answered yet, oldest first: a result that asks stands here once for each of its inputs.
    unanswered: VecDeque<Arc<Asked>>,
    /// The answers to what a result asks for, so far.
    answers: Vec<String>,
    /// What is to be done when the open call has come back, and for what.
    after_return: Option<(Arc<Asked>, VecDeque<Step>)>,
    /// Whether the client itself has closed the channel.
    closed: bool,
}

impl Conversation {
    pub(super) fn new(
        behaviour: &'static Behaviour,
        service: RunningService<RoleClient, ClientConfig>,
        channel: Channel,
    ) -> Conversation {
        Conversation {
            behaviour,
            service,
            channel,
            to_host: tokio::io::stdout(),
            calls: JoinSet::new(),
            current: None,
            unanswered: VecDeque::new(),
            answers: Vec::new(),
            after_return: None,
            closed: false,
        }
    }

    /// Holds the conversation until the host closes its end.
    pub(super) async fn hold(
        &mut self,
        host: &mut mpsc::Receiver<Vec<u8>>,
        taken: &mut Taken,
    ) -> anyhow::Result<()> {
        self.say("ready", "true").await?;
        let mut server_is_there = true;
        // A server that answers and closes at once still gets its answer to the host.
        while server_is_there || self.closed || !self.calls.is_empty() {
            tokio::select! {
                // In this order, so that the same run gives the same lines.
                biased;
                line = host.recv() => match line {
                    None => return Ok(()),
                    Some(line) => self.on_host(&line).await?,
                },
                asked = taken.recv(), if server_is_there => match asked {
                    None => server_is_there = false,
                    Some(asked) => {
                        let asked = asked.context("cannot read from the MCP server")?;
                        let steps = match &asked {
                            Asked::Request(request) => self.hooks().on_request(request),
                            Asked::Round(round) => self.hooks().on_round(round),
                        };
                        self.take(&Arc::new(asked), steps.into()).await?;
                    }
                },
                Some(returned) = self.calls.join_next() => {
                    let hooks = self.hooks();
                    self.on_returned(returned?).await?;
                    if hooks.after == After::Leaves {
                        return Ok(());
                    }
                }
            }
        }
        bail!("the MCP server closed the channel");
    }

    /// What applies to the last call: the behaviour's own hooks within their scope, and none beyond it.
    fn hooks(&self) -> Hooks {
        let own = self.behaviour.hooks;
        let current = self.current.as_deref();
        if own.scope == Scope::EveryCall || current == Some(self.behaviour.subject) {
            own
        } else {
            BEHAVES
        }
    }

    async fn on_host(&mut self, line: &[u8]) -> anyhow::Result<()> {
        let message = serde_json::from_slice(line)
            .with_context(|| format!("not a host line: {}", String::from_utf8_lossy(line)))?;
        match message {
            FromHost::Call(probe) => self.call(probe).await,
            FromHost::Answer(answer) => match self.next_unanswered() {
                Some(asked) => self.on_answer(&asked, answer.get()).await,
                // The call came back while the host was answering.
                None => Ok(()),
            },
        }
    }

    /// What the host answers next: the oldest that is not cancelled.
    fn next_unanswered(&mut self) -> Option<Arc<Asked>> {
        let channel = &self.channel;
        let is_open = |asked: &Arc<Asked>| match &**asked {
            Asked::Request(request) => !channel.is_cancelled(&request.id),
            Asked::Round(_) => true,
        };
        let at = self.unanswered.iter().position(is_open)?;
        self.unanswered.drain(..=at).next_back()
    }

    async fn on_answer(&mut self, asked: &Arc<Asked>, answer: &str) -> anyhow::Result<()> {
        let steps = match &**asked {
            Asked::Request(request) => self.hooks().on_answer(request, answer),
            Asked::Round(round) => {
                self.answers.push(answer.to_owned());
                if self.answers.len() < round.inputs.len() {
                    return Ok(());
                }
                let answers = std::mem::take(&mut self.answers);
                self.hooks().on_inputs(round, &answers)
            }
        };
        self.take(asked, steps.into()).await
    }

    /// Takes the steps for what was asked, up to one that must wait for the call to come back.
    async fn take(&mut self, asked: &Arc<Asked>, mut steps: VecDeque<Step>) -> anyhow::Result<()> {
        let round = match &**asked {
            Asked::Request(_) => None,
            Asked::Round(round) => Some(round),
        };
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Present => self.present(asked).await?,
                Step::Write(bytes) => self
                    .channel
                    .write(&bytes, round)
                    .await
                    .context("cannot write to the MCP server")?,
                Step::Pass(time) => tokio::time::sleep(time).await,
                Step::UntilReturned => {
                    self.after_return = Some((asked.clone(), steps));
                    return Ok(());
                }
                Step::GiveUp => {
                    if let Some(round) = round {
                        self.channel.hand_on(&round.for_rmcp()).await?;
                    }
                }
                Step::Close => {
                    self.closed = true;
                    self.channel.close().await;
                }
                Step::Die(death) => die(death)?,
            }
        }
        Ok(())
    }

    async fn present(&mut self, asked: &Arc<Asked>) -> anyhow::Result<()> {
        let requests = match &**asked {
            Asked::Request(request) => std::slice::from_ref(request),
            Asked::Round(round) => &round.inputs,
        };
        for request in requests {
            let shown = self.hooks().shown(request);
            self.say("presented", &shown).await?;
            self.unanswered.push_back(asked.clone());
        }
        Ok(())
    }

    async fn call(&mut self, probe: String) -> anyhow::Result<()> {
        let mut arguments = JsonObject::new();
        arguments.insert("id".to_owned(), Value::from(probe.as_str()));
        self.current = Some(probe);
        if self.hooks().calls == Calls::InPretence {
            return self.say("result", "null").await;
        }
        let peer = self.service.peer().clone();
        let params = CallToolRequestParams::new(probe_server::NAME).with_arguments(arguments);
        self.calls
            .spawn(async move { peer.call_tool(params).await });
        Ok(())
    }

    async fn on_returned(
        &mut self,
        returned: Result<CallToolResult, ServiceError>,
    ) -> anyhow::Result<()> {
        // The host hears of the return when all is done, so that nothing of this call comes after it.
        if let Some((asked, steps)) = self.after_return.take() {
            self.take(&asked, steps).await?;
        }
        match returned {
            Ok(result) => self.say("result", &serde_json::to_string(&result)?).await,
            Err(ServiceError::McpError(error)) => {
                self.say("error", &serde_json::to_string(&error)?).await
            }
            Err(error) => {
                self.say("error", &json!({"message": error.to_string()}).to_string())
                    .await
            }
        }
    }

    /// Prints one line for the host; `json` is JSON text, and goes out as it stands.
    async fn say(&mut self, member: &str, json: &str) -> anyhow::Result<()> {
        let line = format!("{{\"{member}\":{json}}}\n");
        pipes::write(&mut self.to_host, line.as_bytes())
            .await
            .context("cannot write to the host")
    }
}

/// Ends this process as a fault would: with nothing put in order.
#[allow(clippy::exit, reason = "that nothing is put in order is the fault")]
pub(super) fn die(death: Death) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
    let signal = match death {
        Death::Exit(code) => std::process::exit(code),
        Death::Abort => {
            // Nobody reads the core file.
            let none = Rlimit {
                current: Some(0),
                maximum: Some(0),
            };
            setrlimit(Resource::Core, none)?;
            std::process::abort()
        }
        Death::Kill => Signal::KILL,
        Death::Terminate => Signal::TERM,
    };
    Ok(kill_process(getpid(), signal)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_lines_parse() {
        let line = br#"{"answer":{"action":"accept","content":{"v":1.50}}}"#;
        let Ok(FromHost::Answer(answer)) = serde_json::from_slice(line) else {
            panic!("not an answer");
        };
        assert_eq!(answer.get(), r#"{"action":"accept","content":{"v":1.50}}"#);
        assert!(
            matches!(serde_json::from_str(r#"{"call":"a/b"}"#), Ok(FromHost::Call(id)) if id == "a/b")
        );
        assert!(serde_json::from_str::<FromHost>(r#"{"stop":1}"#).is_err());
    }
}

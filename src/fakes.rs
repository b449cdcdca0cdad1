//! The reference client: an MCP client on rmcp that behaves, or misbehaves in one named way.
//!
//! Owns the conversation between its host (the harness, by the `host-lines` protocol) and the MCP server. It must not
//! know what a probe sends, and it judges nothing. rmcp does the handshake, `tools/list` and `tools/call`;
//! `elicitation/create` is taken out of the byte stream below it, because a typed SDK would refuse, drop or reorder
//! parts of what a probe sends, and could not write what a faulty client writes.
//!
//! `host-lines`, one JSON object a line: out `ready`, `presented`, `result`, `error`; in `call`, `answer`.

mod behaviours;
mod hooks;
mod pipes;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use anyhow::{Context, bail};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitationCapability,
    FormElicitationCapability, Implementation, JsonObject, ProtocolVersion,
    UrlElicitationCapability,
};
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use behaviours::{Behaviour, Class, Judgement, Pace, all};
use hooks::{After, BEHAVES, Calls, Death, Hooks, Request, Scope, Step};
use pipes::{Pipes, Requests, ToServer};

use crate::probe_server;
use crate::probe_server::stdio::MAX_LINE;

/// How long the server may take for the handshake and the tool list.
const STARTUP: Duration = Duration::from_secs(30);
/// How long the server may take to end once its input is closed.
const GOODBYE: Duration = Duration::from_secs(5);

/// Runs the fake client until its standard input or the server closes.
///
/// # Errors
/// When there is no such behaviour, the server cannot be started or goes away first, or the host breaks the protocol.
pub async fn run(behaviour: &str, server: &[String]) -> anyhow::Result<()> {
    let behaviour = behaviours::find(behaviour)?;
    let mut pipes = Pipes::open(server, behaviour.hooks)?;
    let service = tokio::time::timeout(STARTUP, start(pipes.rmcp_side))
        .await
        .context("the MCP server did not finish the handshake and the tool list in time")??;
    let mut conversation = Conversation {
        behaviour,
        service,
        to_server: pipes.to_server,
        to_host: tokio::io::stdout(),
        calls: JoinSet::new(),
        open: None,
        unanswered: VecDeque::new(),
        after_return: None,
        closed: false,
    };
    conversation
        .hold(&mut host_lines(), &mut pipes.requests)
        .await?;

    // Both writers to the server's input go, which tells it to end.
    let Conversation {
        service, to_server, ..
    } = conversation;
    let _ = service.cancel().await;
    pipes.upward.abort();
    drop(to_server);
    if tokio::time::timeout(GOODBYE, pipes.server.wait())
        .await
        .is_err()
    {
        pipes
            .server
            .kill()
            .await
            .context("cannot end the MCP server")?;
    }
    Ok(())
}

/// Handshake and tool list. `initialize` and its newest revision are named, because rmcp's defaults do not agree with
/// each other: the lifecycle is the legacy one, the version offered in it 2026-07-28, which has no `initialize`.
async fn start(
    transport: DuplexStream,
) -> anyhow::Result<RunningService<RoleClient, ClientConfig>> {
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(
        ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new()),
    );
    let me = Implementation::new("capmatrix-reference", env!("CARGO_PKG_VERSION"));
    let config = ClientConfig::new(capabilities, me)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let service = config
        .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize)
        .await
        .context("the handshake with the MCP server failed")?;
    service
        .list_all_tools()
        .await
        .context("tools/list failed")?;
    Ok(service)
}

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
fn host_lines() -> mpsc::Receiver<Vec<u8>> {
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

struct Conversation {
    behaviour: &'static Behaviour,
    service: RunningService<RoleClient, ClientConfig>,
    to_server: ToServer,
    to_host: tokio::io::Stdout,
    calls: JoinSet<Result<CallToolResult, ServiceError>>,
    /// The probe whose call is open.
    open: Option<String>,
    /// What was presented and not answered yet, oldest first.
    unanswered: VecDeque<Request>,
    /// What is to be done when the open call has come back, and for which request.
    after_return: Option<(Request, VecDeque<Step>)>,
    /// Whether the client itself has closed the channel.
    closed: bool,
}

impl Conversation {
    /// Holds the conversation until the host closes its end.
    async fn hold(
        &mut self,
        host: &mut mpsc::Receiver<Vec<u8>>,
        requests: &mut Requests,
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
                request = requests.recv(), if server_is_there => match request {
                    None => server_is_there = false,
                    Some(request) => {
                        let request = request.context("cannot read from the MCP server")?;
                        let steps = self.hooks().on_request(&request);
                        self.take(&request, steps.into()).await?;
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

    /// What applies to the call that is open: the behaviour's own hooks within their scope, and none beyond it.
    fn hooks(&self) -> Hooks {
        let own = self.behaviour.hooks;
        let open = self.open.as_deref();
        if own.scope == Scope::EveryCall || open == Some(self.behaviour.subject) {
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
            FromHost::Answer(answer) => match self.unanswered.pop_front() {
                Some(request) => {
                    let steps = self.hooks().on_answer(&request, answer.get());
                    self.take(&request, steps.into()).await
                }
                // The call came back while the host was answering.
                None => Ok(()),
            },
        }
    }

    /// Takes the steps for a request, up to one that must wait for the call to come back.
    async fn take(&mut self, request: &Request, mut steps: VecDeque<Step>) -> anyhow::Result<()> {
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Present => {
                    let shown = self.hooks().shown(request);
                    self.say("presented", &shown).await?;
                    self.unanswered.push_back(request.clone());
                }
                Step::Write(bytes) => self.write_to_server(&bytes).await?,
                Step::Pass(time) => tokio::time::sleep(time).await,
                Step::UntilReturned => {
                    self.after_return = Some((request.clone(), steps));
                    return Ok(());
                }
                Step::Close => {
                    self.closed = true;
                    self.to_server.lock().await.take();
                }
                Step::Die(death) => die(death)?,
            }
        }
        Ok(())
    }

    async fn call(&mut self, probe: String) -> anyhow::Result<()> {
        let mut arguments = JsonObject::new();
        arguments.insert("id".to_owned(), Value::from(probe.as_str()));
        self.open = Some(probe);
        if self.hooks().calls == Calls::InPretence {
            self.open = None;
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
        if let Some((request, steps)) = self.after_return.take() {
            self.take(&request, steps).await?;
        }
        self.open = None;
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

    async fn write_to_server(&self, bytes: &[u8]) -> anyhow::Result<()> {
        pipes::write_to_server(&self.to_server, bytes)
            .await
            .context("cannot write to the MCP server")
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
fn die(death: Death) -> io::Result<()> {
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

    #[tokio::test]
    async fn a_server_that_goes_away_ends_the_handshake() {
        let argv = ["sh", "-c", "read line"].map(str::to_owned);
        let pipes = Pipes::open(&argv, BEHAVES).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(10), start(pipes.rmcp_side)).await;
        assert!(matches!(ended, Ok(Err(_))));
    }
}

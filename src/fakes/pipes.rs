//! The pipes of the MCP server, with rmcp on one side and the conversation beside it.
//!
//! Owns the server's process and the way of every line. All go between the server and rmcp as they are, but for three:
//! `elicitation/create` and results that ask for input, which rmcp never sees; what a behaviour makes of rmcp's own
//! messages; and the replies to what rmcp did not send like that. It must not know what becomes of a request.

use std::collections::HashSet;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, PoisonError};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
    DuplexStream, ReadHalf, WriteHalf,
};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, mpsc};

use super::conversation::die;
use super::hooks::{Death, Hears, Hooks, OWN_ID, Request, SESSION_ID};
use super::rounds::{Asked, Calls, Round};
use crate::probe_server::stdio::MAX_LINE;

/// The server's process and the pumps between its pipes and rmcp.
pub(super) struct Pipes {
    pub(super) server: Child,
    pub(super) channel: Channel,
    pub(super) taken: Taken,
    pub(super) rmcp_side: DuplexStream,
    pub(super) upward: tokio::task::AbortHandle,
}

/// What was taken out of the server's output; closes when that does, after an error if reading failed.
pub(super) type Taken = mpsc::Receiver<io::Result<Asked>>;

/// Both ends of the stream, as far as they are written to. Each writes whole lines.
#[derive(Clone)]
pub(super) struct Channel {
    /// The server's input; none once it is closed.
    to_server: Arc<Mutex<Option<ChildStdin>>>,
    to_rmcp: Arc<Mutex<WriteHalf<DuplexStream>>>,
    calls: Arc<std::sync::Mutex<Calls>>,
    /// The ids, as JSON text, of requests that the server has cancelled.
    cancelled: Arc<std::sync::Mutex<HashSet<String>>>,
}

impl Channel {
    /// Writes to the server, unless its input is closed. `again` is the round that this follows, if it does.
    pub(super) async fn write(&self, bytes: &[u8], again: Option<&Round>) -> io::Result<()> {
        self.calls().sent(bytes, again);
        match &mut *self.to_server.lock().await {
            Some(input) => write(input, bytes).await,
            None => Ok(()),
        }
    }

    /// Closes the server's input.
    pub(super) async fn close(&self) {
        self.to_server.lock().await.take();
    }

    /// Hands rmcp a line as if the server had just written it.
    pub(super) async fn hand_on(&self, line: &[u8]) -> io::Result<()> {
        write(&mut *self.to_rmcp.lock().await, line).await
    }

    /// Whether the server has cancelled the request with this id.
    pub(super) fn is_cancelled(&self, id: &str) -> bool {
        let cancelled = self.cancelled.lock();
        cancelled
            .unwrap_or_else(PoisonError::into_inner)
            .contains(id)
    }

    /// Takes note of a notification that a request is cancelled.
    fn note_cancelled(&self, line: &[u8]) {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        if message["method"] == "notifications/cancelled" {
            let id = message["params"]["requestId"].to_string();
            let cancelled = self.cancelled.lock();
            cancelled.unwrap_or_else(PoisonError::into_inner).insert(id);
        }
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pipes {
    pub(super) fn open(server: &[String], hooks: Hooks) -> anyhow::Result<Pipes> {
        let [program, args @ ..] = server else {
            bail!("no server command; give it after `--`");
        };
        let mut server = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start the MCP server {program}"))?;
        let (Some(stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
            bail!("the MCP server has no pipes");
        };
        let (rmcp_side, our_side) = tokio::io::duplex(64 * 1024);
        let (from_rmcp, to_rmcp) = tokio::io::split(our_side);
        let channel = Channel {
            to_server: Arc::new(Mutex::new(Some(stdin))),
            to_rmcp: Arc::new(Mutex::new(to_rmcp)),
            calls: Arc::default(),
            cancelled: Arc::default(),
        };
        let (sender, taken) = mpsc::channel(16);
        let upward = tokio::spawn(pump_up(from_rmcp, channel.clone(), hooks)).abort_handle();
        tokio::spawn(pump_down(stdout, channel.clone(), sender, hooks));
        Ok(Pipes {
            server,
            channel,
            taken,
            rmcp_side,
            upward,
        })
    }
}

/// Asks a server to end, by a signal.
pub(super) fn terminate(server: &Child) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let id = server.id().and_then(|id| i32::try_from(id).ok());
    match id.and_then(Pid::from_raw) {
        Some(id) => Ok(kill_process(id, Signal::TERM)?),
        None => Ok(()),
    }
}

async fn pump_up(
    from_rmcp: ReadHalf<DuplexStream>,
    channel: Channel,
    hooks: Hooks,
) -> io::Result<()> {
    let mut reader = BufReader::new(from_rmcp);
    while let Some(line) = read_line(&mut reader).await? {
        match hooks.outgoing(&line) {
            Ok(bytes) => channel.write(&bytes, None).await?,
            Err(code) => die(Death::Exit(code))?,
        }
    }
    Ok(())
}

async fn pump_down(
    from_server: ChildStdout,
    channel: Channel,
    taken: mpsc::Sender<io::Result<Asked>>,
    hooks: Hooks,
) {
    let mut reader = BufReader::new(from_server);
    while let Some(line) = read_line(&mut reader).await.transpose() {
        let forwarded = match line {
            Ok(line) => forward(line, &channel, &taken, hooks).await,
            Err(error) => {
                let _ = taken.send(Err(error)).await;
                false
            }
        };
        if !forwarded {
            break;
        }
    }
    // Dropping one half of a split stream does not end it, and rmcp would wait for ever.
    let _ = channel.to_rmcp.lock().await.shutdown().await;
}

/// Sends a line of the server where it belongs. Gives whether there is anybody left to send to.
async fn forward(
    line: Vec<u8>,
    channel: &Channel,
    taken: &mpsc::Sender<io::Result<Asked>>,
    hooks: Hooks,
) -> bool {
    match hooks.on_line(&line) {
        Some(Hears::Writes(bytes)) => {
            let _ = channel.write(bytes, None).await;
        }
        Some(Hears::Instead(bytes)) => return channel.write(bytes, None).await.is_ok(),
        Some(Hears::Exits(code)) => {
            let _ = die(Death::Exit(code));
        }
        None => {}
    }
    channel.note_cancelled(&line);
    let round = channel.calls().asked(&line).map(Asked::Round);
    if let Some(asked) = elicitation(&line).map(Asked::Request).or(round) {
        return taken.send(Ok(asked)).await.is_ok();
    }
    let line = channel.calls().for_rmcp(line);
    match for_rmcp(line) {
        Some(line) => channel.hand_on(&line).await.is_ok(),
        None => true,
    }
}

/// The request in a line, if it is one for `elicitation/create`.
fn elicitation(line: &[u8]) -> Option<Request> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        method: String,
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }
    let message: Message<'_> = serde_json::from_slice(line).ok()?;
    (message.method == "elicitation/create").then(|| Request {
        id: message.id.get().to_owned(),
        params: message.params.map_or("null", RawValue::get).to_owned(),
    })
}

/// A line as rmcp is to see it; none if it is not for rmcp: the reply to a request that rmcp did not send.
fn for_rmcp(line: Vec<u8>) -> Option<Vec<u8>> {
    let Ok(mut message) = serde_json::from_slice::<Value>(&line) else {
        return Some(line);
    };
    if message.get("method").is_some() {
        return Some(line);
    }
    match message.get("id") {
        Some(Value::String(id)) if id.starts_with(OWN_ID) => None,
        Some(Value::String(id)) => {
            let Some(number) = id.strip_prefix(SESSION_ID) else {
                return Some(line);
            };
            message["id"] = serde_json::from_str(number).unwrap_or_default();
            Some(format!("{message}\n").into_bytes())
        }
        // No id of rmcp's is anything else.
        Some(Value::Number(_)) | None => Some(line),
        Some(_) => None,
    }
}

/// Writes and flushes.
pub(super) async fn write(writer: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

/// Reads one line with its line feed; `None` at end of input.
async fn read_line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let got = reader
        .take(MAX_LINE as u64)
        .read_until(b'\n', &mut line)
        .await?;
    if got == MAX_LINE && line.last() != Some(&b'\n') {
        return Err(io::Error::other(format!(
            "a line is longer than {MAX_LINE} bytes"
        )));
    }
    Ok((got > 0).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_elicitation_requests_are_taken_out() {
        let check = |line: &str, expect: Option<(&str, &str)>| {
            let got = elicitation(line.as_bytes());
            let got = got.as_ref().map(|r| (r.id.as_str(), r.params.as_str()));
            assert_eq!(got, expect, "{line}");
        };
        check(
            r#"{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"b": 1.0, "a":2}}"#,
            Some((r#""a""#, r#"{"b": 1.0, "a":2}"#)),
        );
        check(
            r#"{"id":3,"method":"elicitation/create"}"#,
            Some(("3", "null")),
        );
        check(
            r#"{"id":3,"method":"sampling/createMessage","params":{}}"#,
            None,
        );
        check(r#"{"method":"elicitation/create","params":{}}"#, None);
        check(r#"{"id":3,"result":{}}"#, None);
        check("no JSON", None);
    }

    #[test]
    fn rmcp_sees_replies_to_what_it_sent() {
        let check = |line: &str, expect: Option<&str>| {
            let got = for_rmcp(line.as_bytes().to_vec());
            assert_eq!(got.as_deref(), expect.map(str::as_bytes), "{line}");
        };
        let plain = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;
        check(plain, Some(plain));
        check(
            r#"{"jsonrpc":"2.0","id":"session-3","result":{}}"#,
            Some("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"),
        );
        check(r#"{"jsonrpc":"2.0","id":"own-1","result":{}}"#, None);
        check(r#"{"jsonrpc":"2.0","id":true,"result":{}}"#, None);
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
        check(notification, Some(notification));
        check("no JSON", Some("no JSON"));
    }
}

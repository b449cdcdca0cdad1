//! From stdio to streamable HTTP: the fakes speak to a server over either transport.
//!
//! Owns the client's side of the transport, and its faults: headers, sessions, streams and their resumption. It passes messages
//! on as they are, and must not know what they ask for.

mod exchange;
mod sse;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, bail};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdout};
use tokio::task::JoinSet;

use crate::names::did_you_mean;

/// What is wrong with it, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bends {
    /// Nothing.
    Nothing,
    /// It sends no session id.
    NoSession,
    /// It sends no protocol version in a header.
    NoVersion,
    /// It sends another protocol version in the header than the one that holds.
    OtherVersion,
    /// It says that it reads JSON only, and reads streams all the same.
    AcceptsJson,
    /// It lists the media types with parameters and in capitals.
    AcceptsWithParameters,
    /// It sends no `Mcp-Method`.
    NoMethod,
    /// It sends no `Mcp-Name`.
    NoName,
    /// It sends another `Mcp-Name` than the body has.
    OtherName,
    /// It encodes `Mcp-Name` although it need not.
    EncodedName,
    /// It asks for no stream to listen on.
    NeverListens,
    /// It ends when there is no stream to listen on.
    NeedsStream,
    /// It gives up when its session is gone.
    KeepsSession,
    /// It does not ask for the rest of a stream.
    NeverResumes,
    /// It does not ask again for what a stream lost.
    NeverRepeats,
    /// It ends at a comment in a stream.
    TripsOverComments,
    /// It ends at a stream that answers anything but a call.
    StreamsForCallsOnly,
    /// It never connects.
    NeverConnects,
    /// It connects and sends half a request.
    SendsHalf,
}

impl Bends {
    /// All, by the names that `capmatrix http-bridge` is given.
    pub const NAMES: [(&str, Bends); 19] = [
        ("nothing", Bends::Nothing),
        ("no-session", Bends::NoSession),
        ("no-version", Bends::NoVersion),
        ("other-version", Bends::OtherVersion),
        ("accepts-json", Bends::AcceptsJson),
        ("accepts-with-parameters", Bends::AcceptsWithParameters),
        ("no-method", Bends::NoMethod),
        ("no-name", Bends::NoName),
        ("other-name", Bends::OtherName),
        ("encoded-name", Bends::EncodedName),
        ("never-listens", Bends::NeverListens),
        ("needs-stream", Bends::NeedsStream),
        ("keeps-session", Bends::KeepsSession),
        ("never-resumes", Bends::NeverResumes),
        ("never-repeats", Bends::NeverRepeats),
        ("trips-over-comments", Bends::TripsOverComments),
        ("streams-for-calls-only", Bends::StreamsForCallsOnly),
        ("never-connects", Bends::NeverConnects),
        ("sends-half", Bends::SendsHalf),
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut names = Bends::NAMES.iter().filter(|(_, bends)| *bends == self);
        names.next().map_or("", |(name, _)| name)
    }

    fn find(name: &str) -> anyhow::Result<Bends> {
        let found = Bends::NAMES.iter().find(|(known, _)| *known == name);
        match found {
            Some((_, bends)) => Ok(*bends),
            None => {
                let known = Bends::NAMES.iter().map(|(known, _)| *known);
                bail!("no fault `{name}`; {}", did_you_mean(name, known))
            }
        }
    }
}

/// What the server said, which later requests go by.
#[derive(Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
    /// The client's `initialize`, for a new session.
    initialize: Vec<u8>,
}

/// One client of one endpoint.
struct Bridge {
    address: String,
    path: String,
    bends: Bends,
    session: Mutex<Session>,
    out: tokio::sync::Mutex<Stdout>,
}

/// Passes messages between the lines of standard input and output and the endpoint at `url`, until the input closes.
///
/// # Errors
/// When the URL is none of plain HTTP, there is no such fault, or the endpoint cannot be reached.
pub async fn run(url: &str, bends: &str) -> anyhow::Result<()> {
    let rest = url.strip_prefix("http://").context("not a URL of http")?;
    let (address, path) = rest.split_once('/').context("a URL without a path")?;
    let bridge = Arc::new(Bridge {
        address: address.to_owned(),
        path: format!("/{path}"),
        bends: Bends::find(bends)?,
        session: Mutex::default(),
        out: tokio::sync::Mutex::new(tokio::io::stdout()),
    });
    let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            line = lines.next_segment() => match line? {
                Some(line) => bridge.pass(line, &mut open).await?,
                None => break,
            },
            Some(ended) = open.join_next() => ended.context("a request broke")??,
        }
    }
    bridge.delete().await;
    Ok(())
}

impl Bridge {
    /// Sends a line of the client. What is to be answered by more than a word is waited for beside the rest.
    async fn pass(
        self: &Arc<Self>,
        line: Vec<u8>,
        open: &mut JoinSet<anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        let value: Value = serde_json::from_slice(&line).unwrap_or_default();
        let method = value["method"].as_str().unwrap_or_default().to_owned();
        let is_request = !method.is_empty() && value.get("id").is_some();
        if method == "initialize" {
            self.session().initialize.clone_from(&line);
        }
        if is_request && method != "initialize" {
            let bridge = Arc::clone(self);
            open.spawn(async move { bridge.exchange(line, value).await });
            return Ok(());
        }
        self.exchange(line, value).await?;
        if method == "notifications/initialized" && self.bends != Bends::NeverListens {
            let bridge = Arc::clone(self);
            open.spawn(async move { bridge.listen().await });
        }
        Ok(())
    }

    /// Gives the client a message.
    async fn tell(&self, message: &str) -> anyhow::Result<()> {
        let mut out = self.out.lock().await;
        out.write_all(message.as_bytes()).await?;
        out.write_all(b"\n").await?;
        out.flush().await?;
        Ok(())
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

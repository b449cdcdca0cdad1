//! One request of the client over HTTP, until its answer is there.
//!
//! Owns what a client does when the answer is not simply there: a new session for one that is gone, the rest of a stream that
//! broke, the request again where there is no rest to be had.

use std::future::pending;

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::sse::Reader;
use super::{Bends, Bridge};

const VERSION_MEMBER: &str = "io.modelcontextprotocol/protocolVersion";
const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// How a stream ended.
enum Ended {
    /// With the reply that was waited for, or with nothing to wait for.
    Whole,
    /// Before it, after an event with this id.
    After(String),
    /// Before it.
    Broken,
}

impl Bridge {
    /// Sends a message and gives the client what comes back.
    pub(super) async fn exchange(&self, line: Vec<u8>, value: Value) -> anyhow::Result<()> {
        let mut response = self.post(&line, &value).await?;
        let is_gone = response.status() == StatusCode::NOT_FOUND && self.session().id.is_some();
        if is_gone && self.bends != Bends::KeepsSession {
            self.begin_anew().await?;
            response = self.post(&line, &value).await?;
        }
        let id = value.get("id").filter(|_| value.get("method").is_some());
        if value["method"] == "initialize" {
            return self.begun(response).await;
        }
        if !is_stream(&response) {
            return self.whole(response, id).await;
        }
        if self.bends == Bends::StreamsForCallsOnly && value["method"] != "tools/call" {
            bail!("a stream in the place of an object");
        }
        match self.events(response, id).await? {
            Ended::Whole => Ok(()),
            Ended::After(event) if self.bends != Bends::NeverResumes => {
                let rest = self.get(Some(&event)).await?;
                self.events(rest, id).await?;
                Ok(())
            }
            Ended::Broken if self.bends != Bends::NeverRepeats => self.repeat(value).await,
            Ended::After(_) | Ended::Broken => self.lost(id).await,
        }
    }

    /// Sends a request once more, with an id of its own (2026-07-28 changelog: a broken stream loses the request).
    async fn repeat(&self, mut value: Value) -> anyhow::Result<()> {
        let asked = value["id"].take();
        value["id"] = json!("again");
        let line = serde_json::to_vec(&value)?;
        let response = self.post(&line, &value).await?;
        let mut body = response.into_body();
        let mut reader = Reader::default();
        while let Some(frame) = body.frame().await {
            let data = frame?.into_data().unwrap_or_default();
            for event in reader.read(&data) {
                let mut message: Value = serde_json::from_str(&event.data).unwrap_or_default();
                if message["id"] == value["id"] {
                    message["id"] = asked.clone();
                }
                self.tell(&message.to_string()).await?;
            }
        }
        Ok(())
    }

    /// Tells the client that there will be no answer.
    async fn lost(&self, id: Option<&Value>) -> anyhow::Result<()> {
        let Some(id) = id else { return Ok(()) };
        let error = json!({"code": -32000, "message": "no answer"});
        let reply = json!({"jsonrpc": "2.0", "id": id, "error": error});
        self.tell(&reply.to_string()).await
    }

    /// Begins a session in the place of one that is gone (2025-11-25 basic/transports Session Management).
    async fn begin_anew(&self) -> anyhow::Result<()> {
        let line = {
            let mut session = self.session();
            (session.id, session.version) = (None, None);
            session.initialize.clone()
        };
        let value: Value = serde_json::from_slice(&line)?;
        let response = self.post(&line, &value).await?;
        self.session_of(&response);
        let body = response.into_body().collect().await?.to_bytes();
        self.version_of(&body);
        let initialized: Value = serde_json::from_slice(INITIALIZED)?;
        self.post(INITIALIZED, &initialized).await?;
        Ok(())
    }

    /// The answer to the first `initialize`.
    async fn begun(&self, response: Response<Incoming>) -> anyhow::Result<()> {
        self.session_of(&response);
        let body = response.into_body().collect().await?.to_bytes();
        self.version_of(&body);
        self.tell(&String::from_utf8_lossy(&body)).await
    }

    fn session_of(&self, response: &Response<Incoming>) {
        let id = response.headers().get("mcp-session-id");
        self.session().id = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
    }

    fn version_of(&self, body: &[u8]) {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let version = value["result"]["protocolVersion"].as_str();
        self.session().version = version.map(str::to_owned);
    }

    /// An answer that is no stream.
    async fn whole(&self, response: Response<Incoming>, id: Option<&Value>) -> anyhow::Result<()> {
        let body = response.into_body().collect().await?.to_bytes();
        match body.is_empty() {
            true => self.lost(id).await,
            false => self.tell(&String::from_utf8_lossy(&body)).await,
        }
    }

    /// Gives the client the events of a stream, at most up to the reply to `id`.
    async fn events(
        &self,
        response: Response<Incoming>,
        id: Option<&Value>,
    ) -> anyhow::Result<Ended> {
        let mut body = response.into_body();
        let mut reader = Reader::default();
        let mut last = None;
        while let Some(Ok(frame)) = body.frame().await {
            let data = frame.into_data().unwrap_or_default();
            for event in reader.read(&data) {
                if event.has_comment && self.bends == Bends::TripsOverComments {
                    bail!("a comment in a stream");
                }
                last = event.id.or(last);
                if event.data.is_empty() {
                    continue;
                }
                self.tell(&event.data).await?;
                let message: Value = serde_json::from_str(&event.data).unwrap_or_default();
                let is_reply = message.get("method").is_none();
                if is_reply && id.is_some() && message.get("id") == id {
                    return Ok(Ended::Whole);
                }
            }
        }
        Ok(match last {
            _ if id.is_none() => Ended::Whole,
            Some(last) => Ended::After(last),
            None => Ended::Broken,
        })
    }

    /// Reads what the server says outside of calls.
    pub(super) async fn listen(&self) -> anyhow::Result<()> {
        let response = self.get(None).await?;
        if is_stream(&response) {
            self.events(response, None).await?;
        } else if self.bends == Bends::NeedsStream {
            bail!("no stream to listen on");
        }
        Ok(())
    }

    /// Ends the session.
    pub(super) async fn delete(&self) {
        if self.session().id.is_some() {
            let request = self.request(Method::DELETE);
            let _ = self.send(request, &[]).await;
        }
    }

    async fn get(&self, last_event: Option<&str>) -> anyhow::Result<Response<Incoming>> {
        let mut request = self
            .request(Method::GET)
            .header(ACCEPT, "text/event-stream");
        if let Some(id) = last_event {
            request = request.header("last-event-id", id);
        }
        self.send(request, &[]).await
    }

    async fn post(&self, line: &[u8], value: &Value) -> anyhow::Result<Response<Incoming>> {
        let accept = match self.bends {
            Bends::AcceptsJson => "application/json",
            Bends::AcceptsWithParameters => {
                "Text/Event-Stream;q=0.5, Application/JSON; charset=utf-8"
            }
            _ => "application/json, text/event-stream",
        };
        let mut request = self
            .request(Method::POST)
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, "application/json");
        let modern = value["params"]["_meta"][VERSION_MEMBER].as_str();
        if let Some(version) = modern {
            for (name, text) in self.repeated(version, value) {
                request = request.header(name, text);
            }
        }
        self.send(request, line).await
    }

    /// The headers that repeat what a request of the modern era says (2026-07-28 basic/transports/streamable-http).
    fn repeated(&self, version: &str, value: &Value) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        match self.bends {
            Bends::NoVersion => {}
            Bends::OtherVersion => headers.push((VERSION, "2025-11-25".to_owned())),
            _ => headers.push((VERSION, version.to_owned())),
        }
        let method = value["method"]
            .as_str()
            .filter(|_| self.bends != Bends::NoMethod);
        headers.extend(method.map(|method| ("mcp-method", method.to_owned())));
        if let Some(name) = value["params"]["name"].as_str() {
            let encoded = || format!("=?base64?{}?=", STANDARD.encode(name));
            match self.bends {
                Bends::NoName => {}
                Bends::OtherName => headers.push(("mcp-name", "other".to_owned())),
                Bends::EncodedName => headers.push(("mcp-name", encoded())),
                _ => headers.push(("mcp-name", name.to_owned())),
            }
        }
        headers
    }

    /// A request with the headers of the session, if there is one.
    fn request(&self, method: Method) -> hyper::http::request::Builder {
        let session = self.session();
        let mut request = Request::builder()
            .method(method)
            .uri(self.path.as_str())
            .header(HOST, self.address.as_str());
        if let Some(id) = session
            .id
            .as_ref()
            .filter(|_| self.bends != Bends::NoSession)
        {
            request = request.header("mcp-session-id", id);
        }
        match (&session.version, self.bends) {
            (None, _) | (_, Bends::NoVersion) => request,
            (Some(_), Bends::OtherVersion) => request.header(VERSION, "2025-03-26"),
            (Some(version), _) => request.header(VERSION, version),
        }
    }

    /// Sends a request on a connection of its own.
    async fn send(
        &self,
        request: hyper::http::request::Builder,
        body: &[u8],
    ) -> anyhow::Result<Response<Incoming>> {
        let request = request.body(Full::new(Bytes::copy_from_slice(body)))?;
        if self.bends == Bends::NeverConnects {
            return pending().await;
        }
        let stream = TcpStream::connect(&self.address).await;
        let mut stream = stream.context("cannot reach the MCP server")?;
        if self.bends == Bends::SendsHalf {
            stream
                .write_all(b"POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 900\r\n\r\n{")
                .await?;
            return pending().await;
        }
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender.send_request(request).await?)
    }
}

const VERSION: &str = "mcp-protocol-version";

fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

//! The probe server's streamable HTTP transport (2025-11-25 basic/transports, 2026-07-28 basic/transports/streamable-http).
//!
//! Owns the endpoint: connections, limits, and which conversation a request is of. Every byte is recorded below the HTTP
//! library. It must not know what a message asks for, but for what the transport itself goes by: `initialize` begins a session,
//! `server/discover` a conversation without one.

mod conversation;
mod routes;
mod tee;

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming as RequestBody};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinHandle, JoinSet};

use super::{Incoming, Options};
use crate::recording::line::{Line, Message, Sort};
use crate::recording::write::Recorder;
use crate::recording::{Dir, Event, Head};

use conversation::Conversations;
use routes::{Mode, Part};

/// The path of the endpoint.
pub const PATH: &str = "/mcp";

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// The longest body that is read.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// A running endpoint. Dropping it ends its connections and its conversations.
pub struct Running {
    accepts: JoinHandle<()>,
    conversations: Arc<Mutex<Conversations>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.accepts.abort();
        lock(&self.conversations).end();
    }
}

/// Serves on `listener`. The conversations are recorded in files of their own in `rec`, what belongs to none with `recorder`.
/// Needs a tokio runtime with IO.
#[must_use]
pub fn start(
    listener: TcpListener,
    options: Arc<Options>,
    rec: PathBuf,
    recorder: Recorder,
) -> Running {
    let conversations = Conversations::new(options, rec, recorder.clone());
    let conversations = Arc::new(Mutex::new(conversations));
    let endpoint = Endpoint {
        conversations: Arc::clone(&conversations),
        recorder,
    };
    Running {
        accepts: tokio::spawn(accept(listener, endpoint)),
        conversations,
    }
}

#[derive(Clone)]
struct Endpoint {
    conversations: Arc<Mutex<Conversations>>,
    recorder: Recorder,
}

async fn accept(listener: TcpListener, endpoint: Endpoint) {
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                number += 1;
                // A message and what follows it must not wait for each other.
                let _ = stream.set_nodelay(true);
                let tee = tee::Tee::new(stream, endpoint.recorder.clone(), number);
                let endpoint = endpoint.clone();
                connections.spawn(async move {
                    let service = service_fn(|request| endpoint.respond(request));
                    // How a connection ends is the client's business.
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(tee), service)
                        .await;
                });
            }
            Err(error) => {
                let message = format!("the probe server cannot accept a connection: {error}");
                endpoint.recorder.record(Event::HarnessError { message });
                return;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

impl Endpoint {
    async fn respond(&self, request: Request<RequestBody>) -> Result<Response<Answer>, Infallible> {
        let (parts, body) = request.into_parts();
        let mut head = Head {
            method: Some(parts.method.as_str().chars().take(20).collect()),
            ..Head::default()
        };
        for (name, value) in &parts.headers {
            head.keep(name.as_str(), value.as_bytes());
        }
        let path = parts.uri.path();
        if path != PATH {
            head.path = Some(path.chars().take(200).collect());
            return Ok(self.without_message(head, StatusCode::NOT_FOUND));
        }
        Ok(match parts.method {
            Method::POST => match http_body_util::Limited::new(body, MAX_BODY).collect().await {
                Ok(body) => self.post(head, body.to_bytes()).await,
                Err(_) => self.without_message(head, StatusCode::PAYLOAD_TOO_LARGE),
            },
            Method::GET => self.listen(head),
            Method::DELETE => self.delete(head),
            _ => self.without_message(head, StatusCode::METHOD_NOT_ALLOWED),
        })
    }

    /// Answers a request that brings no message, or none that can be given to a conversation.
    fn without_message(&self, head: Head, status: StatusCode) -> Response<Answer> {
        self.recorder.record(Event::Http {
            request: Box::new(head),
            answer: status.as_u16(),
        });
        let mut response = answer(status, Answer::Empty);
        if status == StatusCode::METHOD_NOT_ALLOWED {
            let allowed = HeaderValue::from_static("POST, GET, DELETE");
            response.headers_mut().insert(ALLOW, allowed);
        }
        response
    }

    /// Opens the stream on which a server may write outside any call.
    fn listen(&self, head: Head) -> Response<Answer> {
        let session = head.header(SESSION).map(str::to_owned);
        let opened = session.map(|id| lock(&self.conversations).listen(&id));
        match opened {
            Some(Some(parts)) => {
                let mut response = self.without_message(head, StatusCode::OK);
                *response.body_mut() = Answer::Events(parts);
                content_type(&mut response, EVENTS);
                response
            }
            Some(None) => self.without_message(head, StatusCode::NOT_FOUND),
            None => self.without_message(head, StatusCode::METHOD_NOT_ALLOWED),
        }
    }

    fn delete(&self, head: Head) -> Response<Answer> {
        let status = match head.header(SESSION) {
            Some(id) if lock(&self.conversations).delete(id) => StatusCode::OK,
            Some(_) => StatusCode::NOT_FOUND,
            None => StatusCode::METHOD_NOT_ALLOWED,
        };
        self.without_message(head, status)
    }

    async fn post(&self, head: Head, body: Bytes) -> Response<Answer> {
        let line = Line::read(&body);
        let messages = line.messages();
        let requests: Vec<&Message<'_>> = messages
            .iter()
            .filter(|message| matches!(message.sort(), Sort::Request { .. }))
            .collect();
        let asks = |method: &str| requests.iter().any(|it| it.value["method"] == method);
        let mode = match asks("tools/call") || asks("subscriptions/listen") || requests.len() > 1 {
            true => Mode::Events,
            false => Mode::Json,
        };
        let ids = requests
            .iter()
            .filter_map(|request| request.value.get("id"));
        let incoming = Incoming {
            line: body.to_vec(),
            head: Some(Box::new(head.clone())),
        };
        let taken = {
            let mut conversations = lock(&self.conversations);
            let begins = match (asks("initialize"), asks("server/discover")) {
                (true, _) => conversation::Begins::Session,
                (false, true) => conversation::Begins::Conversation,
                _ => conversation::Begins::Nothing,
            };
            let conversation = conversations.of(head.header(SESSION), begins);
            conversation.map(|it| (it.ask(ids, mode, incoming), it.session().map(str::to_owned)))
        };
        let Some((parts, session)) = taken else {
            return self.without_message(head, StatusCode::NOT_FOUND);
        };
        let mut response = match requests.is_empty() {
            true => answer(StatusCode::ACCEPTED, Answer::Empty),
            false => response(parts).await,
        };
        if asks("initialize")
            && let Some(session) = session.and_then(|id| HeaderValue::from_str(&id).ok())
        {
            response.headers_mut().insert(SESSION, session);
        }
        response
    }
}

/// The response that what comes first begins.
async fn response(mut parts: UnboundedReceiver<Part>) -> Response<Answer> {
    match parts.recv().await {
        Some(Part::Whole { status, body }) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = answer(status, Answer::Whole(Some(body.into())));
            content_type(&mut response, JSON);
            response
        }
        Some(Part::Opens) => {
            let mut response = answer(StatusCode::OK, Answer::Events(parts));
            content_type(&mut response, EVENTS);
            response
        }
        // The conversation is over.
        Some(Part::Event(_)) | None => answer(StatusCode::NOT_FOUND, Answer::Empty),
    }
}

fn answer(status: StatusCode, body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

fn content_type(response: &mut Response<Answer>, is: &'static str) {
    let value = HeaderValue::from_static(is);
    response.headers_mut().insert(CONTENT_TYPE, value);
}

/// The body of a response.
enum Answer {
    Empty,
    Whole(Option<Bytes>),
    /// Server-sent events until the sender is gone.
    Events(UnboundedReceiver<Part>),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match self.get_mut() {
            Answer::Empty => None,
            Answer::Whole(bytes) => bytes.take(),
            Answer::Events(parts) => loop {
                match parts.poll_recv(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(Part::Event(bytes))) => break Some(bytes),
                    Poll::Ready(Some(Part::Whole { .. } | Part::Opens)) => {}
                    Poll::Ready(None) => break None,
                }
            },
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Answer::Empty | Answer::Whole(None))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

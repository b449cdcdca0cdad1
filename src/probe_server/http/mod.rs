//! The probe server's streamable HTTP transport (2025-11-25 basic/transports, 2026-07-28 basic/transports/streamable-http).
//!
//! Owns the endpoint: connections, limits, and which conversation a request is of. Every byte is recorded below the HTTP
//! library. It must not know what a message asks for, but for what the transport itself goes by: `initialize` begins a session,
//! `server/discover` a conversation without one.

mod conversation;
mod fault;
mod routes;
mod tee;

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming as RequestBody};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use super::{Incoming, Options};
use crate::catalogue::script::{Fault, LISTEN, SLOW_MS};
use crate::loopback;
use crate::recording::line::{Line, Message, Sort};
use crate::recording::write::Recorder;
use crate::recording::{Dir, Event, Head};

use conversation::{Begins, Conversations};
use fault::Faulty;
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
    let faulty = Arc::new(Mutex::new(Faulty::of(&options)));
    let conversations = Conversations::new(options, rec, recorder.clone());
    let conversations = Arc::new(Mutex::new(conversations));
    let endpoint = Endpoint {
        conversations: Arc::clone(&conversations),
        faulty,
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
    faulty: Arc<Mutex<Option<Faulty>>>,
    recorder: Recorder,
}

async fn accept(listener: TcpListener, endpoint: Endpoint) {
    let mut number = 0;
    let recorder = endpoint.recorder.clone();
    let serve = |stream| {
        number += 1;
        endpoint.clone().serve(stream, number)
    };
    loopback::accept(listener, "the probe server", &recorder, serve).await;
}

impl Endpoint {
    /// Serves the connection with this number. How it ends is the client's business.
    async fn serve(self, stream: TcpStream, number: u64) {
        // A message and what follows it must not wait for each other.
        let _ = stream.set_nodelay(true);
        let tee = tee::Tee::new(stream, self.recorder.clone(), number);
        let service = service_fn(|request| self.respond(request));
        let _ = http1::Builder::new()
            .serve_connection(TokioIo::new(tee), service)
            .await;
    }

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
            probe: None,
        });
        refusal(status)
    }

    /// Opens the stream on which a server may write outside any call, or goes on with one that broke.
    fn listen(&self, head: Head) -> Response<Answer> {
        if let Some(faulty) = lock(&self.faulty).as_mut() {
            let rest = head.header("last-event-id").and_then(|id| faulty.rest(id));
            if let Some(parts) = rest {
                self.without_message(head, StatusCode::OK);
                return events(parts);
            }
            if faulty.strikes(LISTEN) {
                faulty.record(&self.recorder, &head, None, 405);
                return refusal(StatusCode::METHOD_NOT_ALLOWED);
            }
        }
        let session = head.header(SESSION).map(str::to_owned);
        match session.map(|id| lock(&self.conversations).listen(&id)) {
            Some(Some(parts)) => {
                self.without_message(head, StatusCode::OK);
                events(parts)
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
        match self.take(head, &body) {
            Taken::Answered(response) => response,
            Taken::Awaited {
                parts,
                session,
                is_slow,
            } => {
                if is_slow {
                    tokio::time::sleep(Duration::from_millis(SLOW_MS)).await;
                }
                let mut response = response(parts).await;
                if let Some(session) = session.and_then(|id| HeaderValue::from_str(&id).ok()) {
                    response.headers_mut().insert(SESSION, session);
                }
                response
            }
        }
    }

    /// Gives a conversation what the client sent.
    fn take(&self, head: Head, body: &[u8]) -> Taken {
        let line = Line::read(body);
        let is_request = |message: &&Message<'_>| matches!(message.sort(), Sort::Request { .. });
        let requests: Vec<&Message<'_>> = line.messages().iter().filter(is_request).collect();
        let asks = |method: &str| requests.iter().any(|it| it.value["method"] == method);
        let begins = match (asks("initialize"), asks("server/discover")) {
            (true, _) => Begins::Session,
            (false, true) => Begins::Conversation,
            (false, false) => Begins::Nothing,
        };
        let mut conversations = lock(&self.conversations);
        let Some(conversation) = conversations.of(head.header(SESSION), begins) else {
            return Taken::Answered(self.without_message(head, StatusCode::NOT_FOUND));
        };
        let is_long = asks("tools/call") || asks("subscriptions/listen") || requests.len() > 1;
        let usual = if is_long { Mode::Events } else { Mode::Json };
        let first = requests.first().map(|request| &request.value);
        let (mode, is_slow) = match self.strike(&conversation.recorder, &head, body, first) {
            Struck::Nothing => (usual, false),
            Struck::Mode(mode) => (mode, false),
            Struck::Late => (usual, true),
            Struck::Gone => {
                if let Some(session) = head.header(SESSION) {
                    conversations.delete(session);
                }
                return Taken::Answered(refusal(StatusCode::NOT_FOUND));
            }
            Struck::Response(response) => return Taken::Answered(response),
        };
        let session = conversation.session().map(str::to_owned);
        let ids = requests
            .iter()
            .filter_map(|request| request.value.get("id"));
        let incoming = Incoming {
            line: body.to_vec(),
            head: Some(Box::new(head)),
        };
        let parts = conversation.ask(ids, mode, incoming);
        match requests.is_empty() {
            true => Taken::Answered(answer(StatusCode::ACCEPTED, Answer::Empty)),
            false => Taken::Awaited {
                parts,
                session: session.filter(|_| begins == Begins::Session),
                is_slow,
            },
        }
    }

    /// Does with a request what the script says of it, if it says anything.
    fn strike(
        &self,
        recorder: &Recorder,
        head: &Head,
        body: &[u8],
        request: Option<&Value>,
    ) -> Struck {
        let mut faulty = lock(&self.faulty);
        let (Some(faulty), Some(request)) = (faulty.as_mut(), request) else {
            return Struck::Nothing;
        };
        if !faulty.strikes(request["method"].as_str().unwrap_or_default()) {
            return Struck::Nothing;
        }
        let status = match faulty.fault {
            Fault::Slow => return Struck::Late,
            Fault::AsEvents => return Struck::Mode(Mode::Events),
            Fault::Commented => return Struck::Mode(Mode::Commented),
            Fault::NotFound => StatusCode::NOT_FOUND,
            Fault::BadRequest => StatusCode::BAD_REQUEST,
            Fault::NoStream => StatusCode::METHOD_NOT_ALLOWED,
            Fault::Dropped | Fault::HalfOpen => StatusCode::OK,
        };
        faulty.record(recorder, head, Some(body), status.as_u16());
        match faulty.fault {
            Fault::NotFound => Struck::Gone,
            Fault::Dropped | Fault::HalfOpen => {
                let call = request["id"].clone();
                Struck::Response(events(faulty.stream(
                    call,
                    recorder.clone(),
                    head.header(SESSION).is_some(),
                )))
            }
            _ => Struck::Response(refusal(status)),
        }
    }
}

/// What the script does with a request.
enum Struck {
    Nothing,
    /// Another way to answer it.
    Mode(Mode),
    /// Its answer is kept back.
    Late,
    /// Its session is gone.
    Gone,
    Response(Response<Answer>),
}

/// What became of a request.
enum Taken {
    Answered(Response<Answer>),
    Awaited {
        parts: UnboundedReceiver<Part>,
        /// The id of the session that it begins.
        session: Option<String>,
        /// Whether the response is kept back.
        is_slow: bool,
    },
}

/// A response without a body that is no success.
fn refusal(status: StatusCode) -> Response<Answer> {
    let mut response = answer(status, Answer::Empty);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = HeaderValue::from_static("POST, GET, DELETE");
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

fn events(parts: UnboundedReceiver<Part>) -> Response<Answer> {
    let mut response = answer(StatusCode::OK, Answer::Events(parts));
    content_type(&mut response, EVENTS);
    response
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
        Some(Part::Opens) => events(parts),
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

#[cfg(test)]
mod tests;

//! The HTTP server of the scripted model: accepts connections, reads bounded requests, sends answers.
//!
//! Owns sockets, limits and nothing else: it must not know what a request says.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use crate::clients::Dialect;
use crate::loopback;
use crate::recording::write::Recorder;

use super::{Body, Endpoint, Script};

/// The longest request body that is read.
const MAX_BODY: usize = 32 * 1024 * 1024;
/// How much of a request that is refused, or never ends, is recorded.
const KEPT_OF_CUT: usize = 64 * 1024;

/// Serves the scripted model on `listener` until the future is dropped, which ends all its connections.
///
/// Never fails: an error of one connection ends that connection. Needs a tokio runtime with IO and time.
pub async fn serve(listener: TcpListener, dialect: Dialect, script: Script, recorder: Recorder) {
    let endpoint = Arc::new(Endpoint::new(dialect, script, recorder.clone()));
    let serve = |stream| connection(stream, Arc::clone(&endpoint));
    loopback::accept(listener, "the scripted model", &recorder, serve).await;
}

async fn connection(stream: TcpStream, endpoint: Arc<Endpoint>) {
    let service = service_fn(|request| respond(request, &endpoint));
    // How a connection ends is the client's business; what was asked and answered is recorded already.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn respond(
    request: Request<Incoming>,
    endpoint: &Endpoint,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let target = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let body = read_body(body).await;
    let answer = endpoint.handle(head.method.as_str(), target, body);
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// Reads a body up to the limit. One that announces more is not read at all.
async fn read_body(mut body: Incoming) -> Body {
    let mut bytes = Vec::new();
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Body::TooLarge(bytes);
    }
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            bytes.truncate(KEPT_OF_CUT);
            return Body::Broken(bytes);
        };
        let Ok(data) = frame.into_data() else {
            continue; // Trailers say nothing here.
        };
        if bytes.len() + data.len() > MAX_BODY {
            bytes.truncate(KEPT_OF_CUT);
            return Body::TooLarge(bytes);
        }
        bytes.extend_from_slice(&data);
    }
    Body::Whole(bytes)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::recording::{Entry, Event};

    async fn exchange(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        // The server may reset a connection whose body it did not read; what it said came before.
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    fn post(path: &str, body: &str) -> String {
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    }

    #[tokio::test(flavor = "current_thread")]
    async fn serves_over_http() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.jsonl");
        let recorder = Recorder::create(&file, "session").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script = super::super::script::example();
        let server = tokio::spawn(serve(
            listener,
            Dialect::AnthropicMessages,
            script,
            recorder,
        ));

        // A connection that says nothing must not keep others waiting.
        let mut idle = TcpStream::connect(address).await.unwrap();

        let body = r#"{"stream":true,"tools":[{"name":"mcp__probe__probe"}],"messages":[]}"#;
        let answer = exchange(address, &post("/v1/messages?beta=true", body)).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(
            answer.contains("content-type: text/event-stream\r\n"),
            "{answer}"
        );
        assert!(answer.contains("event: message_start\ndata: {"), "{answer}");
        assert!(
            answer.contains(r#""id":"toolu_0002","name":"mcp__probe__probe""#),
            "{answer}"
        );

        let head = "HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let answer = exchange(address, head).await;
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n"),
            "{answer}"
        );

        let large = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999\r\n\r\n";
        let answer = exchange(address, large).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        let answer = exchange(address, "nonsense\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");

        server.abort();
        let _ = server.await;
        let mut rest = Vec::new();
        let end = idle.read_to_end(&mut rest).await;
        assert!(
            matches!(end, Ok(0) | Err(_)),
            "a dropped server keeps no connection"
        );

        let events: Vec<Event> = std::fs::read_to_string(&file)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Entry>(line).unwrap().event)
            .collect();
        let requests: Vec<String> = events
            .iter()
            .filter_map(|event| match event {
                Event::ModelRequest { method, path, .. } => Some(format!("{method} {path}")),
                Event::Truncated { what } => Some(format!("truncated {what}")),
                _ => None,
            })
            .collect();
        let expect = [
            "POST /v1/messages?beta=true",
            "HEAD /",
            "POST /v1/messages",
            "truncated model request",
        ];
        assert_eq!(requests, expect);
        assert!(
            !events
                .iter()
                .any(|event| matches!(event, Event::HarnessError { .. }))
        );
    }
}

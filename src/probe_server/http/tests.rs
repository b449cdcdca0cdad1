//! The endpoint as a client sees it: bytes in, bytes out.

mod faults;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::super::tests::probe;
use super::*;
use crate::catalogue::{Probe, Way};
use crate::names::Revision;
use crate::recording::{Entry, read};

/// Whatever is asked, it is answered within this.
const PATIENCE: Duration = Duration::from_secs(20);

struct Endpoint {
    running: Running,
    port: u16,
    dir: tempfile::TempDir,
}

/// An endpoint for these probes in a revision.
async fn endpoint(probes: Vec<Probe>, revision: Revision) -> Endpoint {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let options = Options {
        probes,
        revision: Some(revision),
        answer_timeout: Duration::from_millis(300),
        back: None,
        held: None,
        stop_when_silent: true,
    };
    let recorder = Recorder::create(&dir.path().join("session.jsonl"), "session").unwrap();
    let rec = dir.path().to_owned();
    let running = start(listener, Arc::new(options), rec, recorder);
    Endpoint { running, port, dir }
}

/// What came back: the status, the headers, and the body without its chunks.
struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Endpoint {
    /// Sends a request and reads the response to its end.
    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let mut stream = self.connect(method, path, headers, body).await;
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
        read.expect("no answer in time").unwrap();
        got(&bytes)
    }

    async fn connect(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    async fn post(&self, session: Option<&str>, body: &str) -> Got {
        let headers: Vec<(&str, &str)> = session.map(|id| (SESSION, id)).into_iter().collect();
        self.send("POST", PATH, &headers, body).await
    }

    async fn initialize(&self) -> Got {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        self.post(None, &request.to_string()).await
    }

    /// Ends it, and gives what was recorded: by the endpoint itself, and by each conversation.
    async fn end(self) -> (Vec<Entry>, Vec<Vec<Entry>>) {
        let Endpoint { running, dir, .. } = self;
        drop(running);
        let parts = read::server_parts(dir.path()).unwrap();
        while !parts
            .iter()
            .all(|part| crate::recording::write::is_left(part))
        {
            tokio::task::yield_now().await;
        }
        let of = |path: &Path| read::entries(path).unwrap();
        let parts = parts.iter().map(|part| of(part)).collect();
        (of(&dir.path().join("session.jsonl")), parts)
    }
}

/// Reads until this was said.
async fn read_until(stream: &mut TcpStream, said: &str) -> Vec<u8> {
    let mut heard = Vec::new();
    let mut bytes = vec![0; 4096];
    while !String::from_utf8_lossy(&heard).contains(said) {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut bytes)).await;
        let read = read.expect("nothing came").unwrap();
        assert!(read > 0, "the stream ended before {said}");
        heard.extend_from_slice(&bytes[..read]);
    }
    heard
}

fn got(bytes: &[u8]) -> Got {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("a response");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = match head.contains("transfer-encoding: chunked") {
        false => body.to_owned(),
        true => {
            let mut lines = body.split("\r\n");
            let mut whole = String::new();
            while let (Some(_), Some(chunk)) = (lines.next(), lines.next()) {
                whole.push_str(chunk);
            }
            whole
        }
    };
    Got {
        status: status.expect("a status"),
        head: head.to_owned(),
        body,
    }
}

fn by(way: Way) -> Probe {
    Probe {
        way,
        ..probe("a/one", r#"{"z":1}"#)
    }
}

fn call(id: u64) -> String {
    let params = json!({"name": "probe", "arguments": {"id": "a/one"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// A request of the modern era.
fn modern(method: &str, mut params: Value, capabilities: &Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "n", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

const ONE: Option<&str> = Some("capmatrix-1");
const REPLY: &str = r#"{"jsonrpc":"2.0","id":1001,"result":{"action":"cancel"}}"#;

#[tokio::test]
async fn a_call_is_answered_on_its_own_stream() {
    let endpoint = endpoint(vec![by(Way::Plain)], Revision::V2025_11_25).await;
    let begun = endpoint.initialize().await;
    assert_eq!(begun.status, 200);
    assert!(
        begun.head.contains("mcp-session-id: capmatrix-1"),
        "{}",
        begun.head
    );
    assert!(
        begun.head.contains("content-type: application/json"),
        "{}",
        begun.head
    );
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let accepted = endpoint.post(ONE, initialized).await;
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    let call = call(2);
    let session = [(SESSION, "capmatrix-1")];
    let mut calling = endpoint.connect("POST", PATH, &session, &call).await;
    let mut bytes = read_until(&mut calling, "elicitation/create").await;
    assert_eq!(endpoint.post(ONE, REPLY).await.status, 202);
    calling.read_to_end(&mut bytes).await.unwrap();
    let called = got(&bytes);
    let asked = r#"{"jsonrpc":"2.0","id":1001,"method":"elicitation/create","params":{"z":1}}"#;
    let result = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a/one: the client replied"}]}}"#;
    let expect = format!("event: message\ndata: {asked}\n\nevent: message\ndata: {result}\n\n");
    assert_eq!(called.body, expect);
    assert!(
        called.head.contains("content-type: text/event-stream"),
        "{}",
        called.head
    );
    let (_, parts) = endpoint.end().await;
    assert_eq!(parts.len(), 1, "one session is one conversation");
}

#[tokio::test]
async fn what_is_no_message_of_a_session_is_refused() {
    let endpoint = endpoint(vec![by(Way::Plain)], Revision::V2025_11_25).await;
    let session = [(SESSION, "capmatrix-1")];
    let unknown = [(SESSION, "capmatrix-7")];
    let mut found = Vec::new();
    endpoint.initialize().await;
    for (method, path, headers) in [
        ("GET", "/.well-known/oauth-protected-resource", &[][..]),
        ("GET", PATH, &[]),
        ("GET", PATH, &unknown),
        ("PUT", PATH, &session),
        ("DELETE", PATH, &[]),
        ("DELETE", PATH, &unknown),
        ("DELETE", PATH, &session),
        ("DELETE", PATH, &session),
    ] {
        found.push(endpoint.send(method, path, headers, "").await.status);
    }
    assert_eq!(found, [404, 405, 404, 405, 405, 404, 200, 404]);
    assert_eq!(endpoint.post(ONE, &call(2)).await.status, 404, "it is gone");
    let again = endpoint.initialize().await;
    assert!(
        again.head.contains("mcp-session-id: capmatrix-2"),
        "{}",
        again.head
    );
    let (own, parts) = endpoint.end().await;
    assert_eq!(parts.len(), 2);
    let is_http = |entry: &&Entry| matches!(entry.event, Event::Http { .. });
    assert_eq!(own.iter().filter(is_http).count(), 9);
}

#[tokio::test]
async fn an_error_has_the_status_of_its_era() {
    let declared = json!({"elicitation": {}});
    let nothing = json!({});
    let discover = modern("server/discover", json!({}), &declared);
    let unknown = modern("no/such", json!({}), &declared);
    let params = json!({"name": "probe", "arguments": {"id": "a/one"}});
    let undeclared = modern("tools/call", params, &nothing);
    let mut probe = by(Way::Plain);
    probe.revisions.push(Revision::V2026_07_28);
    for (revision, body, status, text) in [
        (Revision::V2025_11_25, &discover, 400, "-32601"),
        (Revision::V2026_07_28, &discover, 200, "supportedVersions"),
        (Revision::V2026_07_28, &unknown, 404, "-32601"),
        (Revision::V2026_07_28, &undeclared, 400, "-32021"),
    ] {
        let endpoint = endpoint(vec![probe.clone()], revision).await;
        let got = endpoint.post(None, body).await;
        assert_eq!(got.status, status, "{body}");
        assert!(got.body.contains(text), "{}", got.body);
        assert!(
            got.head.contains("content-type: application/json"),
            "{}",
            got.head
        );
    }
}

#[tokio::test]
async fn a_request_after_a_call_needs_a_stream() {
    let probe = by(Way::AfterCall);
    let endpoint = endpoint(vec![probe], Revision::V2025_11_25).await;
    endpoint.initialize().await;
    let called = endpoint.post(ONE, &call(2)).await;
    assert!(
        called.body.contains("asked after this call"),
        "{}",
        called.body
    );
    let (_, parts) = endpoint.end().await;
    let not_asked = |entry: &&Entry| matches!(entry.event, Event::NotAsked { .. });
    assert_eq!(parts[0].iter().filter(not_asked).count(), 1);
}

#[tokio::test]
async fn a_stream_to_listen_on_carries_what_belongs_to_no_call() {
    let endpoint = endpoint(vec![by(Way::AfterCall)], Revision::V2025_11_25).await;
    endpoint.initialize().await;
    let mut listening = endpoint
        .connect("GET", PATH, &[(SESSION, "capmatrix-1")], "")
        .await;
    read_until(&mut listening, "\r\n\r\n").await;
    endpoint.post(ONE, &call(2)).await;
    read_until(&mut listening, "elicitation/create").await;
}

#[tokio::test]
async fn every_byte_is_recorded() {
    let endpoint = endpoint(vec![by(Way::Plain)], Revision::V2025_11_25).await;
    let body = call(2);
    let mut stream = endpoint
        .connect("POST", PATH, &[("x-own", "\u{fc}")], &body)
        .await;
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    let (own, _) = endpoint.end().await;
    let mut bytes: BTreeMap<bool, Vec<u8>> = BTreeMap::new();
    for entry in own {
        if let Event::Bytes {
            dir, bytes: some, ..
        } = entry.event
        {
            bytes
                .entry(dir == Dir::ClientToServer)
                .or_default()
                .extend(some.0);
        }
    }
    assert_eq!(bytes[&false], received);
    let sent = String::from_utf8(bytes[&true].clone()).unwrap();
    assert!(
        sent.starts_with("POST /mcp HTTP/1.1\r\n") && sent.ends_with(&body),
        "{sent}"
    );
    assert!(sent.contains("x-own: \u{fc}"), "{sent}");
}

#[tokio::test]
async fn a_request_that_never_ends_holds_nobody_up() {
    let endpoint = endpoint(vec![by(Way::Plain)], Revision::V2025_11_25).await;
    let mut half = TcpStream::connect(("127.0.0.1", endpoint.port))
        .await
        .unwrap();
    let head = "POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{\"jsonrpc\"";
    half.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(endpoint.initialize().await.status, 200);
    drop(half);
    assert_eq!(endpoint.initialize().await.status, 200);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_leave_the_endpoint_as_it_was(
        line in prop::sample::select(vec!["", "POST /mcp HTTP/1.1\r\n", "GET /mcp HTTP/1.1\r\nmcp-session-id: "]),
        noise in prop::collection::vec(any::<u8>(), 0..400),
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let endpoint = endpoint(vec![by(Way::Plain)], Revision::V2025_11_25).await;
            let mut stream = TcpStream::connect(("127.0.0.1", endpoint.port)).await.unwrap();
            let _ = stream.write_all(line.as_bytes()).await;
            let _ = stream.write_all(&noise).await;
            drop(stream);
            let head = format!("POST /mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let mut stream = TcpStream::connect(("127.0.0.1", endpoint.port)).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&body).await.unwrap();
            let mut answer = Vec::new();
            let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
            assert!(read.is_ok(), "no answer to a body of noise");
            assert_eq!(endpoint.initialize().await.status, 200);
        });
    }
}

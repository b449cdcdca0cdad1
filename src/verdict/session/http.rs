//! What is said of the headers that stand before a message, and of requests without one.
//!
//! Owns the rules of streamable HTTP for what a client sends. It must not know what the messages say beyond what a header has to
//! repeat of them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::remark::{Remark, broken};
use crate::names::Revision;
use crate::outcome::{McpLine, Messages};
use crate::recording::{Dir, Event, Head};
use crate::spec::Strength;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const VERSION_MEMBER: &str = "io.modelcontextprotocol/protocolVersion";

/// What a server that answered `initialize` said, by probe server.
type Sessions<'m> = BTreeMap<&'m str, Option<Revision>>;

/// Checks the head of every HTTP request of a recording.
pub(super) fn check(messages: &Messages<'_>) -> Vec<Remark> {
    let mut said = Vec::new();
    let mut sessions: Sessions<'_> = BTreeMap::new();
    for line in messages.iter() {
        let Some(message) = line.line.messages().first().map(|message| &message.value) else {
            continue;
        };
        match (line.dir, line.head) {
            (Dir::ServerToClient, _) => {
                if let Some(version) = message["result"]["protocolVersion"].as_str() {
                    sessions.insert(line.source, version.parse().ok());
                }
            }
            (Dir::ClientToServer, Some(head)) => {
                said.extend(of_message(&line, head, message, &sessions));
            }
            (Dir::ClientToServer, None) => {}
        }
    }
    let recording = messages.recording();
    let revision = recording.revision().filter(|revision| revision.is_legacy());
    for (at, entry) in recording.entries.iter().enumerate() {
        if let (Event::Http { request, probe, .. }, Some(revision)) = (&entry.event, revision)
            && request.path.is_none()
            && probe.is_none()
            // Clients ask for other things than the stream too, e.g. for how to log in.
            && request.header(SESSION).is_some()
        {
            said.extend(of_request(at + 2, request, revision));
        }
    }
    said
}

/// A POST with a message in it.
fn of_message(
    line: &McpLine<'_>,
    head: &Head,
    message: &Value,
    sessions: &Sessions<'_>,
) -> Vec<Remark> {
    let method = message["method"].as_str();
    let what = method.unwrap_or("a reply");
    let modern = message["params"]["_meta"].get(VERSION_MEMBER);
    let session = sessions.get(line.source);
    let mut said = Vec::new();
    let revision = match (modern, session) {
        (Some(_), _) => Revision::V2026_07_28,
        (None, Some(Some(revision))) => *revision,
        (None, _) => Revision::V2025_11_25,
    };
    let mut must = |section: &str, reason: String| {
        said.push(broken(
            line.number,
            Strength::Must,
            revision,
            section,
            reason,
        ));
    };
    if !accepts(head, &["application/json", "text/event-stream"]) {
        let section = match modern {
            Some(_) => "basic/transports/streamable-http Sending Messages",
            None => "basic/transports Sending Messages to the Server",
        };
        must(
            section,
            format!("{what}: Accept does not list both application/json and text/event-stream"),
        );
    }
    match (modern, session, method) {
        (Some(version), _, Some(method)) => {
            let version = version.as_str().unwrap_or_default();
            for (section, reason) in of_modern(head, version, method, &message["params"]) {
                must(section, format!("{what}: {reason}"));
            }
        }
        (None, Some(negotiated), _) if method != Some("initialize") => {
            if head.header(SESSION).is_none() {
                let section = "basic/transports Session Management";
                must(
                    section,
                    format!("{what}: no header {SESSION}, although the server gave one"),
                );
            }
            said.extend(
                negotiated
                    .and_then(|negotiated| legacy_version(line.number, what, head, negotiated)),
            );
        }
        _ => {}
    }
    said
}

/// A request without a message, in a session.
fn of_request(line: usize, head: &Head, revision: Revision) -> Vec<Remark> {
    let method = head.method.as_deref().unwrap_or_default();
    let mut said = Vec::new();
    if method == "GET" && !accepts(head, &["text/event-stream"]) {
        let section = "basic/transports Listening for Messages from the Server";
        let reason = "GET: Accept does not list text/event-stream".to_owned();
        said.push(broken(line, Strength::Must, revision, section, reason));
    }
    said.extend(legacy_version(line, method, head, revision));
    said
}

/// The header came with 2025-06-18.
fn legacy_version(line: usize, what: &str, head: &Head, negotiated: Revision) -> Option<Remark> {
    if negotiated < Revision::V2025_06_18 {
        return None;
    }
    let section = "basic/transports Protocol Version Header";
    match head.header(VERSION) {
        None => {
            let reason = format!("{what}: no header {VERSION}");
            Some(broken(line, Strength::Must, negotiated, section, reason))
        }
        Some(found) if found != negotiated.as_str() => {
            let reason = format!("{what}: {VERSION} is not the negotiated {negotiated}");
            Some(broken(line, Strength::Should, negotiated, section, reason))
        }
        Some(_) => None,
    }
}

/// What is wrong with the headers that repeat what a request of the modern era says: the section, and what.
fn of_modern(
    head: &Head,
    version: &str,
    method: &str,
    params: &Value,
) -> Vec<(&'static str, String)> {
    const VERSION_HEADER: &str = "basic/transports/streamable-http Protocol Version Header";
    const STANDARD_HEADERS: &str = "basic/transports/streamable-http Standard Request Headers";
    let name = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        _ => None,
    };
    let repeated = [
        (VERSION_HEADER, VERSION, Some(version)),
        (STANDARD_HEADERS, "mcp-method", Some(method)),
        (STANDARD_HEADERS, "mcp-name", name),
    ];
    let wrong = repeated
        .into_iter()
        .filter_map(|(section, header, expected)| {
            let expected = expected?;
            let reason = match head.header(header) {
                None => format!("no header {header}"),
                Some(found) if found == expected => return None,
                Some(found) if decoded(found).as_deref() == Some(expected) => return None,
                Some(_) => format!("{header} is not what the body says"),
            };
            Some((section, reason))
        });
    wrong.collect()
}

/// What cannot stand in a header goes as `=?base64?...?=` (2026-07-28 basic/transports/streamable-http Standard Request
/// Headers).
fn decoded(value: &str) -> Option<String> {
    let inner = value.strip_prefix("=?base64?")?.strip_suffix("?=")?;
    String::from_utf8(STANDARD.decode(inner).ok()?).ok()
}

/// Whether `Accept` lists these media types, whatever their parameters.
fn accepts(head: &Head, wanted: &[&str]) -> bool {
    let listed = head.header("accept").unwrap_or_default().to_lowercase();
    let listed: Vec<&str> = listed
        .split(',')
        .map(|one| one.split(';').next().unwrap_or_default().trim())
        .collect();
    wanted.iter().all(|one| listed.contains(one))
}

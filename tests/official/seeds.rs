//! Messages to start from: those of the catalogue of definitions, and those of ordinary sessions.
//!
//! Owns the messages of clients, of which the catalogue has none, and what is known beside a message: who wrote it and
//! what it answers.

use std::fs;
use std::path::PathBuf;

use capmatrix::names::Revision;
use capmatrix::recording::Dir;
use capmatrix::spec::Message;
use serde_json::{Value, json};

/// A message, and what must be known beside it.
#[derive(Debug, Clone)]
pub(crate) struct Seed {
    pub(crate) value: Value,
    pub(crate) direction: Dir,
    pub(crate) answers: Option<String>,
}

impl Seed {
    pub(crate) fn message(&self) -> Message<'_> {
        Message {
            value: &self.value,
            answers: self.answers.as_deref(),
            inputs: None,
        }
    }
}

/// All of a revision.
pub(crate) fn all(revision: Revision) -> Vec<Seed> {
    catalogue(revision)
        .into_iter()
        .chain(session(revision))
        .collect()
}

/// The messages of the catalogue, which are all a server's.
pub(crate) fn catalogue(revision: Revision) -> Vec<Seed> {
    let root = std::env::var_os("CAPMATRIX_SPEC_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/spec"),
        PathBuf::from,
    );
    let path = root.join("../catalogue/spec-probes.json");
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("the catalogue {} is needed here: {error}", path.display()));
    let catalogue: Value = serde_json::from_str(&text).expect("JSON");
    let probes = catalogue["probes"].as_array().expect("probes");
    let messages = probes
        .iter()
        .flat_map(|probe| match &probe["wire"][revision.as_str()] {
            Value::Array(messages) => messages.clone(),
            Value::Null => Vec::new(),
            one => vec![one.clone()],
        });
    let seeds = messages.map(|mut value| {
        fill(&mut value);
        let answers = value.get("result").and_then(answered_by).map(str::to_owned);
        Seed {
            value,
            direction: Dir::ServerToClient,
            answers,
        }
    });
    seeds.collect()
}

/// Puts something into the places that a running server would fill.
fn fill(value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("@@") => {
            *value = match text.as_str() {
                "@@CLIENT_REQUEST_ID" | "@@LISTEN_ID" => json!(7),
                "@@PROGRESS_TOKEN" => json!("token-1"),
                "@@CLIENT_VERSION" => json!("2025-11-25"),
                _ => json!("filled in"),
            };
        }
        Value::Array(items) => items.iter_mut().for_each(fill),
        Value::Object(members) => members.values_mut().for_each(fill),
        _ => {}
    }
}

/// The method of the request that a result of a server answers, by its members.
fn answered_by(result: &Value) -> Option<&'static str> {
    let by_member = [
        ("protocolVersion", "initialize"),
        ("supportedVersions", "server/discover"),
        ("tools", "tools/list"),
        ("inputRequests", "tools/call"),
        ("requestState", "tools/call"),
        ("task", "tools/call"),
        ("taskId", "tools/call"),
        ("content", "tools/call"),
    ];
    by_member
        .iter()
        .find(|(member, _)| result.get(member).is_some())
        .map(|(_, method)| *method)
}

fn seed(direction: Dir, answers: Option<&str>, value: Value) -> Seed {
    Seed {
        value,
        direction,
        answers: answers.map(str::to_owned),
    }
}

fn request(direction: Dir, method: &str, params: &Value) -> Seed {
    let value = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    seed(direction, None, value)
}

fn notification(direction: Dir, method: &str, params: &Value) -> Seed {
    let value = json!({"jsonrpc": "2.0", "method": method, "params": params});
    seed(direction, None, value)
}

fn result(direction: Dir, answers: &str, result: &Value) -> Seed {
    let value = json!({"jsonrpc": "2.0", "id": "a", "result": result});
    seed(direction, Some(answers), value)
}

fn error(direction: Dir) -> Seed {
    let error = json!({"code": -32602, "message": "no", "data": {"why": "x"}});
    seed(
        direction,
        None,
        json!({"jsonrpc": "2.0", "id": 3, "error": error}),
    )
}

/// The messages of an ordinary session, all valid.
pub(crate) fn session(revision: Revision) -> Vec<Seed> {
    if revision.is_legacy() {
        legacy(revision)
    } else {
        modern()
    }
}

fn legacy(revision: Revision) -> Vec<Seed> {
    use Dir::{ClientToServer as C, ServerToClient as S};
    let me = json!({"name": "acme", "title": "Acme", "version": "1.0.0"});
    let capabilities = json!({
        "roots": {"listChanged": true},
        "sampling": {},
        "elicitation": {"form": {}, "url": {}},
        "experimental": {"x": {"ratio": 0.5}},
        "com.example/any": 1,
    });
    let hello = json!({"protocolVersion": revision.as_str(), "capabilities": capabilities, "clientInfo": me});
    let welcome = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": {"tools": {"listChanged": true}, "logging": {}},
        "serverInfo": {"name": "probe", "version": "1"},
        "instructions": "none",
    });
    let tool = json!({
        "name": "probe",
        "description": "asks",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        "annotations": {"readOnlyHint": true},
    });
    let text = json!({"type": "text", "text": "hello", "annotations": {"audience": ["user"], "priority": 0.5}});
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let resource = json!({"type": "resource", "resource": {"uri": "file:///a", "text": "a"}});
    let call = json!({"name": "probe", "arguments": {"id": "a"}, "_meta": {"progressToken": 1}});
    let progress = json!({"progressToken": "t", "progress": 0.5, "total": 1});
    let sampling = json!({
        "messages": [{"role": "user", "content": text}],
        "maxTokens": 10,
        "temperature": 0.5,
        "modelPreferences": {"hints": [{"name": "any"}], "costPriority": 0.5},
        "includeContext": "none",
        "stopSequences": ["x"],
    });
    let mut seeds = vec![
        request(C, "initialize", &hello),
        result(S, "initialize", &welcome),
        seed(
            C,
            None,
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ),
        request(C, "tools/list", &json!({"cursor": "next"})),
        result(
            S,
            "tools/list",
            &json!({"tools": [tool], "nextCursor": "next"}),
        ),
        request(C, "tools/call", &call),
        result(
            S,
            "tools/call",
            &json!({"content": [text, image, resource], "isError": false}),
        ),
        seed(
            C,
            None,
            json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}),
        ),
        result(C, "ping", &json!({})),
        error(C),
        error(S),
        notification(C, "notifications/progress", &progress),
        notification(
            C,
            "notifications/cancelled",
            &json!({"requestId": 1, "reason": "enough"}),
        ),
        notification(
            C,
            "notifications/roots/list_changed",
            &json!({"_meta": {"a/b": 1}}),
        ),
        notification(
            S,
            "notifications/message",
            &json!({"level": "info", "data": null, "logger": "x"}),
        ),
        notification(S, "notifications/tools/list_changed", &json!({})),
        notification(C, "notifications/unknown", &json!({"a": 1})),
        request(C, "unknown/method", &json!({"a": 1})),
        request(C, "prompts/list", &json!({})),
        request(
            C,
            "prompts/get",
            &json!({"name": "p", "arguments": {"a": "b"}}),
        ),
        result(
            S,
            "prompts/get",
            &json!({"messages": [{"role": "assistant", "content": text}]}),
        ),
        request(C, "resources/list", &json!({"cursor": "x"})),
        request(C, "resources/read", &json!({"uri": "file:///a"})),
        result(
            S,
            "resources/read",
            &json!({"contents": [{"uri": "file:///a", "blob": "AAAA"}]}),
        ),
        request(C, "logging/setLevel", &json!({"level": "debug"})),
        request(
            C,
            "completion/complete",
            &json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}}),
        ),
        request(S, "roots/list", &json!({"_meta": {"progressToken": 2}})),
        result(
            C,
            "roots/list",
            &json!({"roots": [{"uri": "file:///a", "name": "a"}]}),
        ),
        request(S, "sampling/createMessage", &sampling),
        result(
            C,
            "sampling/createMessage",
            &json!({"role": "assistant", "content": text, "model": "m", "stopReason": "endTurn"}),
        ),
    ];
    if revision >= Revision::V2025_06_18 {
        seeds.extend(elicitation(revision));
    }
    seeds
}

fn elicitation(revision: Revision) -> Vec<Seed> {
    use Dir::{ClientToServer as C, ServerToClient as S};
    let mut properties = json!({
        "text": {"type": "string", "title": "T", "minLength": 1, "maxLength": 9, "format": "email"},
        "count": {"type": "integer", "minimum": 0, "maximum": 10},
        "ratio": {"type": "number", "description": "a share", "minimum": 0.5},
        "sure": {"type": "boolean", "default": false},
        "one": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
    });
    let mut content = json!({"text": "x", "count": 3, "ratio": 1.5, "sure": true, "one": "a"});
    if revision >= Revision::V2025_11_25 {
        properties["many"] =
            json!({"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": ["a"]});
        properties["titled"] = json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]});
        properties["both"] =
            json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}});
        content["many"] = json!(["a"]);
    }
    let schema =
        json!({"type": "object", "title": "T", "properties": properties, "required": ["text"]});
    let form = json!({"message": "please", "requestedSchema": schema});
    let accepted = json!({"action": "accept", "content": content, "_meta": {"a/b": 1}});
    let mut seeds = vec![
        request(S, "elicitation/create", &form),
        result(C, "elicitation/create", &accepted),
        result(C, "elicitation/create", &json!({"action": "decline"})),
        result(
            C,
            "elicitation/create",
            &json!({"action": "cancel", "content": {}}),
        ),
    ];
    if revision >= Revision::V2025_11_25 {
        let url = json!({"mode": "url", "message": "go", "url": "https://a.example", "elicitationId": "e"});
        seeds.push(request(S, "elicitation/create", &url));
        seeds.push(notification(
            S,
            "notifications/elicitation/complete",
            &json!({"elicitationId": "e"}),
        ));
        let task = json!({"taskId": "t", "status": "working", "ttl": null, "createdAt": "now", "lastUpdatedAt": "now"});
        seeds.push(notification(C, "notifications/tasks/status", &task));
        seeds.push(result(C, "elicitation/create", &json!({"task": task})));
        seeds.push(request(C, "tasks/get", &json!({"taskId": "t"})));
        seeds.push(result(S, "tasks/get", &task));
    }
    seeds
}

fn modern() -> Vec<Seed> {
    use Dir::{ClientToServer as C, ServerToClient as S};
    let capabilities =
        json!({"elicitation": {"form": {}}, "experimental": {"x": {"ratio": 0.5, "none": null}}});
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "acme", "version": "1.0.0"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "progressToken": 1,
    });
    let form = json!({"mode": "form", "message": "please", "requestedSchema": {
        "type": "object", "properties": {"v": {"type": "number", "default": 0.5}}, "required": ["v"],
    }});
    let inputs = json!({
        "form": {"method": "elicitation/create", "params": form},
        "url": {"method": "elicitation/create", "params": {"mode": "url", "message": "go", "url": "https://a.example"}},
        "roots": {"method": "roots/list"},
    });
    let answers = json!({
        "form": {"action": "accept", "content": {"v": 1.5}},
        "roots": {"roots": [{"uri": "file:///a"}]},
    });
    let again = json!({
        "name": "probe", "arguments": {}, "_meta": meta, "inputResponses": answers, "requestState": "s",
    });
    let welcome = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "ttlMs": 0, "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "probe", "version": "1"}},
    });
    let tool = json!({"name": "probe", "inputSchema": {"type": "object"}});
    let tools =
        json!({"resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private"});
    let content = json!([{"type": "text", "text": "hello"}]);
    vec![
        request(C, "server/discover", &json!({"_meta": meta})),
        result(S, "server/discover", &welcome),
        request(C, "tools/list", &json!({"_meta": meta, "cursor": "x"})),
        result(S, "tools/list", &tools),
        request(
            C,
            "tools/call",
            &json!({"name": "probe", "arguments": {"id": "a"}, "_meta": meta}),
        ),
        result(
            S,
            "tools/call",
            &json!({"resultType": "input_required", "inputRequests": inputs, "requestState": "s"}),
        ),
        request(C, "tools/call", &again),
        result(
            S,
            "tools/call",
            &json!({"resultType": "complete", "content": content}),
        ),
        request(
            C,
            "subscriptions/listen",
            &json!({"_meta": meta, "notifications": {"toolsListChanged": true}}),
        ),
        notification(C, "notifications/cancelled", &json!({"requestId": 1})),
        notification(
            S,
            "notifications/progress",
            &json!({"progressToken": 1, "progress": 0.5}),
        ),
        error(S),
    ]
}

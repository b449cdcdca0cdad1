//! Test support of the pure stages: recordings of a few lines, and a generator of hostile ones.
//!
//! Owns no expectation. The builder writes what the supervisor and the probe server would have recorded.

mod lines;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::names::{ProbeId, Target};
use crate::recording::{
    AnsweredBy, AskedBy, Dir, End, Entry, Event, FORMAT, Head, Header, HostDir, Isolation,
    Recording, Wire,
};

pub(crate) use lines::{extreme_line, hostile_line};

/// The id of a probe.
pub(crate) fn id(text: &str) -> ProbeId {
    ProbeId(text.to_owned())
}

/// A header whose session carries `probes`.
pub(crate) fn header(probes: &[&str]) -> Header {
    Header {
        format: FORMAT,
        capmatrix: "0.0.0".to_owned(),
        target: Target {
            client: "acme".to_owned(),
            version: "1.0.0".to_owned(),
            surface: "host".to_owned(),
        },
        revision: None,
        script: None,
        digest: String::new(),
        platform: "linux-x86_64".to_owned(),
        isolation: Isolation::Namespace,
        settings: std::collections::BTreeMap::new(),
        probes: probes.iter().copied().map(id).collect(),
        cells: probes.iter().copied().map(id).collect(),
        note: None,
        asked_by: AskedBy::Host,
        answered_by: AnsweredBy::Driver,
    }
}

/// A recording that grows line by line; every entry is 10 microseconds after the one before.
#[derive(Clone)]
pub(crate) struct Script {
    recording: Recording,
    server: String,
}

impl Script {
    /// A session that carries `probes`; the client is started (line 2).
    pub(crate) fn new(probes: &[&str]) -> Script {
        let recording = Recording {
            header: header(probes),
            entries: Vec::new(),
            end: Some(End::Finished),
        };
        let server = "server-1".to_owned();
        let argv = vec!["acme".to_owned()];
        Script { recording, server }.event(Event::ClientStarted { argv })
    }

    /// The same, on a surface where a model must be offered the tool before it is called.
    pub(crate) fn with_model(mut self) -> Script {
        self.recording.header.asked_by = AskedBy::Model;
        self
    }

    /// One entry of the supervisor.
    pub(crate) fn event(self, event: Event) -> Script {
        self.entry("session", event)
    }

    /// One entry of the probe server that is spoken to.
    pub(crate) fn at_server(self, event: Event) -> Script {
        let source = self.server.clone();
        self.entry(&source, event)
    }

    fn entry(mut self, source: &str, event: Event) -> Script {
        self.recording.entries.push(Entry {
            t_us: 10 * (self.recording.entries.len() as u64 + 1),
            source: source.to_owned(),
            event,
        });
        self
    }

    /// The probe server that the lines after this one are of.
    pub(crate) fn server(mut self, server: &str) -> Script {
        self.server = server.to_owned();
        self
    }

    fn mcp(self, dir: Dir, line: &[u8], probe: Option<&str>) -> Script {
        self.at_server(Event::Mcp {
            dir,
            line: Wire(line.to_vec()),
            head: None,
            probe: probe.map(id),
        })
    }

    /// A line that the client wrote.
    pub(crate) fn client(self, line: impl AsRef<[u8]>) -> Script {
        self.mcp(Dir::ClientToServer, line.as_ref(), None)
    }

    /// A message of the probe server that is no stimulus.
    pub(crate) fn said(self, message: &Value) -> Script {
        self.mcp(Dir::ServerToClient, message.to_string().as_bytes(), None)
    }

    /// `initialize` and its answer: 2 lines.
    pub(crate) fn initialize(self) -> Script {
        self.client(request(json!("init"), "initialize", &handshake()))
            .said(&reply(json!("init"), welcome()))
    }

    /// `tools/list` and its answer: 2 lines.
    pub(crate) fn list(self) -> Script {
        self.client(request(json!("list"), "tools/list", &json!({})))
            .said(&reply(json!("list"), json!({"tools": []})))
    }

    /// The client calls the tool for `probe`.
    pub(crate) fn call(self, probe: &str) -> Script {
        let params = json!({"name": "probe", "arguments": {"id": probe}});
        self.client(request(
            json!(format!("call-{probe}")),
            "tools/call",
            &params,
        ))
    }

    /// A line that the server writes for a probe.
    pub(crate) fn stimulus(self, probe: &str, line: &str) -> Script {
        self.mcp(Dir::ServerToClient, line.as_bytes(), Some(probe))
    }

    /// The stimulus of `probe`, with the request id `number`.
    pub(crate) fn send(self, probe: &str, number: u64) -> Script {
        self.send_with(probe, number, &form())
    }

    /// As [`Script::send`], with params of its own.
    pub(crate) fn send_with(self, probe: &str, number: u64, params: &Value) -> Script {
        let line = request(json!(number), "elicitation/create", params);
        self.mcp(Dir::ServerToClient, line.as_bytes(), Some(probe))
    }

    /// The client replies to request `number`.
    pub(crate) fn reply(self, number: u64, result: Value) -> Script {
        let line = reply(json!(number), result).to_string();
        self.client(line)
    }

    /// The client presents the request.
    pub(crate) fn presented(self, probe: &str, params: Value) -> Script {
        let probe = id(probe);
        self.event(Event::Presented { probe, params })
    }

    /// The driver answers it.
    pub(crate) fn answer(self, probe: &str, answer: Value) -> Script {
        let probe = id(probe);
        self.event(Event::AnswerGiven { probe, answer })
    }

    /// No reply came.
    pub(crate) fn no_reply(self, probe: &str) -> Script {
        let probe = id(probe);
        self.at_server(Event::NoReply {
            probe,
            after_ms: 500,
        })
    }

    /// The probe is over and its tool call is answered: 2 lines.
    pub(crate) fn done(self, probe: &str) -> Script {
        let result = json!({"content": [{"type": "text", "text": format!("{probe}: done")}]});
        self.at_server(Event::ProbeDone { probe: id(probe) })
            .said(&reply(json!(format!("call-{probe}")), result))
    }

    /// The client's process ends by itself.
    pub(crate) fn exit(self, code: Option<i32>, signal: Option<i32>) -> Script {
        self.event(Event::Exit {
            code,
            signal,
            killed: false,
        })
    }

    /// The whole recording, with another end.
    pub(crate) fn end(mut self, end: Option<End>) -> Recording {
        self.recording.end = end;
        self.recording
    }

    /// The whole recording.
    pub(crate) fn finish(self) -> Recording {
        self.recording
    }
}

/// The params of `initialize`.
pub(crate) fn handshake() -> Value {
    let me = json!({"name": "acme", "version": "1.0.0"});
    json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": me})
}

/// The result of `initialize`.
pub(crate) fn welcome() -> Value {
    let me = json!({"name": "probe", "version": "1.0.0"});
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": me})
}

/// The params of the plainest form.
pub(crate) fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]});
    json!({"mode": "form", "message": "plain", "requestedSchema": schema})
}

/// The text of a JSON-RPC request.
pub(crate) fn request(id: Value, method: &str, params: &Value) -> String {
    let mut message = json!({"jsonrpc": "2.0", "id": null, "method": method, "params": params});
    message["id"] = id;
    message.to_string()
}

/// A JSON-RPC result.
pub(crate) fn reply(id: Value, result: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0"});
    message["id"] = id;
    message["result"] = result;
    message
}

/// A log line of a hostile client.
fn hostile_text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "\u{1b}[31mred\u{1b}[0m",
        "2026-01-01T10:00:00.123Z",
        "\u{1b}",
        "\u{1b}[",
        "a\tb",
        "\0",
        "id=7",
        "xid=a=1",
        "0b0b0b0b-1111-2222-3333-444444444444",
        "(0b0b0b0b-1111-2222-3333-444444444444),",
        "/0b0b0b0b-1111-2222-3333-444444444444",
        "sessionId=127.0.0.1:1",
        "(/home/x",
        "at=/tmp/x",
        "a: done",
        "b: x\r",
        "é",
        " ",
        "\n",
        "2026-01-01Téééééé",
    ]);
    prop::collection::vec(words, 0..8).prop_map(|words| words.join(" "))
}

/// Any head of a request.
fn head() -> impl Strategy<Value = Box<Head>> {
    let method = prop::sample::select(vec!["GET", "POST", "DELETE", ""]);
    let name = prop::sample::select(vec![
        "accept",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
    ]);
    let headers = prop::collection::vec((name, hostile_text()), 0..4);
    (method, headers).prop_map(|(method, headers)| {
        let mut head = Head {
            method: Some(method.to_owned()),
            ..Head::default()
        };
        for (name, value) in headers {
            head.keep(name, value.as_bytes());
        }
        Box::new(head)
    })
}

/// Any event, for any of the probes `a`, `b`, `c` and one that no header names.
fn event() -> impl Strategy<Value = Event> {
    let probe = || prop::sample::select(vec!["a", "b", "c", "stranger"]).prop_map(id);
    let value = || {
        prop::sample::select(vec![
            Value::Null,
            json!([]),
            json!("x"),
            form(),
            json!({"action": "accept", "content": {"v": 3}}),
            json!({"message": {"deep": [1.5, {"_meta": 1}]}, "_meta": {"a": 1}}),
            json!({"_meta": []}),
        ])
    };
    let line = || hostile_line().prop_map(Wire);
    let called = prop::sample::select(vec![json!(1), json!(2), json!("call-a"), json!(null)]);
    prop_oneof![
        12 => (line(), prop::option::of(head()))
            .prop_map(|(line, head)| Event::Mcp { dir: Dir::ClientToServer, line, head, probe: None }),
        1 => (head(), prop::option::of(probe()))
            .prop_map(|(request, probe)| Event::Http { request, answer: 404, probe }),
        1 => line().prop_map(|bytes| Event::Bytes { dir: Dir::ClientToServer, connection: 1, bytes }),
        2 => called.prop_map(|id| {
            let line = Wire::text(reply(id, json!({"protocolVersion": "2025-11-25"})).to_string());
            Event::Mcp { dir: Dir::ServerToClient, line, head: None, probe: None }
        }),
        1 => probe().prop_map(|probe| Event::NotDeclared { probe, needs: String::new() }),
        1 => probe().prop_map(|probe| Event::NotAsked { probe, reason: "no\nreason".to_owned() }),
        1 => probe().prop_map(|probe| Event::NoReply { probe, after_ms: u64::MAX }),
        2 => probe().prop_map(|probe| Event::ProbeDone { probe }),
        1 => probe().prop_map(|probe| Event::Called { probe }),
        1 => probe().prop_map(|probe| Event::CallReturned { probe }),
        2 => (probe(), value()).prop_map(|(probe, params)| Event::Presented { probe, params }),
        2 => (probe(), value()).prop_map(|(probe, answer)| Event::AnswerGiven { probe, answer }),
        1 => (probe(), hostile_text()).prop_map(|(probe, text)| Event::ToolResult { probe, text }),
        1 => probe().prop_map(|probe| Event::ToolCalled { probe }),
        2 => (prop::option::of(probe()), hostile_text())
            .prop_map(|(probe, text)| Event::Stderr { line: Wire::text(text), probe }),
        1 => line().prop_map(|line| Event::Host { dir: HostDir::FromClient, line }),
        1 => line().prop_map(|line| Event::Stdout { line }),
        1 => line().prop_map(|body| Event::ModelRequest { method: "POST".into(), path: "/".into(), body }),
        1 => any::<bool>().prop_map(|deferred| Event::ToolOffered { name: "probe".into(), deferred }),
        1 => (prop::option::of(any::<i32>()), any::<bool>())
            .prop_map(|(code, killed)| Event::Exit { code, signal: None, killed }),
        1 => hostile_text().prop_map(|message| Event::HarnessError { message }),
        1 => prop::sample::select(vec![
            Event::ServerStarted, Event::ServerClosed, Event::Header(Box::new(header(&["a"]))),
            Event::Footer { end: End::TimedOut }, Event::Truncated { what: "x".into() },
            Event::NameAsked { name: "b.example".into() }, Event::NameAsked { name: "a.example".into() },
            Event::ModelReply { status: 200, body: Wire(vec![0xff]) },
        ]),
    ]
}

/// Any recording at all, in no sensible order. Only the lines of the probe servers are what they would send:
/// stimuli with an id each, and replies.
pub(crate) fn hostile_recording() -> impl Strategy<Value = Recording> {
    let source = prop::sample::select(vec!["session", "server-1", "server-2"]);
    let end = prop::option::of(prop::sample::select(vec![
        End::Finished,
        End::ClientGone,
        End::TimedOut,
        End::NotStarted,
    ]));
    let probe = prop::sample::select(vec!["a", "b", "c", "stranger"]);
    let line = prop_oneof![4 => event().prop_map(Ok), 1 => probe.prop_map(Err)];
    let entries = prop::collection::vec((source, line), 0..40);
    (entries, end, any::<bool>()).prop_map(|(entries, end, has_model)| {
        let start = Script::new(&["a", "b", "c"]);
        let start = if has_model { start.with_model() } else { start };
        let script =
            (1..)
                .zip(entries)
                .fold(start, |script, (number, (source, line))| match line {
                    Ok(event) => script.entry(source, event),
                    Err(probe) => script.server(source).send(probe, number),
                });
        script.end(end)
    })
}

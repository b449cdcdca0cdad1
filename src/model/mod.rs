//! The scripted model endpoint: what a client under test believes to be its model.
//!
//! Owns which requests are for the model, what is recorded of them, and what is answered. It must not know
//! which client asks, nor what a probe means: a dialect says how a request is read and an answer is written
//! (`openai_responses`, `anthropic_messages`), `script` says what to answer, `server` carries the bytes.

mod anthropic_messages;
mod json;
mod openai_responses;
mod script;
mod server;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::clients::Dialect;
use crate::recording::write::Recorder;
use crate::recording::{Event, Wire};

pub use script::Script;
pub use server::serve;

/// The body of a request, as far as it was read.
enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// The beginning of one that is longer than the limit.
    TooLarge(Vec<u8>),
    /// The beginning of one whose rest never came.
    Broken(Vec<u8>),
}

/// What goes back to the client.
struct Answer {
    status: u16,
    content_type: &'static str,
    body: String,
}

impl Answer {
    fn json(status: u16, body: &Value) -> Answer {
        Answer {
            status,
            content_type: "application/json",
            body: body.to_string(),
        }
    }

    /// An error in a shape that both dialects know.
    fn error(status: u16, kind: &str, message: &str) -> Answer {
        let error = json!({"type": "error", "error": {"type": kind, "message": message}});
        Answer::json(status, &error)
    }

    /// Server-sent events, each named by its own `type`.
    fn events(events: &[Value]) -> Answer {
        let mut body = String::new();
        for event in events {
            let name = event["type"].as_str().unwrap_or("message");
            body.push_str(&format!("event: {name}\ndata: {event}\n\n"));
        }
        Answer {
            status: 200,
            content_type: "text/event-stream",
            body,
        }
    }
}

/// The endpoint of one session. It remembers what it has recorded, never what it has answered.
struct Endpoint {
    dialect: Dialect,
    script: Script,
    recorder: Recorder,
    recorded: Mutex<Recorded>,
}

/// What is recorded only the first time it is seen.
#[derive(Default)]
struct Recorded {
    offered: bool,
    results: BTreeSet<usize>,
}

impl Endpoint {
    fn new(dialect: Dialect, script: Script, recorder: Recorder) -> Endpoint {
        Endpoint {
            dialect,
            script,
            recorder,
            recorded: Mutex::default(),
        }
    }

    /// Answers one request, and records it and everything that it shows. All is recorded before the client
    /// gets the answer: whatever the client does next comes later in the recording.
    fn handle(&self, method: &str, target: &str, body: Body) -> Answer {
        let (bytes, cut) = match body {
            Body::Whole(bytes) => (bytes, None),
            Body::TooLarge(bytes) => (
                bytes,
                Some(Answer::error(
                    413,
                    "request_too_large",
                    "the request is too large",
                )),
            ),
            Body::Broken(bytes) => (
                bytes,
                Some(Answer::error(
                    400,
                    "invalid_request_error",
                    "the request is incomplete",
                )),
            ),
        };
        let path = target.split('?').next().unwrap_or(target);
        let is_model = method == "POST" && path.ends_with(self.model_path());
        let request = (is_model && cut.is_none()).then(|| serde_json::from_slice::<Value>(&bytes));
        self.recorder.record(Event::ModelRequest {
            method: method.to_owned(),
            path: target.to_owned(),
            body: Wire(bytes),
        });
        let mut called = Vec::new();
        let answer = match (cut, request) {
            (Some(refusal), _) => {
                self.recorder.record(Event::Truncated {
                    what: "model request".to_owned(),
                });
                refusal
            }
            (None, Some(Ok(request))) if request.is_object() => {
                let mut turn = self.read(&request);
                // Clients list results as they came in; recorded in the script's order, two runs agree.
                turn.results.sort_by_key(|result| result.index);
                self.record_turn(&turn);
                let reply = script::next(&self.script, &turn);
                if let script::Reply::Call(_, probes) = &reply {
                    called.extend(probes.iter().map(|(_, probe)| probe.clone()));
                }
                self.write(&request, &turn, &reply)
            }
            (None, Some(_)) => Answer::error(
                400,
                "invalid_request_error",
                "the request is not a JSON object",
            ),
            (None, None) => side_answer(method, path),
        };
        self.recorder.record(Event::ModelReply {
            status: answer.status,
            body: Wire::text(answer.body.clone()),
        });
        for probe in called {
            self.recorder.record(Event::ToolCalled { probe });
        }
        answer
    }

    /// How the path of a request to the model itself ends.
    fn model_path(&self) -> &'static str {
        match self.dialect {
            Dialect::OpenaiResponses => "/responses",
            Dialect::AnthropicMessages => "/v1/messages",
        }
    }

    fn read(&self, request: &Value) -> script::Turn {
        match self.dialect {
            Dialect::OpenaiResponses => openai_responses::read(&self.script, request),
            Dialect::AnthropicMessages => anthropic_messages::read(&self.script, request),
        }
    }

    fn write(&self, request: &Value, turn: &script::Turn, reply: &script::Reply) -> Answer {
        match self.dialect {
            Dialect::OpenaiResponses => openai_responses::write(&self.script, turn, reply),
            Dialect::AnthropicMessages => {
                anthropic_messages::write(&self.script, request, turn, reply)
            }
        }
    }

    /// Records what a request shows for the first time in the session.
    fn record_turn(&self, turn: &script::Turn) {
        let mut recorded: MutexGuard<'_, Recorded> =
            self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(offered) = &turn.offered
            && !recorded.offered
        {
            recorded.offered = true;
            self.recorder.record(Event::ToolOffered {
                name: offered.full_name(),
                deferred: offered.deferred,
            });
        }
        for result in &turn.results {
            let Some(probe) = self.script.probes.get(result.index) else {
                continue;
            };
            if recorded.results.insert(result.index) {
                self.recorder.record(Event::ToolResult {
                    probe: probe.clone(),
                    text: result.text.clone(),
                });
            }
        }
    }
}

/// The answer to everything that is not a request to the model: a client that looks around must find a
/// working server, or it would not come to its first turn.
fn side_answer(method: &str, path: &str) -> Answer {
    if method == "HEAD" {
        Answer {
            status: 200,
            content_type: "application/json",
            body: String::new(),
        }
    } else if method == "POST" && path.ends_with("/count_tokens") {
        Answer::json(200, &json!({"input_tokens": 1}))
    } else {
        Answer::json(200, &json!({}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(dialect: Dialect, requests: &[(&str, &str, &str)]) -> (Vec<Answer>, Vec<Event>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.jsonl");
        let recorder = Recorder::create(&file, "session").unwrap();
        let endpoint = Endpoint::new(dialect, script::example(), recorder);
        let answers = requests
            .iter()
            .map(|(method, path, body)| {
                endpoint.handle(method, path, Body::Whole(body.as_bytes().to_vec()))
            })
            .collect();
        let events = std::fs::read_to_string(&file)
            .unwrap()
            .lines()
            .map(|line| {
                serde_json::from_str::<crate::recording::Entry>(line)
                    .unwrap()
                    .event
            })
            .collect();
        (answers, events)
    }

    /// The facts of a recording in short, without requests and replies.
    fn facts(events: &[Event]) -> Vec<String> {
        let fact = |event: &Event| match event {
            Event::ToolOffered { name, deferred } => Some(format!("offered {name} {deferred}")),
            Event::ToolCalled { probe } => Some(format!("called {probe}")),
            Event::ToolResult { probe, text } => Some(format!("result {probe} {text}")),
            _ => None,
        };
        events.iter().filter_map(fact).collect()
    }

    #[test]
    fn a_session_is_recorded_once() {
        let first = r#"{"tools":[{"type":"function","name":"mcp__probe__probe"}],"input":[]}"#;
        let second = r#"{"tools":[{"type":"function","name":"mcp__probe__probe"}],"input":[
            {"type":"function_call_output","call_id":"call_0001","output":[{"type":"input_text","text":"r"},{"type":"input_text","text":"1"}]},
            {"type":"function_call_output","call_id":"call_0000","output":"r0"},
            {"type":"function_call","call_id":"call_0002"}]}"#;
        let path = "/v1/responses";
        let (answers, events) = run(
            Dialect::OpenaiResponses,
            &[
                ("POST", path, first),
                ("POST", path, second),
                ("POST", path, second),
            ],
        );
        assert!(
            answers
                .iter()
                .all(|a| a.status == 200 && a.content_type == "text/event-stream")
        );
        assert_eq!(
            facts(&events),
            [
                "offered mcp__probe__probe false",
                "called a/one",
                "called a/two",
                "called b/three",
                "result a/one r0",
                "result a/two r1",
            ]
        );
        assert!(answers[1].body.contains("done"));
    }

    #[test]
    fn other_requests_get_something_sane() {
        let check = |method: &str, path: &str, body: &str, status: u16, expect: &str| {
            let (answers, events) = run(Dialect::AnthropicMessages, &[(method, path, body)]);
            assert_eq!(answers[0].status, status, "{method} {path}");
            if status == 200 {
                assert_eq!(answers[0].body, expect, "{method} {path}");
            } else {
                assert!(
                    answers[0].body.contains(expect),
                    "{method} {path}: {}",
                    answers[0].body
                );
            }
            assert_eq!(events.len(), 2, "{method} {path}: {events:?}");
        };
        check("HEAD", "/", "", 200, "");
        check("GET", "/v1/models?limit=3", "", 200, "{}");
        check(
            "POST",
            "/v1/messages/count_tokens?beta=true",
            "{}",
            200,
            r#"{"input_tokens":1}"#,
        );
        check("GET", "/v1/messages", "", 200, "{}");
        check("POST", "/v1/responses", "{", 200, "{}");
        check(
            "POST",
            "/v1/messages?beta=true",
            "{",
            400,
            "invalid_request_error",
        );
        check("POST", "/v1/messages", "[]", 400, "invalid_request_error");
    }
}

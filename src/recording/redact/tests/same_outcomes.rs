//! The evidence says what the recording said: no outcome changes when a recording is redacted.
//!
//! The sessions are arbitrary ones that a real probe server could have recorded: it sends one request at a
//! time, and goes on when it got the reply or gave up; the client writes and presents what it likes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::names::ProbeId;
use crate::outcome::{self, Kind, Outcome, Stage};
use crate::recording::line::{Line, Sort, id_key};
use crate::testing::{extreme_line, hostile_line};

const PROBES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Step {
    Call,
    Reply(Value),
    ReplyAgain(Value),
    GiveUp,
    Line(Vec<u8>),
    Present(Value),
    Answer(Value),
    Log(usize),
    Host,
    ToolResult(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let answer = || {
        prop::sample::select(vec![
            json!({"action": "accept", "content": {"value": "x"}}),
            json!({"action": "accept", "content": {"value": 3.0}, "_meta": {"t": 1}}),
            json!({"action": "cancel", "content": null}),
            json!({"action": "decline"}),
            json!({}),
        ])
    };
    let params = prop::sample::select(vec![form(), json!({"message": "plain"}), json!(null)]);
    prop_oneof![
        4 => Just(Step::Call),
        4 => answer().prop_map(Step::Reply),
        2 => answer().prop_map(Step::ReplyAgain),
        1 => Just(Step::GiveUp),
        2 => hostile_line().prop_map(Step::Line),
        // What is hidden cannot be too deep any more.
        1 => extreme_line(150)
            .prop_filter("no _meta", |line| !line.windows(5).any(|part| part == b"_meta"))
            .prop_map(Step::Line),
        1 => params.prop_map(Step::Present),
        1 => answer().prop_map(Step::Answer),
        1 => (0..3_usize).prop_map(Step::Log),
        1 => Just(Step::Host),
        1 => (0..3_usize).prop_map(Step::ToolResult),
    ]
}

/// A probe server and its client, as far as the order of their lines goes.
struct Session {
    script: Script,
    called: usize,
    open: Option<usize>,
    waiting: Vec<usize>,
    last_id: u64,
}

impl Session {
    fn start_next(mut self) -> Session {
        while self.open.is_none() && !self.waiting.is_empty() {
            let next = self.waiting.remove(0);
            self.last_id += 1;
            self.open = Some(next);
            self.script = self.script.send(PROBES[next], self.last_id);
        }
        self
    }

    fn finish_open(mut self) -> Session {
        if let Some(open) = self.open.take() {
            self.script = self.script.done(PROBES[open]);
        }
        self.start_next()
    }

    fn take(mut self, step: Step) -> Session {
        let open = self.open.map(|open| PROBES[open]);
        self.script = match (step, open) {
            (Step::Call, _) if self.called < PROBES.len() => {
                self.script = self.script.call(PROBES[self.called]);
                self.waiting.push(self.called);
                self.called += 1;
                return self.start_next();
            }
            (Step::Reply(result), Some(_)) => {
                self.script = self.script.reply(self.last_id, result);
                return self.finish_open();
            }
            (Step::GiveUp, Some(probe)) => {
                self.script = self.script.no_reply(probe);
                return self.finish_open();
            }
            (Step::ReplyAgain(result), _) if self.last_id > 1 => {
                self.script.reply(self.last_id - 1, result)
            }
            (Step::Line(line), _) => {
                let last_id = self.last_id.to_string();
                let replies = Line::read(&line)
                    .messages()
                    .iter()
                    .any(|m| matches!(m.sort(), Sort::Reply { id } if id_key(id) == last_id));
                self.script = self.script.client(line);
                return if replies { self.finish_open() } else { self };
            }
            (Step::Present(params), Some(probe)) => self.script.presented(probe, params),
            (Step::Answer(answer), Some(probe)) => self.script.answer(probe, answer),
            (Step::Log(probe), _) => self.script.event(Event::Stderr {
                line: Wire::text("2026-01-01T10:00:00Z x"),
                probe: Some(id(PROBES[probe])),
            }),
            (Step::Host, _) => self.script.event(Event::Host {
                dir: HostDir::FromClient,
                line: Wire::text("x"),
            }),
            (Step::ToolResult(probe), _) => self.script.event(Event::ToolResult {
                probe: id(PROBES[probe]),
                text: "x".to_owned(),
            }),
            _ => self.script,
        };
        self
    }
}

fn played(start: Script, steps: Vec<Step>) -> Script {
    let session = Session {
        script: start.initialize().list(),
        called: 0,
        open: None,
        waiting: Vec::new(),
        last_id: 0,
    };
    steps.into_iter().fold(session, Session::take).script
}

/// The outcomes without what is renumbered: evidence lines, latency, and ids in malformed bytes.
fn comparable(recording: &Recording) -> Vec<(ProbeId, Outcome)> {
    let mut outcomes = outcome::all(recording);
    for (_, outcome) in &mut outcomes {
        outcome.evidence.clear();
        (outcome.request, outcome.reply) = (None, None);
        outcome.latency_us = None;
        if let Kind::Malformed { bytes } = &mut outcome.kind {
            bytes.0.clear();
        }
    }
    outcomes
}

proptest! {
    #[test]
    fn evidence_has_the_outcomes_of_its_recording(
        steps in prop::collection::vec(step(), 0..40),
        has_model in any::<bool>(),
        exit in prop::option::of((prop::option::of(0..3_i32), any::<bool>())),
        end in prop::option::of(prop::sample::select(vec![End::Finished, End::ClientGone, End::TimedOut])),
    ) {
        let start = Script::new(&PROBES);
        let mut script = played(if has_model { start.with_model() } else { start }, steps);
        if let Some((code, killed)) = exit {
            script = script.event(Event::Exit { code, signal: None, killed });
        }
        let recording = script.end(end);
        prop_assert_eq!(comparable(&evidence(&recording)), comparable(&recording));
    }
}

fn differ(recording: &Recording) -> bool {
    comparable(&evidence(recording)) != comparable(recording)
}

#[test]
fn two_servers_with_the_same_ids_stay_apart() {
    let accept = || json!({"action": "accept"});
    let both = Script::new(&PROBES)
        .initialize()
        .call("a")
        .server("server-2")
        .initialize();
    let both = both
        .call("b")
        .server("server-1")
        .send("a", 1)
        .server("server-2")
        .send("b", 1);
    let both = || both.clone();
    let replied = both()
        .reply(1, accept())
        .done("b")
        .server("server-1")
        .reply(1, accept());
    assert!(!differ(&replied.done("a").finish()));
    // Whose time it is does not depend on the other server, whose lines stand elsewhere in the evidence.
    let odd = both()
        .server("server-1")
        .client("rubbish")
        .reply(1, accept())
        .done("a");
    assert!(!differ(&odd.finish()));
}

#[test]
fn a_tool_that_is_never_offered_stays_so() {
    let request = Event::ModelRequest {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        body: Wire::text("{}"),
    };
    let start = Script::new(&PROBES).with_model().initialize().list();
    let recording = start.event(request).finish();
    assert!(!differ(&recording));
    let missing = Stage::ToolOffered;
    for (probe, outcome) in comparable(&evidence(&recording)) {
        let note = None;
        assert_eq!(outcome.kind, Kind::NotReached { missing, note }, "{probe}");
    }
}

#[test]
fn odd_ids_are_still_odd() {
    let check = |line: &str, expect: bool| {
        let script = Script::new(&["a"])
            .call("a")
            .send("a", 7)
            .client(line)
            .no_reply("a");
        assert_eq!(differ(&script.done("a").finish()), expect, "{line}");
    };
    check(r#"{"id":7.0,"result":{"action":"accept"}}"#, false);
    check(r#"{"id":"7","result":{"action":"accept"}}"#, false);
    check(r#"{"id":1,"result":{"action":"accept"}}"#, false);
    check(r#"{"id":null,"result":{"action":"accept"}}"#, false);
    check(
        r#"{"id":7,"method":null,"result":{"action":"accept"}}"#,
        false,
    );
    check(r#"[{"id":7,"result":{"action":"accept"}}]"#, false);
    check(r#"{"id":1e400,"result":{"action":"accept"}}"#, false);
    check(r#"{"id":"\ud800","result":{"action":"accept"}}"#, false);
    check(r#"{"id":3,"id":7,"result":{"action":"accept"}}"#, false);
    check(r#"{"id":7,"id":7,"result":{"action":"accept"}}"#, false);
    check(r#"{"id":7,"id":3,"result":{"action":"accept"}}"#, false);
    let twice = r#"{"id":7,"result":{"action":"accept","action":"cancel","_meta":{"t":1}}}"#;
    check(twice, false);
    let deep = format!(
        r#"{{"result":{}{},"id":7}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    check(&deep, false);
}

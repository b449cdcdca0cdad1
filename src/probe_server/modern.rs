//! The modern era: a probe's request stands in the result of the tool call, and the client calls again with the answer.
//!
//! Owns the conversation of 2026-07-28: `server/discover`, what every result has to carry, and the rounds of
//! basic/patterns/mrtr. Calls need not wait for each other here, since each call names its probe; nor is there a
//! deadline, since a client may end a call without calling again. It must not know what an answer says.

use std::io;

use serde_json::{Value, json};

use super::legacy::{NOISE, NOISES, UNKNOWN};
use super::{Channel, Refusal, Server, tool};
use crate::catalogue::{Probe, Way};
use crate::names::Revision;
use crate::recording::Event;
use crate::recording::line::INPUT;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A state that holds what an intermediary might change: it is to come back exactly as it is. The text is JSON.
const ODD_STATE: &str = r#""capmatrix \u0001 \u00e9 e\u0301 \ud83d\ude00 \"quoted\" \\ \/ <b>&amp;</b> %41 {\"a\": 1.0} \t end ""#;

impl<C: Channel> Server<'_, C> {
    /// Whether a request is to be answered as one of the modern era.
    pub(super) fn is_modern(&self, method: &str, params: &Value) -> bool {
        // A server of both eras goes by what the request says (2026-07-28 basic/versioning).
        let by_request = || params["_meta"][VERSION] == Revision::V2026_07_28.as_str();
        match self.options.revision {
            Some(_) if self.is_legacy_by_script() => false,
            Some(_) if self.is_initialized_modern() => method != "server/discover" && by_request(),
            Some(revision) => !revision.is_legacy(),
            None => by_request(),
        }
    }

    pub(super) fn modern_request(
        &mut self,
        method: &str,
        id: &str,
        params: &Value,
    ) -> io::Result<()> {
        // Those of each request, never of one before (2026-07-28 schema RequestMetaObject).
        self.capabilities = params["_meta"][CAPABILITIES].clone();
        match method {
            "server/discover" => self.result(id, &discovered()),
            "tools/list" => self.result(
                id,
                &json!({
                    "resultType": "complete",
                    "tools": [tool()],
                    "ttlMs": 3_600_000,
                    "cacheScope": "private",
                }),
            ),
            "tools/call" => self.modern_call(id, params),
            "subscriptions/listen" => self.acknowledge(id),
            "initialize" => self.unsupported_version(id, params),
            _ => self.no_such_method(id, method),
        }
    }

    /// A client that does not speak this revision learns which one there is (2026-07-28 basic/versioning).
    fn unsupported_version(&mut self, id: &str, params: &Value) -> io::Result<()> {
        let requested = params["protocolVersion"].as_str().unwrap_or_default();
        let requested: String = requested.chars().take(super::MAX_NAME).collect();
        let data = json!({"requested": requested, "supported": [Revision::V2026_07_28]});
        self.error_with(id, -32022, "unsupported protocol version", &data)
    }

    /// No notification is ever sent here, so none of those that were asked for is agreed to
    /// (2026-07-28 basic/patterns/subscriptions).
    fn acknowledge(&mut self, id: &str) -> io::Result<()> {
        self.send(
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            ),
            None,
        )
    }

    fn modern_call(&mut self, id: &str, params: &Value) -> io::Result<()> {
        let options = self.options;
        let wanted = self.wanted(params).map(|probe| probe.id.clone());
        let Some(probe) = options
            .probes
            .iter()
            .find(|p| Some(&p.id) == wanted.as_ref())
        else {
            return self.no_such_probe(id, params);
        };
        let is_retry = ["inputResponses", "requestState"]
            .iter()
            .any(|member| params.get(member).is_some());
        if probe.script.is_some() {
            self.done(probe);
            return self.complete(id, &format!("{}: the client went on", probe.id));
        }
        let done = self.rounds.get(&probe.id).copied();
        match done {
            None if is_retry => self.complete(id, &format!("{}: nothing was asked", probe.id)),
            None => self.first_round(id, probe),
            Some(done) if is_retry && done < rounds(probe.way) => self.ask(id, probe, done),
            Some(_) if is_retry => {
                self.done(probe);
                self.complete(id, &format!("{}: the client replied", probe.id))
            }
            Some(_) => self.complete(id, &format!("{}: asked already", probe.id)),
        }
    }

    fn first_round(&mut self, id: &str, probe: &Probe) -> io::Result<()> {
        match self.refuse(probe, Some(Revision::V2026_07_28)) {
            None => self.ask(id, probe, 0),
            Some(Refusal::NotAsked(reason)) => {
                self.done(probe);
                self.complete(id, &format!("{}: {reason}", probe.id))
            }
            // 2026-07-28 basic/index `_meta`: the error names what is missing.
            Some(Refusal::NotDeclared(needs)) => {
                self.done(probe);
                let data = json!({"requiredCapabilities": needs.declaration()});
                let text = format!(
                    "{}: the client does not declare {}",
                    probe.id,
                    needs.as_str()
                );
                self.error_with(id, -32021, &text, &data)
            }
        }
    }

    fn done(&self, probe: &Probe) {
        self.recorder.record(Event::ProbeDone {
            probe: probe.id.clone(),
        });
    }

    /// Answers a call with the request of round `round`, which counts from 0.
    fn ask(&mut self, id: &str, probe: &Probe, round: usize) -> io::Result<()> {
        self.rounds.insert(probe.id.clone(), round + 1);
        let mut lines = Vec::new();
        if probe.way == Way::AfterUnknownNotification {
            lines.push(UNKNOWN.to_owned());
        }
        if probe.way == Way::AfterNoise {
            lines.extend(vec![NOISE.to_owned(); NOISES]);
        }
        let mut members = vec![r#""resultType":"input_required""#.to_owned()];
        members.extend(inputs(probe, round));
        members.extend(state(probe, round).map(|state| format!(r#""requestState":{state}"#)));
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{{}}}}}"#,
            members.join(",")
        );
        lines.push(line);
        self.send_all(&lines, Some(&probe.id))
    }

    fn complete(&mut self, id: &str, text: &str) -> io::Result<()> {
        let content = json!([{"type": "text", "text": text}]);
        self.result(id, &json!({"resultType": "complete", "content": content}))
    }
}

/// What a server of the modern era says of itself (2026-07-28 server/discover).
fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [Revision::V2026_07_28],
        "capabilities": {"tools": {}},
        "ttlMs": 3_600_000,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {
            "name": "capmatrix-probe",
            "version": env!("CARGO_PKG_VERSION"),
        }},
    })
}

/// How many results ask for something before the call is complete.
fn rounds(way: Way) -> usize {
    match way {
        Way::StateFirst | Way::SecondRound => 2,
        _ => 1,
    }
}

/// The member `inputRequests` of a round, if it has one. The params go out as they stand in the probe's file.
fn inputs(probe: &Probe, round: usize) -> Option<String> {
    let entry = |key: &str| {
        format!(
            r#""{key}":{{"method":{method},"params":{params}}}"#,
            method = Value::from(probe.method.as_str()),
            params = probe.params,
        )
    };
    let entries = match (probe.way, round) {
        (Way::StateFirst, 0) => return None,
        (Way::SecondRound, 0) => vec![entry("first")],
        (Way::TwoInputs, _) => vec![entry("other"), entry(INPUT)],
        _ => vec![entry(INPUT)],
    };
    Some(format!(r#""inputRequests":{{{}}}"#, entries.join(",")))
}

/// The JSON text of the state of a round, if it has one.
fn state(probe: &Probe, round: usize) -> Option<String> {
    match probe.way {
        Way::NoState => None,
        Way::OddState => Some(ODD_STATE.to_owned()),
        _ => Some(Value::from(format!("{}: round {}", probe.id, round + 1)).to_string()),
    }
}

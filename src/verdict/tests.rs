//! The decision table, row by row: what is said, of whom, and how strongly.

mod always;
mod compared;
mod declared;
mod modern;
mod order;
mod replies;
mod scripts;

use serde_json::{Value, json};

use super::*;
use crate::catalogue::{Action, Answer, Asks, Capability, Norm};
use crate::outcome::{Change, Difference, Kind as Came, Oddity, Stage};
use crate::recording::{Dir, Wire};
use crate::spec;
use crate::testing::{form, id};

/// An outcome in which nothing was presented.
fn came(kind: Came) -> Outcome {
    Outcome {
        kind,
        stage: None,
        presented: None,
        answer: None,
        oddities: Vec::new(),
        evidence: vec![2, 3],
        request: Some(2),
        reply: Some(3),
        latency_us: None,
    }
}

fn answered(action: &str, content: Option<Value>) -> Outcome {
    let action = action.to_owned();
    came(Came::Answered { action, content })
}

fn accept() -> Outcome {
    answered("accept", Some(json!({"value": "x"})))
}

fn cancel() -> Outcome {
    answered("cancel", None)
}

fn decline() -> Outcome {
    answered("decline", None)
}

fn error() -> Outcome {
    let message = "no".to_owned();
    came(Came::RpcError {
        code: -32602,
        message,
    })
}

fn silent() -> Outcome {
    came(Came::Silent { after_ms: 500 })
}

fn gone(exit: Option<i32>) -> Outcome {
    came(Came::Gone { exit })
}

fn malformed() -> Outcome {
    let bytes = Wire::text("{}");
    came(Came::Malformed { bytes })
}

fn not_reached() -> Outcome {
    let missing = Stage::ToolOffered;
    came(Came::NotReached {
        missing,
        note: None,
    })
}

fn not_declared() -> Outcome {
    let needs = "elicitation.form".to_owned();
    came(Came::NotDeclared { needs })
}

/// The same, with a line beside the reply.
fn odd(outcome: Outcome) -> Outcome {
    let oddities = vec![Oddity::SecondReply];
    Outcome {
        oddities,
        ..outcome
    }
}

/// The same, presented as it was sent and answered by the driver.
fn shown(outcome: Outcome) -> Outcome {
    let (presented, answer) = (Some(Vec::new()), Some(Vec::new()));
    Outcome {
        presented,
        answer,
        ..outcome
    }
}

fn lost(at: &str) -> Vec<Difference> {
    let change = Change::Lost;
    vec![Difference {
        at: at.to_owned(),
        change,
    }]
}

/// The same, presented without the member `at`.
fn shown_without(at: &str, outcome: Outcome) -> Outcome {
    let presented = Some(lost(at));
    Outcome {
        presented,
        ..shown(outcome)
    }
}

/// The same, with the member `at` of the answer lost.
fn answered_without(at: &str, outcome: Outcome) -> Outcome {
    let answer = Some(lost(at));
    Outcome {
        answer,
        ..shown(outcome)
    }
}

/// A case, as far as the table looks at it.
#[derive(Clone)]
struct Setup {
    outcome: Outcome,
    control: Option<Outcome>,
    answered_by: AnsweredBy,
    probe: Probe,
    revision: Revision,
    declared: Value,
    harness_error: Option<&'static str>,
}

/// On a surface that presents; the control was presented and accepted.
fn host(outcome: Outcome) -> Setup {
    let probe = Probe {
        id: id("p"),
        title: "p".to_owned(),
        why: String::new(),
        asks: crate::catalogue::Asks::Request,
        needs: Capability::ElicitationForm,
        revisions: Revision::ALL.to_vec(),
        invalid: std::collections::BTreeMap::new(),
        errata: std::collections::BTreeMap::new(),
        norms: vec![Norm {
            revisions: Revision::ALL.to_vec(),
            section: "schema ElicitRequestFormParams".to_owned(),
            keyword: Strength::Schema,
        }],
        way: crate::catalogue::Way::Plain,
        script: None,
        method: "elicitation/create".to_owned(),
        params: form().to_string(),
        control: Some(id("control")),
        answer: Answer {
            action: Action::Accept,
            content: None,
        },
    };
    Setup {
        outcome,
        control: Some(shown(accept())),
        answered_by: AnsweredBy::Driver,
        probe,
        revision: Revision::V2025_11_25,
        declared: json!({"elicitation": {}}),
        harness_error: None,
    }
}

/// On a surface that never presents; the control was cancelled.
fn headless(outcome: Outcome) -> Setup {
    Setup {
        answered_by: AnsweredBy::Client,
        ..host(outcome).control(cancel())
    }
}

/// Where a person answers; so they did the control.
fn person(outcome: Outcome) -> Setup {
    Setup {
        answered_by: AnsweredBy::Person,
        ..host(outcome).control(accept())
    }
}

impl Setup {
    fn control(self, control: Outcome) -> Setup {
        let control = Some(control);
        Setup { control, ..self }
    }

    /// The probe is a control itself.
    fn alone(mut self) -> Setup {
        self.probe.control = None;
        self.without_control()
    }

    /// Its control is not in the session.
    fn without_control(self) -> Setup {
        let control = None;
        Setup { control, ..self }
    }

    fn invalid(mut self) -> Setup {
        let reason = "on purpose".to_owned();
        self.probe.invalid.insert(Revision::V2025_11_25, reason);
        self
    }

    fn params(mut self, params: &Value) -> Setup {
        self.probe.params = params.to_string();
        self
    }

    fn harness_error(self) -> Setup {
        let harness_error = Some("the disk is full");
        Setup {
            harness_error,
            ..self
        }
    }

    /// The revision that the handshake settled on.
    fn under(self, revision: Revision) -> Setup {
        Setup { revision, ..self }
    }

    /// The probe asks whether what is declared is served; `capabilities` are declared.
    fn asks_declaration(mut self, capabilities: Value) -> Setup {
        self.probe.asks = Asks::Declaration;
        self.declared = capabilities;
        self.alone()
    }

    fn judge(&self) -> Verdict {
        let sent: Value = self.probe.params_value();
        let reply = self.reply();
        let inputs = json!({"probe": {"method": "elicitation/create", "params": sent}});
        let message = spec::Message {
            value: reply.as_ref().unwrap_or(&Value::Null),
            answers: Some("elicitation/create"),
            inputs: (!self.revision.is_legacy()).then_some(&inputs),
        };
        let violations = match reply {
            Some(_) => spec::Rules::builtin().check(self.revision, Dir::ClientToServer, &message),
            None => Vec::new(),
        };
        judge(&Case {
            probe: &self.probe,
            revision: Some(self.revision),
            outcome: &self.outcome,
            control: self.control.as_ref(),
            answered_by: self.answered_by,
            declared: Some(&self.declared),
            sent: Some(&sent),
            reply: &violations,
            harness_error: self.harness_error,
        })
    }

    /// The reply that the outcome was read from; in the modern era, the call that was made again.
    fn reply(&self) -> Option<Value> {
        let result = match &self.outcome.kind {
            Came::Answered { action, content } => {
                let mut result = json!({"action": action});
                if let Some(content) = content {
                    result["content"] = content.clone();
                }
                result
            }
            Came::Malformed { .. } => json!({}),
            _ => return None,
        };
        if self.revision.is_legacy() {
            return Some(json!({"jsonrpc": "2.0", "id": 1, "result": result}));
        }
        let params = json!({
            "name": "probe",
            "inputResponses": {"probe": result},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.declared,
            },
        });
        let call = crate::testing::request(json!(2), "tools/call", &params);
        serde_json::from_str(&call).ok()
    }
}

/// Kind, blame and strength in words.
fn said(verdict: &Verdict) -> String {
    let strength = verdict.strength.map_or("-", Strength::name);
    format!(
        "{} {} {strength}",
        verdict.kind.name(),
        verdict.blame.name()
    )
}

fn check(what: &str, setup: &Setup, expect: &str) {
    let verdict = setup.judge();
    assert_eq!(said(&verdict), expect, "{what}: {}", verdict.reason);
    always::check(setup, &verdict);
}

#[test]
fn what_never_came_to_the_question_blames_nobody() {
    check(
        "harness",
        &host(error()).harness_error(),
        "harness_fault harness -",
    );
    check(
        "harness, odd",
        &host(odd(accept())).harness_error(),
        "harness_fault harness -",
    );
    check(
        "harness, not reached",
        &host(not_reached()).harness_error(),
        "harness_fault harness -",
    );
    check("not reached", &host(not_reached()), "unknown nobody -");
    check(
        "not reached, odd",
        &host(odd(not_reached())),
        "unknown nobody -",
    );
    check(
        "not reached, a control",
        &host(not_reached()).alone(),
        "unknown nobody -",
    );
    check(
        "not reached, invalid",
        &headless(not_reached()).invalid(),
        "unknown nobody -",
    );
    check(
        "not declared",
        &headless(not_declared()),
        "not_declared nobody -",
    );
    check(
        "not declared, odd",
        &host(odd(not_declared())),
        "not_declared nobody -",
    );
    check(
        "not declared, invalid",
        &host(not_declared()).invalid(),
        "not_declared nobody -",
    );
}

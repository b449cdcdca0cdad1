//! The points at which a behaviour can differ from a sound client, as plain data.
//!
//! Owns what a behaviour writes and shows; every function here is pure. It must not know pipes or processes: what is to
//! happen is a list of [`Step`]s, and the conversation takes them.

mod edit;

use std::time::Duration;

use serde_json::Value;

use super::rounds::Round;
use edit::apply;
pub(super) use edit::{Edit, edited};

/// The points at which a behaviour can differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hooks {
    /// At which calls `meets`, `shows`, `replies`, `again`, `calls` and `after` act; the others act for the whole session.
    pub(super) scope: Scope,
    /// Whether a call that the host asks for reaches the server.
    pub(super) calls: Calls,
    /// What the client does at once when the request arrives.
    pub(super) meets: Meets,
    /// What the host is shown of the request.
    pub(super) shows: Shows,
    /// What goes to the server once the host has answered; of what is asked for by a result, what the answer becomes.
    pub(super) replies: Replies,
    /// How a call is made again once there is an answer to all that its result asks for.
    pub(super) again: Again,
    /// The eras that the client speaks.
    pub(super) speaks: Speaks,
    /// What the client does, beside the usual, at a line of the server with this text in it, in the whole session.
    pub(super) hears: &'static [(&'static str, Hears)],
    /// What becomes of the client's own messages, by their method; an empty method stands for all.
    pub(super) sends: &'static [(&'static str, Change)],
    /// What the client does when the call has come back.
    pub(super) after: After,
    /// What the client does with a version that it does not know.
    pub(super) unknown: Unknown,
    /// How the client ends its server.
    pub(super) ends: Ends,
}

/// The hooks of the client that does everything right.
pub(super) const BEHAVES: Hooks = Hooks {
    scope: Scope::Subject,
    calls: Calls::Really,
    meets: Meets::Presents,
    shows: Shows::Edited(&[]),
    replies: Replies::Line(SOUND),
    again: Again::Edited(&[]),
    speaks: Speaks::Legacy,
    hears: &[],
    sends: &[],
    after: After::Stays,
    unknown: Unknown::Disconnects,
    ends: Ends::ByClosing,
};

/// The line of a sound reply.
const SOUND: &str = r#"{"jsonrpc":"2.0","id":@id,"result":@answer}"#;

/// At which calls a behaviour departs from [`BEHAVES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// At the subject's alone, so that its control can be compared with it.
    Subject,
    /// At all, the control's included: a policy.
    EveryCall,
}

/// What becomes of a call that the host asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    /// It goes to the server.
    Really,
    /// It is reported as done, and the server never hears of it.
    InPretence,
}

/// What the client does when the call has come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Waits for what the host wants next.
    Stays,
    /// Closes the channel and ends, as if it had nothing more to do.
    Leaves,
}

/// What a client does with a server whose version it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Ends the session.
    Disconnects,
    /// Goes on as if it knew it.
    GoesOn,
}

/// How a client ends its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// It closes the channel, and waits.
    ByClosing,
    /// With a signal, the channel still open.
    BySignal,
}

/// What the client does at once when the request arrives.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meets {
    /// Shows it to the host and waits for the answer.
    Presents,
    /// Shows it to nobody and replies with this result.
    Answers(&'static str),
    /// Shows it to nobody and replies with this error.
    Rejects(&'static str),
    /// Does this.
    Does(fn(&Request) -> Vec<Step>),
}

/// What the host is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shows {
    /// The request's params with these edits; with none, the text as it came.
    Edited(&'static [Edit]),
    /// This JSON text.
    Text(fn(&Request) -> String),
}

/// What goes to the server once the host has answered.
#[derive(Debug, Clone, Copy)]
pub(super) enum Replies {
    /// This line, in which `@id` is the request's id and `@answer` the host's answer, both as JSON text.
    Line(&'static str),
    /// A sound reply whose result is the answer with these edits.
    Edited(&'static [Edit]),
    /// This is done; the second argument is the answer's JSON text.
    Does(fn(&Request, &str) -> Vec<Step>),
}

/// How a call is made again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Again {
    /// As it has to be, with these edits to the message.
    Edited(&'static [Edit]),
    /// This is done; the second argument holds the JSON texts of the answers, in the order of what is asked for.
    Does(fn(&Round, &[String]) -> Vec<Step>),
}

/// The eras of the protocol that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    /// `initialize` alone.
    Legacy,
    /// 2026-07-28 alone.
    Modern,
    /// Both: it asks for the modern one first, and falls back.
    Both,
}

/// What a client does at a line of the server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hears {
    /// Writes this, and goes on as usual.
    Writes(&'static [u8]),
    /// Writes this in place of what it would do; nothing, where this is empty.
    Instead(&'static [u8]),
    /// Ends its process with this code.
    Exits(i32),
}

/// What becomes of one of the client's own messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// The message is edited.
    Edit(Edit),
    /// It is not sent.
    Drop,
    /// These bytes go out in front of it.
    Before(&'static [u8]),
    /// These bytes go out behind it.
    After(&'static [u8]),
    /// Its id becomes a string; see [`SESSION_ID`].
    StringId,
    /// The process ends with this code instead.
    Exit(i32),
}

/// One thing that the conversation does for a behaviour.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Shows the request to the host.
    Present,
    /// Writes these bytes to the server.
    Write(Vec<u8>),
    /// Lets time pass. Only for a client that is slow: what has a state is waited for.
    Pass(Duration),
    /// Waits until the call for which the request was sent has come back.
    UntilReturned,
    /// Ends the call with the result that asks for input, and does not make it again.
    GiveUp,
    /// Closes the channel to the server, and stays alive.
    Close,
    /// Ends the process, with nothing put in order.
    Die(Death),
}

/// How a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Death {
    /// With this code.
    Exit(i32),
    /// By SIGABRT, as a failed assertion does.
    Abort,
    /// By SIGKILL, as for want of memory.
    Kill,
    /// By SIGTERM.
    Terminate,
}

/// The ids of requests that a behaviour writes itself begin with this. Replies to them are kept from rmcp, which does not
/// know the requests.
pub(super) const OWN_ID: &str = "own-";
/// In front of an id of rmcp's that [`Change::StringId`] makes a string; taken off again in the reply.
pub(super) const SESSION_ID: &str = "session-";

/// An `elicitation/create` request as it arrived, or one in a result, whose key is its id then. Both members stay JSON text, so that nothing is lost by parsing:
/// the id goes back as it came, and the host sees what was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) params: String,
}

impl Hooks {
    /// What the client does when the request arrives.
    pub(super) fn on_request(&self, request: &Request) -> Vec<Step> {
        match self.meets {
            Meets::Presents => vec![Step::Present],
            Meets::Answers(answer) => vec![Step::Write(result(&request.id, answer))],
            Meets::Rejects(error) => vec![Step::Write(rejection(&request.id, error))],
            Meets::Does(steps) => steps(request),
        }
    }

    /// The JSON text that the host is shown for the request.
    pub(super) fn shown(&self, request: &Request) -> String {
        match self.shows {
            Shows::Edited(edits) => edited(&request.params, edits),
            Shows::Text(text) => text(request),
        }
    }

    /// What the client does when the host has answered with this JSON text.
    pub(super) fn on_answer(&self, request: &Request, answer: &str) -> Vec<Step> {
        match self.replies {
            Replies::Line(template) => vec![Step::Write(line(template, &request.id, answer))],
            Replies::Edited(edits) => {
                vec![Step::Write(result(&request.id, &edited(answer, edits)))]
            }
            Replies::Does(steps) => steps(request, answer),
        }
    }

    /// What the client does when a call comes back with a result that asks for input.
    pub(super) fn on_round(&self, round: &Round) -> Vec<Step> {
        match self.meets {
            Meets::Presents if round.inputs.is_empty() => self.on_inputs(round, &[]),
            Meets::Presents => vec![Step::Present],
            Meets::Answers(answer) => {
                self.on_inputs(round, &vec![answer.to_owned(); round.inputs.len()])
            }
            Meets::Rejects(_) => vec![Step::GiveUp],
            Meets::Does(steps) => steps(&Request {
                id: round.id.clone(),
                params: round.params.clone(),
            }),
        }
    }

    /// What the client does when there is an answer to all that a result asks for.
    pub(super) fn on_inputs(&self, round: &Round, answers: &[String]) -> Vec<Step> {
        let answers: Vec<String> = match self.replies {
            Replies::Edited(edits) => answers.iter().map(|text| edited(text, edits)).collect(),
            _ => answers.to_vec(),
        };
        match self.again {
            Again::Edited(edits) => {
                let line = edited(&round.again(&round.next_id, &answers), edits);
                vec![Step::Write(format!("{line}\n").into_bytes())]
            }
            Again::Does(steps) => steps(round, &answers),
        }
    }

    /// What the client does at this line of the server.
    pub(super) fn on_line(&self, line: &[u8]) -> Option<Hears> {
        let text = String::from_utf8_lossy(line);
        let heard = self.hears.iter().find(|(part, _)| text.contains(part));
        heard.map(|(_, does)| *does)
    }

    /// The bytes that go to the server for a line of rmcp's, or the code with which the process ends instead.
    pub(super) fn outgoing(&self, line: &[u8]) -> Result<Vec<u8>, i32> {
        let mut message: Value = serde_json::from_slice(line).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let changes: Vec<&Change> = self
            .sends
            .iter()
            .filter(|(of, _)| of.is_empty() || *of == method)
            .map(|(_, change)| change)
            .collect();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut itself = Some(line.to_vec());
        for change in changes {
            match change {
                Change::Before(bytes) => before.extend_from_slice(bytes),
                Change::After(bytes) => after.extend_from_slice(bytes),
                Change::Drop => itself = None,
                Change::Exit(code) => return Err(*code),
                Change::Edit(edit) => {
                    apply(&mut message, *edit);
                    itself = Some(format!("{message}\n").into_bytes());
                }
                Change::StringId => {
                    if let Some(id) = message.get_mut("id") {
                        *id = Value::from(format!("{SESSION_ID}{id}"));
                        itself = Some(format!("{message}\n").into_bytes());
                    }
                }
            }
        }
        before.extend(itself.unwrap_or_default());
        before.extend(after);
        Ok(before)
    }
}

/// A sound reply with this result.
pub(super) fn result(id: &str, result: &str) -> Vec<u8> {
    line(SOUND, id, result)
}

/// A sound reply with this error.
pub(super) fn rejection(id: &str, error: &str) -> Vec<u8> {
    line(r#"{"jsonrpc":"2.0","id":@id,"error":@answer}"#, id, error)
}

/// The line that a template stands for. The answer goes in last, so that nothing in it is taken for a place to fill.
fn line(template: &str, id: &str, answer: &str) -> Vec<u8> {
    let text = template.replace("@id", id).replace("@answer", answer);
    format!("{text}\n").into_bytes()
}

#[cfg(test)]
mod tests;

//! The rounds of a tool call (2026-07-28 basic/patterns/mrtr): results that ask for input, and the calls that are made
//! again with it.
//!
//! Owns how such a result is read, what the call that follows looks like, and which id stands for which of rmcp's own
//! calls: rmcp knows its first call alone, and gets the last result under that one's id. It must not know pipes, hosts or
//! behaviours.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::hooks::{OWN_ID, Request};

/// What asks the client for something: a request of the server, or a result in which requests stand.
#[derive(Debug)]
pub(super) enum Asked {
    Request(Request),
    Round(Round),
}

/// A result that asks for input. All but the key texts stays JSON text, so that nothing is lost by parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Round {
    /// The id of the request whose result it is.
    pub(super) id: String,
    /// The id of rmcp's own call, which is the same in the first round.
    pub(super) call: String,
    /// The `params` of that call.
    pub(super) params: String,
    /// What is asked for; the id of each is its key.
    pub(super) inputs: Vec<Request>,
    /// The state that is to come back.
    pub(super) state: Option<String>,
    /// An id that no request has used.
    pub(super) next_id: String,
    /// The whole line.
    line: Vec<u8>,
}

impl Round {
    /// The call that is made again, as one line, with these answers in the order of the inputs.
    pub(super) fn again(&self, id: &str, answers: &[String]) -> String {
        let keyed = self.inputs.iter().zip(answers);
        let keyed: Vec<String> = keyed
            .map(|(input, answer)| format!("{}:{answer}", input.id))
            .collect();
        let open = self.params.strip_suffix('}').unwrap_or(&self.params);
        let mut members = vec![open.to_owned()];
        if !self.inputs.is_empty() {
            members.push(format!(r#""inputResponses":{{{}}}"#, keyed.join(",")));
        }
        members.extend(
            self.state
                .iter()
                .map(|state| format!(r#""requestState":{state}"#)),
        );
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{}}}}}"#,
            members.join(",")
        )
    }

    /// The result as the one of rmcp's own call, for a client that hands it on and does no more.
    pub(super) fn for_rmcp(&self) -> Vec<u8> {
        with_id(&self.line, &self.call)
    }
}

/// A call as it was sent.
struct Call {
    /// The id of rmcp's own call.
    root: String,
    params: String,
}

/// The calls of a session by the ids under which they were made, and made again.
#[derive(Default)]
pub(super) struct Calls {
    by_id: HashMap<String, Call>,
    rounds: usize,
}

#[derive(Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: String,
    #[serde(borrow)]
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct Returned<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    result: Asks<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asks<'a> {
    result_type: String,
    #[serde(borrow, default)]
    input_requests: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl Calls {
    /// Takes note of the calls among lines that go to the server. `again` is the round that they follow; none where they
    /// are rmcp's own.
    pub(super) fn sent(&mut self, lines: &[u8], again: Option<&Round>) {
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok(sent) = serde_json::from_slice::<Sent<'_>>(line) else {
                continue;
            };
            if sent.method != "tools/call" {
                continue;
            }
            let id = sent.id.get().to_owned();
            let call = match again {
                Some(round) => Call {
                    root: round.call.clone(),
                    params: round.params.clone(),
                },
                None => Call {
                    root: id.clone(),
                    params: sent.params.get().to_owned(),
                },
            };
            self.by_id.insert(id, call);
        }
    }

    /// The round that a line of the server begins, if it is a result that asks for input.
    pub(super) fn asked(&mut self, line: &[u8]) -> Option<Round> {
        let returned: Returned<'_> = serde_json::from_slice(line).ok()?;
        let call = self.by_id.get(returned.id.get())?;
        if returned.result.result_type != "input_required" {
            return None;
        }
        let inputs = returned.result.input_requests.map(inputs);
        self.rounds += 1;
        Some(Round {
            id: returned.id.get().to_owned(),
            call: call.root.clone(),
            params: call.params.clone(),
            inputs: inputs.unwrap_or_default(),
            state: returned
                .result
                .request_state
                .map(|state| state.get().to_owned()),
            next_id: format!("\"{OWN_ID}round-{}\"", self.rounds),
            line: line.to_vec(),
        })
    }

    /// A line of the server with the id that rmcp knows, where it replies to a call that was made again.
    pub(super) fn for_rmcp(&self, line: Vec<u8>) -> Vec<u8> {
        #[derive(Deserialize)]
        struct Reply<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
            method: Option<String>,
        }
        let Ok(reply) = serde_json::from_slice::<Reply<'_>>(&line) else {
            return line;
        };
        let id = reply.id.get();
        match self.by_id.get(id).filter(|_| reply.method.is_none()) {
            Some(call) if call.root != id => with_id(&line, &call.root),
            _ => line,
        }
    }
}

/// The requests in the member `inputRequests`, in their order.
fn inputs(requests: &RawValue) -> Vec<Request> {
    // The one keeps the order, the other the text.
    let in_order: Value = serde_json::from_str(requests.get()).unwrap_or_default();
    let texts: BTreeMap<String, Input<'_>> =
        serde_json::from_str(requests.get()).unwrap_or_default();
    let keys = in_order.as_object().into_iter().flat_map(|map| map.keys());
    let request = |key: &String| {
        let params = texts.get(key)?.params.map_or("null", RawValue::get);
        Some(Request {
            id: Value::from(key.as_str()).to_string(),
            params: params.to_owned(),
        })
    };
    keys.filter_map(request).collect()
}

fn with_id(line: &[u8], id: &str) -> Vec<u8> {
    let mut message: Value = serde_json::from_slice(line).unwrap_or_default();
    message["id"] = serde_json::from_str(id).unwrap_or_default();
    format!("{message}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"probe","arguments":{"id":"a/b"}}}
"#;
    const RESULT: &[u8] = br#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"z":{"method":"elicitation/create","params":{"b": 1.0, "a":2}},"a":{"method":"x"}},"requestState":"\u0041 "}}"#;

    #[test]
    fn a_result_that_asks_is_read_as_it_stands_and_answered_under_a_new_id() {
        let mut calls = Calls::default();
        assert_eq!(calls.asked(RESULT), None, "no such call");
        calls.sent(CALL, None);
        let round = calls.asked(RESULT).unwrap();
        let inputs = round
            .inputs
            .iter()
            .map(|i| (i.id.as_str(), i.params.as_str()));
        assert!(inputs.eq([(r#""z""#, r#"{"b": 1.0, "a":2}"#), (r#""a""#, "null")]));
        let again = round.again(&round.next_id, &["1.50".to_owned(), "{}".to_owned()]);
        assert_eq!(
            again,
            r#"{"jsonrpc":"2.0","id":"own-round-1","method":"tools/call","params":{"name":"probe","arguments":{"id":"a/b"},"inputResponses":{"z":1.50,"a":{}},"requestState":"\u0041 "}}"#
        );
        calls.sent(again.as_bytes(), Some(&round));
        let done = br#"{"jsonrpc":"2.0","id":"own-round-1","result":{"resultType":"complete"}}"#;
        assert_eq!(calls.asked(done), None);
        let for_rmcp = calls.for_rmcp(done.to_vec());
        let for_rmcp: Value = serde_json::from_slice(&for_rmcp).unwrap();
        assert_eq!(for_rmcp["id"], 2);
    }

    #[test]
    fn later_rounds_are_of_the_same_call() {
        let mut calls = Calls::default();
        calls.sent(CALL, None);
        let state = br#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"s"}}"#;
        let first = calls.asked(state).unwrap();
        let again = first.again(&first.next_id, &[]);
        assert!(again.ends_with(r#""arguments":{"id":"a/b"},"requestState":"s"}}"#));
        calls.sent(again.as_bytes(), Some(&first));
        let next = String::from_utf8_lossy(RESULT).replace("\"id\":2", "\"id\":\"own-round-1\"");
        let second = calls.asked(next.as_bytes()).unwrap();
        assert_eq!((second.call.as_str(), second.params), ("2", first.params));
        assert_eq!(second.next_id, "\"own-round-2\"");
        let handed_on: Value = serde_json::from_slice(&calls.for_rmcp(next.into_bytes())).unwrap();
        assert_eq!(handed_on["id"], 2);
    }
}

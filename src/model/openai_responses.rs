//! The OpenAI Responses dialect: reads a request body into a `Turn`, writes a `Reply` as an event stream.
//!
//! Owns this wire format and where tools can stand in it. It must not know the rules of the script, HTTP, or
//! which client speaks.

use serde_json::{Value, json};

use super::Answer;
use super::json::{array, content_text};
use super::script::{CallResult, Offered, Reply, Script, Turn, call_id};

const CALL_PREFIX: &str = "call_";
const SEARCH_ID: &str = "call_search";

/// What a request shows.
pub(super) fn read(script: &Script, request: &Value) -> Turn {
    let input = array(request, "input");
    let mut turn = Turn {
        index: input.len(),
        ..Turn::default()
    };
    let mut candidates = Vec::new();
    read_tools(
        script,
        array(request, "tools"),
        false,
        &mut turn,
        &mut candidates,
    );
    for item in input {
        let kind = item["type"].as_str().unwrap_or_default();
        let found = kind == "tool_search_output";
        read_tools(
            script,
            array(item, "tools"),
            found,
            &mut turn,
            &mut candidates,
        );

        let id = item["call_id"].as_str().unwrap_or_default();
        // A search that a client cannot do comes back as an ordinary output with the search's id.
        if found || kind == "tool_search_call" || id == SEARCH_ID {
            turn.searched = true;
        }
        if let Some(index) = script.index_of(CALL_PREFIX, id) {
            turn.called.insert(index);
            if kind.ends_with("_output") {
                let text = content_text(&item["output"]);
                turn.results.push(CallResult { index, text });
            }
        }
    }
    // One that a model sees at once goes before one that it would have to search for, a whole name before a
    // namespace, and then the order of the request counts.
    turn.offered = candidates
        .into_iter()
        .min_by_key(|offered| (offered.deferred, offered.namespace.is_some()));
    if turn.offered.is_none() && turn.has_tools && !turn.can_search {
        turn.offered = named_in_prose(script, request);
    }
    turn
}

/// Looks through one list of tools. Lists stand in `tools` and in items of the input.
fn read_tools(
    script: &Script,
    tools: &[Value],
    found: bool,
    turn: &mut Turn,
    candidates: &mut Vec<Offered>,
) {
    turn.has_tools |= !tools.is_empty();
    for tool in tools {
        let name = tool["name"].as_str().unwrap_or_default();
        match tool["type"].as_str() {
            Some("tool_search") => turn.can_search = true,
            Some("function") if name == script.flat_name() => candidates.push(Offered {
                name: name.to_owned(),
                namespace: None,
                deferred: found || is_deferred(tool),
            }),
            Some("namespace") if script.is_namespace(name) => candidates.extend(
                array(tool, "tools")
                    .iter()
                    .filter(|inner| inner["name"] == script.tool.as_str())
                    .map(|inner| Offered {
                        name: script.tool.clone(),
                        namespace: Some(name.to_owned()),
                        deferred: found || is_deferred(tool) || is_deferred(inner),
                    }),
            ),
            _ => {}
        }
    }
}

fn is_deferred(tool: &Value) -> bool {
    tool["defer_loading"] == true
}

/// The probe server's namespace as an entry `- <namespace>: ...` of a list in the instructions. A request may
/// name deferred tools only there, with no tool to search for them; they can be called all the same.
fn named_in_prose(script: &Script, request: &Value) -> Option<Offered> {
    let messages = array(request, "input")
        .iter()
        .filter(|item| item["role"] == "developer" || item["role"] == "system")
        .map(|item| &item["content"]);
    let texts = std::iter::once(&request["instructions"])
        .chain(messages)
        .map(content_text);
    let namespace = |line: &str| -> Option<String> {
        let entry = line.trim().strip_prefix("- ")?;
        let end = entry
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
            .unwrap_or(entry.len());
        script
            .is_namespace(&entry[..end])
            .then(|| entry[..end].to_owned())
    };
    texts
        .filter_map(|text| text.lines().find_map(namespace))
        .next()
        .map(|namespace| Offered {
            name: script.tool.clone(),
            namespace: Some(namespace),
            deferred: true,
        })
}

/// The event stream that says `reply`.
pub(super) fn write(script: &Script, turn: &Turn, reply: &Reply) -> Answer {
    let id = format!("resp_{:04}", turn.index);
    let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
    let done = |item: Value| json!({"type": "response.output_item.done", "item": item});
    match reply {
        Reply::Search => events.push(done(json!({
            "type": "tool_search_call",
            "call_id": SEARCH_ID,
            "execution": "client",
            "arguments": {"query": format!("{} {}", script.tool, script.server), "limit": 8},
        }))),
        Reply::Call(tool, probes) => events.extend(probes.iter().map(|(index, probe)| {
            let mut item = json!({
                "type": "function_call",
                "call_id": call_id(CALL_PREFIX, *index),
                "name": tool.name,
                "arguments": json!({"id": probe.0}).to_string(),
            });
            if let Some(namespace) = &tool.namespace {
                item["namespace"] = json!(namespace);
            }
            done(item)
        })),
        Reply::Finish(text) => events.push(done(json!({
            "type": "message",
            "id": format!("msg_{:04}", turn.index),
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        }))),
    }
    events.push(
        json!({"type": "response.completed", "response": {"id": id, "usage": {
            "input_tokens": 1, "input_tokens_details": null,
            "output_tokens": 1, "output_tokens_details": null,
            "total_tokens": 2,
        }}}),
    );
    Answer::events(&events)
}

#[cfg(test)]
mod tests {
    use super::super::script::{example, next};
    use super::*;

    /// What is offered, as `name`, or `namespace.name`, with `?` if deferred.
    fn offer(request: &Value) -> String {
        match read(&example(), request).offered {
            Some(offered) => {
                format!(
                    "{}{}",
                    offered.full_name(),
                    if offered.deferred { "?" } else { "" }
                )
            }
            None => "-".to_owned(),
        }
    }

    fn namespace(name: &str) -> Value {
        json!({"type": "namespace", "name": name, "tools": [
            {"type": "function", "name": "other"}, {"type": "function", "name": "probe"}]})
    }

    #[test]
    fn where_the_tool_can_stand() {
        let search = json!({"type": "tool_search", "execution": "client"});
        let flat = json!({"type": "function", "name": "mcp__probe__probe"});
        let prose = json!({"type": "message", "role": "developer", "content": [
            {"type": "input_text", "text": "<tools>Deferred tool namespaces:\n- mcp__probe: does it\n</tools>"}]});
        let exec =
            json!({"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]});
        let mut deferred = namespace("mcp__probe");
        deferred["tools"][1]["defer_loading"] = json!(true);
        let check = |request: Value, expect: &str| assert_eq!(offer(&request), expect, "{request}");
        check(json!({"tools": [flat]}), "mcp__probe__probe");
        check(
            json!({"tools": [namespace("mcp__probe")]}),
            "mcp__probe.probe",
        );
        check(
            json!({"tools": [namespace("mcp__probe__")]}),
            "mcp__probe__.probe",
        );
        check(
            json!({"tools": [namespace("mcp__probe"), flat]}),
            "mcp__probe__probe",
        );
        check(
            json!({"tools": [namespace("probe"), namespace("mcp__other")]}),
            "-",
        );
        check(
            json!({"tools": [{"type": "namespace", "name": "mcp__probe", "tools": []}]}),
            "-",
        );
        check(json!({"tools": [deferred]}), "mcp__probe.probe?");
        check(
            json!({"tools": [search], "input": [{"type": "tool_search_output", "tools": [deferred]}]}),
            "mcp__probe.probe?",
        );
        check(
            json!({"tools": [search], "input": [{"type": "tool_search_output", "tools": [namespace("mcp__probe__")]}]}),
            "mcp__probe__.probe?",
        );
        check(
            json!({"input": [{"type": "additional_tools", "tools": [namespace("mcp__probe")]}]}),
            "mcp__probe.probe",
        );
        check(json!({"input": [exec, prose]}), "mcp__probe.probe?");
        check(
            json!({"input": [exec], "instructions": "- mcp__probe__"}),
            "mcp__probe__.probe?",
        );
        check(
            json!({"input": [exec], "instructions": "- mcp__probes: no\nmcp__probe"}),
            "-",
        );
        // With a tool to search, a mention is not an offer; without any tools it is none either.
        check(json!({"tools": [search], "input": [prose]}), "-");
        check(json!({"input": [prose]}), "-");
    }

    #[test]
    fn history() {
        let turn = read(
            &example(),
            &json!({"input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "call_0002"}]},
                {"type": "function_call", "call_id": "call_0000", "name": "probe", "arguments": "{}"},
                {"type": "function_call", "call_id": "call_0001", "name": "probe", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_0001", "output": "unsupported call"},
                {"type": "function_call_output", "call_id": "call_9999", "output": "not ours"},
            ]}),
        );
        assert_eq!(turn.index, 5);
        assert!(!turn.searched);
        assert_eq!(turn.called, [0, 1].into());
        let text = "unsupported call".to_owned();
        assert_eq!(turn.results, [CallResult { index: 1, text }]);

        let searched = |item: Value| read(&example(), &json!({"input": [item]})).searched;
        assert!(searched(
            json!({"type": "tool_search_call", "call_id": "x"})
        ));
        assert!(searched(json!({"type": "tool_search_output", "tools": []})));
        assert!(searched(
            json!({"type": "function_call_output", "call_id": "call_search"})
        ));
    }

    #[test]
    fn answers() {
        let script = example();
        let body = |request: Value| {
            let turn = read(&script, &request);
            write(&script, &turn, &next(&script, &turn)).body
        };
        let called = body(json!({"tools": [namespace("mcp__probe")], "input": [
            {"type": "function_call", "call_id": "call_0000"}, {"type": "function_call", "call_id": "call_0002"}]}));
        let expect = r#"event: response.created
data: {"type":"response.created","response":{"id":"resp_0002"}}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"type":"function_call","call_id":"call_0001","name":"probe","arguments":"{\"id\":\"a/two\"}","namespace":"mcp__probe"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_0002","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}

"#;
        assert_eq!(called, expect);
        let searched = body(json!({"tools": [{"type": "tool_search"}]}));
        assert!(
            searched.contains(r#""arguments":{"query":"probe probe","limit":8}"#),
            "{searched}"
        );
        let finished = body(json!({}));
        assert!(
            finished.contains(r#"[{"type":"output_text","text":"ok"}]"#),
            "{finished}"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_request_is_answered(request in super::super::json::any_json()) {
            let script = example();
            let turn = read(&script, &request);
            let answer = write(&script, &turn, &next(&script, &turn));
            proptest::prop_assert!(answer.body.contains("response.completed"));
        }
    }
}

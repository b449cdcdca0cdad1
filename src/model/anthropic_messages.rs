//! The Anthropic Messages dialect: reads a request body into a `Turn`, writes a `Reply` as a message or as an
//! event stream.
//!
//! Owns this wire format and how tools are deferred in it. It must not know the rules of the script, HTTP, or
//! which client speaks.

use serde_json::{Value, json};

use super::Answer;
use super::json::{array, content_text};
use super::script::{CallResult, Offered, Reply, Script, Turn, call_id};

const CALL_PREFIX: &str = "toolu_";
const SEARCH_ID: &str = "toolu_search";
/// The tool that finds deferred tools. The format has no type for such a tool, so its name is all there is.
const SEARCH_TOOL: &str = "ToolSearch";

/// What a request shows.
pub(super) fn read(script: &Script, request: &Value) -> Turn {
    let name = script.flat_name();
    let tools = array(request, "tools");
    let mut turn = Turn {
        has_tools: !tools.is_empty(),
        can_search: tools.iter().any(|tool| tool["name"] == SEARCH_TOOL),
        ..Turn::default()
    };
    let mut found = false;
    for message in array(request, "messages") {
        turn.index += usize::from(message["role"] == "assistant");
        for block in array(message, "content") {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default();
                    turn.searched |= id == SEARCH_ID || block["name"] == SEARCH_TOOL;
                    turn.called.extend(script.index_of(CALL_PREFIX, id));
                }
                Some("tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    turn.searched |= id == SEARCH_ID;
                    found |= array(block, "content")
                        .iter()
                        .any(|part| part["tool_name"] == name.as_str());
                    if let Some(index) = script.index_of(CALL_PREFIX, id) {
                        turn.called.insert(index);
                        let text = content_text(&block["content"]);
                        turn.results.push(CallResult { index, text });
                    }
                }
                _ => {}
            }
        }
    }
    let listed = tools.iter().find(|tool| tool["name"] == name.as_str());
    if found || listed.is_some() {
        turn.offered = Some(Offered {
            name,
            namespace: None,
            deferred: found || listed.is_some_and(|tool| tool["defer_loading"] == true),
        });
    }
    turn
}

/// The message that says `reply`, streamed if the request asks for that.
pub(super) fn write(script: &Script, request: &Value, turn: &Turn, reply: &Reply) -> Answer {
    let tool_use = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let (content, stop_reason) = match reply {
        Reply::Search => {
            let query = format!("select:{}", script.flat_name());
            let call = tool_use(SEARCH_ID, SEARCH_TOOL, json!({"query": query}));
            (vec![call], "tool_use")
        }
        Reply::Call(tool, probes) => {
            let call = |(index, probe): &(usize, crate::names::ProbeId)| {
                let id = call_id(CALL_PREFIX, *index);
                tool_use(&id, &tool.name, json!({"id": probe.0}))
            };
            (probes.iter().map(call).collect(), "tool_use")
        }
        Reply::Finish(text) => (vec![json!({"type": "text", "text": text})], "end_turn"),
    };
    // A client may take messages of the same id for one message: the id must differ from turn to turn.
    let mut message = json!({
        "id": format!("msg_{:04}", turn.index),
        "type": "message",
        "role": "assistant",
        "model": request["model"].as_str().unwrap_or("scripted"),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    if request["stream"] == true {
        Answer::events(&stream(&message, &content, stop_reason))
    } else {
        message["content"] = Value::Array(content);
        message["stop_reason"] = json!(stop_reason);
        Answer::json(200, &message)
    }
}

/// The events of a message: every block begins empty and is filled by one delta.
fn stream(message: &Value, content: &[Value], stop_reason: &str) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in content.iter().enumerate() {
        let mut start = block.clone();
        let delta = if block["type"] == "text" {
            start["text"] = json!("");
            json!({"type": "text_delta", "text": block["text"]})
        } else {
            start["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
        };
        events.extend([
            json!({"type": "content_block_start", "index": index, "content_block": start}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    events.extend([
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": 1},
        }),
        json!({"type": "message_stop"}),
    ]);
    events
}

#[cfg(test)]
mod tests {
    use super::super::script::{example, next};
    use super::*;

    fn answer(request: &Value) -> Value {
        let script = example();
        let turn = read(&script, request);
        let answer = write(&script, request, &turn, &next(&script, &turn));
        serde_json::from_str(&answer.body).unwrap()
    }

    /// The answer's blocks in short.
    fn says(request: &Value) -> String {
        let answer = answer(request);
        let block = |block: &Value| match block["type"].as_str() {
            Some("text") => format!("says {}", block["text"]),
            _ => format!("{} {} {}", block["id"], block["name"], block["input"]),
        };
        let blocks: Vec<String> = array(&answer, "content").iter().map(block).collect();
        blocks.join("; ").replace('"', "")
    }

    #[test]
    fn conversations() {
        let tool = json!({"name": "mcp__probe__probe", "input_schema": {}});
        let deferred = json!({"name": "mcp__probe__probe", "defer_loading": true});
        let search = json!({"name": "ToolSearch"});
        let placeholder = json!({"name": "DeferredToolPlaceholder", "defer_loading": true});
        let searched = json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_search", "name": "ToolSearch", "input": {}}]});
        let found = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_search",
            "content": [{"type": "tool_reference", "tool_name": "mcp__probe__probe"}]}]});
        let nothing = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_search",
            "content": "No matching deferred tools found"}]});
        let all = "toolu_0000 mcp__probe__probe {id:a/one}; toolu_0001 mcp__probe__probe {id:a/two}; \
                   toolu_0002 mcp__probe__probe {id:b/three}";
        let find = "toolu_search ToolSearch {query:select:mcp__probe__probe}";
        let prompt = json!({"role": "user", "content": "run the probe"});
        let check = |request: Value, expect: &str| assert_eq!(says(&request), expect, "{request}");

        check(json!({"tools": [tool], "messages": [prompt]}), all);
        check(json!({"tools": [tool, search], "messages": [prompt]}), all);
        check(
            json!({"tools": [search, placeholder], "messages": [prompt]}),
            find,
        );
        check(
            json!({"tools": [search, deferred], "messages": [prompt]}),
            find,
        );
        check(
            json!({"tools": [search, deferred], "messages": [prompt, searched, found]}),
            all,
        );
        check(
            json!({"tools": [search, placeholder], "messages": [prompt, searched, found]}),
            all,
        );
        check(
            json!({"tools": [search, placeholder], "messages": [prompt, searched, nothing]}),
            "says the tool is not offered",
        );
        check(
            json!({"tools": [placeholder], "messages": [prompt]}),
            "says the tool is not offered",
        );
        // A request for a title, and one that came before any server was ready.
        check(
            json!({"tools": [], "thinking": {"type": "disabled"}, "messages": [prompt]}),
            "says ok",
        );
        check(json!({}), "says ok");
    }

    #[test]
    fn history_with_results() {
        let request = json!({"model": "m", "tools": [{"name": "mcp__probe__probe"}], "messages": [
            {"role": "user", "content": [{"type": "text", "text": "run"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "toolu_0000", "name": "mcp__probe__probe", "input": {"id": "a/one"}},
                {"type": "tool_use", "id": "toolu_0001", "name": "mcp__probe__probe", "input": {"id": "a/two"}},
                {"type": "tool_use", "id": "toolu_0002", "name": "mcp__probe__probe", "input": {"id": "b/three"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_0000", "content": "plain"},
                {"type": "tool_result", "tool_use_id": "toolu_0001", "is_error": true, "content": [
                    {"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]}]},
            {"role": "system", "content": "noted"},
        ]});
        let turn = read(&example(), &request);
        assert_eq!(turn.index, 1);
        assert_eq!(turn.called, [0, 1, 2].into());
        let results: Vec<_> = turn
            .results
            .iter()
            .map(|r| (r.index, r.text.as_str()))
            .collect();
        assert_eq!(results, [(0, "plain"), (1, "in parts")]);
        let answer = answer(&request);
        assert_eq!(answer["id"], "msg_0001");
        assert_eq!(answer["model"], "m");
        assert_eq!(answer["stop_reason"], "end_turn");
        assert_eq!(answer["content"], json!([{"type": "text", "text": "done"}]));
    }

    #[test]
    fn a_stream_has_every_block() {
        let request =
            json!({"stream": true, "tools": [{"name": "mcp__probe__probe"}], "messages": []});
        let script = example();
        let turn = read(&script, &request);
        let answer = write(&script, &request, &turn, &next(&script, &turn));
        assert_eq!(answer.content_type, "text/event-stream");
        let names: Vec<&str> = answer
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("event: "))
            .collect();
        let block = [
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
        ];
        let mut expect = vec!["message_start"];
        expect.extend(block.iter().cycle().take(9));
        expect.extend(["message_delta", "message_stop"]);
        assert_eq!(names, expect);
        let delta = r#"{"type":"input_json_delta","partial_json":"{\"id\":\"a/two\"}"}"#;
        assert!(answer.body.contains(delta), "{}", answer.body);
    }

    proptest::proptest! {
        #[test]
        fn any_request_is_answered(request in super::super::json::any_json()) {
            let script = example();
            let turn = read(&script, &request);
            let answer = write(&script, &request, &turn, &next(&script, &turn));
            proptest::prop_assert!(answer.body.contains("stop_reason"));
        }
    }
}

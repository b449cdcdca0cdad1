//! The driver of Codex's app-server: JSON-RPC lines over stdio, the code path of its desktop app and editors.
//!
//! A probe is asked by `mcpServer/tool/call`, which makes a real `tools/call` without a model turn.

use serde_json::{Value, json};

use super::{Drive, Stop, calls, normalise};
use crate::catalogue::Probe;
use crate::probe_server;
use crate::recording::End;

pub(super) async fn drive(drive: &mut Drive<'_>) -> End {
    let mut ready = false;
    match converse(drive, &mut ready).await {
        Ok(()) => End::Finished,
        Err(stop) => stop.end(ready),
    }
}

async fn converse(drive: &mut Drive<'_>, ready: &mut bool) -> Result<(), Stop> {
    let info =
        json!({"name": "capmatrix", "title": "capmatrix", "version": env!("CARGO_PKG_VERSION")});
    call(drive, 1, "initialize", json!({ "clientInfo": info })).await?;
    drive.send(&json!({"method": "initialized"})).await?;
    let wd = drive.wd.display().to_string();
    let started = call(
        drive,
        2,
        "thread/start",
        json!({"cwd": wd, "ephemeral": true}),
    )
    .await?;
    let thread = started["thread"]["id"].clone();
    if !thread.is_string() {
        return Err(Stop::Refused);
    }
    *ready = true;
    for (id, probe) in (3..).zip(calls(drive.probes)) {
        drive.begin(probe);
        ask(drive, &thread, id, probe).await?;
        drive.returned(probe);
    }
    Ok(())
}

/// Sends a request and waits for its result; other messages are passed over.
async fn call(
    drive: &mut Drive<'_>,
    id: usize,
    method: &str,
    params: Value,
) -> Result<Value, Stop> {
    drive
        .send(&json!({"id": id, "method": method, "params": params}))
        .await?;
    let deadline = drive.deadline();
    loop {
        let mut message = drive.receive(deadline).await?;
        if is_response_to(&message, id) {
            return match message.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => Err(Stop::Refused),
            };
        }
    }
}

fn is_response_to(message: &Value, id: usize) -> bool {
    message.get("method").is_none() && message["id"] == id
}

/// Calls the tool and answers what is presented meanwhile.
async fn ask(drive: &mut Drive<'_>, thread: &Value, id: usize, probe: &Probe) -> Result<(), Stop> {
    let params = json!({
        "threadId": thread,
        "server": probe_server::NAME,
        "tool": probe_server::NAME,
        "arguments": {"id": probe.id},
    });
    drive
        .send(&json!({"id": id, "method": "mcpServer/tool/call", "params": params}))
        .await?;
    let deadline = drive.deadline();
    let mut is_back = false;
    while let Some(message) = drive.next_of(probe, is_back, deadline).await? {
        is_back = is_back || is_response_to(&message, id);
        if message["method"] == "mcpServer/elicitation/request" {
            let result = if is_approval(&message["params"]) {
                // Not the probe's: the client asks whether the tool may run at all.
                Some(json!({"action": "accept", "content": {}}))
            } else {
                drive.present(probe, presented(&message["params"]))
            };
            if let Some(result) = result {
                drive
                    .send(&json!({"id": message["id"], "result": result}))
                    .await?;
            }
        }
    }
    Ok(())
}

fn is_approval(params: &Value) -> bool {
    params["_meta"].get("codex_approval_kind").is_some()
}

fn presented(params: &Value) -> Value {
    let same = [
        "mode",
        "message",
        "requestedSchema",
        "url",
        "elicitationId",
        "_meta",
    ];
    normalise(params, &same.map(|name| (name, name)))
}

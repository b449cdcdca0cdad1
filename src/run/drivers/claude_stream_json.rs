//! The driver of Claude Code's stream-json control protocol, the way in which its Agent SDK hosts it.
//!
//! A probe is asked by the control request `mcp_call`, which makes a real `tools/call` without a model turn.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

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
    let deadline = drive.deadline();
    control(drive, "init", json!({"subtype": "initialize"}), deadline).await?;
    wait_for_server(drive, deadline).await?;
    *ready = true;
    for (index, probe) in calls(drive.probes).enumerate() {
        ask(drive, index, probe).await?;
    }
    Ok(())
}

/// Older versions answer a call at once with an error while the server still connects, so its state is asked first.
async fn wait_for_server(drive: &mut Drive<'_>, deadline: Instant) -> Result<(), Stop> {
    for round in 0.. {
        let id = format!("status-{round}");
        let status = control(drive, &id, json!({"subtype": "mcp_status"}), deadline).await?;
        let servers = status["mcpServers"].as_array().cloned().unwrap_or_default();
        let ours = servers
            .iter()
            .find(|server| server["name"] == probe_server::NAME);
        match ours.and_then(|server| server["status"].as_str()) {
            Some("connected") => return Ok(()),
            Some("pending") | None => {}
            Some(_) => return Err(Stop::Refused),
        }
        if Instant::now() >= deadline {
            return Err(Stop::TimedOut);
        }
        // Nothing announces the change of state; the client has to be asked again.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Sends a control request and waits for its response.
async fn control(
    drive: &mut Drive<'_>,
    id: &str,
    request: Value,
    deadline: Instant,
) -> Result<Value, Stop> {
    send_control(drive, id, request).await?;
    loop {
        let message = drive.receive(deadline).await?;
        if is_response_to(&message, id) {
            return Ok(message["response"]["response"].clone());
        }
    }
}

async fn send_control(drive: &mut Drive<'_>, id: &str, request: Value) -> Result<(), Stop> {
    drive
        .send(&json!({"type": "control_request", "request_id": id, "request": request}))
        .await
}

fn is_response_to(message: &Value, id: &str) -> bool {
    message["type"] == "control_response" && message["response"]["request_id"] == id
}

async fn ask(drive: &mut Drive<'_>, index: usize, probe: &Probe) -> Result<(), Stop> {
    drive.begin(probe);
    call(drive, &format!("call-{index}"), probe).await?;
    drive.returned(probe);
    Ok(())
}

/// Calls the tool and answers what is presented meanwhile.
async fn call(drive: &mut Drive<'_>, id: &str, probe: &Probe) -> Result<(), Stop> {
    let tool = format!("mcp__{0}__{0}", probe_server::NAME);
    let request = json!({"subtype": "mcp_call", "tool": tool, "arguments": {"id": probe.id}});
    send_control(drive, id, request).await?;
    let deadline = drive.deadline();
    let mut is_back = false;
    while let Some(message) = drive.next_of(probe, is_back, deadline).await? {
        is_back = is_back || is_response_to(&message, id);
        if message["type"] == "control_request" && message["request"]["subtype"] == "elicitation" {
            let Some(answer) = drive.present(probe, presented(&message["request"])) else {
                continue;
            };
            let response = json!({
                "subtype": "success",
                "request_id": message["request_id"],
                "response": answer,
            });
            drive
                .send(&json!({"type": "control_response", "response": response}))
                .await?;
        }
    }
    Ok(())
}

fn presented(request: &Value) -> Value {
    normalise(
        request,
        &[
            ("mode", "mode"),
            ("message", "message"),
            ("requested_schema", "requestedSchema"),
            ("url", "url"),
            ("elicitation_id", "elicitationId"),
        ],
    )
}

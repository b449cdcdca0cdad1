//! The driver of the project's own line protocol, for the reference client and for adapters around SDKs.
//!
//! One JSON object a line. The client says `{"ready":true}` when it has listed the tools; the driver says
//! `{"call":"<probe id>"}`; the client says `{"presented":{params}}` for each elicitation, which the driver
//! answers with `{"answer":{"action":...}}`, and `{"result":...}` or `{"error":...}` when the call came
//! back. The end of input ends the client.

use serde_json::json;

use super::{Drive, Stop, calls};
use crate::catalogue::Probe;
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
    while !*ready {
        *ready = drive.receive(deadline).await?["ready"] == true;
    }
    for probe in calls(drive.probes) {
        drive.begin(probe);
        ask(drive, probe).await?;
        drive.returned(probe);
    }
    Ok(())
}

async fn ask(drive: &mut Drive<'_>, probe: &Probe) -> Result<(), Stop> {
    drive.send(&json!({ "call": probe.id })).await?;
    let deadline = drive.deadline();
    let mut is_back = false;
    while let Some(message) = drive.next_of(probe, is_back, deadline).await? {
        if let Some(params) = message.get("presented") {
            if let Some(answer) = drive.present(probe, params.clone()) {
                drive.send(&json!({ "answer": answer })).await?;
            }
        } else if message.get("result").is_some() || message.get("error").is_some() {
            is_back = true;
        }
    }
    Ok(())
}

//! The reference client: an MCP client on rmcp that behaves, or misbehaves in one named way.
//!
//! Owns how it starts and ends: the handshake of the eras that it speaks, the tool list, and the server's end. It must not
//! know what a probe sends, and it judges nothing. rmcp does the handshake, `tools/list` and `tools/call`;
//! `elicitation/create`, and results that ask for input, are taken out of the byte stream below it, because a typed SDK
//! would refuse, drop or reorder parts of what a probe sends, and could not write what a faulty client writes.
//!
//! `host-lines`, one JSON object a line: out `ready`, `presented`, `result`, `error`; in `call`, `answer`.

mod behaviours;
pub mod bridge;
mod conversation;
mod hooks;
mod pipes;
mod rounds;

use std::time::Duration;

use anyhow::{Context, bail};
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitationCapability, FormElicitationCapability,
    Implementation, ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use tokio::io::DuplexStream;

pub use behaviours::{Behaviour, Class, Judgement, Pace, all};
use conversation::{Conversation, host_lines};
use hooks::{Ends, Hooks, Speaks, Unknown};
use pipes::Pipes;

/// How long the server may take for the handshake and the tool list.
const STARTUP: Duration = Duration::from_secs(30);
/// How long the server may take to end once its input is closed.
const GOODBYE: Duration = Duration::from_secs(5);

/// Runs the fake client until its standard input or the server closes.
///
/// # Errors
/// When there is no such behaviour, the server cannot be started or goes away first, or the host breaks the protocol.
pub async fn run(behaviour: &str, server: &[String]) -> anyhow::Result<()> {
    let behaviour = behaviours::find(behaviour)?;
    let Pipes {
        mut server,
        channel,
        mut taken,
        rmcp_side,
        upward,
    } = Pipes::open(server, behaviour.hooks)?;
    let started = tokio::time::timeout(STARTUP, start(rmcp_side, behaviour.hooks))
        .await
        .context("the MCP server did not finish the handshake and the tool list in time")
        .flatten();
    let held = match started {
        Err(error) => Err(error),
        Ok(service) => {
            let mut conversation = Conversation::new(behaviour, service, channel.clone());
            let held = conversation.hold(&mut host_lines(), &mut taken).await;
            if held.is_ok() && behaviour.hooks.ends == Ends::BySignal {
                pipes::terminate(&server).context("cannot end the MCP server")?;
                let _ = tokio::time::timeout(GOODBYE, server.wait()).await;
            }
            let _ = conversation.service.cancel().await;
            held
        }
    };
    // That its input is closed tells the server to end; rmcp is not to write to it any more.
    upward.abort();
    channel.close().await;
    if tokio::time::timeout(GOODBYE, server.wait()).await.is_err() {
        server.kill().await.context("cannot end the MCP server")?;
    }
    held
}

/// Handshake and tool list. The lifecycle and the versions are named, because rmcp's defaults do not agree with each
/// other: the lifecycle is the legacy one, the version offered in it 2026-07-28, which has no `initialize`.
async fn start(
    transport: DuplexStream,
    hooks: Hooks,
) -> anyhow::Result<RunningService<RoleClient, ClientConfig>> {
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(
        ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new()),
    );
    let me = Implementation::new("capmatrix-reference", env!("CARGO_PKG_VERSION"));
    let legacy = ProtocolVersion::LATEST_WITH_INITIALIZE;
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match hooks.speaks {
        Speaks::Legacy => ClientLifecycleMode::Initialize,
        Speaks::Modern => ClientLifecycleMode::Discover { preferred_versions },
        Speaks::Both => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(legacy.clone()),
        },
    };
    let config = ClientConfig::new(capabilities, me).with_protocol_version(legacy);
    let service = config
        .serve_with_lifecycle(transport, lifecycle)
        .await
        .context("the handshake with the MCP server failed")?;
    let version = service
        .peer()
        .peer_info()
        .map(|info| info.protocol_version.clone());
    // rmcp goes on with any version; basic/lifecycle "Version Negotiation" asks a client to disconnect.
    if let Some(version) = version
        && hooks.unknown == Unknown::Disconnects
        && !ProtocolVersion::KNOWN_VERSIONS.contains(&version)
    {
        bail!("the MCP server speaks {version}, which this client does not");
    }
    service
        .list_all_tools()
        .await
        .context("tools/list failed")?;
    Ok(service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_goes_away_ends_the_handshake() {
        let argv = ["sh", "-c", "read line"].map(str::to_owned);
        for speaks in [Speaks::Legacy, Speaks::Modern, Speaks::Both] {
            let hooks = Hooks {
                speaks,
                ..hooks::BEHAVES
            };
            let pipes = Pipes::open(&argv, hooks).unwrap();
            let ended =
                tokio::time::timeout(Duration::from_secs(10), start(pipes.rmcp_side, hooks)).await;
            assert!(matches!(ended, Ok(Err(_))), "{speaks:?}");
        }
    }
}

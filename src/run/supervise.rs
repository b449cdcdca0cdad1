//! One process of capmatrix inside the sandbox, seen from outside.
//!
//! Owns its start with a cleared environment, the wait for it, and that nothing of it stays. It must not know what it does
//! in there.

use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use super::sandbox::Wrapper;
use super::{Interrupted, Runner, stopped};

/// Runs capmatrix inside the sandbox with `args`. Gives what it said when it failed.
///
/// # Errors
/// [`Interrupted`], or when it cannot be started.
pub async fn supervise(
    runner: &Runner,
    args: &[&std::ffi::OsStr],
    patience: Duration,
) -> anyhow::Result<Option<String>> {
    let own = std::env::current_exe().context("cannot find capmatrix itself")?;
    let mut command = runner.wrapper.command(own.as_os_str());
    command.args(args);
    let workspace = match runner.wrapper {
        Wrapper::Namespace { .. } => None,
        Wrapper::Env => Some(tempfile::Builder::new().prefix("capmatrix-").tempdir()?),
    };
    if let Some(workspace) = &workspace {
        command.arg("--workspace").arg(workspace.path());
        // The supervisor ends what it started when its standard input closes; killing it would not.
        command.kill_on_drop(false);
    }
    clear_environment(&mut command);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the sandbox")?;
    let result = wait(&mut child, patience, runner.interrupt.clone()).await;
    drop(workspace);
    result
}

/// What stands in the supervisor's environment can be read by the client through /proc.
fn clear_environment(command: &mut Command) {
    command.env_clear();
    for key in ["PATH", "HOME"] {
        if let Some(value) = std::env::var_os(key) {
            command.env(key, value);
        }
    }
}

async fn wait(
    child: &mut Child,
    patience: Duration,
    mut interrupt: watch::Receiver<bool>,
) -> anyhow::Result<Option<String>> {
    let lifeline = child.stdin.take();
    let mut stderr = child
        .stderr
        .take()
        .context("no standard error")?
        .take(16 * 1024);
    let mut said = Vec::new();
    let ended = tokio::select! {
        ended = timeout(patience, async {
            let _ = stderr.read_to_end(&mut said).await;
            child.wait().await
        }) => ended,
        () = stopped(&mut interrupt) => {
            end(child, lifeline).await;
            return Err(Interrupted.into());
        }
    };
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    match ended {
        Ok(status) if status.as_ref().is_ok_and(std::process::ExitStatus::success) => Ok(None),
        Ok(_) => Ok(Some(format!("the sandbox failed: {said}"))),
        Err(_) => {
            end(child, lifeline).await;
            Ok(Some(
                "the sandbox's supervisor did not keep its own deadline".to_owned(),
            ))
        }
    }
}

/// Ends a supervisor: first by closing its standard input, so that it cleans up, then by force.
async fn end(child: &mut Child, lifeline: Option<tokio::process::ChildStdin>) {
    drop(lifeline);
    if timeout(Duration::from_secs(3), child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}

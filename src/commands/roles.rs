//! The binary's other roles: probe server, session supervisor, program check, fake client.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::root::Root;
use super::{COULD_NOT_TEST, Failure, OK, output};
use crate::catalogue::script::Reply;
use crate::clients::Installed;
use crate::probe_server::{self, stdio};
use crate::recording::write::Recorder;
use crate::run::{orphans, sandbox, session, spec};

/// A line that is as long as a program's version output may be.
const MAX_SAID: usize = 4096;

pub(super) fn serve(
    root: Option<PathBuf>,
    out: Option<PathBuf>,
    answer_timeout: u64,
    session: Option<PathBuf>,
) -> Result<u8, Failure> {
    let by_hand = session.is_none();
    let (dir, options) = match session {
        Some(dir) => {
            let text = fs::read(dir.join(spec::FILE)).context("cannot read the session's spec")?;
            let spec: spec::SessionSpec =
                serde_json::from_slice(&text).context("cannot parse the session's spec")?;
            let options = spec.server_options(&dir);
            (dir, options)
        }
        None => {
            let root = Root::find(root)?;
            let options = probe_server::Options {
                probes: root.catalogue()?,
                revision: None,
                answer_timeout: Duration::from_secs(answer_timeout),
                back: None,
                held: None,
                stop_when_silent: false,
            };
            (out.unwrap_or_else(|| root.runs().join("by-hand")), options)
        }
    };
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let name = crate::recording::write::part_name();
    let recorder = Recorder::create(&dir.join(&name), "server").map_err(|error| {
        Failure::request(error).hint("name a folder that you can write with --out")
    })?;
    if by_hand {
        output::note(&format!(
            "capmatrix: recording to {}",
            dir.join(&name).display()
        ));
    }
    let script =
        probe_server::handshake::scripted(&options.probes).and_then(|probe| probe.script.as_ref());
    let stays = script.is_some_and(|script| script.reply == Reply::Stays);
    if stays {
        probe_server::handshake::watch_signals(recorder.clone());
    }
    // An error here is a client that went away while it was written to: the recording shows it.
    let _ = probe_server::serve(
        &options,
        &recorder,
        &stdio::lines(io::stdin()),
        io::stdout(),
    );
    if stays {
        probe_server::handshake::stay(&recorder);
    }
    Ok(OK)
}

/// Runs an async role on a runtime of its own, and ends when whoever started it is gone.
fn block_on(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (gone, is_gone) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            drop(gone);
        });
        tokio::select! {
            result = work => result,
            _ = is_gone => {
                orphans::end_all();
                anyhow::bail!("whoever started this session is gone")
            }
        }
    })
}

pub(super) fn session(dir: &Path, workspace: Option<&Path>) -> Result<u8, Failure> {
    let result = block_on(session::run(dir, workspace));
    remove(workspace);
    result?;
    Ok(OK)
}

fn remove(workspace: Option<&Path>) {
    if let Some(workspace) = workspace {
        let _ = fs::remove_dir_all(workspace);
    }
}

/// What `verify` is told, and what it found.
#[derive(Serialize, Deserialize)]
struct VerifySpec {
    argv: Vec<String>,
    visible: Vec<PathBuf>,
}

const VERIFY_SPEC: &str = "verify.json";
const VERIFIED: &str = "verified.txt";

/// Writes what the role `verify` in `dir` is to start.
pub(super) fn write_verify_spec(
    dir: &Path,
    installed: &Installed,
    args: &[String],
) -> anyhow::Result<()> {
    let mut argv = installed.argv.clone();
    argv.extend(args.iter().cloned());
    let spec = VerifySpec {
        argv,
        visible: crate::run::visible_folders(installed),
    };
    fs::write(dir.join(VERIFY_SPEC), serde_json::to_vec(&spec)?)?;
    Ok(())
}

/// What the program of `write_verify_spec` printed.
pub(super) fn read_verified(dir: &Path) -> anyhow::Result<String> {
    fs::read_to_string(dir.join(VERIFIED)).context("the program said nothing")
}

pub(super) fn verify(dir: &Path, workspace: Option<&Path>) -> Result<u8, Failure> {
    let result = block_on(start_program(dir, workspace));
    remove(workspace);
    result?;
    Ok(OK)
}

async fn start_program(dir: &Path, workspace: Option<&Path>) -> anyhow::Result<()> {
    let spec: VerifySpec = serde_json::from_slice(&fs::read(dir.join(VERIFY_SPEC))?)?;
    let paths = match workspace {
        Some(workspace) => {
            orphans::adopt();
            sandbox::enter_env(workspace, dir)?
        }
        None => sandbox::enter_namespace(dir, &spec.visible)?,
    };
    let (program, args) = spec.argv.split_first().context("no program")?;
    let run = tokio::process::Command::new(program)
        .args(args)
        .env_clear()
        .env("HOME", &paths.home)
        .env("TMPDIR", &paths.tmp)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir(&paths.wd)
        .stdin(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(30), run)
        .await
        .context("it did not end within 30 s")?
        .with_context(|| format!("cannot start {program}"))?;
    let said = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SAID)]).into_owned();
        crate::render::escape::terminal(text.trim(), MAX_SAID)
    };
    anyhow::ensure!(
        output.status.success(),
        "{program} ended with {}: {}",
        output.status,
        said(&output.stderr)
    );
    fs::write(paths.rec.join(VERIFIED), said(&output.stdout))?;
    orphans::end_all();
    Ok(())
}

pub(super) fn fake_client(name: &str, server: &[String]) -> Result<u8, Failure> {
    be(crate::fakes::run(name, server))
}

pub(super) fn http_bridge(url: &str, bends: &str) -> Result<u8, Failure> {
    be(crate::fakes::bridge::run(url, bends))
}

/// Runs a part of a fake client on a runtime of its own.
fn be(work: impl Future<Output = anyhow::Result<()>>) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let result = runtime.block_on(work);
    // Its reader of standard input may still wait; the process is to end all the same.
    runtime.shutdown_background();
    result.map_err(|error| Failure {
        code: COULD_NOT_TEST,
        error,
        hint: None,
    })?;
    Ok(OK)
}

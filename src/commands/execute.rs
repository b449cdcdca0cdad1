//! Running clients for a subcommand: installs them, runs the sessions, and ends cleanly when interrupted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::watch;

use super::targets::Wanted;
use super::{Failure, output};
use crate::clients::install::{self, Cache, InstallError};
use crate::clients::{Installed, Source};
use crate::plan::PlannedTarget;
use crate::recording::Recording;
use crate::run::sandbox::Wrapper;
use crate::run::spec::Limits;
use crate::run::{self, Interrupted, Job, Progress, Runner};

/// The shortest time for a step that is not an answer: starting, connecting, ending.
const STEP_MS: u64 = 20_000;

/// Deadlines for sessions of `probes` probes in which an answer may take `answer_timeout`.
pub(super) fn limits(answer_timeout: Duration, probes: usize) -> Limits {
    let answer_ms = u64::try_from(answer_timeout.as_millis())
        .unwrap_or(u64::MAX / 1000)
        .clamp(1, 3_600_000);
    let step_ms = STEP_MS + answer_ms;
    // A session ends at its first missing answer, so it needs one answer's time and a little for each probe.
    let session_ms = 2 * step_ms + 500 * u64::try_from(probes).unwrap_or(0);
    Limits {
        answer_ms,
        step_ms,
        session_ms,
    }
}

/// Runs `work` with a signal that becomes true at Ctrl-C or SIGTERM.
pub(super) fn with_interrupt<T>(
    work: impl AsyncFnOnce(watch::Receiver<bool>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        let (stop, stopped) = watch::channel(false);
        let signals = tokio::spawn(async move {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut interrupt), Ok(mut terminate)) = (
                signal(SignalKind::interrupt()),
                signal(SignalKind::terminate()),
            ) else {
                return;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            output::note("stopping ...");
            let _ = stop.send(true);
            // Keeps the channel open: receivers wait for a value, not for its end.
            std::future::pending::<()>().await;
        });
        let result = work(stopped).await;
        signals.abort();
        result
    })
}

/// A client that could not be had, and the others go on.
pub(super) struct NotHad {
    /// What was wanted.
    pub(super) what: String,
    /// Why it could not be had.
    pub(super) failure: Failure,
}

/// Clients that are ready, and those that are not.
#[derive(Default)]
pub(super) struct Ready {
    /// What can be run.
    pub(super) targets: Vec<(PlannedTarget, Installed)>,
    /// What cannot.
    pub(super) missing: Vec<NotHad>,
}

/// Gets every wanted client ready. A version that does not exist ends the run; any other failure only loses that client.
pub(super) async fn get_ready(
    wanted: &[Wanted],
    runner: &Runner,
    mut interrupt: watch::Receiver<bool>,
) -> Result<Ready, Failure> {
    let mut ready = Ready::default();
    for wanted in wanted {
        let installed = tokio::select! {
            installed = install_one(wanted, runner) => installed,
            () = run::stopped(&mut interrupt) => return Err(anyhow::Error::from(Interrupted).into()),
        };
        match installed {
            Ok(installed) => {
                let planned = wanted.planned(&installed.version);
                let targets = planned.map(|planned| (planned, installed.clone()));
                ready.targets.extend(targets);
            }
            Err(failure) if failure.code == super::COULD_NOT_TEST => {
                let version = wanted.version.as_deref().unwrap_or(&wanted.client.pinned);
                let what = format!("{}@{version}", wanted.client.id);
                ready.missing.push(NotHad { what, failure });
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(ready)
}

async fn install_one(wanted: &Wanted, runner: &Runner) -> Result<Installed, Failure> {
    let failed = |error: InstallError| {
        let hint = error.hint();
        let failure = match error {
            InstallError::NoSuchVersion { .. } => Failure::request(error),
            _ => Failure::untested(error),
        };
        failure.hint(hint.unwrap_or_default())
    };
    if let Some(binary) = &wanted.binary {
        let version_args = match &wanted.client.source {
            Source::Npm { verify, .. } => verify.clone(),
            Source::Path { version, .. } => version.clone(),
            Source::Builtin { .. } => vec!["--version".to_owned()],
        };
        return local(binary, &version_args, runner).await;
    }
    match &wanted.client.source {
        Source::Npm { verify, .. } => {
            let cache = Cache::new(Cache::default_root().map_err(failed)?);
            let client = &wanted.client;
            let version = install::resolve(&cache, client, wanted.version.as_deref())
                .await
                .map_err(failed)?;
            let progress = |text: &str| output::note(&format!("{}@{version}: {text}", client.id));
            let start =
                async |installed: &Installed| start_once(installed, verify, runner).await.map(drop);
            install::ensure(&cache, client, &version, &progress, start)
                .await
                .map_err(failed)
        }
        Source::Path { program, version } => local(Path::new(program), version, runner).await,
        Source::Builtin { args } => {
            let mut installed = install::builtin(&wanted.client.pinned).map_err(failed)?;
            installed.argv.extend(args.iter().cloned());
            Ok(installed)
        }
    }
}

/// A program that is on disk already; it is asked for its version in the sandbox.
async fn local(
    program: &Path,
    version_args: &[String],
    runner: &Runner,
) -> Result<Installed, Failure> {
    let (argv, root, digest) = install::local(program).map_err(Failure::untested)?;
    let mut installed = Installed {
        version: String::new(),
        argv,
        root,
        digest,
    };
    let said = start_once(&installed, version_args, runner).await?;
    let version = said
        .split_whitespace()
        .map(|word| word.trim_start_matches(['v', 'V']))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .map(|word| {
            word.trim_matches(|c: char| !c.is_ascii_alphanumeric())
                .to_owned()
        });
    installed.version = version.ok_or_else(|| {
        let error = anyhow::anyhow!("{} did not print a version", program.display());
        Failure::untested(error)
            .hint("a version starts with a digit; see `version` in the client file")
    })?;
    Ok(installed)
}

/// Starts a program once in the sandbox. Gives what it printed.
async fn start_once(
    installed: &Installed,
    args: &[String],
    runner: &Runner,
) -> anyhow::Result<String> {
    let dir = tempfile::Builder::new()
        .prefix("capmatrix-verify-")
        .tempdir()?;
    super::roles::write_verify_spec(dir.path(), installed, args)?;
    let role = std::ffi::OsStr::new("verify");
    let patience = Duration::from_secs(60);
    match run::supervise::supervise(runner, &[role, dir.path().as_os_str()], patience).await? {
        Some(failure) => anyhow::bail!(failure),
        None => super::roles::read_verified(dir.path()),
    }
}

/// The runner for a run below `sessions`.
pub(super) async fn runner(
    sessions: PathBuf,
    limits: Limits,
    jobs: Option<usize>,
    interrupt: watch::Receiver<bool>,
) -> Runner {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wrapper = Wrapper::detect().await;
    if let Some(warning) = run::isolation_warning(wrapper.isolation()) {
        output::note(&format!("warning: {warning}"));
    }
    Runner {
        wrapper,
        dir: sessions,
        limits,
        jobs: jobs.unwrap_or(cores),
        interrupt,
    }
}

/// Runs all jobs, telling of each session on standard error.
pub(super) async fn run_sessions(
    runner: Runner,
    jobs: Vec<Job>,
) -> Result<Vec<Recording>, Failure> {
    let total: usize = jobs.iter().map(|job| job.probes.len()).sum();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let tell = move |progress: &Progress| {
        let Progress::SessionDone {
            target,
            label,
            cells,
            ms,
            broken_by,
        } = progress;
        let before = done.fetch_add(*cells, std::sync::atomic::Ordering::Relaxed);
        output::note(&progress_line(
            before + cells,
            total,
            &format!("{target}#{label}"),
            *ms,
            broken_by.as_ref(),
        ));
    };
    Ok(run::run_all(Arc::new(runner), jobs, tell).await?)
}

/// One line of progress.
fn progress_line(
    done: usize,
    total: usize,
    session: &str,
    ms: u64,
    broken_by: Option<&crate::names::ProbeId>,
) -> String {
    let width = total.to_string().len();
    let seconds = ms / 1000;
    let tenths = ms % 1000 / 100;
    let mut line = format!("[{done:>width$}/{total}] {seconds:>3}.{tenths}s {session}");
    if let Some(probe) = broken_by {
        line.push_str(&format!("  session broken by {probe}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_aligned_line() {
        assert_eq!(
            progress_line(7, 120, "codex@0.1.0/exec#2025-11-25", 1250, None),
            "[  7/120]   1.2s codex@0.1.0/exec#2025-11-25"
        );
    }
}

//! Running: the only stage with processes, sockets and clocks.
//!
//! Owns, outside the sandbox, how sessions are started side by side, what follows when one breaks, and that
//! nothing is left behind. It yields recordings; it must not judge them.

pub mod drivers;
pub mod host;
pub mod orphans;
pub mod resolver;
pub mod sandbox;
pub mod session;
pub mod spec;
pub mod supervise;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::catalogue::Probe;
use crate::catalogue::script::Script;
use crate::clients::Installed;
use crate::names::{ProbeId, Revision, Target};
use crate::outcome;
use crate::plan::{self, Batch, PlannedTarget};
use crate::recording::{Entry, Event, FORMAT, Header, Isolation, Label, Recording, read};

use sandbox::Wrapper;
use spec::{Limits, SessionSpec};
use supervise::supervise;

/// The name of a session's recording in its folder.
pub const RECORDING: &str = "recording.jsonl";

/// What all sessions of a run share.
pub struct Runner {
    /// How the sandbox is had.
    pub wrapper: Wrapper,
    /// The folder below which each session has one.
    pub dir: PathBuf,
    /// The deadlines.
    pub limits: Limits,
    /// How many sessions run side by side.
    pub jobs: usize,
    /// Becomes true when the run is to stop.
    pub interrupt: watch::Receiver<bool>,
}

/// The run was interrupted; nothing of it counts.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// What is told while a run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Progress {
    /// A session ended.
    SessionDone {
        /// Its target.
        target: Target,
        /// What tells it from the target's other sessions.
        label: String,
        /// How many cells rest on it.
        cells: usize,
        /// How long it took.
        ms: u64,
        /// Why it ended the way it did, if it broke.
        broken_by: Option<ProbeId>,
    },
}

/// One session's work; more sessions follow if it breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The target.
    pub planned: PlannedTarget,
    /// The program.
    pub installed: Installed,
    /// The probes, controls first.
    pub probes: Vec<Probe>,
    /// The revision that its sessions are to be in; none where the client and the server settle on one.
    pub revision: Option<Revision>,
}

impl Job {
    fn label(&self) -> Label {
        Label::new(self.revision, plan::script_of(&self.probes))
    }

    /// Whether it mostly waits, so that it needs no core for itself.
    fn waits(&self) -> bool {
        let mut scripts = self.probes.iter().filter_map(|probe| probe.script.as_ref());
        scripts.any(Script::waits)
    }
}

/// Runs all jobs side by side. The sessions come back in the order of the jobs.
///
/// # Errors
/// [`Interrupted`], or when a session's folder cannot be written.
pub async fn run_all(
    runner: Arc<Runner>,
    jobs: Vec<Job>,
    progress: impl Fn(&Progress) + Send + Sync + 'static,
) -> anyhow::Result<Vec<Recording>> {
    let progress = Arc::new(progress);
    let permits = Arc::new(Semaphore::new(runner.jobs.max(1)));
    let mut tasks = JoinSet::new();
    // Those that take longest first, so that no core waits for one of them at the end.
    let mut jobs: Vec<(usize, Job)> = jobs.into_iter().enumerate().collect();
    jobs.sort_by_key(|(_, job)| Reverse(job.probes.len()));
    for (index, job) in jobs {
        let (runner, progress, permits) = (runner.clone(), progress.clone(), permits.clone());
        tasks.spawn(async move {
            let _permit = match job.waits() {
                true => None,
                false => permits.acquire().await.ok(),
            };
            let runs = run_job(&runner, &job, &*progress).await;
            (index, runs)
        });
    }
    let mut done = BTreeMap::new();
    let mut failed = None;
    // All are waited for, also after one failed: each cleans up after itself.
    while let Some(task) = tasks.join_next().await {
        match task.context("a session's task panicked") {
            Ok((index, Ok(runs))) => {
                done.insert(index, runs);
            }
            Ok((_, Err(error))) | Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(done.into_values().flatten().collect()),
    }
}

async fn run_job(
    runner: &Runner,
    job: &Job,
    progress: &(impl Fn(&Progress) + ?Sized),
) -> anyhow::Result<Vec<Recording>> {
    let mut queue = VecDeque::from([Batch {
        probes: job.probes.clone(),
        alone_for: None,
    }]);
    let mut recordings: Vec<Recording> = Vec::new();
    let mut decided: BTreeSet<ProbeId> = BTreeSet::new();
    let mut broke_once: BTreeSet<ProbeId> = BTreeSet::new();
    while let Some(batch) = queue.pop_front() {
        let name = session_name(job, recordings.len() + 1);
        let started = std::time::Instant::now();
        let mut recording = run_session(runner, job, &batch.probes, &name).await?;
        let broken = batch
            .probes
            .iter()
            .map(|p| &p.id)
            .find(|id| outcome::broke_session(&recording, id));
        let first_break =
            broken.filter(|id| batch.alone_for.is_none() && !broke_once.contains(*id));
        let counts = |id: &ProbeId| {
            !decided.contains(id) && batch.alone_for.as_ref().is_none_or(|alone| alone == id)
        };
        let own: Vec<ProbeId> = batch
            .probes
            .iter()
            .map(|probe| &probe.id)
            .filter(|id| counts(id))
            .cloned()
            .collect();
        let (cells, left): (Vec<ProbeId>, Vec<ProbeId>) = own.into_iter().partition(|id| {
            first_break.is_none_or(|broken| id != broken && outcome::was_touched(&recording, id))
        });
        decided.extend(cells.iter().cloned());
        if let Some(broken) = first_break {
            broke_once.insert(broken.clone());
            queue.extend(plan::after_break(&batch.probes, broken, &left));
        }
        progress(&Progress::SessionDone {
            target: job.planned.target.clone(),
            label: job.label().to_string(),
            cells: cells.len(),
            ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            broken_by: broken.cloned(),
        });
        recording.header.note = match &batch.alone_for {
            Some(id) => Some(format!(
                "run again for {id} alone, which broke the session before"
            )),
            None if !recordings.is_empty() => {
                Some("a fresh session, because the one before broke".to_owned())
            }
            None => None,
        };
        recording.header.cells = cells;
        let dir = runner.dir.join(&name);
        read::save(&recording, &dir.join(RECORDING))
            .with_context(|| format!("cannot write below {}", dir.display()))?;
        remove_parts(&dir);
        recordings.push(recording);
    }
    Ok(recordings)
}

fn session_name(job: &Job, number: usize) -> String {
    let target = &job.planned.target;
    let base = format!("{}-{}-{}", target.client, target.version, target.surface);
    job.label().name(&base, number)
}

/// Runs one session in the sandbox and merges what its processes recorded.
async fn run_session(
    runner: &Runner,
    job: &Job,
    probes: &[Probe],
    name: &str,
) -> anyhow::Result<Recording> {
    let dir = runner.dir.join(name);
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let dir = fs::canonicalize(&dir)?;
    let spec = SessionSpec {
        target: job.planned.target.clone(),
        client: job.planned.client.clone(),
        surface: job.planned.surface.clone(),
        installed: job.installed.clone(),
        revision: job.revision,
        probes: probes.to_vec(),
        limits: limits(runner.limits, probes),
        isolation: runner.wrapper.isolation(),
        visible: visible_folders(&job.installed),
    };
    fs::write(dir.join(spec::FILE), serde_json::to_vec(&spec)?)
        .with_context(|| format!("cannot write below {}", dir.display()))?;
    let patience = Duration::from_millis(spec.limits.session_ms) + Duration::from_secs(15);
    let failure = supervise(runner, &["session".as_ref(), dir.as_os_str()], patience).await?;
    Ok(collect(&dir, &spec, failure))
}

/// A handshake that goes by a script ends in nothing at all as often as not: what a client does then, it does soon. No
/// client that was seen waits longer than 11 s for an answer.
fn limits(limits: Limits, probes: &[Probe]) -> Limits {
    const SCRIPT_MS: u64 = 15_000;
    match plan::script_of(probes) {
        Some(_) => Limits {
            session_ms: limits.session_ms.min(SCRIPT_MS),
            ..limits
        },
        None => limits,
    }
}

/// The program's folder, and the one of its interpreter: they may lie below a folder that is hidden.
pub fn visible_folders(installed: &Installed) -> Vec<PathBuf> {
    let mut folders = vec![installed.root.clone()];
    if let Some(program) = installed.argv.first().map(Path::new)
        && !program.starts_with(&installed.root)
        && let Some(folder) = program.parent().and_then(Path::parent)
        && folder.parent().is_some()
    {
        folders.push(folder.to_owned());
    }
    folders
}

/// Waits until the run is to stop.
pub async fn stopped(interrupt: &mut watch::Receiver<bool>) {
    // Without a sender nobody can interrupt any more.
    if interrupt.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The recording of a session whose supervisor is gone: what there is, with the harness's own failure in it.
fn collect(dir: &Path, spec: &SessionSpec, failure: Option<String>) -> Recording {
    let (mut recording, failure) = match read::merge(dir, session::PART) {
        Ok(recording) => (recording, failure),
        Err(error) => (empty(spec), failure.or_else(|| Some(error.to_string()))),
    };
    if let Some(message) = failure {
        recording.entries.push(Entry {
            t_us: 0,
            source: "session".to_owned(),
            event: Event::HarnessError { message },
        });
    }
    recording
}

fn empty(spec: &SessionSpec) -> Recording {
    Recording {
        header: Header {
            format: FORMAT,
            capmatrix: env!("CARGO_PKG_VERSION").to_owned(),
            target: spec.target.clone(),
            revision: spec.revision,
            script: plan::script_of(&spec.probes).cloned(),
            digest: spec.installed.digest.clone(),
            platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            isolation: spec.isolation,
            settings: BTreeMap::new(),
            probes: spec.probes.iter().map(|probe| probe.id.clone()).collect(),
            cells: Vec::new(),
            note: None,
            asked_by: spec.surface.asked_by(),
            answered_by: spec.surface.answered_by(),
        },
        entries: Vec::new(),
        end: None,
    }
}

fn remove_parts(dir: &Path) {
    let _ = fs::remove_file(dir.join(spec::FILE));
    let _ = fs::remove_file(dir.join(session::PART));
    let _ = fs::remove_file(dir.join(session::BACK));
    let _ = fs::remove_file(dir.join(session::HELD));
    for part in read::server_parts(dir).unwrap_or_default() {
        let _ = fs::remove_file(part);
    }
}

/// What the report says of a sandbox that could not be had in full.
#[must_use]
pub fn isolation_warning(isolation: Isolation) -> Option<&'static str> {
    match isolation {
        Isolation::Namespace => None,
        Isolation::Env => Some(
            "no network and PID namespace could be had: clients ran with a cleared environment only \
             (isolation = \"env\")",
        ),
    }
}

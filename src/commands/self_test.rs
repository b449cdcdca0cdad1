//! `self-test`: the fakes through the real pipeline, each against the judgement that it must get.
//!
//! Owns which fakes are run and how; what is printed of them is in `report`. It must not know what a fake does.

mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use tokio::sync::watch;

use super::root::Root;
use super::run_dir::{self, NewRunDir, RunFile};
use super::{COULD_NOT_TEST, Failure, OK, execute, output};
use crate::catalogue::Probe;
use crate::cli::ListFormat;
use crate::clients::{Client, DriverKind, Source, Surface, install};
use crate::fakes::{self, Behaviour, Pace};
use crate::names::{self, Target, TransportKind};
use crate::plan::{self, PlannedTarget};
use crate::recording::Recording;
use crate::run::spec::Limits;
use crate::run::{self, Job, Progress, Runner};
use crate::spec::Rules;
use report::Line;

/// Long enough for a busy machine, short enough for the fakes that never reply.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// How many sessions that only wait for that time to pass run beside those that work: they need no core.
const WAITING: usize = 24;

/// How long a step of those may take. Some wait for the end of a step itself, in which nothing is on its way.
const WAITING_STEP_MS: u64 = 8_000;

pub(super) fn self_test(
    root: Option<PathBuf>,
    prefix: Option<&str>,
    format: ListFormat,
    jobs: usize,
) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let catalogue = root.catalogue()?;
    let behaviours = select(prefix)?;
    let place = root.runs().join("self-test");
    let dir = NewRunDir::create(&place, RunFile::new(&[], None))?;
    let of = |pace: Pace| -> Vec<&Behaviour> {
        let mut chosen = behaviours.clone();
        chosen.retain(|behaviour| behaviour.pace == pace);
        chosen
    };
    let working = jobs_for(&of(Pace::Works), &catalogue)?;
    let waiting = jobs_for(&of(Pace::Waits), &catalogue)?;
    let sessions = dir.sessions();
    let recordings = execute::with_interrupt(async |interrupt| {
        run_all(sessions, working, waiting, jobs, interrupt).await
    })?;
    let (evidence, matrix) = run_dir::judge(Rules::builtin(), &recordings, &catalogue);
    dir.finish(&evidence, &matrix)?;
    let lines: Vec<Line> = behaviours
        .iter()
        .map(|behaviour| Line::new(behaviour, &matrix))
        .collect();
    output::result(&report::render(&lines, format))?;
    let is_sound = lines.iter().all(Line::is_as_expected);
    Ok(if is_sound { OK } else { COULD_NOT_TEST })
}

/// Runs the sessions that work `jobs` at a time, and beside them those that wait.
async fn run_all(
    sessions: PathBuf,
    working: Vec<Job>,
    waiting: Vec<Job>,
    jobs: usize,
    interrupt: watch::Receiver<bool>,
) -> Result<Vec<Recording>, Failure> {
    let limits = execute::limits(ANSWER_TIMEOUT, 2);
    let runner = execute::runner(sessions, limits, Some(jobs), interrupt).await;
    let beside = Runner {
        wrapper: runner.wrapper,
        dir: runner.dir.clone(),
        limits: Limits {
            step_ms: limits.step_ms.min(WAITING_STEP_MS),
            ..limits
        },
        jobs: WAITING,
        interrupt: runner.interrupt.clone(),
    };
    let total: usize = working
        .iter()
        .chain(&waiting)
        .map(|job| job.probes.len())
        .sum();
    let done = Arc::new(AtomicUsize::new(0));
    let tell = || {
        let done = done.clone();
        move |progress: &Progress| {
            let Progress::SessionDone {
                target, cells, ms, ..
            } = progress;
            let done = done.fetch_add(*cells, Ordering::Relaxed) + cells;
            let (seconds, tenths) = (ms / 1000, ms % 1000 / 100);
            output::note(&format!(
                "[{done:>3}/{total}] {seconds:>3}.{tenths}s {}",
                target.surface
            ));
        }
    };
    // Both are waited for, also after one failed: each cleans up after itself.
    let (working, waiting) = tokio::join!(
        run::run_all(Arc::new(runner), working, tell()),
        run::run_all(Arc::new(beside), waiting, tell()),
    );
    let mut recordings = working?;
    recordings.extend(waiting?);
    Ok(recordings)
}

fn select(prefix: Option<&str>) -> Result<Vec<&'static Behaviour>, Failure> {
    let Some(prefix) = prefix else {
        return Ok(fakes::all().collect());
    };
    let chosen: Vec<_> = fakes::all()
        .filter(|behaviour| behaviour.name.starts_with(prefix))
        .collect();
    if chosen.is_empty() {
        let hint = names::did_you_mean(prefix, fakes::all().map(|behaviour| behaviour.name));
        return Err(Failure::request(anyhow!("no behaviour starts with `{prefix}`")).hint(hint));
    }
    Ok(chosen)
}

fn jobs_for(behaviours: &[&Behaviour], catalogue: &[Probe]) -> Result<Vec<Job>, Failure> {
    let installed = install::builtin(env!("CARGO_PKG_VERSION")).map_err(Failure::untested)?;
    behaviours
        .iter()
        .map(|behaviour| {
            let subject = catalogue
                .iter()
                .find(|probe| probe.id.0 == behaviour.subject)
                .ok_or_else(|| {
                    Failure::request(anyhow!("self-test needs the probe {}", behaviour.subject))
                })?;
            Ok(Job {
                planned: planned(behaviour, &installed.version),
                installed: installed.clone(),
                probes: plan::with_controls(&[subject], catalogue),
                revision: behaviour.revision,
            })
        })
        .collect()
}

/// The fake as a client file would describe it.
fn planned(behaviour: &Behaviour, version: &str) -> PlannedTarget {
    let mut args = vec!["fake-client", behaviour.name, "--"];
    match behaviour.bends {
        None => args.push("{server}"),
        Some(bends) => args.extend([
            "{server_command}",
            "http-bridge",
            "{server_url}",
            bends.name(),
        ]),
    }
    let transport = behaviour
        .bends
        .map_or(TransportKind::Stdio, |_| TransportKind::Http);
    let surface = Surface {
        title: behaviour.does.to_owned(),
        driver: DriverKind::HostLines,
        presents: true,
        handshakes: false,
        transport,
        args: args.into_iter().map(str::to_owned).collect(),
        env: BTreeMap::new(),
    };
    let client = Client {
        format: 1,
        id: "fake".to_owned(),
        title: "the harness's own fakes".to_owned(),
        pinned: version.to_owned(),
        transports: BTreeMap::new(),
        source: Source::Builtin { args: Vec::new() },
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        model: None,
        revisions: Vec::new(),
        modern: None,
        surfaces: BTreeMap::from([(behaviour.name.to_owned(), surface.clone())]),
    };
    let target = Target {
        client: client.id.clone(),
        version: version.to_owned(),
        surface: behaviour.name.to_owned(),
    };
    PlannedTarget {
        target,
        client,
        surface,
    }
}

//! `run`: runs clients, keeps the recordings, prints the matrix.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::execute::{self, NotHad, Ready};
use super::root::Root;
use super::rules;
use super::run_dir::{self, NewRunDir, RunFile};
use super::targets::{self, Wanted};
use super::{COULD_NOT_TEST, Failure, OK, output};
use crate::catalogue::{self, Probe};
use crate::cli::{Format, RunArgs};
use crate::clients::Installed;
use crate::matrix::Matrix;
use crate::names::{ProbeId, Revision};
use crate::outcome::{Kind as Came, Stage};
use crate::plan::{self, Plan, PlannedSession, PlannedTarget};
use crate::run::Job;
use crate::spec::Rules;
use crate::verdict::Kind;

/// What a run came to.
pub(super) struct Done {
    /// The matrix.
    pub(super) matrix: Matrix,
    /// Clients that could not be had.
    pub(super) missing: Vec<NotHad>,
}

impl Done {
    /// Whether everything that was asked for was tested.
    pub(super) fn code(&self) -> u8 {
        let tested = self.missing.is_empty()
            && !self
                .matrix
                .cells
                .iter()
                .any(|cell| cell.verdict.kind == Kind::HarnessFault)
            && self.silent_targets().is_empty();
        if tested { OK } else { COULD_NOT_TEST }
    }

    /// Targets whose client never spoke to the probe server.
    fn silent_targets(&self) -> Vec<String> {
        let spoke = |cell: &crate::matrix::Cell| {
            !matches!(
                cell.outcome.kind,
                Came::NotReached {
                    missing: Stage::ClientStarted | Stage::Handshake,
                    ..
                }
            )
        };
        self.matrix
            .targets
            .iter()
            .filter(|facts| {
                let mut cells = self
                    .matrix
                    .cells
                    .iter()
                    .filter(|cell| cell.target() == facts.target());
                !cells.any(spoke)
            })
            .map(|facts| facts.target().to_string())
            .collect()
    }

    /// Says what could not be tested.
    pub(super) fn tell(&self) {
        for missing in &self.missing {
            output::note(&format!(
                "\ncould not test {}\n{}",
                missing.what, missing.failure
            ));
        }
        for target in self.silent_targets() {
            output::note(&format!(
                "\nerror: {target} never spoke to the probe server\n\nhint: capmatrix show CELL prints what it said instead"
            ));
        }
    }
}

pub(super) fn run(root: Option<PathBuf>, args: &RunArgs) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let place = args.out.clone().unwrap_or_else(|| root.latest());
    let asked = Asked::parse(&root, args)?;
    if args.dry_run {
        output::result(&asked.dry_run(args.format)?)?;
        return Ok(OK);
    }
    let done = perform(&asked, args, &place)?;
    output::matrix(&done.matrix, args.format)?;
    done.tell();
    Ok(done.code())
}

/// A request whose every name has been checked.
pub(super) struct Asked {
    /// All probes.
    pub(super) catalogue: Vec<Probe>,
    /// Those to ask, controls first.
    pub(super) probes: Vec<Probe>,
    /// The one revision to ask in; none means every one that there is.
    pub(super) revision: Option<Revision>,
    /// The clients.
    pub(super) wanted: Vec<Wanted>,
    /// What to judge by.
    pub(super) rules: &'static Rules,
}

impl Asked {
    /// Checks what was typed against what there is.
    pub(super) fn parse(root: &Root, args: &RunArgs) -> Result<Asked, Failure> {
        let catalogue = root.catalogue()?;
        let selected = catalogue::load::select(&catalogue, &args.probes).map_err(|error| {
            let hint = error.hint();
            Failure::request(error).hint(hint)
        })?;
        let probes = plan::with_controls(&selected, &catalogue);
        let clients = root.clients(&args.clients)?;
        let wanted = targets::resolve(&args.targets, &args.binaries, &clients)?;
        Ok(Asked {
            catalogue,
            probes,
            revision: args.revision,
            wanted,
            rules: rules::rules(args.schema_dir.as_deref())?,
        })
    }

    /// What is to be asked of `targets`.
    fn plan(&self, targets: Vec<PlannedTarget>) -> Plan {
        let selected: Vec<&Probe> = self.probes.iter().collect();
        plan::plan(targets, &selected, &self.catalogue, self.revision)
    }

    fn dry_run(&self, format: Format) -> Result<String, Failure> {
        let targets = self.wanted.iter().flat_map(|wanted| {
            let version = wanted.version.as_deref().unwrap_or(&wanted.client.pinned);
            wanted.planned(version)
        });
        let plan = self.plan(targets.collect());
        let not_selected: Vec<&ProbeId> = self
            .catalogue
            .iter()
            .map(|probe| &probe.id)
            .filter(|id| !self.probes.iter().any(|probe| probe.id == **id))
            .collect();
        Ok(match format {
            Format::Json => dry_json(&plan, &not_selected),
            Format::Human | Format::Markdown => dry_text(&plan, &not_selected),
        })
    }
}

/// Why a probe is in no session at all.
const NOT_SELECTED: &str = "not selected by --probe";

fn session_name(plan: &Plan, session: &PlannedSession) -> String {
    format!(
        "{}#{}",
        plan.targets[session.target].target,
        session.label()
    )
}

fn dry_json(plan: &Plan, not_selected: &[&ProbeId]) -> String {
    let sessions = plan.sessions.iter().map(|session| {
        json!({
            "session": session_name(plan, session),
            "probes": session.probes.iter().map(|probe| &probe.id).collect::<Vec<_>>(),
        })
    });
    let left_out = plan.left_out.iter().map(|left| {
        json!({
            "target": left.target.to_string(),
            "probe": left.probe,
            "revision": left.revision,
            "reason": left.reason,
        })
    });
    let left_out = left_out.chain(
        not_selected
            .iter()
            .map(|id| json!({"probe": id, "reason": NOT_SELECTED})),
    );
    let value = json!({
        "format": 2,
        "sessions": sessions.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn dry_text(plan: &Plan, not_selected: &[&ProbeId]) -> String {
    let mut text = String::new();
    let mut cells = 0;
    for session in &plan.sessions {
        let count = session.probes.len();
        cells += count;
        let probes = if count == 1 { "probe" } else { "probes" };
        text.push_str(&format!(
            "session  {}: {count} {probes}\n",
            session_name(plan, session)
        ));
    }
    for left in &plan.left_out {
        text.push_str(&format!(
            "left out {}/{}#{}: {}\n",
            left.target, left.probe, left.revision, left.reason
        ));
    }
    for probe in not_selected {
        text.push_str(&format!("left out {probe}: {NOT_SELECTED}\n"));
    }
    text.push_str(&format!(
        "{cells} cells in {} sessions\n",
        plan.sessions.len()
    ));
    text
}

/// The sessions to run first.
fn jobs(asked: &Asked, targets: Vec<(PlannedTarget, Installed)>) -> Vec<Job> {
    let (planned, installed): (Vec<PlannedTarget>, Vec<Installed>) = targets.into_iter().unzip();
    let plan = asked.plan(planned);
    let job = |session: PlannedSession| Job {
        planned: plan.targets[session.target].clone(),
        installed: installed[session.target].clone(),
        revision: Some(session.revision),
        probes: session.probes,
    };
    plan.sessions.into_iter().map(job).collect()
}

/// Runs what was asked. A run that could test everything replaces the one at `place`; another is kept beside it.
pub(super) fn perform(asked: &Asked, args: &RunArgs, place: &Path) -> Result<Done, Failure> {
    let dir = NewRunDir::create(place, RunFile::new(&asked.probes, asked.revision))?;
    let failed_place = place.with_file_name(format!(
        "{}-failed",
        place.file_name().unwrap_or_default().to_string_lossy()
    ));
    let limits = execute::limits(Duration::from_secs(args.answer_timeout), asked.probes.len());
    let sessions = dir.sessions();
    let (recordings, missing) = execute::with_interrupt(async |interrupt| {
        let runner = execute::runner(sessions, limits, args.jobs, interrupt.clone()).await;
        let Ready { targets, missing } =
            execute::get_ready(&asked.wanted, &runner, interrupt).await?;
        let jobs = jobs(asked, targets);
        Ok((execute::run_sessions(runner, jobs).await?, missing))
    })?;
    let (evidence, matrix) = run_dir::judge(asked.rules, &recordings, &asked.catalogue);
    let done = Done { matrix, missing };
    if done.code() == OK {
        dir.finish(&evidence, &done.matrix)?;
    } else {
        dir.finish_at(&failed_place, &evidence, &done.matrix)?;
        output::note(&format!(
            "\nnot everything could be tested: this run is kept in {}",
            failed_place.display()
        ));
    }
    Ok(done)
}

//! `self-test`: the fakes through the real pipeline, each against the verdict that it must get.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use serde_json::json;

use super::root::Root;
use super::run_dir::{self, NewRunDir};
use super::{COULD_NOT_TEST, Failure, OK, execute, output};
use crate::catalogue::Probe;
use crate::cli::ListFormat;
use crate::clients::{Client, DriverKind, Source, Surface, install};
use crate::fakes::{BEHAVIOURS, Behaviour};
use crate::matrix::Matrix;
use crate::names::{self, ProbeId, Target};
use crate::plan::{self, PlannedTarget};
use crate::run::Job;

/// Long enough for a busy machine, short enough for the three fakes that never reply.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// One line of the confusion table.
struct Line {
    name: &'static str,
    expected: Judgement,
    given: Judgement,
    reason: String,
}

/// Verdict and blame, by their names in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Judgement {
    verdict: &'static str,
    blame: &'static str,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.verdict, self.blame)
    }
}

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
    let dir = NewRunDir::create(&place)?;
    let sessions = dir.sessions();
    let work = jobs_for(&behaviours, &catalogue)?;
    let limits = execute::limits(ANSWER_TIMEOUT, 2);
    let recordings = execute::with_interrupt(async |interrupt| {
        let runner = execute::runner(sessions, limits, Some(jobs), interrupt).await;
        execute::run_sessions(runner, work).await
    })?;
    let (evidence, matrix) = run_dir::judge(&recordings, &catalogue);
    dir.finish(&evidence, &matrix)?;
    let lines: Vec<Line> = behaviours
        .iter()
        .map(|behaviour| line(behaviour, &matrix))
        .collect();
    let wrong = lines
        .iter()
        .filter(|line| line.expected != line.given)
        .count();
    output::result(&render(&lines, wrong, format))?;
    Ok(if wrong == 0 { OK } else { COULD_NOT_TEST })
}

fn select(prefix: Option<&str>) -> Result<Vec<&'static Behaviour>, Failure> {
    let Some(prefix) = prefix else {
        return Ok(BEHAVIOURS.iter().collect());
    };
    let chosen: Vec<_> = BEHAVIOURS
        .iter()
        .filter(|behaviour| behaviour.name.starts_with(prefix))
        .collect();
    if chosen.is_empty() {
        let hint = names::did_you_mean(prefix, BEHAVIOURS.iter().map(|behaviour| behaviour.name));
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
            })
        })
        .collect()
}

/// The fake as a client file would describe it.
fn planned(behaviour: &Behaviour, version: &str) -> PlannedTarget {
    let args = ["fake-client", behaviour.name, "--", "{server}"]
        .map(str::to_owned)
        .to_vec();
    let surface = Surface {
        title: behaviour.does.to_owned(),
        driver: DriverKind::HostLines,
        presents: true,
        args,
        env: BTreeMap::new(),
    };
    let client = Client {
        format: 1,
        id: "fake".to_owned(),
        title: "the harness's own fakes".to_owned(),
        pinned: version.to_owned(),
        source: Source::Builtin { args: Vec::new() },
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        model: None,
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

fn line(behaviour: &Behaviour, matrix: &Matrix) -> Line {
    let subject = ProbeId(behaviour.subject.to_owned());
    let cell = matrix
        .cells
        .iter()
        .find(|cell| cell.surface == behaviour.name && cell.probe == subject);
    let (given, reason) = match cell {
        Some(cell) => (
            Judgement {
                verdict: cell.verdict.kind.name(),
                blame: cell.verdict.blame.name(),
            },
            cell.verdict.reason.clone(),
        ),
        None => (
            Judgement {
                verdict: "no_cell",
                blame: "harness",
            },
            String::new(),
        ),
    };
    Line {
        name: behaviour.name,
        expected: Judgement {
            verdict: behaviour.verdict,
            blame: behaviour.blame,
        },
        given,
        reason,
    }
}

fn render(lines: &[Line], wrong: usize, format: ListFormat) -> String {
    if format == ListFormat::Json {
        let rows: Vec<_> = lines
            .iter()
            .map(|line| {
                json!({
                    "name": line.name,
                    "expected": line.expected.verdict,
                    "given": line.given.verdict,
                    "expected_blame": line.expected.blame,
                    "given_blame": line.given.blame,
                    "reason": line.reason,
                })
            })
            .collect();
        let value = json!({"format": 1, "misjudged": wrong, "behaviours": rows});
        return format!("{value:#}\n");
    }
    let width = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let mark = if line.expected == line.given {
            "ok      "
        } else {
            "MISJUDGED"
        };
        text.push_str(&format!(
            "{mark} {:width$}  expected {}",
            line.name, line.expected
        ));
        if line.expected != line.given {
            text.push_str(&format!(", given {}", line.given));
        }
        text.push_str(&format!(
            "\n         {:width$}  {}\n",
            "",
            crate::render::escape::terminal(&line.reason, 200)
        ));
    }
    text.push_str(&format!("{} behaviours, {wrong} misjudged\n", lines.len()));
    text
}

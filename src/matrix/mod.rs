//! Evidence -> matrix: every cell with its outcome and verdict.
//!
//! Owns putting the pure stages together. No IO; it cannot fail.

pub mod compare;

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::catalogue::Probe;
use crate::names::{ProbeId, Revision, Target};
use crate::outcome::{self, Messages, Outcome};
use crate::recording::{AnsweredBy, Event, Isolation, Label, Recording};
use crate::spec::Rules;
use crate::verdict::{self, Verdict, session};

/// The version of the results format.
pub const FORMAT: u32 = 1;

/// One square of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The client's id.
    pub client: String,
    /// The version.
    pub version: String,
    /// The surface.
    pub surface: String,
    /// The probe.
    pub probe: ProbeId,
    /// The revision that the session was to be in, or else the negotiated one; null if the handshake did not come so far.
    pub revision: Option<Revision>,
    /// What happened.
    pub outcome: Outcome,
    /// What the specification says of it.
    pub verdict: Verdict,
    /// The evidence file that the line numbers refer to, below the target's folder.
    pub recording: String,
}

impl Cell {
    /// The target.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            client: self.client.clone(),
            version: self.version.clone(),
            surface: self.surface.clone(),
        }
    }

    /// The cell's name, as it is typed.
    #[must_use]
    pub fn name(&self) -> String {
        let revision = self.revision.map(|revision| format!("#{revision}"));
        let revision = revision.unwrap_or_default();
        format!("{}/{}{revision}", self.target(), self.probe)
    }
}

/// What holds for all cells of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The client's id.
    pub client: String,
    /// The version.
    pub version: String,
    /// The surface.
    pub surface: String,
    /// Who answers on it.
    pub answered_by: AnsweredBy,
    /// sha-256 of the program, in hex.
    pub digest: String,
    /// Operating system and architecture.
    pub platform: String,
    /// How far the client was shut off.
    pub isolation: Isolation,
    /// Names that it asked a resolver for although it was told to be quiet.
    pub names_asked: Vec<String>,
    /// Sessions that broke, and why others followed.
    pub notes: Vec<String>,
    /// What the specification says of the client's messages beside the probes' exchanges: the handshake, `tools/list`,
    /// notifications.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A judgement of a session that belongs to no cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The evidence file that the line numbers refer to, below the target's folder.
    pub recording: String,
    /// What the specification says.
    pub verdict: Verdict,
}

impl TargetFacts {
    /// The target.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            client: self.client.clone(),
            version: self.version.clone(),
            surface: self.surface.clone(),
        }
    }
}

/// A probe as the matrix names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The probe.
    pub probe: ProbeId,
    /// Its title.
    pub title: String,
}

/// The whole result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The version of this format.
    pub format: u32,
    /// The version of capmatrix that judged.
    pub capmatrix: String,
    /// The targets, in the order of the run.
    pub targets: Vec<TargetFacts>,
    /// The probes, in the order of the catalogue.
    pub probes: Vec<Row>,
    /// The cells: by target, then by probe.
    pub cells: Vec<Cell>,
}

impl Matrix {
    /// How many cells the evidence decided.
    #[must_use]
    pub fn decided(&self) -> usize {
        self.cells
            .iter()
            .filter(|cell| cell.verdict.kind.is_decided())
            .count()
    }

    /// The cells of a target and a probe, the oldest revision first.
    pub fn cells_of<'a>(
        &'a self,
        target: &'a Target,
        probe: &'a ProbeId,
    ) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| {
            cell.probe == *probe
                && cell.client == target.client
                && cell.version == target.version
                && cell.surface == target.surface
        })
    }

    /// The cells of one target and probe whose verdict is not the same in all revisions.
    #[must_use]
    pub fn differing(&self) -> Vec<Vec<&Cell>> {
        let same_square = |a: &&Cell, b: &&Cell| a.target() == b.target() && a.probe == b.probe;
        let cells: Vec<&Cell> = self.cells.iter().collect();
        let squares = cells.chunk_by(same_square);
        let differs = |square: &&[&Cell]| {
            let mut words = square.iter().map(|cell| cell.verdict.word());
            let first = words.next();
            words.any(|word| Some(word) != first)
        };
        squares.filter(differs).map(<[&Cell]>::to_vec).collect()
    }

    /// The matrix of the cells that `keep` chooses, with their targets and rows.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&Cell) -> bool) -> Matrix {
        let cells: Vec<Cell> = self
            .cells
            .iter()
            .filter(|cell| keep(cell))
            .cloned()
            .collect();
        let targets = self
            .targets
            .iter()
            .filter(|t| cells.iter().any(|c| c.target() == t.target()));
        let probes = self
            .probes
            .iter()
            .filter(|row| cells.iter().any(|c| c.probe == row.probe));
        Matrix {
            format: self.format,
            capmatrix: self.capmatrix.clone(),
            targets: targets.cloned().collect(),
            probes: probes.cloned().collect(),
            cells: cells.clone(),
        }
    }
}

/// Judges `evidence` (redacted recordings, those of one target one after another) with the probes of `catalogue`.
/// A probe that is not in the catalogue any more has no cell.
#[must_use]
pub fn build(evidence: &[Recording], catalogue: &[Probe]) -> Matrix {
    build_by(Rules::builtin(), evidence, catalogue)
}

/// The same by other rules than the project's own.
#[must_use]
pub fn build_by(rules: &Rules, evidence: &[Recording], catalogue: &[Probe]) -> Matrix {
    let by_id: BTreeMap<&ProbeId, &Probe> =
        catalogue.iter().map(|probe| (&probe.id, probe)).collect();
    let files = evidence_names(evidence);
    // Each session is judged for itself, so on all cores.
    let judged: Vec<(Vec<Cell>, Vec<Finding>)> = evidence
        .par_iter()
        .zip(&files)
        .map(|(recording, file)| judge_all(rules, recording, &by_id, file))
        .collect();
    let mut targets = Targets::default();
    let mut cells: Vec<Cell> = Vec::new();
    for (recording, (of_session, findings)) in evidence.iter().zip(judged) {
        targets.add(recording, findings);
        cells.extend(of_session);
    }
    let targets = targets.facts;
    let order: BTreeMap<&ProbeId, usize> =
        catalogue.iter().map(|probe| &probe.id).zip(0..).collect();
    let column: BTreeMap<Target, usize> =
        targets.iter().map(TargetFacts::target).zip(0..).collect();
    cells.sort_by_cached_key(|cell| {
        (
            column.get(&cell.target()).copied(),
            order.get(&cell.probe).copied(),
            cell.revision,
        )
    });
    let probes = catalogue
        .iter()
        .filter(|probe| cells.iter().any(|cell| cell.probe == probe.id))
        .map(|probe| Row {
            probe: probe.id.clone(),
            title: probe.title.clone(),
        })
        .collect();
    Matrix {
        format: FORMAT,
        capmatrix: env!("CARGO_PKG_VERSION").to_owned(),
        targets,
        probes,
        cells,
    }
}

/// The names of the files of evidence: one a session, told apart by label and then by number. Those of one target and
/// label must come in the order in which they were made.
#[must_use]
pub fn evidence_names<'a>(evidence: impl IntoIterator<Item = &'a Recording>) -> Vec<String> {
    let mut numbers: BTreeMap<(&Target, Label), usize> = BTreeMap::new();
    let name = |recording: &'a Recording| {
        let label = recording.header.label();
        let number = numbers
            .entry((&recording.header.target, label.clone()))
            .or_insert(0);
        *number += 1;
        format!("{}.jsonl", label.name("evidence", *number))
    };
    evidence.into_iter().map(name).collect()
}

/// The revision by which a session is judged: the one that it was to be in, or else the one that was settled on.
fn revision_of(recording: &Recording) -> Option<Revision> {
    let settled = recording.revision();
    match recording.header.script {
        // What is answered there may be any version at all.
        Some(_) => recording.header.revision.or(settled),
        None => settled,
    }
}

/// What is wrong with a session that settled on another revision than it was to be in.
fn strayed(recording: &Recording) -> Option<String> {
    let (asked, settled) = (recording.header.revision?, recording.revision()?);
    let strayed = recording.header.script.is_none() && asked != settled;
    strayed.then(|| format!("the session was to be in {asked} and settled on {settled}"))
}

/// The cells of one session, and what else the rules say of it.
fn judge_all(
    rules: &Rules,
    recording: &Recording,
    catalogue: &BTreeMap<&ProbeId, &Probe>,
    file: &str,
) -> (Vec<Cell>, Vec<Finding>) {
    let revision = revision_of(recording);
    let messages = Messages::parse(recording);
    let checked = session::check(rules, &messages);
    let outcomes: BTreeMap<ProbeId, Outcome> = outcome::all_of(&messages).into_iter().collect();
    let harness_error = outcome::harness_error(recording)
        .or_else(|| strayed(recording))
        .or_else(|| checked.harness_error().map(str::to_owned));
    let target = &recording.header.target;
    let cell = |id: &ProbeId| {
        let probe = *catalogue.get(id)?;
        let outcome = outcomes.get(id)?;
        let ours = || match revision.map(|revision| probe.validity(revision)) {
            Some(Ok(())) => checked.ours_of(Some(id)),
            _ => None,
        };
        let request = outcome.request.and_then(|line| messages.line(line));
        let request = request.and_then(|line| line.line.messages().first());
        let case = verdict::Case {
            probe,
            revision,
            outcome,
            control: probe
                .control
                .as_ref()
                .and_then(|control| outcomes.get(control)),
            answered_by: recording.header.answered_by,
            declared: checked.declared(),
            sent: request.and_then(|request| request.asked_params()),
            reply: checked.reply(outcome.reply),
            harness_error: harness_error.as_deref().or_else(ours),
        };
        Some(Cell {
            client: target.client.clone(),
            version: target.version.clone(),
            surface: target.surface.clone(),
            probe: id.clone(),
            revision: recording.header.revision.or(revision),
            verdict: verdict::judge(&case),
            outcome: outcome.clone(),
            recording: file.to_owned(),
        })
    };
    let cells: Vec<Cell> = recording.header.cells.iter().filter_map(cell).collect();
    let findings = checked
        .findings(&outcomes, &cells)
        .into_iter()
        .map(|verdict| Finding {
            recording: file.to_owned(),
            verdict,
        });
    let findings = findings.collect();
    (cells, findings)
}

/// The facts of all targets, in the order in which they come.
#[derive(Default)]
struct Targets {
    facts: Vec<TargetFacts>,
    places: BTreeMap<Target, usize>,
}

impl Targets {
    /// Adds what a session says of its target.
    fn add(&mut self, recording: &Recording, findings: Vec<Finding>) {
        let header = &recording.header;
        let at = match self.places.get(&header.target) {
            Some(at) => *at,
            None => {
                self.facts.push(TargetFacts {
                    client: header.target.client.clone(),
                    version: header.target.version.clone(),
                    surface: header.target.surface.clone(),
                    answered_by: header.answered_by,
                    digest: header.digest.clone(),
                    platform: header.platform.clone(),
                    isolation: header.isolation,
                    names_asked: Vec::new(),
                    notes: Vec::new(),
                    findings: Vec::new(),
                });
                let at = self.facts.len() - 1;
                self.places.insert(header.target.clone(), at);
                at
            }
        };
        let facts = &mut self.facts[at];
        for entry in &recording.entries {
            if let Event::NameAsked { name } = &entry.event
                && !facts.names_asked.contains(name)
            {
                facts.names_asked.push(name.clone());
            }
        }
        let note = header.note.as_ref();
        let note = note.map(|note| match header.revision {
            Some(revision) => format!("{revision}: {note}"),
            None => note.clone(),
        });
        facts.notes.extend(note);
        for finding in findings {
            // What a client does in every session is said once.
            let same = |known: &Finding| {
                known.verdict.clause == finding.verdict.clause
                    && known.verdict.reason == finding.verdict.reason
            };
            if !facts.findings.iter().any(same) {
                facts.findings.push(finding);
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Comparing a matrix with the one that is expected: every change counts, in either direction.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Cell, Matrix, TargetFacts};
use crate::names::Revision;
use crate::outcome::{Outcome, same_value};
use crate::verdict::Verdict;

/// One cell that is not as expected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The cell's name.
    pub cell: String,
    /// What was expected; none if the cell is new.
    pub expected: Option<String>,
    /// What was found; none if the cell is gone.
    pub found: Option<String>,
}

/// What of a target was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Whether all probes were.
    pub all_probes: bool,
    /// The one revision in which they were; none means all.
    pub revision: Option<Revision>,
}

/// The cells in which `found` differs from `expected`: added, gone, or with another outcome or verdict.
/// Line numbers of evidence do not count. Only targets that `found` has are compared.
#[must_use]
pub fn changes(expected: &Matrix, found: &Matrix, asked: Asked) -> Vec<Change> {
    let mut changes = Vec::new();
    for cell in &found.cells {
        match find(expected, cell) {
            None => changes.push(Change {
                cell: cell.name(),
                expected: None,
                found: Some(words(cell)),
            }),
            Some(before) if !same(before, cell) => changes.push(Change {
                cell: cell.name(),
                expected: Some(words(before)),
                found: Some(words(cell)),
            }),
            Some(_) => {}
        }
    }
    for cell in &expected.cells {
        let is_asked = asked.all_probes
            && asked
                .revision
                .is_none_or(|only| cell.revision == Some(only))
            && found
                .targets
                .iter()
                .any(|facts| facts.target() == cell.target());
        if is_asked && find(found, cell).is_none() {
            changes.push(Change {
                cell: cell.name(),
                expected: Some(words(cell)),
                found: None,
            });
        }
    }
    if asked.all_probes && asked.revision.is_none() {
        finding_changes(expected, found, &mut changes);
    }
    changes
}

fn find<'a>(matrix: &'a Matrix, cell: &Cell) -> Option<&'a Cell> {
    matrix.cells.iter().find(|other| {
        other.probe == cell.probe
            && other.revision == cell.revision
            && other.client == cell.client
            && other.version == cell.version
            && other.surface == cell.surface
    })
}

fn same(a: &Cell, b: &Cell) -> bool {
    let verdict = |cell: &Cell| {
        let verdict = &cell.verdict;
        (
            verdict.kind,
            verdict.blame,
            verdict.strength,
            verdict.clause.clone(),
            verdict.reason.clone(),
        )
    };
    verdict(a) == verdict(b) && same_outcome(&a.outcome, &b.outcome)
}

fn same_outcome(a: &Outcome, b: &Outcome) -> bool {
    let value = |outcome: &Outcome| {
        let mut value = serde_json::to_value(outcome).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            // Where the lines stand is no change of what happened.
            for member in ["evidence", "request", "reply"] {
                object.remove(member);
            }
        }
        value
    };
    same_value(&value(a), &value(b))
}

/// A verdict in one line.
#[must_use]
pub fn words(cell: &Cell) -> String {
    in_words(&cell.verdict)
}

fn in_words(verdict: &Verdict) -> String {
    format!("{} ({})", verdict.word(), verdict.reason)
}

/// The findings that only one of the two sides has, for each target that `found` has.
fn finding_changes(expected: &Matrix, found: &Matrix, changes: &mut Vec<Change>) {
    for facts in &found.targets {
        let target = facts.target();
        let before = expected
            .targets
            .iter()
            .find(|other| other.target() == target);
        let Some(before) = before else { continue };
        let words = |facts: &TargetFacts| -> BTreeSet<String> {
            facts
                .findings
                .iter()
                .map(|finding| in_words(&finding.verdict))
                .collect()
        };
        let (old, new) = (words(before), words(facts));
        let cell = format!("{target}, beside the probes");
        let gone = old
            .difference(&new)
            .map(|words| (Some(words.clone()), None));
        let come = new
            .difference(&old)
            .map(|words| (None, Some(words.clone())));
        changes.extend(gone.chain(come).map(|(expected, found)| Change {
            cell: cell.clone(),
            expected,
            found,
        }));
    }
}

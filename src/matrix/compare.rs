//! Comparing a matrix with the one that is expected: every change counts, in either direction.

use serde::Serialize;

use super::{Cell, Matrix};
use crate::outcome::{Outcome, same_value};

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

/// The cells in which `found` differs from `expected`: added, gone, or with another outcome or verdict.
/// Line numbers of evidence do not count. Only targets that `found` has are compared.
#[must_use]
pub fn changes(expected: &Matrix, found: &Matrix, probes_are_all: bool) -> Vec<Change> {
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
        let is_asked = probes_are_all
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
    changes
}

fn find<'a>(matrix: &'a Matrix, cell: &Cell) -> Option<&'a Cell> {
    matrix.cells.iter().find(|other| {
        other.probe == cell.probe
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
    a.revision == b.revision && verdict(a) == verdict(b) && same_outcome(&a.outcome, &b.outcome)
}

fn same_outcome(a: &Outcome, b: &Outcome) -> bool {
    let value = |outcome: &Outcome| {
        let mut value = serde_json::to_value(outcome).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.remove("evidence");
        }
        value
    };
    same_value(&value(a), &value(b))
}

/// A verdict in one line.
#[must_use]
pub fn words(cell: &Cell) -> String {
    format!("{} ({})", cell.verdict.kind.word(), cell.verdict.reason)
}

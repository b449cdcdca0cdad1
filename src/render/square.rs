//! One square of the table: what a target does with a probe in all revisions.
//!
//! Owns how revisions stand side by side, and the legend of it. It must not know how a table is drawn.

use std::fmt::Write as _;

use crate::matrix::{Cell, Matrix, TargetFacts};
use crate::names::ProbeId;
use crate::verdict::Verdict;

/// What a table says of itself, if it has a square with more than one word.
pub(super) const LEGEND: &str = "* differs between revisions: the words stand for those in which the probe is asked, \
                                 the oldest first";

/// The word of a square; where revisions differ, the words of all and a mark.
pub(super) fn words(matrix: &Matrix, facts: &TargetFacts, probe: &ProbeId) -> String {
    let target = facts.target();
    let cells = matrix.cells_of(&target, probe);
    let words: Vec<&str> = cells.map(|cell| cell.verdict.word()).collect();
    match words.split_first() {
        None => "-".to_owned(),
        Some((first, rest)) if rest.iter().all(|word| word == first) => (*first).to_owned(),
        Some(_) => format!("{} *", words.join(" / ")),
    }
}

/// What one revision says in a list of those that differ: the word, the reason and where it can be read.
pub(super) fn line(cell: &Cell, escape: impl Fn(&str, usize) -> String) -> String {
    let revision = cell.revision.map_or("none", |revision| revision.as_str());
    let mut out = format!(
        "{revision}  {}: {}",
        cell.verdict.word(),
        escape(&cell.verdict.reason, 300)
    );
    let _ = write!(out, " ({})", evidence(&cell.verdict, &cell.recording));
    out
}

/// Where a verdict's evidence stands.
pub(super) fn evidence(verdict: &Verdict, recording: &str) -> String {
    let lines: Vec<String> = verdict.evidence.iter().map(ToString::to_string).collect();
    format!("{recording} lines {}", lines.join(", "))
}

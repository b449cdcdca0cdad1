//! The matrix as Markdown: `snapshots/MATRIX.md`, and what people paste into issues.

use std::fmt::Write as _;

use super::escape::markdown;
use super::square;
use crate::matrix::Matrix;
use crate::verdict::{Blame, Verdict};

/// One table of all targets, then the reasons of all cells that blame the client and the findings beside the probes.
#[must_use]
pub fn render(matrix: &Matrix) -> String {
    let mut out = table(matrix);
    out.push('\n');
    out.push_str(&reasons(matrix));
    out.push_str(&differing(matrix));
    out
}

/// The table alone.
#[must_use]
pub fn table(matrix: &Matrix) -> String {
    let mut out = String::from("| probe |");
    for facts in &matrix.targets {
        let _ = write!(
            out,
            " {} {}<br>{} |",
            facts.client, facts.version, facts.surface
        );
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(matrix.targets.len()));
    out.push('\n');
    for row in &matrix.probes {
        let _ = write!(out, "| {} |", row.probe);
        for facts in &matrix.targets {
            let _ = write!(out, " {} |", square::words(matrix, facts, &row.probe));
        }
        out.push('\n');
    }
    if !matrix.differing().is_empty() {
        let _ = writeln!(out, "\n\\{}", square::LEGEND);
    }
    out
}

/// Each probe whose result is not the same in all revisions, with the evidence of each.
fn differing(matrix: &Matrix) -> String {
    let mut out = String::new();
    for cells in matrix.differing() {
        let Some(first) = cells.first() else { continue };
        if out.is_empty() {
            out.push_str("\nDiffers between revisions:\n\n");
        }
        let _ = writeln!(out, "- `{}/{}`", first.target(), first.probe);
        for cell in cells {
            let _ = writeln!(out, "  - {}", square::line(cell, markdown));
        }
    }
    out
}

fn reasons(matrix: &Matrix) -> String {
    let mut out = String::new();
    for cell in matrix
        .cells
        .iter()
        .filter(|cell| cell.verdict.blame == Blame::Client)
    {
        out.push_str(&reason(&format!("`{}`", cell.name()), &cell.verdict));
    }
    for facts in &matrix.targets {
        for finding in &facts.findings {
            let place = format!("`{}`, beside the probes", facts.target());
            out.push_str(&reason(&place, &finding.verdict));
        }
    }
    out
}

/// One line: the word, the place, the reason, the rule and how strong it is.
fn reason(place: &str, verdict: &Verdict) -> String {
    let mut out = format!(
        "- **{}** {place}: {}",
        verdict.word(),
        markdown(&verdict.reason, 300)
    );
    if let (Some(clause), Some(strength)) = (&verdict.clause, verdict.strength) {
        let _ = write!(out, " ({}, {})", markdown(clause, 200), strength.name());
    }
    out.push('\n');
    out
}

/// The short form for the README: the rows that differ between targets, and the control, at most twelve.
#[must_use]
pub fn short(matrix: &Matrix) -> String {
    let is_telling = |row: &crate::matrix::Row| {
        let mut cells = matrix.cells.iter().filter(|cell| cell.probe == row.probe);
        cells.any(|cell| cell.verdict.blame == Blame::Client)
    };
    let mut rows: Vec<&crate::matrix::Row> = matrix.probes.iter().take(1).collect();
    rows.extend(
        matrix
            .probes
            .iter()
            .skip(1)
            .filter(|row| is_telling(row))
            .take(11),
    );
    let rows: Vec<_> = rows.into_iter().map(|row| row.probe.clone()).collect();
    table(&matrix.filtered(|cell| rows.contains(&cell.probe)))
}

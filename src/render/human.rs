//! The matrix for a terminal: the table, then each fault with its evidence, then what else must be known.

use std::fmt::Write as _;

use super::escape::terminal;
use super::square;
use crate::matrix::{Cell, Matrix, TargetFacts};
use crate::recording::{AnsweredBy, Isolation};
use crate::verdict::{Blame, Kind, Verdict};
use anstyle::{AnsiColor, Style};

/// The matrix with escape codes for colour; printing through anstream removes them where they do not belong.
#[must_use]
pub fn render(matrix: &Matrix) -> String {
    let mut out = String::new();
    out.push_str(&tables(matrix));
    out.push('\n');
    out.push_str(&faults(matrix));
    out.push_str(&findings(matrix));
    out.push_str(&undecided(matrix));
    out.push_str(&differing(matrix));
    out.push_str(&facts(matrix));
    out
}

/// So many columns a terminal takes; a matrix with more has a table for each client.
const COLUMNS: usize = 5;

fn tables(matrix: &Matrix) -> String {
    let targets: Vec<&TargetFacts> = matrix.targets.iter().collect();
    let mut out = String::new();
    if targets.len() <= COLUMNS {
        out.push_str(&table(matrix, &targets));
    } else {
        for targets in targets.chunk_by(|a, b| a.client == b.client && a.version == b.version) {
            out.push_str(&table(matrix, targets));
            out.push('\n');
        }
        out.pop();
    }
    if !matrix.differing().is_empty() {
        let _ = writeln!(out, "\n{}", square::LEGEND);
    }
    out
}

/// The rows in which one of `targets` has a cell.
fn table(matrix: &Matrix, targets: &[&TargetFacts]) -> String {
    let mut head = vec!["probe".to_owned()];
    for facts in targets {
        head.push(format!(
            "{}\n{}\n{}",
            facts.client, facts.version, facts.surface
        ));
    }
    let mut rows = vec![head];
    for row in &matrix.probes {
        let words = targets
            .iter()
            .map(|facts| square::words(matrix, facts, &row.probe));
        let words: Vec<String> = words.collect();
        if words.iter().any(|word| word != "-") {
            rows.push([row.probe.to_string()].into_iter().chain(words).collect());
        }
    }
    let mut text = String::new();
    for line in super::table::plain(&rows).lines() {
        let _ = writeln!(text, "{}", paint(line));
    }
    text
}

/// Colours the verdict words of one line of the table.
fn paint(line: &str) -> String {
    let colours = [
        (Kind::Works, AnsiColor::Green),
        (Kind::Altered, AnsiColor::Yellow),
        (Kind::Violates, AnsiColor::Red),
        (Kind::Breaks, AnsiColor::Red),
        (Kind::HarnessFault, AnsiColor::Magenta),
        (Kind::Unknown, AnsiColor::Magenta),
        (Kind::Lenient, AnsiColor::Cyan),
    ];
    let mut line = line.to_owned();
    for (kind, colour) in colours {
        let style = Style::new().fg_color(Some(colour.into()));
        for before in ["  ", " / "] {
            let word = format!("{before}{}", kind.word());
            let painted = format!("{before}{style}{}{style:#}", kind.word());
            line = line.replace(&word, &painted);
        }
    }
    line
}

/// Each cell that blames the client.
fn faults(matrix: &Matrix) -> String {
    let mut out = String::new();
    for cell in matrix
        .cells
        .iter()
        .filter(|cell| cell.verdict.blame == Blame::Client)
    {
        out.push_str(&fault(cell));
    }
    out
}

fn fault(cell: &Cell) -> String {
    let name = cell.name();
    let mut out = format!("{}  {name}\n", cell.verdict.word());
    out.push_str(&rests_on(&cell.verdict, &cell.recording));
    let _ = writeln!(out, "  see       capmatrix show {name}\n");
    out
}

/// What the rules say of messages that belong to no cell.
fn findings(matrix: &Matrix) -> String {
    let mut out = String::new();
    for facts in &matrix.targets {
        for finding in &facts.findings {
            let word = finding.verdict.word();
            let _ = writeln!(out, "{word}  {}, beside the probes", facts.target());
            out.push_str(&rests_on(&finding.verdict, &finding.recording));
            out.push('\n');
        }
    }
    out
}

/// The rule, the reason and the lines of evidence.
fn rests_on(verdict: &Verdict, recording: &str) -> String {
    let mut out = String::new();
    if let (Some(clause), Some(strength)) = (&verdict.clause, verdict.strength) {
        let clause = terminal(clause, 200);
        let _ = writeln!(out, "  clause    {clause} [{}]", strength.name());
    }
    let _ = writeln!(out, "  reason    {}", terminal(&verdict.reason, 300));
    let _ = writeln!(out, "  evidence  {}", square::evidence(verdict, recording));
    out
}

fn undecided(matrix: &Matrix) -> String {
    let mut out = String::new();
    let cells: Vec<&Cell> = matrix
        .cells
        .iter()
        .filter(|cell| !cell.verdict.kind.is_decided())
        .collect();
    for cell in cells.iter().take(10) {
        let word = cell.verdict.word();
        let _ = writeln!(
            out,
            "{word}  {}: {}",
            cell.name(),
            terminal(&cell.verdict.reason, 300)
        );
    }
    if cells.len() > 10 {
        let _ = writeln!(out, "... and {} more undecided cells", cells.len() - 10);
    }
    if !cells.is_empty() {
        out.push('\n');
    }
    out
}

/// Each probe whose result is not the same in all revisions, with the evidence of each.
fn differing(matrix: &Matrix) -> String {
    let mut out = String::new();
    for cells in matrix.differing() {
        let Some(first) = cells.first() else { continue };
        let _ = writeln!(
            out,
            "differs between revisions  {}/{}",
            first.target(),
            first.probe
        );
        for cell in cells {
            let _ = writeln!(out, "  {}", square::line(cell, terminal));
        }
        out.push('\n');
    }
    out
}

fn facts(matrix: &Matrix) -> String {
    let mut out = String::new();
    let quiet: Vec<String> = matrix
        .targets
        .iter()
        .filter(|facts| facts.answered_by == AnsweredBy::Client)
        .map(|facts| facts.target().to_string())
        .collect();
    if !quiet.is_empty() {
        let _ = writeln!(
            out,
            "never presents anything, so its cells say nothing about parsing: {}",
            quiet.join(", ")
        );
    }
    for facts in &matrix.targets {
        out.push_str(&target_facts(facts));
    }
    let faults = matrix
        .cells
        .iter()
        .filter(|cell| cell.verdict.blame == Blame::Client)
        .count();
    let findings: usize = matrix
        .targets
        .iter()
        .map(|facts| facts.findings.len())
        .sum();
    let _ = writeln!(
        out,
        "{} cells, {} decided, {faults} that blame the client; {findings} findings beside the probes",
        matrix.cells.len(),
        matrix.decided(),
    );
    out
}

fn target_facts(facts: &TargetFacts) -> String {
    let mut out = String::new();
    if facts.isolation == Isolation::Env {
        let _ = writeln!(
            out,
            "NOT ISOLATED: {} ran with a cleared environment only",
            facts.target()
        );
    }
    if !facts.names_asked.is_empty() {
        let names = facts.names_asked.join(", ");
        let _ = writeln!(
            out,
            "{} asked a resolver for: {}",
            facts.target(),
            terminal(&names, 300)
        );
    }
    for note in &facts.notes {
        let _ = writeln!(out, "{}: {}", facts.target(), terminal(note, 300));
    }
    out
}

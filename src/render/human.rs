//! The matrix for a terminal: the table, then each fault with its evidence, then what else must be known.

use std::fmt::Write as _;

use super::escape::terminal;
use crate::matrix::{Cell, Matrix, TargetFacts};
use crate::recording::{AnsweredBy, Isolation};
use crate::verdict::{Blame, Kind, Verdict};
use anstyle::{AnsiColor, Style};

/// The matrix with escape codes for colour; printing through anstream removes them where they do not belong.
#[must_use]
pub fn render(matrix: &Matrix) -> String {
    let mut out = String::new();
    out.push_str(&table(matrix));
    out.push('\n');
    out.push_str(&faults(matrix));
    out.push_str(&findings(matrix));
    out.push_str(&undecided(matrix));
    out.push_str(&facts(matrix));
    out
}

fn table(matrix: &Matrix) -> String {
    let mut head = vec!["probe".to_owned()];
    for facts in &matrix.targets {
        head.push(format!(
            "{}\n{}\n{}",
            facts.client, facts.version, facts.surface
        ));
    }
    let mut rows = vec![head];
    for row in &matrix.probes {
        let mut line = vec![row.probe.to_string()];
        for facts in &matrix.targets {
            let cell = matrix.cell(&facts.target(), &row.probe);
            line.push(cell.map_or("-", |cell| cell.verdict.word()).to_owned());
        }
        rows.push(line);
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
        let word = format!("  {}", kind.word());
        line = line.replace(&word, &format!("  {style}{}{style:#}", kind.word()));
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
    let lines: Vec<String> = verdict.evidence.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "  evidence  {recording} lines {}", lines.join(", "));
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

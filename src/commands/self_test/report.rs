//! What the self-test says: a line a behaviour, the confusion table, and a count.
//!
//! Owns the comparison of what a fake must get with what it was given, and its two formats. It runs nothing.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::cli::ListFormat;
use crate::fakes::{Behaviour, Class, Judgement};
use crate::matrix::Matrix;
use crate::names::ProbeId;
use crate::render::{escape, table};
use crate::verdict::Verdict;

/// One behaviour: what it must get, and what it was given.
pub(super) struct Line {
    behaviour: &'static Behaviour,
    /// None if the run has no such cell.
    cell: Option<Given>,
    /// What was found beside the cells, each judgement once.
    findings: Vec<Given>,
}

/// A judgement and why it was given.
struct Given {
    judgement: Judgement,
    reason: String,
}

impl Given {
    fn new(verdict: &Verdict) -> Given {
        Given {
            judgement: Judgement {
                kind: verdict.kind,
                blame: verdict.blame,
                strength: verdict.strength,
            },
            reason: verdict.reason.clone(),
        }
    }
}

impl Line {
    pub(super) fn new(behaviour: &'static Behaviour, matrix: &Matrix) -> Line {
        let subject = ProbeId(behaviour.subject.to_owned());
        let cell = matrix
            .cells
            .iter()
            .find(|cell| cell.surface == behaviour.name && cell.probe == subject)
            .map(|cell| Given::new(&cell.verdict));
        let mut findings: Vec<Given> = Vec::new();
        let targets = matrix.targets.iter();
        for target in targets.filter(|target| target.surface == behaviour.name) {
            for finding in &target.findings {
                let given = Given::new(&finding.verdict);
                if findings.iter().all(|f| f.judgement != given.judgement) {
                    findings.push(given);
                }
            }
        }
        Line {
            behaviour,
            cell,
            findings,
        }
    }

    /// Whether the cell got its judgement, and all that was found is what was to be found.
    pub(super) fn is_as_expected(&self) -> bool {
        let is_cell_right = self
            .cell
            .as_ref()
            .is_some_and(|given| given.judgement == self.behaviour.cell);
        let found = self.findings.iter().map(|given| given.judgement);
        is_cell_right && found.eq(self.behaviour.finding)
    }

    fn expected(&self) -> String {
        in_words(
            self.behaviour.cell.to_string(),
            self.behaviour.finding.as_slice(),
        )
    }

    fn given(&self) -> String {
        let cell = match &self.cell {
            Some(given) => given.judgement.to_string(),
            None => "no cell".to_owned(),
        };
        let found: Vec<Judgement> = self.findings.iter().map(|given| given.judgement).collect();
        in_words(cell, &found)
    }

    /// Why it was judged like that: of what was found where something was, else of the cell.
    fn reason(&self) -> &str {
        let given = self.findings.first().or(self.cell.as_ref());
        given.map_or("", |given| &given.reason)
    }
}

fn in_words(cell: String, findings: &[Judgement]) -> String {
    findings
        .iter()
        .fold(cell, |text, finding| format!("{text}, finding {finding}"))
}

pub(super) fn render(lines: &[Line], format: ListFormat) -> String {
    match format {
        ListFormat::Json => format!("{:#}\n", as_json(lines)),
        ListFormat::Human => as_text(lines),
    }
}

/// How many behaviours were to get the first and were given the second, by their judgements in words.
fn confusion(lines: &[Line]) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry((line.expected(), line.given())).or_insert(0) += 1;
    }
    counts
}

fn misjudged(lines: &[Line]) -> usize {
    lines.iter().filter(|line| !line.is_as_expected()).count()
}

fn as_json(lines: &[Line]) -> Value {
    let behaviours: Vec<Value> = lines.iter().map(line_as_json).collect();
    let confusion: Vec<Value> = confusion(lines)
        .into_iter()
        .map(|((expected, given), count)| {
            json!({"expected": expected, "given": given, "count": count})
        })
        .collect();
    json!({
        "format": 1,
        "misjudged": misjudged(lines),
        "behaviours": behaviours,
        "confusion": confusion,
    })
}

fn line_as_json(line: &Line) -> Value {
    let behaviour = line.behaviour;
    let given = line.cell.as_ref().map(|given| given.judgement);
    let found: Vec<Value> = line
        .findings
        .iter()
        .map(|given| judgement_as_json(given.judgement))
        .collect();
    json!({
        "name": behaviour.name,
        "class": behaviour.class.name(),
        "does": behaviour.does,
        "subject": behaviour.subject,
        "misjudged": !line.is_as_expected(),
        "expected": behaviour.cell.kind.name(),
        "given": given.map_or("no_cell", |given| given.kind.name()),
        "expected_blame": behaviour.cell.blame.name(),
        "given_blame": given.map(|given| given.blame.name()),
        "expected_strength": strength(behaviour.cell),
        "given_strength": given.and_then(strength),
        "expected_finding": behaviour.finding.map(judgement_as_json),
        "given_findings": found,
        "reason": line.reason(),
    })
}

fn strength(judgement: Judgement) -> Option<&'static str> {
    judgement.strength.map(crate::spec::Strength::name)
}

fn judgement_as_json(judgement: Judgement) -> Value {
    json!({
        "verdict": judgement.kind.name(),
        "blame": judgement.blame.name(),
        "strength": strength(judgement),
    })
}

fn as_text(lines: &[Line]) -> String {
    let width = lines
        .iter()
        .map(|line| line.behaviour.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for class in Class::ALL {
        let mut of_class = lines
            .iter()
            .filter(|line| line.behaviour.class == class)
            .peekable();
        if of_class.peek().is_some() {
            let _ = writeln!(text, "{}", class.name());
        }
        for line in of_class {
            text.push_str(&line_as_text(line, width));
        }
    }
    text.push_str("\nwhat was to be given, what was, and how often\n");
    let rows: Vec<Vec<String>> = confusion(lines)
        .into_iter()
        .map(|((expected, given), count)| {
            let mark = if expected == given { "" } else { "MISJUDGED" };
            let count = format!("{count:>3}");
            vec![format!("  {expected}"), given, count, mark.to_owned()]
        })
        .collect();
    text.push_str(&table::plain(&rows));
    let allowed = lines
        .iter()
        .filter(|line| line.behaviour.class == Class::Allowed)
        .count();
    let _ = writeln!(
        text,
        "{} behaviours ({} faults, {allowed} allowed), {} misjudged",
        lines.len(),
        lines.len() - allowed,
        misjudged(lines)
    );
    text
}

fn line_as_text(line: &Line, width: usize) -> String {
    let name = line.behaviour.name;
    let reason = escape::terminal(line.reason(), 200);
    let (mark, given) = if line.is_as_expected() {
        ("ok", String::new())
    } else {
        ("MISJUDGED", format!(", given {}", line.given()))
    };
    format!(
        "  {mark:<9} {name:width$}  expected {}{given}\n  {:9} {:width$}  {reason}\n",
        line.expected(),
        "",
        ""
    )
}

#[cfg(test)]
mod tests;

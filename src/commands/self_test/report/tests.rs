//! Which lines are as expected, and what is printed of them.

use super::*;
use crate::fakes;
use crate::spec::Strength;
use crate::verdict::{Blame, Kind};

fn given(kind: Kind, blame: Blame, strength: Option<Strength>) -> Given {
    Given {
        judgement: Judgement {
            kind,
            blame,
            strength,
        },
        reason: "because".to_owned(),
    }
}

fn line(name: &str, cell: Option<Given>, findings: Vec<Given>) -> Line {
    let behaviour = fakes::all()
        .find(|behaviour| behaviour.name == name)
        .unwrap();
    Line {
        behaviour,
        cell,
        findings,
    }
}

fn works() -> Option<Given> {
    Some(given(Kind::Works, Blame::Nobody, None))
}

fn must() -> Given {
    given(Kind::Violates, Blame::Client, Some(Strength::Must))
}

#[test]
fn a_line_must_match_in_every_part() {
    let schema = || given(Kind::Violates, Blame::Client, Some(Strength::Schema));
    let check = |line: Line, expect: bool| {
        assert_eq!(
            line.is_as_expected(),
            expect,
            "{}: {}",
            line.expected(),
            line.given()
        );
    };
    check(line("behaves", works(), vec![]), true);
    check(line("behaves", None, vec![]), false);
    check(line("behaves", works(), vec![must()]), false);
    check(line("behaves", Some(must()), vec![]), false);
    check(line("wrong-id", Some(must()), vec![]), true);
    check(line("wrong-id", Some(schema()), vec![]), false);
    check(line("no-initialized", works(), vec![must()]), true);
    check(line("no-initialized", works(), vec![]), false);
    check(line("no-initialized", works(), vec![schema()]), false);
    check(
        line("no-initialized", works(), vec![must(), schema()]),
        false,
    );
    check(line("no-initialized", Some(must()), vec![must()]), false);
}

#[test]
fn both_formats_hold_the_same() {
    let lines = [
        line("behaves", works(), vec![]),
        line("wrong-id", works(), vec![]),
        line("no-initialized", works(), vec![must()]),
    ];
    let text = render(&lines, ListFormat::Human);
    let (of_lines, table) = text.split_once("\n\n").unwrap();
    assert_eq!(
        of_lines,
        "\
handshake
  ok        no-initialized  expected works (nobody), finding violates (client, MUST)
                            because
envelope
  MISJUDGED wrong-id        expected violates (client, MUST), given works (nobody)
                            because
allowed
  ok        behaves         expected works (nobody)
                            because"
    );
    let words: Vec<Vec<&str>> = table
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|w| !w.is_empty())
                .collect()
        })
        .collect();
    let both = "works (nobody), finding violates (client, MUST)";
    assert_eq!(
        words,
        [
            vec!["what was to be given, what was, and how often"],
            vec![
                "violates (client, MUST)",
                "works (nobody)",
                "1",
                "MISJUDGED"
            ],
            vec!["works (nobody)", "works (nobody)", "1"],
            vec![both, both, "1"],
            vec!["3 behaviours (2 faults, 1 allowed), 1 misjudged"],
        ]
    );
    let value: Value = serde_json::from_str(&render(&lines, ListFormat::Json)).unwrap();
    assert_eq!(value["misjudged"], 1);
    assert_eq!(value["behaviours"][1]["expected"], "violates");
    assert_eq!(value["behaviours"][1]["given"], "works");
    assert_eq!(value["behaviours"][1]["expected_strength"], "MUST");
    assert_eq!(value["behaviours"][1]["given_strength"], Value::Null);
    assert_eq!(
        value["behaviours"][2]["given_findings"][0]["verdict"],
        "violates"
    );
    assert_eq!(
        value["confusion"][0],
        json!({"expected": "violates (client, MUST)", "given": "works (nobody)", "count": 1})
    );
    assert_eq!(value["confusion"].as_array().map(Vec::len), Some(3));
}

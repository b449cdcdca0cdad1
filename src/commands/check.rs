//! `check`: runs clients and compares with the snapshots.

use std::path::PathBuf;

use super::root::Root;
use super::run::{Asked, perform};
use super::{DIFFERS, Failure, OK, output, run_dir};
use crate::cli::{Format, RunArgs};
use crate::matrix::Matrix;
use crate::matrix::compare::{self, Change, changes};
use crate::render::escape;

pub(super) fn check(root: Option<PathBuf>, args: &RunArgs) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let asked = Asked::parse(&root, args)?;
    let expected = committed(&root, &asked)?;
    let place = args.out.clone().unwrap_or_else(|| root.latest());
    let done = perform(&asked, args, &place)?;
    let scope = compare::Asked {
        all_probes: args.probes.is_empty(),
        revision: args.revision,
    };
    let found = changes(&expected, &done.matrix, scope);
    output::result(&render(&found, &done.matrix, args.format))?;
    done.tell();
    Ok(match (done.code(), found.is_empty()) {
        (OK, true) => OK,
        (OK, false) => DIFFERS,
        (code, _) => code,
    })
}

/// The committed matrix: the committed evidence, judged by this program.
fn committed(root: &Root, asked: &Asked) -> Result<Matrix, Failure> {
    let evidence = run_dir::evidence_below(&root.snapshots()).map_err(Failure::request)?;
    Ok(crate::matrix::build_by(
        asked.rules,
        &evidence,
        &asked.catalogue,
    ))
}

fn render(changes: &[Change], matrix: &Matrix, format: Format) -> String {
    if format == Format::Json {
        let value =
            serde_json::json!({"format": 1, "cells": matrix.cells.len(), "changes": changes});
        return format!("{value:#}\n");
    }
    let mut text = String::new();
    for change in changes {
        let side = |side: &Option<String>| {
            side.as_deref()
                .map_or_else(|| "nothing".to_owned(), |text| escape::terminal(text, 300))
        };
        text.push_str(&format!("CHANGED  {}\n", change.cell));
        text.push_str(&format!("  expected  {}\n", side(&change.expected)));
        text.push_str(&format!("  found     {}\n\n", side(&change.found)));
    }
    let cells = matrix.cells.len();
    text.push_str(&match changes.len() {
        0 => format!("{cells} cells, all as in snapshots/\n"),
        n => {
            format!("{cells} cells, {n} not as in snapshots/; if that is right: capmatrix accept\n")
        }
    });
    text
}

//! `accept`: takes a run's state into the snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use super::root::Root;
use super::{Failure, OK, output, run_dir};
use crate::catalogue::Probe;
use crate::matrix::{self, Matrix};
use crate::recording::read::write_atomically;
use crate::render::markdown;

/// The README's matrix stands between these.
const README_MARKS: (&str, &str) = (
    "<!-- matrix: written by `capmatrix accept` -->\n",
    "<!-- end of matrix -->\n",
);

pub(super) fn accept(root: Option<PathBuf>, run: Option<PathBuf>) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let run = run.unwrap_or_else(|| root.latest());
    if !run_dir::is_run(&run) {
        let error = anyhow!("{} is not a run of capmatrix", run.display());
        return Err(Failure::request(error).hint("capmatrix run makes one"));
    }
    let catalogue = root.catalogue()?;
    is_whole(&run, &catalogue)?;
    let evidence = run_dir::evidence_below(&run.join("evidence")).map_err(Failure::request)?;
    let matrix = matrix::build(&evidence, &catalogue);
    let undecided = matrix.cells.len() - matrix.decided();
    if undecided > 0 {
        output::note(&format!("warning: {undecided} cells are undecided"));
    }
    run_dir::write_evidence(&root.snapshots(), &evidence, &matrix).map_err(Failure::request)?;
    let all = run_dir::evidence_below(&root.snapshots()).map_err(Failure::request)?;
    let all = matrix::build(&all, &catalogue);
    write_matrix(&root, &all).map_err(Failure::request)?;
    output::result(&format!(
        "{} cells of {} targets taken into {}; read git diff before you commit\n",
        matrix.cells.len(),
        matrix.targets.len(),
        root.snapshots().display()
    ))?;
    Ok(OK)
}

/// Refuses a run that left anything out: a snapshot would lose cells.
fn is_whole(run: &Path, catalogue: &[Probe]) -> Result<(), Failure> {
    let about = run_dir::RunFile::load(run).map_err(Failure::request)?;
    let hint = "a snapshot is always whole: run without --probe and --revision first";
    if let Some(revision) = about.revision {
        let error = anyhow!("{} has revision {revision} only", run.display());
        return Err(Failure::request(error).hint(hint));
    }
    let is_missing = |probe: &&Probe| !about.probes.contains(&probe.id);
    let missing: Vec<&Probe> = catalogue.iter().filter(is_missing).collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    let (count, all) = (missing.len(), catalogue.len());
    let error = anyhow!(
        "{} lacks {count} of {all} probes, e.g. {}",
        run.display(),
        first.id
    );
    Err(Failure::request(error).hint(hint))
}

fn write_matrix(root: &Root, matrix: &Matrix) -> anyhow::Result<()> {
    let path = root.snapshots().join("MATRIX.md");
    write_atomically(&path, matrix_page(matrix).as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let path = root.0.join("README.md");
    if let Ok(readme) = fs::read_to_string(&path)
        && let Some(new) = with_short_matrix(&readme, matrix)
        && new != readme
    {
        write_atomically(&path, new.as_bytes())
            .with_context(|| format!("cannot write {}", Path::display(&path)))?;
    }
    Ok(())
}

/// The text of `snapshots/MATRIX.md`.
#[must_use]
pub fn matrix_page(matrix: &Matrix) -> String {
    format!(
        "# Capability matrix\n\n\
         Written by `capmatrix accept` from the evidence in this folder; do not edit by hand.\n\
         What each word means: see README.md, \"What a cell means\".\n\n{}",
        markdown::render(matrix)
    )
}

/// `readme` with the short form of `matrix`: the pinned targets, and the rows in which any client is blamed or
/// that a server author looks for first. `None` if it has no place for it.
#[must_use]
pub fn with_short_matrix(readme: &str, matrix: &Matrix) -> Option<String> {
    let (start, end) = README_MARKS;
    let from = readme.find(start)? + start.len();
    let to = from + readme[from..].find(end)?;
    let table = markdown::short(matrix);
    Some(format!("{}{table}{}", &readme[..from], &readme[to..]))
}

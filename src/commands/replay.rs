//! `replay`: judges the recordings of a run again.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::root::Root;
use super::{Failure, OK, output, rules, run_dir};
use crate::cli::Format;
use crate::matrix;
use crate::names::ProbeId;
use crate::recording::{Recording, by_hand};

pub(super) fn replay(
    root: Option<PathBuf>,
    run: &Path,
    format: Format,
    schema_dir: Option<&Path>,
) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let catalogue = root.catalogue()?;
    let rules = rules::rules(schema_dir)?;
    let known: Vec<ProbeId> = catalogue.iter().map(|probe| probe.id.clone()).collect();
    let matrix = match load(run, &known)? {
        Loaded::Raw(recordings) => run_dir::judge(rules, &recordings, &catalogue).1,
        Loaded::Evidence(evidence) => matrix::build_by(rules, &evidence, &catalogue),
    };
    output::matrix(&matrix, format)?;
    Ok(OK)
}

/// Recordings as they were found.
enum Loaded {
    /// As they were made.
    Raw(Vec<Recording>),
    /// Redacted already.
    Evidence(Vec<Recording>),
}

/// The recordings of a run, of snapshots, or of a probe server that a person used.
fn load(dir: &Path, probes: &[ProbeId]) -> Result<Loaded, Failure> {
    if !dir.is_dir() {
        return Err(Failure::request(anyhow!("no folder {}", dir.display())));
    }
    let loaded = if dir.join("sessions").is_dir() {
        let all = run_dir::raw_recordings(dir).map_err(Failure::request)?;
        Loaded::Raw(all.into_iter().map(|(_, recording)| recording).collect())
    } else {
        let by_hand = by_hand::load(dir, probes).map_err(Failure::request)?;
        match by_hand.is_empty() {
            true => Loaded::Evidence(run_dir::evidence_below(dir).map_err(Failure::request)?),
            false => Loaded::Raw(by_hand),
        }
    };
    let (Loaded::Raw(recordings) | Loaded::Evidence(recordings)) = &loaded;
    if recordings.is_empty() {
        let error = anyhow!("no recording below {}", dir.display());
        return Err(
            Failure::request(error).hint("name a folder that `run --out` or `serve --out` wrote")
        );
    }
    Ok(loaded)
}

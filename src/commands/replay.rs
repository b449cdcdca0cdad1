//! `replay`: judges the recordings of a run again.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::root::Root;
use super::{Failure, OK, output, run_dir};
use crate::cli::Format;
use crate::names::ProbeId;
use crate::recording::{Recording, by_hand};

pub(super) fn replay(root: Option<PathBuf>, run: &Path, format: Format) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let catalogue = root.catalogue()?;
    let known: Vec<ProbeId> = catalogue.iter().map(|probe| probe.id.clone()).collect();
    let recordings = load(run, &known)?;
    let (_, matrix) = run_dir::judge(&recordings, &catalogue);
    output::matrix(&matrix, format)?;
    Ok(OK)
}

/// The recordings of a run, of snapshots, or of a probe server that a person used.
fn load(dir: &Path, probes: &[ProbeId]) -> Result<Vec<Recording>, Failure> {
    if !dir.is_dir() {
        return Err(Failure::request(anyhow!("no folder {}", dir.display())));
    }
    let recordings = if dir.join("sessions").is_dir() {
        run_dir::raw_recordings(dir)
            .map(|all| all.into_iter().map(|(_, recording)| recording).collect())
    } else {
        match by_hand::load(dir, probes) {
            Ok(recordings) if recordings.is_empty() => run_dir::evidence_below(dir),
            other => other.map_err(anyhow::Error::from),
        }
    };
    let recordings: Vec<Recording> = recordings.map_err(Failure::request)?;
    if recordings.is_empty() {
        let error = anyhow!("no recording below {}", dir.display());
        return Err(
            Failure::request(error).hint("name a folder that `run --out` or `serve --out` wrote")
        );
    }
    Ok(recordings)
}

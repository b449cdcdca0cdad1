//! The folder of a run: what is kept of it, and that an earlier one stays until a new one is whole.
//!
//! Layout: `run.json` (format, and what was asked), `sessions/<name>/recording.jsonl` (raw),
//! `evidence/<client>/<version>/<surface>/evidence*.jsonl` and `results.json` (redacted, judged), `results.json` (all).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Failure;
use crate::catalogue::Probe;
use crate::matrix::{self, Matrix};
use crate::names::{ProbeId, Revision, Target};
use crate::recording::read::{self, write_atomically};
use crate::recording::{Recording, redact};
use crate::render;
use crate::run::RECORDING;
use crate::spec::Rules;

/// Marks a folder as ours, so that nothing else is ever replaced.
const MARKER: &str = "run.json";

/// What a run says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunFile {
    /// The version of this layout.
    format: u32,
    /// The probes that were asked.
    #[serde(default)]
    pub(super) probes: Vec<ProbeId>,
    /// The one revision in which they were; null means every one that each client speaks.
    #[serde(default)]
    pub(super) revision: Option<Revision>,
}

impl RunFile {
    /// Of a run that asks `probes`.
    pub(super) fn new(probes: &[Probe], revision: Option<Revision>) -> RunFile {
        RunFile {
            format: 1,
            probes: probes.iter().map(|probe| probe.id.clone()).collect(),
            revision,
        }
    }

    /// Reads that of the run at `dir`.
    ///
    /// # Errors
    /// When it is no run, or its file cannot be read.
    pub(super) fn load(dir: &Path) -> anyhow::Result<RunFile> {
        let file = dir.join(MARKER);
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is broken", file.display()))
    }
}

/// A run's folder while it is written: beside its final place, and gone if the run does not get to its end.
pub(super) struct NewRunDir {
    temporary: PathBuf,
    place: PathBuf,
    about: RunFile,
}

impl NewRunDir {
    /// Starts the run `about`, which is to end up at `place`.
    ///
    /// # Errors
    /// When `place` is something else than an earlier run, or cannot be written.
    pub(super) fn create(place: &Path, about: RunFile) -> Result<NewRunDir, Failure> {
        let unwritable = |error: io::Error, path: &Path| {
            let error = anyhow!(error)
                .context(format!("cannot write the output folder {}", path.display()));
            Failure::request(error).hint("name a folder that you can write with --out")
        };
        let is_ours = place.join(MARKER).is_file();
        let is_free = !place.exists()
            || place.is_dir()
                && fs::read_dir(place)
                    .map_err(|e| unwritable(e, place))?
                    .next()
                    .is_none();
        if !is_ours && !is_free {
            let error = anyhow!("{} exists and is not a run of capmatrix", place.display());
            return Err(Failure::request(error).hint("name a new or empty folder with --out"));
        }
        let parent = match place.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(|e| unwritable(e, place))?;
        let name = place
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let temporary = parent.join(format!(".{name}.new-{}", std::process::id()));
        remove_stale(parent, &name);
        fs::create_dir(&temporary).map_err(|e| unwritable(e, place))?;
        Ok(NewRunDir {
            temporary,
            place: place.to_owned(),
            about,
        })
    }

    /// Where the sessions go.
    pub(super) fn sessions(&self) -> PathBuf {
        self.temporary.join("sessions")
    }

    /// Writes evidence and results, and puts the whole run into its place.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn finish(self, evidence: &[Recording], matrix: &Matrix) -> anyhow::Result<()> {
        let place = self.place.clone();
        self.finish_at(&place, evidence, matrix)
    }

    /// The same at another place than the one it was started for.
    ///
    /// # Errors
    /// When the folder cannot be written, or something else than a run is there.
    pub(super) fn finish_at(
        self,
        place: &Path,
        evidence: &[Recording],
        matrix: &Matrix,
    ) -> anyhow::Result<()> {
        write_evidence(&self.temporary.join("evidence"), evidence, matrix)?;
        write_atomically(
            &self.temporary.join("results.json"),
            render::json::render(matrix).as_bytes(),
        )?;
        let mut about = serde_json::to_vec(&self.about)?;
        about.push(b'\n');
        write_atomically(&self.temporary.join(MARKER), &about)?;
        let old = self.temporary.with_extension("old");
        if place.exists() {
            anyhow::ensure!(
                is_run(place) || fs::read_dir(place)?.next().is_none(),
                "{} is not a run of capmatrix",
                place.display()
            );
            fs::rename(place, &old)?;
        }
        fs::rename(&self.temporary, place)
            .with_context(|| format!("cannot put the run into {}", place.display()))?;
        let _ = fs::remove_dir_all(&old);
        Ok(())
    }
}

/// Removes what a run left that was killed: its process is gone.
fn remove_stale(parent: &Path, name: &str) {
    let prefix = format!(".{name}.new-");
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = file_name.strip_prefix(&prefix) else {
            continue;
        };
        if pid.parse::<u32>().is_ok()
            && Path::new("/proc/self").exists()
            && !Path::new("/proc").join(pid).exists()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for NewRunDir {
    fn drop(&mut self) {
        // A process of the sandbox may still be writing while the kernel ends it: try again until it is gone.
        for _ in 0..50 {
            match fs::remove_dir_all(&self.temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

/// Writes each target's evidence and results below `dir`, replacing what was there of that target.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write_evidence(
    dir: &Path,
    evidence: &[Recording],
    matrix: &Matrix,
) -> anyhow::Result<()> {
    let mut by_target: BTreeMap<&Target, Vec<&Recording>> = BTreeMap::new();
    for recording in evidence {
        by_target
            .entry(&recording.header.target)
            .or_default()
            .push(recording);
    }
    for (target, recordings) in by_target {
        let folder = target_folder(dir, target);
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let names = matrix::evidence_names(recordings.iter().copied());
        for stale in evidence_files(&folder)? {
            let name = stale.file_name().unwrap_or_default();
            if !names.iter().any(|new| name == new.as_str()) {
                fs::remove_file(stale)?;
            }
        }
        for (name, recording) in names.iter().zip(recordings) {
            let file = folder.join(name);
            write_atomically(&file, read::to_text(recording).as_bytes())
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        let own = matrix.filtered(|cell| cell.target() == *target);
        write_atomically(
            &folder.join("results.json"),
            render::json::render(&own).as_bytes(),
        )
        .with_context(|| format!("cannot write below {}", folder.display()))?;
    }
    Ok(())
}

/// The folder of a target's evidence.
pub(super) fn target_folder(dir: &Path, target: &Target) -> PathBuf {
    dir.join(&target.client)
        .join(&target.version)
        .join(&target.surface)
}

/// The evidence files of one target: by label, those of one label in the order of the sessions.
fn evidence_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".jsonl") else {
            continue;
        };
        let (label, number) = match stem.rsplit_once('.') {
            Some((label, number)) if number.parse::<usize>().is_ok() => {
                (label, number.parse().unwrap_or(1))
            }
            _ => (stem, 1),
        };
        if stem.starts_with("evidence") {
            files.push((label.to_owned(), number, folder.join(&name)));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, _, file)| file).collect())
}

/// All evidence below `dir`, which is laid out as `snapshots/`, sorted by client, version and surface.
///
/// # Errors
/// When a file cannot be read or is no recording.
pub fn evidence_below(dir: &Path) -> anyhow::Result<Vec<Recording>> {
    let mut files = Vec::new();
    for client in folders(dir)? {
        for version in folders(&client)? {
            for surface in folders(&version)? {
                files.extend(evidence_files(&surface)?);
            }
        }
    }
    let load = |file: &PathBuf| read::load(file).map_err(anyhow::Error::from);
    files.par_iter().map(load).collect()
}

fn folders(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    Ok(folders)
}

/// The raw recordings of a run, with their paths.
///
/// # Errors
/// When a file cannot be read or is no recording.
pub(super) fn raw_recordings(run: &Path) -> anyhow::Result<Vec<(PathBuf, Recording)>> {
    let sessions = run.join("sessions");
    let mut recordings = Vec::new();
    for folder in folders(&sessions)? {
        let file = folder.join(RECORDING);
        if file.is_file() {
            let recording = read::load(&file)?;
            recordings.push((file, recording));
        }
    }
    Ok(recordings)
}

/// Judges recordings through their evidence: the same path for a live run, a replay and a test.
pub fn judge(
    rules: &Rules,
    recordings: &[Recording],
    catalogue: &[Probe],
) -> (Vec<Recording>, Matrix) {
    let evidence: Vec<Recording> = recordings.par_iter().map(redact::evidence).collect();
    let matrix = matrix::build_by(rules, &evidence, catalogue);
    (evidence, matrix)
}

/// Whether `dir` holds a run.
pub(super) fn is_run(dir: &Path) -> bool {
    dir.join(MARKER).is_file()
}

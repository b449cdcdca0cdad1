//! Loading the catalogue from its folder, and selecting from it.
//!
//! Owns what makes a set of probe files a good catalogue: ids, titles and controls across files. What one file says is
//! `probe_file`'s. It must not know which probes are run, and it does not add the controls of those selected.

mod check;
mod json;
mod norms;
mod probe_file;
mod script;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Asks, Probe};
use crate::names::{ProbeId, did_you_mean};
pub use crate::toml_error::LoadError;
use crate::toml_error::{Problem, Source};
use probe_file::Parsed;

/// A probe file: its text, and what it says if it is good in itself.
struct Loaded {
    id: ProbeId,
    source: Source,
    parsed: Option<Parsed>,
}

/// Loads every probe below `dir`, sorted by id.
///
/// # Errors
/// Everything that is wrong with the files, each with its place.
pub fn load(dir: &Path) -> Result<Vec<Probe>, LoadError> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    walk(dir, &mut Vec::new(), &mut files, &mut problems);
    if files.is_empty() && problems.is_empty() {
        let problem = Problem::whole(dir, "no probe here, expected AREA/NAME.toml");
        return Err(problem.into());
    }
    let mut found: Vec<(ProbeId, PathBuf)> = Vec::new();
    for file in files {
        match id_of(dir, &file) {
            Ok(id) => found.push((id, file)),
            Err(problem) => problems.push(problem),
        }
    }
    found.sort();
    check_ids(&found, &mut problems);
    // An id whose file is bad is still known, so that nobody is told that it does not exist.
    let ids: BTreeSet<ProbeId> = found.iter().map(|(id, _)| id.clone()).collect();
    let mut loaded = Vec::new();
    for (id, file) in found {
        match Source::read(&file) {
            Ok(source) => {
                let parsed = match probe_file::parse(&source, &id) {
                    Ok(parsed) => Some(parsed),
                    Err(wrong) => {
                        problems.extend(wrong);
                        None
                    }
                };
                loaded.push(Loaded { id, source, parsed });
            }
            Err(problem) => problems.push(problem),
        }
    }
    check_titles(&loaded, &mut problems);
    check_controls(&loaded, &ids, &mut problems);
    let probes = loaded
        .into_iter()
        .filter_map(|file| Some(file.parsed?.probe));
    LoadError::unless_none(probes.collect(), problems)
}

/// Collects the probe files below `dir`. `above` holds the real paths of the folders that are being walked.
fn walk(
    dir: &Path,
    above: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
    problems: &mut Vec<Problem>,
) {
    let listing = || -> io::Result<(PathBuf, Vec<PathBuf>)> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            entries.push(entry?.path());
        }
        entries.sort();
        Ok((fs::canonicalize(dir)?, entries))
    };
    let (real, entries) = match listing() {
        Ok(listing) => listing,
        Err(error) => return problems.push(Problem::whole(dir, format!("cannot read: {error}"))),
    };
    // A symbolic link back to a folder above would never end.
    if above.contains(&real) {
        return;
    }
    above.push(real);
    for path in entries {
        let name = path.file_name().unwrap_or_default();
        // Editors leave such files behind.
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            walk(&path, above, files, problems);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    above.pop();
}

/// The id that a file's path makes.
fn id_of(dir: &Path, file: &Path) -> Result<ProbeId, Problem> {
    let below = file.strip_prefix(dir).unwrap_or(file).with_extension("");
    let mut parts = Vec::new();
    for part in &below {
        match part.to_str() {
            Some(part)
                if part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) =>
            {
                parts.push(part);
            }
            _ => {
                let message = format!(
                    "`{}` cannot be part of a probe's id, expected letters, digits, `-`, `_` and `.`",
                    part.display().to_string().escape_debug()
                );
                return Err(Problem::whole(file, message));
            }
        }
    }
    Ok(ProbeId(parts.join("/")))
}

/// On some file systems names that differ only by case are one file, so such a catalogue could not be checked out.
fn check_ids(found: &[(ProbeId, PathBuf)], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<String, &ProbeId> = BTreeMap::new();
    for (id, file) in found {
        if let Some(first) = seen.insert(id.0.to_lowercase(), id) {
            let message = format!("duplicate id `{id}`: it differs from `{first}` only by case");
            problems.push(Problem::whole(file, message));
        }
    }
}

fn check_titles(loaded: &[Loaded], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<&str, &ProbeId> = BTreeMap::new();
    for file in loaded {
        let Some(parsed) = &file.parsed else {
            continue;
        };
        match seen.get(parsed.probe.title.as_str()) {
            Some(first) => {
                let message = format!("`{first}` has this title already, expected one of its own");
                problems.push(file.source.at(parsed.title.clone(), message));
            }
            None => {
                seen.insert(&parsed.probe.title, &file.id);
            }
        }
    }
}

fn check_controls(loaded: &[Loaded], ids: &BTreeSet<ProbeId>, problems: &mut Vec<Problem>) {
    // Without the files that are bad in themselves: nothing is said of them here.
    let good: BTreeMap<&ProbeId, &Probe> = loaded
        .iter()
        .filter_map(|file| Some((&file.id, &file.parsed.as_ref()?.probe)))
        .collect();
    for file in loaded {
        let Some(parsed) = &file.parsed else {
            continue;
        };
        let (Some(control), Some(place)) = (&parsed.probe.control, &parsed.control) else {
            continue;
        };
        let problem = |message: String| file.source.at(place.clone(), message);
        if !ids.contains(control) {
            let hint = did_you_mean(&control.0, ids.iter().map(|id| id.0.as_str()));
            let message = format!("no probe `{control}`, expected the id of a probe");
            problems.push(problem(message).hint(hint));
        } else if control == &file.id {
            problems.push(problem(
                "a probe cannot be its own control, expected another probe".to_owned(),
            ));
        } else if let Some(found) = good.get(control) {
            if let Some(next) = &found.control {
                let message =
                    format!("`{control}` has itself a control, expected a probe without one");
                problems.push(problem(message).hint(format!("its control is `{next}`")));
            }
            if found.asks == Asks::Declaration {
                // It is sent undeclared too, where what becomes of the request says nothing.
                let message = format!(
                    "`{control}` asks for the declaration, expected a probe that asks the request"
                );
                problems.push(problem(message));
            }
        }
    }
}

/// Why nothing could be selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no probe `{}`, and none below it", prefix.escape_debug())]
pub struct SelectError {
    prefix: String,
    near: String,
}

impl SelectError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        if self.near.is_empty() {
            "`capmatrix probes` lists them all".to_owned()
        } else {
            self.near.clone()
        }
    }
}

/// The probes whose ids start with one of `prefixes`, which cover whole path components; all of them for no prefix.
/// They keep their order. Their controls are not added.
///
/// # Errors
/// The first prefix that matches nothing.
pub fn select<'a>(probes: &'a [Probe], prefixes: &[String]) -> Result<Vec<&'a Probe>, SelectError> {
    let matches = |probe: &Probe, prefix: &str| {
        // A shell that completes a path adds the slash.
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let rest = probe.id.0.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for prefix in prefixes {
        if !probes.iter().any(|probe| matches(probe, prefix)) {
            return Err(SelectError {
                prefix: prefix.clone(),
                near: did_you_mean(prefix, names(probes)),
            });
        }
    }
    let wanted = |probe: &&Probe| {
        prefixes.is_empty() || prefixes.iter().any(|prefix| matches(probe, prefix))
    };
    Ok(probes.iter().filter(wanted).collect())
}

/// Everything that could have been typed: ids, and the folders above them.
fn names(probes: &[Probe]) -> BTreeSet<&str> {
    let ids = probes.iter().map(|probe| probe.id.0.as_str());
    ids.flat_map(|id| {
        let folders = id.match_indices('/').map(move |(at, _)| &id[..at]);
        folders.chain([id])
    })
    .collect()
}

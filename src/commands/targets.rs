//! What was typed for targets -> what is to be installed and run.

use std::path::PathBuf;

use anyhow::anyhow;

use super::Failure;
use crate::clients::{Client, Source};
use crate::names::{self, Target, TargetPattern};
use crate::plan::PlannedTarget;

/// One client of one version, with the surfaces that are wanted.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// The client's file.
    pub(super) client: Client,
    /// What was typed for the version; none means the pinned one.
    pub(super) version: Option<String>,
    /// The surfaces, in the order of the client's file.
    pub(super) surfaces: Vec<String>,
    /// A program on disk to use instead of an install.
    pub(super) binary: Option<PathBuf>,
}

impl Wanted {
    /// The surfaces as targets of `version`.
    pub(super) fn planned(&self, version: &str) -> impl Iterator<Item = PlannedTarget> {
        self.surfaces.iter().map(move |surface| PlannedTarget {
            target: Target {
                client: self.client.id.clone(),
                version: version.to_owned(),
                surface: surface.clone(),
            },
            client: self.client.clone(),
            surface: self.client.surfaces[surface].clone(),
        })
    }
}

/// Resolves `typed` against the known clients. Nothing typed means every client's pinned version.
pub(super) fn resolve(
    typed: &[String],
    binaries: &[String],
    clients: &[Client],
) -> Result<Vec<Wanted>, Failure> {
    let binaries = parse_binaries(binaries, clients)?;
    let typed: Vec<String> = match typed {
        [] => clients.iter().map(|client| client.id.clone()).collect(),
        typed => typed.to_vec(),
    };
    let mut wanted: Vec<Wanted> = Vec::new();
    for text in &typed {
        let pattern: TargetPattern = text
            .parse()
            .map_err(|error: String| Failure::request(anyhow!(error)))?;
        let client = find_client(&pattern.client, clients)?;
        let surfaces = find_surfaces(client, pattern.surface.as_deref())?;
        check_version(client, pattern.version.as_deref())?;
        let same = wanted
            .iter_mut()
            .find(|w| w.client.id == client.id && w.version == pattern.version);
        match same {
            Some(wanted) => {
                let new = surfaces
                    .into_iter()
                    .filter(|s| !wanted.surfaces.contains(s))
                    .collect::<Vec<_>>();
                wanted.surfaces.extend(new);
            }
            None => wanted.push(Wanted {
                client: client.clone(),
                version: pattern.version,
                surfaces,
                binary: binaries
                    .iter()
                    .find(|(id, _)| *id == client.id)
                    .map(|(_, path)| path.clone()),
            }),
        }
    }
    Ok(wanted)
}

fn parse_binaries(typed: &[String], clients: &[Client]) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut binaries = Vec::new();
    for text in typed {
        let Some((id, path)) = text.split_once('=') else {
            let error = anyhow!("`{text}` is not CLIENT=PATH");
            return Err(Failure::request(error).hint("e.g. --binary codex=/opt/codex/bin/codex"));
        };
        find_client(id, clients)?;
        let path = PathBuf::from(path);
        if !path.is_file() {
            return Err(Failure::request(anyhow!(
                "no program at {}",
                path.display()
            )));
        }
        binaries.push((id.to_owned(), path));
    }
    Ok(binaries)
}

/// The client of that id.
pub(super) fn find_client<'a>(id: &str, clients: &'a [Client]) -> Result<&'a Client, Failure> {
    clients
        .iter()
        .find(|client| client.id == id)
        .ok_or_else(|| {
            let hint = names::did_you_mean(id, clients.iter().map(|client| client.id.as_str()));
            Failure::request(anyhow!("unknown client `{id}`")).hint(hint)
        })
}

/// The surfaces of that name, or all.
pub(super) fn find_surfaces(
    client: &Client,
    surface: Option<&str>,
) -> Result<Vec<String>, Failure> {
    let Some(surface) = surface else {
        return Ok(client.surfaces.keys().cloned().collect());
    };
    if client.surfaces.contains_key(surface) {
        return Ok(vec![surface.to_owned()]);
    }
    let hint = names::did_you_mean(surface, client.surfaces.keys().map(String::as_str));
    Err(Failure::request(anyhow!("{} has no surface `{surface}`", client.id)).hint(hint))
}

/// Only a client that comes from a registry has more than one version.
fn check_version(client: &Client, version: Option<&str>) -> Result<(), Failure> {
    let Some(version) = version else {
        return Ok(());
    };
    if matches!(client.source, Source::Npm { .. }) || version == client.pinned {
        return Ok(());
    }
    let error = anyhow!("unknown version `{version}` of {}", client.id);
    Err(Failure::request(error).hint(format!("it has one version here: {}", client.pinned)))
}

//! Finding and loading the project's folder: probes, clients, snapshots, runs.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::Failure;
use crate::catalogue::{self, Probe};
use crate::clients::{self, Client};

/// The project's folder.
#[derive(Debug, Clone)]
pub(super) struct Root(pub(super) PathBuf);

impl Root {
    /// The folder that was named, else the nearest one above the current folder that has `probes/` and `clients/`,
    /// else the one that this program was built from.
    pub(super) fn find(named: Option<PathBuf>) -> Result<Root, Failure> {
        let has_both = |dir: &Path| dir.join("probes").is_dir() && dir.join("clients").is_dir();
        if let Some(dir) = named {
            if has_both(&dir) {
                return Ok(Root(dir));
            }
            let error = anyhow!("{} has no probes/ and clients/", dir.display());
            return Err(Failure::request(error).hint("name a checkout of capmatrix with --root"));
        }
        let here = std::env::current_dir().unwrap_or_default();
        let built = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        here.ancestors()
            .map(Path::to_owned)
            .chain([built])
            .find(|dir| has_both(dir))
            .map(Root)
            .ok_or_else(|| {
                let error = anyhow!("no folder with probes/ and clients/ here or above");
                Failure::request(error)
                    .hint("run this in a checkout of capmatrix, or name one with --root")
            })
    }

    /// The committed snapshots.
    pub(super) fn snapshots(&self) -> PathBuf {
        self.0.join("snapshots")
    }

    /// Where runs are kept; ignored by git.
    pub(super) fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    /// The latest run.
    pub(super) fn latest(&self) -> PathBuf {
        self.runs().join("latest")
    }

    /// All probes.
    pub(super) fn catalogue(&self) -> Result<Vec<Probe>, Failure> {
        catalogue::load::load(&self.0.join("probes")).map_err(Failure::request)
    }

    /// All clients: those of `clients/`, and the user's own.
    pub(super) fn clients(&self, own: &[PathBuf]) -> Result<Vec<Client>, Failure> {
        let mut all = clients::load::load_dir(&self.0.join("clients")).map_err(Failure::request)?;
        for path in own {
            let client = clients::load::load_file(path).map_err(Failure::request)?;
            if all.iter().any(|known| known.id == client.id) {
                let error = anyhow!(
                    "{}: a client `{}` is known already",
                    path.display(),
                    client.id
                );
                return Err(Failure::request(error).hint("give your file another name and id"));
            }
            all.push(client);
        }
        Ok(all)
    }
}

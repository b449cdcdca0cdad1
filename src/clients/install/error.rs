//! What can go wrong with an install, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why a client is not there.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Nothing says where the cache is.
    #[error(
        "no place for installed clients: none of CAPMATRIX_CACHE, XDG_CACHE_HOME and HOME is set"
    )]
    NoCache,
    /// The client does not come from npm.
    #[error("{client} is not installed through npm")]
    NotFromNpm {
        /// The client.
        client: String,
    },
    /// There is no npm.
    #[error("npm not found")]
    NoNpm,
    /// The registry has no such version.
    #[error("no version `{version}` of {package}")]
    NoSuchVersion {
        /// The package.
        package: String,
        /// What was asked for.
        version: String,
        /// Versions that there are, nearest first; empty if they could not be listed.
        known: Vec<String>,
    },
    /// npm got no answer from its registry.
    #[error("npm cannot reach its registry ({code})")]
    NoNetwork {
        /// npm's own code for it.
        code: String,
    },
    /// npm took too long.
    #[error("npm did not end within {minutes} minutes")]
    TooSlow {
        /// The deadline.
        minutes: u64,
    },
    /// npm failed in another way.
    #[error("npm failed: {said}")]
    Npm {
        /// The end of what it said, bounded and without control characters.
        said: String,
    },
    /// The package has no program where it was looked for.
    #[error("{package}@{version} has no program at any of: {programs}")]
    NoProgram {
        /// The package.
        package: String,
        /// The version.
        version: String,
        /// Where it was looked for.
        programs: String,
    },
    /// The script's interpreter is not there.
    #[error("{name} not found, which this version of the client needs")]
    NoInterpreter {
        /// The interpreter.
        name: String,
    },
    /// It was installed, but does not start.
    #[error("the installed program does not start")]
    DoesNotStart {
        /// What happened instead.
        source: anyhow::Error,
    },
    /// A file or folder cannot be read or written.
    #[error("cannot use {path}")]
    Disk {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl InstallError {
    pub(super) fn disk(path: &Path, source: io::Error) -> InstallError {
        InstallError::Disk {
            path: path.to_owned(),
            source,
        }
    }

    /// What to do next, if we know.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            InstallError::NoCache => "set CAPMATRIX_CACHE to a folder with about 1 GB to spare".to_owned(),
            InstallError::NoNpm => {
                "install Node.js with npm; `capmatrix self-test` and `capmatrix run reference` need none".to_owned()
            }
            InstallError::NoSuchVersion { known, .. } if !known.is_empty() => {
                format!("published versions near it: {}", known.join(", "))
            }
            InstallError::NoNetwork { .. } => {
                "clients that are in the cache already run without a network; `capmatrix run reference` always does"
                    .to_owned()
            }
            InstallError::NoInterpreter { name } => format!("install {name}, or choose a newer version"),
            InstallError::NoProgram { .. } => "see `programs` in the client's file below clients/".to_owned(),
            InstallError::Disk { .. } => "set CAPMATRIX_CACHE to a folder that you can write".to_owned(),
            _ => return None,
        })
    }
}

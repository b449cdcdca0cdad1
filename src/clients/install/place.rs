//! One version's place in the cache: its folder, its marker, its lock, its temporary folder.
//!
//! Owns what makes an install complete. It must not know how one is made.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::InstallError;
use super::error::io_error;
use super::program;
use crate::clients::Installed;

/// In the folder of a complete install.
const MARKER: &str = "capmatrix-install.json";
/// Longer than an install may take.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// What is installed in a folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Marker {
    /// The version of this format: 1.
    pub(super) format: u32,
    pub(super) package: String,
    pub(super) version: String,
    /// Relative to the folder.
    pub(super) program: String,
    pub(super) sha256: String,
}

impl Marker {
    /// The install, if it lies in `folder`. Its paths have no links, which would lead out of what the sandbox shows.
    pub(super) fn installed(&self, folder: &Path) -> Result<Installed, InstallError> {
        let root = fs::canonicalize(folder).map_err(io_error("find", folder))?;
        Ok(Installed {
            version: self.version.clone(),
            argv: program::argv(&root.join(&self.program))?,
            root,
            digest: self.sha256.clone(),
        })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), InstallError> {
        let file = folder.join(MARKER);
        let text = serde_json::to_vec(self).map_err(io::Error::from);
        text.and_then(|text| fs::write(&file, text))
            .map_err(io_error("write", &file))
    }
}

/// The paths of one version of a client.
pub(super) struct Place {
    /// Where the install lies when it is complete.
    pub(super) folder: PathBuf,
    /// The client's folder.
    above: PathBuf,
    version: String,
}

impl Place {
    pub(super) fn new(root: &Path, client: &str, version: &str) -> Place {
        let above = root.join(client);
        Place {
            folder: above.join(version),
            above,
            version: version.to_owned(),
        }
    }

    /// The marker of a complete install that the client's file still agrees with. Anything else counts as none.
    pub(super) fn marker(&self, package: &str, programs: &[String]) -> Option<Marker> {
        let text = fs::read(self.folder.join(MARKER)).ok()?;
        let marker: Marker = serde_json::from_slice(&text).ok()?;
        let still_wanted = programs
            .iter()
            .filter_map(|pattern| glob::Pattern::new(pattern).ok())
            .any(|pattern| pattern.matches(&marker.program));
        let good = marker.format == 1
            && marker.package == package
            && marker.version == self.version
            && still_wanted
            && self.folder.join(&marker.program).is_file();
        good.then_some(marker)
    }

    /// Makes the client's folder.
    pub(super) fn create(&self) -> Result<(), InstallError> {
        fs::create_dir_all(&self.above).map_err(io_error("create", &self.above))
    }

    /// Waits until nobody else installs this version. The lock lasts as long as the file that this gives.
    pub(super) async fn lock(&self, progress: &dyn Fn(&str)) -> Result<File, InstallError> {
        let path = self.above.join(format!("{}.lock", self.version));
        let mut options = File::options();
        let file = options
            .create(true)
            .append(true)
            .open(&path)
            .map_err(io_error("create", &path))?;
        let start = Instant::now();
        let mut told = false;
        loop {
            // Asking again and again, because a wait in the operating system could not be interrupted.
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {}
                Err(TryLockError::WouldBlock) => return Err(InstallError::Locked { path }),
                Err(TryLockError::Error(error)) => return Err(io_error("lock", &path)(error)),
            }
            if !told {
                progress("waiting for another install");
                told = true;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Removes what an install that was killed has left. Only for the holder of the lock.
    pub(super) fn remove_leftovers(&self) -> Result<(), InstallError> {
        let prefix = format!(".installing-{}-", self.version);
        let entries = fs::read_dir(&self.above).map_err(io_error("read", &self.above))?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            // A longer version may start like this one: 1.0.0 and 1.0.0-beta.
            if pid.is_some_and(|pid| pid.bytes().all(|b| b.is_ascii_digit())) {
                remove(&entry.path()).map_err(io_error("remove", &entry.path()))?;
            }
        }
        Ok(())
    }

    /// An empty folder to install into.
    pub(super) fn temporary(&self) -> Result<Temporary, InstallError> {
        let name = format!(".installing-{}-{}", self.version, std::process::id());
        let path = self.above.join(name);
        fs::create_dir(&path).map_err(io_error("create", &path))?;
        Ok(Temporary { path })
    }

    /// Moves a complete install into its place, over one that is broken or no longer wanted.
    pub(super) fn put(&self, temporary: Temporary) -> Result<(), InstallError> {
        remove(&self.folder).map_err(io_error("remove", &self.folder))?;
        fs::rename(&temporary.path, &self.folder).map_err(io_error("create", &self.folder))?;
        drop(temporary);
        Ok(())
    }
}

/// A folder that is removed when this is dropped, if it has not been moved away.
pub(super) struct Temporary {
    pub(super) path: PathBuf,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// Removes a folder or a file, which may be missing, or change while this goes on.
fn remove(path: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        let result = match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match result {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && tries < 5 => tries += 1,
            result => return result,
        }
    }
}

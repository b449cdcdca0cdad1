//! Getting a client: from npm into the cache, from a path, or built in.
//!
//! Owns the cache: one version a folder, whole or not there at all. It must not know what a client is run for.
//! npm is the only program that it starts itself; what was installed is started by the caller, in the sandbox.

mod error;
mod npm;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Client, Installed, Source};

pub use error::InstallError;

/// Where clients are kept, and with what they are fetched.
#[derive(Debug, Clone)]
pub struct Cache {
    /// The cache folder.
    pub root: PathBuf,
    /// The npm program.
    pub npm: PathBuf,
}

/// Written last into an install's folder: with it, the folder is whole.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    format: u32,
    version: String,
    /// The program, relative to the folder.
    program: PathBuf,
    /// sha-256 of the program, in hex.
    digest: String,
}

const MARKER: &str = "capmatrix-install.json";

impl Cache {
    /// The cache at `root`, with the npm that PATH finds.
    #[must_use]
    pub fn new(root: PathBuf) -> Cache {
        Cache {
            root,
            npm: PathBuf::from("npm"),
        }
    }

    /// `$CAPMATRIX_CACHE`, else `$XDG_CACHE_HOME/capmatrix`, else `$HOME/.cache/capmatrix`.
    ///
    /// # Errors
    /// When none of the three is set.
    pub fn default_root() -> Result<PathBuf, InstallError> {
        let set = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        set("CAPMATRIX_CACHE")
            .or_else(|| Some(set("XDG_CACHE_HOME")?.join("capmatrix")))
            .or_else(|| Some(set("HOME")?.join(".cache/capmatrix")))
            .ok_or(InstallError::NoCache)
    }
}

/// The exact version to run: the pinned one, the one named, or what a tag such as `latest` stands for today.
///
/// # Errors
/// When npm cannot be asked, or has no such tag.
pub async fn resolve(
    cache: &Cache,
    client: &Client,
    wanted: Option<&str>,
) -> Result<String, InstallError> {
    match (wanted, &client.source) {
        (None, _) => Ok(client.pinned.clone()),
        (Some(version), _) if version.starts_with(|c: char| c.is_ascii_digit()) => {
            Ok(version.to_owned())
        }
        (Some(tag), Source::Npm { package, .. }) => npm::version_of_tag(cache, package, tag).await,
        (Some(tag), _) => Ok(tag.to_owned()),
    }
}

/// The client of `version`, installed if it is not in the cache. `progress` is told what goes on about every second;
/// `start_once` starts the new program in the sandbox, to see that it starts.
///
/// An interrupted install leaves nothing that would be taken for a whole one.
///
/// # Errors
/// Whatever keeps the client from being installed and started.
pub async fn ensure(
    cache: &Cache,
    client: &Client,
    version: &str,
    progress: &dyn Fn(&str),
    start_once: impl AsyncFn(&Installed) -> anyhow::Result<()>,
) -> Result<Installed, InstallError> {
    let Source::Npm {
        package, programs, ..
    } = &client.source
    else {
        return Err(InstallError::NotFromNpm {
            client: client.id.clone(),
        });
    };
    let folder = cache.root.join(&client.id);
    let place = folder.join(version);
    if let Some(installed) = look(&place)? {
        return Ok(installed);
    }
    fs::create_dir_all(&folder).map_err(|error| InstallError::disk(&folder, error))?;
    let _lock = lock(&folder.join(format!("{version}.lock")), progress).await?;
    if let Some(installed) = look(&place)? {
        return Ok(installed);
    }
    remove_stale(&folder, version);
    let new =
        NewFolder::create(folder.join(format!(".installing-{version}-{}", std::process::id())))?;
    npm::install(cache, package, version, &new.0, progress).await?;
    let program = find_program(&new.0, programs, package, version)?;
    progress("checking that it starts");
    let digest = digest_of(&new.0.join(&program))?;
    let marker = Marker {
        format: 1,
        version: version.to_owned(),
        program,
        digest,
    };
    let installed = installed(&new.0, &marker)?;
    start_once(&installed)
        .await
        .map_err(|source| InstallError::DoesNotStart { source })?;
    write_marker(&new.0, &marker)?;
    // A folder without a marker is what an older interruption left.
    let _ = fs::remove_dir_all(&place);
    fs::rename(&new.0, &place).map_err(|error| InstallError::disk(&place, error))?;
    look(&place)?.ok_or_else(|| InstallError::disk(&place, io::ErrorKind::NotFound.into()))
}

/// A program that is on disk already: how to start it, the folder that it needs, and its digest.
///
/// # Errors
/// When it cannot be read.
pub fn local(program: &Path) -> Result<(Vec<String>, PathBuf, String), InstallError> {
    let program = fs::canonicalize(program).map_err(|error| InstallError::disk(program, error))?;
    let root = program.parent().unwrap_or(Path::new("/")).to_owned();
    let digest = digest_of(&program)?;
    Ok((argv(&program)?, root, digest))
}

/// The client that capmatrix carries itself. Its digest names this version: every build has other bytes.
///
/// # Errors
/// When capmatrix cannot find itself.
pub fn builtin(version: &str) -> Result<Installed, InstallError> {
    let own = std::env::current_exe()
        .map_err(|error| InstallError::disk(Path::new("capmatrix"), error))?;
    Ok(Installed {
        version: version.to_owned(),
        root: own.parent().unwrap_or(Path::new("/")).to_owned(),
        argv: vec![own.display().to_string()],
        digest: format!("capmatrix {}", env!("CARGO_PKG_VERSION")),
    })
}

/// The install at `place`, if it is whole.
fn look(place: &Path) -> Result<Option<Installed>, InstallError> {
    let Ok(text) = fs::read(place.join(MARKER)) else {
        return Ok(None);
    };
    let Ok(marker) = serde_json::from_slice::<Marker>(&text) else {
        return Ok(None);
    };
    if marker.format != 1 || !place.join(&marker.program).is_file() {
        return Ok(None);
    }
    installed(place, &marker).map(Some)
}

fn installed(place: &Path, marker: &Marker) -> Result<Installed, InstallError> {
    // A link in the cache's own path must not lead out of what the sandbox shows.
    let root = fs::canonicalize(place).map_err(|error| InstallError::disk(place, error))?;
    Ok(Installed {
        version: marker.version.clone(),
        argv: argv(&root.join(&marker.program))?,
        root,
        digest: marker.digest.clone(),
    })
}

/// A script is started by its interpreter, a program by itself.
fn argv(program: &Path) -> Result<Vec<String>, InstallError> {
    let interpreter = match program.extension().and_then(|extension| extension.to_str()) {
        Some("js" | "mjs" | "cjs") => "node",
        Some("py") => "python3",
        _ => return Ok(vec![program.display().to_string()]),
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(interpreter))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| InstallError::NoInterpreter {
            name: interpreter.to_owned(),
        })?;
    let found = fs::canonicalize(&found).map_err(|error| InstallError::disk(&found, error))?;
    Ok(vec![
        found.display().to_string(),
        program.display().to_string(),
    ])
}

fn find_program(
    folder: &Path,
    programs: &[String],
    package: &str,
    version: &str,
) -> Result<PathBuf, InstallError> {
    for pattern in programs {
        let full = format!(
            "{}/{pattern}",
            glob::Pattern::escape(&folder.display().to_string())
        );
        let found = glob::glob(&full)
            .into_iter()
            .flatten()
            .flatten()
            .find(|path| path.is_file());
        if let Some(relative) = found
            .as_deref()
            .and_then(|path| path.strip_prefix(folder).ok())
        {
            return Ok(relative.to_owned());
        }
    }
    Err(InstallError::NoProgram {
        package: package.to_owned(),
        version: version.to_owned(),
        programs: programs.join(", "),
    })
}

fn digest_of(program: &Path) -> Result<String, InstallError> {
    let disk = |error| InstallError::disk(program, error);
    let mut file = File::open(program).map_err(disk)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; 1024 * 1024];
    loop {
        match file.read(&mut buffer).map_err(disk)? {
            0 => break,
            length => hasher.update(&buffer[..length]),
        }
    }
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

fn write_marker(folder: &Path, marker: &Marker) -> Result<(), InstallError> {
    let path = folder.join(MARKER);
    let disk = |error| InstallError::disk(&path, error);
    let text = serde_json::to_vec(marker).map_err(|error| disk(error.into()))?;
    fs::write(&path, text).map_err(disk)
}

/// Two runs at once do not both install: the second waits for the first.
async fn lock(path: &Path, progress: &dyn Fn(&str)) -> Result<File, InstallError> {
    let disk = |error| InstallError::disk(path, error);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(disk)?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => return Err(disk(error)),
        }
        if !told {
            progress("waiting for another capmatrix that installs it");
            told = true;
        }
        // A lock of another process has no event that could be waited for without a thread that cannot be ended.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// Removes what earlier, interrupted installs of this version left. The lock is held.
fn remove_stale(folder: &Path, version: &str) {
    let prefix = format!(".installing-{version}-");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder that is gone when this is, unless it was moved away.
struct NewFolder(PathBuf);

impl NewFolder {
    fn create(path: PathBuf) -> Result<NewFolder, InstallError> {
        fs::create_dir(&path).map_err(|error| InstallError::disk(&path, error))?;
        Ok(NewFolder(path))
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;

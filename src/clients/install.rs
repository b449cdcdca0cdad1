//! Obtaining a client: from npm into the cache, from disk, or this program itself.
//!
//! Owns the cache folder: what lies in it is complete, and was started once. It must not know how a client is started,
//! which its caller says, or what it is started for.
//!
//! ```text
//! <root>/<client>/<version>/                       an install, with its marker; appears in one step
//! <root>/<client>/<version>.lock                   held while it is made
//! <root>/<client>/.installing-<version>-<pid>/     what is being made; removed if that fails
//! ```

mod error;
mod npm;
mod place;
mod program;
#[cfg(test)]
mod tests;
mod versions;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Client, Installed, Source};
pub use error::InstallError;
use error::io_error;
use place::{Marker, Place};
pub(crate) use versions::{is_exact, is_older};

/// Where clients are kept, and what they are installed with.
#[derive(Debug, Clone)]
pub struct Cache {
    /// The folder; absolute.
    pub root: PathBuf,
    /// npm: the program, and arguments that come before our own.
    pub npm: Vec<OsString>,
}

impl Cache {
    /// A cache in `root` with the npm that is on PATH.
    #[must_use]
    pub fn new(root: PathBuf) -> Cache {
        Cache {
            // A relative one would not be found again after a change of folder, as in the sandbox.
            root: std::path::absolute(&root).unwrap_or(root),
            npm: vec!["npm".into()],
        }
    }

    /// `$CAPMATRIX_CACHE`, else `$XDG_CACHE_HOME/capmatrix`, else `$HOME/.cache/capmatrix`.
    ///
    /// # Errors
    /// [`InstallError::NoCacheRoot`] if none of them is set.
    pub fn default_root() -> Result<PathBuf, InstallError> {
        root_by(|name| std::env::var_os(name)).ok_or(InstallError::NoCacheRoot)
    }
}

fn root_by(get: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| {
        get(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    // The XDG specification says that a relative path is to be ignored.
    let xdg = || path("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    path("CAPMATRIX_CACHE")
        .or_else(|| Some(xdg()?.join("capmatrix")))
        .or_else(|| Some(path("HOME")?.join(".cache/capmatrix")))
}

/// The exact version that `wanted` means: the pinned one for none, an exact one as it is, else what npm says of the
/// dist-tag. Only the last asks npm.
///
/// # Errors
/// If npm does not know the tag or cannot be asked.
pub async fn resolve(
    cache: &Cache,
    client: &Client,
    wanted: Option<&str>,
) -> Result<String, InstallError> {
    let wanted = match wanted {
        Some(wanted) if *wanted != client.pinned => wanted,
        _ => return Ok(client.pinned.clone()),
    };
    let Source::Npm { package, .. } = &client.source else {
        return Err(InstallError::NotFromNpm {
            client: client.id.clone(),
            version: wanted.to_owned(),
        });
    };
    if !versions::is_plain(wanted) {
        return Err(error::no_such_version(package, wanted));
    }
    if is_exact(wanted) {
        return Ok(wanted.to_owned());
    }
    versions::of_tag(cache, package, wanted).await
}

/// The client of that version: from the cache, else installed with npm and started once by `verify`, which is given
/// it at a temporary place. `progress` is told what goes on, a line every two seconds.
///
/// # Errors
/// Whatever kept it from being installed. Nothing of a failed install is left, and nothing of one that was dropped.
pub async fn ensure<V>(
    cache: &Cache,
    client: &Client,
    version: &str,
    progress: &dyn Fn(&str),
    verify: V,
) -> Result<Installed, InstallError>
where
    V: AsyncFn(&Installed) -> anyhow::Result<()>,
{
    let Source::Npm {
        package, programs, ..
    } = &client.source
    else {
        return Err(InstallError::NotFromNpm {
            client: client.id.clone(),
            version: version.to_owned(),
        });
    };
    // It becomes part of a path and of npm's arguments.
    if !versions::is_plain(version) {
        return Err(error::no_such_version(package, version));
    }
    let place = Place::new(&cache.root, &client.id, version);
    if let Some(marker) = place.marker(package, programs) {
        return marker.installed(&place.folder);
    }
    place.create()?;
    let _lock = place.lock(progress).await?;
    // Somebody else may have made it while this one waited.
    if let Some(marker) = place.marker(package, programs) {
        return marker.installed(&place.folder);
    }
    place.remove_leftovers()?;
    let temporary = place.temporary()?;
    npm::install(cache, package, version, &temporary.path, progress).await?;
    let program =
        program::find(&temporary.path, programs)?.ok_or_else(|| InstallError::NoProgram {
            spec: format!("{package}@{version}"),
            tried: programs.clone(),
        })?;
    let marker = Marker {
        format: 1,
        package: package.clone(),
        version: version.to_owned(),
        sha256: program::digest(&temporary.path.join(&program)).await?,
        program,
    };
    progress("installed; starting it once");
    let installed = marker.installed(&temporary.path)?;
    verify(&installed)
        .await
        .map_err(|source| InstallError::DoesNotStart {
            spec: format!("{package}@{version}"),
            source,
        })?;
    // The marker comes last: what has one is complete.
    marker.write(&temporary.path)?;
    place.put(temporary)?;
    marker.installed(&place.folder)
}

/// A program that is on disk already: what to start, the folder that it lies in, and its digest. A script is run with
/// `node` or `python3` by its ending.
///
/// # Errors
/// If it is not there, or what runs it is not.
pub fn local(program: &Path) -> Result<(Vec<String>, PathBuf, String), InstallError> {
    let real = std::fs::canonicalize(program).map_err(io_error("find the program", program))?;
    if !real.is_file() {
        return Err(InstallError::NotAProgram { path: real });
    }
    let digest = program::digest_now(&real)?;
    Ok((program::argv(&real)?, program::folder_of(&real), digest))
}

/// This program itself, as a client of that version. Its digest names the version of capmatrix: every build has other
/// bytes.
///
/// # Errors
/// If the operating system does not say where it lies.
pub fn builtin(version: &str) -> Result<Installed, InstallError> {
    let program = std::env::current_exe().map_err(io_error("find", Path::new("this program")))?;
    Ok(Installed {
        version: version.to_owned(),
        argv: vec![program::text(&program)?],
        root: program::folder_of(&program),
        digest: format!("capmatrix {}", env!("CARGO_PKG_VERSION")),
    })
}

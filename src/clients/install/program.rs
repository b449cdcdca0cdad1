//! Programs on disk: finding them, how they are started, their digest.
//!
//! Owns nothing of the cache or of npm.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::InstallError;
use super::error::io_error;

/// The first program below `folder` that one of the globs finds, relative to it.
pub(super) fn find(folder: &Path, globs: &[String]) -> Result<Option<String>, InstallError> {
    let real = fs::canonicalize(folder).map_err(io_error("read", folder))?;
    let start = glob::Pattern::escape(&text(&real)?);
    for pattern in globs {
        let Ok(found) = glob::glob(&format!("{start}/{pattern}")) else {
            continue;
        };
        for path in found.flatten() {
            // A link in a package must not lead out of what is installed.
            let inside = fs::canonicalize(&path).is_ok_and(|path| path.starts_with(&real));
            if inside && path.is_file() {
                let relative = path.strip_prefix(&real).unwrap_or(&path);
                return text(relative).map(Some);
            }
        }
    }
    Ok(None)
}

/// What starts a program: itself, or what runs such a script.
pub(super) fn argv(program: &Path) -> Result<Vec<String>, InstallError> {
    let extension = program.extension().and_then(OsStr::to_str);
    let interpreter = match extension {
        Some("js" | "mjs" | "cjs") => "node",
        Some("py") => "python3",
        _ => return Ok(vec![text(program)?]),
    };
    let found = on_path(interpreter, std::env::var_os("PATH").as_deref()).ok_or_else(|| {
        InstallError::NotOnPath {
            name: interpreter.to_owned(),
            needed_for: program.display().to_string(),
        }
    })?;
    Ok(vec![text(&found)?, text(program)?])
}

/// The absolute path of a program on `path`, without links: one would lead out of what the sandbox shows.
pub(super) fn on_path(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let found = std::env::split_paths(path?)
        .map(|folder| folder.join(name))
        .find(|file| {
            let runs =
                |meta: fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
            file.is_absolute() && fs::metadata(file).is_ok_and(runs)
        })?;
    fs::canonicalize(found).ok()
}

/// The folder that a program lies in.
pub(super) fn folder_of(program: &Path) -> PathBuf {
    program.parent().unwrap_or(program).to_owned()
}

/// A path as the text that recordings and command lines hold.
pub(super) fn text(path: &Path) -> Result<String, InstallError> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| InstallError::NotUtf8 {
            path: path.to_owned(),
        })
}

/// The sha-256 of a file, without holding up other tasks: a client may have hundreds of megabytes.
pub(super) async fn digest(file: &Path) -> Result<String, InstallError> {
    let owned = file.to_owned();
    match tokio::task::spawn_blocking(move || digest_now(&owned)).await {
        Ok(digest) => digest,
        Err(error) => Err(io_error("hash", file)(error.into())),
    }
}

/// The sha-256 of a file in hex.
pub(super) fn digest_now(file: &Path) -> Result<String, InstallError> {
    let read = || -> std::io::Result<String> {
        let mut opened = File::open(file)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match opened.read(&mut buffer)? {
                0 => break,
                length => hash.update(&buffer[..length]),
            }
        }
        Ok(hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    };
    read().map_err(io_error("read", file))
}

/// How many bytes the files below `folder` have, as far as they can be read.
pub(super) fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::clients::install::local;

    #[test]
    fn programs_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        fs::write(real.join("tool"), "#!/bin/sh\n").unwrap();
        symlink(real.join("tool"), real.join("link")).unwrap();
        let (argv, root, digest) = local(&real.join("link")).unwrap();
        assert_eq!(argv, [real.join("tool").to_str().unwrap()]);
        assert_eq!((root, digest.len()), (real.clone(), 64));
        let missing = local(&real.join("none")).unwrap_err();
        let missing = format!("{:#}", anyhow::Error::from(missing));
        assert!(missing.contains("none: No such file"), "{missing}");
        assert!(matches!(
            local(&real),
            Err(InstallError::NotAProgram { .. })
        ));
    }

    #[test]
    fn programs_on_path() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        fs::write(real.join("tool"), "#!/bin/sh\n").unwrap();
        let shell = fs::canonicalize("/bin/sh").unwrap();
        symlink(&shell, real.join("linked")).unwrap();
        let path = std::env::join_paths([Path::new("bin"), &real, Path::new("/bin")]).unwrap();
        assert_eq!(on_path("sh", Some(&path)), Some(shell.clone()));
        assert_eq!(on_path("linked", Some(&path)), Some(shell));
        assert_eq!(on_path("tool", Some(&path)), None, "not executable");
        assert_eq!(on_path("sh", None), None);
    }
}

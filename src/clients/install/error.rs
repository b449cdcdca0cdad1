//! What can go wrong with an install, and what to do about it.
//!
//! Owns the reading of npm's complaints.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::render::escape;

/// npm's last lines are shown, so many.
const MAX_LINES: usize = 12;
/// Each with so many characters.
const MAX_LINE: usize = 200;

/// Why a client could not be had.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// No folder for the cache.
    #[error("no folder for the cache: none of CAPMATRIX_CACHE, XDG_CACHE_HOME and HOME is set")]
    NoCacheRoot,
    /// npm, node or python3 is missing.
    #[error("{name} not found on PATH; it is needed for {needed_for}")]
    NotOnPath {
        /// The program.
        name: String,
        /// What it is needed for.
        needed_for: String,
    },
    /// Only clients from npm have versions to choose from.
    #[error("{client} does not come from npm, so there is no version `{version}` to install")]
    NotFromNpm {
        /// The client's id.
        client: String,
        /// What was wanted.
        version: String,
    },
    /// The registry has no such version.
    #[error("{package} has no version `{}`", version.escape_debug())]
    NoSuchVersion {
        /// The package.
        package: String,
        /// What was wanted.
        version: String,
        /// Versions close to it.
        near: Vec<String>,
        /// The newest release.
        newest: Option<String>,
    },
    /// The registry has no such package.
    #[error("npm's registry has no package {package}")]
    NoSuchPackage {
        /// The package.
        package: String,
    },
    /// The registry cannot be asked.
    #[error("cannot reach npm's registry ({code}): {reason}")]
    Unreachable {
        /// npm's code.
        code: String,
        /// npm's words.
        reason: String,
    },
    /// npm ran for too long.
    #[error("npm was stopped: it ran for {minutes} minutes")]
    TooSlow {
        /// The deadline.
        minutes: u64,
    },
    /// Anything else that npm complains of.
    #[error("npm failed ({status}):\n{complaint}")]
    Npm {
        /// How it ended.
        status: ExitStatus,
        /// Its last lines.
        complaint: String,
    },
    /// The package came without the program.
    #[error("{spec} has no program at {}", tried.join(" or "))]
    NoProgram {
        /// Package and version.
        spec: String,
        /// The globs.
        tried: Vec<String>,
    },
    /// The program does not start.
    #[error("{spec} was installed but does not start")]
    DoesNotStart {
        /// Package and version.
        spec: String,
        /// Why.
        source: anyhow::Error,
    },
    /// Somebody else holds the lock and does not let go.
    #[error("another install holds {} for too long", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// Not a file.
    #[error("{} is not a program", path.display())]
    NotAProgram {
        /// The path.
        path: PathBuf,
    },
    /// A path that cannot be written down.
    #[error("the path {} is not UTF-8", path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// The disk, or permissions on it.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Makes an error of the operating system one of ours.
pub(super) fn io_error(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_owned();
    move |source| InstallError::Io {
        action,
        path,
        source,
    }
}

impl InstallError {
    /// What to do next, if we know.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        const OFFLINE: &str = "clients that are in the cache, `capmatrix run reference` and `capmatrix self-test` need no network";
        Some(match self {
            InstallError::NoCacheRoot => "name a folder with CAPMATRIX_CACHE".to_owned(),
            InstallError::NotOnPath { name, .. } if name == "python3" => {
                "install Python 3".to_owned()
            }
            InstallError::NotOnPath { name, .. } if name == "node" => {
                "install Node.js: this client is a script for it".to_owned()
            }
            InstallError::NotOnPath { .. } => {
                "install Node.js with npm; `capmatrix self-test` and `capmatrix run reference` need none"
                    .to_owned()
            }
            InstallError::NoSuchVersion {
                package,
                near,
                newest,
                ..
            } => {
                let near = near
                    .iter()
                    .map(|version| format!("`{version}`"))
                    .collect::<Vec<_>>();
                let newest = newest
                    .iter()
                    .map(|version| format!("the newest is `{version}`"));
                let nearest =
                    (!near.is_empty()).then(|| format!("the nearest are {}", near.join(" and ")));
                let parts: Vec<String> = nearest.into_iter().chain(newest).collect();
                if parts.is_empty() {
                    format!("`npm view {package} versions` lists them")
                } else {
                    parts.join("; ")
                }
            }
            InstallError::NoSuchPackage { .. } => {
                "see `package` in the client file, and `npm config get registry`".to_owned()
            }
            InstallError::Unreachable { .. } => {
                format!("see `npm config get registry` and `npm config get proxy`; {OFFLINE}")
            }
            InstallError::TooSlow { .. } => {
                "try again: what was downloaded is in npm's own cache".to_owned()
            }
            InstallError::NoProgram { .. } => {
                "see `programs` in the client file; perhaps there is none for this platform"
                    .to_owned()
            }
            InstallError::Locked { .. } => "end the other run, then try again".to_owned(),
            InstallError::Io { source, .. } => match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                    "make room, or name another folder with CAPMATRIX_CACHE".to_owned()
                }
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    "name a folder that you can write with CAPMATRIX_CACHE".to_owned()
                }
                _ => return None,
            },
            InstallError::NotFromNpm { .. }
            | InstallError::Npm { .. }
            | InstallError::DoesNotStart { .. }
            | InstallError::NotAProgram { .. }
            | InstallError::NotUtf8 { .. } => return None,
        })
    }

    /// What npm means by its standard error.
    pub(super) fn of_npm(
        package: &str,
        version: &str,
        status: ExitStatus,
        stderr: &str,
    ) -> InstallError {
        let lines: Vec<&str> = stderr.lines().filter_map(complaint).collect();
        let after = |word: &str| lines.iter().find_map(|line| line.strip_prefix(word));
        let code = after("code ").unwrap_or_default();
        // A dependency may be what is missing: then it is not the user's version that is wrong.
        let ours = stderr.contains(&format!("{package}@{version}"));
        match code {
            "ETARGET" if ours => return no_such_version(package, version),
            "E404" if ours && stderr.contains("No match found for version") => {
                return no_such_version(package, version);
            }
            "E404" if stderr.contains(&format!("'{package}@")) || ours => {
                return InstallError::NoSuchPackage {
                    package: package.to_owned(),
                };
            }
            _ => {}
        }
        if is_network(code) {
            let reason = lines
                .iter()
                .find(|line| line.contains("reason: ") || line.contains("request to "));
            return InstallError::Unreachable {
                code: code.to_owned(),
                reason: plain(reason.or(lines.last()).unwrap_or(&"")),
            };
        }
        if let Some(kind) = disk(code) {
            return InstallError::Io {
                action: "let npm write",
                path: after("path ").unwrap_or("to disk").into(),
                source: io::Error::new(kind, format!("npm says {code}")),
            };
        }
        let shown = lines
            .iter()
            .filter(|line| !line.is_empty() && !line.starts_with("A complete log"));
        let shown: Vec<String> = shown.map(|line| format!("  {}", plain(line))).collect();
        InstallError::Npm {
            status,
            complaint: shown[shown.len().saturating_sub(MAX_LINES)..].join("\n"),
        }
    }
}

/// Before npm was asked which ones there are.
pub(super) fn no_such_version(package: &str, version: &str) -> InstallError {
    InstallError::NoSuchVersion {
        package: package.to_owned(),
        version: version.to_owned(),
        near: Vec::new(),
        newest: None,
    }
}

/// A line without npm's own mark; none for a notice. npm up to 9 wrote `ERR!`.
fn complaint(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("npm").unwrap_or(line).trim();
    if rest.starts_with("notice") || rest.starts_with("warn") || rest.starts_with("WARN") {
        return None;
    }
    let rest = rest
        .strip_prefix("error")
        .or_else(|| rest.strip_prefix("ERR!"));
    Some(rest.unwrap_or(line).trim())
}

/// One line of a stranger, as text that is safe to print.
fn plain(line: &str) -> String {
    escape::terminal(line, MAX_LINE)
}

/// Whether one of npm's codes says that there is no way to the registry, or that it does not answer.
fn is_network(code: &str) -> bool {
    const CODES: [&str; 15] = [
        "ENOTFOUND",
        "EAI_AGAIN",
        "EAI_FAIL",
        "ECONNREFUSED",
        "ECONNRESET",
        "ECONNABORTED",
        "ETIMEDOUT",
        "EHOSTUNREACH",
        "ENETUNREACH",
        "ENETDOWN",
        "ERR_SOCKET_TIMEOUT",
        "FETCH_ERROR",
        "ENOTCACHED",
        "SELF_SIGNED_CERT_IN_CHAIN",
        "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    ];
    // E500 to E599 are the registry's own answers.
    let server_error =
        code.len() == 4 && code.starts_with("E5") && code[2..].bytes().all(|b| b.is_ascii_digit());
    CODES.contains(&code) || server_error
}

fn disk(code: &str) -> Option<ErrorKind> {
    Some(match code {
        "EACCES" | "EPERM" => ErrorKind::PermissionDenied,
        "EROFS" => ErrorKind::ReadOnlyFilesystem,
        "ENOSPC" => ErrorKind::StorageFull,
        "EDQUOT" => ErrorKind::QuotaExceeded,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// npm's words as it wrote them, 11.19.1 unless noted.
    #[test]
    fn npm_is_understood() {
        let check = |stderr: &str, expect: &str| {
            let error = InstallError::of_npm("@x/tool", "1.2.9", ExitStatus::from_raw(256), stderr);
            let got = format!("{:#}", anyhow::Error::from(error));
            assert_eq!(got, expect, "{stderr}");
        };
        let no_version = "@x/tool has no version `1.2.9`";
        check(
            "npm error code ETARGET\nnpm error notarget No matching version found for @x/tool@1.2.9.",
            no_version,
        );
        // npm 9
        check(
            "npm ERR! code ETARGET\nnpm ERR! notarget No matching version found for @x/tool@1.2.9.",
            no_version,
        );
        check(
            "npm error code E404\nnpm error 404 No match found for version 1.2.9\n\
             npm error 404  The requested resource '@x/tool@1.2.9' could not be found",
            no_version,
        );
        check(
            "npm error code E404\nnpm error 404 Not Found - GET https://r.example/@x%2ftool\n\
             npm error 404  The requested resource '@x/tool@1.2.9' could not be found",
            "npm's registry has no package @x/tool",
        );
        // A dependency's version is not the user's.
        check(
            "npm error code ETARGET\nnpm error notarget No matching version found for dep@7.",
            "npm failed (exit status: 1):\n  code ETARGET\n  notarget No matching version found for dep@7.",
        );
        check(
            "npm error code ECONNREFUSED\nnpm error FetchError: request to http://127.0.0.1:1/ failed, \
             reason: connect ECONNREFUSED 127.0.0.1:1",
            "cannot reach npm's registry (ECONNREFUSED): FetchError: request to http://127.0.0.1:1/ failed, \
             reason: connect ECONNREFUSED 127.0.0.1:1",
        );
        check(
            "npm error code E503\nnpm error 503 Service Unavailable - GET https://r.example/",
            "cannot reach npm's registry (E503): 503 Service Unavailable - GET https://r.example/",
        );
        check(
            "npm error code EACCES\nnpm error syscall mkdir\nnpm error path /home/me/.npm\nnpm error errno EACCES",
            "cannot let npm write /home/me/.npm: npm says EACCES",
        );
        check("", "npm failed (exit status: 1):\n");
    }

    #[test]
    fn long_complaints_are_cut() {
        let stderr = format!("{}\n", "z".repeat(500)).repeat(50);
        let error = InstallError::of_npm("a", "1.0.0", ExitStatus::from_raw(256), &stderr);
        assert!(error.to_string().len() < 3000, "{error}");
    }
}

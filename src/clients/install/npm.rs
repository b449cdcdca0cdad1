//! Talking to npm: install, and which versions there are.
//!
//! Owns npm's command line and reading its failures. It names no registry: npm knows its own.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::{Cache, InstallError};
use crate::names;
use crate::render::escape;

/// The longest that npm may take.
const DEADLINE: Duration = Duration::from_secs(600);

/// The most that is kept of what npm says.
const MAX_SAID: u64 = 4 * 1024 * 1024;

/// Installs a package into `folder`, without running any of its scripts.
pub(super) async fn install(
    cache: &Cache,
    package: &str,
    version: &str,
    folder: &Path,
    progress: &dyn Fn(&str),
) -> Result<(), InstallError> {
    let started = Instant::now();
    let mut command = Command::new(&cache.npm);
    command
        .args([
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-save",
            // npm's own patience with a network that is not there is most of a minute.
            "--fetch-retry-mintimeout=1000",
            "--fetch-retry-maxtimeout=5000",
            "--prefix",
        ])
        .arg(folder)
        .arg(format!("{package}@{version}"))
        .current_dir(folder);
    progress("installing");
    let run = run(command);
    tokio::pin!(run);
    let mut tick = interval(Duration::from_secs(2));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.tick().await;
    let said = loop {
        tokio::select! {
            said = &mut run => break said?,
            _ = tick.tick() => {
                let mb = size_of(folder) / 1_000_000;
                progress(&format!("installing, {} s, {mb} MB", started.elapsed().as_secs()));
            }
        }
    };
    if said.status.success() {
        progress(&format!(
            "installed in {:.1} s",
            started.elapsed().as_secs_f64()
        ));
        return Ok(());
    }
    match failure(&said) {
        Failure::NoSuchVersion => Err(no_such_version(cache, package, version).await),
        Failure::Other(error) => Err(error),
    }
}

/// The version that a tag stands for.
pub(super) async fn version_of_tag(
    cache: &Cache,
    package: &str,
    tag: &str,
) -> Result<String, InstallError> {
    let mut command = Command::new(&cache.npm);
    command.args(["view", &format!("{package}@{tag}"), "version"]);
    let said = run(command).await?;
    let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if said.status.success() && version.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(version);
    }
    match failure(&said) {
        Failure::Other(error) if !said.status.success() => Err(error),
        _ => Err(no_such_version(cache, package, tag).await),
    }
}

async fn no_such_version(cache: &Cache, package: &str, version: &str) -> InstallError {
    let mut command = Command::new(&cache.npm);
    command.args(["view", package, "versions", "--json"]);
    let known = match run(command).await {
        Ok(said) => serde_json::from_slice::<Vec<String>>(&said.stdout).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    // Versions for one platform are published beside the ones that people install.
    let known: Vec<&str> = known
        .iter()
        .map(String::as_str)
        .filter(|known| !known.contains('-'))
        .collect();
    let mut near: Vec<String> = names::nearest(version, known.iter().copied())
        .into_iter()
        .map(str::to_owned)
        .collect();
    if let Some(newest) = known
        .last()
        .filter(|newest| !near.iter().any(|near| near == *newest))
    {
        near.push((*newest).to_owned());
    }
    InstallError::NoSuchVersion {
        package: package.to_owned(),
        version: version.to_owned(),
        known: near,
    }
}

/// What npm said, and how it ended.
struct Said {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

async fn run(mut command: Command) -> Result<Said, InstallError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => InstallError::NoNpm,
        _ => InstallError::Npm {
            said: format!("cannot start it: {error}"),
        },
    })?;
    let mut group = Group(child);
    let stdout = group.0.stdout.take();
    let stderr = group.0.stderr.take();
    let work = async {
        let (stdout, stderr) = tokio::join!(read(stdout), read(stderr));
        let status = group.0.wait().await;
        (status, stdout, stderr)
    };
    let (status, stdout, stderr) =
        timeout(DEADLINE, work)
            .await
            .map_err(|_| InstallError::TooSlow {
                minutes: DEADLINE.as_secs() / 60,
            })?;
    let status = status.map_err(|error| InstallError::Npm {
        said: error.to_string(),
    })?;
    Ok(Said {
        status,
        stdout,
        stderr,
    })
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let _ = pipe.take(MAX_SAID).read_to_end(&mut bytes).await;
    }
    bytes
}

/// npm with all that it started: ended together when this goes.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // None once it was waited for: then the group is gone too.
        if let Some(group) = self
            .0
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

enum Failure {
    NoSuchVersion,
    Other(InstallError),
}

/// npm prints its code in a line of its own.
fn failure(said: &Said) -> Failure {
    let text = String::from_utf8_lossy(&said.stderr);
    let code = text.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "code");
        words.next()?;
        words.next().map(str::to_owned)
    });
    match code.as_deref() {
        Some("ETARGET" | "E404") => Failure::NoSuchVersion,
        Some(
            code @ ("ENOTFOUND" | "EAI_AGAIN" | "ECONNREFUSED" | "ECONNRESET" | "ETIMEDOUT"
            | "ENETUNREACH" | "EHOSTUNREACH" | "FETCH_ERROR"),
        ) => Failure::Other(InstallError::NoNetwork {
            code: code.to_owned(),
        }),
        _ => {
            let lines: Vec<&str> = text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .collect();
            let last = lines[lines.len().saturating_sub(5)..].join(" / ");
            Failure::Other(InstallError::Npm {
                said: escape::terminal(&last, 600),
            })
        }
    }
}

/// The size of all files below a folder, in bytes.
fn size_of(folder: &Path) -> u64 {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => size_of(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}

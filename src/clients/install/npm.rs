//! Running npm.
//!
//! Owns its command lines, its deadline and its processes: none of them outlives the future that started it. It must not
//! know what is done with what it installs. npm's environment is the user's, because it holds proxies and registries;
//! nothing of it is printed.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::error::{InstallError, io_error};
use super::{Cache, program, versions};

/// For one run of npm.
const DEADLINE: Duration = Duration::from_secs(10 * 60);
/// Of npm's output. The versions of a package with daily releases have some hundred kilobytes.
const MAX_OUTPUT: u64 = 16 * 1024 * 1024;
/// For every run. The retries of a registry that is not there are npm's own, but it would wait for over a minute.
const COMMON: [&str; 5] = [
    "--no-update-notifier",
    "--color=false",
    "--fetch-retries=3",
    "--fetch-retry-mintimeout=500",
    "--fetch-retry-maxtimeout=3000",
];
/// For an install. No script of a package runs; the programs of a platform are optional dependencies, which a user's own
/// configuration may leave out.
const INSTALL: [&str; 6] = [
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-save",
    "--include=optional",
];

/// Installs a package into `folder`.
pub(super) async fn install(
    cache: &Cache,
    package: &str,
    version: &str,
    folder: &Path,
    progress: &dyn Fn(&str),
) -> Result<(), InstallError> {
    let spec = format!("{package}@{version}");
    progress(&format!("installing {spec} with npm"));
    let mut args: Vec<OsString> = INSTALL.iter().map(OsString::from).collect();
    args.extend(["--prefix".into(), folder.into(), OsString::from(&spec)]);
    let tell = |elapsed: Duration| {
        let megabytes = program::size(folder) / 1_000_000;
        progress(&format!(
            "installing, {} s, {megabytes} MB",
            elapsed.as_secs()
        ));
    };
    let done = run(cache, &args, folder, tell).await?;
    if done.status.success() {
        return Ok(());
    }
    Err(match done.error(package, version) {
        InstallError::NoSuchVersion { .. } => versions::no_such(cache, package, version).await,
        error => error,
    })
}

/// Asks npm for some facts of a package, as JSON. `wanted` is the version or tag in the question.
pub(super) async fn view(
    cache: &Cache,
    package: &str,
    wanted: Option<&str>,
    field: &str,
) -> Result<serde_json::Value, InstallError> {
    let spec = match wanted {
        Some(wanted) => format!("{package}@{wanted}"),
        None => package.to_owned(),
    };
    // Its own configuration for a project is looked for in this folder, so that none of the current folder counts.
    std::fs::create_dir_all(&cache.root).map_err(io_error("create", &cache.root))?;
    let mut args: Vec<OsString> = ["view", "--json", "--prefix"].map(OsString::from).into();
    args.extend([cache.root.clone().into(), spec.into(), field.into()]);
    let done = run(cache, &args, &cache.root, |_| {}).await?;
    if !done.status.success() {
        return Err(done.error(package, wanted.unwrap_or_default()));
    }
    // Older ones say nothing at all of a version that is not there.
    Ok(serde_json::from_slice(&done.stdout).unwrap_or_default())
}

/// What npm said when it ended.
struct Done {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Done {
    fn error(&self, package: &str, version: &str) -> InstallError {
        InstallError::of_npm(
            package,
            version,
            self.status,
            &String::from_utf8_lossy(&self.stderr),
        )
    }
}

/// Runs npm to its end. `tick` is told every two seconds how long it has taken.
async fn run(
    cache: &Cache,
    args: &[OsString],
    folder: &Path,
    tick: impl Fn(Duration),
) -> Result<Done, InstallError> {
    let mut npm = Running::start(cache, args, folder)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut outputs = (npm.child.stdout.take(), npm.child.stderr.take());
    let status = {
        let both = async {
            tokio::join!(
                read(outputs.0.as_mut(), &mut stdout),
                read(outputs.1.as_mut(), &mut stderr),
            )
        };
        let ended = async {
            let mut both = pin!(both);
            tokio::select! {
                _ = &mut both => npm.child.wait().await,
                status = npm.child.wait() => {
                    // Something that npm started may keep its output open.
                    let _ = timeout(Duration::from_secs(2), both).await;
                    status
                }
            }
        };
        let mut ended = pin!(ended);
        let mut deadline = pin!(sleep(DEADLINE));
        let start = Instant::now();
        let mut ticks = interval(Duration::from_secs(2));
        // Time that somebody else took is not caught up with a burst of lines.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            tokio::select! {
                status = &mut ended => break status,
                () = &mut deadline => return Err(InstallError::TooSlow { minutes: DEADLINE.as_secs() / 60 }),
                _ = ticks.tick() => tick(start.elapsed()),
            }
        }
    };
    let status = status.map_err(io_error("run", Path::new("npm")))?;
    Ok(Done {
        status,
        stdout,
        stderr,
    })
}

async fn read(from: Option<impl AsyncRead + Unpin>, to: &mut Vec<u8>) {
    if let Some(from) = from {
        // What was read before an error is all that there is.
        let _ = from.take(MAX_OUTPUT).read_to_end(to).await;
    }
}

/// npm and all that it started.
struct Running {
    child: Child,
    group: Option<Pid>,
}

impl Running {
    fn start(cache: &Cache, args: &[OsString], folder: &Path) -> Result<Running, InstallError> {
        let (npm, first) = match cache.npm.split_first() {
            Some((npm, first)) => (npm.as_os_str(), first),
            None => (OsStr::new("npm"), &[][..]),
        };
        let child = Command::new(npm)
            .args(first)
            .args(args)
            .args(COMMON)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => InstallError::NotOnPath {
                    name: npm.display().to_string(),
                    needed_for: "installing clients".to_owned(),
                },
                _ => io_error("run", Path::new(npm))(error),
            })?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        Ok(Running {
            group: pid.and_then(Pid::from_raw),
            child,
        })
    }
}

impl Drop for Running {
    /// Ends what is left of the group, also after npm's own end. What it wrote is removed right after this, so this
    /// waits until nobody writes any more; not for long, should the system not give them up.
    fn drop(&mut self) {
        let Some(group) = self.group else {
            return;
        };
        for _ in 0..200 {
            if kill_process_group(group, Signal::KILL).is_err() {
                return;
            }
            let _ = self.child.try_wait();
            if test_kill_process_group(group).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

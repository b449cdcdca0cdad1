//! The sandbox: where a client runs, and the only place from which one is started.
//!
//! Owns isolation. Outside, it finds out what this machine can do and builds the command that enters the
//! sandbox; inside, it brings loopback up and lays fresh folders over everything that is the user's.
//! All folders of a namespace sandbox live in memory of the namespace itself: when its first
//! process is gone the kernel takes every process and every file with it, however that process ended.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use tokio::process::Command;

use crate::recording::Isolation;

/// How a sandbox can be had on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapper {
    /// Namespaces; `user` says that a user namespace is needed to be allowed to.
    Namespace {
        /// Whether `unshare` has to map this user to root first.
        user: bool,
    },
    /// Environment and folders only.
    Env,
}

impl Wrapper {
    /// What a recording says of it.
    #[must_use]
    pub fn isolation(self) -> Isolation {
        match self {
            Wrapper::Namespace { .. } => Isolation::Namespace,
            Wrapper::Env => Isolation::Env,
        }
    }

    /// Finds the best that this machine allows, by trying.
    pub async fn detect() -> Wrapper {
        for user in [false, true] {
            let wrapper = Wrapper::Namespace { user };
            let mut command = wrapper.command(OsStr::new("true"));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            if command.status().await.is_ok_and(|status| status.success()) {
                return wrapper;
            }
        }
        Wrapper::Env
    }

    /// A command that runs `program` inside. Killing it kills everything inside.
    #[must_use]
    pub fn command(self, program: &OsStr) -> Command {
        let mut command = match self {
            Wrapper::Env => Command::new(program),
            Wrapper::Namespace { user } => {
                let mut command = Command::new("unshare");
                if user {
                    command.arg("--map-root-user");
                }
                command.args(["--net", "--mount", "--pid", "--fork"]);
                command.args(["--kill-child=SIGKILL", "--mount-proc", "--"]);
                command.arg(program);
                command
            }
        };
        // A group of its own: a Ctrl-C at the terminal reaches capmatrix, which ends the sandbox itself.
        command
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::null());
        command
    }
}

/// The folders of a sandbox, as the client sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// HOME: fresh and empty.
    pub home: PathBuf,
    /// The working directory: fresh and empty.
    pub wd: PathBuf,
    /// TMPDIR: fresh and empty.
    pub tmp: PathBuf,
    /// Where the parts of the recording are written.
    pub rec: PathBuf,
    /// capmatrix itself, for the client to start as its MCP server.
    pub server: PathBuf,
}

/// The same mount point in every namespace sandbox, so that no path in a recording depends on the machine.
const BASE: &str = "/mnt";

impl Paths {
    fn below(base: &Path, rec: PathBuf, server: PathBuf) -> Paths {
        Paths {
            home: base.join("home"),
            wd: base.join("wd"),
            tmp: base.join("tmp"),
            rec,
            server,
        }
    }

    fn create(&self) -> io::Result<()> {
        for folder in [&self.home, &self.wd, &self.tmp] {
            fs::create_dir_all(folder)?;
        }
        Ok(())
    }
}

/// Lays out the folders of an environment-only sandbox below `workspace`.
///
/// # Errors
/// When a folder cannot be made.
pub fn enter_env(workspace: &Path, rec: &Path) -> anyhow::Result<Paths> {
    let server = std::env::current_exe().context("cannot find capmatrix itself")?;
    let paths = Paths::below(workspace, rec.to_owned(), server);
    paths.create()?;
    Ok(paths)
}

/// Finishes the namespace sandbox from inside: loopback up, fresh folders, the user's ones hidden except `visible`.
///
/// # Errors
/// When the kernel refuses one of the steps.
pub fn enter_namespace(rec: &Path, visible: &[PathBuf]) -> anyhow::Result<Paths> {
    bring_loopback_up().context("cannot bring up loopback in the sandbox")?;
    let own = std::env::current_exe().context("cannot find capmatrix itself")?;
    let base = Path::new(BASE);
    let paths = Paths::below(base, base.join("rec"), base.join("bin/capmatrix"));
    fresh(base)?;
    paths.create()?;
    fs::create_dir_all(&paths.rec)?;
    bind(rec, &paths.rec)?;
    fs::create_dir_all(base.join("bin"))?;
    fs::write(&paths.server, "")?;
    bind(&own, &paths.server)?;

    // What must stay is parked below the base while its place is covered, then put back at the same path.
    let mut parked = Vec::new();
    for (index, folder) in visible.iter().enumerate() {
        let park = base.join(format!("keep/{index}"));
        fs::create_dir_all(&park)?;
        bind(folder, &park)?;
        parked.push((park, folder));
    }
    let resolver = fs::canonicalize("/etc/resolv.conf").ok();
    for folder in hidden_folders() {
        fresh(&folder)?;
    }
    for (park, folder) in parked {
        if !folder.exists() {
            fs::create_dir_all(folder)?;
            bind(&park, folder)?;
        }
        // Shown in one place only. An empty folder is removed, never what might still be mounted on it.
        if unmount(&park, UnmountFlags::DETACH).is_ok() {
            let _ = fs::remove_dir(&park);
        }
    }
    let _ = fs::remove_dir(base.join("keep"));
    point_resolver_at_loopback(base, resolver.as_deref())?;
    Ok(paths)
}

/// The folders that may hold a user's files, credentials or sockets.
fn hidden_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["/home", "/root", "/run", "/tmp", "/var/tmp"]
        .map(PathBuf::from)
        .to_vec();
    if let Some(home) = std::env::home_dir()
        && !folders.iter().any(|folder| home.starts_with(folder))
        && home.parent().is_some()
    {
        folders.push(home);
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

fn fresh(folder: &Path) -> anyhow::Result<()> {
    mount("capmatrix", folder, "tmpfs", MountFlags::NOSUID, None)
        .with_context(|| format!("cannot cover {} in the sandbox", folder.display()))
}

fn bind(from: &Path, to: &Path) -> anyhow::Result<()> {
    mount_bind(from, to).with_context(|| {
        format!(
            "cannot show {} as {} in the sandbox",
            from.display(),
            to.display()
        )
    })
}

fn point_resolver_at_loopback(base: &Path, original: Option<&Path>) -> anyhow::Result<()> {
    let Some(original) = original else {
        return Ok(());
    };
    let text = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
    if original.exists() {
        let file = base.join("resolv.conf");
        fs::write(&file, text)?;
        return bind(&file, original);
    }
    // It lay below a folder that is covered now (systemd keeps it in /run).
    if let Some(parent) = original.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(original, text).context("cannot write the sandbox's resolv.conf")
}

/// Sets the interface `lo` up with one rtnetlink message; a new network namespace starts with it down.
fn bring_loopback_up() -> anyhow::Result<()> {
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketType, netlink, recv, sendto, socket,
    };
    const RTM_NEWLINK: u16 = 16;
    const REQUEST_AND_ACK: u16 = 1 | 4;
    const IFF_UP: u32 = 1;
    const LO: i32 = 1;
    let mut message = Vec::with_capacity(32);
    message.extend(32u32.to_ne_bytes()); // nlmsghdr: length
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACK.to_ne_bytes());
    message.extend(1u32.to_ne_bytes()); // sequence
    message.extend(0u32.to_ne_bytes()); // port
    message.extend([0u8, 0]); // ifinfomsg: family, padding
    message.extend(0u16.to_ne_bytes()); // type
    message.extend(LO.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes()); // flags
    message.extend(IFF_UP.to_ne_bytes()); // which flags change
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let kernel = netlink::SocketAddrNetlink::new(0, 0);
    sendto(&socket, &message, SendFlags::empty(), &kernel)?;
    let mut answer = [0u8; 256];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    // nlmsghdr is 16 bytes; an error message follows it with the negative errno, 0 for an acknowledgement.
    anyhow::ensure!(length >= 20, "short answer from rtnetlink");
    let errno = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
    anyhow::ensure!(
        errno == 0,
        "rtnetlink said {}",
        io::Error::from_raw_os_error(-errno)
    );
    Ok(())
}

//! The subcommands: one file each, and the only place that prints results.
//!
//! Owns exit codes and what a person is told when something fails.

mod accept;
mod check;
mod execute;
mod list;
mod output;
mod replay;
mod roles;
mod root;
mod rules;
mod run;
mod run_dir;
mod self_test;
mod show;
mod targets;

use std::fmt;
use std::io::Write;
use std::process::ExitCode;

use crate::cli::{Cli, Command};

pub use accept::{matrix_page, with_short_matrix};
pub use run_dir::{evidence_below, judge};

/// Done, and as expected.
pub const OK: u8 = 0;
/// Not as expected.
pub const DIFFERS: u8 = 1;
/// The request itself is wrong.
pub const WRONG_REQUEST: u8 = 2;
/// Could not test.
pub const COULD_NOT_TEST: u8 = 3;
/// Interrupted, as shells say it.
pub const INTERRUPTED: u8 = 130;

/// What a subcommand failed with.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What went wrong.
    pub error: anyhow::Error,
    /// What to do next, if we know.
    pub hint: Option<String>,
}

impl Failure {
    /// A wrong request.
    pub fn request(error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            code: WRONG_REQUEST,
            error: error.into(),
            hint: None,
        }
    }

    /// Something that kept us from testing.
    pub fn untested(error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            code: COULD_NOT_TEST,
            error: error.into(),
            hint: None,
        }
    }

    /// The same with a hint; an empty one is none.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        self
    }

    /// Says what went wrong on standard error, and gives the exit code.
    #[must_use]
    pub fn report(&self) -> ExitCode {
        if self.is_broken_pipe() {
            return ExitCode::SUCCESS;
        }
        let _ = writeln!(anstream::stderr(), "{self}");
        ExitCode::from(self.code)
    }

    /// A reader that has seen enough (`capmatrix ... | head`) is not an error.
    fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.error.is::<crate::run::Interrupted>() {
            return f.write_str(
                "interrupted; nothing was kept of this run, and earlier results are as they were",
            );
        }
        write!(f, "error: {:#}", self.error)?;
        match &self.hint {
            Some(hint) => write!(f, "\n\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        let code = if error.is::<crate::run::Interrupted>() {
            INTERRUPTED
        } else {
            COULD_NOT_TEST
        };
        Failure {
            code,
            error,
            hint: None,
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::request(error)
    }
}

/// Runs what was typed. Gives the exit code.
///
/// # Errors
/// Whatever kept the subcommand from its end, with the exit code for it.
pub fn run(cli: Cli) -> Result<u8, Failure> {
    let root = cli.root;
    match cli.command {
        Command::Run(args) => run::run(root, &args),
        Command::Check(args) => check::check(root, &args.run),
        Command::Accept { run } => accept::accept(root, run),
        Command::Replay {
            run,
            format,
            schema_dir,
        } => replay::replay(root, &run, format, schema_dir.as_deref()),
        Command::Show {
            cell,
            run,
            full,
            schema_dir,
        } => show::show(root, &cell, run, full, schema_dir.as_deref()),
        Command::Probes { prefix, format } => list::probes(root, prefix, format),
        Command::Clients { client, format } => list::clients(root, &client, format),
        Command::SelfTest {
            prefix,
            format,
            jobs,
        } => self_test::self_test(root, prefix.as_deref(), format, jobs),
        Command::Serve {
            out,
            answer_timeout,
            session,
        } => roles::serve(root, out, answer_timeout, session),
        Command::Session { dir, workspace } => roles::session(&dir, workspace.as_deref()),
        Command::Verify { dir, workspace } => roles::verify(&dir, workspace.as_deref()),
        Command::FakeClient { name, server } => roles::fake_client(&name, &server),
        Command::HttpBridge { url, bends } => roles::http_bridge(&url, &bends),
    }
}

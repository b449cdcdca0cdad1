//! What can be typed: the command line's words and their help.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::names::Revision;

/// Runs real MCP clients offline, sends them scripted protocol messages, records every byte, judges them by the
/// specification.
///
/// Exit codes: 0 done, and as expected where something is expected; 1 differs from the expectation; 2 the request
/// itself is wrong; 3 could not test; 130 interrupted.
#[derive(Debug, Parser)]
#[command(
    name = "capmatrix",
    version,
    max_term_width = 100,
    help_expected = true
)]
#[command(after_help = "Example: capmatrix run codex@0.171.0/app-server --probe elicitation/form")]
pub struct Cli {
    /// Folder that has probes/, clients/ and snapshots/ [default: the nearest one above the current folder that has]
    #[arg(
        long,
        global = true,
        env = "CAPMATRIX_ROOT",
        hide_env_values = true,
        value_name = "DIR"
    )]
    pub root: Option<PathBuf>,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run clients and print their capability matrix
    #[command(
        after_help = "Example: capmatrix run codex@0.142.4 claude-code/print --format markdown"
    )]
    Run(RunArgs),
    /// Run clients and compare with snapshots/: any change, for better or worse, exits 1
    #[command(after_help = "Example: capmatrix check codex --format json")]
    Check(CheckArgs),
    /// Take the latest run's evidence, outcomes and verdicts into snapshots/
    #[command(after_help = "Example: capmatrix run && capmatrix accept && git diff snapshots/")]
    Accept {
        /// The run to take [default: runs/latest]
        #[arg(value_name = "RUN_DIR")]
        run: Option<PathBuf>,
    },
    /// Judge the recordings of a run again, without any client
    #[command(after_help = "Example: capmatrix replay runs/latest --format json")]
    Replay {
        /// A folder that `run --out` or `serve --out` wrote, or snapshots/
        #[arg(value_name = "RUN_DIR")]
        run: PathBuf,
        /// How to print the matrix
        #[arg(long, value_enum, default_value_t)]
        format: Format,
        /// Judge by the official schema files in DIR/REVISION/schema.json, in place of the project's own rules
        #[arg(long, value_name = "DIR")]
        schema_dir: Option<PathBuf>,
    },
    /// Print every byte of one cell, in order
    #[command(
        after_help = "Example: capmatrix show codex@0.171.0/app-server/elicitation/form/top-level-title"
    )]
    Show {
        /// CLIENT@VERSION/SURFACE/PROBE; without @VERSION the pinned one
        cell: String,
        /// The run to look in [default: runs/latest, then snapshots/]
        #[arg(long, value_name = "RUN_DIR")]
        run: Option<PathBuf>,
        /// Print also the model requests and the client's output in full length
        #[arg(long)]
        full: bool,
        /// Judge by the official schema files in DIR/REVISION/schema.json, in place of the project's own rules
        #[arg(long, value_name = "DIR")]
        schema_dir: Option<PathBuf>,
    },
    /// List the probes
    #[command(after_help = "Example: capmatrix probes elicitation/url")]
    Probes {
        /// Only those whose id starts with this
        prefix: Option<String>,
        /// How to print them
        #[arg(long, value_enum, default_value_t)]
        format: ListFormat,
    },
    /// List the clients and their surfaces
    #[command(after_help = "Example: capmatrix clients --client my-client.toml")]
    Clients {
        /// A client file of your own, beside those in clients/; may be repeated
        #[arg(long = "client", value_name = "PATH.toml")]
        client: Vec<PathBuf>,
        /// How to print them
        #[arg(long, value_enum, default_value_t)]
        format: ListFormat,
    },
    /// Check the harness itself: run the fakes through the real pipeline and compare each verdict
    #[command(after_help = "Example: capmatrix self-test --jobs 4")]
    SelfTest {
        /// Only the behaviours whose name starts with this
        prefix: Option<String>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t)]
        format: ListFormat,
        /// How many sessions run side by side
        #[arg(long, value_name = "N", default_value_t = 4)]
        jobs: usize,
    },
    /// Be the probe server on standard input and output, for a client without a headless mode
    #[command(
        after_help = "Example: add `capmatrix serve --out runs/by-hand` to the client as a stdio MCP server, \
        have it call the tool `probe` with an id, then: capmatrix replay runs/by-hand"
    )]
    Serve {
        /// Where to record [default: runs/by-hand]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// How long to wait for a person's answer
        #[arg(long, value_name = "SECONDS", default_value_t = 600)]
        answer_timeout: u64,
        /// Set by the supervisor of a session: where its spec is and its parts go
        #[arg(long, hide = true)]
        session: Option<PathBuf>,
    },
    /// Inside the sandbox: supervise one session
    #[command(hide = true)]
    Session {
        /// The session's folder
        dir: PathBuf,
        /// The folder for an environment-only sandbox
        #[arg(long)]
        workspace: Option<PathBuf>,
    },
    /// Inside the sandbox: start an installed program once
    #[command(hide = true)]
    Verify {
        /// Where to write what it printed
        dir: PathBuf,
        /// The folder for an environment-only sandbox
        #[arg(long)]
        workspace: Option<PathBuf>,
    },
    /// Be the reference client, or one of its faults
    #[command(hide = true)]
    FakeClient {
        /// The behaviour
        name: String,
        /// The server's command and arguments
        #[arg(last = true)]
        server: Vec<String>,
    },
    /// Be a server on stdio that passes everything on to one over HTTP
    #[command(hide = true)]
    HttpBridge {
        /// The endpoint
        url: String,
        /// What it does wrong
        #[arg(default_value = "nothing")]
        bends: String,
    },
}

/// What `run` and `check` share.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What to run: CLIENT, CLIENT@VERSION, CLIENT@VERSION/SURFACE [default: every client's pinned version]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Only the probes whose id starts with this, and their controls; may be repeated
    #[arg(long = "probe", value_name = "PREFIX")]
    pub probes: Vec<String>,
    /// Only in this revision, e.g. 2025-11-25 [default: every one that the client speaks]
    #[arg(long, value_name = "REVISION", value_parser = revisions(), hide_possible_values = true)]
    pub revision: Option<Revision>,
    /// A client file of your own, beside those in clients/; may be repeated
    #[arg(long = "client", value_name = "PATH.toml")]
    pub clients: Vec<PathBuf>,
    /// A program on disk to use for a client instead of an install; may be repeated
    #[arg(long = "binary", value_name = "CLIENT=PATH")]
    pub binaries: Vec<String>,
    /// How to print the matrix
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// How many sessions run side by side [default: one a core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Where to keep recordings and results [default: runs/latest]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print what would be run, and what is left out and why
    #[arg(long)]
    pub dry_run: bool,
    /// Judge by the official schema files in DIR/REVISION/schema.json, in place of the project's own rules
    #[arg(long, value_name = "DIR")]
    pub schema_dir: Option<PathBuf>,
    /// How long a client may take to reply to one request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub answer_timeout: u64,
}

fn revisions() -> impl TypedValueParser<Value = Revision> {
    let known = PossibleValuesParser::new(Revision::ALL.map(Revision::as_str));
    known.try_map(|text| text.parse::<Revision>())
}

/// `check`: as `run`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// What to run
    #[command(flatten)]
    pub run: RunArgs,
}

/// How a matrix is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A table and each fault with its evidence
    #[default]
    Human,
    /// The results format
    Json,
    /// A table and the reasons, for an issue
    Markdown,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ListFormat {
    /// A table
    #[default]
    Human,
    /// One JSON value
    Json,
}

//! Clients and their surfaces: one client a file below `clients/`.
//!
//! Owns what a client file says. Everything peculiar to one client is data here or a driver in
//! `run/drivers/`; this module must not know probes, and must not start anything but npm.

pub mod install;
pub mod load;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::{Revision, TransportKind};

/// One client, as its file says.
///
/// Texts may hold placeholders: `{home}`, `{wd}`, `{model_port}`, `{server_command}` (a path), `{server_args}`
/// (a JSON array of strings), `{server_url}` (over HTTP), `{server_entry}` (the server as this client's configuration has it
/// on the surface's transport), `{prompt}`; an argument that is `{server}` alone becomes the server's command and arguments as separate words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The version of this file format: 1.
    pub format: u32,
    /// The id, also the file's name.
    pub id: String,
    /// A name for people.
    pub title: String,
    /// The version that is run when none is named.
    pub pinned: String,
    /// How it is obtained.
    pub source: Source,
    /// Environment variables that the client is given, beside HOME and PATH.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files that are written before it starts; keys are paths relative to HOME.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Which wire dialect its model endpoint speaks; none where no model is needed.
    #[serde(default)]
    pub model: Option<Dialect>,
    /// The revisions in which it is run, oldest first.
    pub revisions: Vec<Revision>,
    /// What it needs for the modern era; none where nothing is needed.
    #[serde(default)]
    pub modern: Option<Modern>,
    /// What it is told of the probe server on each transport; where nothing differs, nothing.
    #[serde(default)]
    pub transports: BTreeMap<TransportKind, Transport>,
    /// The surfaces, by name.
    pub surfaces: BTreeMap<String, Surface>,
}

/// What a client needs to speak the modern era (2026-07-28 and later).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modern {
    /// The first version that speaks it; none where all do.
    #[serde(default)]
    pub since: Option<String>,
    /// Arguments that come before the surface's own.
    #[serde(default)]
    pub args: Vec<String>,
    /// More environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// What a client is told of the probe server on one transport.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// What stands in the place of `{server_entry}`.
    pub server: String,
    /// Arguments that it needs for the modern era on this transport.
    #[serde(default)]
    pub modern_args: Vec<String>,
}

impl Client {
    /// The revisions in which `version` is run. A version that cannot be compared is taken for a new one.
    #[must_use]
    pub fn revisions_of(&self, version: &str) -> Vec<Revision> {
        let since = self
            .modern
            .as_ref()
            .and_then(|modern| modern.since.as_deref());
        let is_old = since.is_some_and(|since| install::is_older(version, since));
        let is_run = |revision: &&Revision| revision.is_legacy() || !is_old;
        self.revisions.iter().filter(is_run).copied().collect()
    }

    /// What a session in `revision` needs beside what the surface says.
    #[must_use]
    pub fn modern_in(&self, revision: Option<Revision>) -> Option<&Modern> {
        let is_modern = revision.is_some_and(|revision| !revision.is_legacy());
        self.modern.as_ref().filter(|_| is_modern)
    }
}

/// How a client is obtained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// From npm, on demand, into the cache.
    Npm {
        /// The package.
        package: String,
        /// Where the program is, tried in this order; globs, relative to the install folder. A `.js` file is run with node.
        programs: Vec<String>,
        /// Arguments with which the installed program is started once, to see that it starts.
        verify: Vec<String>,
    },
    /// A program that is on disk already.
    Path {
        /// The program: absolute, or relative to the client file.
        program: String,
        /// Arguments with which it prints its version; the first word that starts with a digit is taken.
        version: Vec<String>,
    },
    /// A client that capmatrix carries itself.
    Builtin {
        /// Arguments for capmatrix.
        args: Vec<String>,
    },
}

/// One way to run a client that changes who answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// What this surface is, in one line.
    pub title: String,
    /// Who talks to the client.
    pub driver: DriverKind,
    /// Whether this surface ever shows a request to somebody who can answer.
    pub presents: bool,
    /// Whether the probes that need a handshake for themselves are asked here: they start the client once each.
    #[serde(default)]
    pub handshakes: bool,
    /// How the client reaches the probe server.
    #[serde(default)]
    pub transport: TransportKind,
    /// Arguments after the program.
    pub args: Vec<String>,
    /// More environment variables, over those of the client.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

impl Surface {
    /// Who has the client call the tool on this surface.
    #[must_use]
    pub fn asked_by(&self) -> crate::recording::AskedBy {
        match self.driver {
            DriverKind::Prompt => crate::recording::AskedBy::Model,
            DriverKind::CodexAppServer | DriverKind::ClaudeStreamJson | DriverKind::HostLines => {
                crate::recording::AskedBy::Host
            }
        }
    }

    /// Who answers on this surface.
    #[must_use]
    pub fn answered_by(&self) -> crate::recording::AnsweredBy {
        if self.presents {
            crate::recording::AnsweredBy::Driver
        } else {
            crate::recording::AnsweredBy::Client
        }
    }
}

/// The drivers that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverKind {
    /// The client runs one prompt with the scripted model and ends by itself.
    Prompt,
    /// Codex's JSON-RPC app-server.
    CodexAppServer,
    /// Claude Code's stream-json control protocol.
    ClaudeStreamJson,
    /// The project's own line protocol, for the reference client and for adapters around SDKs.
    HostLines,
}

/// The wire dialects of model endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    AnthropicMessages,
}

/// A client of one version, ready to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// The exact version.
    pub version: String,
    /// The program and the arguments that come before a surface's own.
    pub argv: Vec<String>,
    /// The folder that the program needs to see; mounted into the sandbox.
    pub root: std::path::PathBuf,
    /// sha-256 of the program, in hex.
    pub digest: String,
}

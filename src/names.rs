//! The names people type and read: probe ids, revisions, targets and cells.
//!
//! Owns their syntax and nothing else: it must not know which of them exist.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A probe's id: the path of its file below `probes/` without `.toml`, e.g. `elicitation/form/bare`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbeId(pub String);

impl fmt::Display for ProbeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A dated revision of the MCP specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Revision {
    /// 2024-11-05, the first.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// 2025-03-26, streamable HTTP.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// 2025-06-18, elicitation.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// 2025-11-25, URL mode and SEP-1330 enums.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// 2026-07-28, the modern era.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// The date as it stands on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether a session of this revision starts with `initialize`
    /// (2026-07-28 removed it, changelog 1).
    #[must_use]
    pub fn is_legacy(self) -> bool {
        self != Revision::V2026_07_28
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Revision::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| format!("no revision `{text}`"))
    }
}

/// The transports that there are.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum TransportKind {
    /// The client starts the server and writes to it.
    #[default]
    Stdio,
    /// The client asks a server that listens on loopback: streamable HTTP.
    Http,
}

/// A resolved target: a client of one version, run in one way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target {
    /// The client's id, e.g. `codex`.
    pub client: String,
    /// The exact version that was run, e.g. `0.171.0`.
    pub version: String,
    /// The surface, e.g. `app-server`.
    pub surface: String,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}/{}", self.client, self.version, self.surface)
    }
}

/// What a person typed for a target: `codex`, `codex@0.142.4`, `codex@0.142.4/app-server`, `codex/exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetPattern {
    /// The client's id.
    pub client: String,
    /// A version or a tag such as `latest`; none means the pinned one.
    pub version: Option<String>,
    /// A surface; none means all of them.
    pub surface: Option<String>,
}

impl FromStr for TargetPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (head, surface) = match text.split_once('/') {
            Some((head, surface)) => (head, Some(surface)),
            None => (text, None),
        };
        let (client, version) = match head.split_once('@') {
            Some((client, version)) => (client, Some(version)),
            None => (head, None),
        };
        let plain = |part: &str| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
                && part != "."
                && part != ".."
        };
        if !plain(client)
            || version.is_some_and(|v| !plain(v))
            || surface.is_some_and(|s| !plain(s))
        {
            return Err(format!(
                "`{text}` is not a target: expected CLIENT, CLIENT@VERSION or CLIENT@VERSION/SURFACE"
            ));
        }
        Ok(TargetPattern {
            client: client.to_owned(),
            version: version.map(str::to_owned),
            surface: surface.map(str::to_owned),
        })
    }
}

/// What a person typed for a cell: `codex@0.142.4/app-server/elicitation/form/bare#2025-06-18`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPattern {
    /// The client's id.
    pub client: String,
    /// The version; none means the pinned one.
    pub version: Option<String>,
    /// The surface.
    pub surface: String,
    /// The probe.
    pub probe: ProbeId,
    /// The revision; none means whichever was recorded, the newest first.
    pub revision: Option<Revision>,
}

impl FromStr for CellPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = || {
            format!(
                "`{text}` is not a cell: expected CLIENT@VERSION/SURFACE/PROBE, \
                 e.g. codex@0.171.0/app-server/elicitation/form/bare"
            )
        };
        let (body, revision) = match text.split_once('#') {
            Some((body, revision)) => (body, Some(revision.parse::<Revision>()?)),
            None => (text, None),
        };
        let mut parts = body.splitn(3, '/');
        let (Some(head), Some(surface), Some(probe)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(usage());
        };
        let target: TargetPattern = format!("{head}/{surface}").parse().map_err(|_| usage())?;
        if probe.is_empty() {
            return Err(usage());
        }
        Ok(CellPattern {
            client: target.client,
            version: target.version,
            surface: surface.to_owned(),
            probe: ProbeId(probe.to_owned()),
            revision,
        })
    }
}

/// The names of `known` that are closest to `wanted`, best first, at most three.
#[must_use]
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// A hint that offers `nearest` names, or all of them when none is near and they are few.
#[must_use]
pub fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near = nearest(wanted, known.iter().copied());
    if !near.is_empty() {
        format!("did you mean {}?", quoted(&near))
    } else if !known.is_empty() && known.len() <= 12 {
        format!("known: {}", quoted(&known))
    } else {
        String::new()
    }
}

fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_cells_parse() {
        let check = |text: &str, expect: Option<(&str, Option<&str>, Option<&str>)>| {
            let got = text.parse::<TargetPattern>().ok();
            let got = got.as_ref().map(|t| {
                (
                    t.client.as_str(),
                    t.version.as_deref(),
                    t.surface.as_deref(),
                )
            });
            assert_eq!(got, expect, "{text}");
        };
        check("codex", Some(("codex", None, None)));
        check("codex@0.142.4", Some(("codex", Some("0.142.4"), None)));
        check(
            "codex@0.142.4/app-server",
            Some(("codex", Some("0.142.4"), Some("app-server"))),
        );
        check("codex/exec", Some(("codex", None, Some("exec"))));
        check("", None);
        check("codex@", None);
        check("codex@../x", None);
        check("codex@..", None);
        check("codex/exec/elicitation/form/bare", None);

        let cell: CellPattern = "codex@0.1.2/app-server/elicitation/form/bare#2025-06-18"
            .parse()
            .unwrap();
        assert_eq!(cell.probe.0, "elicitation/form/bare");
        assert_eq!(cell.revision, Some(Revision::V2025_06_18));
        assert!("codex/exec".parse::<CellPattern>().is_err());
        assert!("codex/exec/".parse::<CellPattern>().is_err());
        assert!("codex/exec/a#2025".parse::<CellPattern>().is_err());
    }

    #[test]
    fn nearest_names_are_offered() {
        assert_eq!(nearest("codx", ["codex", "claude-code"]), ["codex"]);
        assert!(nearest("zzz", ["codex"]).is_empty());
    }
}

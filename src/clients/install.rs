//! stub
use super::*;
use std::path::{Path, PathBuf};
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("x")]
    NoSuchVersion { x: u8 },
    #[error("{0}")]
    Other(String),
}
impl InstallError {
    pub fn hint(&self) -> Option<String> {
        None
    }
}
pub struct Cache {
    pub root: PathBuf,
}
impl Cache {
    pub fn new(root: PathBuf) -> Cache {
        Cache { root }
    }
    pub fn default_root() -> Result<PathBuf, InstallError> {
        Ok("/tmp/cl".into())
    }
}
pub async fn resolve(
    _c: &Cache,
    client: &Client,
    wanted: Option<&str>,
) -> Result<String, InstallError> {
    Ok(wanted.unwrap_or(&client.pinned).to_owned())
}
pub async fn ensure(
    _c: &Cache,
    client: &Client,
    version: &str,
    _p: &dyn Fn(&str),
    _v: impl AsyncFn(&Installed) -> anyhow::Result<()>,
) -> Result<Installed, InstallError> {
    let (p, r) = if client.id == "codex" {
        (
            "/tmp/cl/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            "/tmp/cl/codex",
        )
    } else {
        (
            "/tmp/cl/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude",
            "/tmp/cl/claude",
        )
    };
    Ok(Installed {
        version: version.to_owned(),
        argv: vec![p.into()],
        root: r.into(),
        digest: "x".into(),
    })
}
pub fn local(p: &Path) -> Result<(Vec<String>, PathBuf, String), InstallError> {
    Ok((
        vec![p.display().to_string()],
        p.parent().unwrap().into(),
        "x".into(),
    ))
}
pub fn builtin(version: &str) -> Result<Installed, InstallError> {
    let e = std::env::current_exe().unwrap();
    Ok(Installed {
        version: version.into(),
        argv: vec![e.display().to_string()],
        root: e.parent().unwrap().into(),
        digest: "builtin".into(),
    })
}

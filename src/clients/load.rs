//! stub
use super::*;
use std::path::Path;
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);
pub fn load_dir(dir: &Path) -> Result<Vec<Client>, LoadError> {
    let mut v = vec![];
    for p in glob::glob(&format!("{}/*.toml", dir.display())).unwrap() {
        v.push(load_file(&p.unwrap())?);
    }
    Ok(v)
}
pub fn load_file(p: &Path) -> Result<Client, LoadError> {
    toml::from_str(&std::fs::read_to_string(p).unwrap())
        .map_err(|e| LoadError(format!("{}: {e}", p.display())))
}
pub fn fill(text: &str, values: &BTreeMap<&str, String>) -> String {
    let mut t = text.to_owned();
    for (k, v) in values {
        t = t.replace(&format!("{{{k}}}"), v);
    }
    t
}

//! stub
use super::*;
use std::path::Path;
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SelectError(pub String);
impl SelectError {
    pub fn hint(&self) -> String {
        String::new()
    }
}
#[derive(serde::Deserialize)]
struct A {
    action: Action,
    content: Option<String>,
}
#[derive(serde::Deserialize)]
struct Raw {
    title: String,
    why: String,
    needs: Capability,
    revisions: Vec<Revision>,
    control: Option<ProbeId>,
    method: String,
    params: String,
    answer: A,
    #[serde(default)]
    invalid: BTreeMap<Revision, String>,
}
pub fn load(dir: &Path) -> Result<Vec<Probe>, LoadError> {
    let mut out = vec![];
    for p in glob::glob(&format!("{}/**/*.toml", dir.display())).unwrap() {
        let p = p.unwrap();
        let r: Raw = toml::from_str(&std::fs::read_to_string(&p).unwrap())
            .map_err(|e| LoadError(format!("{}: {e}", p.display())))?;
        let id = p
            .strip_prefix(dir)
            .unwrap()
            .with_extension("")
            .display()
            .to_string();
        out.push(Probe {
            id: ProbeId(id),
            title: r.title,
            why: r.why,
            needs: r.needs,
            revisions: r.revisions,
            invalid: r.invalid,
            method: r.method,
            params: r.params.trim().to_owned(),
            control: r.control,
            answer: Answer {
                action: r.answer.action,
                content: r.answer.content.map(|c| serde_json::from_str(&c).unwrap()),
            },
        });
    }
    out.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(out)
}
pub fn select<'a>(probes: &'a [Probe], prefixes: &[String]) -> Result<Vec<&'a Probe>, SelectError> {
    Ok(probes
        .iter()
        .filter(|p| prefixes.is_empty() || prefixes.iter().any(|x| p.id.0.starts_with(x.as_str())))
        .collect())
}

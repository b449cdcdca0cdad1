//! Loading probe files: strict, with errors that teach.
//!
//! Owns the file format of probes. Nothing that is wrong is passed over: a probe that says something else than its
//! author meant would blame a client.

mod json;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::{Action, Answer, Capability, Probe};
use crate::names::{self, ProbeId, Revision};
use crate::problem::{self, Problem, Problems};

/// A probe file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    title: Spanned<String>,
    why: Spanned<String>,
    needs: Capability,
    revisions: Spanned<Vec<Revision>>,
    #[serde(default)]
    control: Option<Spanned<ProbeId>>,
    method: Spanned<String>,
    params: Spanned<String>,
    answer: AnswerTable,
    #[serde(default)]
    invalid: BTreeMap<Spanned<Revision>, Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerTable {
    action: Action,
    #[serde(default)]
    content: Option<Spanned<String>>,
}

/// The longest title: it is the label of a row.
const MAX_TITLE: usize = 60;

/// A loaded file, with what is needed to speak of its places.
struct Loaded {
    path: PathBuf,
    text: String,
    control_at: Option<usize>,
    title_at: usize,
    probe: Probe,
}

/// All probes below `dir`, by id.
///
/// # Errors
/// Everything that is wrong with any file, each with its place.
pub fn load(dir: &Path) -> Result<Vec<Probe>, Problems> {
    let files = problem::toml_files(dir).map_err(|problem| Problems(vec![problem]))?;
    let mut problems = Vec::new();
    let mut loaded = Vec::new();
    for path in files {
        match load_file(dir, &path) {
            Ok(one) => loaded.push(one),
            Err(found) => problems.extend(found),
        }
    }
    loaded.sort_by(|a, b| a.probe.id.cmp(&b.probe.id));
    // Only files that stand for themselves are compared with each other.
    if problems.is_empty() {
        check_together(&loaded, &mut problems);
    }
    if problems.is_empty() && loaded.is_empty() {
        problems.push(Problem::of_file(
            dir,
            "no probe here; expected <area>/<name>.toml",
        ));
    }
    if problems.is_empty() {
        Ok(loaded.into_iter().map(|one| one.probe).collect())
    } else {
        Err(Problems(problems))
    }
}

fn load_file(dir: &Path, path: &Path) -> Result<Loaded, Vec<Problem>> {
    let text = problem::read_text(path).map_err(|problem| vec![problem])?;
    let file: File =
        toml::from_str(&text).map_err(|error| vec![Problem::of_toml(path, &text, &error)])?;
    let mut problems = Vec::new();
    let mut say =
        |offset: usize, message: String| problems.push(Problem::at(path, &text, offset, message));
    if *file.format.get_ref() != 1 {
        say(
            file.format.span().start,
            "this capmatrix reads format 1".to_owned(),
        );
    }
    check_words(&file, &mut say);
    check_revisions(&file, &mut say);
    let params = json_object(&text, &file.params, "params", &mut say);
    if let Some((raw, _)) = &params
        && raw.contains(['\n', '\r'])
    {
        let message =
            "params must be one line: on the wire a line feed ends the message".to_owned();
        say(file.params.span().start, message);
    }
    let content = file
        .answer
        .content
        .as_ref()
        .map(|content| json_object(&text, content, "content", &mut say));
    let control_at = file.control.as_ref().map(|control| control.span().start);
    let title_at = file.title.span().start;
    let (Some((params, _)), true) = (params, problems.is_empty()) else {
        return Err(problems);
    };
    let probe = Probe {
        id: id_of(dir, path),
        title: file.title.into_inner(),
        why: file.why.into_inner(),
        needs: file.needs,
        revisions: file.revisions.into_inner(),
        invalid: file
            .invalid
            .into_iter()
            .map(|(key, why)| (key.into_inner(), why.into_inner()))
            .collect(),
        method: file.method.into_inner(),
        params,
        control: file.control.map(Spanned::into_inner),
        answer: Answer {
            action: file.answer.action,
            content: content.flatten().map(|(_, value)| value),
        },
    };
    Ok(Loaded {
        path: path.to_owned(),
        text,
        control_at,
        title_at,
        probe,
    })
}

fn id_of(dir: &Path, path: &Path) -> ProbeId {
    let relative = path.strip_prefix(dir).unwrap_or(path).with_extension("");
    let parts: Vec<String> = relative
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    ProbeId(parts.join("/"))
}

fn check_words(file: &File, say: &mut impl FnMut(usize, String)) {
    for (word, name) in [
        (&file.title, "title"),
        (&file.why, "why"),
        (&file.method, "method"),
    ] {
        if word.get_ref().trim().is_empty() {
            say(
                word.span().start,
                format!("{name} is empty; expected some words"),
            );
        }
    }
    if file.title.get_ref().chars().count() > MAX_TITLE {
        say(
            file.title.span().start,
            format!("the title is a row's label: at most {MAX_TITLE} characters"),
        );
    }
}

fn check_revisions(file: &File, say: &mut impl FnMut(usize, String)) {
    let revisions = file.revisions.get_ref();
    let at = file.revisions.span().start;
    if revisions.is_empty() {
        say(
            at,
            "revisions is empty; expected the revisions in which this is asked".to_owned(),
        );
    }
    for (index, revision) in revisions.iter().enumerate() {
        if revisions[..index].contains(revision) {
            say(at, format!("revision {revision} is listed twice"));
        }
        if !file.needs.exists_in(*revision) {
            say(
                at,
                format!("{} does not exist in {revision}", file.needs.as_str()),
            );
        }
    }
    for (revision, why) in &file.invalid {
        if !revisions.contains(revision.get_ref()) {
            let revision_name = revision.get_ref();
            say(
                revision.span().start,
                format!("{revision_name} is not among this probe's revisions"),
            );
        }
        if why.get_ref().trim().is_empty() {
            say(
                why.span().start,
                "expected the reason why the request is invalid there".to_owned(),
            );
        }
    }
}

/// The trimmed text and the value of a JSON object that stands in a TOML string.
fn json_object(
    text: &str,
    string: &Spanned<String>,
    name: &str,
    say: &mut impl FnMut(usize, String),
) -> Option<(String, serde_json::Value)> {
    let raw = string.get_ref();
    match json::parse_strictly(raw) {
        Ok(value) if value.is_object() => Some((raw.trim().to_owned(), value)),
        Ok(_) => {
            say(
                string.span().start,
                format!("{name} is not a JSON object; expected {{...}}"),
            );
            None
        }
        Err(error) => {
            let offset =
                json::place_in_toml(text, string.span(), raw, error.line(), error.column());
            // The parser's own line and column are of the string, not of the file.
            let message = error.to_string();
            let message = message
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned();
            say(offset, format!("{name} is no JSON: {message}"));
            None
        }
    }
}

fn check_together(loaded: &[Loaded], problems: &mut Vec<Problem>) {
    let mut ids: BTreeMap<String, &Loaded> = BTreeMap::new();
    let mut titles: BTreeMap<&str, &Loaded> = BTreeMap::new();
    for one in loaded {
        let id = &one.probe.id;
        if let Some(other) = ids.insert(id.0.to_lowercase(), one) {
            let message = format!(
                "duplicate id: `{id}` is the same as `{}` where case does not count",
                other.probe.id
            );
            problems.push(Problem::of_file(&one.path, message));
        }
        if let Some(other) = titles.insert(&one.probe.title, one) {
            let message = format!(
                "`{}` has this title already; expected one of its own",
                other.probe.id
            );
            problems.push(Problem::at(&one.path, &one.text, one.title_at, message));
        }
        let Some(control) = &one.probe.control else {
            continue;
        };
        let at = one.control_at.unwrap_or(0);
        let mut say = |message| problems.push(Problem::at(&one.path, &one.text, at, message));
        match loaded.iter().find(|other| other.probe.id == *control) {
            None => {
                let known = loaded.iter().map(|other| other.probe.id.0.as_str());
                say(format!(
                    "no probe `{control}`; {}",
                    names::did_you_mean(&control.0, known)
                ));
            }
            Some(other) if other.probe.control.is_some() => {
                say(format!(
                    "`{control}` has a control itself; expected one that has none"
                ));
            }
            Some(_) => {}
        }
    }
}

/// A prefix that selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no probe `{prefix}`, and none below it")]
pub struct SelectError {
    prefix: String,
    near: String,
}

impl SelectError {
    /// The nearest names, if there are near ones.
    #[must_use]
    pub fn hint(&self) -> String {
        self.near.clone()
    }
}

/// The probes whose id is one of `prefixes` or lies below one; all, if there are none. The order is kept.
///
/// # Errors
/// When a prefix selects nothing.
pub fn select<'a>(probes: &'a [Probe], prefixes: &[String]) -> Result<Vec<&'a Probe>, SelectError> {
    let is_below = |probe: &Probe, prefix: &str| {
        let rest = probe.id.0.strip_prefix(prefix.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for prefix in prefixes {
        if !probes.iter().any(|probe| is_below(probe, prefix)) {
            let near = names::did_you_mean(prefix, probes.iter().map(|probe| probe.id.0.as_str()));
            return Err(SelectError {
                prefix: prefix.clone(),
                near,
            });
        }
    }
    let wanted = |probe: &&Probe| {
        prefixes.is_empty() || prefixes.iter().any(|prefix| is_below(probe, prefix))
    };
    Ok(probes.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests;

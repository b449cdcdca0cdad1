//! Loading client files, and filling their placeholders.
//!
//! Owns which client files are good and what a placeholder is. It must not know the values of placeholders, or start
//! anything.

mod check;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Client;
pub use crate::toml_error::LoadError;
use crate::toml_error::{Problem, Source};

/// Loads every client file of `dir`, sorted by id. A folder without any gives no client.
///
/// # Errors
/// Everything that is wrong with the files, each with its place.
pub fn load_dir(dir: &Path) -> Result<Vec<Client>, LoadError> {
    let listing = || -> std::io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(dir)? {
            files.push(entry?.path());
        }
        files.sort();
        Ok(files)
    };
    let files = listing().map_err(|error| Problem::whole(dir, format!("cannot read: {error}")))?;
    let mut clients = Vec::new();
    let mut problems = Vec::new();
    for file in files {
        let hidden = file
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if hidden || file.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        match load_one(&file) {
            Ok(client) => clients.push(client),
            Err(wrong) => problems.extend(wrong),
        }
    }
    clients.sort_by(|a: &Client, b| a.id.cmp(&b.id));
    LoadError::unless_none(clients, problems)
}

/// Loads one client file. The program of [`super::Source::Path`] comes back as an absolute path.
///
/// # Errors
/// Everything that is wrong with the file, each with its place.
pub fn load_file(path: &Path) -> Result<Client, LoadError> {
    load_one(path).map_err(LoadError::from)
}

fn load_one(path: &Path) -> Result<Client, Vec<Problem>> {
    let one = |problem| vec![problem];
    let source = Source::read(path).map_err(one)?;
    let mut client: Client = source.parse().map_err(one)?;
    let problems = check::check(&source, &client).map_err(one)?;
    if !problems.is_empty() {
        return Err(problems);
    }
    if let super::Source::Path { program, .. } = &mut client.source {
        *program = absolute(path, program).map_err(one)?;
    }
    Ok(client)
}

/// A program's path, which a client file gives relative to itself.
fn absolute(file: &Path, program: &str) -> Result<String, Problem> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let path = std::path::absolute(folder.join(program))
        .map_err(|error| Problem::whole(file, format!("cannot resolve `{program}`: {error}")))?;
    let text = path.into_os_string().into_string();
    text.map_err(|path| {
        let message = format!("the path {} is not UTF-8, expected UTF-8", path.display());
        Problem::whole(file, message)
    })
}

/// Puts `values` in the place of the placeholders in `text`, in one pass: what a value holds is not looked at. A
/// placeholder without a value stays.
#[must_use]
pub fn fill(text: &str, values: &BTreeMap<&str, String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut done = 0;
    for place in placeholders(text) {
        if let Some(value) = values.get(&text[place.start + 1..place.end - 1]) {
            filled.push_str(&text[done..place.start]);
            filled.push_str(value);
            done = place.end;
        }
    }
    filled.push_str(&text[done..]);
    filled
}

/// Where the placeholders of `text` stand, braces included. Only `{lower_case}` is one: JSON and TOML, which the texts
/// of clients are full of, have a quote, a space or another brace there.
fn placeholders(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices('{').filter_map(|(start, _)| {
        let rest = &text[start + 1..];
        let length = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_')?;
        let named = length > 0 && rest[length..].starts_with('}');
        named.then(|| start..start + length + 2)
    })
}

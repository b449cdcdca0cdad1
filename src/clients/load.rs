//! Loading client files, and filling the placeholders in their texts.
//!
//! Owns what may stand in a client file. Strict: a placeholder that is misspelt would reach the client as text.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::{Client, DriverKind, Source};
use crate::names;
use crate::problem::{self, Problem, Problems};

/// The placeholders that texts may hold. `{server}` stands only alone, as an argument.
const PLACEHOLDERS: [&str; 7] = [
    "home",
    "wd",
    "model_port",
    "server_command",
    "server_args",
    "server",
    "prompt",
];

/// All clients below `dir`, by id.
///
/// # Errors
/// Everything that is wrong with any file, each with its place.
pub fn load_dir(dir: &Path) -> Result<Vec<Client>, Problems> {
    let files = problem::toml_files(dir).map_err(|problem| Problems(vec![problem]))?;
    let mut clients = Vec::new();
    let mut problems = Vec::new();
    for path in files {
        match load_file(&path) {
            Ok(client) => clients.push(client),
            Err(found) => problems.extend(found.0),
        }
    }
    if problems.is_empty() && clients.is_empty() {
        problems.push(Problem::of_file(dir, "no client here; expected <id>.toml"));
    }
    if problems.is_empty() {
        Ok(clients)
    } else {
        Err(Problems(problems))
    }
}

/// One client.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn load_file(path: &Path) -> Result<Client, Problems> {
    let text = problem::read_text(path).map_err(|problem| Problems(vec![problem]))?;
    let mut client: Client = toml::from_str(&text)
        .map_err(|error| Problems(vec![Problem::of_toml(path, &text, &error)]))?;
    let problems = check(path, &text, &client);
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    if let Source::Path { program, .. } = &mut client.source {
        let folder = path.parent().unwrap_or(Path::new(""));
        *program = folder.join(&*program).display().to_string();
    }
    Ok(client)
}

fn check(path: &Path, text: &str, client: &Client) -> Vec<Problem> {
    let mut problems = Vec::new();
    // The parsed file has no places; what is wrong is found again by its own words.
    let mut say = |words: &str, message: String| {
        problems.push(match text.find(words) {
            Some(at) => Problem::at(path, text, at, message),
            None => Problem::of_file(path, message),
        });
    };
    if client.format != 1 {
        say("format", "this capmatrix reads format 1".to_owned());
    }
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    if client.id != stem {
        say(
            "id",
            format!(
                "the id is `{}`, but the file is named `{stem}`; expected the same",
                client.id
            ),
        );
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c))
    };
    if !is_name(&client.id) {
        say(
            "id",
            format!(
                "`{}` is no id; expected letters, digits, - and _",
                client.id
            ),
        );
    }
    if client.surfaces.is_empty() {
        say(
            "surfaces",
            "no surface; expected at least one [surfaces.NAME]".to_owned(),
        );
    }
    for (name, surface) in &client.surfaces {
        let table = format!("[surfaces.{name}");
        if !is_name(name) {
            say(
                &table,
                format!("`{name}` is no surface name; expected letters, digits, - and _"),
            );
        }
        if surface.driver == DriverKind::Prompt && client.model.is_none() {
            say(
                &table,
                "the driver `prompt` needs a model; expected `model` in this file".to_owned(),
            );
        }
    }
    for name in client.files.keys() {
        let is_below = Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !is_below || name.is_empty() {
            say(
                name,
                format!("`{name}` is no path below HOME; expected a relative one without `..`"),
            );
        }
    }
    for unknown in texts(client).flat_map(|text| unknown_placeholders(text)) {
        let hint = names::did_you_mean(&unknown, PLACEHOLDERS);
        say(
            &format!("{{{unknown}}}"),
            format!("unknown placeholder `{{{unknown}}}`; {hint}"),
        );
    }
    if client.model.is_none() && texts(client).any(|text| text.contains("{model_port}")) {
        say(
            "{model_port}",
            "a port of a model, but the file names no `model`".to_owned(),
        );
    }
    problems
}

fn texts(client: &Client) -> impl Iterator<Item = &String> {
    let surfaces = client.surfaces.values();
    client
        .env
        .values()
        .chain(client.files.values())
        .chain(surfaces.flat_map(|surface| surface.args.iter().chain(surface.env.values())))
}

/// The names in braces that are no placeholder. JSON's own braces are none: they hold more than a name.
fn unknown_placeholders(text: &str) -> Vec<String> {
    text.split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .filter(|name| !PLACEHOLDERS.contains(name))
        .map(str::to_owned)
        .collect()
}

/// `text` with its placeholders filled; a value is never filled again.
#[must_use]
pub fn fill(text: &str, values: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest[1..].split_once('}').map(|(name, _)| name);
        match name.and_then(|name| Some((name, values.get(name)?))) {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len() + 2..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"format = 1
id = "demo"
title = "Demo"
pinned = "1.0.0"
model = "openai-responses"

[source.path]
program = "./demo"
version = ["--version"]

[env]
PORT = "{model_port}"

[files]
"a/b.json" = '{"x":{"command":"{server_command}"}}'

[surfaces.exec]
title = "One prompt"
driver = "prompt"
presents = false
args = ["{prompt}"]
"#;

    #[test]
    fn each_fault_is_named_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("demo.toml");
        let check = |from: &str, to: &str, expect: &str| {
            let text = GOOD.replacen(from, to, 1);
            std::fs::write(&path, text).unwrap();
            let error = load_file(&path).expect_err(to).to_string();
            let error = error.replace(&format!("{}/", dir.path().display()), "");
            assert!(
                error.starts_with(expect),
                "expected: {expect}\ngot:      {error}"
            );
        };
        check(
            "title",
            "titel",
            "demo.toml:3:1: unknown field `titel`, expected one of",
        );
        check(
            "\"demo\"",
            "\"other\"",
            "demo.toml:2:1: the id is `other`, but the file is named `demo`",
        );
        check(
            "format = 1",
            "format = 7",
            "demo.toml:1:1: this capmatrix reads format 1",
        );
        check(
            "{prompt}",
            "{promt}",
            "demo.toml:21:10: unknown placeholder `{promt}`; did you mean `prompt`?",
        );
        check(
            "a/b.json",
            "../b.json",
            "demo.toml:15:2: `../b.json` is no path below HOME",
        );
        check(
            "model = \"openai-responses\"\n",
            "",
            "demo.toml:16:1: the driver `prompt` needs a model",
        );
        check(
            "\"prompt\"",
            "\"telepathy\"",
            "demo.toml:19:10: unknown variant `telepathy`, expected one of",
        );
        check(
            "[source.path]",
            "[source.git]",
            "demo.toml:7:9: unknown variant `git`, expected one of",
        );
        check(
            "openai-responses",
            "openai",
            "demo.toml:5:9: unknown variant `openai`",
        );
        let surfaces = &GOOD[GOOD.find("[surfaces").unwrap()..];
        check(surfaces, "", "demo.toml:1:1: missing field `surfaces`");
        std::fs::write(&path, GOOD).unwrap();
        let client = load_file(&path).unwrap();
        let Source::Path { program, .. } = client.source else {
            panic!("another source");
        };
        assert_eq!(program, dir.path().join("./demo").display().to_string());
    }

    #[test]
    fn placeholders_are_filled_once() {
        let values = BTreeMap::from([("a", "{b}".to_owned()), ("b", "B".to_owned())]);
        for (text, expect) in [
            ("{a}{b}", "{b}B"),
            (r#"{"x":{"y":"{b}"}}"#, r#"{"x":{"y":"B"}}"#),
            ("{unknown} {", "{unknown} {"),
            ("", ""),
        ] {
            assert_eq!(fill(text, &values), expect);
        }
    }
}

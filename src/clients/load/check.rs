//! What must hold within one client file beyond its shape.
//!
//! Owns the rules for names, paths, placeholders and what a driver needs, each told at its place in the file. It must
//! not know other files.

use std::ops::Range;
use std::path::{Component, Path};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::placeholders;
use crate::clients::install::is_exact;
use crate::clients::{Client, DriverKind, Source as ClientSource};
use crate::names::{TargetPattern, did_you_mean};
use crate::toml_error::{Problem, Source};

/// What may stand in a text, as documented at [`Client`].
const PLACEHOLDERS: [&str; 9] = [
    "home",
    "wd",
    "model_port",
    "server_command",
    "server_args",
    "server_url",
    "server_entry",
    "server",
    "prompt",
];
/// Stands for several words, so it must be an argument of its own.
const SERVER: &str = "{server}";

/// Everything that is wrong with `client`, which was read from `source`.
pub(super) fn check(source: &Source, client: &Client) -> Result<Vec<Problem>, Problem> {
    let table = source.table()?;
    let mut check = Check {
        source,
        has_model: client.model.is_some(),
        problems: Vec::new(),
    };
    check.names(&table, client);
    check.source(&table, client);
    check.texts(&table);
    check.revisions(&table, client);
    check.transports(&table);
    check.surfaces(&table, client);
    Ok(check.problems)
}

type Table<'a> = DeTable<'a>;
type Key<'a> = Spanned<DeString<'a>>;
type Value<'a> = Spanned<DeValue<'a>>;

struct Check<'a> {
    source: &'a Source,
    has_model: bool,
    problems: Vec<Problem>,
}

/// What a text is used for.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// Filled before the client starts.
    Filled,
    /// A surface's argument: filled, or the server's command and arguments.
    Argument,
    /// Taken as it is.
    Verbatim,
}

impl Check<'_> {
    fn note(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.problems.push(self.source.at(span, message));
    }

    fn names(&mut self, table: &Table, client: &Client) {
        let stem = self.source.file.file_stem().and_then(|stem| stem.to_str());
        if stem != Some(&client.id) {
            let stem = stem.unwrap_or_default();
            let message = format!("the file's name says `{stem}`, expected the same id");
            self.note(span(table, "id"), message);
        }
        // People type these, so what they can type is what counts.
        let typed = |text: String| text.parse::<TargetPattern>().is_ok();
        const PLAIN: &str = "expected letters, digits, `-`, `_`, `.` and `+`";
        if !typed(client.id.clone()) || client.id.contains(['/', '@']) {
            self.note(span(table, "id"), format!("not an id, {PLAIN}"));
        }
        if client.title.trim().is_empty() {
            self.note(span(table, "title"), "empty `title`, expected a text");
        }
        let npm = matches!(client.source, ClientSource::Npm { .. });
        if npm && !is_exact(&client.pinned) {
            let message = "not an exact version, expected one such as `1.2.3`";
            self.note(span(table, "pinned"), message);
        } else if !typed(format!("x@{}", client.pinned)) || client.pinned.contains('/') {
            self.note(span(table, "pinned"), format!("not a version, {PLAIN}"));
        }
        for (name, _) in entries(table, "surfaces") {
            if !typed(format!("x/{}", name.get_ref())) {
                self.note(name.span(), format!("not a surface's name, {PLAIN}"));
            }
        }
        if client.surfaces.is_empty() {
            self.note(span(table, "surfaces"), "no surface, expected at least one");
        }
    }

    fn revisions(&mut self, table: &Table, client: &Client) {
        let revisions = &client.revisions;
        if revisions.is_empty() {
            self.note(
                span(table, "revisions"),
                "no revision, expected at least one",
            );
        } else if !revisions.is_sorted_by(|a, b| a < b) {
            let message = "not in order, expected each revision once and the oldest first";
            self.note(span(table, "revisions"), message);
        }
        let Some(modern) = &client.modern else { return };
        let Some(modern_table) = table.get("modern").and_then(|v| v.get_ref().as_table()) else {
            return;
        };
        if revisions.iter().all(|revision| revision.is_legacy()) {
            let message = "`[modern]` without a revision of the modern era in `revisions`";
            self.note(span(table, "modern"), message);
        }
        if modern
            .since
            .as_deref()
            .is_some_and(|since| !is_exact(since))
        {
            let message = "not an exact version, expected one such as `1.2.3`";
            self.note(span(modern_table, "since"), message);
        }
        for arg in items(modern_table, "args") {
            self.text(arg, Use::Argument);
        }
        self.environment(modern_table);
    }

    fn source(&mut self, table: &Table, client: &Client) {
        for (_, kind) in entries(table, "source") {
            let kind = kind.get_ref().as_table();
            for (_, value) in kind.into_iter().flatten() {
                self.text(value, Use::Verbatim);
            }
            let Some(kind) = kind else {
                continue;
            };
            match &client.source {
                ClientSource::Npm {
                    package, programs, ..
                } => {
                    if !is_package(package) {
                        let message = "not a package's name, expected one such as `@scope/name`";
                        self.note(span(kind, "package"), message);
                    }
                    if programs.is_empty() {
                        self.note(
                            span(kind, "programs"),
                            "no program, expected at least one glob",
                        );
                    }
                    for program in items(kind, "programs") {
                        self.program(program);
                    }
                }
                ClientSource::Path { program, .. } if program.is_empty() => {
                    self.note(span(kind, "program"), "empty `program`, expected a path");
                }
                ClientSource::Path { .. } | ClientSource::Builtin { .. } => {}
            }
        }
    }

    fn program(&mut self, value: &Value) {
        let text = value.get_ref().as_str().unwrap_or_default();
        if !is_below(text) {
            let message = "not below the install folder, expected a relative path without `..`";
            self.note(value.span(), message);
        } else if let Err(error) = glob::Pattern::new(text) {
            self.problems.push(self.source.inside(
                value.span(),
                error.pos..error.pos + 1,
                format!("{}, expected a glob", error.msg),
            ));
        }
    }

    fn texts(&mut self, table: &Table) {
        for (path, text) in entries(table, "files") {
            if !is_below(path.get_ref()) {
                let message = "not below HOME, expected a relative path without `..`";
                self.note(path.span(), message);
            }
            if let Some(place) = placeholders(path.get_ref()).next() {
                let name = &path.get_ref()[place];
                self.note(
                    path.span(),
                    format!("`{name}` is not filled in a file's name"),
                );
            }
            self.text(text, Use::Filled);
        }
        self.environment(table);
    }

    fn environment(&mut self, table: &Table) {
        for (name, text) in entries(table, "env") {
            if name.get_ref().is_empty() || name.get_ref().contains(['=', '\0']) {
                let message = "not the name of an environment variable, expected one without `=`";
                self.note(name.span(), message);
            }
            self.text(text, Use::Filled);
        }
    }

    fn transports(&mut self, table: &Table) {
        for (_, value) in entries(table, "transports") {
            let Some(table) = value.get_ref().as_table() else {
                continue;
            };
            if let Some(text) = table.get("server") {
                self.text(text, Use::Filled);
            }
            for arg in items(table, "modern_args") {
                self.text(arg, Use::Argument);
            }
        }
    }

    fn surfaces(&mut self, table: &Table, client: &Client) {
        for (name, value) in entries(table, "surfaces") {
            let Some(table) = value.get_ref().as_table() else {
                continue;
            };
            self.environment(table);
            for arg in items(table, "args") {
                self.text(arg, Use::Argument);
            }
            let Some(surface) = client.surfaces.get(name.get_ref().as_ref()) else {
                continue;
            };
            if surface.title.trim().is_empty() {
                self.note(span(table, "title"), "empty `title`, expected a text");
            }
            if surface.driver == DriverKind::Prompt && !self.has_model {
                let message =
                    "the driver `prompt` needs a model, expected `model = ...` in this file";
                self.note(span(table, "driver"), message);
            }
        }
    }

    /// Checks a text, or every text of a list.
    fn text(&mut self, value: &Value, used: Use) {
        if let Some(list) = value.get_ref().as_array() {
            return list.iter().for_each(|value| self.text(value, used));
        }
        let Some(text) = value.get_ref().as_str() else {
            return;
        };
        if let Some(at) = text.find('\0') {
            let message = "a NUL cannot be given to a program, expected text without it";
            let problem = self.source.inside(value.span(), at..at + 1, message);
            self.problems.push(problem);
        }
        if used == Use::Argument && text == SERVER {
            return;
        }
        for place in placeholders(text) {
            if let Some((message, hint)) = self.placeholder(&text[place.clone()], used) {
                let problem = self.source.inside(value.span(), place, message);
                self.problems.push(problem.hint(hint));
            }
        }
    }

    /// What is wrong with a placeholder, braces included, and a hint.
    fn placeholder(&self, braced: &str, used: Use) -> Option<(String, String)> {
        let name = braced.trim_matches(['{', '}']);
        let message = if used == Use::Verbatim {
            format!("`{braced}` is not filled here, expected text without placeholders")
        } else if braced == SERVER {
            "`{server}` stands for several words, expected it as an argument of its own".to_owned()
        } else if !PLACEHOLDERS.contains(&name) {
            let known: Vec<String> = PLACEHOLDERS
                .iter()
                .map(|name| format!("`{{{name}}}`"))
                .collect();
            let known = known.join(", ");
            let message = format!("unknown placeholder `{braced}`, expected one of {known}");
            let near = crate::names::nearest(name, PLACEHOLDERS);
            return Some((message, did_you_mean(name, near)));
        } else if name == "model_port" && !self.has_model {
            "`{model_port}` without a model, expected `model = ...` in this file".to_owned()
        } else {
            return None;
        };
        Some((message, String::new()))
    }
}

/// Where a value stands.
fn span(table: &Table, key: &str) -> Range<usize> {
    table.get(key).map_or(0..0, Spanned::span)
}

/// The entries of a table in a table.
fn entries<'t, 'i>(
    table: &'t Table<'i>,
    key: &str,
) -> impl Iterator<Item = (&'t Key<'i>, &'t Value<'i>)> {
    let inner = table.get(key).and_then(|value| value.get_ref().as_table());
    inner.into_iter().flatten()
}

/// The elements of a list in a table.
fn items<'t, 'i>(table: &'t Table<'i>, key: &str) -> impl Iterator<Item = &'t Value<'i>> {
    let inner = table.get(key).and_then(|value| value.get_ref().as_array());
    inner.into_iter().flat_map(|list| list.iter())
}

/// Whether a path stays below the folder that it is relative to, and names something in it.
fn is_below(path: &str) -> bool {
    let plain = |part| matches!(part, Component::Normal(_));
    !path.is_empty()
        && !path.ends_with('/')
        && !path.contains('\0')
        && Path::new(path).components().all(plain)
}

/// Whether npm would take it for a package of its registry: not for an option, a folder, an address or an alias.
fn is_package(name: &str) -> bool {
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
    };
    match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| plain(scope) && plain(name)),
        None => plain(name),
    }
}

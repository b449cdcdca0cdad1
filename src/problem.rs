//! What is wrong with a file that a person wrote: place, source line, what was expected.
//!
//! Owns the look of such errors, for probe files and client files alike.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which file.
    pub path: PathBuf,
    /// Line and column, from 1, and the line's text; none where the whole file is meant.
    pub place: Option<(usize, usize, String)>,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Problem {
    /// A problem of the whole file.
    #[must_use]
    pub fn of_file(path: &Path, message: impl Into<String>) -> Problem {
        Problem {
            path: path.to_owned(),
            place: None,
            message: message.into(),
        }
    }

    /// A problem at a byte offset of the file's text.
    #[must_use]
    pub fn at(path: &Path, text: &str, offset: usize, message: impl Into<String>) -> Problem {
        let offset = (0..=offset.min(text.len()))
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line = text[..offset].matches('\n').count() + 1;
        let column = text[start..offset].chars().count() + 1;
        let source = text[start..].lines().next().unwrap_or_default().to_owned();
        Problem {
            path: path.to_owned(),
            place: Some((line, column, source)),
            message: message.into(),
        }
    }

    /// What the TOML parser says. A missing key has no place of its own: it points at the table that lacks it.
    #[must_use]
    pub fn of_toml(path: &Path, text: &str, error: &toml::de::Error) -> Problem {
        let message = error.message().trim_end();
        let start = error.span().map_or(0, |span| span.start);
        Problem::at(path, text, start, message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let Some((line, column, source)) = &self.place else {
            return write!(f, "{path}: {}", self.message);
        };
        writeln!(f, "{path}:{line}:{column}: {}", self.message)?;
        let number = line.to_string();
        // A long line is shown around the place only, so that the caret can be found.
        let from = column.saturating_sub(60).max(1);
        let shown: String = source.chars().skip(from - 1).take(100).collect();
        let shown = crate::render::escape::terminal(&shown, 400);
        writeln!(f, "  {number} | {shown}")?;
        write!(
            f,
            "  {:1$} | {2:>3$}",
            "",
            number.len(),
            "^",
            column - from + 1
        )
    }
}

/// All that is wrong, in the order of the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems(pub Vec<Problem>);

/// The most that are printed; a person mends the first ones first.
const MAX_SHOWN: usize = 20;

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self
            .0
            .iter()
            .take(MAX_SHOWN)
            .map(ToString::to_string)
            .collect();
        f.write_str(&shown.join("\n\n"))?;
        if self.0.len() > MAX_SHOWN {
            write!(f, "\n\nand {} more", self.0.len() - MAX_SHOWN)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The files below `dir` whose name ends in `.toml`, sorted. Links to folders are not followed.
///
/// # Errors
/// When a folder cannot be read.
pub fn toml_files(dir: &Path) -> Result<Vec<PathBuf>, Problem> {
    let unreadable =
        |error: std::io::Error| Problem::of_file(dir, format!("cannot read this folder: {error}"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files.extend(toml_files(&path)?);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A file's text.
///
/// # Errors
/// When it cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Problem> {
    let bytes = std::fs::read(path)
        .map_err(|error| Problem::of_file(path, format!("cannot read it: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::of_file(
            path,
            format!("not UTF-8 at byte {at}; expected a TOML file"),
        )
    })
}

//! Errors in TOML files as people see them: file, line, column, the line with a caret, what was expected.
//!
//! Owns how such an error looks and where it points, and the one thing that all our TOML files share: `format = 1`.
//! It must not know what else a file means.

use std::error::Error;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::names::nearest;
use crate::render::escape;

/// More errors than this are only counted.
const MAX_SHOWN: usize = 20;
/// A longer line is cut on both sides of the place in question: probes hold JSON lines of thousands of characters.
const MAX_LINE: usize = 100;
/// Of a message, which may quote the file.
const MAX_MESSAGE: usize = 1000;
/// How much of a cut line stands before the place.
const MAX_BEFORE: usize = 40;

/// Everything that is wrong with a set of files.
#[derive(Debug)]
pub struct LoadError {
    problems: Vec<Problem>,
}

impl LoadError {
    /// `value` if there is no problem, else all of them.
    pub(crate) fn unless_none<T>(value: T, problems: Vec<Problem>) -> Result<T, LoadError> {
        if problems.is_empty() {
            Ok(value)
        } else {
            Err(problems.into())
        }
    }
}

impl From<Problem> for LoadError {
    fn from(problem: Problem) -> LoadError {
        vec![problem].into()
    }
}

impl From<Vec<Problem>> for LoadError {
    fn from(problems: Vec<Problem>) -> LoadError {
        LoadError { problems }
    }
}

impl Error for LoadError {}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.problems.iter().take(MAX_SHOWN);
        let blocks: Vec<String> = shown.map(ToString::to_string).collect();
        match blocks.as_slice() {
            [one] => f.write_str(one),
            many => write!(f, "{} errors\n\n{}", self.problems.len(), many.join("\n\n")),
        }?;
        match self.problems.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n\n... and {more} more"),
        }
    }
}

/// One thing that is wrong with a file.
#[derive(Debug)]
pub(crate) struct Problem {
    file: PathBuf,
    /// Boxed, because a problem is the error of many functions.
    place: Option<Box<Place>>,
    message: String,
    hint: String,
}

#[derive(Debug)]
struct Place {
    line: usize,
    column: usize,
    /// The line, or a part of it.
    shown: String,
    /// How many characters of `shown` stand before the caret.
    before: usize,
    /// How many carets.
    width: usize,
}

impl Problem {
    /// A problem of the file as a whole.
    pub(crate) fn whole(file: &Path, message: impl Into<String>) -> Problem {
        Problem {
            file: file.to_owned(),
            place: None,
            message: message.into(),
            hint: String::new(),
        }
    }

    /// The same with a hint; an empty one is none.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        let mut gutter = 1;
        if let Some(place) = &self.place {
            gutter = place.line.to_string().len();
            write!(f, "{}:{}:", place.line, place.column)?;
        }
        write!(f, " {}", escape::terminal(&self.message, MAX_MESSAGE))?;
        if let Some(place) = &self.place {
            write!(f, "\n{:gutter$} |", "")?;
            let line = format!("{} | {}", place.line, place.shown);
            write!(f, "\n{}", line.trim_end())?;
            let carets = "^".repeat(place.width);
            write!(
                f,
                "\n{:gutter$} | {:before$}{carets}",
                "",
                "",
                before = place.before
            )?;
        }
        if self.hint.is_empty() {
            return Ok(());
        }
        write!(f, "\n{:gutter$} = hint: {}", "", self.hint)
    }
}

/// A file's text, with its name.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file.
    pub(crate) file: PathBuf,
    text: String,
}

impl Source {
    /// Reads a file.
    pub(crate) fn read(file: &Path) -> Result<Source, Problem> {
        let cannot_read = |error| Problem::whole(file, format!("cannot read: {error}"));
        // A pipe would block for ever.
        if !fs::metadata(file).map_err(cannot_read)?.is_file() {
            return Err(Problem::whole(file, "not a regular file"));
        }
        let bytes = fs::read(file).map_err(cannot_read)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source::new(file, text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                // Replacing changes nothing before the bad byte, so its place holds.
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Err(Source::new(file, text).at(at..at, "not UTF-8, expected UTF-8 text"))
            }
        }
    }

    /// A text that stands for a file.
    pub(crate) fn new(file: &Path, text: String) -> Source {
        Source {
            file: file.to_owned(),
            text,
        }
    }

    /// The text as a table of values with their places.
    pub(crate) fn table(&self) -> Result<DeTable<'_>, Problem> {
        let table = DeTable::parse(&self.text).map_err(|error| self.toml(&error))?;
        Ok(table.into_inner())
    }

    /// Parses the text, which must say `format = 1`. That is looked at first: a file of another format would only
    /// give misleading errors.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let table = self.table()?;
        let Some(format) = table.get("format") else {
            return Err(self.at(0..0, "missing `format`, expected the line `format = 1`"));
        };
        match format.get_ref() {
            DeValue::Integer(number) if number.as_str() == "1" => {}
            DeValue::Integer(number) => {
                let message = format!("unknown format {}, expected 1", number.as_str());
                return Err(self.at(format.span(), message));
            }
            other => {
                let message = format!("`format` is a {}, expected the number 1", other.type_str());
                return Err(self.at(format.span(), message));
            }
        }
        toml::from_str(&self.text).map_err(|error| self.toml(&error))
    }

    fn toml(&self, error: &toml::de::Error) -> Problem {
        let message = error.message().trim().replace('\n', "; ");
        let hint = unknown_name(&message);
        match error.span() {
            Some(span) => self.at(span, message).hint(hint),
            None => Problem::whole(&self.file, message).hint(hint),
        }
    }

    /// A problem at some bytes of the text.
    pub(crate) fn at(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem {
            place: Some(Box::new(self.place(span))),
            ..Problem::whole(&self.file, message)
        }
    }

    /// A problem at some bytes of a string's value, where the string with its quotes stands at `span`.
    pub(crate) fn inside(
        &self,
        span: Range<usize>,
        value: Range<usize>,
        message: impl Into<String>,
    ) -> Problem {
        let raw = self.text.get(span.clone()).unwrap_or_default();
        let start = span.start + raw_offset(raw, value.start);
        let end = span.start + raw_offset(raw, value.end);
        self.at(start..end, message)
    }

    fn place(&self, span: Range<usize>) -> Place {
        let start = self.text.floor_char_boundary(span.start);
        let end = self.text.floor_char_boundary(span.end.max(start));
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let count = |to: usize| {
            let to = to.saturating_sub(line_start).min(line.len());
            line[..to].chars().count()
        };
        let column = count(start);
        let width = count(end).saturating_sub(column).max(1);
        let (shown, before) = cut(line, column);
        Place {
            line: self.text[..line_start].matches('\n').count() + 1,
            column: column + 1,
            // The caret may stand one behind the text.
            width: width.min((shown.chars().count() + 1).saturating_sub(before).max(1)),
            shown,
            before,
        }
    }
}

/// The part of a line around a column, and that column in it.
fn cut(line: &str, column: usize) -> (String, usize) {
    // One column a character, and nothing that acts on a terminal.
    let plain = |c: char| match c {
        '\t' => ' ',
        c if !escape::terminal(c.encode_utf8(&mut [0; 4]), 1).starts_with(c) => '\u{fffd}',
        c => c,
    };
    let length = line.chars().count();
    if length <= MAX_LINE {
        return (line.chars().map(plain).collect(), column);
    }
    let first = column.saturating_sub(MAX_BEFORE).min(length - MAX_LINE);
    let front = if first > 0 { "..." } else { "" };
    let back = if first + MAX_LINE < length { "..." } else { "" };
    let middle: String = line.chars().skip(first).take(MAX_LINE).map(plain).collect();
    (
        format!("{front}{middle}{back}"),
        column - first + front.len(),
    )
}

/// The nearest of the names that serde says it knows.
fn unknown_name(message: &str) -> String {
    if !message.starts_with("unknown ") {
        return String::new();
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let Some(wanted) = names.next() else {
        return String::new();
    };
    // The message lists them all; only a near one is news.
    match nearest(wanted, names).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => String::new(),
    }
}

/// Where byte `offset` of a string's value stands in its TOML text `raw`, quotes included.
fn raw_offset(raw: &str, offset: usize) -> usize {
    let quotes = ["'''", "\"\"\"", "'", "\""];
    let Some(quote) = quotes.into_iter().find(|quote| raw.starts_with(quote)) else {
        return 0;
    };
    let mut at = quote.len();
    if quote.len() == 3 {
        // A line feed right behind the quotes is not part of the value.
        at += match &raw[at..] {
            rest if rest.starts_with("\r\n") => 2,
            rest if rest.starts_with('\n') => 1,
            _ => 0,
        };
    }
    let mut done = 0;
    while done < offset {
        let Some(c) = raw[at..].chars().next() else {
            break;
        };
        let (long, means) = match c {
            '\\' if !quote.starts_with('\'') => escape(&raw[at..]),
            c => (c.len_utf8(), c.len_utf8()),
        };
        at += long;
        done += means;
    }
    at
}

/// How many bytes the escape sequence at the start of `raw` has, and how many it stands for.
fn escape(raw: &str) -> (usize, usize) {
    let coded = |digits: usize| {
        let code = raw.get(2..2 + digits).unwrap_or_default();
        let c = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        (2 + code.len(), c.map_or(1, char::len_utf8))
    };
    match raw[1..].chars().next() {
        Some('u') => coded(4),
        Some('U') => coded(8),
        Some('x') => coded(2),
        Some(c) if c.is_ascii_whitespace() => {
            // A backslash at the end of a line swallows white space up to the next text.
            (raw.len() - raw[1..].trim_start().len(), 0)
        }
        Some(_) => (2, 1),
        None => (1, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_value_is_found_in_the_file() {
        let check = |raw: &str, needle: &str| {
            let text = format!("format = 1\ntext = {raw}\n");
            let source = Source::new(Path::new("x.toml"), text.clone());
            let table = source.table().unwrap();
            let value = &table["text"];
            let at = value.get_ref().as_str().unwrap().find(needle).unwrap();
            let span = value.span();
            let found = span.start + raw_offset(&text[span], at);
            assert_eq!(&text[found..=found], needle, "{raw}");
        };
        check("'one X'", "X");
        check("\"one \\t\\\"X\"", "X");
        check("'''\none\nX'''", "X");
        check("'''\r\none\r\nX'''", "X");
        check("'''one\\u0020X'''", "X");
        check("\"\"\"\none \\u00e9 \\U0001F600 \\\n   two X\"\"\"", "X");
        check("\"\\x41\\e X\"", "X");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}X{}\n", "a".repeat(500), "\u{1b}\tb".repeat(100));
        let source = Source::new(Path::new("x.toml"), text);
        let shown = source.at(500..501, "here").to_string();
        assert!(shown.starts_with("x.toml:1:501: here\n"), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[2].find('X'), lines[3].find('^'), "{shown}");
        assert!(lines[2].len() < 250 && !shown.contains('\u{1b}'), "{shown}");
    }

    #[test]
    fn many_errors_are_counted() {
        let problems = (0..23)
            .map(|n| Problem::whole(Path::new("x"), format!("no {n}")))
            .collect();
        let shown = LoadError::unless_none((), problems)
            .unwrap_err()
            .to_string();
        assert!(shown.starts_with("23 errors\n\nx: no 0\n\n"), "{shown}");
        assert!(shown.ends_with("x: no 19\n\n... and 3 more"), "{shown}");
    }
}

//! What every part of a probe file is read with.
//!
//! Owns how values are read that occur in several places, and what is said when they are wrong. It must not know what
//! they mean for a probe.

use std::ops::Range;

use toml::Spanned;

use crate::names::{Revision, did_you_mean, nearest};
use crate::toml_error::{Problem, Source};

/// Collects problems. Every function gives what it read, or nothing after it has noted why.
pub(super) struct Check<'a> {
    pub(super) source: &'a Source,
    pub(super) problems: Vec<Problem>,
}

impl Check<'_> {
    pub(super) fn note(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.problems.push(self.source.at(span, message));
    }

    /// What must be in the file; `table` is where it is missed.
    pub(super) fn required<'v, T>(
        &mut self,
        key: &str,
        value: Option<&'v Spanned<T>>,
        table: Range<usize>,
    ) -> Option<&'v Spanned<T>> {
        if value.is_none() {
            let line = match key {
                "answer" => "[answer]".to_owned(),
                key => format!("{key} = ..."),
            };
            self.note(table, format!("missing `{key}`, expected `{line}`"));
        }
        value
    }

    pub(super) fn text(&mut self, key: &str, value: Option<&Spanned<String>>) -> Option<String> {
        let value = self.required(key, value, 0..0)?;
        self.filled(key, value)
    }

    /// A text that is not empty, without the white space around it.
    pub(super) fn filled(&mut self, key: &str, value: &Spanned<String>) -> Option<String> {
        let text = value.get_ref().trim();
        if text.is_empty() {
            self.note(value.span(), format!("empty `{key}`, expected a text"));
            return None;
        }
        Some(text.to_owned())
    }

    pub(super) fn name<T: Copy>(
        &mut self,
        key: &str,
        value: Option<&Spanned<String>>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let value = self.required(key, value, 0..0)?;
        self.known(key, value, known)
    }

    pub(super) fn known<T: Copy>(
        &mut self,
        key: &str,
        value: &Spanned<String>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let text = value.get_ref();
        if let Some((_, found)) = known.iter().find(|(name, _)| name == text) {
            return Some(*found);
        }
        let same = known
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        let near = match same {
            Some((name, _)) => Some(*name),
            None => nearest(text, known.iter().map(|(name, _)| *name))
                .first()
                .copied(),
        };
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!(
            "unknown {key} `{}`, expected one of {}",
            text.escape_debug(),
            names.join(", ")
        );
        let problem = self.source.at(value.span(), message);
        self.problems.push(problem.hint(hint.unwrap_or_default()));
        None
    }

    pub(super) fn revision(&mut self, value: &Spanned<String>) -> Option<Revision> {
        let text = value.get_ref();
        text.parse().ok().or_else(|| {
            let message = format!(
                "unknown revision `{}`, expected a date of the specification",
                text.escape_debug()
            );
            let hint = did_you_mean(text, Revision::ALL.iter().map(|known| known.as_str()));
            let problem = self.source.at(value.span(), message).hint(hint);
            self.problems.push(problem);
            None
        })
    }

    /// A list of revisions, each once. Nothing if one of them could not be read.
    pub(super) fn revisions(
        &mut self,
        list: &Spanned<Vec<Spanned<String>>>,
    ) -> Option<Vec<(Revision, Range<usize>)>> {
        let mut revisions: Vec<(Revision, Range<usize>)> = Vec::new();
        let mut good = true;
        for item in list.get_ref() {
            match self.revision(item) {
                Some(revision) if revisions.iter().any(|(known, _)| *known == revision) => {
                    self.note(item.span(), format!("{revision} twice, expected it once"));
                }
                Some(revision) => revisions.push((revision, item.span())),
                None => good = false,
            }
        }
        if !good {
            return None;
        }
        if revisions.is_empty() {
            self.note(list.span(), "no revision, expected at least one");
            return None;
        }
        Some(revisions)
    }

    /// A revision that the probe is not asked in.
    pub(super) fn not_asked(&mut self, span: Range<usize>, revision: Revision) {
        let message = format!("{revision} is not in `revisions`, expected one of those");
        self.note(span, message);
    }
}

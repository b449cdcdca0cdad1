//! `[[norms]]`: the rules that a probe rests on.
//!
//! Owns their format and what must hold among them. It must not know what the rules say.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::check::Check;
use crate::catalogue::Norm;
use crate::names::Revision;
use crate::spec::Strength;

/// One table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNorm {
    revisions: Option<Spanned<Vec<Spanned<String>>>>,
    section: Option<Spanned<String>>,
    keyword: Option<Spanned<String>>,
}

const KEYWORDS: [(&str, Strength); 4] = [
    ("MUST", Strength::Must),
    ("SHOULD", Strength::Should),
    ("MAY", Strength::May),
    ("SCHEMA", Strength::Schema),
];

const WHICH: &str = "name the rule that a client breaks by refusing the request, or that an invalid request itself breaks";

impl Check<'_> {
    /// The norms of a probe that is asked in the revisions `asked`, each with its place in the file. Nothing if one of
    /// them is wrong.
    pub(super) fn norms(
        &mut self,
        value: Option<&Spanned<Vec<Spanned<RawNorm>>>>,
        asked: Option<&[(Revision, Range<usize>)]>,
    ) -> Option<Vec<Norm>> {
        let Some(raw) = value else {
            let message =
                "missing `norms`, expected [[norms]] with `revisions`, `section` and `keyword`";
            let problem = self.source.at(0..0, message).hint(WHICH);
            self.problems.push(problem);
            return None;
        };
        let before = self.problems.len();
        let mut norms = Vec::new();
        let mut seen = BTreeSet::new();
        for table in raw.get_ref() {
            norms.extend(self.norm(table, asked, &mut seen));
        }
        // What a norm that could not be read is for is not known, so nothing is said to be missing beside it.
        if self.problems.len() > before {
            return None;
        }
        for (revision, place) in asked? {
            if !norms.iter().any(|norm| norm.revisions.contains(revision)) {
                let message = format!(
                    "no norm for {revision}, expected it in the `revisions` of at least one of [[norms]]"
                );
                let problem = self.source.at(place.clone(), message).hint(WHICH);
                self.problems.push(problem);
            }
        }
        Some(norms)
    }

    fn norm(
        &mut self,
        table: &Spanned<RawNorm>,
        asked: Option<&[(Revision, Range<usize>)]>,
        seen: &mut BTreeSet<(Revision, String)>,
    ) -> Option<Norm> {
        let raw = table.get_ref();
        let revisions = self
            .required("revisions", raw.revisions.as_ref(), table.span())
            .and_then(|list| self.revisions(list));
        let section = self
            .required("section", raw.section.as_ref(), table.span())
            .and_then(|section| self.filled("section", section));
        let keyword = self
            .required("keyword", raw.keyword.as_ref(), table.span())
            .and_then(|keyword| self.known("keyword", keyword, &KEYWORDS));
        let (revisions, section, keyword) = (revisions?, section?, keyword?);
        if keyword == Strength::Schema && !section.starts_with("schema ") {
            let place = raw.keyword.as_ref()?.span();
            self.note(
                place,
                "SCHEMA for a page, expected a section `schema DEFINITION` or the keyword of the page's sentence",
            );
        }
        for (revision, place) in &revisions {
            if asked.is_some_and(|asked| !asked.iter().any(|(known, _)| known == revision)) {
                self.not_asked(place.clone(), *revision);
            } else if !seen.insert((*revision, section.clone())) {
                let message =
                    format!("`{section}` twice for {revision}, expected each section once");
                self.note(place.clone(), message);
            }
        }
        Some(Norm {
            revisions: revisions
                .into_iter()
                .map(|(revision, _)| revision)
                .collect(),
            section,
            keyword,
        })
    }
}

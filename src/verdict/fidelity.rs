//! Rows that ask whether the request was shown as sent and the answer arrived as given.
//!
//! Owns what counts as a loss, and whose. It comes last: a cell that gets here broke no rule.

use super::{Blame, Case, Kind, Verdict, members, plain};
use crate::outcome::{Change, Difference, Oddity};
use crate::recording::AnsweredBy;

/// The driver answered something that was too deep to be recorded as presented.
pub(super) fn not_recorded(case: &Case<'_>) -> Option<Verdict> {
    if case.outcome.presented.is_some() || case.outcome.answer.is_none() {
        return None;
    }
    let reason = "presented, but nested too deep to be recorded";
    Some(plain(Kind::Unknown, Blame::Nobody, reason))
}

/// Accepted, and nobody saw it.
pub(super) fn unseen(case: &Case<'_>) -> Option<Verdict> {
    if case.outcome.presented.is_some() {
        return None;
    }
    let reason = match case.answered_by {
        AnsweredBy::Person => "accepted by a person; what was shown is not recorded",
        AnsweredBy::Driver | AnsweredBy::Client => "accepted by the client itself; nobody saw it",
    };
    Some(plain(Kind::NotShown, Blame::Nobody, reason))
}

/// Presented, and then refused before the driver said anything. Which of the two the user gets is nobody's rule.
pub(super) fn not_waited_for(case: &Case<'_>) -> Option<Verdict> {
    case.outcome.presented.as_ref()?;
    if case.outcome.answer.is_some() {
        return None;
    }
    let reason =
        "presented, but refused before the driver answered; no clause says how long to wait";
    Some(plain(Kind::SpecSilent, Blame::Nobody, reason))
}

/// Requests are independent of each other, and no clause says how often a call may be made again for one result.
pub(super) fn called_again_twice(case: &Case<'_>) -> Option<Verdict> {
    if !case.outcome.oddities.contains(&Oddity::SecondRetry) {
        return None;
    }
    let reason = "called again more than once with an answer to one result; no clause decides";
    Some(plain(Kind::SpecSilent, Blame::Nobody, reason))
}

/// Something was lost, added or changed on the way to the user or back.
pub(super) fn altered(case: &Case<'_>) -> Option<Verdict> {
    let shown = case.outcome.presented.as_deref().unwrap_or_default();
    let answer: Vec<&Difference> = case
        .outcome
        .answer
        .iter()
        .flatten()
        .filter(|difference| counts(case, difference))
        .collect();
    if shown.is_empty() && answer.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if !shown.is_empty() {
        let list = list(shown.iter());
        parts.push(format!("presented with differences: {list}"));
    }
    if !answer.is_empty() {
        let list = list(answer.iter().copied());
        parts.push(format!("the answer did not arrive as given: {list}"));
    }
    let mut reason = parts.join("; ");
    let is_defined = |difference: &Difference| members::is_defined(&difference.at, case.revision);
    // Schemas are open: content may have more members than the form asks for.
    let is_lost = |difference: &&Difference| difference.change != Change::Added;
    if !answer.iter().any(is_lost) && !shown.iter().any(is_defined) {
        reason.push_str(" (no clause defines what was changed)");
        return Some(plain(Kind::Altered, Blame::Nobody, reason));
    }
    Some(plain(Kind::Altered, Blame::Client, reason))
}

/// Content belongs to an accepted form only: what a client writes beside a refusal or a URL carries no answer.
fn counts(case: &Case<'_>, difference: &Difference) -> bool {
    !difference.at.starts_with("/content") || case.accepts_a_form()
}

/// Nothing was lost.
pub(super) fn works(case: &Case<'_>) -> Option<Verdict> {
    case.outcome.presented.as_ref()?;
    let reason = "presented unaltered, and the answer arrived intact";
    Some(plain(Kind::Works, Blame::Nobody, reason))
}

fn list<'a>(differences: impl ExactSizeIterator<Item = &'a Difference>) -> String {
    let total = differences.len();
    let mut words: Vec<String> = differences
        .take(4)
        .map(|difference| {
            let change = match difference.change {
                Change::Lost => "lost",
                Change::Added => "added",
                Change::Changed => "changed",
            };
            format!("{} {change}", difference.at)
        })
        .collect();
    if total > words.len() {
        words.push(format!("and {} more", total - words.len()));
    }
    words.join(", ")
}

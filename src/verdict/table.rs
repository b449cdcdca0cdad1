//! The decision table: one row a case, asked in order; the first that speaks decides.
//!
//! The order is the argument, and stands here alone: our own faults first, then cells that did not come to the
//! question, then what was not declared, then what only the control can explain, then what breaks a rule whatever
//! the control did, and last whether what was shown and answered arrived whole.

use super::{
    Blame, Case, Kind, Verdict, answerless, control, declaration, fidelity, handshake, plain, reply,
};
use crate::outcome::Kind as Came;

/// A row: speaks or passes on.
type Row = fn(&Case<'_>) -> Option<Verdict>;

/// The part of the argument that a row belongs to, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Our own message or machinery was wrong.
    Harness,
    /// The cell did not come to the question.
    NotReached,
    /// What the client declares, and whether it agrees with what it does.
    Declared,
    /// What the client answers by itself, whoever uses it.
    Answerless,
    /// What can only be read beside the control.
    Control,
    /// What breaks a rule.
    Rules,
    /// Whether the request and its answer arrived whole.
    Fidelity,
}

pub(super) const ROWS: &[(Part, Row)] = &[
    (Part::Harness, harness_failed),
    (Part::NotReached, not_reached),
    (Part::Declared, not_declared),
    (Part::Declared, declaration::undeclared),
    (Part::Declared, declaration::declared),
    (Part::Answerless, handshake::followed),
    (Part::Answerless, answerless::replied),
    (Part::Control, control::same_refusal),
    (Part::Control, control::same_lack_of_a_retry),
    (Part::Control, control::invalid_refused),
    (Part::Control, control::person_refused),
    (Part::Control, control::not_asked),
    (Part::Control, control::unusable),
    (Part::Control, control::no_result),
    (Part::Control, control::refused_unseen),
    (Part::Rules, reply::not_a_message),
    (Part::Rules, reply::breaks_a_rule),
    (Part::Rules, reply::nothing_readable),
    (Part::Rules, reply::null_content),
    (Part::Rules, reply::answered_for_the_user),
    (Part::Rules, reply::no_content),
    (Part::Rules, reply::content_breaks_schema),
    (Part::Rules, reply::invalid_request_accepted),
    (Part::Fidelity, fidelity::not_recorded),
    (Part::Fidelity, fidelity::unseen),
    (Part::Fidelity, fidelity::not_waited_for),
    (Part::Fidelity, fidelity::called_again_twice),
    (Part::Fidelity, fidelity::altered),
    (Part::Fidelity, fidelity::works),
];

pub(super) fn decide(case: &Case<'_>) -> Verdict {
    ROWS.iter()
        .find_map(|(_, row)| row(case))
        .unwrap_or_else(|| {
            let reason = "no row of the decision table fits";
            plain(Kind::Unknown, Blame::Nobody, reason)
        })
}

fn harness_failed(case: &Case<'_>) -> Option<Verdict> {
    let error = case.harness_error?;
    Some(plain(Kind::HarnessFault, Blame::Harness, error))
}

fn not_reached(case: &Case<'_>) -> Option<Verdict> {
    let Came::NotReached { missing, note } = &case.outcome.kind else {
        return None;
    };
    let reason = match note {
        Some(note) => note.clone(),
        None => format!("not reached: {}", missing.words()),
    };
    Some(plain(Kind::Unknown, Blame::Nobody, reason))
}

fn not_declared(case: &Case<'_>) -> Option<Verdict> {
    let Came::NotDeclared { needs } = &case.outcome.kind else {
        return None;
    };
    let reason = format!("the client does not declare {needs}; nothing was sent");
    Some(plain(Kind::NotDeclared, Blame::Nobody, reason))
}

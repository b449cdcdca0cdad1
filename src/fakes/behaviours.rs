//! The table of named behaviours: what each does to the conversation, and the judgement it must get.
//!
//! Owns the table's shape and its parts, one file a class. It must not know pipes or processes, and nothing of how a
//! verdict is reached: it only names the one that must come out.
//!
//! A new behaviour is a new row. It replaces those hooks of [`BEHAVES`] in which it differs.

mod allowed;
mod allowed_rounds;
mod envelope;
mod fidelity;
mod handshake;
mod http;
mod process;
mod reply;
mod requests;
mod rounds;
mod scripts;
mod timing;
mod transport;
mod ways;

use std::fmt;

use anyhow::bail;

use super::bridge::Bends;
use super::hooks::{BEHAVES, Hooks};
use crate::names::{Revision, did_you_mean};
use crate::spec::Strength;
use crate::verdict::{Blame, Kind};

/// One named behaviour of the fake client and the judgement it must get.
#[derive(Debug, Clone, Copy)]
pub struct Behaviour {
    /// What `capmatrix fake-client` is given; kebab-case.
    pub name: &'static str,
    /// What it does, in one line; reads after "a client that".
    pub does: &'static str,
    /// Where it departs from the sound client.
    pub class: Class,
    /// The probe whose cell is judged.
    pub subject: &'static str,
    /// What that cell must get.
    pub cell: Judgement,
    /// What the session must get beside its cells; none where nothing is to be found.
    pub finding: Option<Judgement>,
    /// How its sessions pass the time.
    pub pace: Pace,
    /// The revision that its sessions are in; none where the client and the server settle on one.
    pub revision: Option<Revision>,
    /// What it does wrong over HTTP, which its sessions then go over; none on stdio.
    pub bends: Option<Bends>,
    pub(super) hooks: Hooks,
}

/// Where a behaviour departs from the sound client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// In the handshake, the tool list, or another message of its own outside a probe.
    Handshake,
    /// In the JSON-RPC message around its reply.
    Envelope,
    /// In the reply to the elicitation.
    Reply,
    /// In what is presented, or in what of the answer arrives.
    Fidelity,
    /// In when it replies.
    Timing,
    /// In how its process lives and ends.
    Process,
    /// In the bytes around messages.
    Transport,
    /// In the call that it makes again, or in what every request of the modern era carries.
    Rounds,
    /// Where a request is sent in an unusual way.
    Ways,
    /// In what HTTP carries beside the messages.
    Http,
    /// In what follows a handshake that goes by a script.
    Scripts,
    /// Nowhere that it may not: nobody is to be blamed for it.
    Allowed,
}

impl Class {
    /// All, in the order of the table.
    pub const ALL: [Class; 12] = [
        Class::Handshake,
        Class::Envelope,
        Class::Reply,
        Class::Fidelity,
        Class::Timing,
        Class::Process,
        Class::Transport,
        Class::Rounds,
        Class::Ways,
        Class::Http,
        Class::Scripts,
        Class::Allowed,
    ];

    /// The name in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Handshake => "handshake",
            Class::Envelope => "envelope",
            Class::Reply => "reply",
            Class::Fidelity => "fidelity",
            Class::Timing => "timing",
            Class::Process => "process",
            Class::Transport => "transport",
            Class::Rounds => "rounds",
            Class::Ways => "ways",
            Class::Http => "http",
            Class::Scripts => "scripts",
            Class::Allowed => "allowed",
        }
    }

    fn tables(self) -> &'static [&'static [Behaviour]] {
        match self {
            Class::Handshake => &[handshake::ROWS],
            Class::Envelope => &[envelope::ROWS],
            Class::Reply => &[reply::ROWS],
            Class::Fidelity => &[fidelity::ROWS],
            Class::Timing => &[timing::ROWS],
            Class::Process => &[process::ROWS],
            Class::Transport => &[transport::ROWS],
            Class::Rounds => &[rounds::ROWS, requests::ROWS],
            Class::Ways => &[ways::FAULTS],
            Class::Http => &[http::FAULTS],
            Class::Scripts => &[scripts::FAULTS],
            Class::Allowed => &[
                allowed::ROWS,
                allowed_rounds::ROWS,
                ways::ALLOWED,
                http::ALLOWED,
                scripts::ALLOWED,
            ],
        }
    }

    fn rows(self) -> impl Iterator<Item = &'static Behaviour> + Clone {
        self.tables().iter().copied().flatten()
    }
}

/// How the sessions of a behaviour pass the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// They work from start to end.
    Works,
    /// They wait for a reply that cannot be read, or never comes, until the harness gives up.
    Waits,
}

/// Verdict, blame and strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict's kind.
    pub kind: Kind,
    /// Who is to blame.
    pub blame: Blame,
    /// How strong the broken rule is, where one is broken.
    pub strength: Option<Strength>,
}

impl Judgement {
    const fn new(kind: Kind, blame: Blame, strength: Option<Strength>) -> Judgement {
        Judgement {
            kind,
            blame,
            strength,
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.kind.name(), self.blame.name())?;
        if let Some(strength) = self.strength {
            write!(f, ", {}", strength.name())?;
        }
        f.write_str(")")
    }
}

/// The judgements that rows name.
mod expect {
    use super::{Blame, Judgement, Kind, Strength};

    pub(super) const WORKS: Judgement = Judgement::new(Kind::Works, Blame::Nobody, None);
    pub(super) const REFUSED: Judgement = Judgement::new(Kind::Refused, Blame::Nobody, None);
    pub(super) const REFUSED_INVALID: Judgement =
        Judgement::new(Kind::Refused, Blame::Server, None);
    pub(super) const NOT_DECLARED: Judgement =
        Judgement::new(Kind::NotDeclared, Blame::Nobody, None);
    pub(super) const UNKNOWN: Judgement = Judgement::new(Kind::Unknown, Blame::Nobody, None);
    /// The request was invalid, and what the client did about it is nobody's fault but the server's.
    pub(super) const SPEC_SILENT_INVALID: Judgement =
        Judgement::new(Kind::SpecSilent, Blame::Server, None);
    pub(super) const SPEC_SILENT: Judgement = Judgement::new(Kind::SpecSilent, Blame::Nobody, None);
    pub(super) const LENIENT: Judgement =
        Judgement::new(Kind::Lenient, Blame::Nobody, Some(Strength::Schema));
    pub(super) const LENIENT_WITH_SERVER: Judgement =
        Judgement::new(Kind::Lenient, Blame::Server, Some(Strength::Schema));
    pub(super) const LENIENT_MUST: Judgement =
        Judgement::new(Kind::Lenient, Blame::Nobody, Some(Strength::Must));
    pub(super) const LENIENT_WITH_SERVER_MUST: Judgement =
        Judgement::new(Kind::Lenient, Blame::Server, Some(Strength::Must));
    pub(super) const ALTERED: Judgement = Judgement::new(Kind::Altered, Blame::Client, None);
    /// What was lost is nothing that a revision defines.
    pub(super) const ALTERED_FREELY: Judgement = Judgement::new(Kind::Altered, Blame::Nobody, None);
    pub(super) const VIOLATES_MUST: Judgement =
        Judgement::new(Kind::Violates, Blame::Client, Some(Strength::Must));
    pub(super) const VIOLATES_SHOULD: Judgement =
        Judgement::new(Kind::Violates, Blame::Client, Some(Strength::Should));
    pub(super) const VIOLATES_SCHEMA: Judgement =
        Judgement::new(Kind::Violates, Blame::Client, Some(Strength::Schema));
    pub(super) const BREAKS_MUST: Judgement =
        Judgement::new(Kind::Breaks, Blame::Client, Some(Strength::Must));
    pub(super) const BREAKS_SCHEMA: Judgement =
        Judgement::new(Kind::Breaks, Blame::Client, Some(Strength::Schema));
}

/// The probes at which behaviours depart.
mod subject {
    pub(super) const TITLE: &str = "elicitation/form/top-level-title";
    pub(super) const DESCRIPTION: &str = "elicitation/form/top-level-description";
    pub(super) const PROPERTY_TEXTS: &str = "elicitation/form/property-title-description";
    pub(super) const INTEGER: &str = "elicitation/form/integer";
    pub(super) const NUMBER: &str = "elicitation/form/number";
    pub(super) const BOOLEAN: &str = "elicitation/form/boolean";
    pub(super) const ENUM: &str = "elicitation/form/enum-single-untitled";
    pub(super) const ENUM_TITLED: &str = "elicitation/form/enum-single-titled";
    pub(super) const MULTI: &str = "elicitation/form/enum-multi-untitled";
    pub(super) const DEFAULT: &str = "elicitation/form/default-string";
    pub(super) const EMAIL: &str = "elicitation/form/string-format-email";
    pub(super) const PATTERN: &str = "elicitation/form/string-pattern";
    pub(super) const CLOSED: &str = "elicitation/form/top-level-additional-properties-false";
    pub(super) const UNKNOWN_KEYWORD: &str = "elicitation/form/top-level-unknown-keyword";
    pub(super) const OPTIONAL: &str = "elicitation/form/required-absent";
    pub(super) const NESTED: &str = "elicitation/form/nested-object";
    pub(super) const URL: &str = "elicitation/url/basic";
    pub(super) const BARE: &str = "elicitation/form/bare";
    pub(super) const NO_STATE: &str = "mrtr/no-state";
    pub(super) const ODD_STATE: &str = "mrtr/odd-state";
    pub(super) const STATE_FIRST: &str = "mrtr/state-first";
    pub(super) const TWO_INPUTS: &str = "mrtr/two-inputs";
    pub(super) const SECOND_ROUND: &str = "mrtr/second-round";
    pub(super) const STRING_ID: &str = "envelope/string-id";
    pub(super) const ID_ZERO: &str = "envelope/id-zero";
    pub(super) const CLIENTS_ID: &str = "envelope/clients-id";
    pub(super) const AFTER_NOISE: &str = "envelope/after-noise";
    pub(super) const AFTER_NOTIFICATION: &str = "envelope/after-unknown-notification";
    pub(super) const SECOND_OF_TWO: &str = "envelope/second-of-two";
    pub(super) const AFTER_CALL: &str = "envelope/after-call";
    pub(super) const AFTER_CANCELLED: &str = "envelope/after-cancelled";
    pub(super) const PING: &str = "envelope/ping";
    pub(super) const UNKNOWN_METHOD: &str = "envelope/unknown-method";
    /// Where any form would do. Its property is required and constrained, so that there is something to break.
    pub(super) const FORM: &str = "elicitation/form/string-length";
}

/// A row of which nothing is said yet but what it is.
const fn row(class: Class, name: &'static str, does: &'static str, cell: Judgement) -> Behaviour {
    Behaviour {
        name,
        does,
        class,
        subject: subject::FORM,
        cell,
        finding: None,
        pace: Pace::Works,
        revision: None,
        bends: None,
        hooks: BEHAVES,
    }
}

impl Behaviour {
    /// At another subject than [`subject::FORM`].
    const fn at(self, subject: &'static str) -> Behaviour {
        Behaviour { subject, ..self }
    }

    const fn with(self, hooks: Hooks) -> Behaviour {
        Behaviour { hooks, ..self }
    }

    const fn in_revision(self, revision: Revision) -> Behaviour {
        Behaviour {
            revision: Some(revision),
            ..self
        }
    }

    const fn over_http(self, bends: Bends) -> Behaviour {
        Behaviour {
            bends: Some(bends),
            ..self
        }
    }

    const fn getting(self, cell: Judgement) -> Behaviour {
        Behaviour { cell, ..self }
    }

    const fn with_finding(self, finding: Judgement) -> Behaviour {
        Behaviour {
            finding: Some(finding),
            ..self
        }
    }

    const fn waits(self) -> Behaviour {
        Behaviour {
            pace: Pace::Waits,
            ..self
        }
    }
}

/// All behaviours, class by class.
pub fn all() -> impl Iterator<Item = &'static Behaviour> + Clone {
    Class::ALL.iter().flat_map(|class| class.rows())
}

/// The behaviour of that name.
pub(super) fn find(name: &str) -> anyhow::Result<&'static Behaviour> {
    if let Some(behaviour) = all().find(|behaviour| behaviour.name == name) {
        return Ok(behaviour);
    }
    let hint = match did_you_mean(name, all().map(|behaviour| behaviour.name)) {
        hint if hint.is_empty() => "`capmatrix self-test` names them all".to_owned(),
        hint => hint,
    };
    bail!("no behaviour `{name}`; {hint}");
}

#[cfg(test)]
mod tests;

//! What clients do once their handshake was answered as a probe's script says.
//!
//! Owns those rows, faults and what is allowed.

use super::expect::{
    LENIENT_WITH_SERVER, REFUSED, SPEC_SILENT, UNKNOWN, VIOLATES_SCHEMA, VIOLATES_SHOULD, WORKS,
};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::{BEHAVES, Change, Ends, Hears, Hooks, Speaks, Unknown};
use crate::names::Revision;

const BOTH: Hooks = Hooks {
    speaks: Speaks::Both,
    ..BEHAVES
};
const MODERN: Hooks = Hooks {
    speaks: Speaks::Modern,
    ..BEHAVES
};

/// Of the legacy era, unless said otherwise.
const fn row(
    name: &'static str,
    does: &'static str,
    subject: &'static str,
    cell: Judgement,
    hooks: Hooks,
) -> Behaviour {
    super::row(Class::Scripts, name, does, cell)
        .at(subject)
        .with(hooks)
}

const fn modern(row: Behaviour) -> Behaviour {
    row.in_revision(Revision::V2026_07_28)
}

/// `initialize`, for a client that falls back where it must not.
const INITIALIZE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"n\",\"version\":\"1\"}}}\n";

const FUTURE: &str = "handshake/version/future";
const UNKNOWN_MEMBERS: &str = "handshake/unknown-members";
const NULLS: &str = "handshake/nulls";
const INITIALIZE_ERROR: &str = "handshake/initialize-error";
const SHUTDOWN: &str = "handshake/shutdown";
const SHUTDOWN_MODERN: &str = "handshake/shutdown-modern";
const UNSUPPORTED: &str = "handshake/discover/unsupported-version";
const NO_MATCH: &str = "handshake/discover/no-match";
const SEVERAL: &str = "handshake/discover/several";
const NOT_FOUND: &str = "handshake/discover/method-not-found";
const OWN_CODE: &str = "handshake/discover/own-code";

pub(super) const FAULTS: &[Behaviour] = &[
    row(
        "goes-on-with-a-future-version",
        "goes on with a version that it cannot know",
        FUTURE,
        VIOLATES_SHOULD,
        Hooks {
            unknown: Unknown::GoesOn,
            ..BEHAVES
        },
    ),
    row(
        "stops-at-unknown-members",
        "ends its process at an answer with members that it does not know",
        UNKNOWN_MEMBERS,
        VIOLATES_SCHEMA,
        Hooks {
            hears: &[("x-capmatrix", Hears::Exits(1))],
            ..BEHAVES
        },
    ),
    row(
        "ends-its-server-by-a-signal",
        "ends its server by a signal while the channel is still open",
        SHUTDOWN,
        VIOLATES_SHOULD,
        Hooks {
            ends: Ends::BySignal,
            ..BEHAVES
        },
    ),
    modern(row(
        "ends-a-modern-server-by-a-signal",
        "ends its server by a signal while the channel is still open, in the modern era",
        SHUTDOWN_MODERN,
        VIOLATES_SHOULD,
        Hooks {
            ends: Ends::BySignal,
            ..MODERN
        },
    )),
    modern(row(
        "falls-back-at-an-unsupported-version",
        "takes a server of the modern era without its version for a legacy one",
        UNSUPPORTED,
        VIOLATES_SHOULD,
        Hooks {
            hears: &[("-32022", Hears::Writes(INITIALIZE))],
            ..MODERN
        },
    )),
    modern(row(
        "falls-back-without-a-match",
        "takes a server that has none of its versions for a legacy one",
        NO_MATCH,
        SPEC_SILENT,
        Hooks {
            hears: &[("2099-01-01", Hears::Writes(INITIALIZE))],
            ..MODERN
        },
    )),
    row(
        "connects-to-nobody",
        "starts the server and never says anything",
        FUTURE,
        UNKNOWN,
        Hooks {
            sends: &[("initialize", Change::Exit(0))],
            ..BEHAVES
        },
    ),
    modern(row(
        "never-discovers",
        "sends `initialize` where the script waits for `server/discover`",
        OWN_CODE,
        UNKNOWN,
        BEHAVES,
    )),
];

/// A sound client, served by that script.
const fn sound(
    name: &'static str,
    does: &'static str,
    subject: &'static str,
    cell: Judgement,
    hooks: Hooks,
) -> Behaviour {
    Behaviour {
        class: Class::Allowed,
        ..row(name, does, subject, cell, hooks)
    }
}

pub(super) const ALLOWED: &[Behaviour] = &[
    sound(
        "stops-at-a-future-version",
        "disconnects from a server whose version it does not know",
        FUTURE,
        WORKS,
        BEHAVES,
    ),
    sound(
        "stops-at-an-error",
        "does not go on after an error in answer to `initialize`",
        INITIALIZE_ERROR,
        WORKS,
        BEHAVES,
    ),
    sound(
        "passes-over-unknown-members",
        "goes on with an answer that has members which it does not know",
        UNKNOWN_MEMBERS,
        WORKS,
        BEHAVES,
    ),
    sound(
        "passes-over-nulls",
        "goes on with an answer that has null in optional members",
        NULLS,
        LENIENT_WITH_SERVER,
        BEHAVES,
    ),
    sound(
        "closes-the-channel-first",
        "closes the channel to end its server",
        SHUTDOWN,
        WORKS,
        BEHAVES,
    ),
    modern(sound(
        "closes-the-channel-of-a-modern-server-first",
        "closes the channel to end its server in the modern era",
        SHUTDOWN_MODERN,
        WORKS,
        MODERN,
    )),
    modern(sound(
        "falls-back-on-method-not-found",
        "speaks both eras, and sends `initialize` to a server that does not know the other",
        NOT_FOUND,
        WORKS,
        BOTH,
    )),
    modern(sound(
        "falls-back-on-any-code",
        "speaks both eras, and sends `initialize` after an error of any code",
        OWN_CODE,
        WORKS,
        BOTH,
    )),
    modern(sound(
        "has-nothing-to-fall-back-on",
        "speaks the modern era alone, and stops at a server that does not",
        OWN_CODE,
        REFUSED,
        MODERN,
    )),
    modern(sound(
        "stops-at-an-unsupported-version",
        "speaks both eras, and does not fall back at a server of the modern one without its version",
        UNSUPPORTED,
        WORKS,
        BOTH,
    )),
    modern(sound(
        "stops-without-a-match",
        "stops at a server that has none of its versions",
        NO_MATCH,
        WORKS,
        BOTH,
    )),
    modern(sound(
        "selects-one-of-several",
        "goes on with the one of a server's versions that it has",
        SEVERAL,
        WORKS,
        BOTH,
    )),
];

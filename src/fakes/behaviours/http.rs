//! What HTTP carries beside the messages: headers, sessions, streams.
//!
//! Owns those rows, faults and what is allowed.

use super::expect::{REFUSED, SPEC_SILENT, UNKNOWN, VIOLATES_MUST, VIOLATES_SHOULD, WORKS};
use super::subject::TITLE;
use super::{Behaviour, Class, Judgement};
use crate::fakes::bridge::Bends;
use crate::fakes::hooks::{BEHAVES, Hooks, Speaks};
use crate::names::Revision;

const GONE: &str = "http/session-not-found";
const DROPPED: &str = "http/dropped-stream";
const DROPPED_MODERN: &str = "http/dropped-stream-modern";
const COMMENTS: &str = "http/comments";
const EVENTS: &str = "http/events-for-list";
const NO_STREAM: &str = "http/no-get-stream";
const EMPTY_400: &str = "http/discover-empty-400";
const OWN_400: &str = "http/discover-400";
const HALF_OPEN: &str = "http/half-open";
const SLOW: &str = "http/slow-first-byte";
const BAD_REQUEST: &str = "http/bad-request";

const BOTH: Hooks = Hooks {
    speaks: Speaks::Both,
    ..BEHAVES
};
const MODERN: Hooks = Hooks {
    speaks: Speaks::Modern,
    ..BEHAVES
};

/// Of the legacy era, unless said otherwise.
const fn row(name: &'static str, does: &'static str, bends: Bends, cell: Judgement) -> Behaviour {
    super::row(Class::Http, name, does, cell)
        .at(TITLE)
        .in_revision(Revision::V2025_11_25)
        .over_http(bends)
}

/// One whose header breaks a rule, whatever its cells are.
const fn head(name: &'static str, does: &'static str, bends: Bends) -> Behaviour {
    row(name, does, bends, WORKS).with_finding(VIOLATES_MUST)
}

const fn allowed(row: Behaviour) -> Behaviour {
    Behaviour {
        class: Class::Allowed,
        ..row
    }
}

const fn modern(row: Behaviour) -> Behaviour {
    row.in_revision(Revision::V2026_07_28).with(MODERN)
}

const fn dual(row: Behaviour) -> Behaviour {
    row.in_revision(Revision::V2026_07_28).with(BOTH)
}

pub(super) const FAULTS: &[Behaviour] = &[
    head(
        "http-no-session-id",
        "leaves its session id out",
        Bends::NoSession,
    ),
    head(
        "http-no-version",
        "leaves the protocol version out of the headers",
        Bends::NoVersion,
    ),
    row(
        "http-other-version",
        "names another version in the header than the negotiated one",
        Bends::OtherVersion,
        WORKS,
    )
    .with_finding(VIOLATES_SHOULD),
    head(
        "http-accepts-json-only",
        "says that it accepts JSON only",
        Bends::AcceptsJson,
    ),
    modern(head(
        "http-modern-no-version",
        "leaves the protocol version out of the headers of a request that names it",
        Bends::NoVersion,
    )),
    modern(head(
        "http-modern-other-version",
        "names another version in the header than in the body",
        Bends::OtherVersion,
    )),
    modern(head(
        "http-modern-accepts-json-only",
        "says that it accepts JSON only, without a session",
        Bends::AcceptsJson,
    )),
    modern(head(
        "http-modern-no-method",
        "leaves `Mcp-Method` out",
        Bends::NoMethod,
    )),
    modern(head(
        "http-modern-no-name",
        "leaves `Mcp-Name` out of a tool call",
        Bends::NoName,
    )),
    modern(head(
        "http-modern-other-name",
        "names another tool in `Mcp-Name` than in the body",
        Bends::OtherName,
    )),
    row(
        "http-keeps-a-dead-session",
        "does not begin a new session when its own is gone",
        Bends::KeepsSession,
        VIOLATES_MUST,
    )
    .at(GONE),
    row(
        "http-never-resumes",
        "does not ask for the rest of a stream that broke",
        Bends::NeverResumes,
        VIOLATES_SHOULD,
    )
    .at(DROPPED),
    row(
        "http-trips-over-comments",
        "ends at a comment in a stream",
        Bends::TripsOverComments,
        VIOLATES_MUST,
    )
    .at(COMMENTS),
    row(
        "http-streams-for-calls-only",
        "cannot read a stream that answers a list",
        Bends::StreamsForCallsOnly,
        VIOLATES_MUST,
    )
    .at(EVENTS),
    row(
        "http-needs-a-stream",
        "ends when the server has no stream to listen on",
        Bends::NeedsStream,
        VIOLATES_MUST,
    )
    .at(NO_STREAM),
];

pub(super) const ALLOWED: &[Behaviour] = &[
    allowed(
        row(
            "http-never-connects",
            "never connects to the server",
            Bends::NeverConnects,
            UNKNOWN,
        )
        .waits(),
    ),
    allowed(
        row(
            "http-sends-half-a-request",
            "sends half a request and keeps the connection open",
            Bends::SendsHalf,
            UNKNOWN,
        )
        .waits(),
    ),
    allowed(
        row(
            "http-waits-for-a-silent-stream",
            "waits for an answer on a stream that stays silent",
            Bends::Nothing,
            SPEC_SILENT,
        )
        .at(HALF_OPEN)
        .waits(),
    ),
    allowed(row(
        "http-behaves",
        "behaves over HTTP, in a session",
        Bends::Nothing,
        WORKS,
    )),
    allowed(modern(row(
        "http-modern-behaves",
        "behaves over HTTP, without a session",
        Bends::Nothing,
        WORKS,
    ))),
    allowed(row(
        "http-never-listens",
        "asks for no stream to listen on",
        Bends::NeverListens,
        WORKS,
    )),
    allowed(row(
        "http-accepts-with-parameters",
        "lists the media types with parameters and in capitals",
        Bends::AcceptsWithParameters,
        WORKS,
    )),
    allowed(modern(row(
        "http-modern-encoded-name",
        "encodes the name of a tool that it need not encode",
        Bends::EncodedName,
        WORKS,
    ))),
    allowed(
        row(
            "http-waits-for-a-first-byte",
            "waits for an answer whose first byte is slow",
            Bends::Nothing,
            WORKS,
        )
        .at(SLOW)
        .waits(),
    ),
    allowed(
        row(
            "http-begins-anew",
            "begins a new session when its own is gone",
            Bends::Nothing,
            WORKS,
        )
        .at(GONE),
    ),
    allowed(
        row(
            "http-resumes",
            "asks for the rest of a stream that broke",
            Bends::Nothing,
            WORKS,
        )
        .at(DROPPED),
    ),
    allowed(modern(
        row(
            "http-modern-asks-again",
            "asks again for what a broken stream lost",
            Bends::Nothing,
            WORKS,
        )
        .at(DROPPED_MODERN),
    )),
    allowed(modern(
        row(
            "http-modern-leaves-it-lost",
            "leaves it to its host to ask again for what a broken stream lost",
            Bends::NeverRepeats,
            REFUSED,
        )
        .at(DROPPED_MODERN),
    )),
    allowed(
        row(
            "http-passes-over-comments",
            "passes over comments in a stream",
            Bends::Nothing,
            WORKS,
        )
        .at(COMMENTS),
    ),
    allowed(
        row(
            "http-needs-no-stream",
            "goes on without a stream to listen on",
            Bends::Nothing,
            WORKS,
        )
        .at(NO_STREAM),
    ),
    allowed(
        row(
            "http-tells-of-a-bad-request",
            "tells its host of a call that was refused",
            Bends::Nothing,
            SPEC_SILENT,
        )
        .at(BAD_REQUEST),
    ),
    allowed(dual(
        row(
            "http-falls-back-at-an-empty-400",
            "initializes after an empty 400",
            Bends::Nothing,
            WORKS,
        )
        .at(EMPTY_400),
    )),
    allowed(dual(
        row(
            "http-falls-back-at-an-error",
            "initializes after 400 with an error of a legacy server",
            Bends::Nothing,
            WORKS,
        )
        .at(OWN_400),
    )),
    allowed(modern(
        row(
            "http-modern-only-stops",
            "stops at a server of the legacy era, which it does not speak",
            Bends::Nothing,
            REFUSED,
        )
        .at(OWN_400),
    )),
];

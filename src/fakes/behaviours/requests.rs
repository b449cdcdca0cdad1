//! Faults in what every request of the modern era carries (2026-07-28 basic/index `_meta`), and clients and servers that have no
//! era in common.
//!
//! Owns those rows.

use super::expect::{NOT_DECLARED, UNKNOWN, VIOLATES_MUST, VIOLATES_SCHEMA, WORKS};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::Edit::{Remove, Set};
use crate::fakes::hooks::{Again, BEHAVES, Change, Edit, Hooks, Speaks};
use crate::names::Revision;

/// The sound client of the modern era.
const MODERN: Hooks = Hooks {
    speaks: Speaks::Modern,
    ..BEHAVES
};

const fn row(name: &'static str, does: &'static str, cell: Judgement, hooks: Hooks) -> Behaviour {
    super::row(Class::Rounds, name, does, cell)
        .with(hooks)
        .in_revision(Revision::V2026_07_28)
}

/// Makes the call again with these edits.
const fn again(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    edits: &'static [Edit],
) -> Behaviour {
    let again = Again::Edited(edits);
    row(name, does, cell, Hooks { again, ..MODERN })
}

/// Is sound at its subject; something is found in what it sends.
const fn sends(
    name: &'static str,
    does: &'static str,
    finding: Judgement,
    sends: &'static [(&'static str, Change)],
) -> Behaviour {
    row(name, does, WORKS, Hooks { sends, ..MODERN }).with_finding(finding)
}

/// A request that stays open for as long as the session lasts.
const LISTEN: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"n\",\"version\":\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n";

const META: &str = "/params/_meta";

pub(super) const ROWS: &[Behaviour] = &[
    again(
        "no-meta-in-the-second-call",
        "calls again without `_meta`",
        WORKS,
        &[Remove(META)],
    )
    .with_finding(VIOLATES_MUST),
    sends(
        "no-meta",
        "has no `_meta` in any request",
        VIOLATES_MUST,
        &[("", Change::Edit(Remove(META)))],
    )
    .getting(NOT_DECLARED),
    sends(
        "no-meta-in-discover",
        "has no `_meta` in `server/discover`",
        VIOLATES_MUST,
        &[("server/discover", Change::Edit(Remove(META)))],
    ),
    sends(
        "meta-without-a-version",
        "names no protocol version in its calls",
        VIOLATES_MUST,
        &[(
            "tools/call",
            Change::Edit(Remove(
                "/params/_meta/io.modelcontextprotocol~1protocolVersion",
            )),
        )],
    ),
    sends(
        "meta-version-is-a-number",
        "names its protocol version in a number in its calls",
        VIOLATES_SCHEMA,
        &[(
            "tools/call",
            Change::Edit(Set(
                "/params/_meta/io.modelcontextprotocol~1protocolVersion",
                "20260728",
            )),
        )],
    ),
    sends(
        "meta-without-capabilities",
        "declares nothing in its calls",
        VIOLATES_MUST,
        &[(
            "tools/call",
            Change::Edit(Remove(
                "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
            )),
        )],
    )
    .getting(NOT_DECLARED),
    sends(
        "meta-capabilities-array",
        "declares its capabilities in an array when it lists the tools",
        VIOLATES_SCHEMA,
        &[(
            "tools/list",
            Change::Edit(Set(
                "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
                r#"["elicitation"]"#,
            )),
        )],
    ),
    sends(
        "meta-elicitation-without-a-mode",
        "declares elicitation with a mode that there is not, and no other, when it lists the tools",
        VIOLATES_MUST,
        &[(
            "tools/list",
            Change::Edit(Set(
                "/params/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation",
                r#"{"foo":{}}"#,
            )),
        )],
    ),
    sends(
        "uses-an-id-that-is-open",
        "sends a request under the id of one that is still open",
        VIOLATES_MUST,
        // Before each call, the control's and the subject's.
        &[("tools/call", Change::Before(LISTEN))],
    ),
    row(
        "legacy-at-a-modern-server",
        "speaks the legacy era alone to a server of the modern one",
        UNKNOWN,
        BEHAVES,
    ),
    row(
        "modern-at-a-legacy-server",
        "speaks the modern era alone to a server of the legacy one",
        UNKNOWN,
        MODERN,
    )
    .in_revision(Revision::V2025_11_25),
];

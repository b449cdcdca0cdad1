//! What a client may do in the modern era: nobody is to be blamed for any of it.
//!
//! Owns those rows. The first few are sound clients, each where the server asks in another way.

use super::expect::{NOT_DECLARED, REFUSED, WORKS};
use super::subject::{BARE, NO_STATE, ODD_STATE, SECOND_ROUND, STATE_FIRST, TITLE, TWO_INPUTS};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::Edit::{Remove, Set};
use crate::fakes::hooks::{Again, BEHAVES, Change, Hooks, Meets, Scope, Speaks, Step};
use crate::names::Revision;

/// The sound client of the modern era.
const MODERN: Hooks = Hooks {
    speaks: Speaks::Modern,
    ..BEHAVES
};

const fn row(name: &'static str, does: &'static str, hooks: Hooks) -> Behaviour {
    super::row(Class::Allowed, name, does, WORKS)
        .with(hooks)
        .in_revision(Revision::V2026_07_28)
}

/// Makes the call again in this way.
const fn again(name: &'static str, does: &'static str, again: Again) -> Behaviour {
    row(name, does, Hooks { again, ..MODERN })
}

/// Does the same at every call, the control included: a policy.
const fn policy(name: &'static str, does: &'static str, meets: Meets) -> Behaviour {
    let hooks = Hooks {
        meets,
        scope: Scope::EveryCall,
        ..MODERN
    };
    getting(REFUSED, row(name, does, hooks))
}

const fn sends(
    name: &'static str,
    does: &'static str,
    sends: &'static [(&'static str, Change)],
) -> Behaviour {
    row(name, does, Hooks { sends, ..MODERN })
}

const fn getting(cell: Judgement, row: Behaviour) -> Behaviour {
    Behaviour { cell, ..row }
}

const CAPABILITIES: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";

/// A request of its own.
const DISCOVER: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"server/discover\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"n\",\"version\":\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n";

pub(super) const ROWS: &[Behaviour] = &[
    row(
        "behaves-in-both-eras",
        "speaks both eras, to a server of the modern one",
        Hooks {
            speaks: Speaks::Both,
            ..BEHAVES
        },
    )
    .at(TITLE),
    row(
        "behaves-in-the-modern-era",
        "speaks the modern era alone, and calls again with the answer",
        MODERN,
    )
    .at(TITLE),
    row(
        "behaves-without-a-state",
        "calls again without a state where none was given",
        MODERN,
    )
    .at(NO_STATE),
    row(
        "behaves-with-an-odd-state",
        "calls again with a state of odd characters as it was given",
        MODERN,
    )
    .at(ODD_STATE),
    row(
        "behaves-after-a-state-alone",
        "calls again at once where only a state was given",
        MODERN,
    )
    .at(STATE_FIRST),
    row(
        "behaves-with-two-inputs",
        "presents two requests of one result, and calls again with both answers",
        MODERN,
    )
    .at(TWO_INPUTS),
    row(
        "behaves-in-the-second-round",
        "calls again as often as it is asked",
        MODERN,
    )
    .at(SECOND_ROUND),
    policy(
        "declines-every-input",
        "calls again with a decline at once, because nobody is there",
        Meets::Answers(r#"{"action":"decline"}"#),
    ),
    policy(
        "cancels-every-input",
        "calls again with a cancel at once, because nobody is there",
        Meets::Answers(r#"{"action":"cancel"}"#),
    ),
    policy(
        "ends-every-call-that-asks",
        "ends every call whose result asks for input",
        Meets::Rejects("null"),
    ),
    policy(
        "ends-the-plainest-call-that-asks",
        "ends the call of the control, whose result asks for input",
        Meets::Rejects("null"),
    )
    .at(BARE),
    again(
        "unique-id-again",
        "calls again under an id that is a UUID",
        Again::Does(|round, answers| {
            let id = r#""0190c2f4-6d3e-7c1a-9b55-2f1f0e8c7a11""#;
            vec![written(&round.again(id, answers))]
        }),
    ),
    again(
        "large-id-again",
        "calls again under a large number",
        Again::Does(|round, answers| vec![written(&round.again("9007199254740991", answers))]),
    ),
    again(
        "more-meta-again",
        "calls again with more in `_meta` than it had before",
        Again::Edited(&[
            Set("/params/_meta/progressToken", r#""own-token""#),
            Set("/params/_meta/com.example~1trace", r#"{"span":"7"}"#),
        ]),
    ),
    again(
        "other-member-order-again",
        "calls again with the members of `params` in another order",
        Again::Does(|round, answers| {
            let message: serde_json::Value =
                serde_json::from_str(&round.again(&round.next_id, answers)).unwrap_or_default();
            let turned: serde_json::Map<_, _> = match &message["params"] {
                serde_json::Value::Object(members) => members.clone().into_iter().rev().collect(),
                _ => serde_json::Map::new(),
            };
            let mut message = message;
            message["params"] = turned.into();
            vec![written(&message.to_string())]
        }),
    ),
    again(
        "other-input-order",
        "calls again with its inputs in another order than they were asked for",
        Again::Does(|round, answers| {
            let mut turned = round.clone();
            turned.inputs.reverse();
            let answers: Vec<String> = answers.iter().rev().cloned().collect();
            vec![written(&turned.again(&round.next_id, &answers))]
        }),
    )
    .at(TWO_INPUTS),
    again(
        "one-input-too-many",
        "calls again with an input that was not asked for beside the one that was",
        Again::Edited(&[Set("/params/inputResponses/more", r#"{"action":"cancel"}"#)]),
    ),
    again(
        "more-members-again",
        "calls again with a member in `params` that no revision defines",
        Again::Edited(&[Set("/params/com.example~1attempt", "2")]),
    ),
    sends(
        "string-ids-in-the-modern-era",
        "uses strings as the ids of its requests in the modern era",
        &[("", Change::StringId)],
    ),
    sends(
        "discovers-twice",
        "asks for what the server supports two times",
        &[("tools/list", Change::Before(DISCOVER))],
    ),
    sends(
        "uses-answered-ids-again",
        "uses an id again once the request before was answered",
        &[
            ("tools/list", Change::Before(DISCOVER)),
            ("tools/call", Change::Before(DISCOVER)),
        ],
    ),
    sends(
        "no-client-info-in-meta",
        "does not say what it is, as it may be configured not to",
        &[(
            "",
            Change::Edit(Remove("/params/_meta/io.modelcontextprotocol~1clientInfo")),
        )],
    ),
    sends(
        "elicitation-in-short-in-meta",
        "declares elicitation with an empty object, which means forms",
        &[(
            "tools/call",
            Change::Edit(Set(
                "/params/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation",
                "{}",
            )),
        )],
    ),
    getting(
        NOT_DECLARED,
        sends(
            "declares-nothing-in-meta",
            "declares no capability in the modern era",
            &[("", Change::Edit(Set(CAPABILITIES, "{}")))],
        ),
    ),
];

fn written(line: &str) -> Step {
    Step::Write(format!("{line}\n").into_bytes())
}

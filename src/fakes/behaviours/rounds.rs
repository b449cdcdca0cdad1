//! Faults in calls that are made again (2026-07-28 basic/patterns/mrtr Client Requirements), and clients that do not call
//! again at all.
//!
//! Owns those rows. All are clients of the modern era alone, in sessions of it.

use serde_json::Value;

use super::expect::{
    ALTERED, BREAKS_SCHEMA, LENIENT, SPEC_SILENT, VIOLATES_MUST, VIOLATES_SCHEMA, VIOLATES_SHOULD,
    WORKS,
};
use super::subject::{NO_STATE, NUMBER, ODD_STATE, SECOND_ROUND, TWO_INPUTS};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::Edit::{Remove, Set};
use crate::fakes::hooks::{
    Again, BEHAVES, Death, Edit, Hooks, Meets, Replies, Shows, Speaks, Step, edited,
};
use crate::fakes::rounds::Round;
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

/// Has the inputs, and does this with them.
const fn does(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    steps: fn(&Round, &[String]) -> Vec<Step>,
) -> Behaviour {
    let again = Again::Does(steps);
    row(name, does, cell, Hooks { again, ..MODERN })
}

/// Makes the call again with this of the answer.
const fn answers(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    edits: &'static [Edit],
) -> Behaviour {
    let replies = Replies::Edited(edits);
    row(name, does, cell, Hooks { replies, ..MODERN })
}

/// Does this when the result arrives.
const fn meets(name: &'static str, does: &'static str, cell: Judgement, meets: Meets) -> Behaviour {
    row(name, does, cell, Hooks { meets, ..MODERN })
}

const STATE: &str = "/params/requestState";
const INPUTS: &str = "/params/inputResponses";

pub(super) const ROWS: &[Behaviour] = &[
    again(
        "state-lost",
        "calls again without the state",
        VIOLATES_MUST,
        &[Remove(STATE)],
    ),
    again(
        "state-of-its-own",
        "calls again with another state",
        VIOLATES_MUST,
        &[Set(STATE, r#""another one""#)],
    ),
    again(
        "state-null",
        "calls again with null as the state",
        VIOLATES_MUST,
        &[Set(STATE, "null")],
    ),
    again(
        "state-added",
        "calls again with a state where none was given",
        VIOLATES_MUST,
        &[Set(STATE, r#""""#)],
    )
    .at(NO_STATE),
    again(
        "state-of-the-round-before",
        "calls again with the first round's state in the second round too",
        VIOLATES_MUST,
        &[Set(STATE, r#""mrtr/second-round: round 1""#)],
    )
    .at(SECOND_ROUND),
    does(
        "state-trimmed",
        "takes the white space at both ends off the state",
        VIOLATES_MUST,
        |round, answers| with_state(round, answers, |state| state.trim().to_owned()),
    )
    .at(ODD_STATE),
    does(
        "state-spaces-joined",
        "makes one space of all white space in the state",
        VIOLATES_MUST,
        |round, answers| {
            with_state(round, answers, |state| {
                state.split_whitespace().collect::<Vec<_>>().join(" ")
            })
        },
    )
    .at(ODD_STATE),
    does(
        "state-unescaped",
        "takes the escapes of HTML and of URLs in the state for what they stand for",
        VIOLATES_MUST,
        |round, answers| {
            with_state(round, answers, |state| {
                state.replace("&amp;", "&").replace("%41", "A")
            })
        },
    )
    .at(ODD_STATE),
    does(
        "state-composed",
        "makes one character of a letter and its accent in the state",
        VIOLATES_MUST,
        |round, answers| with_state(round, answers, |state| state.replace("e\u{301}", "\u{e9}")),
    )
    .at(ODD_STATE),
    does(
        "state-without-controls",
        "leaves the control characters out of the state",
        VIOLATES_MUST,
        |round, answers| with_state(round, answers, |state| state.replace(char::is_control, "")),
    )
    .at(ODD_STATE),
    does(
        "same-id-again",
        "calls again under the id of the first call",
        VIOLATES_MUST,
        |round, answers| vec![written(&round.again(&round.id, answers))],
    ),
    again(
        "no-inputs",
        "calls again with the state alone",
        VIOLATES_MUST,
        &[Remove(INPUTS)],
    ),
    again(
        "inputs-empty",
        "calls again with no input in the inputs",
        VIOLATES_MUST,
        &[Set(INPUTS, "{}")],
    ),
    again(
        "inputs-array",
        "calls again with its inputs in an array",
        VIOLATES_MUST,
        &[Set(
            INPUTS,
            r#"[{"action":"accept","content":{"value":"hello"}}]"#,
        )],
    ),
    again(
        "input-null",
        "calls again with null as the input",
        VIOLATES_SCHEMA,
        &[Set("/params/inputResponses/probe", "null")],
    ),
    does(
        "input-under-another-key",
        "calls again with the input under a key of its own",
        VIOLATES_MUST,
        |round, answers| {
            let line = round.again(&round.next_id, answers);
            vec![written(
                &line.replace(r#""probe":{"action""#, r#""0":{"action""#),
            )]
        },
    ),
    again(
        "one-input-of-two",
        "calls again with the first of two inputs alone",
        VIOLATES_MUST,
        &[Remove("/params/inputResponses/probe")],
    )
    .at(TWO_INPUTS),
    again(
        "the-other-input-of-two",
        "calls again with the second of two inputs alone",
        VIOLATES_MUST,
        &[Remove("/params/inputResponses/other")],
    )
    .at(TWO_INPUTS),
    does(
        "input-in-an-envelope",
        "calls again with a JSON-RPC reply in the place of the input",
        VIOLATES_SCHEMA,
        |round, answers| {
            let wrap =
                |answer: &String| format!(r#"{{"jsonrpc":"2.0","id":"probe","result":{answer}}}"#);
            let wrapped: Vec<String> = answers.iter().map(wrap).collect();
            vec![written(&round.again(&round.next_id, &wrapped))]
        },
    ),
    does(
        "replies-in-json-rpc",
        "writes a JSON-RPC reply in place of calling again, and ends the call",
        BREAKS_SCHEMA,
        |_, answers| vec![reply(answers), Step::GiveUp],
    )
    .with_finding(VIOLATES_MUST),
    does(
        "replies-in-json-rpc-too",
        "writes a JSON-RPC reply, and calls again as well",
        WORKS,
        |round, answers| {
            vec![
                reply(answers),
                written(&round.again(&round.next_id, answers)),
            ]
        },
    )
    .with_finding(VIOLATES_MUST),
    does(
        "calls-again-twice",
        "calls again two times, under two ids",
        SPEC_SILENT,
        |round, answers| {
            vec![
                written(&round.again(&round.next_id, answers)),
                written(&round.again(r#""own-second""#, answers)),
            ]
        },
    ),
    again(
        "calls-anew",
        "calls once more as if nothing had been asked",
        BREAKS_SCHEMA,
        &[Remove(STATE), Remove(INPUTS)],
    ),
    does(
        "does-not-call-again",
        "presents the request, and ends the call with an error when it has the answer",
        BREAKS_SCHEMA,
        |_, _| vec![Step::GiveUp],
    ),
    meets(
        "ends-the-call-unseen",
        "ends the call with an error and shows the request to nobody",
        BREAKS_SCHEMA,
        Meets::Rejects("null"),
    ),
    does(
        "keeps-the-call",
        "presents the request, and neither calls again nor ends the call",
        BREAKS_SCHEMA,
        |_, _| Vec::new(),
    )
    .waits(),
    meets(
        "keeps-the-call-unseen",
        "shows the request to nobody, and neither calls again nor ends the call",
        BREAKS_SCHEMA,
        Meets::Does(|_| Vec::new()),
    )
    .waits(),
    meets(
        "exits-at-a-result-that-asks",
        "ends its process with code 7 at a result that asks for input",
        BREAKS_SCHEMA,
        Meets::Does(|_| vec![Step::Die(Death::Exit(7))]),
    ),
    does(
        "is-killed-before-it-calls-again",
        "presents the request, and is killed when it has the answer",
        BREAKS_SCHEMA,
        |_, _| vec![Step::Die(Death::Kill)],
    ),
    meets(
        "declines-one-by-itself",
        "calls again with a decline, and shows the request to nobody",
        BREAKS_SCHEMA,
        Meets::Answers(r#"{"action":"decline"}"#),
    ),
    meets(
        "cancels-one-by-itself",
        "calls again with a cancel, and shows the request to nobody",
        BREAKS_SCHEMA,
        Meets::Answers(r#"{"action":"cancel"}"#),
    ),
    answers(
        "input-action-ok",
        "calls again with the action `ok`",
        VIOLATES_SCHEMA,
        &[Set("/action", r#""ok""#)],
    ),
    answers(
        "input-without-an-action",
        "calls again with an input that has no action",
        VIOLATES_SCHEMA,
        &[Remove("/action")],
    ),
    answers(
        "input-without-content",
        "calls again and accepts without content, where the form requires some",
        VIOLATES_SHOULD,
        &[Remove("/content")],
    ),
    answers(
        "input-too-short",
        "calls again with content that is shorter than the form lets it be",
        VIOLATES_SHOULD,
        &[Set("/content/value", r#""h""#)],
    ),
    answers(
        "input-number-for-a-string",
        "calls again with a number where the form has a string",
        VIOLATES_SHOULD,
        &[Set("/content/value", "5")],
    ),
    answers(
        "input-content-is-a-string",
        "calls again with content that is a string",
        VIOLATES_SCHEMA,
        &[Set("/content", r#""hello""#)],
    ),
    answers(
        "input-value-is-an-object",
        "calls again with a value that is an object",
        VIOLATES_SCHEMA,
        &[Set("/content/value", r#"{"text":"hello"}"#)],
    ),
    answers(
        "input-content-null",
        "calls again with null as the content",
        LENIENT,
        &[Set("/content", "null")],
    ),
    answers(
        "input-number-changed",
        "calls again with another number than was given",
        ALTERED,
        &[Set("/content/value", "1")],
    )
    .at(NUMBER),
    row(
        "input-message-lost",
        "presents a request of a result without its message",
        ALTERED,
        Hooks {
            shows: Shows::Edited(&[Remove("/message")]),
            ..MODERN
        },
    ),
];

fn written(line: &str) -> Step {
    Step::Write(format!("{line}\n").into_bytes())
}

/// As a client of the legacy era replies, but that the result is one of the modern era.
fn reply(answers: &[String]) -> Step {
    let answer = answers.first().map_or("{}", String::as_str);
    let result = edited(answer, &[Set("/resultType", r#""complete""#)]);
    written(&format!(
        r#"{{"jsonrpc":"2.0","id":"probe","result":{result}}}"#
    ))
}

/// Calls again with what `change` makes of the state.
fn with_state(round: &Round, answers: &[String], change: fn(&str) -> String) -> Vec<Step> {
    let given: Option<String> = round
        .state
        .as_ref()
        .and_then(|state| serde_json::from_str(state).ok());
    let mut changed = round.clone();
    changed.state = given.map(|given| Value::from(change(&given)).to_string());
    vec![written(&changed.again(&round.next_id, answers))]
}

//! Faults in the reply to an elicitation: its action, its content, and refusals of what is valid.
//!
//! Owns those rows. The envelope around each is sound.

use super::expect::{
    BREAKS_SCHEMA, LENIENT, REFUSED, VIOLATES_SCHEMA as SCHEMA, VIOLATES_SHOULD as SHOULD,
};
use super::subject::{BOOLEAN, DESCRIPTION, EMAIL, ENUM, INTEGER, MULTI, TITLE};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::Edit::{Remove, Set};
use crate::fakes::hooks::{BEHAVES, Edit, Hooks, Meets, Replies, Scope};

const fn row(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    edits: &'static [Edit],
) -> Behaviour {
    super::row(Class::Reply, name, does, cell).with(Hooks {
        replies: Replies::Edited(edits),
        ..BEHAVES
    })
}

/// Answers without having shown the request to anybody.
const fn unseen(name: &'static str, does: &'static str, meets: Meets) -> Behaviour {
    super::row(Class::Reply, name, does, BREAKS_SCHEMA).with(Hooks { meets, ..BEHAVES })
}

/// A policy, whose null content is then a finding of the session.
const fn null_beside_a_policy(
    name: &'static str,
    does: &'static str,
    answer: &'static str,
) -> Behaviour {
    let row = super::row(Class::Reply, name, does, REFUSED).with(Hooks {
        meets: Meets::Answers(answer),
        scope: Scope::EveryCall,
        ..BEHAVES
    });
    Behaviour {
        finding: Some(LENIENT),
        ..row
    }
}

pub(super) const ROWS: &[Behaviour] = &[
    row(
        "no-action",
        "replies without an action",
        SCHEMA,
        &[Remove("/action")],
    ),
    row(
        "action-is-null",
        "replies with null as the action",
        SCHEMA,
        &[Set("/action", "null")],
    ),
    row(
        "action-is-a-number",
        "replies with a number as the action",
        SCHEMA,
        &[Set("/action", "1")],
    ),
    row(
        "unknown-action",
        "replies with the action `reject`, which there is not",
        SCHEMA,
        &[Set("/action", r#""reject""#), Remove("/content")],
    ),
    row(
        "capital-action",
        "replies with the action `Accept`, with a capital",
        SCHEMA,
        &[Set("/action", r#""Accept""#)],
    ),
    row(
        "content-is-an-array",
        "accepts with an array of values as the content",
        SCHEMA,
        &[Set("/content", r#"["hello"]"#)],
    ),
    row(
        "content-is-a-string",
        "accepts with JSON in a string as the content",
        SCHEMA,
        &[Set("/content", r#""{\"value\":\"hello\"}""#)],
    ),
    row(
        "content-is-a-number",
        "accepts with a number as the content",
        SCHEMA,
        &[Set("/content", "1")],
    ),
    row(
        "content-member-is-null",
        "accepts with null as the value",
        SCHEMA,
        &[Set("/content/value", "null")],
    ),
    row(
        "content-member-is-an-object",
        "accepts with an object around the value",
        SCHEMA,
        &[Set("/content/value", r#"{"value":"hello"}"#)],
    ),
    row(
        "content-member-is-an-array-of-numbers",
        "accepts with an array of numbers as the value",
        SCHEMA,
        &[Set("/content/value", "[1,2]")],
    ),
    row(
        "meta-is-an-array",
        "has an array as `_meta` in its result",
        SCHEMA,
        &[Set("/_meta", "[]")],
    ),
    row(
        "accepts-without-content",
        "replies `accept` and leaves the content out, although the schema requires a property",
        SHOULD,
        &[Remove("/content")],
    ),
    row(
        "accepts-empty-content",
        "accepts with empty content, although the schema requires a property",
        SHOULD,
        &[Set("/content", "{}")],
    ),
    row(
        "accepts-another-member",
        "accepts with a member of another name in the place of the required one",
        SHOULD,
        &[Set("/content", r#"{"Value":"hello"}"#)],
    ),
    row(
        "accepts-invalid-content",
        "replies `accept` with content of another type than the schema asks for",
        SHOULD,
        &[Set("/content/value", "5")],
    ),
    row(
        "accepts-too-short",
        "accepts a text that is shorter than the schema allows",
        SHOULD,
        &[Set("/content/value", r#""he""#)],
    ),
    row(
        "accepts-too-long",
        "accepts a text that is longer than the schema allows",
        SHOULD,
        &[Set(
            "/content/value",
            r#""hello hello hello hello hello hello hello hello hello""#,
        )],
    ),
    row(
        "accepts-no-choice",
        "accepts a value that the enum does not have",
        SHOULD,
        &[Set("/content/value", r#""Purple""#)],
    )
    .at(ENUM),
    row(
        "accepts-choice-in-lower-case",
        "accepts a value of the enum in lower case",
        SHOULD,
        &[Set("/content/value", r#""green""#)],
    )
    .at(ENUM),
    row(
        "accepts-too-many",
        "accepts more choices than the schema allows",
        SHOULD,
        &[Set("/content/value", r#"["Red","Green","Blue"]"#)],
    )
    .at(MULTI),
    row(
        "accepts-one-for-many",
        "accepts a single choice where the schema asks for an array",
        SHOULD,
        &[Set("/content/value", r#""Green""#)],
    )
    .at(MULTI),
    row(
        "accepts-integer-as-text",
        "accepts an integer as a string",
        SHOULD,
        &[Set("/content/value", r#""7""#)],
    )
    .at(INTEGER),
    row(
        "accepts-fraction",
        "accepts a fraction where the schema asks for an integer",
        SHOULD,
        &[Set("/content/value", "7.5")],
    )
    .at(INTEGER),
    row(
        "accepts-boolean-as-text",
        "accepts a boolean as a string",
        SHOULD,
        &[Set("/content/value", r#""true""#)],
    )
    .at(BOOLEAN),
    row(
        "accepts-null-content",
        "accepts with null as the content",
        LENIENT,
        &[Set("/content", "null")],
    ),
    // Of everything, because no probe's own answer is a decline that could be passed on.
    null_beside_a_policy(
        "declines-with-null-content",
        "declines everything by itself, with null as the content",
        r#"{"action":"decline","content":null}"#,
    ),
    null_beside_a_policy(
        "cancels-with-null-content",
        "cancels everything by itself, with null as the content",
        r#"{"action":"cancel","content":null}"#,
    ),
    unseen(
        "rejects-title",
        "answers a schema that has a top-level title with a JSON-RPC error",
        Meets::Rejects(r#"{"code":-32602,"message":"requestedSchema: unknown member `title`"}"#),
    )
    .at(TITLE),
    unseen(
        "rejects-description",
        "cancels a schema that has a top-level description, and shows it to nobody",
        Meets::Answers(r#"{"action":"cancel"}"#),
    )
    .at(DESCRIPTION),
    unseen(
        "declines-format",
        "declines a property that has a format, and shows it to nobody",
        Meets::Answers(r#"{"action":"decline"}"#),
    )
    .at(EMAIL),
    super::row(
        Class::Reply,
        "errors-once-answered",
        "presents the request, and answers it with a JSON-RPC error when it has the answer",
        BREAKS_SCHEMA,
    )
    .with(Hooks {
        replies: Replies::Line(
            r#"{"jsonrpc":"2.0","id":@id,"error":{"code":-32603,"message":"internal error"}}"#,
        ),
        ..BEHAVES
    }),
];

//! Faults in what is presented of a request, and in what arrives of an answer.
//!
//! Owns those rows. Each reply is valid, also against the requested schema: what is wrong is only that it is not what was
//! asked, or not what was answered.

use super::expect::{ALTERED, ALTERED_FREELY};
use super::subject::{
    CLOSED, DEFAULT, EMAIL, ENUM, ENUM_TITLED, INTEGER, MULTI, NUMBER, OPTIONAL, PATTERN,
    PROPERTY_TEXTS, TITLE, UNKNOWN_KEYWORD, URL,
};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::Edit::{Remove, Set};
use crate::fakes::hooks::{BEHAVES, Edit, Hooks, Replies, Shows};

/// Presents something else than was sent.
const fn shows(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    edits: &'static [Edit],
) -> Behaviour {
    super::row(Class::Fidelity, name, does, cell).with(Hooks {
        shows: Shows::Edited(edits),
        ..BEHAVES
    })
}

/// Replies something else than was answered.
const fn replies(name: &'static str, does: &'static str, edits: &'static [Edit]) -> Behaviour {
    super::row(Class::Fidelity, name, does, ALTERED).with(Hooks {
        replies: Replies::Edited(edits),
        ..BEHAVES
    })
}

const VALUE_TITLE: &str = "/requestedSchema/properties/value/title";
const VALUE_DESCRIPTION: &str = "/requestedSchema/properties/value/description";

pub(super) const ROWS: &[Behaviour] = &[
    shows(
        "alters-schema",
        "presents the request without the titles and descriptions of its properties",
        ALTERED,
        &[Remove(VALUE_TITLE), Remove(VALUE_DESCRIPTION)],
    )
    .at(PROPERTY_TEXTS),
    shows(
        "drops-property-title",
        "presents a property without its title",
        ALTERED,
        &[Remove(VALUE_TITLE)],
    )
    .at(PROPERTY_TEXTS),
    shows(
        "drops-property-description",
        "presents a property without its description",
        ALTERED,
        &[Remove(VALUE_DESCRIPTION)],
    )
    .at(PROPERTY_TEXTS),
    shows(
        "drops-default",
        "presents a property without its default",
        ALTERED,
        &[Remove("/requestedSchema/properties/value/default")],
    )
    .at(DEFAULT),
    shows(
        "changes-default",
        "presents a property with another default",
        ALTERED,
        &[Set(
            "/requestedSchema/properties/value/default",
            r#""Jane Roe""#,
        )],
    )
    .at(DEFAULT),
    shows(
        "reorders-enum",
        "presents an enum's values in another order",
        ALTERED,
        &[Set(
            "/requestedSchema/properties/value/enum",
            r#"["Blue","Green","Red"]"#,
        )],
    )
    .at(ENUM),
    shows(
        "drops-enum-value",
        "presents an enum without its last value",
        ALTERED,
        &[Remove("/requestedSchema/properties/value/enum/2")],
    )
    .at(ENUM),
    shows(
        "drops-choice-title",
        "presents a titled choice without its title",
        ALTERED,
        &[Remove("/requestedSchema/properties/value/oneOf/0/title")],
    )
    .at(ENUM_TITLED),
    shows(
        "drops-required",
        "presents a required property as an optional one",
        ALTERED,
        &[Remove("/requestedSchema/required")],
    ),
    shows(
        "drops-length",
        "presents a property without its least length",
        ALTERED,
        &[Remove("/requestedSchema/properties/value/minLength")],
    ),
    shows(
        "drops-format",
        "presents a property without its format",
        ALTERED,
        &[Remove("/requestedSchema/properties/value/format")],
    )
    .at(EMAIL),
    shows(
        "changes-type",
        "presents an integer as a string",
        ALTERED,
        &[Set("/requestedSchema/properties/value/type", r#""string""#)],
    )
    .at(INTEGER),
    shows(
        "drops-property",
        "presents a form without its property",
        ALTERED,
        &[Remove("/requestedSchema/properties/value")],
    ),
    shows(
        "adds-property",
        "presents a form with a property that nobody asked for",
        ALTERED,
        &[Set(
            "/requestedSchema/properties/remember",
            r#"{"type":"boolean"}"#,
        )],
    ),
    shows(
        "drops-schema",
        "presents the message and no form",
        ALTERED,
        &[Remove("/requestedSchema")],
    ),
    shows(
        "drops-message",
        "presents the form and no message",
        ALTERED,
        &[Remove("/message")],
    ),
    shows(
        "changes-message",
        "presents a message of its own",
        ALTERED,
        &[Set("/message", r#""A server asks for input""#)],
    ),
    shows(
        "changes-url",
        "presents another URL",
        ALTERED,
        &[Set("/url", r#""https://example.com/""#)],
    )
    .at(URL),
    shows(
        "drops-top-level-title",
        "presents a form without its top-level title, which no revision defines",
        ALTERED_FREELY,
        &[Remove("/requestedSchema/title")],
    )
    .at(TITLE),
    shows(
        "drops-pattern",
        "presents a property without its pattern, which no revision defines",
        ALTERED_FREELY,
        &[Remove("/requestedSchema/properties/value/pattern")],
    )
    .at(PATTERN),
    shows(
        "drops-additional-properties",
        "presents a form without its additionalProperties, which no revision defines",
        ALTERED_FREELY,
        &[Remove("/requestedSchema/additionalProperties")],
    )
    .at(CLOSED),
    shows(
        "drops-unknown-keyword",
        "presents a form without a keyword that no revision defines",
        ALTERED_FREELY,
        &[Remove("/requestedSchema/x-probe")],
    )
    .at(UNKNOWN_KEYWORD),
    replies(
        "changes-value",
        "replies with another text than was answered",
        &[Set("/content/value", r#""hallo""#)],
    ),
    replies(
        "cuts-value",
        "replies with the answered text cut short",
        &[Set("/content/value", r#""hell""#)],
    ),
    replies(
        "pads-value",
        "replies with white space around the answered text",
        &[Set("/content/value", r#"" hello ""#)],
    ),
    replies(
        "capitalises-value",
        "replies with the answered text in capitals",
        &[Set("/content/value", r#""HELLO""#)],
    ),
    replies(
        "rounds-number",
        "replies with the answered number rounded",
        &[Set("/content/value", "42")],
    )
    .at(NUMBER),
    replies(
        "changes-choice",
        "replies with another choice than was answered",
        &[Set("/content/value", r#""Red""#)],
    )
    .at(ENUM),
    replies(
        "drops-choice",
        "replies with one of two choices that were answered",
        &[Remove("/content/value/1")],
    )
    .at(MULTI),
    replies(
        "answers-with-default",
        "replies with the default in the place of what was answered",
        &[Set("/content/value", r#""John Doe""#)],
    )
    .at(DEFAULT),
    replies(
        "drops-optional-value",
        "replies without an optional value that was answered",
        &[Remove("/content/value")],
    )
    .at(OPTIONAL),
    replies(
        "drops-optional-content",
        "replies without content, where all that was answered is optional",
        &[Remove("/content")],
    )
    .at(OPTIONAL),
    replies(
        "declines-for-the-user",
        "replies `decline` where `accept` was answered",
        &[Set("/action", r#""decline""#), Remove("/content")],
    ),
    replies(
        "cancels-for-the-user",
        "replies `cancel` where `accept` was answered",
        &[Set("/action", r#""cancel""#), Remove("/content")],
    ),
];

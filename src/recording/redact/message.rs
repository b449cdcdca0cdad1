//! What of a message is kept.
//!
//! Owns the parts that are never the same twice: ids, `_meta`, tokens. They are replaced where they stand, so that the
//! rest of a line keeps its bytes, however odd it is. It must not know cells.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::super::json_text::{Token, Tokens, scalar, string};
use super::super::line::{Line, id_key};
use super::super::{Dir, Wire};

/// What stands for something that is hidden.
const HIDDEN: &str = "<redacted>";

/// New numbers for JSON-RPC ids: one space for the client's requests, one for the server's, per server.
#[derive(Default)]
pub(super) struct Ids(HashMap<String, [HashMap<String, usize>; 2]>);

impl Ids {
    /// The new text of the id `raw`, of the same JSON type, in the space of whoever sent the request; none if it stays.
    fn renumber(&mut self, source: &str, by_client: bool, raw: &str) -> Option<String> {
        // null, or something that is no id at all: a fact to keep.
        let is_string = raw.starts_with('"');
        if !is_string && !raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return None;
        }
        if !self.0.contains_key(source) {
            self.0.insert(source.to_owned(), Default::default());
        }
        let space = &mut self.0.get_mut(source)?[usize::from(by_client)];
        let next = space.len() + 1;
        let key = id_key(&scalar(raw));
        let is_odd_integer = key.parse::<i64>().is_ok() && raw.parse::<i64>().is_err();
        let number = *space.entry(key).or_insert(next);
        Some(if is_string {
            format!("\"id-{number}\"")
        } else if is_odd_integer {
            // 1.0 is 1, but it is not written like that, and that too is a fact.
            format!("{number}.0")
        } else {
            number.to_string()
        })
    }
}

/// What is kept of a line, which was `read`.
pub(super) fn redact(line: &Wire, read: &Line<'_>, dir: Dir, source: &str, ids: &mut Ids) -> Wire {
    let Ok(text) = std::str::from_utf8(&line.0) else {
        return line.clone();
    };
    let mut edits: Vec<(Range<usize>, Cow<'static, str>)> = Vec::new();
    for message in read.messages() {
        let has_method = message.value.get("method").is_some_and(|m| !m.is_null());
        let by_client = has_method == (dir == Dir::ClientToServer);
        for place in message.id_places() {
            if let Some(new) = ids.renumber(source, by_client, &text[place.clone()]) {
                edits.push((place.clone(), Cow::Owned(new)));
            }
        }
    }
    // Most lines hold nothing to hide and need not be walked over.
    if ["_meta", "progressToken", "requestId", "\\u"]
        .iter()
        .any(|word| text.contains(word))
    {
        for (place, new) in hidden_places(text) {
            edits.push((place, Cow::Borrowed(new)));
        }
        edits.sort_by_key(|(place, _)| place.start);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (place, new) in edits {
        out.push_str(&text[at..place.start]);
        out.push_str(&new);
        at = place.end;
    }
    out.push_str(&text[at..]);
    Wire::text(out)
}

/// What an open container is.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Batch,
    Message,
    Params,
    Meta,
    Other,
}

/// Where in a line something stands that is never the same twice: what is in `_meta`, at any depth, but for what the
/// protocol itself defines there; the token of a progress; the id that a cancellation names. The latter two only as
/// params: a form may ask for a `requestId`. With each place goes what is to stand there.
fn hidden_places(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut places = Vec::new();
    let mut open: Vec<Inside> = Vec::new();
    let mut key: Option<Cow<'_, str>> = None;
    let Some(mut tokens) = Tokens::of(text) else {
        return places;
    };
    while let Some(token) = tokens.next() {
        let (start, is_open) = match token {
            Token::Key(raw) => {
                key = Some(string(raw));
                continue;
            }
            Token::Close => {
                open.pop();
                continue;
            }
            Token::Scalar(raw) => (tokens.offset() - raw.len(), false),
            Token::OpenArray | Token::OpenObject => (tokens.offset() - 1, true),
        };
        let key = key.take();
        let key = key.as_deref();
        let parent = open.last().copied();
        let is_object = token == Token::OpenObject;
        let is_hidden = match parent {
            Some(Inside::Meta) => !key
                .unwrap_or_default()
                .starts_with("io.modelcontextprotocol/"),
            Some(Inside::Params) => matches!(key, Some("progressToken" | "requestId")),
            _ => false,
        };
        let is_left = parent == Some(Inside::Meta) || key == Some("_meta") && !is_object;
        if is_hidden || is_left {
            if is_open {
                tokens.skip_container();
            }
            let is_token = matches!(key, Some("progressToken" | "requestId"));
            if let Some(new) = hidden(&token, is_token).filter(|_| is_hidden) {
                places.push((start..tokens.offset(), new));
            }
        } else if is_open {
            open.push(match (parent, key) {
                (None, _) if !is_object => Inside::Batch,
                (None | Some(Inside::Batch), _) if is_object => Inside::Message,
                (_, Some("_meta")) => Inside::Meta,
                (Some(Inside::Message), Some("params")) if is_object => Inside::Params,
                _ => Inside::Other,
            });
        }
    }
    places
}

/// What is to stand for a value that is hidden; none if it may stay. Of a token, that it is none of the types that a
/// token may have is a fact to keep.
fn hidden(token: &Token<'_>, is_token: bool) -> Option<&'static str> {
    const QUOTED: &str = "\"<redacted>\"";
    match token {
        Token::Scalar(raw) if raw.starts_with('"') => (string(raw) != HIDDEN).then_some(QUOTED),
        _ if !is_token => Some(QUOTED),
        Token::Scalar("true" | "false" | "null") => None,
        Token::Scalar(raw) => {
            let is_whole = scalar(raw)
                .as_f64()
                .is_some_and(|number| number.fract() == 0.0);
            Some(if is_whole { QUOTED } else { "0.5" })
        }
        Token::OpenObject => Some("{}"),
        _ => Some("[]"),
    }
}

/// Hides what is in `_meta` at any depth of a value.
pub(super) fn redact_value(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(redact_value),
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                match (key.as_str(), value) {
                    ("_meta", Value::Object(meta)) => {
                        for (key, value) in meta.iter_mut() {
                            if !key.starts_with("io.modelcontextprotocol/") {
                                *value = Value::from(HIDDEN);
                            }
                        }
                    }
                    ("_meta", _) => {}
                    (_, value) => redact_value(value),
                }
            }
        }
        _ => {}
    }
}

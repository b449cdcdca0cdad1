//! One line of the MCP channel as JSON-RPC messages.
//!
//! Owns what a line is: not text, not JSON, one message, or an array of them; and which message is a request and
//! which a reply. The probe server, the redaction and the outcome all read lines here, so that they never disagree.
//! Total: any bytes are read, in linear time and with little stack. It blames nobody.

use std::ops::Range;

use serde_json::{Map, Value};

use super::json_text::{Token, Tokens, scalar, string};

/// How many containers deep a message is read. As with what drivers record: a recording, and results that name what
/// was in a message, must themselves be read back, and serde_json ends at 127.
pub const MAX_DEPTH: usize = 100;

/// The key under which a probe's request stands among those that a result asks for
/// (2026-07-28 basic/patterns/mrtr).
pub const INPUT: &str = "probe";

/// What a line is.
#[derive(Debug, Clone, PartialEq)]
pub enum Line<'a> {
    /// Bytes that are no text.
    NotUtf8,
    /// Text that is no JSON.
    NotJson,
    /// JSON that is no array; a message, if it is an object.
    Message(Message<'a>),
    /// An array: a batch of messages.
    Batch(Vec<Message<'a>>),
}

/// A message, or whatever stands in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Message<'a> {
    /// Its value. What is deeper than [`MAX_DEPTH`] is null in it. Of members with one name the last counts.
    pub value: Value,
    /// Whether a part of it was too deep to be read.
    pub is_too_deep: bool,
    /// Whether an object in it, as far as it was read, has two members with one name.
    pub has_duplicate: bool,
    line: &'a str,
    ids: Vec<Range<usize>>,
}

/// What a message is for JSON-RPC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sort<'m> {
    /// It has a method and an id.
    Request {
        /// The method.
        method: &'m str,
        /// The id; never null.
        id: &'m Value,
    },
    /// It has a method only.
    Notification {
        /// The method.
        method: &'m str,
    },
    /// It has an id, and no method or one that is null.
    Reply {
        /// The id; it may be null.
        id: &'m Value,
    },
    /// None of these.
    Other,
}

impl<'a> Message<'a> {
    /// What it is for JSON-RPC.
    #[must_use]
    pub fn sort(&self) -> Sort<'_> {
        let method = self.value.get("method").filter(|method| !method.is_null());
        match (method, self.value.get("id")) {
            (None, Some(id)) => Sort::Reply { id },
            (Some(Value::String(method)), Some(id)) if !id.is_null() => {
                Sort::Request { method, id }
            }
            (Some(Value::String(method)), _) => Sort::Notification { method },
            _ => Sort::Other,
        }
    }

    /// Whether it is a reply that tells of an error, to whatever request.
    #[must_use]
    pub fn is_error(&self) -> bool {
        let is_named = self.value.get("method").is_some_and(|it| !it.is_null());
        !is_named && self.value.get("error").is_some_and(Value::is_object)
    }

    /// The id as it is written, so that it can go back as it came.
    #[must_use]
    pub fn id_text(&self) -> Option<&'a str> {
        Some(&self.line[self.ids.last()?.clone()])
    }

    /// Where in the line its ids stand; the last one counts.
    #[must_use]
    pub fn id_places(&self) -> &[Range<usize>] {
        &self.ids
    }

    /// The probe that it calls the tool for, if it does.
    #[must_use]
    pub fn called_probe(&self) -> Option<&str> {
        (self.value["method"] == "tools/call")
            .then(|| self.value["params"]["arguments"]["id"].as_str())
            .flatten()
    }

    /// Whether it calls a tool again, with what an earlier result asked for (2026-07-28 basic/patterns/mrtr).
    #[must_use]
    pub fn is_retry(&self) -> bool {
        let params = &self.value["params"];
        self.value["method"] == "tools/call"
            && ["inputResponses", "requestState"]
                .iter()
                .any(|member| params.get(member).is_some())
    }

    /// The `params` of a probe's request: of a message that is one, or of a result that asks for it.
    #[must_use]
    pub fn asked_params(&self) -> Option<&Value> {
        match self.value.get("result") {
            Some(result) => result["inputRequests"][INPUT].get("params"),
            None => self.value.get("params"),
        }
    }

    /// What it answers to a probe's request: its result, or what a retry carries for it. Null if it carries nothing.
    #[must_use]
    pub fn answer(&self) -> &Value {
        match self.is_retry() {
            true => &self.value["params"]["inputResponses"][INPUT],
            false => &self.value["result"],
        }
    }
}

impl<'a> Line<'a> {
    /// Reads a line.
    #[must_use]
    pub fn read(line: &'a [u8]) -> Line<'a> {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::NotUtf8;
        };
        let Some(tokens) = Tokens::of(text) else {
            return Line::NotJson;
        };
        let mut reader = Reader {
            line: text,
            tokens,
            is_too_deep: false,
            has_duplicate: false,
        };
        match reader.tokens.next() {
            Some(Token::OpenArray) => {
                let mut items = Vec::new();
                while let Some(token) = reader.next_in_container() {
                    items.push(reader.message(token));
                }
                Line::Batch(items)
            }
            Some(token) => Line::Message(reader.message(token)),
            None => Line::NotJson,
        }
    }

    /// The messages that it holds.
    #[must_use]
    pub fn messages(&self) -> &[Message<'a>] {
        match self {
            Line::NotUtf8 | Line::NotJson => &[],
            Line::Message(message) => std::slice::from_ref(message),
            Line::Batch(items) => items,
        }
    }
}

/// An id by its value: equal for ids that JSON calls the same number or the same string, as for 1 and 1.0.
#[must_use]
pub fn id_key(id: &Value) -> String {
    // Below this, every whole double is also an integer that is exactly that.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match id.as_f64() {
        #[allow(clippy::cast_possible_truncation)]
        Some(number) if number.fract() == 0.0 && number.abs() < EXACT => {
            (number as i64).to_string()
        }
        _ => id.to_string(),
    }
}

/// Builds values of the tokens of a line.
struct Reader<'a> {
    line: &'a str,
    tokens: Tokens<'a>,
    is_too_deep: bool,
    has_duplicate: bool,
}

impl<'a> Reader<'a> {
    /// The next token inside a container; none at its end.
    fn next_in_container(&mut self) -> Option<Token<'a>> {
        self.tokens.next().filter(|token| *token != Token::Close)
    }

    /// The message that starts with `token`.
    fn message(&mut self, token: Token<'a>) -> Message<'a> {
        self.is_too_deep = false;
        self.has_duplicate = false;
        let mut ids = Vec::new();
        let value = match token {
            Token::OpenObject => self.object(1, Some(&mut ids)),
            token => self.value(token, 1),
        };
        Message {
            value,
            is_too_deep: self.is_too_deep,
            has_duplicate: self.has_duplicate,
            line: self.line,
            ids,
        }
    }

    /// The value that starts with `token`; `depth` is the number of containers that are open with it.
    fn value(&mut self, token: Token<'a>, depth: usize) -> Value {
        match token {
            Token::Scalar(raw) => scalar(raw),
            Token::OpenArray | Token::OpenObject if depth > MAX_DEPTH => {
                self.is_too_deep = true;
                self.tokens.skip_container();
                Value::Null
            }
            Token::OpenArray => {
                let mut items = Vec::new();
                while let Some(token) = self.next_in_container() {
                    items.push(self.value(token, depth + 1));
                }
                Value::Array(items)
            }
            Token::OpenObject => self.object(depth, None),
            // Not at the start of a value, in text that is JSON.
            Token::Close | Token::Key(_) => Value::Null,
        }
    }

    fn object(&mut self, depth: usize, mut ids: Option<&mut Vec<Range<usize>>>) -> Value {
        let mut members = Map::new();
        while let Some(token) = self.next_in_container() {
            let (Token::Key(key), Some(token)) = (token, self.tokens.next()) else {
                continue;
            };
            let key = string(key).into_owned();
            let start = match token {
                Token::Scalar(raw) => self.tokens.offset() - raw.len(),
                _ => self.tokens.offset() - 1,
            };
            let value = self.value(token, depth + 1);
            if let Some(ids) = &mut ids
                && key == "id"
            {
                ids.push(start..self.tokens.offset());
            }
            self.has_duplicate |= members.insert(key, value).is_some();
        }
        Value::Object(members)
    }
}

#[cfg(test)]
mod tests;

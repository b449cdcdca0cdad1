//! Text that is JSON, token by token.
//!
//! Owns walking over it without recursion, so that no depth of a hostile line can overflow the stack, and where each
//! token stands, so that a part can be replaced and the rest keep its bytes. It must not know what a member means.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, IgnoredAny, Visitor};
use serde_json::{Number, Value};

/// A part of a text. Commas and colons are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{`
    OpenObject,
    /// `[`
    OpenArray,
    /// `}` or `]`
    Close,
    /// The name of a member as it is written, with its quotes.
    Key(&'a str),
    /// A string (with its quotes), a number, or a word, as it is written.
    Scalar(&'a str),
}

/// The tokens of a text.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// Whether each container that is open is an object.
    open: Vec<bool>,
    /// Whether a string that comes next is the name of a member.
    is_key_next: bool,
}

impl<'a> Tokens<'a> {
    /// The tokens of `text`; none if it is not JSON. What serde's `Value` refuses by its own limits is JSON all the
    /// same: any depth, numbers beyond a double, escapes of half a character.
    pub(super) fn of(text: &'a str) -> Option<Tokens<'a>> {
        serde_json::from_str::<IgnoredAny>(text).ok()?;
        Some(Tokens {
            text,
            at: 0,
            open: Vec::new(),
            is_key_next: false,
        })
    }

    /// The offset behind the last token.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Passes over what is inside the container that was opened last, and its end.
    pub(super) fn skip_container(&mut self) {
        let outside = self.open.len().saturating_sub(1);
        while self.open.len() > outside && self.next().is_some() {}
    }

    fn string_end(&self) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => return at + 1,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        bytes.len()
    }

    fn word_end(&self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
        rest.iter()
            .position(is_end)
            .map_or(self.text.len(), |length| self.at + length)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let start = self.at;
            match self.text.as_bytes().get(start)? {
                b' ' | b'\t' | b'\n' | b'\r' | b':' => self.at += 1,
                b',' => {
                    self.at += 1;
                    self.is_key_next = self.open.last() == Some(&true);
                }
                open @ (b'{' | b'[') => {
                    self.at += 1;
                    let is_object = *open == b'{';
                    self.open.push(is_object);
                    self.is_key_next = is_object;
                    return Some(if is_object {
                        Token::OpenObject
                    } else {
                        Token::OpenArray
                    });
                }
                b'}' | b']' => {
                    self.at += 1;
                    self.open.pop();
                    self.is_key_next = false;
                    return Some(Token::Close);
                }
                b'"' => {
                    self.at = self.string_end();
                    let raw = &self.text[start..self.at];
                    let is_key = std::mem::take(&mut self.is_key_next);
                    return Some(if is_key {
                        Token::Key(raw)
                    } else {
                        Token::Scalar(raw)
                    });
                }
                _ => {
                    self.at = self.word_end();
                    return Some(Token::Scalar(&self.text[start..self.at]));
                }
            }
        }
    }
}

/// The value of a scalar as it is written. A number beyond a double is read as the last double on its side.
pub(super) fn scalar(raw: &str) -> Value {
    match raw.as_bytes().first() {
        Some(b'"') => Value::String(string(raw).into_owned()),
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'n') | None => Value::Null,
        Some(first) => {
            let last = if *first == b'-' { f64::MIN } else { f64::MAX };
            serde_json::from_str::<Number>(raw)
                .ok()
                .or_else(|| Number::from_f64(last))
                .map_or(Value::Null, Value::Number)
        }
    }
}

/// The text of a string as it is written, with its quotes. Half a character (`\ud800`) becomes a replacement character.
pub(super) fn string(raw: &str) -> Cow<'_, str> {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let text = serde_json::from_str::<String>(raw)
        .or_else(|_| serde_json::from_str::<Lossy>(raw).map(|Lossy(text)| text));
    Cow::Owned(text.unwrap_or_default())
}

/// A string that is read as bytes, for serde_json then lets half a character pass.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lossy, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Lossy;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

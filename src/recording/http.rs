//! What HTTP says around a message.
//!
//! Owns which parts of it are recorded with the message; the bytes themselves stand in entries of their own. It must not know
//! which headers a client has to send.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The longest header value that is kept, in characters.
const MAX_VALUE: usize = 200;
/// The most headers that are kept of one message.
const MAX_HEADERS: usize = 40;

/// The head of a request or of a response: what of it MCP has rules for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The method of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path of a request where it is not the endpoint's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The status of a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Headers by their names in lower case; of several with one name, all, with a comma between them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl Head {
    /// The value of a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Keeps a header, if MCP has rules for it (2026-07-28 basic/transports/streamable-http). `name` is in lower case.
    pub fn keep(&mut self, name: &str, value: &[u8]) {
        let is_kept = ["accept", "content-type", "last-event-id"].contains(&name);
        if !is_kept && !name.starts_with("mcp-") {
            return;
        }
        if self.headers.len() >= MAX_HEADERS && !self.headers.contains_key(name) {
            return;
        }
        let value = String::from_utf8_lossy(value);
        let value: String = value.chars().take(MAX_VALUE).collect();
        let name: String = name.chars().take(MAX_VALUE).collect();
        self.headers
            .entry(name)
            .and_modify(|all| {
                let joined = format!("{all}, {value}");
                *all = joined.chars().take(MAX_VALUE).collect();
            })
            .or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_rules_is_kept_and_not_too_much_of_it() {
        let mut head = Head::default();
        head.keep("authorization", b"secret");
        head.keep("accept", b"a");
        head.keep("accept", b"\xff");
        head.keep("mcp-name", "x".repeat(1000).as_bytes());
        for number in 0..1000 {
            head.keep(&format!("mcp-{number}"), b"1");
        }
        assert_eq!(head.header("authorization"), None);
        assert_eq!(head.header("accept"), Some("a, \u{fffd}"));
        assert_eq!(head.header("mcp-name").map(str::len), Some(MAX_VALUE));
        assert_eq!(head.headers.len(), MAX_HEADERS);
    }
}

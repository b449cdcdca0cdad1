//! The part `[handshake]` of a probe file.
//!
//! Owns its format. It must not know the rest of the file.

use serde::Deserialize;
use toml::Spanned;

use super::check::Check;
use crate::catalogue::script::{Reply, Script, Then};

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScript {
    to: Option<Spanned<String>>,
    result: Option<Spanned<String>>,
    error: Option<Spanned<String>>,
    reply: Option<Spanned<String>>,
    starts_after_ms: Option<Spanned<u64>>,
    then: Option<Spanned<Vec<Spanned<String>>>>,
}

/// What stands in the place of a probe's own request.
pub(super) struct Scripted {
    pub(super) script: Script,
    /// The client's request that the script is about.
    pub(super) method: String,
    /// The JSON text of the result or the error; `{}` where there is none.
    pub(super) text: String,
}

/// The requests that a handshake may begin with.
const METHODS: [(&str, &str); 2] = [
    ("initialize", "initialize"),
    ("server/discover", "server/discover"),
];

/// Replies that need no text.
const WORDLESS: [(&str, Reply); 4] = [
    ("stays", Reply::Stays),
    ("silence", Reply::Silence),
    ("exit", Reply::Exit),
    ("usual", Reply::Usual),
];

/// A start that is put off for longer would only be waited for.
const MAX_WAIT_MS: u64 = 10_000;

impl Check<'_> {
    pub(super) fn script(&mut self, raw: &Spanned<RawScript>) -> Option<Scripted> {
        let place = raw.span();
        let raw = raw.get_ref();
        let method = self
            .required("to", raw.to.as_ref(), place.clone())
            .and_then(|to| self.known("to", to, &METHODS));
        let then = self.required("then", raw.then.as_ref(), place.clone());
        let then: Option<Vec<Then>> = then.and_then(|then| {
            let all = then.get_ref().iter();
            all.map(|then| self.known("then", then, &Then::NAMES))
                .collect()
        });
        let given = [&raw.result, &raw.error, &raw.reply];
        if given.iter().filter(|value| value.is_some()).count() != 1 {
            self.note(
                place,
                "expected exactly one of `result`, `error` and `reply`",
            );
            return None;
        }
        let (reply, text) = match (&raw.result, &raw.error, &raw.reply) {
            (Some(text), _, _) => (Reply::Result, self.line("result", text)?),
            (_, Some(text), _) => (Reply::Error, self.line("error", text)?),
            (_, _, Some(reply)) => (self.known("reply", reply, &WORDLESS)?, "{}".to_owned()),
            _ => return None,
        };
        let starts_after_ms = match &raw.starts_after_ms {
            Some(wait) if *wait.get_ref() > MAX_WAIT_MS => {
                let message = format!(
                    "a wait of {} ms, expected at most {MAX_WAIT_MS}",
                    wait.get_ref()
                );
                self.note(wait.span(), message);
                return None;
            }
            wait => wait.as_ref().map_or(0, |wait| *wait.get_ref()),
        };
        Some(Scripted {
            script: Script {
                reply,
                then: then?,
                starts_after_ms,
            },
            method: method?.to_owned(),
            text,
        })
    }
}

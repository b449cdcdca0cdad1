//! The part `[handshake]` of a probe file.
//!
//! Owns its format. It must not know the rest of the file.

use serde::Deserialize;
use toml::Spanned;

use super::check::Check;
use crate::catalogue::script::{Fault, LISTEN, Reply, Script, Then};
use crate::names::TransportKind;

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScript {
    to: Option<Spanned<String>>,
    result: Option<Spanned<String>>,
    error: Option<Spanned<String>>,
    reply: Option<Spanned<String>>,
    starts_after_ms: Option<Spanned<u64>>,
    over: Option<Spanned<String>>,
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

/// The requests that a handshake may begin with; and those that HTTP may do something else with.
const METHODS: [(&str, &str); 5] = [
    ("initialize", "initialize"),
    ("server/discover", "server/discover"),
    ("tools/list", "tools/list"),
    ("tools/call", "tools/call"),
    (LISTEN, LISTEN),
];

const TRANSPORTS: [(&str, TransportKind); 2] = [
    ("stdio", TransportKind::Stdio),
    ("http", TransportKind::Http),
];

/// Replies that need no text.
const WORDLESS: [(&str, Reply); 12] = [
    ("stays", Reply::Stays),
    ("silence", Reply::Silence),
    ("exit", Reply::Exit),
    ("usual", Reply::Usual),
    ("http-404", Reply::Http(Fault::NotFound)),
    ("http-400", Reply::Http(Fault::BadRequest)),
    ("http-405", Reply::Http(Fault::NoStream)),
    ("http-dropped", Reply::Http(Fault::Dropped)),
    ("http-half-open", Reply::Http(Fault::HalfOpen)),
    ("http-slow", Reply::Http(Fault::Slow)),
    ("http-events", Reply::Http(Fault::AsEvents)),
    ("http-commented-events", Reply::Http(Fault::Commented)),
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
        let over = match &raw.over {
            Some(over) => Some(self.known("over", over, &TRANSPORTS)?),
            None => None,
        };
        let method = method?;
        if let Some(to) = &raw.to {
            self.fits(method, reply, to);
        }
        let script = Script {
            reply,
            then: then?,
            starts_after_ms,
            over,
        };
        if let Some(over) = raw.over.as_ref()
            && script.transport() != script.over
        {
            let message = "this reply goes over another transport only, expected no `over`";
            self.note(over.span(), message);
        }
        Some(Scripted {
            script,
            method: method.to_owned(),
            text,
        })
    }

    /// Only HTTP does something else with what comes after the handshake, and only it has a stream to listen on.
    fn fits(&mut self, method: &str, reply: Reply, to: &Spanned<String>) {
        let is_handshake = ["initialize", "server/discover"].contains(&method);
        let is_http = matches!(reply, Reply::Http(_));
        let is_listening = reply == Reply::Http(Fault::NoStream);
        if !is_handshake && !is_http {
            let message = "only a reply `http-...` is of a request after the handshake, expected `initialize` or `server/discover`";
            self.note(to.span(), message);
        } else if is_listening != (method == LISTEN) {
            let message = "`http-405` answers `GET`, and nothing else does";
            self.note(to.span(), message);
        }
    }
}

//! What the scripted model says next: a pure function of what a request shows.
//!
//! Owns the rules and the words in which a dialect tells of a request ([`Turn`]) and is told what to answer
//! ([`Reply`]). It must not know a wire format, a client, or what happened in an earlier request: a client may
//! repeat, drop or reorder requests, and an answer that rests on the request alone is right all the same.

use std::collections::BTreeSet;

use crate::names::ProbeId;

/// What the scripted model is to make the client do: call one tool once for each probe.
///
/// Server and tool are best named with `[a-z_]+`, which no client mangles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The name under which the client knows the probe server.
    pub server: String,
    /// The tool of that server to call, with the arguments `{"id": <probe id>}`.
    pub tool: String,
    /// The probes, in the order in which to ask for them.
    pub probes: Vec<ProbeId>,
}

impl Script {
    /// The tool's name where server and tool are joined in one name.
    pub(super) fn flat_name(&self) -> String {
        format!("mcp__{}__{}", self.server, self.tool)
    }

    /// Whether `name` is the namespace of the probe server; both spellings are in use.
    pub(super) fn is_namespace(&self, name: &str) -> bool {
        name.strip_prefix("mcp__")
            .and_then(|rest| rest.strip_prefix(self.server.as_str()))
            .is_some_and(|rest| rest.is_empty() || rest == "__")
    }

    /// The probe whose call has this id. An id is made of the index alone, so that a result is attributed
    /// even where a client repeats the call with other arguments, or not at all.
    pub(super) fn index_of(&self, prefix: &str, id: &str) -> Option<usize> {
        let index = id.strip_prefix(prefix)?.parse().ok()?;
        (index < self.probes.len() && call_id(prefix, index) == id).then_some(index)
    }
}

/// The id of the call for the probe at `index`.
pub(super) fn call_id(prefix: &str, index: usize) -> String {
    format!("{prefix}{index:04}")
}

/// What one request shows, whatever its dialect.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// How many turns came before it; only makes the ids of answers differ.
    pub(super) index: usize,
    /// Whether it carries any tools.
    pub(super) has_tools: bool,
    /// The probe tool, as it is offered.
    pub(super) offered: Option<Offered>,
    /// Whether there is a tool that finds further tools.
    pub(super) can_search: bool,
    /// Whether the history has a use of it.
    pub(super) searched: bool,
    /// The probes that the history has a call for, by index.
    pub(super) called: BTreeSet<usize>,
    /// The results in the history.
    pub(super) results: Vec<CallResult>,
}

/// How the probe tool is offered: the names are the request's own and go back unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    /// The function's name.
    pub(super) name: String,
    /// The namespace that it stands in.
    pub(super) namespace: Option<String>,
    /// Whether it was offered only through a tool search, or is marked as such.
    pub(super) deferred: bool,
}

impl Offered {
    /// One name for people.
    pub(super) fn full_name(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// The result of one of our calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallResult {
    /// The probe, by index.
    pub(super) index: usize,
    /// The text that the model is given, bounded.
    pub(super) text: String,
}

/// What to answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Search for the probe tool.
    Search,
    /// Call the tool for each of these probes, all in one answer.
    Call(Offered, Vec<(usize, ProbeId)>),
    /// Say this, and be done.
    Finish(&'static str),
}

/// What the model says next.
pub(super) fn next(script: &Script, turn: &Turn) -> Reply {
    // Side requests of a client (a title for the session and the like) are none of the script's business.
    if !turn.has_tools {
        return Reply::Finish("ok");
    }
    let left: Vec<(usize, ProbeId)> = script
        .probes
        .iter()
        .enumerate()
        .filter(|(index, _)| !turn.called.contains(index))
        .map(|(index, probe)| (index, probe.clone()))
        .collect();
    if left.is_empty() {
        return Reply::Finish("done");
    }
    let may_search = turn.can_search && !turn.searched;
    match &turn.offered {
        // A real model does not see a deferred tool before it has searched.
        Some(offered) if offered.deferred && may_search => Reply::Search,
        Some(offered) => Reply::Call(offered.clone(), left),
        None if may_search => Reply::Search,
        None => Reply::Finish("the tool is not offered"),
    }
}

/// A script for the tests of this module's files.
#[cfg(test)]
pub(super) fn example() -> Script {
    Script {
        server: "probe".to_owned(),
        tool: "probe".to_owned(),
        probes: ["a/one", "a/two", "b/three"]
            .map(|id| ProbeId(id.to_owned()))
            .to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(deferred: bool) -> Offered {
        Offered {
            name: "mcp__probe__probe".to_owned(),
            namespace: None,
            deferred,
        }
    }

    #[test]
    fn the_rules() {
        let script = example();
        let check = |label: &str, edit: &dyn Fn(&mut Turn), expect: &str| {
            let mut turn = Turn {
                has_tools: true,
                ..Turn::default()
            };
            edit(&mut turn);
            let got = match next(&script, &turn) {
                Reply::Search => "search".to_owned(),
                Reply::Call(_, left) => {
                    let left: Vec<_> = left.iter().map(|(at, id)| format!("{at}={id}")).collect();
                    format!("call {}", left.join(" "))
                }
                Reply::Finish(text) => format!("finish {text}"),
            };
            assert_eq!(got, expect, "{label}");
        };
        let all = "call 0=a/one 1=a/two 2=b/three";
        check("no tools", &|t| t.has_tools = false, "finish ok");
        check("not there", &|_| (), "finish the tool is not offered");
        check("listed", &|t| t.offered = Some(offered(false)), all);
        check(
            "listed beside a search tool",
            &|t| {
                t.offered = Some(offered(false));
                t.can_search = true;
            },
            all,
        );
        check("only a search tool", &|t| t.can_search = true, "search");
        check(
            "listed as deferred",
            &|t| {
                t.offered = Some(offered(true));
                t.can_search = true;
            },
            "search",
        );
        check(
            "deferred, no search tool",
            &|t| t.offered = Some(offered(true)),
            all,
        );
        check(
            "found by search",
            &|t| {
                t.offered = Some(offered(true));
                t.can_search = true;
                t.searched = true;
            },
            all,
        );
        check(
            "search found nothing",
            &|t| {
                t.can_search = true;
                t.searched = true;
            },
            "finish the tool is not offered",
        );
        check(
            "some called",
            &|t| {
                t.offered = Some(offered(false));
                t.called = [0, 2].into();
            },
            "call 1=a/two",
        );
        check(
            "all called",
            &|t| {
                t.offered = Some(offered(false));
                t.called = [0, 1, 2].into();
            },
            "finish done",
        );
        check(
            "all called, tool gone",
            &|t| t.called = [0, 1, 2].into(),
            "finish done",
        );
    }

    #[test]
    fn ids_lead_back_to_their_probe() {
        let script = example();
        assert_eq!(call_id("call_", 7), "call_0007");
        let check = |id: &str, expect: Option<usize>| {
            assert_eq!(script.index_of("call_", id), expect, "{id}");
        };
        check("call_0000", Some(0));
        check("call_0002", Some(2));
        check("call_0003", None);
        check("call_2", None);
        check("call_+002", None);
        check("toolu_0002", None);
        check("call_search", None);
        check("", None);
    }

    #[test]
    fn namespaces_of_the_server() {
        let script = example();
        assert!(script.is_namespace("mcp__probe"));
        assert!(script.is_namespace("mcp__probe__"));
        assert!(!script.is_namespace("probe"));
        assert!(!script.is_namespace("mcp__probe2"));
        assert!(!script.is_namespace("mcp__"));
    }
}

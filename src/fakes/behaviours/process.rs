//! Faults in how the client's process lives and ends.
//!
//! Owns those rows.

use super::expect::{BREAKS_MUST, UNKNOWN, VIOLATES_MUST};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::{
    BEHAVES, Calls, Change, Death, Hooks, Meets, Replies, Request, Step, result,
};

const fn row(name: &'static str, does: &'static str, cell: Judgement, hooks: Hooks) -> Behaviour {
    super::row(Class::Process, name, does, cell).with(hooks)
}

/// Ends when the request arrives.
const fn midway(
    name: &'static str,
    does: &'static str,
    meets: fn(&Request) -> Vec<Step>,
) -> Behaviour {
    row(
        name,
        does,
        BREAKS_MUST,
        Hooks {
            meets: Meets::Does(meets),
            ..BEHAVES
        },
    )
}

/// Ends when the host has answered.
const fn answered(
    name: &'static str,
    does: &'static str,
    cell: Judgement,
    replies: fn(&Request, &str) -> Vec<Step>,
) -> Behaviour {
    row(
        name,
        does,
        cell,
        Hooks {
            replies: Replies::Does(replies),
            ..BEHAVES
        },
    )
}

const fn sends(
    name: &'static str,
    does: &'static str,
    sends: &'static [(&'static str, Change)],
) -> Behaviour {
    row(name, does, UNKNOWN, Hooks { sends, ..BEHAVES })
}

pub(super) const ROWS: &[Behaviour] = &[
    midway(
        "exits-midway",
        "ends its process with code 7 when the request arrives",
        |_| vec![Step::Die(Death::Exit(7))],
    ),
    midway(
        "exits-midway-as-if-done",
        "ends its process with code 0 when the request arrives",
        |_| vec![Step::Die(Death::Exit(0))],
    ),
    midway("aborts", "aborts when the request arrives", |_| {
        vec![Step::Die(Death::Abort)]
    }),
    midway("is-killed", "is killed when the request arrives", |_| {
        vec![Step::Die(Death::Kill)]
    }),
    midway(
        "is-terminated",
        "ends by SIGTERM when the request arrives",
        |_| vec![Step::Die(Death::Terminate)],
    ),
    midway(
        "closes-the-channel",
        "closes the channel when the request arrives, and lives on",
        |_| vec![Step::Close],
    ),
    answered(
        "exits-once-answered",
        "presents the request, and ends its process when it has the answer",
        BREAKS_MUST,
        |_, _| vec![Step::Die(Death::Exit(1))],
    ),
    answered(
        "closes-the-channel-once-answered",
        "presents the request, and closes the channel when it has the answer",
        BREAKS_MUST,
        |_, _| vec![Step::Close],
    ),
    answered(
        "exits-in-mid-reply",
        "ends its process when half of the reply is written",
        VIOLATES_MUST,
        |request, answer| {
            let mut reply = result(&request.id, answer);
            reply.truncate(reply.len() / 2);
            vec![Step::Write(reply), Step::Die(Death::Exit(1))]
        },
    ),
    row(
        "never-calls",
        "reports a call as done without having called the tool",
        UNKNOWN,
        Hooks {
            calls: Calls::InPretence,
            ..BEHAVES
        },
    ),
    sends(
        "exits-before-the-handshake",
        "starts the server and ends its process in the place of a handshake",
        &[("initialize", Change::Exit(9))],
    ),
    sends(
        "exits-before-the-tool-list",
        "ends its process after the handshake",
        &[("tools/list", Change::Exit(9))],
    ),
];

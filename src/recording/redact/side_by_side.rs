//! Replies to requests that were open side by side.
//!
//! Owns the one order that they get in evidence: a client may reply in any, and which one it is differs from run to run. It
//! must not hide that a reply came before the answer that it should carry.

use std::collections::BTreeMap;

use super::super::line::{Line, Sort, id_key};
use super::super::{Dir, Event, Recording};
use super::Key;

/// Puts the replies of each cell with several requests in the order of the requests, and after all that was presented.
/// `kept` is sorted, and stays so cell by cell. A cell in which that would change more than the order of a race stays as
/// it is.
pub(super) fn arrange(recording: &Recording, lines: &[Option<Line<'_>>], kept: &mut [Key]) {
    // What is of no cell is of no request.
    let cells = kept
        .chunk_by_mut(|a, b| (a.0, a.1) == (b.0, b.1))
        .filter(|cell| cell[0].0 > 0);
    for cell in cells {
        let indexes: Vec<usize> = cell.iter().map(|key| key.2).collect();
        if let Some(order) = arranged(recording, lines, &indexes) {
            for (key, index) in cell.iter_mut().zip(order) {
                key.2 = index;
            }
        }
    }
}

/// The entries of one cell in their new order, if they are to have one: from the first request on there is nothing but two
/// requests, what was presented and answered, and one reply to each, none of them before an answer that it could carry.
fn arranged(
    recording: &Recording,
    lines: &[Option<Line<'_>>],
    indexes: &[usize],
) -> Option<Vec<usize>> {
    let is_request = |index: &usize| {
        let line = lines[*index].as_ref()?;
        request(&recording.entries[*index].event, line)
    };
    let first = indexes
        .iter()
        .position(|index| is_request(index).is_some())?;
    let (head, rest) = indexes.split_at(first);
    let source = &recording.entries[rest[0]].source;
    let mut requests: Vec<String> = Vec::new();
    // The replies, by the number of their request.
    let mut replies: BTreeMap<usize, usize> = BTreeMap::new();
    let mut others = Vec::new();
    let is_presented =
        |index: &usize| matches!(recording.entries[*index].event, Event::Presented { .. });
    let somebody_answers = rest.iter().any(is_presented);
    let mut answers = 0;
    let mut taken = 0;
    for index in rest {
        let entry = &recording.entries[*index];
        taken += 1;
        match (&entry.event, &lines[*index]) {
            (Event::Presented { .. }, _) => {}
            (Event::AnswerGiven { .. }, _) => answers += 1,
            (event, Some(line)) if entry.source == *source => {
                if let Some(id) = request(event, line) {
                    if requests.contains(&id) {
                        return None;
                    }
                    requests.push(id);
                } else {
                    let id = reply(event, line)?;
                    let number = requests.iter().position(|asked| *asked == id)?;
                    if replies.insert(number, *index).is_some() {
                        return None;
                    }
                    if somebody_answers && answers < replies.len() {
                        return None;
                    }
                    if replies.len() == 2 {
                        break;
                    }
                    continue;
                }
            }
            _ => return None,
        }
        others.push(*index);
    }
    (requests.len() == 2 && replies.len() == 2).then(|| {
        let parts = [head, &others, &rest[taken..]];
        let [head, others, tail] = parts;
        let replies = replies.into_values();
        (head.iter().chain(others).copied())
            .chain(replies)
            .chain(tail.iter().copied())
            .collect()
    })
}

/// The id of the probe's request that an entry is.
fn request(event: &Event, line: &Line<'_>) -> Option<String> {
    let Event::Mcp {
        dir: Dir::ServerToClient,
        probe: Some(_),
        ..
    } = event
    else {
        return None;
    };
    match line.messages() {
        [message] if matches!(message.sort(), Sort::Request { .. }) => {
            message.value.get("id").map(id_key)
        }
        _ => None,
    }
}

/// The id of what the client replies to with an entry that is a single reply.
fn reply(event: &Event, line: &Line<'_>) -> Option<String> {
    let is_clients = matches!(
        event,
        Event::Mcp {
            dir: Dir::ClientToServer,
            ..
        }
    );
    match line.messages() {
        [message] if is_clients => match message.sort() {
            Sort::Reply { id } => Some(id_key(id)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::evidence;
    use crate::recording::{Dir, Event, Recording};
    use crate::testing::{Script, form};

    #[derive(Clone, Copy)]
    enum Step {
        Presented,
        Reply(u64),
    }
    use Step::{Presented, Reply};

    fn session(steps: &[Step]) -> Recording {
        let accept = || json!({"action": "accept", "content": {"value": "x"}});
        let mut script = Script::new(&["a"]).initialize().list().call("a");
        script = script.send("a", 1).send("a", 2);
        for step in steps {
            script = match step {
                Presented => script.presented("a", form()).answer("a", accept()),
                Reply(number) => script.reply(*number, accept()),
            };
        }
        script.done("a").finish()
    }

    /// What the client did in the evidence: `p` for what was presented, and the ids of replies.
    fn course(recording: &Recording) -> String {
        let words = recording
            .entries
            .iter()
            .filter_map(|entry| match &entry.event {
                Event::Presented { .. } => Some("p".to_owned()),
                Event::Mcp {
                    dir: Dir::ClientToServer,
                    line,
                    ..
                } => {
                    let value: Value = serde_json::from_slice(&line.0).ok()?;
                    value.get("result").map(|_| value["id"].to_string())
                }
                Event::ProbeDone { .. } => Some("done".to_owned()),
                _ => None,
            });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn replies_stand_in_the_order_of_the_requests() {
        let first = course(&evidence(&session(&[
            Presented,
            Presented,
            Reply(1),
            Reply(2),
        ])));
        let check = |steps: &[Step], is_arranged: bool| {
            let once = evidence(&session(steps));
            assert_eq!(course(&once) == first, is_arranged, "{}", course(&once));
            assert_eq!(evidence(&once), once, "twice is once");
        };
        check(&[Presented, Presented, Reply(2), Reply(1)], true);
        check(&[Presented, Reply(1), Presented, Reply(2)], true);
        check(&[Presented, Reply(2), Presented, Reply(1)], true);
        // A reply before anybody answered is no race, nor is a second one.
        check(&[Reply(1), Presented, Presented, Reply(2)], false);
        check(&[Presented, Presented, Reply(1), Reply(1), Reply(2)], false);
    }
}

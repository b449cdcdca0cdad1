//! Which lines of the client are a cell's.
//!
//! Owns that replies are a cell's by their id, and odd lines by the time in which only its probe was open. It must not
//! know what a reply says.

use serde_json::Value;

use super::Oddity;
use super::index::Source;
use crate::recording::line::{Line, Message, Sort, id_key};

/// The reply to the probe's request.
pub(super) struct Reply<'i> {
    pub(super) at: usize,
    pub(super) message: &'i Message<'i>,
}

/// What the client wrote on the probe's account.
#[derive(Default)]
pub(super) struct Came<'i> {
    pub(super) reply: Option<Reply<'i>>,
    /// Whether a reply came when nobody waited for it any more.
    pub(super) is_late: bool,
    /// The first line that is no reply of any request.
    pub(super) malformed: Option<usize>,
    pub(super) oddities: Vec<Oddity>,
    pub(super) evidence: Vec<usize>,
}

/// What is known of a cell when a line of the client is read.
pub(super) struct Cell<'i> {
    /// The id of the probe's request.
    pub(super) id: Option<&'i str>,
    pub(super) source: &'i Source,
    /// Whether the server had given up.
    pub(super) is_late: bool,
    /// Whether only this probe was open.
    pub(super) is_in_window: bool,
    /// Whether the probe's request came after a line that nobody can read.
    pub(super) after_noise: bool,
    /// The ids of the probe's requests that were cancelled.
    pub(super) cancelled: &'i [String],
}

impl<'i> Came<'i> {
    pub(super) fn take(&mut self, at: usize, line: &'i Line<'i>, cell: &Cell<'_>) {
        let before = self.oddities.len();
        match line {
            Line::NotUtf8 | Line::NotJson if cell.is_in_window => {
                self.oddities.push(match line {
                    Line::NotUtf8 => Oddity::NotUtf8,
                    _ => Oddity::NotJson,
                });
                self.malformed.get_or_insert(at);
            }
            Line::NotUtf8 | Line::NotJson => {}
            Line::Message(message) => self.take_message(at, message, cell, cell.is_in_window),
            Line::Batch(items) => {
                // A batch is of the cell that its first reply is of, whenever it came.
                let owner = items.iter().find_map(|item| match item.sort() {
                    Sort::Reply { id } => Some(id_key(id)).filter(|id| cell.source.has_request(id)),
                    _ => None,
                });
                let is_ours = match &owner {
                    Some(id) => Some(id.as_str()) == cell.id,
                    None => cell.is_in_window,
                };
                if is_ours || items.iter().any(|item| cell.is_reply(item)) {
                    self.oddities.push(Oddity::Batch);
                }
                for item in items {
                    self.take_message(at, item, cell, is_ours);
                }
            }
        }
        if self.oddities.len() > before {
            self.evidence.push(at);
            once(&mut self.oddities, before);
        }
    }

    /// A call that was made again: the first is the answer. A further one is a request of its own, and no reply.
    pub(super) fn take_retry(&mut self, at: usize, message: &'i Message<'i>) {
        let before = self.oddities.len();
        if self.reply.is_some() {
            self.oddities.push(Oddity::SecondRetry);
        } else {
            self.reply = Some(Reply { at, message });
            self.evidence.push(at);
        }
        if message.has_duplicate {
            self.oddities.push(Oddity::DuplicateMember);
        }
        if message.is_too_deep {
            self.oddities.push(Oddity::TooDeep);
        }
        if self.oddities.len() > before {
            self.evidence.push(at);
            once(&mut self.oddities, before);
        }
    }

    /// `is_ours` tells whether what belongs to no request belongs to this cell.
    fn take_message(
        &mut self,
        at: usize,
        message: &'i Message<'i>,
        cell: &Cell<'_>,
        is_ours: bool,
    ) {
        let is_of_cell = match message.sort() {
            Sort::Reply { .. } if cell.is_reply(message) => {
                if self.reply.is_some() || self.is_late {
                    self.oddities.push(Oddity::SecondReply);
                } else if cell.is_late {
                    self.is_late = true;
                    self.oddities.push(Oddity::LateReply);
                } else {
                    self.evidence.push(at);
                    self.reply = Some(Reply { at, message });
                }
                true
            }
            // It may be about the noise.
            Sort::Reply { id: Value::Null } if cell.after_noise && message.is_error() => {
                if is_ours {
                    self.oddities.push(Oddity::ErrorWithNullId);
                }
                is_ours
            }
            Sort::Other if cell.after_noise && message.is_error() => {
                if is_ours {
                    self.oddities.push(Oddity::ErrorWithoutId);
                }
                is_ours
            }
            Sort::Reply { id } if cell.cancelled.contains(&id_key(id)) => {
                self.oddities.push(Oddity::ReplyToCancelled);
                true
            }
            Sort::Reply { id } if is_ours && !cell.source.has_request(&id_key(id)) => {
                self.oddities.push(Oddity::UnknownId);
                self.malformed.get_or_insert(at);
                true
            }
            // A request or a notification that comes meanwhile is of the session.
            Sort::Reply { .. } | Sort::Request { .. } | Sort::Notification { .. } => false,
            Sort::Other => {
                if is_ours {
                    self.oddities.push(Oddity::NoMessage);
                    self.malformed.get_or_insert(at);
                }
                is_ours
            }
        };
        if is_of_cell && message.has_duplicate {
            self.oddities.push(Oddity::DuplicateMember);
        }
        if is_of_cell && message.is_too_deep {
            self.oddities.push(Oddity::TooDeep);
        }
    }
}

/// Leaves one of each of the oddities of a line, which start at `from`: a batch of a million items is one line.
fn once(oddities: &mut Vec<Oddity>, from: usize) {
    let mut kept: Vec<Oddity> = Vec::new();
    for oddity in oddities.drain(from..) {
        if !kept.contains(&oddity) {
            kept.push(oddity);
        }
    }
    oddities.extend(kept);
}

impl Cell<'_> {
    fn is_reply(&self, message: &Message<'_>) -> bool {
        matches!(message.sort(), Sort::Reply { id } if Some(id_key(id).as_str()) == self.id)
    }
}

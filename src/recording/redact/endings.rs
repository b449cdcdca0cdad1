//! Endings of a server that come at once.
//!
//! Owns how far apart two of them tell an order. A client that closes the channel and sends a signal in the same moment does
//! neither first: which of the two a server sees earlier is a race. It must not know what a client should do.

use crate::recording::{Entry, Event};

/// What comes within this time of the one before came with it, in microseconds.
const AT_ONCE_US: u64 = 30_000;

/// Says which endings belong together.
#[derive(Default)]
pub(super) struct Endings {
    /// When the one before came.
    last_us: Option<u64>,
}

impl Endings {
    /// Takes `entry` into the last of `entries`, the evidence before it, if both are endings of one server that came at once.
    /// Gives whether it did. What has no time was joined already.
    pub(super) fn joins(&mut self, entry: &Entry, entries: &mut [Entry]) -> bool {
        let Event::Ending { by } = &entry.event else {
            self.last_us = None;
            return false;
        };
        let last_us = self.last_us.replace(entry.t_us);
        let is_at_once = entry.t_us > 0
            && last_us.is_some_and(|last_us| entry.t_us.saturating_sub(last_us) <= AT_ONCE_US);
        match entries.last_mut() {
            Some(Entry {
                source,
                event: Event::Ending { by: earlier },
                ..
            }) if is_at_once && *source == entry.source => {
                let mut all: Vec<&str> = earlier.split(AND).chain([by.as_str()]).collect();
                all.sort_unstable();
                *earlier = all.join(AND);
                true
            }
            _ => false,
        }
    }
}

/// Leaves out the closing of the channel where nothing followed it. The client is gone then in the same moment: whether the
/// server still saw the channel closed, or a signal that came with it, or nothing before it was ended, is a race.
pub(super) fn settle(entries: &mut Vec<Entry>) {
    let endings = |source: &str| {
        let of_source =
            |entry: &&Entry| entry.source == source && matches!(entry.event, Event::Ending { .. });
        entries.iter().filter(of_source).count()
    };
    let is_kept = |entry: &Entry| match &entry.event {
        Event::Ending { by } => {
            endings(&entry.source) > 1 || by.split(AND).all(|one| one != "closed")
        }
        _ => true,
    };
    let kept: Vec<bool> = entries.iter().map(is_kept).collect();
    let mut kept = kept.into_iter();
    entries.retain(|_| kept.next().unwrap_or(true));
}

/// Between the names of endings that came at once.
const AND: &str = " and ";

#[cfg(test)]
mod tests {
    use super::super::evidence;
    use crate::recording::{Entry, Event};
    use crate::testing::Script;

    /// What becomes of endings at these times, in milliseconds.
    fn check(endings: &[(u64, &str)], expect: &[&str]) {
        let mut recording = Script::new(&["a"]).finish();
        recording.header.script = Some(recording.header.probes[0].clone());
        let ending = |&(ms, by): &(u64, &str)| Entry {
            t_us: ms * 1000,
            source: "server-1".to_owned(),
            event: Event::Ending { by: by.to_owned() },
        };
        recording.entries = endings.iter().map(ending).collect();
        let once = evidence(&recording);
        let found: Vec<&str> = once
            .entries
            .iter()
            .filter_map(|entry| match &entry.event {
                Event::Ending { by } => Some(by.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(found, expect);
        assert_eq!(evidence(&once), once, "twice is once");
    }

    #[test]
    fn what_comes_at_once_has_no_order() {
        let both = ["SIGTERM and closed", "nothing more"];
        check(
            &[(7, "closed"), (8, "SIGTERM"), (4008, "nothing more")],
            &both,
        );
        check(
            &[(7, "SIGTERM"), (8, "closed"), (4008, "nothing more")],
            &both,
        );
        check(&[(7, "closed"), (207, "SIGTERM")], &["closed", "SIGTERM"]);
        check(&[(7, "SIGINT"), (30, "SIGTERM"), (50, "closed")], &[]);
        check(&[(7, "SIGINT"), (30, "SIGTERM")], &["SIGINT and SIGTERM"]);
        check(&[(7, "closed")], &[]);
    }
}

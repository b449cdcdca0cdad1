//! Batches of JSON-RPC: what holds for the array, whatever its messages say.
//!
//! Owns the rules of 2025-03-26, the one revision that has batches (basic/index "Batching"); 2025-06-18 removed them.

use serde_json::Value;

use super::envelope::{self, Shape, shape};
use super::{Source, Violation};
use crate::names::Revision;

/// What is wrong with a batch as such; its messages are checked one by one. Places begin with the item's number.
#[must_use]
pub fn check(revision: Revision, items: &[&Value]) -> Vec<Violation> {
    if revision != Revision::V2025_03_26 {
        return vec![envelope::violation(
            "",
            "expected no batch in this revision",
        )];
    }
    if items.is_empty() {
        // JSON-RPC 2.0, section 6: "an Array with at least one value". The schema gives no minimum.
        let says = "expected at least one message in the batch";
        return vec![Violation {
            source: Source::Prose,
            ..envelope::violation("", says)
        }];
    }
    let is_reply = |item: &&&Value| {
        let shape = item.as_object().map(shape);
        matches!(shape, Some(Shape::Result | Shape::Error))
    };
    let replies = items.iter().filter(is_reply).count();
    if replies != 0 && replies != items.len() {
        return vec![envelope::violation(
            "",
            "expected requests or replies, not both",
        )];
    }
    let is_initialize = |item: &&Value| item["method"] == "initialize";
    let initialize = items.iter().position(is_initialize);
    let found = initialize.map(|index| Violation {
        // "The initialize request MUST NOT be part of a JSON-RPC batch"
        clause: "basic/lifecycle Initialization".to_owned(),
        source: Source::Prose,
        ..envelope::violation(
            &format!("/{index}/method"),
            "expected initialize outside a batch",
        )
    });
    found.into_iter().collect()
}

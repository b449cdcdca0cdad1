//! The order of the table is the argument of a verdict.

use crate::verdict::table::{Part, ROWS};

#[test]
fn rows_stand_in_the_order_of_the_argument() {
    let parts: Vec<Part> = ROWS.iter().map(|(part, _)| *part).collect();
    assert!(parts.is_sorted(), "{parts:?}");
    for part in [
        Part::Harness,
        Part::NotReached,
        Part::Declared,
        Part::Control,
        Part::Rules,
        Part::Fidelity,
    ] {
        assert!(parts.contains(&part), "{part:?}");
    }
}

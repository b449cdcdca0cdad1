//! The matrix as JSON: the results format.

use crate::matrix::Matrix;

/// The whole matrix, indented, with a line feed at the end.
#[must_use]
pub fn render(matrix: &Matrix) -> String {
    // All keys are strings, so that this cannot fail.
    serde_json::to_string_pretty(matrix).unwrap_or_default() + "\n"
}

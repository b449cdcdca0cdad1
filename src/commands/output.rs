//! Printing: results to standard output, everything else to standard error.

use std::io::{self, Write};

use crate::cli::Format;
use crate::matrix::Matrix;
use crate::render;

/// Prints a result.
pub(super) fn result(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Says something about the work. A closed standard error is nobody's problem.
pub(super) fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints a matrix.
pub(super) fn matrix(matrix: &Matrix, format: Format) -> io::Result<()> {
    result(&match format {
        Format::Human => render::human::render(matrix),
        Format::Json => render::json::render(matrix),
        Format::Markdown => render::markdown::render(matrix),
    })
}

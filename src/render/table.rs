//! Rows as aligned columns, for terminals and for pipes.

use comfy_table::{Table, presets};

/// The rows with their columns aligned, two spaces apart; no space at the ends of a line.
#[must_use]
pub fn plain(rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let text = table.to_string();
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "b\nc"], ["long", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(plain(&rows), "a     b\n      c\nlong\n");
    }
}

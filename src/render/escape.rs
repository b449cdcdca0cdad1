//! Making a client's words harmless: everything that a client printed is hostile text.

/// `text` for a terminal: control characters escaped, bounded to `max` characters.
#[must_use]
pub fn terminal(text: &str, max: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == max {
            out.push('…');
            break;
        }
        if is_unsafe(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Control characters, and those that reorder or hide what stands around them.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// `text` for a cell of a Markdown table or a list, bounded to `max` characters.
#[must_use]
pub fn markdown(text: &str, max: usize) -> String {
    let mut out = String::new();
    for c in terminal(text, max).chars() {
        match c {
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_escaped() {
        assert_eq!(terminal("a\u{1b}[31mb\n", 99), "a\\u{1b}[31mb\\n");
        assert_eq!(terminal("abc", 2), "ab…");
        assert_eq!(terminal("\u{202e}x", 9), "\\u{202e}x");
        assert_eq!(markdown("a|b <i> `x`", 99), "a\\|b &lt;i&gt; \\`x\\`");
    }
}

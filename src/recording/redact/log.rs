//! A client's log line -> one that is the same in every run.
//!
//! Owns what is hidden: colours, times, ids, ports, and paths that are not the sandbox's own.

/// The longest line that is kept.
const MAX: usize = 2000;

/// `line` without what changes from run to run.
pub(super) fn redact(line: &str) -> String {
    let plain = strip_escapes(line);
    let words: Vec<String> = plain.split(' ').map(word).collect();
    cut(words.join(" "))
}

/// Cuts between two words, so that no half of a word is taken for something else.
fn cut(text: String) -> String {
    if text.len() <= MAX {
        return text;
    }
    let end = (0..=MAX)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    match text[..end].rfind(' ') {
        Some(at) => text[..at].to_owned(),
        None => "<long>".to_owned(),
    }
}

fn strip_escapes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\t' {
            plain.push(' ');
        } else if c == '\u{1b}' {
            // A control sequence: ESC [ parameters, up to its final letter.
            if chars.next() == Some('[') {
                for c in chars.by_ref() {
                    if c.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
        } else if !c.is_control() {
            plain.push(c);
        }
    }
    plain
}

fn word(word: &str) -> String {
    let word = hide_uuids(word);
    let bare = word.trim_start_matches(['[', '(', '"', '\'']);
    let opening = &word[..word.len() - bare.len()];
    if is_time(bare) {
        return format!("{opening}<time>");
    }
    if is_foreign_path(bare) {
        return format!("{opening}<path>");
    }
    for host in ["127.0.0.1:", "localhost:"] {
        if let Some((before, _)) = word.split_once(host) {
            return format!("{before}{host}<port>");
        }
    }
    match word.split_once('=') {
        Some((key, value)) if is_id_name(key) && value.chars().any(|c| c.is_ascii_digit()) => {
            format!("{key}=<id>")
        }
        Some((key, value)) if is_foreign_path(value.trim_start_matches('"')) => {
            format!("{key}=<path>")
        }
        Some((key, value)) if is_time(value.trim_start_matches('"')) => format!("{key}=<time>"),
        _ => word,
    }
}

fn is_id_name(key: &str) -> bool {
    let names = ["id", "Id", "ID", "pid"];
    names.contains(&key) || ["_id", "-id", "Id"].iter().any(|end| key.ends_with(end))
}

/// The sandbox's own paths are the same on every machine.
fn is_foreign_path(word: &str) -> bool {
    word.starts_with('/') && word.len() > 1 && !word.starts_with("/mnt/")
}

fn is_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 19
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && bytes[10] == b'T'
}

/// Replaces every UUID in a word, also between quotes and in the middle of other text.
fn hide_uuids(word: &str) -> String {
    const LENGTH: usize = 36;
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(c) = rest.chars().next() {
        if rest.as_bytes().get(..LENGTH).is_some_and(is_uuid) {
            out.push_str("<uuid>");
            rest = &rest[LENGTH..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

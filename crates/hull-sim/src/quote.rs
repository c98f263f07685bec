//! How a message shows what somebody wrote: in quotes, without control characters, and cut where it is
//! long, so that no file can reach the terminal through an error.

use std::fmt::Write as _;

use toml::Value;

/// Characters that are shown of a text or a list; a value that is meant fits.
const MOST: usize = 80;

/// A text in quotes.
pub fn text(text: &str) -> String {
    format!("\"{}\"", cut(&plain(text)))
}

/// A value of a scenario file as it is written there.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(found) => text(found),
        other => cut(&plain(&other.to_string())),
    }
}

/// `text` with control characters as escapes (`\n`, `\u{1b}`).
pub fn plain(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let mut plain = String::new();
    for c in text.chars() {
        if c.is_control() {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    plain
}

/// The beginning of what is long, and how long it is.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => {
            let mut short = text[..end].to_owned();
            let all = text.chars().count();
            // Writing to a String does not fail.
            let _ = write!(short, "... ({all} characters)");
            short
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{text, value};

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(text("a\nb\u{1b}[31m\0"), "\"a\\nb\\u{1b}[31m\\u{0}\"");
        assert_eq!(text("\u{b5}s \"x\""), "\"\u{b5}s \"x\"\"");
    }

    #[test]
    fn what_is_long_is_cut() {
        let shown = text(&"x".repeat(1_000_000));
        assert!(
            shown.len() < 120 && shown.contains("(1000000 characters)"),
            "{shown}"
        );
        assert_eq!(value(&toml::Value::Integer(5)), "5");
    }
}

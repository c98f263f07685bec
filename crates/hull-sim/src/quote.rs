//! Quotes user input in messages: in quotation marks, without control characters, and shortened, so
//! that no file can send control sequences to the terminal through an error.

use std::fmt::Write as _;

use toml::Value;

/// Largest number of characters shown of a text or a list; valid values fit.
const MOST: usize = 80;
/// Largest number of characters shown of an unquoted name, such as a path or a key.
const MOST_OF_NAME: usize = 400;

/// Text in quotes.
pub fn text(text: &str) -> String {
    format!("\"{}\"", cut(&plain(text), MOST))
}

/// Value of a scenario file as written there.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(found) => text(found),
        // Avoids writing out the zeros of 1e300.
        Value::Float(found) if found.is_finite() => format!("{found:?}"),
        other => unquoted(&other.to_string()),
    }
}

/// Number, list or table as written.
pub fn unquoted(written: &str) -> String {
    cut(&plain(written), MOST)
}

/// Name of a file or a key, without quotes.
pub fn name(name: &str) -> String {
    cut(&plain(name), MOST_OF_NAME)
}

/// `text` with invisible and direction-changing characters escaped (`
/// `, `\u{1b}`, `\u{202e}`).
pub fn plain(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    let mut plain = String::new();
    for c in text.chars() {
        if is_hidden(c) {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    plain
}

/// Whether a text has no control or format characters, such as those that change the direction, and
/// no others without a picture of their own. Marks that combine with a letter are visible.
pub fn is_visible(text: &str) -> bool {
    // In a string, unlike alone, a combining mark after a letter is not escaped.
    let escaped = |c: char| format!("a{c}").escape_debug().nth(1) == Some('\\');
    !text
        .chars()
        .any(|c| c.is_control() || (!c.is_ascii() && escaped(c)))
}

/// Whether a character is a control or format character, or otherwise invisible.
fn is_hidden(c: char) -> bool {
    c.is_control() || (!c.is_ascii() && c.escape_debug().len() > 1)
}

/// Reason of a system error, without the number that Rust appends.
pub fn reason(error: &std::io::Error) -> String {
    let told = error.to_string();
    told.split(" (os error ")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Beginning of a long text, and its length.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
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
    use super::{is_visible, text, value};

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(text("a\nb\u{1b}[31m\0"), "\"a\\nb\\u{1b}[31m\\u{0}\"");
        assert_eq!(text("\u{feff}1\u{202e}ms"), "\"\\u{feff}1\\u{202e}ms\"");
        assert_eq!(text("\u{b5}s \"x\""), "\"\u{b5}s \"x\"\"");
    }

    #[test]
    fn letters_with_marks_are_visible() {
        for visible in ["leaf 0", "e\u{301}", "\u{928}\u{947}", "\u{4e2d}\"\\'"] {
            assert!(is_visible(visible), "{visible:?}");
        }
        for c in [
            '\u{202e}',
            '\u{2066}',
            '\u{200f}',
            '\u{200b}',
            '\u{ad}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert!(!is_visible(&format!("h{c}0")), "{c:?}");
        }
        assert!(!is_visible("\u{1b}[31m") && !is_visible("\u{2028}") && !is_visible("\u{e000}"));
    }

    #[test]
    fn reasons_omit_the_error_number() {
        let missing = std::fs::File::open("/no/such/file").expect_err("there is none");
        assert_eq!(super::reason(&missing), "No such file or directory");
    }

    #[test]
    fn long_values_are_truncated() {
        let shown = text(&"x".repeat(1_000_000));
        assert!(
            shown.len() < 120 && shown.contains("(1000000 characters)"),
            "{shown}"
        );
        assert_eq!(value(&toml::Value::Integer(5)), "5");
        assert_eq!(value(&toml::Value::Float(0.25)), "0.25");
        assert_eq!(value(&toml::Value::Float(1e300)), "1e300");
        assert_eq!(value(&toml::Value::Float(f64::INFINITY)), "inf");
    }
}

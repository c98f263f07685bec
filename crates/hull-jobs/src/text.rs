//! Words of text files and what is wrong with them.

use crate::problem::Problem;

/// A mistake in a line: the word that was found and what was expected.
pub fn refuse(line: u64, found: Option<&str>, expected: &str) -> Problem {
    let found = found.map_or("the end of the line".to_owned(), |word| {
        format!("`{}`", shorten(word))
    });
    Problem::new(
        format!("line {line}"),
        format!("{found}; expected {expected}"),
    )
}

/// A word for a message.
fn shorten(word: &str) -> String {
    if word.chars().count() <= 40 {
        return word.to_owned();
    }
    word.chars().take(37).chain("...".chars()).collect()
}

/// Reads a word as a number.
pub fn number<T: std::str::FromStr>(
    line: u64,
    word: Option<&str>,
    expected: &str,
) -> Result<T, Problem> {
    word.and_then(|word| word.parse().ok())
        .ok_or_else(|| refuse(line, word, expected))
}

/// Reads a word as a number of bytes or ns; programs in Python write some of them as `4096.0`.
pub fn amount(line: u64, word: Option<&str>, expected: &str) -> Result<u64, Problem> {
    let whole = word.map(|word| match word.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
        _ => word,
    });
    whole
        .and_then(|whole| whole.parse().ok())
        .ok_or_else(|| refuse(line, word, expected))
}

//! Points of a cumulative distribution function as in the files of HPCC's simulator
//! (alibaba-edu/High-Precision-Congestion-Control, `traffic_gen`) and its forks: a value and a probability in
//! each line, with blanks between them and no header. The last probability is 100 or 1, the scale of all.

use crate::quote;

/// Whether a text begins with such a line, after comments.
pub(super) fn is_of(text: &str) -> bool {
    let mut lines = lines(text);
    lines.next().is_some_and(|(_, words)| matches!(words[..], [value, cdf] if number(value).is_some() && number(cdf).is_some()))
}

/// Lines with content, with their numbers, as words.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().enumerate().filter_map(|(index, line)| {
        let words = Vec::from_iter(line.split_whitespace());
        let counts = words.first().is_some_and(|first| !first.starts_with('#'));
        counts.then_some((index + 1, words))
    })
}

fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Parses the points: values up to `largest` with probabilities up to 1.
pub(super) fn parse(text: &str, largest: f64) -> Result<Vec<(f64, f64)>, String> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (line, words) in lines(text) {
        let at = |problem: String| format!("line {line}{problem}");
        let &[value, cdf] = &words[..] else {
            let found = words.len();
            return Err(at(format!(
                ": found {found} numbers; expected a value and a probability"
            )));
        };
        let cell = |column: usize, word: &str, largest: f64| {
            let found = number(word).filter(|number| (0.0..=largest).contains(number));
            found.ok_or_else(|| {
                at(format!(
                    ", column {column}: {} is invalid; expected a number from 0 to {largest}",
                    quote::text(word)
                ))
            })
        };
        let point = (cell(1, value, largest)?, cell(2, cdf, 100.0)?);
        if let Some(&before) = points.last() {
            for (column, new, old) in [(1, point.0, before.0), (2, point.1, before.1)] {
                if new < old || point == before {
                    return Err(at(format!(
                        ", column {column}: found {new} after {old}; expected rising values"
                    )));
                }
            }
        }
        points.push(point);
    }
    let scale = points.last().map_or(0.0, |&(_, last)| last);
    if scale != 100.0 && scale != 1.0 {
        return Err(format!(
            "column 2: found {scale} in the last line; expected a table that reaches 100 or 1"
        ));
    }
    Ok(Vec::from_iter(
        points.into_iter().map(|(value, cdf)| (value, cdf / scale)),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::cdf_table::CdfTable;

    /// By hand: 22.93% up to 4000 bytes, 46.28% from there to 8000, the rest up to 16,000.
    #[test]
    fn percent_and_shares() {
        let percent = "0 0\n4000 22.93\n8000\t69.21\r\n16000 100";
        let share = "0 0.0\n4000 0.2293\n8000 0.6921\n16000 1\n";
        for text in [percent, share] {
            let table = CdfTable::read(text, "bytes").expect("good");
            let mean = 2000.0 * 0.2293 + 6000.0 * 0.4628 + 12_000.0 * 0.3079;
            assert!((table.mean() - mean).abs() < 1e-9, "{}", table.mean());
            assert!((table.quantile(0.4607) - 6000.0).abs() < 1e-6);
        }
    }

    #[test]
    fn bad_pairs_are_refused_with_line_and_column() {
        for (text, told) in [
            ("0 0\n9 50\n8 100\n", "line 3, column 1: found 8 after 9"),
            ("0 0\n8 50\n9 40\n", "line 3, column 2: found 40 after 50"),
            ("0 0\n8 50\n8 50\n", "line 3, column 1: found 8 after 8"),
            (
                "0 0\n8 50\n9 99\n",
                "found 99 in the last line; expected a table that reaches 100 or 1",
            ),
            (
                "0 0\n8 101\n",
                "line 2, column 2: \"101\" is invalid; expected a number from 0 to 100",
            ),
            ("0 0\n8 x\n", "line 2, column 2: \"x\" is invalid"),
            (
                "0 0\n8 50 7\n",
                "line 2: found 3 numbers; expected a value and a probability",
            ),
        ] {
            let error = CdfTable::read(text, "bytes").expect_err(text);
            assert!(error.contains(told), "{text:?}: {error}");
        }
    }
}

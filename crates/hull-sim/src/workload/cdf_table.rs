//! A distribution given by points of its cumulative distribution function: flow sizes in bytes, or
//! interarrival times in us.
//!
//! Between two points the value is interpolated linearly, so that all values between them are
//! equally likely. Two points with the same value are a step (that value has the difference as its
//! probability), two with the same probability a gap. A first point above probability 0 is a step.
//!
//! Two forms: CSV with a header and probabilities to 1, and the form of HPCC's simulator and its forks,
//! values and probabilities between blanks, which end at 100 or at 1.

use std::io::Cursor;

use super::cdf_pairs;
use super::csv_rows::CsvRows;
use crate::quote;
use crate::random::Stream;

/// Largest value in a table.
const LARGEST: f64 = 1e12;

/// Piecewise linear distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct CdfTable {
    /// Values with the probability of values up to them.
    points: Vec<(f64, f64)>,
}

impl CdfTable {
    /// Parses a text: CSV with the header `value_column,cdf`, or pairs between blanks without one. Lines
    /// that begin with `#` are comments. An error names line and column.
    pub fn read(text: &str, value_column: &str) -> Result<Self, String> {
        if cdf_pairs::is_of(text) {
            let points = cdf_pairs::parse(text, LARGEST)?;
            return Ok(CdfTable { points });
        }
        let mut rows = CsvRows::new(Cursor::new(text.as_bytes()));
        let columns = [value_column, "cdf"];
        let wrong = rows.next()?.and_then(|header| {
            let fits = header.iter().eq(columns.map(str::as_bytes));
            let cells = || header.iter().map(String::from_utf8_lossy);
            (!fits).then(|| quote::text(&Vec::from_iter(cells()).join(",")))
        });
        if let Some(shown) = wrong {
            return Err(rows.at_line(format!(
                ", header: {shown} is invalid; expected \"{value_column},cdf\""
            )));
        }
        let mut points: Vec<(f64, f64)> = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = [(0, LARGEST), (1, 1.0)].map(|(index, largest)| {
                let text = String::from_utf8_lossy(&row[index]).into_owned();
                let value = text.parse().ok();
                value
                    .filter(|value| (0.0..=largest).contains(value))
                    .ok_or(format!(
                        ", column {}: {} is invalid; expected a number from 0 to {largest}",
                        columns[index],
                        quote::text(&text)
                    ))
            });
            let point = match cells {
                [Ok(value), Ok(cdf)] => (value, cdf),
                [Err(problem), _] | [_, Err(problem)] => return Err(rows.at_line(problem)),
            };
            if let Some(&before) = points.last() {
                for (name, new, old) in [
                    (value_column, point.0, before.0),
                    ("cdf", point.1, before.1),
                ] {
                    if new < old || point == before {
                        return Err(rows.at_line(format!(
                            ", column {name}: found {new} after {old}; expected rising values"
                        )));
                    }
                }
            }
            points.push(point);
        }
        match points.last() {
            Some(&(_, 1.0)) => Ok(CdfTable { points }),
            Some(&(_, last)) => Err(format!(
                "column cdf: found {last} in the last line; expected a table that reaches 1"
            )),
            None => Err("found no points; expected a table that reaches 1".to_owned()),
        }
    }

    /// Value below which a share `p` of the distribution lies, 0 < p <= 1.
    pub fn quantile(&self, p: f64) -> f64 {
        let above = self.points.partition_point(|&(_, cdf)| cdf < p);
        let &(value, cdf) = self.points.get(above).unwrap_or(&(0.0, 1.0));
        match above.checked_sub(1).map(|below| self.points[below]) {
            Some((value_below, cdf_below)) => {
                value_below + (value - value_below) * ((p - cdf_below) / (cdf - cdf_below))
            }
            None => value,
        }
    }

    /// Draws a value by inverting the distribution.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.quantile(stream.uniform())
    }

    /// Mean of the distribution.
    pub fn mean(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |&(value, cdf)| value * cdf);
        let pairs = self.points.windows(2);
        first
            + pairs
                .map(|pair| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1))
                .sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn points_steps_and_gaps() {
        let text = "# a comment\nbytes, cdf\n10, 0.25\n20, 0.5\n20, 0.75\n30, 0.75\n40, 1\n";
        let table = CdfTable::read(text, "bytes").expect("a good table");
        assert_eq!(table.quantile(0.1), 10.0, "a step at the first point");
        assert_eq!(table.quantile(0.375), 15.0);
        assert_eq!(table.quantile(0.6), 20.0, "a step");
        assert_eq!(table.quantile(0.875), 35.0, "after a gap");
        assert_eq!(table.quantile(1.0), 40.0);
        // 1/4 each: 10, 10..20, 20, 30..40.
        assert_eq!(table.mean(), (10.0 + 15.0 + 20.0 + 35.0) / 4.0);
    }

    #[test]
    fn draws_have_the_mean_and_variance_of_the_law() {
        let table = CdfTable::read("bytes,cdf\n0,0\n100,0.5\n1100,1\n", "bytes").expect("good");
        let mut stream = Stream::new(7, Purpose::FlowSizes, 0);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| table.draw(&mut stream)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let square = draws.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        // Two uniforms: E x^2 = (a^2 + ab + b^2) / 3 each.
        let expected = (10_000.0 / 3.0 + (1e4 + 1.1e5 + 1.21e6) / 3.0) / 2.0;
        assert!((mean / table.mean() - 1.0).abs() < 0.01, "{mean}");
        assert!((square / expected - 1.0).abs() < 0.01, "{square}");
    }

    #[test]
    fn bad_tables_are_refused_with_line_and_column() {
        for (text, parts) in [
            (
                "size,cdf\n1,1\n",
                ["line 1", "header: \"size,cdf\"", "bytes,cdf"],
            ),
            (
                "bytes,cdf,cdf\n1,1,1\n",
                ["line 1", "header: \"bytes,cdf,cdf\"", "bytes,cdf"],
            ),
            (
                "bytes,bytes\n1,1\n",
                ["line 1", "\"bytes,bytes\"", "bytes,cdf"],
            ),
            ("bytes,cdf\n1,x\n", ["line 2", "column cdf", "\"x\""]),
            (
                "bytes,cdf\n1,0.5\n\n-3,1\n",
                ["line 4", "column bytes", "\"-3\""],
            ),
            ("bytes,cdf\n1,1.5\n", ["line 2", "column cdf", "1.5"]),
            ("bytes,cdf\nNaN,1\n", ["line 2", "column bytes", "NaN"]),
            (
                "bytes,cdf\n9,0.5\n8,1\n",
                ["line 3", "column bytes", "8 after 9"],
            ),
            (
                "bytes,cdf\n8,0.5\n9,0.4\n",
                ["line 3", "column cdf", "0.4 after 0.5"],
            ),
            (
                "bytes,cdf\n8,0.5\n8,0.5\n",
                ["line 3", "8 after 8", "rising"],
            ),
            (
                "bytes,cdf\n8,0.5\n9,0.9\n",
                ["column cdf", "0.9", "reaches 1"],
            ),
            ("bytes,cdf\n", ["no points", "expected", "reaches 1"]),
            ("bytes,cdf\n8,0.5,7\n", ["line 2", "3 cells", "2 as"]),
        ] {
            let error = CdfTable::read(text, "bytes").expect_err(text);
            for part in parts {
                assert!(error.contains(part), "{text:?}: {error}");
            }
        }
    }
}

//! The values of a swept key: a list, or a range `"start:stop:step"` with units,
//! `"800Mbps:950Mbps:50Mbps"`. Decimals are added as integers, so `"0.1:0.7:0.2"` ends with 0.7; the
//! stop is included if a step reaches it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::quote;

/// Largest number of values of one range.
const MOST: i128 = 100_000;

/// The values of a swept key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a list of values or a range \"start:stop:step\""
)]
#[schemars(extend("x-form" = "a list of values or a range \"start:stop:step\""))]
pub enum Swept {
    /// Values; a text among them may be a range.
    #[schemars(with = "Vec<serde_json::Value>")]
    List(Vec<Value>),
    /// A range.
    Range(String),
}

impl Swept {
    /// Returns the values; an error states what was found and what is expected.
    pub(super) fn values(&self) -> Result<Vec<Value>, String> {
        let values = match self {
            Swept::List(list) => {
                let mut all = Vec::new();
                for value in list {
                    let swept = value.as_str().map(range).transpose()?.flatten();
                    all.extend(swept.unwrap_or_else(|| vec![value.clone()]));
                }
                all
            }
            Swept::Range(text) => range(text)?.ok_or_else(|| {
                let found = quote::text(text);
                format!(
                    "{found} is invalid; expected a list of values or a range \"start:stop:step\""
                )
            })?,
        };
        if values.is_empty() {
            return Err("found an empty list; expected a list of values".to_owned());
        }
        Ok(values)
    }
}

/// Decimal number in units of 10^-`digits`, and the unit that follows it.
struct Decimal<'t> {
    scaled: i128,
    digits: u32,
    unit: &'t str,
}

impl<'t> Decimal<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let text = text.trim();
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let plain = whole.trim_start_matches('-').len() + 1 >= whole.len()
            && fraction.bytes().all(|b| b.is_ascii_digit());
        if !plain || fraction.len() > 9 || number.len() > 24 {
            return None;
        }
        Some(Decimal {
            scaled: format!("{whole}{fraction}").parse().ok()?,
            digits: fraction.len() as u32,
            unit: unit.trim_start(),
        })
    }

    fn at(&self, digits: u32) -> i128 {
        self.scaled * 10_i128.pow(digits - self.digits)
    }
}

/// Returns the values of a range; `None` if the text has no colon and so is not a range.
pub fn range(text: &str) -> Result<Option<Vec<Value>>, String> {
    if !text.contains(':') {
        return Ok(None);
    }
    let wrong = |why: &str| {
        Err(format!(
            "found {}, {why}; expected a range \"start:stop:step\", such as \"0.2:0.6:0.1\" \
             or \"800Mbps:950Mbps:50Mbps\"",
            quote::text(text)
        ))
    };
    let parts: Vec<_> = text.split(':').collect();
    let [start, stop, step] = parts[..] else {
        return wrong(&format!("which has {} parts", parts.len()));
    };
    let parts = [start, stop, step].map(Decimal::parse);
    let [Some(start), Some(stop), Some(step)] = &parts else {
        return wrong("in which a part is no number");
    };
    if start.unit != stop.unit || start.unit != step.unit {
        return wrong("whose three parts differ in their units");
    }
    let digits = start.digits.max(stop.digits).max(step.digits);
    let (from, to, by) = (start.at(digits), stop.at(digits), step.at(digits));
    if by == 0 {
        return wrong("whose step is 0");
    }
    if (to - from).signum() * by.signum() < 0 {
        return wrong("which is empty: its step leads away from the stop");
    }
    let steps = (to - from) / by;
    if steps >= MOST {
        return wrong(&format!("which has more than {MOST} values"));
    }
    let value = |step: i128| plain(from + step * by, digits, start.unit);
    Ok(Some((0..=steps).map(value).collect()))
}

/// Formats a decimal: a number if it has no unit, otherwise a string.
fn plain(scaled: i128, digits: u32, unit: &str) -> Value {
    let one = 10_u128.pow(digits);
    let (whole, rest) = (scaled.unsigned_abs() / one, scaled.unsigned_abs() % one);
    let sign = if scaled < 0 { "-" } else { "" };
    let fraction = format!("{rest:0width$}", width = digits as usize);
    let fraction = fraction.trim_end_matches('0');
    let text = if rest == 0 {
        format!("{sign}{whole}{unit}")
    } else {
        format!("{sign}{whole}.{fraction}{unit}")
    };
    if !unit.is_empty() {
        return Value::String(text);
    }
    match (digits, text.parse(), text.parse()) {
        (0, Ok(integer), _) => Value::Integer(integer),
        (_, _, Ok(float)) => Value::Float(float),
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    fn texts(text: &str) -> Vec<String> {
        let values = range(text).expect("right").expect("a range");
        values.iter().map(|value| value.to_string()).collect()
    }

    #[test]
    fn ends_at_the_stop_where_steps_reach_it() {
        assert_eq!(texts("0.1:0.7:0.2"), ["0.1", "0.3", "0.5", "0.7"]);
        assert_eq!(texts("0.2:0.65:0.2"), ["0.2", "0.4", "0.6"]);
        assert_eq!(texts("1:4:1"), ["1", "2", "3", "4"]);
        assert_eq!(texts("20%:60%:20%"), ["\"20%\"", "\"40%\"", "\"60%\""]);
        assert_eq!(texts("10KB:8KB:-1.5KB"), ["\"10KB\"", "\"8.5KB\""]);
        assert_eq!(texts("5:5:1"), ["5"]);
    }

    #[test]
    fn invalid_ranges_are_explained() {
        let why = |text| range(text).expect_err("wrong");
        assert!(why("0.6:0.2:0.1").contains("empty"));
        assert!(why("0.2:0.6:0").contains("step is 0"));
        assert!(why("0.2:0.6").contains("2 parts"));
        assert!(why("a:b:c").contains("no number"));
        assert!(why("800Mbps:1Gbps:50Mbps").contains("units"));
        assert!(why("0:1:0.000001").contains("more than"));
        assert_eq!(range("30KB"), Ok(None));
    }
}

//! Whole numbers that TOML cannot hold, by key: its reader would name the line only, in Rust's words.

use toml::de::{DeTable, DeValue};

use crate::quote;

/// The first whole number of a file beyond 63 bits and sign: its key, and what is wrong.
pub(super) fn beyond(text: &str) -> Option<(String, String)> {
    let table = DeTable::parse(text).ok()?.into_inner();
    in_table(&table, "")
}

fn in_table(table: &DeTable<'_>, path: &str) -> Option<(String, String)> {
    let dot = if path.is_empty() { "" } else { "." };
    table.iter().find_map(|(key, value)| {
        let key = format!("{path}{dot}{}", key.get_ref());
        in_value(value.get_ref(), key)
    })
}

fn in_value(value: &DeValue<'_>, key: String) -> Option<(String, String)> {
    match value {
        DeValue::Integer(number) => {
            let fits = i64::from_str_radix(number.as_str(), number.radix()).is_ok();
            let shown = quote::unquoted(&number.to_string());
            let told = format!("{shown} is invalid; expected a whole number of at most 63 bits");
            (!fits).then_some((key, told))
        }
        DeValue::Table(table) => in_table(table, &key),
        DeValue::Array(list) => {
            let mut list = list.iter().enumerate();
            list.find_map(|(i, value)| in_value(value.get_ref(), format!("{key}[{i}]")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn the_key_is_named() {
        let keys = |text: &str| beyond(text).map(|(key, _)| key);
        assert_eq!(keys("[a]\nb = 9223372036854775807"), None);
        assert_eq!(keys("[a]\nb = 9223372036854775808"), Some("a.b".to_owned()));
        assert_eq!(
            keys("[[c]]\nd = [{ e = -9223372036854775809 }]"),
            Some("c[0].d[0].e".to_owned())
        );
        let (_, told) = beyond("f = 99999999999999999999").expect("too large");
        assert!(
            told.starts_with("99999999999999999999 is invalid"),
            "{told}"
        );
    }
}

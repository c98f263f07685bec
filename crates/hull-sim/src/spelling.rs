//! Misspelt names: how far apart two names are, and which known name is meant.

/// Length above which a name cannot be a misspelt key, bytes.
pub(crate) const LONGEST: usize = 60;

/// Returns the most similar known name, if one is similar enough.
pub(crate) fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    if name.len() > LONGEST {
        return None;
    }
    let name = plain(name);
    let ranked = known.filter_map(|candidate| {
        let length = name.chars().count().min(candidate.chars().count());
        let begins = length >= 3 && (name.starts_with(candidate) || candidate.starts_with(&name));
        let apart = distance(&name, candidate);
        let similar = apart <= length.div_ceil(3) && apart < length;
        (similar || begins).then_some((apart, candidate))
    });
    let best = ranked.min_by_key(|&(apart, _)| apart)?;
    Some(best.1)
}

/// Number of letters to insert, delete, replace or swap (optimal string alignment).
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let differs = usize::from(one[i - 1] != other[j - 1]);
            let mut least = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + differs);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn edit_distance() {
        assert_eq!(distance("duratoin", "duration"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn similar_names_are_found() {
        let known = ["rate", "delay", "nic_buffer", "g", "stack_delay"];
        let of = |name: &str| nearest(name, known.into_iter());
        for (name, meant) in [
            ("rates", "rate"),
            ("Rate", "rate"),
            ("rtae", "rate"),
            ("rate2", "rate"),
            ("nic-buffer", "nic_buffer"),
            ("nic", "nic_buffer"),
            ("stackdelay", "stack_delay"),
        ] {
            assert_eq!(of(name), Some(meant), "{name}");
        }
        for name in ["colour", "x", "", "gain", "latency"] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(of(&"rate".repeat(100_000)), None);
    }
}

//! Names of link attributes that mean `rate` or `delay`: other spellings, synonyms and names with a
//! unit, such as `Rate`, `bandwidth`, `LinkSpeed` and `latency_us`. A link with such a name instead of
//! the right one would silently get the scenario's default. Names of something else are not near:
//! `label`, `weight`, `length`, `loss_rate`.

use std::collections::HashMap;

use crate::spelling::distance;

/// Attribute that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// `rate`.
    Rate,
    /// `delay`.
    Delay,
}

impl Meant {
    /// Name of the attribute.
    pub(super) fn name(self) -> &'static str {
        match self {
            Meant::Rate => "rate",
            Meant::Delay => "delay",
        }
    }
}

/// Words that mean a rate.
const OF_RATE: [&str; 24] = [
    "rate",
    "rates",
    "bandwidth",
    "bw",
    "cap",
    "capacity",
    "speed",
    "throughput",
    "bitrate",
    "datarate",
    "linerate",
    "linkrate",
    "linkspeed",
    "bps",
    "kbps",
    "mbps",
    "gbps",
    "tbps",
    "mbit",
    "mbits",
    "gbit",
    "gbits",
    "gbe",
    "gigabit",
];
/// Words that mean a delay.
const OF_DELAY: [&str; 6] = [
    "delay",
    "delays",
    "latency",
    "propagation",
    "rtt",
    "linkdelay",
];
/// Words of misspelt names.
const SPELT: [(&str, Meant); 5] = [
    ("rate", Meant::Rate),
    ("bandwidth", Meant::Rate),
    ("capacity", Meant::Rate),
    ("delay", Meant::Delay),
    ("latency", Meant::Delay),
];
/// Words of names that measure or limit something else.
const OF_OTHERS: [&str; 17] = [
    "arrival",
    "drop",
    "error",
    "errors",
    "failure",
    "free",
    "hash",
    "load",
    "loss",
    "packet",
    "queue",
    "refresh",
    "repair",
    "sampling",
    "used",
    "utilization",
    "utilisation",
];
/// Length above which a name is something else, bytes.
const LONGEST: usize = 40;

/// Meanings of the names of a graph's attributes, each found once.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<String, Option<Meant>>);

impl Names {
    /// Attribute that this name means, if it is not the attribute's own.
    pub(super) fn meant(&mut self, name: &str) -> Option<Meant> {
        let Names(known) = self;
        if let Some(&found) = known.get(name) {
            return found;
        }
        let found = meant(name);
        known.insert(name.to_owned(), found);
        found
    }
}

/// Attribute that the name of a link's attribute means, if it is not the attribute's own name.
pub(super) fn meant(name: &str) -> Option<Meant> {
    if name.len() > LONGEST || name == "rate" || name == "delay" {
        return None;
    }
    let words = words(name);
    if words.iter().any(|word| OF_OTHERS.contains(&word.as_str())) {
        return None;
    }
    words.iter().find_map(|word| of_word(word))
}

fn of_word(word: &str) -> Option<Meant> {
    if OF_RATE.contains(&word) {
        return Some(Meant::Rate);
    }
    if OF_DELAY.contains(&word) {
        return Some(Meant::Delay);
    }
    // The first letter is rarely wrong, and it distinguishes rate from date, delay from relay.
    let is_close = |right: &str| {
        let most = if right.len() > 5 { 2 } else { 1 };
        word.len() > 3
            && word.chars().next() == right.chars().next()
            && distance(word, right) <= most
    };
    SPELT
        .into_iter()
        .find_map(|(right, meant)| is_close(right).then_some(meant))
}

/// Words of a name in lower case: separated by other characters than letters, or by capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        after_lower = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphabetic(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::{Meant, meant};

    #[test]
    fn other_names_of_rate_and_delay() {
        for name in [
            "Rate",
            "RATE",
            "rates",
            "rtae",
            "rate_gbps",
            "rateGbps",
            "link-rate",
            "data rate",
            "bandwidth",
            "Bandwidth",
            "bandwdth",
            "bw",
            "BW",
            "capacity",
            "Capacity",
            "capactiy",
            "speed",
            "LinkSpeed",
            "LinkSpeedRaw",
            "linkspeed",
            "Gbps",
            "max_bw",
            "rate2",
        ] {
            assert_eq!(meant(name), Some(Meant::Rate), "{name}");
        }
        for name in [
            "Delay",
            "DELAY",
            "dealy",
            "delays",
            "latency",
            "Latency",
            "latncy",
            "latency_us",
            "latencyMs",
            "prop_delay",
            "propagation",
            "rtt",
            "link.delay",
        ] {
            assert_eq!(meant(name), Some(Meant::Delay), "{name}");
        }
    }

    #[test]
    fn names_of_something_else() {
        for name in [
            "rate",
            "delay",
            "label",
            "id",
            "key",
            "weight",
            "colour",
            "color",
            "length",
            "distance",
            "cost",
            "metric",
            "name",
            "type",
            "width",
            "state",
            "date",
            "gate",
            "late",
            "relay",
            "range",
            "ratio",
            "route",
            "lag",
            "loss",
            "loss_rate",
            "error_rate",
            "queue_delay",
            "x",
            "",
            "capability",
            "layer",
            "lat",
            "latitude",
            "display",
            "band",
            "kind",
            "tier",
        ] {
            assert_eq!(meant(name), None, "{name}");
        }
        assert_eq!(meant(&"rate ".repeat(1000)), None);
    }
}

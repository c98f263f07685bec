//! A statistic: the registry's description of a number in a part's summary.

use std::borrow::Cow;

use serde_json::{Value, json};

use Unit::{BitPerSecond, Byte, Count, Microsecond, Packet, PerSecond, Second, Share};

/// Unit of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packets.
    Packet,
    /// Bytes.
    Byte,
    /// Seconds.
    Second,
    /// Microseconds.
    Microsecond,
    /// Bits per second.
    BitPerSecond,
    /// Events per second.
    PerSecond,
    /// Number of other things, an integer.
    Count,
    /// Share, index or other dimensionless number that need not be an integer.
    Share,
}

impl Unit {
    /// Symbol of the unit.
    pub const fn sign(self) -> &'static str {
        match self {
            Packet => "packet",
            Byte => "byte",
            Second => "s",
            Microsecond => "us",
            BitPerSecond => "bit/s",
            PerSecond => "1/s",
            Count | Share => "1",
        }
    }

    /// Ending of a key in `summary.json` that states the unit. The statistic's name omits it.
    const fn ending(self) -> &'static str {
        match self {
            Second => "_seconds",
            Microsecond => "_us",
            BitPerSecond => "_bps",
            PerSecond => "_per_second",
            Packet | Byte | Count | Share => "",
        }
    }

    const fn is_whole(self) -> bool {
        matches!(self, Packet | Byte | Count)
    }
}

/// Combination of the values of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// Mean over the seeds of a cell, with its 95% confidence interval.
    Mean,
    /// Sum over the parts of a run.
    Sum,
    /// Maximum over the parts of a run.
    Max,
    /// Not combined: only each part has it.
    Not,
}

/// Description of a number in the summary of a part.
#[derive(Clone, Debug)]
pub struct Statistic {
    key: Cow<'static, str>,
    unit: Unit,
    combined: Combined,
    meaning: Cow<'static, str>,
    of_machine: bool,
    where_several: bool,
    reported: Option<(&'static str, &'static str)>,
}

impl Statistic {
    /// Creates a statistic. `key` is its dotted place in `summary.json`; `<port>` and the like
    /// stand for any name, `<statistic>` for each statistic of a distribution.
    pub const fn new(
        key: &'static str,
        unit: Unit,
        combined: Combined,
        meaning: &'static str,
    ) -> Self {
        Statistic {
            key: Cow::Borrowed(key),
            unit,
            combined,
            meaning: Cow::Borrowed(meaning),
            of_machine: false,
            where_several: false,
            reported: None,
        }
    }

    /// Marks a statistic that differs between executions; sweeps omit it.
    pub const fn of_machine(mut self) -> Self {
        self.of_machine = true;
        self
    }

    /// Marks a statistic that exists only if a scenario has several transports, groups, or a workload
    /// that ends. A cell has it after all others.
    pub const fn where_several(mut self) -> Self {
        self.where_several = true;
        self
    }

    /// Adds the statistic to the tables of reports, in this group of rows and with this label.
    pub const fn reported(mut self, group: &'static str, label: &'static str) -> Self {
        self.reported = Some((group, label));
        self
    }

    /// Whether its key begins with this name.
    pub fn is_in(&self, group: &str) -> bool {
        self.key.split('.').next() == Some(group)
    }

    /// The same statistic of one of several transports or groups, whose keys begin with `of`.
    pub fn below(&self, of: &str) -> Self {
        let key = Cow::Owned(format!("{of}.{}", self.key));
        let group = self.key.split('.').next().unwrap_or_default();
        let meaning = Cow::Owned(format!("as in `{group}`"));
        Statistic {
            key,
            meaning,
            ..self.clone()
        }
        .where_several()
    }

    /// The statistics that it stands for, if its key contains a placeholder for one of these names:
    /// each with its description in the meaning.
    pub fn of_each(self, placeholder: &str, names: &[(&str, &str)]) -> Vec<Self> {
        if !self.key.contains(placeholder) {
            return vec![self];
        }
        let one = |&(name, description): &(&str, &str)| Statistic {
            key: Cow::Owned(self.key.replace(placeholder, name)),
            meaning: Cow::Owned(self.meaning.replace(placeholder, description)),
            ..self.clone()
        };
        names.iter().map(one).collect()
    }

    /// JSON as written by `hull statistics --format json`. `name` is the key without its unit, as
    /// used in sweeps; `whole` tells whether a part's value is an integer; `reported` is null, or
    /// group and label.
    pub fn to_json(&self) -> Value {
        let name = self.key.strip_suffix(self.unit.ending());
        json!({
            "key": self.key,
            "name": name.unwrap_or(&self.key),
            "unit": self.unit.sign(),
            "whole": self.unit.is_whole(),
            "combined": match self.combined {
                Combined::Mean => "mean",
                Combined::Sum => "sum",
                Combined::Max => "max",
                Combined::Not => "not",
            },
            "of_machine": self.of_machine,
            "where_several": self.where_several,
            "meaning": self.meaning,
            "reported": self.reported,
        })
    }
}

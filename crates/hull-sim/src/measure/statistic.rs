//! A statistic: the registry's description of a number in a part's summary.

use serde_json::{Value, json};

use Unit::{BitPerSecond, Byte, Count, Microsecond, Packet, PerSecond, Second, Share};

/// The statistics of a distribution, which `<statistic>` stands for in a key.
pub const OF_DISTRIBUTION: [&str; 6] = ["mean", "p50", "p90", "p99", "p999", "max"];

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
    /// A whole number of anything else.
    Count,
    /// A share or an index: a number without a unit that need not be whole.
    Share,
}

impl Unit {
    /// Its sign.
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

    /// How a key of `summary.json` ends that names it, which the statistic's name does not.
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

/// How the values of several parts become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// The mean over the seeds of a cell, with its 95% interval.
    Mean,
    /// The sum over the parts of a run.
    Sum,
    /// The largest of the parts of a run.
    Max,
    /// Not at all: it is in each part only.
    Not,
}

/// A number in the summary of a part.
#[derive(Clone, Copy, Debug)]
pub struct Statistic {
    key: &'static str,
    unit: Unit,
    combined: Combined,
    meaning: &'static str,
    of_machine: bool,
    where_several: bool,
    reported: Option<(&'static str, &'static str)>,
}

impl Statistic {
    /// `key` is its place in `summary.json`, with dots between the names; `<port>` and the like stand
    /// for any name, `<statistic>` for each of a distribution.
    pub const fn new(
        key: &'static str,
        unit: Unit,
        combined: Combined,
        meaning: &'static str,
    ) -> Self {
        Statistic {
            key,
            unit,
            combined,
            meaning,
            of_machine: false,
            where_several: false,
            reported: None,
        }
    }

    /// It differs from one execution to the next: sweeps leave it out.
    pub const fn of_machine(mut self) -> Self {
        self.of_machine = true;
        self
    }

    /// It is there only where a scenario has several of a thing; a cell has it after all others.
    pub const fn where_several(mut self) -> Self {
        self.where_several = true;
        self
    }

    /// The tables of reports have it, in this group of rows under this label.
    pub const fn reported(mut self, group: &'static str, label: &'static str) -> Self {
        self.reported = Some((group, label));
        self
    }

    /// As `hull statistics --format json` writes it. `name` is the key without its unit, as sweeps call
    /// it; `whole` says whether a part's value is a whole number; `reported` is null or group and label.
    pub fn to_json(&self) -> Value {
        let name = self.key.strip_suffix(self.unit.ending());
        json!({
            "key": self.key,
            "name": name.unwrap_or(self.key),
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

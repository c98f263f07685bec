//! Flow sizes, bytes: fixed, Pareto (paper 6.3), or from a table.
//!
//! A size is drawn by inverting the distribution function and rounding to whole bytes, at least 1.
//! [`SizeDistribution::mean`] is the mean of the distribution, truncated or not. For the paper's Pareto
//! (shape 1.05, mean 100 KB, not truncated) the mean of a run differs from it: half of it is in flows
//! above 5 GB, one in two million draws. See docs/workloads.md.

use std::io::ErrorKind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CdfTable;
use crate::problem::{Problem, quoted, refuse, require};
use crate::quote;
use crate::random::Stream;
use crate::text_file;
use crate::units::Size;

/// Largest flow size that a scenario may set, bytes: 1 TB.
pub const MAX_FLOW_BYTES: u64 = 1_000_000_000_000;

/// The distribution of flow sizes; exactly one key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// All flows have this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Size>,
    /// Pareto (paper 6.3: shape 1.05, mean 100 KB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<Pareto>,
    /// A table by name (websearch, datamining, hadoop, production) or the path of a CSV file with
    /// the header `bytes,cdf`, or of a file of HPCC's simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<String>,
}

/// A Pareto distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// Exponent of the tail, above 1.
    pub shape: f64,
    /// Mean of the untruncated distribution.
    pub mean: Size,
    /// Largest size; larger draws are repeated. Unset: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Size>,
}

/// Checks the size of a message.
pub(super) fn message(key: &str, size: Size) -> Result<(), Problem> {
    let fits = (1..=MAX_FLOW_BYTES).contains(&size.0);
    require(fits, key, quoted(size), "1B to 1000GB")
}

/// Checks the distribution at `key`.
pub(super) fn check(key: &str, sizes: &Sizes) -> Result<(), Problem> {
    match (&sizes.fixed, &sizes.pareto, &sizes.csv) {
        (Some(size), None, None) => message(&format!("{key}.fixed"), *size),
        (None, Some(law), None) => pareto(&format!("{key}.pareto"), law),
        (None, None, Some(_)) => Ok(()), // the file is read with the hosts at hand
        (None, None, None) => refuse(key, "no distribution", "one of fixed, pareto, csv"),
        _ => refuse(
            key,
            "several distributions",
            "exactly one of fixed, pareto, csv",
        ),
    }
}

fn pareto(key: &str, law: &Pareto) -> Result<(), Problem> {
    require(
        law.shape > 1.0 && law.shape <= 100.0,
        &format!("{key}.shape"),
        law.shape,
        "above 1 (the mean is infinite else) and at most 100",
    )?;
    message(&format!("{key}.mean"), law.mean)?;
    match law.cut {
        Some(cut) => {
            message(&format!("{key}.cut"), cut)?;
            require(
                cut >= law.mean,
                &format!("{key}.cut"),
                quoted(cut),
                "at least the mean",
            )
        }
        None => Ok(()),
    }
}

/// Largest size of a file with a table, bytes.
const MOST_BYTES: u64 = 100_000_000;

/// Largest flow that an untruncated Pareto distribution can generate, bytes: 2^50. One draw in
/// 10^11 of the paper's would be larger.
const LARGEST: f64 = (1_u64 << 50) as f64;

/// Built-in tables by name.
const SHIPPED: [(&str, &str); 4] = [
    ("websearch", include_str!("sizes/websearch.csv")),
    ("datamining", include_str!("sizes/datamining.csv")),
    ("hadoop", include_str!("sizes/hadoop.csv")),
    ("production", include_str!("sizes/production.csv")),
];

/// Distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeDistribution {
    /// All flows have this size.
    Fixed(u64),
    /// Pareto, truncated or not.
    Pareto(ParetoSizes),
    /// A table of the distribution function.
    Table(CdfTable),
}

/// Pareto distribution: a share (least / x)^shape of the flows is larger than x.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoSizes {
    shape: f64,
    least: f64,
    /// Share of the untruncated distribution above the cut, and the cut, bytes; 0 and infinity
    /// without a cut.
    above_cut: f64,
    cut: f64,
}

impl ParetoSizes {
    /// Creates the distribution that the scenario describes.
    pub fn new(law: &Pareto) -> Self {
        let least = law.mean.0 as f64 * (law.shape - 1.0) / law.shape;
        let cut = law.cut.map_or(f64::INFINITY, |cut| cut.0 as f64);
        ParetoSizes {
            shape: law.shape,
            least,
            above_cut: (least / cut).powf(law.shape),
            cut,
        }
    }

    /// Draws a size, bytes, not rounded.
    fn draw(&self, stream: &mut Stream) -> f64 {
        let above = self.above_cut + (1.0 - self.above_cut) * stream.uniform();
        (self.least * above.powf(-1.0 / self.shape)).min(LARGEST)
    }

    /// Mean of the distribution, truncated at its cut, bytes.
    pub fn mean(&self) -> f64 {
        let uncut = self.least * self.shape / (self.shape - 1.0);
        if self.cut.is_infinite() {
            return uncut;
        }
        // Bytes in flows up to the cut, over the share of those flows.
        uncut * (1.0 - (self.least / self.cut).powf(self.shape - 1.0)) / (1.0 - self.above_cut)
    }
}

impl SizeDistribution {
    /// Creates the distribution that the scenario requests at `key`.
    pub(super) fn new(key: &str, sizes: &Sizes) -> Result<Self, Problem> {
        if let Some(size) = sizes.fixed {
            return Ok(SizeDistribution::Fixed(size.0));
        }
        if let Some(law) = &sizes.pareto {
            return Ok(SizeDistribution::Pareto(ParetoSizes::new(law)));
        }
        let source = sizes.csv.as_deref().unwrap_or_default();
        SizeDistribution::table(&format!("{key}.csv"), source)
    }

    /// Loads the table at `key`: a built-in one by name, or a file.
    pub(super) fn table(key: &str, source: &str) -> Result<Self, Problem> {
        table(key, source, &SHIPPED, "bytes").map(SizeDistribution::Table)
    }

    /// Draws a size, bytes.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            SizeDistribution::Fixed(bytes) => *bytes,
            SizeDistribution::Pareto(law) => (law.draw(stream).round() as u64).max(1),
            SizeDistribution::Table(table) => {
                (table.draw(stream).round() as u64).clamp(1, MAX_FLOW_BYTES)
            }
        }
    }

    /// Mean of the distribution, bytes.
    pub fn mean(&self) -> f64 {
        match self {
            SizeDistribution::Fixed(bytes) => *bytes as f64,
            SizeDistribution::Pareto(law) => law.mean(),
            SizeDistribution::Table(table) => table.mean(),
        }
    }
}

/// Loads the table at `key`: one of `shipped` by name, or the file with that path.
pub(super) fn table(
    key: &str,
    source: &str,
    shipped: &[(&str, &str)],
    column: &str,
) -> Result<CdfTable, Problem> {
    let problem = |problem: String| Problem::new(key, problem);
    if let Some((_, text)) = shipped.iter().find(|(name, _)| *name == source) {
        return CdfTable::read(text, column).map_err(problem);
    }
    let text = text_file::read(source, MOST_BYTES).map_err(|error| {
        if error.kind() == ErrorKind::InvalidData {
            return problem(format!("{} {error}", quote::name(source)));
        }
        let names: Vec<&str> = shipped.iter().map(|(name, _)| *name).collect();
        problem(format!(
            "found {} ({}); expected one of {} or the path of a CSV file",
            quote::text(source),
            quote::reason(&error),
            names.join(", ")
        ))
    })?;
    CdfTable::read(&text, column)
        .map_err(|error| problem(format!("{}: {error}", quote::name(source))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use crate::units::Size;

    fn pareto(cut: Option<u64>) -> SizeDistribution {
        SizeDistribution::Pareto(ParetoSizes::new(&Pareto {
            shape: 1.05,
            mean: Size(100_000),
            cut: cut.map(Size),
        }))
    }

    fn draws(law: &SizeDistribution, seed: u64, count: usize) -> impl Iterator<Item = u64> {
        let mut stream = Stream::new(seed, Purpose::FlowSizes, 0);
        (0..count).map(move |_| law.draw(&mut stream))
    }

    /// Thesis table 4.6: upper bounds of the classes, shares of flows and of bytes in percent.
    const TABLE_4_6: [(u64, f64, f64); 4] = [
        (10_000, 53.04, 6.51),
        (100_000, 42.78, 19.25),
        (10_000_000, 4.14, 32.46),
        (u64::MAX, 0.04, 41.78),
    ];

    /// Shares of flows and bytes, percent, in the classes of the table.
    fn shares(sizes: impl Iterator<Item = u64>) -> [(f64, f64); 4] {
        let mut sums = [(0_u64, 0_u64); 4];
        for size in sizes {
            let class = TABLE_4_6.partition_point(|&(bound, _, _)| bound < size);
            sums[class].0 += 1;
            sums[class].1 += size;
        }
        let flows: u64 = sums.iter().map(|sum| sum.0).sum();
        let bytes: u64 = sums.iter().map(|sum| sum.1).sum();
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
        sums.map(|sum| (percent(sum.0, flows), percent(sum.1, bytes)))
    }

    #[test]
    fn flow_shares_match_table_4_6_and_the_law() {
        let found = shares(draws(&pareto(None), 1, 1_000_000));
        let least: f64 = 100_000.0 * 0.05 / 1.05;
        let above = |bound: u64| {
            if bound == u64::MAX {
                0.0
            } else {
                100.0 * (least / bound as f64).powf(1.05)
            }
        };
        let mut before = 100.0;
        for ((flows, _), &(bound, published, _)) in found.iter().zip(&TABLE_4_6) {
            let law = before - above(bound);
            before = above(bound);
            assert!((flows - law).abs() < 0.2, "{flows} {law}");
            // The table is one sample of five million; its first class is a point below the law.
            assert!((flows - published).abs() < 1.3, "{flows} {published}");
        }
    }

    #[test]
    fn byte_shares_match_table_4_6_at_its_sample_size() {
        // By the law, flows above 10 MB carry 68.2% of the bytes, most of them in flows too rare
        // for five million draws. The table shows a typical sample of five million; the test takes
        // the median of nine samples.
        let samples: Vec<[(f64, f64); 4]> = (1..=9)
            .map(|seed| shares(draws(&pareto(None), seed, 5_000_000)))
            .collect();
        for (class, &(_, _, published)) in TABLE_4_6.iter().enumerate() {
            let mut bytes: Vec<f64> = samples.iter().map(|sample| sample[class].1).collect();
            bytes.sort_by(f64::total_cmp);
            let median = bytes[4];
            assert!(
                (median / published - 1.0).abs() < 0.2,
                "{median} {published}"
            );
        }
    }

    #[test]
    fn truncated_pareto_has_the_moments_of_its_law() {
        let law = pareto(Some(10_000_000));
        // From the thesis: sizes up to 10 MB contribute 1 - (x_m/x)^0.05 of the mean of 100 KB.
        let least: f64 = 100_000.0 * 0.05 / 1.05;
        let ratio = least / 1e7;
        let mean = 100_000.0 * (1.0 - ratio.powf(0.05)) / (1.0 - ratio.powf(1.05));
        assert!((law.mean() / mean - 1.0).abs() < 1e-12);
        let sizes: Vec<u64> = draws(&law, 3, 2_000_000).collect();
        let found = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        assert!((found / mean - 1.0).abs() < 0.02, "{found} {mean}");
        assert!(sizes.iter().all(|&size| size <= 10_000_000));
        assert!(sizes.iter().all(|&size| size >= 4761));
    }

    #[test]
    fn a_light_tailed_pareto_has_the_variance_of_its_law() {
        let law = SizeDistribution::Pareto(ParetoSizes::new(&Pareto {
            shape: 6.0,
            mean: Size(60_000),
            cut: None,
        }));
        let sizes: Vec<u64> = draws(&law, 4, 500_000).collect();
        let n = sizes.len() as f64;
        let mean = sizes.iter().sum::<u64>() as f64 / n;
        let variance = sizes
            .iter()
            .map(|&x| (x as f64 - mean).powi(2))
            .sum::<f64>()
            / n;
        // x_m^2 a / ((a-1)^2 (a-2)), x_m = 50 KB.
        let expected = 50_000.0_f64.powi(2) * 6.0 / (25.0 * 4.0);
        assert!((mean / 60_000.0 - 1.0).abs() < 0.003, "{mean}");
        assert!((variance / expected - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn shipped_tables_can_be_read_and_have_their_mean() {
        for (name, _) in SHIPPED {
            let law = SizeDistribution::table("k", name).expect(name);
            let sizes: Vec<u64> = draws(&law, 5, 1_000_000).collect();
            let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
            // The heaviest, data mining, has 2% of its flows above 100 MB.
            assert!((mean / law.mean() - 1.0).abs() < 0.02, "{name}: {mean}");
        }
    }

    #[test]
    fn missing_table() {
        let (key, problem): (String, String) = SizeDistribution::table("k", "no/such.csv")
            .expect_err("not there")
            .into();
        assert_eq!(key, "k");
        for part in ["\"no/such.csv\"", "websearch", "path of a CSV file"] {
            assert!(problem.contains(part), "{problem}");
        }
    }
}

//! Slowdown by flow size: bins with equally many flows of a condition, and in each bin the slowdowns of
//! every part.
//!
//! The bins are computed over all parts, so schemes and seeds share them. A percentile is the smallest
//! value of a part with at least that share of values at or below it.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use super::parquet_file::{guarded, to_io};

/// Resolution of percentiles: they are integers in units of 1 / 100,000.
const PARTS: u128 = 100_000;

/// Flows of a part whose slowdown is known.
#[derive(Clone, Debug, Default)]
pub struct SlowedFlows {
    /// Bytes of each flow.
    pub bytes: Vec<i64>,
    /// Slowdown of each flow.
    pub slowdowns: Vec<f64>,
}

/// Bin of flow sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeBin {
    /// Largest size in the bin, bytes.
    pub bytes: i64,
    /// Share of all flows up to this size.
    pub share: f64,
}

/// Slowdowns of a part in one bin.
#[derive(Clone, Debug, PartialEq)]
pub struct PartInBin {
    /// Index of the bin.
    pub bin: usize,
    /// Number of flows.
    pub flows: usize,
    /// Arithmetic mean of the slowdowns.
    pub mean: f64,
    /// Value of each requested percentile.
    pub percentiles: Vec<f64>,
}

impl SlowedFlows {
    /// Reads the flows from the `flows.parquet` of a part.
    pub fn read(path: &Path) -> io::Result<Self> {
        File::open(path).and_then(|file| guarded(|| read(file)).map_err(to_io))
    }

    /// Statistics of the bins that contain flows, in the order of size. `ranks` are percentiles in
    /// thousandths of a percent.
    pub fn in_bins(&self, bins: &[SizeBin], ranks: &[u64]) -> Vec<PartInBin> {
        let mut values = vec![Vec::new(); bins.len()];
        for (&bytes, &slowdown) in self.bytes.iter().zip(&self.slowdowns) {
            let bin = bins.partition_point(|bin| bin.bytes < bytes);
            values[bin].push(slowdown);
        }
        let filled = values.into_iter().enumerate();
        let filled = filled.filter(|(_, values)| !values.is_empty());
        filled
            .map(|(bin, mut values)| {
                values.sort_unstable_by(f64::total_cmp);
                let place = |rank: u64| {
                    (values.len() as u128 * u128::from(rank))
                        .div_ceil(PARTS)
                        .max(1) as usize
                        - 1
                };
                PartInBin {
                    bin,
                    flows: values.len(),
                    mean: values.iter().sum::<f64>() / values.len() as f64,
                    percentiles: ranks.iter().map(|&rank| values[place(rank)]).collect(),
                }
            })
            .collect()
    }
}

/// Computes at most `bins` bins with equally many flows of all parts. Bins with the same largest
/// size are merged.
pub fn size_bins(parts: &[SlowedFlows], bins: usize) -> Vec<SizeBin> {
    let mut sizes = Vec::from_iter(parts.iter().flat_map(|part| part.bytes.iter().copied()));
    sizes.sort_unstable();
    let mut found: Vec<SizeBin> = Vec::new();
    if sizes.is_empty() {
        return found;
    }
    for number in 1..=bins {
        let rank = (sizes.len() as u128 * number as u128).div_ceil(bins as u128);
        let bytes = sizes[rank as usize - 1];
        let share = number as f64 / bins as f64;
        match found.last_mut() {
            Some(last) if last.bytes == bytes => last.share = share,
            _ => found.push(SizeBin { bytes, share }),
        }
    }
    found
}

fn read(file: File) -> Result<SlowedFlows, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let place = |name: &str| {
        let place = schema.columns().iter().position(|one| one.name() == name);
        place.ok_or_else(|| ParquetError::General(format!("no column {name}")))
    };
    let (of_bytes, of_slowdown) = (place("bytes")?, place("slowdown")?);
    let mut found = SlowedFlows::default();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = group.metadata().num_rows() as usize;
        // Without a capacity: a damaged file may state any number of rows.
        let (mut sizes, mut levels) = (Vec::new(), Vec::new());
        // Needed for files of other writers, whose sizes are optional but present.
        let mut there = Vec::new();
        let columns = (
            group.get_column_reader(of_bytes)?,
            group.get_column_reader(of_slowdown)?,
        );
        match columns {
            (
                ColumnReader::Int64ColumnReader(mut bytes),
                ColumnReader::DoubleColumnReader(mut slowdowns),
            ) => {
                bytes.read_records(rows, Some(&mut there), None, &mut sizes)?;
                slowdowns.read_records(rows, Some(&mut levels), None, &mut found.slowdowns)?;
            }
            _ => {
                return Err(ParquetError::General(
                    "bytes and slowdown are not of the types that hull writes".to_owned(),
                ));
            }
        }
        let known = sizes.iter().zip(&levels).filter(|(_, level)| **level > 0);
        found.bytes.extend(known.map(|(bytes, _)| *bytes));
    }
    Ok(found)
}

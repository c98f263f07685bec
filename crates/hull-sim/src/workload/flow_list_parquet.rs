//! A flow list in a Parquet file: integers, or texts for hosts; only columns with optional cells may
//! have missing values.

use std::fs::File;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use super::arrow_schema::durations;
use super::flow_list::FlowList;
use super::flow_list_rows::{AFTER, Cell, GROUP, REUSE, RowReader, TRANSPORT, VIA, places};

/// Number of rows read at a time.
const BATCH: usize = 1 << 14;

/// Values of a column. Parquet stores unsigned integers in the signed ones of the same width.
enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Uint32(Vec<i32>),
    Uint64(Vec<i64>),
    Text(Vec<ByteArray>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Int32(values) | Values::Uint32(values) => values.len(),
            Values::Int64(values) | Values::Uint64(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Values::Int32(values) => Cell::Number(values[row].into()),
            Values::Int64(values) => Cell::Number(values[row].into()),
            Values::Uint32(values) => Cell::Number(values[row].cast_unsigned().into()),
            Values::Uint64(values) => Cell::Number(values[row].cast_unsigned().into()),
            Values::Text(values) => Cell::Text(values[row].data()),
        }
    }
}

/// Column of a row group.
struct Column {
    name: &'static str,
    /// Definition level of a present value.
    level: i16,
    is_unsigned: bool,
    reader: ColumnReader,
}

impl Column {
    fn new(
        group: &dyn RowGroupReader,
        name: &'static str,
        index: usize,
    ) -> Result<Self, ParquetError> {
        let column = group.metadata().column(index).column_descr();
        Ok(Column {
            name,
            level: column.max_def_level(),
            is_unsigned: is_unsigned(column),
            reader: group.get_column_reader(index)?,
        })
    }

    /// Reads the next `count` values; `first_row` is the number of the first one's row.
    fn values(&mut self, count: usize, first_row: usize) -> Result<Values, String> {
        let mut levels = Vec::new();
        let failed = |error: ParquetError| format!("column {}: {error}", self.name);
        let values = match &mut self.reader {
            ColumnReader::Int32ColumnReader(reader) => {
                let mut values = Vec::with_capacity(count);
                let read = reader.read_records(count, Some(&mut levels), None, &mut values);
                read.map_err(failed)?;
                match self.is_unsigned {
                    true => Values::Uint32(values),
                    false => Values::Int32(values),
                }
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let mut values = Vec::with_capacity(count);
                let read = reader.read_records(count, Some(&mut levels), None, &mut values);
                read.map_err(failed)?;
                match self.is_unsigned {
                    true => Values::Uint64(values),
                    false => Values::Int64(values),
                }
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let mut values = Vec::with_capacity(count);
                let read = reader.read_records(count, Some(&mut levels), None, &mut values);
                read.map_err(failed)?;
                if has_empty(self.name) {
                    values = with_empty(values, &mut levels, self.level);
                }
                Values::Text(values)
            }
            _ => {
                return Err(format!(
                    "column {}: is neither integers nor texts; expected integers, or texts for hosts",
                    self.name
                ));
            }
        };
        match levels.iter().position(|&level| level < self.level) {
            Some(missing) => Err(format!(
                "row {}, column {}: found no value; expected one in each row",
                first_row + missing,
                self.name
            )),
            None if values.len() == count => Ok(values),
            None => Err(format!(
                "column {}: found {} values after row {first_row}; expected the {count} that the file announces",
                self.name,
                values.len()
            )),
        }
    }
}

/// Whether a column has unsigned integers.
fn is_unsigned(column: &ColumnDescriptor) -> bool {
    let converted = matches!(
        column.converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    );
    let logical = column.logical_type_ref();
    converted || matches!(logical, Some(LogicalType::Integer(of)) if !of.is_signed)
}

/// Whether a column has texts that may be empty.
fn has_empty(name: &str) -> bool {
    matches!(name, TRANSPORT | GROUP | AFTER | REUSE | VIA)
}

/// Inserts an empty text for each missing value; `levels` is then empty.
fn with_empty(values: Vec<ByteArray>, levels: &mut Vec<i16>, there: i16) -> Vec<ByteArray> {
    if there == 0 {
        return values;
    }
    let mut values = values.into_iter();
    let mut next = |level| match level == there {
        true => values.next(),
        false => Some(ByteArray::from("")),
    };
    levels.drain(..).filter_map(&mut next).collect()
}

/// Rejects a column whose integers have another meaning: Parquet stores decimals and times as
/// integers too.
fn check_type(column: &ColumnDescriptor, name: &str, durations: &[String]) -> Result<(), String> {
    let refused = |found: &str| {
        Err(format!(
            "column {name}: {found} is invalid; expected {}",
            match name {
                "start_ps" => "integers, ps",
                "src" | "dst" => "integers, and texts",
                _ if has_empty(name) => "texts",
                _ => "integers",
            }
        ))
    };
    if has_empty(name) && column.physical_type() != Physical::BYTE_ARRAY {
        return refused("another type");
    }
    if durations.iter().any(|of| of == name) {
        return refused("durations");
    }
    let logical = column.logical_type_ref();
    match (column.converted_type(), logical) {
        (_, Some(LogicalType::Decimal(_))) | (ConvertedType::DECIMAL, _) => {
            match column.type_scale() {
                places if places <= 0 => Ok(()),
                places => refused(&format!("decimals with {places} places")),
            }
        }
        (
            ConvertedType::NONE
            | ConvertedType::UTF8
            | ConvertedType::ENUM
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64
            | ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64,
            None | Some(LogicalType::Integer(_) | LogicalType::String | LogicalType::Enum),
        ) => Ok(()),
        (_, Some(LogicalType::Timestamp(_) | LogicalType::Time(_) | LogicalType::Date)) => {
            refused("dates or times of day")
        }
        _ => refused("another type"),
    }
}

/// Adds the rows to `list`. An error names row (from 1) and column.
pub(super) fn read(
    file: File,
    rows: &mut RowReader<'_>,
    list: &mut FlowList,
) -> Result<(), String> {
    let failed = |error: ParquetError| format!("cannot be read: {error}");
    let reader = SerializedFileReader::new(file).map_err(failed)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let name = |column: &ColumnDescPtr| match column.max_rep_level() {
        0 => column.path().string(),
        _ => format!("{}[]", column.path().string()),
    };
    let place = places(&Vec::from_iter(schema.columns().iter().map(name)))?;
    let metadata = reader.metadata().file_metadata().key_value_metadata();
    let of_arrow = metadata.into_iter().flatten();
    let durations = of_arrow
        .filter(|entry| entry.key == "ARROW:schema")
        .filter_map(|entry| entry.value.as_deref())
        .flat_map(durations);
    let durations = Vec::from_iter(durations);
    let of_file = Vec::from_iter(place.named());
    for &(name, index) in &of_file {
        check_type(&schema.column(index), name, &durations)?;
    }
    let mut done = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(failed)?;
        let mut columns = Vec::with_capacity(of_file.len());
        for &(name, index) in &of_file {
            columns.push(Column::new(group.as_ref(), name, index).map_err(failed)?);
        }
        let rows_stated = group.metadata().num_rows();
        let end = usize::try_from(rows_stated).ok();
        let end = end.and_then(|stated| stated.checked_add(done));
        let end = end.ok_or_else(|| format!("cannot be read: a group of {rows_stated} rows"))?;
        while done < end {
            let first_row = done + 1;
            let count = BATCH.min(end - done);
            let read = columns
                .iter_mut()
                .map(|column| column.values(count, first_row));
            let values = read.collect::<Result<Vec<Values>, String>>()?;
            for row in 0..count {
                let at_row = |(column, problem)| {
                    format!("row {}, column {column}: {problem}", first_row + row)
                };
                let mut values = values.iter();
                let cells = place.map(|_| values.next().map_or(Cell::Text(b""), |v| v.cell(row)));
                list.push(rows.row(cells).map_err(at_row)?)?;
            }
            done += count;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

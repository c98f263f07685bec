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
use super::flow_list_rows::{AFTER, Cell, GROUP, REUSE, RowReader, TRANSPORT, places};

/// Number of rows read at a time.
const BATCH: usize = 1 << 14;

/// Values of a column.
enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Text(Vec<ByteArray>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Int32(values) => values.len(),
            Values::Int64(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Values::Int32(values) => Cell::Number(i64::from(values[row])),
            Values::Int64(values) => Cell::Number(values[row]),
            Values::Text(values) => Cell::Text(values[row].data()),
        }
    }
}

/// Column of a row group.
struct Column {
    name: &'static str,
    /// Definition level of a present value.
    level: i16,
    reader: ColumnReader,
}

impl Column {
    fn new(
        group: &dyn RowGroupReader,
        name: &'static str,
        index: usize,
    ) -> Result<Self, ParquetError> {
        Ok(Column {
            name,
            level: group
                .metadata()
                .column(index)
                .column_descr()
                .max_def_level(),
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
                read.map_err(failed).map(|_| Values::Int32(values))?
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let mut values = Vec::with_capacity(count);
                let read = reader.read_records(count, Some(&mut levels), None, &mut values);
                read.map_err(failed).map(|_| Values::Int64(values))?
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
                    "column {}: found neither integers nor texts; expected integers, and texts for hosts",
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

/// Whether a column has texts that may be empty.
fn has_empty(name: &str) -> bool {
    matches!(name, TRANSPORT | GROUP | AFTER | REUSE)
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
    let failed = |error: ParquetError| error.to_string();
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
        let end = done + group.metadata().num_rows() as usize;
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
                list.push(rows.row(cells).map_err(at_row)?);
            }
            done += count;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indexmap::IndexMap;
    use parquet::basic::Repetition;
    use parquet::data_type::{ByteArrayType, Int32Type, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    use super::super::Groups;
    use super::super::flow_list::ListedFlow;
    use super::super::test_network::hosts;
    use super::*;

    /// Writes a file with two row groups, where `src` is optional text and `dst` a 32-bit integer,
    /// and reads it.
    fn list(name: &str, rows: &[(i64, Option<&str>, i32, i64)]) -> Result<FlowList, String> {
        let path = std::env::temp_dir().join(format!("hull-{}-{name}", std::process::id()));
        let field = |name, physical, repetition| {
            Type::primitive_type_builder(name, physical).with_repetition(repetition)
        };
        let required = Repetition::REQUIRED;
        let fields = [
            field("bytes", Physical::INT64, required).build(),
            field("src", Physical::BYTE_ARRAY, Repetition::OPTIONAL)
                .with_logical_type(Some(LogicalType::String))
                .build(),
            field("dst", Physical::INT32, required).build(),
            field("start_ps", Physical::INT64, Repetition::OPTIONAL).build(),
        ];
        let fields = fields
            .map(|field| Arc::new(field.expect("a field")))
            .to_vec();
        let schema = Type::group_type_builder("flows")
            .with_fields(fields)
            .build();
        let file = File::create(&path).expect("a temporary file");
        let schema = Arc::new(schema.expect("a schema"));
        let mut writer =
            SerializedFileWriter::new(file, schema, Default::default()).expect("a writer");
        for rows in rows.chunks(rows.len().div_ceil(2).max(1)) {
            let mut group = writer.next_row_group().expect("a group");
            let mut column = group.next_column().expect("bytes").expect("bytes");
            let bytes: Vec<i64> = rows.iter().map(|row| row.3).collect();
            let written = column.typed::<Int64Type>().write_batch(&bytes, None, None);
            written.and_then(|_| column.close()).expect("bytes");
            let mut column = group.next_column().expect("src").expect("src");
            let levels: Vec<i16> = rows.iter().map(|row| row.1.is_some().into()).collect();
            let src: Vec<ByteArray> = rows
                .iter()
                .filter_map(|row| row.1.map(Into::into))
                .collect();
            let typed = column.typed::<ByteArrayType>();
            let written = typed.write_batch(&src, Some(&levels), None);
            written.and_then(|_| column.close()).expect("src");
            let mut column = group.next_column().expect("dst").expect("dst");
            let dst: Vec<i32> = rows.iter().map(|row| row.2).collect();
            let written = column.typed::<Int32Type>().write_batch(&dst, None, None);
            written.and_then(|_| column.close()).expect("dst");
            let mut column = group.next_column().expect("start").expect("start");
            let start: Vec<i64> = rows.iter().map(|row| row.0).collect();
            let typed = column.typed::<Int64Type>();
            let written = typed.write_batch(&start, Some(&vec![1; rows.len()]), None);
            written.and_then(|_| column.close()).expect("start");
            group.close().expect("a group");
        }
        writer.close().expect("a file");
        let list = FlowList::read(
            &path.display().to_string(),
            &hosts(4, 1),
            &IndexMap::new(),
            &Groups::default(),
        );
        std::fs::remove_file(&path).expect("file exists");
        list
    }

    #[test]
    fn rows_of_several_groups_and_batches() {
        let names = ["h1", "2", "h3"];
        let row = |i: i64| (1_000_000 - i, Some(names[i as usize % 3]), 0, i + 1);
        let rows: Vec<_> = (0..50_000).map(row).collect();
        let flows = list("good.parquet", &rows).expect("good");
        let flows = flows.flows();
        assert_eq!(flows.len(), 50_000);
        for (i, flow) in flows.iter().rev().enumerate() {
            let expected = ListedFlow {
                start_ps: 1_000_000 - i as u64,
                bytes: i as u64 + 1,
                src: [1, 2, 3][i % 3],
                dst: 0,
            };
            assert_eq!(*flow, expected);
        }
    }

    #[test]
    fn bad_rows_are_refused_with_their_number_and_column() {
        let good = (5, Some("h1"), 0, 9);
        for (name, row, parts) in [
            (
                "missing",
                (5, None, 0, 9),
                ["row 3, column src", "no value"],
            ),
            ("host", (5, Some("x"), 0, 9), ["row 3, column src", "\"x\""]),
            (
                "far",
                (5, Some("h1"), 7, 9),
                ["row 3, column dst", "7 is invalid"],
            ),
            (
                "itself",
                (5, Some("h2"), 2, 9),
                ["row 3, column dst", "the source 2"],
            ),
            (
                "early",
                (-5, Some("h2"), 0, 9),
                ["row 3, column start_ps", "-5 is invalid"],
            ),
            (
                "nothing",
                (5, Some("h2"), 0, 0),
                ["row 3, column bytes", "0 is invalid"],
            ),
        ] {
            let name = format!("{name}.parquet");
            let problem = list(&name, &[good, good, row, good]).expect_err(&name);
            assert!(problem.contains(&format!("-{name}: ")), "{problem}");
            for part in parts {
                assert!(problem.contains(part), "{problem}");
            }
        }
        let problem = list("empty.parquet", &[]).expect_err("empty");
        assert!(problem.contains("no flows"), "{problem}");
    }

    #[test]
    fn a_repeated_column_is_refused() {
        let path = std::env::temp_dir().join(format!("hull-{}-twice", std::process::id()));
        let field = |name| {
            Type::primitive_type_builder(name, Physical::INT64)
                .with_repetition(Repetition::REQUIRED)
                .build()
                .map(Arc::new)
                .expect("a field")
        };
        let fields = ["start_ps", "src", "dst", "bytes", "src"]
            .map(field)
            .to_vec();
        let schema = Type::group_type_builder("flows").with_fields(fields);
        let schema = Arc::new(schema.build().expect("a schema"));
        let file = File::create(&path).expect("a temporary file");
        let writer = SerializedFileWriter::new(file, schema, Default::default());
        writer.expect("a writer").close().expect("a file");
        let problem = FlowList::read(
            &path.display().to_string(),
            &hosts(4, 1),
            &IndexMap::new(),
            &Groups::default(),
        );
        std::fs::remove_file(&path).expect("file exists");
        let problem = problem.expect_err("repeated");
        for part in ["\"start_ps,src,dst,bytes,src\"", "src is repeated"] {
            assert!(problem.contains(part), "{problem}");
        }
    }
}

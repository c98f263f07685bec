//! A table of a run: the rows of its parts' tables in sequence, labelled with the part's condition,
//! scheme and seed.
//!
//! Rows are copied in groups, so memory does not grow with their number. Groups have a fixed size, so
//! the bytes of the file depend on the rows only.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::parquet_file::{BATCH, encoded, guarded, to_io};

/// Number of rows in a row group.
const GROUP: usize = 1 << 18;
/// Columns that label a row's part, before the table's own columns.
const LABELS: [(&str, Physical); 3] = [
    ("condition", Physical::BYTE_ARRAY),
    ("scheme", Physical::BYTE_ARRAY),
    ("seed", Physical::INT32),
];

/// Table of a part.
#[derive(Clone, Debug)]
pub struct PartTable {
    /// Path of the file.
    pub path: PathBuf,
    /// Values of the swept keys.
    pub condition: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Seed.
    pub seed: i32,
}

/// Error while writing a table of a run.
#[derive(Debug)]
pub struct TableError {
    /// File at which it occurred.
    pub path: PathBuf,
    /// Error of the system or the format.
    pub error: io::Error,
}

/// Table of a run under construction.
pub struct RunTable {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    columns: Vec<(String, Physical)>,
    parts: std::vec::IntoIter<PartTable>,
    open: Option<OpenPart>,
}

impl std::fmt::Debug for RunTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RunTable({})", self.path.display())
    }
}

impl RunTable {
    /// Creates the file with the columns of all parts; `describe` returns the metadata (key, text)
    /// for their names.
    pub fn create<E: From<TableError>>(
        path: &Path,
        parts: Vec<PartTable>,
        describe: impl FnOnce(Vec<&str>) -> Result<(String, String), E>,
    ) -> Result<Self, E> {
        let mut columns = Vec::from(LABELS.map(|(name, physical)| (name.to_owned(), physical)));
        for part in &parts {
            let found = guarded(|| part_columns(&part.path));
            for column in found.map_err(at(&part.path))? {
                if !columns.iter().any(|(name, _)| *name == column.0) {
                    columns.push(column);
                }
            }
        }
        let names = columns.iter().map(|(name, _)| name.as_str());
        let (key, text) = describe(names.collect())?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("hull ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![KeyValue::new(key, text)]));
        for (name, physical) in &columns {
            properties = encoded(properties, name, *physical);
        }
        let properties = properties.build();
        let writer = schema(&columns).and_then(|schema| {
            let file = File::create(path)?;
            SerializedFileWriter::new(file, schema, Arc::new(properties))
        });
        Ok(RunTable {
            path: path.to_owned(),
            writer: writer.map_err(at(path))?,
            columns,
            parts: parts.into_iter(),
            open: None,
        })
    }

    /// Writes the next group of rows. Returns false if none is left.
    pub fn write_group(&mut self) -> Result<bool, TableError> {
        let (labels, others) = self.columns.split_at(LABELS.len());
        let labels = labels.iter().map(|&(_, of)| Column::label(of));
        let others = others.iter().map(|&(_, of)| Column::new(of));
        let mut group = Vec::from_iter(labels.chain(others));
        let mut rows = 0;
        while rows < GROUP {
            let open = match self.open.take() {
                None => self.next_part()?,
                open => open,
            };
            let Some(mut part) = open else {
                break;
            };
            let read = guarded(|| part.read(&mut group, GROUP - rows));
            let read = read.map_err(at(&part.table.path))?;
            if read > 0 {
                rows += read;
                self.open = Some(part);
            }
        }
        if rows == 0 {
            return Ok(false);
        }
        let written = self.writer.next_row_group().and_then(|mut into| {
            for column in &group {
                column.write(&mut into)?;
            }
            into.close()
        });
        written.map_err(at(&self.path))?;
        Ok(true)
    }

    /// Completes the file.
    pub fn close(self) -> Result<(), TableError> {
        self.writer.close().map_err(at(&self.path))?;
        Ok(())
    }

    fn next_part(&mut self) -> Result<Option<OpenPart>, TableError> {
        let Some(table) = self.parts.next() else {
            return Ok(None);
        };
        let path = table.path.clone();
        guarded(|| OpenPart::new(table, &self.columns))
            .map(Some)
            .map_err(at(&path))
    }
}

/// Adds the file's path to an error.
fn at(path: &Path) -> impl Fn(ParquetError) -> TableError {
    |error| TableError {
        path: path.to_owned(),
        error: to_io(error),
    }
}

fn part_columns(path: &Path) -> Result<Vec<(String, Physical)>, ParquetError> {
    let reader = SerializedFileReader::new(File::open(path)?)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns().iter();
    Ok(columns
        .map(|column| (column.name().to_owned(), column.physical_type()))
        .collect())
}

fn schema(columns: &[(String, Physical)]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|(name, physical)| {
        let text = (*physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        let field = Type::primitive_type_builder(name, *physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(text);
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("hull")
        .with_fields(fields)
        .build()?;
    Ok(Arc::new(schema))
}

/// Part whose rows are being copied.
struct OpenPart {
    table: PartTable,
    reader: SerializedFileReader<File>,
    /// Index in the part's table of each column of the run's table after the labels; `None` if
    /// absent.
    places: Vec<Option<usize>>,
    /// Next row group.
    next: usize,
    /// Columns of the current row group, and its rows not yet read.
    columns: Vec<ColumnReader>,
    left: usize,
}

impl OpenPart {
    fn new(table: PartTable, columns: &[(String, Physical)]) -> Result<Self, ParquetError> {
        let reader = SerializedFileReader::new(File::open(&table.path)?)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let places = columns[LABELS.len()..].iter().map(|(name, physical)| {
            let place = schema.columns().iter().position(|one| one.name() == name);
            match place.map(|place| schema.column(place).physical_type()) {
                Some(found) if found != *physical => Err(ParquetError::General(format!(
                    "column {name}: {found} is invalid; expected {physical}, as in other parts"
                ))),
                _ => Ok(place),
            }
        });
        Ok(OpenPart {
            places: places.collect::<Result<_, _>>()?,
            table,
            reader,
            next: 0,
            columns: Vec::new(),
            left: 0,
        })
    }

    /// Adds at most `most` rows to the columns of a group. Returns the number of rows, 0 at the
    /// end.
    fn read(&mut self, group: &mut [Column], most: usize) -> Result<usize, ParquetError> {
        while self.left == 0 {
            if self.next == self.reader.num_row_groups() {
                return Ok(0);
            }
            let rows = self.reader.get_row_group(self.next)?;
            self.left = rows.metadata().num_rows() as usize;
            let columns = (0..rows.num_columns()).map(|place| rows.get_column_reader(place));
            self.columns = columns.collect::<Result<_, _>>()?;
            self.next += 1;
        }
        let count = self.left.min(most);
        let (labels, values) = group.split_at_mut(LABELS.len());
        if let [condition, scheme, seed] = labels {
            condition.repeat_text(&self.table.condition, count);
            scheme.repeat_text(&self.table.scheme, count);
            seed.repeat_number(self.table.seed, count);
        }
        for (column, place) in values.iter_mut().zip(&self.places) {
            match place {
                Some(place) => column.read(&mut self.columns[*place], count)?,
                None => column.levels.extend(std::iter::repeat_n(MISSING, count)),
            }
        }
        self.left -= count;
        Ok(count)
    }
}

/// Definition levels of an optional column.
const MISSING: i16 = 0;
const THERE: i16 = 1;

/// Values of a column in a group of rows.
struct Column {
    values: Values,
    levels: Vec<i16>,
}

enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Double(Vec<f64>),
    Text(Vec<ByteArray>),
    /// Texts, each with the number of rows that have it.
    Label(Vec<(ByteArray, usize)>),
}

impl Column {
    fn new(physical: Physical) -> Self {
        let values = match physical {
            Physical::INT32 => Values::Int32(Vec::new()),
            Physical::INT64 => Values::Int64(Vec::new()),
            Physical::DOUBLE => Values::Double(Vec::new()),
            _ => Values::Text(Vec::new()),
        };
        Column {
            values,
            levels: Vec::new(),
        }
    }

    fn label(physical: Physical) -> Self {
        let column = Column::new(physical);
        match column.values {
            Values::Text(_) => Column {
                values: Values::Label(Vec::new()),
                ..column
            },
            _ => column,
        }
    }

    fn repeat_text(&mut self, text: &str, count: usize) {
        if let Values::Label(runs) = &mut self.values {
            runs.push((byte_array(text), count));
        }
        self.levels.extend(std::iter::repeat_n(THERE, count));
    }

    fn repeat_number(&mut self, number: i32, count: usize) {
        if let Values::Int32(values) = &mut self.values {
            values.extend(std::iter::repeat_n(number, count));
        }
        self.levels.extend(std::iter::repeat_n(THERE, count));
    }

    fn read(&mut self, from: &mut ColumnReader, count: usize) -> Result<(), ParquetError> {
        let before = self.levels.len();
        let levels = Some(&mut self.levels);
        let (read, ..) = match (&mut self.values, from) {
            (Values::Int32(values), ColumnReader::Int32ColumnReader(from)) => {
                from.read_records(count, levels, None, values)?
            }
            (Values::Int64(values), ColumnReader::Int64ColumnReader(from)) => {
                from.read_records(count, levels, None, values)?
            }
            (Values::Double(values), ColumnReader::DoubleColumnReader(from)) => {
                from.read_records(count, levels, None, values)?
            }
            (Values::Text(values), ColumnReader::ByteArrayColumnReader(from)) => {
                from.read_records(count, levels, None, values)?
            }
            _ => return Err(ParquetError::General("unknown type of column".to_owned())),
        };
        if read != count {
            return Err(ParquetError::EOF(format!("{read} of {count} rows")));
        }
        // A column without missing values has no definition levels.
        self.levels.resize(before + count, THERE);
        Ok(())
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General(
                "more columns than the schema".to_owned(),
            ));
        };
        let levels = Some(&self.levels[..]);
        match &self.values {
            Values::Int32(values) => column
                .typed::<Int32Type>()
                .write_batch(values, levels, None),
            Values::Int64(values) => column
                .typed::<Int64Type>()
                .write_batch(values, levels, None),
            Values::Double(values) => column
                .typed::<DoubleType>()
                .write_batch(values, levels, None),
            Values::Text(values) => column
                .typed::<ByteArrayType>()
                .write_batch(values, levels, None),
            Values::Label(runs) => write_label(column.typed::<ByteArrayType>(), runs, &self.levels),
        }?;
        column.close()
    }
}

/// A text for the writer. An empty one has memory of its own too: the writer compares the texts of
/// all rows, and on processors with AVX-512 a comparison at an address that is not mapped takes a
/// hundred times as long, although it reads nothing.
fn byte_array(text: &str) -> ByteArray {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text.as_bytes());
    bytes.into()
}

/// Writes runs of equal texts, a batch at a time.
fn write_label(
    column: &mut ColumnWriterImpl<'_, ByteArrayType>,
    runs: &[(ByteArray, usize)],
    levels: &[i16],
) -> Result<usize, ParquetError> {
    let rows = runs.iter();
    let mut rows = rows.flat_map(|(text, count)| std::iter::repeat_n(text, *count));
    let mut batch = Vec::with_capacity(BATCH);
    let mut written = 0;
    for levels in levels.chunks(BATCH) {
        batch.clear();
        batch.extend(rows.by_ref().take(levels.len()).cloned());
        written += column.write_batch(&batch, Some(levels), None)?;
    }
    Ok(written)
}

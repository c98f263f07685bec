//! Writes columns to a Parquet file. The file's metadata holds unit and meaning of a column `x` under
//! the keys `x.unit` and `x.meaning`.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{
    DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics, WriterProperties, WriterPropertiesBuilder,
};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use serde::Serialize;

use crate::damaged::{DAMAGED, undamaged};

/// Number of rows in a row group.
pub(super) const GROUP: usize = 1 << 20;

/// Number of texts that are written at once: as many as the writer takes in one step, so that the
/// bytes are the same as with one call for all.
pub(super) const BATCH: usize = DEFAULT_WRITE_BATCH_SIZE;

/// Values of a column.
#[derive(Debug)]
pub enum Values {
    /// 64-bit integers.
    Int64(Vec<i64>),
    /// 64-bit integers with missing values.
    Optional(Vec<Option<i64>>),
    /// 32-bit integers.
    Int32(Vec<i32>),
    /// Texts, as indices into a short list.
    Text(Vec<usize>, Vec<String>),
    /// Texts.
    Strings(Vec<String>),
    /// Floating-point numbers.
    Double(Vec<f64>),
    /// Floating-point numbers with missing values.
    OptionalDouble(Vec<Option<f64>>),
}

/// Column of a table, as described by `hull._core.columns` and the documentation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Unit; empty for names and dimensionless numbers.
    pub unit: &'static str,
    /// Meaning of the values.
    pub meaning: &'static str,
}

impl Column {
    /// Creates a column.
    pub const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Column {
            name,
            unit,
            meaning,
        }
    }
}

impl Values {
    /// Creates a column of 64-bit integers.
    pub fn long<R>(rows: &[R], get: impl Fn(&R) -> u64) -> Self {
        Values::Int64(rows.iter().map(|row| get(row) as i64).collect())
    }

    /// Creates a column of 32-bit integers.
    pub fn short<R>(rows: &[R], get: impl Fn(&R) -> u32) -> Self {
        Values::Int32(rows.iter().map(|row| get(row) as i32).collect())
    }

    fn field(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let (physical, logical, repetition) = match self {
            Values::Int64(_) => (Physical::INT64, None, Repetition::REQUIRED),
            Values::Optional(_) => (Physical::INT64, None, Repetition::OPTIONAL),
            Values::Int32(_) => (Physical::INT32, None, Repetition::REQUIRED),
            Values::Double(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
            Values::OptionalDouble(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
            Values::Text(..) | Values::Strings(_) => (
                Physical::BYTE_ARRAY,
                Some(LogicalType::String),
                Repetition::REQUIRED,
            ),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    }

    fn write(
        &self,
        group: &mut SerializedRowGroupWriter<'_, File>,
        from: usize,
        to: usize,
    ) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General(
                "more columns than the schema has".to_owned(),
            ));
        };
        match self {
            Values::Int64(values) => {
                column
                    .typed::<Int64Type>()
                    .write_batch(&values[from..to], None, None)?
            }
            Values::Optional(values) => {
                let (present, levels) = present(&values[from..to]);
                column
                    .typed::<Int64Type>()
                    .write_batch(&present, Some(&levels), None)?
            }
            Values::OptionalDouble(values) => {
                let (present, levels) = present(&values[from..to]);
                column
                    .typed::<DoubleType>()
                    .write_batch(&present, Some(&levels), None)?
            }
            Values::Int32(values) => {
                column
                    .typed::<Int32Type>()
                    .write_batch(&values[from..to], None, None)?
            }
            Values::Double(values) => {
                column
                    .typed::<DoubleType>()
                    .write_batch(&values[from..to], None, None)?
            }
            Values::Strings(values) => {
                let values: Vec<ByteArray> = values[from..to]
                    .iter()
                    .map(|text| ByteArray::from(text.as_str()))
                    .collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, None, None)?
            }
            Values::Text(indices, names) => {
                let texts: Vec<ByteArray> = names
                    .iter()
                    .map(|name| ByteArray::from(name.as_str()))
                    .collect();
                let mut batch: Vec<ByteArray> = Vec::with_capacity(BATCH);
                let mut written = 0;
                for indices in indices[from..to].chunks(BATCH) {
                    batch.clear();
                    batch.extend(indices.iter().map(|&index| texts[index].clone()));
                    written += column
                        .typed::<ByteArrayType>()
                        .write_batch(&batch, None, None)?;
                }
                written
            }
        };
        column.close()
    }
}

/// Returns the values that are present, and a definition level per place: 1 if present.
fn present<T: Copy>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = values.iter().map(|value| i16::from(value.is_some()));
    (values.iter().copied().flatten().collect(), levels.collect())
}

/// Writes one table of `rows` rows. The bytes depend only on the arguments.
pub fn write(path: &Path, columns: &[Column], values: &[Values], rows: usize) -> io::Result<()> {
    let mut table = TableFile::create(path, columns, values)?;
    let mut from = 0;
    while from < rows {
        let to = rows.min(from + GROUP);
        table.write(values, from, to)?;
        from = to;
    }
    table.close()
}

/// Table that is written in groups of rows.
pub(super) struct TableFile(SerializedFileWriter<File>);

impl TableFile {
    /// Creates the file; `values` determine the types of the columns.
    pub fn create(path: &Path, columns: &[Column], values: &[Values]) -> io::Result<Self> {
        let file = File::create(path)?;
        open(file, columns, values).map(TableFile).map_err(to_io)
    }

    /// Writes the rows `from..to` of `values` as a row group.
    pub fn write(&mut self, values: &[Values], from: usize, to: usize) -> io::Result<()> {
        let mut group = self.0.next_row_group().map_err(to_io)?;
        for values in values {
            values.write(&mut group, from, to).map_err(to_io)?;
        }
        group.close().map_err(to_io)?;
        Ok(())
    }

    /// Completes the file.
    pub fn close(self) -> io::Result<()> {
        self.0.close().map_err(to_io)?;
        Ok(())
    }
}

impl std::fmt::Debug for TableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TableFile")
    }
}

/// Reads from a file that may be damaged: a panic of the reader is an error, too.
pub(super) fn guarded<T>(
    read: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, ParquetError> {
    undamaged(read).unwrap_or_else(|| Err(ParquetError::General(DAMAGED.to_owned())))
}

pub(super) fn to_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

fn open(
    file: File,
    columns: &[Column],
    values: &[Values],
) -> Result<SerializedFileWriter<File>, ParquetError> {
    let fields = columns
        .iter()
        .zip(values)
        .map(|(column, values)| values.field(column.name))
        .collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(
        Type::group_type_builder("hull")
            .with_fields(fields)
            .build()?,
    );
    let metadata = columns.iter().take(values.len()).flat_map(|column| {
        [("unit", column.unit), ("meaning", column.meaning)]
            .map(|(key, text)| KeyValue::new(format!("{}.{key}", column.name), text.to_owned()))
    });
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("hull ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata.collect()));
    for column in schema.get_fields() {
        properties = encoded(properties, column.name(), column.get_physical_type());
    }
    SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
}

/// Sets how a column is encoded: texts, which are few, by a dictionary, numbers as they are. Least
/// and largest values are recorded for numbers only; finding them for texts takes long.
pub(super) fn encoded(
    properties: WriterPropertiesBuilder,
    name: &str,
    physical: Physical,
) -> WriterPropertiesBuilder {
    let column = ColumnPath::from(name);
    if physical == Physical::BYTE_ARRAY {
        properties.set_column_statistics_enabled(column, EnabledStatistics::None)
    } else {
        properties.set_column_dictionary_enabled(column, false)
    }
}

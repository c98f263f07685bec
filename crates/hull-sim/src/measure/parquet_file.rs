//! Columns to a Parquet file, with the unit and meaning of each in the file's metadata: for a
//! column `x` the keys `x.unit` and `x.meaning`.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use serde::Serialize;

/// Rows of a row group.
const GROUP: usize = 1 << 20;

/// The values of a column.
pub(super) enum Values {
    /// 64-bit integers.
    Int64(Vec<i64>),
    /// 64-bit integers, some missing.
    Optional(Vec<Option<i64>>),
    /// 32-bit integers.
    Int32(Vec<i32>),
    /// Texts, as indices into a list of few.
    Text(Vec<usize>, Vec<String>),
}

/// A column of a table: what `hull._core.columns` and the documentation tell of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Unit; empty for names and numbers of things.
    pub unit: &'static str,
    /// What its values mean.
    pub meaning: &'static str,
}

impl Column {
    pub(super) const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Column {
            name,
            unit,
            meaning,
        }
    }
}

impl Values {
    fn field(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let (physical, logical, repetition) = match self {
            Values::Int64(_) => (Physical::INT64, None, Repetition::REQUIRED),
            Values::Optional(_) => (Physical::INT64, None, Repetition::OPTIONAL),
            Values::Int32(_) => (Physical::INT32, None, Repetition::REQUIRED),
            Values::Text(..) => (
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
                let levels: Vec<i16> = values[from..to]
                    .iter()
                    .map(|value| i16::from(value.is_some()))
                    .collect();
                let present: Vec<i64> = values[from..to].iter().copied().flatten().collect();
                column
                    .typed::<Int64Type>()
                    .write_batch(&present, Some(&levels), None)?
            }
            Values::Int32(values) => {
                column
                    .typed::<Int32Type>()
                    .write_batch(&values[from..to], None, None)?
            }
            Values::Text(indices, names) => {
                let texts: Vec<ByteArray> = names
                    .iter()
                    .map(|name| ByteArray::from(name.as_str()))
                    .collect();
                let values: Vec<ByteArray> = indices[from..to]
                    .iter()
                    .map(|&index| texts[index].clone())
                    .collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, None, None)?
            }
        };
        column.close()
    }
}

/// Writes one table of `rows` rows. The bytes depend on nothing but the values.
pub(super) fn write(
    path: &Path,
    columns: &[Column],
    values: &[Values],
    rows: usize,
) -> io::Result<()> {
    let file = File::create(path)?;
    write_table(file, columns, values, rows).map_err(|error| match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    })
}

fn write_table(
    file: File,
    columns: &[Column],
    values: &[Values],
    rows: usize,
) -> Result<(), ParquetError> {
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
    let metadata = columns.iter().flat_map(|column| {
        [("unit", column.unit), ("meaning", column.meaning)]
            .map(|(key, text)| KeyValue::new(format!("{}.{key}", column.name), text.to_owned()))
    });
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("hull ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata.collect()))
        .build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let mut from = 0;
    while from < rows {
        let to = rows.min(from + GROUP);
        let mut group = writer.next_row_group()?;
        for values in values {
            values.write(&mut group, from, to)?;
        }
        group.close()?;
        from = to;
    }
    writer.close()?;
    Ok(())
}

//! Columns to a Parquet file, with the unit and meaning of each in the schema's metadata.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// One column: its name, type, whether values may be missing, unit and description.
pub(super) struct Column {
    pub name: &'static str,
    pub data_type: DataType,
    pub nullable: bool,
    pub unit: &'static str,
    pub doc: &'static str,
}

/// Writes one table. The bytes depend on nothing but the values.
pub(super) fn write(path: &Path, columns: &[Column], arrays: Vec<ArrayRef>) -> io::Result<()> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|column| {
            let metadata = HashMap::from([
                ("unit".to_owned(), column.unit.to_owned()),
                ("description".to_owned(), column.doc.to_owned()),
            ]);
            Field::new(column.name, column.data_type.clone(), column.nullable)
                .with_metadata(metadata)
        })
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(io::Error::other)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("hull ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer =
        ArrowWriter::try_new(File::create(path)?, schema, Some(properties)).map_err(unwrap_io)?;
    writer.write(&batch).map_err(unwrap_io)?;
    writer.close().map_err(unwrap_io)?;
    Ok(())
}

/// The operating system's error inside Parquet's, so that a full disk is told as such.
fn unwrap_io(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

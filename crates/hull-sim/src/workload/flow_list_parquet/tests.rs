//! Flow lists in Parquet files that the tests write, whole and damaged.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Repetition};
use parquet::data_type::{ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::super::Groups;
use super::super::flow_list::ListedFlow;
use super::super::test_network::hosts;
use super::*;

/// Path of a temporary file.
fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("hull-{}-{name}", std::process::id()))
}

fn read_from(path: &Path) -> Result<FlowList, String> {
    FlowList::read(
        &path.display().to_string(),
        &hosts(4, 1),
        &[],
        &Groups::default(),
    )
}

/// Writes a file with two row groups, where `src` is optional text and `dst` a 32-bit integer,
/// and reads it.
fn list(name: &str, rows: &[(i64, Option<&str>, i32, i64)]) -> Result<FlowList, String> {
    let path = temporary(name);
    write(&path, rows, Compression::UNCOMPRESSED);
    let list = read_from(&path);
    std::fs::remove_file(&path).expect("file exists");
    list
}

fn write(path: &Path, rows: &[(i64, Option<&str>, i32, i64)], compression: Compression) {
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
    let file = File::create(path).expect("a temporary file");
    let schema = Arc::new(schema.expect("a schema"));
    let properties = WriterProperties::builder().set_compression(compression);
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).expect("a writer");
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
}

/// Every byte is changed in turn to values that move lengths, counts, types and offsets.
#[test]
fn no_changed_byte_makes_the_reader_panic() {
    let path = temporary("damaged.parquet");
    let rows = [(5, Some("h1"), 0, 9), (6, Some("2"), 3, 1000)];
    write(&path, &rows, Compression::SNAPPY);
    let whole = std::fs::read(&path).expect("just written");
    for (place, &byte) in whole.iter().enumerate() {
        for other in [byte ^ 1, byte ^ 0x80, byte.wrapping_add(1), !byte, 0, 0x7f] {
            let mut damaged = whole.clone();
            damaged[place] = other;
            std::fs::write(&path, &damaged).expect("a temporary file");
            if let Err(problem) = read_from(&path) {
                assert!(problem.contains("-damaged.parquet: "), "{problem}");
                assert!(!problem.contains("panicked"), "{problem}");
            }
        }
    }
    std::fs::remove_file(&path).expect("file exists");
}

#[test]
fn unsigned_integers_are_read_as_such() {
    let path = temporary("unsigned.parquet");
    let field = |name, physical, bit_width, is_signed| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::integer(bit_width, is_signed)))
            .build()
            .map(Arc::new)
            .expect("a field")
    };
    let fields = vec![
        field("start_ps", Physical::INT64, 64, true),
        field("src", Physical::INT32, 8, false),
        field("dst", Physical::INT64, 64, false),
        field("bytes", Physical::INT32, 32, false),
    ];
    let schema = Type::group_type_builder("flows").with_fields(fields);
    let schema = Arc::new(schema.build().expect("a schema"));
    let read = |dst: u64| {
        let file = File::create(&path).expect("a temporary file");
        let writer = SerializedFileWriter::new(file, schema.clone(), Default::default());
        let mut writer = writer.expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        for value in [Ok(0), Err(1), Ok(dst), Err(3_000_000_000_u32)] {
            let mut column = group.next_column().expect("a column").expect("a column");
            let written = match value {
                Ok(long) => {
                    let column = column.typed::<Int64Type>();
                    column.write_batch(&[long.cast_signed()], None, None)
                }
                Err(short) => {
                    let column = column.typed::<Int32Type>();
                    column.write_batch(&[short.cast_signed()], None, None)
                }
            };
            written.and_then(|_| column.close()).expect("a value");
        }
        group.close().expect("a group");
        writer.close().expect("a file");
        read_from(&path)
    };
    let good = read(2).expect("3 GB is a valid size");
    let problem = read(u64::MAX).expect_err("no such host");
    std::fs::remove_file(&path).expect("file exists");
    assert_eq!(
        (good.flows()[0].dst, good.flows()[0].bytes),
        (2, 3_000_000_000)
    );
    assert!(
        problem.contains("column dst: 18446744073709551615 is invalid"),
        "{problem}"
    );
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
    let path = temporary("twice");
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
    let problem = read_from(&path);
    std::fs::remove_file(&path).expect("file exists");
    let problem = problem.expect_err("repeated");
    for part in ["\"start_ps,src,dst,bytes,src\"", "src is repeated"] {
        assert!(problem.contains(part), "{problem}");
    }
}

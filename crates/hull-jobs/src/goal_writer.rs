//! Writes a schedule in GOAL's forms. The text has operation with a label of its own, its index, and the dependencies of a rank behind its
//! operations. Reading the text gives the same binary form, but for the tags of computations, which the text does not have.

use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use crate::op::{ANY, Kind, Op};
use crate::problem::Problem;
use crate::schedule::{RankBlock, Schedule, Writer};

/// Writes a schedule as text.
///
/// # Errors
/// The schedule's file cannot be read, or the output not written.
pub fn write_goal_text(schedule: &mut Schedule, out: &mut impl Write) -> Result<(), Problem> {
    writeln!(out, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(out, "\nrank {rank} {{")?;
        for index in 0..schedule.len(rank) {
            let op = schedule.op(rank, index)?;
            write!(out, "l{index}: ")?;
            write_op(&op, out)?;
        }
        for index in 0..schedule.len(rank) {
            for later in schedule.after_end(rank, index)? {
                writeln!(out, "l{later} requires l{index}")?;
            }
            for later in schedule.after_start(rank, index)? {
                writeln!(out, "l{later} irequires l{index}")?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

/// Writes a schedule in the binary form; returns the output.
///
/// # Errors
/// The schedule's file cannot be read, or the output not written.
pub fn write_goal_binary<W: Write + Seek>(schedule: &mut Schedule, out: W) -> Result<W, Problem> {
    let mut writer = Writer::new(out, schedule.ranks())?;
    let mut block = RankBlock::default();
    for rank in 0..schedule.ranks() {
        for index in 0..schedule.len(rank) {
            let op = schedule.op(rank, index)?;
            block.push(Op { needs: 0, ..op });
        }
        for index in 0..schedule.len(rank) {
            for later in schedule.after_end(rank, index)? {
                block.requires(later, index);
            }
            for later in schedule.after_start(rank, index)? {
                block.irequires(later, index);
            }
        }
        writer.write(&mut block)?;
    }
    writer.finish()
}

/// Writes a schedule to a new file, as text or in the binary form. The file is whole or does not exist.
///
/// # Errors
/// As above; and the file exists.
pub fn write_goal(schedule: &mut Schedule, path: &Path, binary: bool) -> Result<(), Problem> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let part = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let mut out = BufWriter::with_capacity(1 << 20, part);
    if binary {
        out = write_goal_binary(schedule, out)?;
    } else {
        write_goal_text(schedule, &mut out)?;
    }
    let part = out
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?;
    part.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

fn write_op(op: &Op, out: &mut impl Write) -> Result<(), Problem> {
    let (word, place) = match op.kind {
        Kind::Send => ("send", "to"),
        Kind::Receive => ("recv", "from"),
        Kind::Compute => {
            write!(out, "calc {}", op.size)?;
            return end(op, out);
        }
    };
    let or_any = |number: u32| match number {
        ANY => "-1".to_owned(),
        number => number.to_string(),
    };
    write!(out, "{word} {}b {place} {}", op.size, or_any(op.peer))?;
    if op.tag != 0 {
        write!(out, " tag {}", or_any(op.tag))?;
    }
    end(op, out)
}

fn end(op: &Op, out: &mut impl Write) -> Result<(), Problem> {
    if op.cpu != 0 {
        write!(out, " cpu {}", op.cpu)?;
    }
    if op.nic != 0 && op.kind != Kind::Compute {
        write!(out, " nic {}", op.nic)?;
    }
    writeln!(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::goal_text::compile;

    /// The binary form of a text.
    fn binary(text: &[u8]) -> Vec<u8> {
        let (out, _) = compile(text, Cursor::new(Vec::new())).unwrap();
        out.into_inner()
    }

    /// Text to binary to text to binary: both binary forms are the same.
    #[test]
    fn text_of_a_schedule_is_the_same_schedule() {
        let chain = include_bytes!("../../../tests/schedules/chain.goal").as_slice();
        let late =
            b"num_ranks 2\nrank 0 {\na: calc 1\nb: send 2b to 1 tag -1 cpu 3 nic 2\nc: calc 3\n\
            c requires a\nb requires a\nb irequires c\nb requires c\n}\nrank 1 {\n}\n";
        for text in [chain, late] {
            let first = binary(text);
            let mut schedule = Schedule::from_bytes(first.clone()).unwrap();
            let mut written = Vec::new();
            write_goal_text(&mut schedule, &mut written).unwrap();
            assert_eq!(binary(&written), first);
        }
    }

    #[test]
    fn operations_are_written_as_the_grammar_has_them() {
        let mut schedule = Schedule::from_bytes(binary(
            b"num_ranks 1\nrank 0 {\nx: recv 7b from -1 tag -1\ny: calc 5 cpu 1\ny requires x\n}",
        ))
        .unwrap();
        let mut written = Vec::new();
        write_goal_text(&mut schedule, &mut written).unwrap();
        let expected = "num_ranks 1\n\nrank 0 {\nl0: recv 7b from -1 tag -1\nl1: calc 5 cpu 1\nl1 requires l0\n}\n";
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }
}

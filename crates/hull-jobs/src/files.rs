//! Opens a job by what its file begins with.

use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use crate::choices::Choices;
use crate::form::{EXPECTED, Form};
use crate::goal_text::{Notes, compile};
use crate::job::Job;
use crate::problem::Problem;
use crate::remarks::Remarks;
use crate::schedule::Schedule;
use crate::{aicb, chakra, matrix, simai};

/// Largest text that is compiled in memory, bytes; a larger one is compiled to a temporary file.
const LARGEST_IN_MEMORY: u64 = 64 << 20;

/// First bytes of a file that tell its form.
const FIRST: u64 = 4096;

/// Opens a job in any of the forms: a file, or for a Chakra trace its folder or what the names of its files begin with.
///
/// # Errors
/// What is wrong with the job and where, or the file system's error.
pub fn open_job(path: &Path, choices: &Choices) -> Result<Job, Problem> {
    let is_prefix = || {
        let mut first = path.as_os_str().to_owned();
        first.push(".0.et");
        Path::new(&first).is_file()
    };
    if path.is_dir() || (!path.exists() && is_prefix()) {
        return chakra::job(&chakra::open(path)?, choices);
    }
    let mut file = File::open(path)?;
    let mut first = Vec::new();
    (&mut file).take(FIRST).read_to_end(&mut first)?;
    match Form::of(&first) {
        None => {
            let word = String::from_utf8_lossy(&first);
            let word = word.split_ascii_whitespace().next();
            Err(crate::text::refuse(1, word, EXPECTED))
        }
        Some(form @ (Form::GoalText | Form::GoalBinary)) => goal(path, form),
        Some(Form::SimaiText) => simai::job(&simai::read(&text(file, first)?)?, choices),
        Some(Form::AicbTable) => aicb::job(&aicb::read(&text(file, first)?)?, choices),
        Some(Form::HtsimMatrix) => matrix::job(&matrix::read(&text(file, first)?)?, choices),
        Some(Form::ChakraTrace) => chakra::job(&chakra::open(path)?, choices),
    }
}

/// Reads the rest of a text.
fn text(mut file: File, mut first: Vec<u8>) -> Result<String, Problem> {
    file.read_to_end(&mut first)?;
    String::from_utf8(first).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::new(format!("byte {at}"), "not text; expected ASCII or UTF-8")
    })
}

fn goal(path: &Path, form: Form) -> Result<Job, Problem> {
    let (schedule, notes) = open(path)?;
    let mut remarks = Remarks::default();
    let first = notes.first_repeated;
    let repeated = format!("labels that a rank declares again, the first in line {first}");
    remarks.add(&repeated, notes.repeated_labels);
    remarks.add("lines behind the last rank", notes.lines_behind);
    Ok(Job {
        form,
        schedule,
        stages: Vec::new(),
        remarks,
    })
}

/// Opens a schedule in GOAL's text or binary form. A text of more than 64 MB is compiled to a temporary file without
/// a name, which ends with the schedule.
///
/// # Errors
/// What is wrong with the schedule, or the file system's error.
pub fn open(path: &Path) -> Result<(Schedule, Notes), Problem> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut first = Vec::new();
    (&mut file).take(8).read_to_end(&mut first)?;
    // The cookie has bytes of 0, and a text none.
    if first.contains(&0) {
        return Ok((Schedule::from_file(file)?, Notes::default()));
    }
    file.seek(SeekFrom::Start(0))?;
    let text = BufReader::with_capacity(1 << 20, file);
    if len <= LARGEST_IN_MEMORY {
        let (out, notes) = compile(text, Cursor::new(Vec::new()))?;
        return Ok((Schedule::from_bytes(out.into_inner())?, notes));
    }
    let (out, notes) = compile(text, BufWriter::new(tempfile::tempfile()?))?;
    let file = out
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?;
    Ok((Schedule::from_file(file)?, notes))
}

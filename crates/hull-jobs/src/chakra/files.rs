//! The files of a trace: `PREFIX.0.et`, `PREFIX.1.et` and so on, one for each rank.

use std::collections::BTreeMap;
use std::fs::{File, read_dir};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::Trace;
use super::trace::read;
use crate::problem::Problem;

/// A rank's trace with the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The file's name, without its folder.
    pub file: String,
    /// What it says.
    pub trace: Trace,
}

/// Reads the files of all ranks. `path` is their folder, which has one trace, or what their names begin with, or one of
/// them.
///
/// # Errors
/// A rank without a file; the file, its byte, what was found and what was expected.
pub fn open(path: &Path) -> Result<Vec<Named>, Problem> {
    let mut traces = Vec::new();
    for file in files(path)? {
        let name = file.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let input = BufReader::new(File::open(&file)?);
        let trace = read(input)
            .map_err(|problem| Problem::new(format!("{name}, {}", problem.place), problem.told))?;
        traces.push(Named { file: name, trace });
    }
    Ok(traces)
}

/// Prefix and rank of a file's name.
fn parts(path: &Path) -> Option<(String, u32)> {
    let name = path.file_name()?.to_str()?;
    let (prefix, rank) = name.strip_suffix(".et")?.rsplit_once('.')?;
    Some((prefix.to_owned(), rank.parse().ok()?))
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    let expected = "expected one file for each rank, PREFIX.0.et, PREFIX.1.et and so on";
    let (folder, prefix) = if path.is_dir() {
        (path, None)
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = parts(path).map_or(name.into_owned(), |(prefix, _)| prefix);
        (path.parent().unwrap_or(Path::new("")), Some(prefix))
    };
    // The folder of a name alone.
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut found: BTreeMap<String, BTreeMap<u32, PathBuf>> = BTreeMap::new();
    for entry in read_dir(folder)? {
        let file = entry?.path();
        let Some((name, rank)) = parts(&file) else {
            continue;
        };
        if prefix.as_ref().is_none_or(|prefix| *prefix == name) {
            found.entry(name).or_default().insert(rank, file);
        }
    }
    let mut traces = found.into_iter();
    let Some((name, ranks)) = traces.next() else {
        return Err(Problem::new("", format!("no trace; {expected}")));
    };
    if let Some((other, _)) = traces.next() {
        let told =
            format!("traces `{name}` and `{other}` in one folder; expected one, or its prefix");
        return Err(Problem::new("", told));
    }
    if let Some((missing, _)) = (0_u32..)
        .zip(ranks.keys())
        .find(|&(rank, &found)| rank != found)
    {
        return Err(Problem::new(
            "",
            format!("no `{name}.{missing}.et`; {expected}"),
        ));
    }
    Ok(ranks.into_values().collect())
}

//! What is attached, on disk: a record for each device in `/run/hull/<network namespace>`, and the
//! pinned maps in a bpf file system of our own, `/run/hull/bpf/<network namespace>`. Both are gone
//! after a reboot, as the attachments are.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::machine;
use crate::problem::{Problem, input};
use crate::settings::Settings;

/// Where records and pinned maps are.
const ROOT: &str = "/run/hull";

/// What is attached to a device, and what was there before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The device's name.
    pub device: String,
    /// Its number.
    pub ifindex: u32,
    /// Its place in the maps.
    pub slot: u32,
    /// The settings in force.
    pub settings: Settings,
    /// When it was attached, CLOCK_MONOTONIC: the pacer's time 0.
    pub began_ns: u64,
    /// The clsact queue is ours.
    pub clsact_is_ours: bool,
    /// The root queue is ours, instead of this one.
    pub replaced_root: Option<String>,
    /// `gso_max_segs` before.
    pub gso_max_segs: Option<u32>,
}

/// The folder of this network namespace.
pub(crate) fn folder() -> Result<PathBuf, Problem> {
    Ok(Path::new(ROOT).join(machine::namespace()?.to_string()))
}

/// Where the record of a device is.
pub(crate) fn record_path(device: &str) -> Result<PathBuf, Problem> {
    Ok(folder()?.join(format!("{device}.json")))
}

/// Where the maps of this network namespace are pinned.
pub(crate) fn pins() -> Result<PathBuf, Problem> {
    Ok(Path::new(ROOT)
        .join("bpf")
        .join(machine::namespace()?.to_string()))
}

/// Mounts our bpf file system. To be called before a network namespace is entered.
pub fn mount() -> Result<(), Problem> {
    let bpf = Path::new(ROOT).join("bpf");
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    if mounts
        .lines()
        .any(|line| line.split(' ').nth(1) == bpf.to_str())
    {
        return Ok(());
    }
    // `ip netns exec NAME` mounts a sysfs that it calls NAME, in mounts that end with the command.
    let sysfs = mounts
        .lines()
        .rev()
        .find(|line| line.split(' ').nth(1) == Some("/sys"));
    let source = sysfs
        .and_then(|line| line.split(' ').next())
        .unwrap_or("sysfs");
    if Path::new("/run/netns").join(source).exists() {
        return input(format!(
            "found ip netns exec, at whose end pinned maps would be lost; expected hull linux --netns {source}, from \
             outside"
        ));
    }
    std::fs::create_dir_all(&bpf)?;
    let path = std::ffi::CString::new(bpf.to_string_lossy().as_bytes()).expect("no zero in it");
    // SAFETY: the strings are C strings.
    #[allow(unsafe_code)]
    let mounted = unsafe {
        libc::mount(
            c"bpf".as_ptr(),
            path.as_ptr(),
            c"bpf".as_ptr(),
            0,
            std::ptr::null(),
        )
    };
    match mounted {
        0 => Ok(()),
        _ => input(format!(
            "found no bpf file system in this kernel ({}); expected one with CONFIG_BPF_SYSCALL",
            std::io::Error::last_os_error()
        )),
    }
}

/// The record of a device, if it is attached.
pub fn record(device: &str) -> Result<Option<Record>, Problem> {
    match std::fs::read_to_string(record_path(device)?) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
            Problem::Failed(format!(
                "{}: {error}",
                record_path(device).unwrap_or_default().display()
            ))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The records of this network namespace, by device.
pub fn records() -> Result<Vec<Record>, Problem> {
    let entries = match std::fs::read_dir(folder()?) {
        Ok(entries) => entries,
        Err(_) => return Ok(Vec::new()),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(device) = name.strip_suffix(".json") {
            found.extend(record(device)?);
        }
    }
    found.sort_by(|a, b| a.device.cmp(&b.device));
    Ok(found)
}

/// Writes a record: whole, or not at all.
pub(crate) fn write_record(record: &Record) -> Result<(), Problem> {
    let path = record_path(&record.device)?;
    std::fs::create_dir_all(folder()?)?;
    let temporary = path.with_extension("new");
    std::fs::write(
        &temporary,
        serde_json::to_string_pretty(record).expect("it is plain data"),
    )?;
    Ok(std::fs::rename(temporary, path)?)
}

/// The number of a namespace that `ip netns` made.
fn number_of(namespace: &str) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let path = Path::new("/run/netns").join(namespace);
    Some(std::fs::metadata(path).ok()?.ino())
}

/// Whether a device is attached in another namespace.
pub fn attached_in(namespace: &str, device: &str) -> bool {
    let folder = number_of(namespace).map(|number| Path::new(ROOT).join(number.to_string()));
    folder.is_some_and(|folder| folder.join(format!("{device}.json")).exists())
}

/// Forgets what was attached in a namespace that is about to go, programs and all.
pub fn drop_namespace(namespace: &str) {
    if let Some(number) = number_of(namespace) {
        let _ = std::fs::remove_dir_all(Path::new(ROOT).join(number.to_string()));
        let _ = std::fs::remove_dir_all(Path::new(ROOT).join("bpf").join(number.to_string()));
    }
}

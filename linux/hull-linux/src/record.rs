//! Attachments on disk: a record per device in `/run/hull/<network namespace>`, and the pinned maps in
//! hull's own bpf file system, `/run/hull/bpf/<network namespace>`. A reboot removes both, together with
//! the attachments.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::machine;
use crate::problem::{Problem, input};
use crate::settings::Settings;

/// Folder of records and pinned maps.
const ROOT: &str = "/run/hull";

/// Attachment of a device, with the device's previous settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the device.
    pub device: String,
    /// Interface index of the device.
    pub ifindex: u32,
    /// Slot of the device in the maps.
    pub slot: u32,
    /// Current settings.
    pub settings: Settings,
    /// Time of the attachment on CLOCK_MONOTONIC, ns; the pacer's time 0.
    pub began_ns: u64,
    /// Whether hull added the clsact queue.
    pub clsact_is_ours: bool,
    /// Root queue that hull replaced.
    pub replaced_root: Option<String>,
    /// `gso_max_segs` before the attachment.
    pub gso_max_segs: Option<u32>,
}

/// Folder of this network namespace.
pub(crate) fn folder() -> Result<PathBuf, Problem> {
    Ok(Path::new(ROOT).join(machine::namespace()?.to_string()))
}

/// Path of a device's record.
pub(crate) fn record_path(device: &str) -> Result<PathBuf, Problem> {
    Ok(folder()?.join(format!("{device}.json")))
}

/// Folder in which the maps of this network namespace are pinned.
pub(crate) fn pins() -> Result<PathBuf, Problem> {
    Ok(Path::new(ROOT)
        .join("bpf")
        .join(machine::namespace()?.to_string()))
}

/// Mounts hull's bpf file system. It must be called before a network namespace is entered.
pub fn mount() -> Result<(), Problem> {
    let bpf = Path::new(ROOT).join("bpf");
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    if mounts
        .lines()
        .any(|line| line.split(' ').nth(1) == bpf.to_str())
    {
        return Ok(());
    }
    // `ip netns exec NAME` mounts a sysfs named NAME, and its mounts end with the command.
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
            "this kernel has no bpf file system ({}); expected CONFIG_BPF_SYSCALL",
            std::io::Error::last_os_error()
        )),
    }
}

/// Record of a device, if it is attached.
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

/// Records of this network namespace, by device.
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

/// Writes a record atomically.
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

/// Inode of a network namespace of `ip netns`.
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

/// Removes all records and maps of a namespace that is about to be deleted.
pub fn drop_namespace(namespace: &str) {
    if let Some(number) = number_of(namespace) {
        let _ = std::fs::remove_dir_all(Path::new(ROOT).join(number.to_string()));
        let _ = std::fs::remove_dir_all(Path::new(ROOT).join("bpf").join(number.to_string()));
    }
}

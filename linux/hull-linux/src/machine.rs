//! The machine: the user, the kernel's features, and the owner of a device's queue.
//!
//! iproute2's `tc` and `ip` change queues and segmentation limits; libbpf changes filters and maps.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::problem::{Problem, input};

/// Runs a command; its standard error becomes the problem's text.
pub fn call(program: &str, arguments: &[&str]) -> Result<String, Problem> {
    let shown = format!("{program} {}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| Problem::Input(format!("{program}: {error}; install iproute2")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> = words
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    Err(Problem::Failed(format!("{shown}: {}", words.join("; "))))
}

/// Only root may load programs.
pub fn require_root() -> Result<(), Problem> {
    // SAFETY: geteuid has no preconditions.
    #[allow(unsafe_code)]
    let user = unsafe { libc::geteuid() };
    match user {
        0 => Ok(()),
        user => input(format!(
            "user {user} is not permitted; expected root, who alone may change eBPF programs and queues"
        )),
    }
}

/// Interface index of a device.
pub fn ifindex(device: &str) -> Result<u32, Problem> {
    let name = std::ffi::CString::new(device)
        .map_err(|_| Problem::Input(format!("{device:?}: a device name must not contain NUL")))?;
    // SAFETY: the name is a C string.
    #[allow(unsafe_code)]
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    match index {
        0 => input(format!(
            "{device}: no such device; expected {}",
            devices().join(", ")
        )),
        index => Ok(index),
    }
}

/// Devices of this network namespace.
pub fn devices() -> Vec<String> {
    let listed = call("ip", &["-j", "link", "show"])
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    let devices: Vec<Value> = listed.unwrap_or_default();
    devices
        .iter()
        .filter_map(|device| device["ifname"].as_str().map(str::to_owned))
        .collect()
}

/// Rate of a device's link, bit/s, if the driver reports it.
pub fn link_rate(device: &str) -> Option<u64> {
    let mbps =
        std::fs::read_to_string(Path::new("/sys/class/net").join(device).join("speed")).ok()?;
    let mbps: i64 = mbps.trim().parse().ok()?;
    u64::try_from(mbps)
        .ok()
        .filter(|&mbps| mbps > 0)
        .map(|mbps| mbps * 1_000_000)
}

/// Root queue of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Kind of the queue: "fq", "mq", "noqueue", ...
    pub kind: String,
    /// Whether the queue is the kernel's default.
    pub by_kernel: bool,
}

/// Root queue of a device, and whether the device has a clsact queue.
pub fn queues(device: &str) -> Result<(Root, bool), Problem> {
    let text = call("tc", &["-j", "qdisc", "show", "dev", device])?;
    let listed: Vec<Value> = serde_json::from_str(&text)
        .map_err(|error| Problem::Failed(format!("tc -j qdisc show: {error}")))?;
    let root = listed
        .iter()
        .find(|queue| queue["root"].as_bool() == Some(true));
    let root = Root {
        kind: root
            .and_then(|root| root["kind"].as_str())
            .unwrap_or("noqueue")
            .to_owned(),
        by_kernel: root.is_none_or(|root| root["handle"].as_str() == Some("0:")),
    };
    Ok((root, listed.iter().any(|queue| queue["kind"] == "clsact")))
}

/// Largest number of segments that the stack passes to a device at once.
pub fn gso_max_segs(device: &str) -> Result<u32, Problem> {
    let text = call("ip", &["-j", "-d", "link", "show", "dev", device])?;
    let listed: Vec<Value> =
        serde_json::from_str(&text).map_err(|error| Problem::Failed(error.to_string()))?;
    let found = listed
        .first()
        .and_then(|link| link["gso_max_segs"].as_u64());
    found
        .map(|segments| segments as u32)
        .ok_or_else(|| Problem::Failed(format!("{device}: no gso_max_segs")))
}

/// Sets the largest number of segments that the stack passes to a device at once.
pub fn set_gso_max_segs(device: &str, segments: u32) -> Result<(), Problem> {
    call(
        "ip",
        &[
            "link",
            "set",
            "dev",
            device,
            "gso_max_segs",
            &segments.to_string(),
        ],
    )
    .map(|_| ())
}

/// Inode that identifies this network namespace.
pub fn namespace() -> Result<u64, Problem> {
    use std::os::unix::fs::MetadataExt;
    Ok(std::fs::metadata("/proc/self/ns/net")?.ino())
}

/// Enters a network namespace of `ip netns`. Mounts remain in this process, unlike with `ip netns
/// exec`.
pub fn enter(name: &str) -> Result<(), Problem> {
    use std::os::fd::AsRawFd;
    let path = Path::new("/run/netns").join(name);
    let file = std::fs::File::open(&path).map_err(|_| {
        let known = std::fs::read_dir("/run/netns")
            .into_iter()
            .flatten()
            .flatten();
        let known: Vec<String> = known
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        Problem::Input(format!(
            "--netns {name}: no such namespace; expected {}",
            known.join(", ")
        ))
    })?;
    // SAFETY: the descriptor is open.
    #[allow(unsafe_code)]
    let entered = unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) };
    if entered != 0 {
        return Err(Problem::Failed(format!(
            "setns {name}: {}",
            std::io::Error::last_os_error()
        )));
    }
    // The mount of sysfs fixes the namespace that /sys/class/net shows, so this process mounts its own.
    // SAFETY: the strings are C strings, the namespace is our own after unshare.
    #[allow(unsafe_code)]
    let mounted = unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                c"".as_ptr(),
                c"/".as_ptr(),
                std::ptr::null(),
                libc::MS_SLAVE | libc::MS_REC,
                std::ptr::null(),
            ) == 0
            && libc::mount(
                c"sysfs".as_ptr(),
                c"/sys".as_ptr(),
                c"sysfs".as_ptr(),
                0,
                std::ptr::null(),
            ) == 0
    };
    if mounted {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error().into())
    }
}

/// Current time of CLOCK_MONOTONIC, ns.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a local timespec.
    #[allow(unsafe_code)]
    unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now)
    };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

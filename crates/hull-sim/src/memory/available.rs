//! Memory that this process may still take, bytes: what the machine has left, less if a control group
//! or a limit of the process leaves less. The environment variable `HULL_MEMORY_LIMIT` replaces all of
//! these: for a share of a machine, or for runs on other machines.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::quote;
use crate::units::Size;

/// Name of the environment variable.
const VARIABLE: &str = "HULL_MEMORY_LIMIT";

/// Origin of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Variable,
    Machine,
    ControlGroup,
    AddressSpace,
    Data,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Variable => "HULL_MEMORY_LIMIT allows",
            Source::Machine => "this machine has left",
            Source::ControlGroup => "this control group has left",
            Source::AddressSpace => "this process may take (ulimit -v)",
            Source::Data => "this process may take (ulimit -d)",
        })
    }
}

/// Available memory and its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// Available memory, bytes.
    pub bytes: u64,
    pub(super) source: Source,
}

/// Available memory; `None` if neither the environment nor the system tells it. Fails if
/// `HULL_MEMORY_LIMIT` is no size.
pub fn available() -> Result<Option<Available>, Problem> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(of_system(Path::new("/")));
    };
    of_text(&text.to_string_lossy()).map(Some)
}

fn of_text(text: &str) -> Result<Available, Problem> {
    let source = Source::Variable;
    match Size::parse(text) {
        Ok(Size(bytes)) => Ok(Available { bytes, source }),
        Err(_) => Err(Problem::new(
            VARIABLE,
            format!(
                "{} is invalid; expected a size, such as 4GB",
                quote::text(text)
            ),
        )),
    }
}

/// Least memory that the system whose files are in `root` leaves.
fn of_system(root: &Path) -> Option<Available> {
    let status = read(root.join("proc/self/status"));
    let limits = read(root.join("proc/self/limits"));
    let below = |limit: &str, used: &str| {
        let limit = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let most = limit.split_whitespace().next()?.parse::<u64>().ok()?;
        Some(most.saturating_sub(kib(&status, used)?))
    };
    let all = [
        (
            Source::Machine,
            kib(&read(root.join("proc/meminfo")), "MemAvailable:"),
        ),
        (Source::ControlGroup, of_control_groups(root)),
        (Source::AddressSpace, below("Max address space", "VmSize:")),
        (Source::Data, below("Max data size", "VmData:")),
    ];
    let known = all
        .into_iter()
        .filter_map(|(source, bytes)| bytes.map(|bytes| Available { bytes, source }));
    known.min_by_key(|available| available.bytes)
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Value of a line of `/proc`, such as `VmSize: 2048 kB`, bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = value.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Least memory that the control groups of this process have left, of version 1 or 2.
fn of_control_groups(root: &Path) -> Option<u64> {
    let groups = read(root.join("proc/self/cgroup"));
    let mounts = root.join("sys/fs/cgroup");
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let files = if number == "0" && controllers.is_empty() {
            (&V2, mounts.clone())
        } else if controllers.split(',').any(|name| name == "memory") {
            (&V1, mounts.join("memory"))
        } else {
            return None;
        };
        let (files, mount) = files;
        // In a container the group may be the root of what is mounted: its path is then unknown.
        let path = Path::new(path.trim_start_matches('/'));
        let folders = path.ancestors().map(|group| mount.join(group));
        folders.filter_map(|folder| files.left(&folder)).min()
    };
    groups.lines().filter_map(of_line).min()
}

/// Names of the files of a control group.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    /// Row in `memory.stat` of the cached files that the system takes back first.
    cached: &'static str,
}

const V1: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: "total_inactive_file ",
};
const V2: GroupFiles = GroupFiles {
    limit: "memory.max",
    used: "memory.current",
    cached: "inactive_file ",
};

impl GroupFiles {
    /// Memory that the group in this folder has left, bytes; `None` without a limit.
    fn left(&self, folder: &Path) -> Option<u64> {
        let number = |file: &str| read(folder.join(file)).trim().parse::<u64>().ok();
        let (limit, used) = (number(self.limit)?, number(self.used)?);
        let stat = read(folder.join("memory.stat"));
        let cached = stat.lines().find_map(|line| line.strip_prefix(self.cached));
        let cached = cached.and_then(|bytes| bytes.trim().parse().ok());
        Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files of a system into a folder of its own.
    fn system(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("hull-memory-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    fn found(name: &str, files: &[(&str, &str)]) -> Option<(u64, Source)> {
        let meminfo = (
            "proc/meminfo",
            "MemTotal: 900 kB\nMemAvailable:     500 kB\n",
        );
        let root = system(name, &[&[meminfo], files].concat());
        let found = of_system(&root);
        fs::remove_dir_all(root).expect("the folder");
        found.map(|available| (available.bytes, available.source))
    }

    #[test]
    fn the_machine() {
        assert_eq!(of_system(Path::new("/no/such/folder")), None);
        assert_eq!(found("machine", &[]), Some((512_000, Source::Machine)));
    }

    /// The group's parent has less left; its cached files count as free.
    #[test]
    fn control_groups_of_version_2() {
        let files = [
            ("proc/self/cgroup", "0::/jobs/one\n"),
            ("sys/fs/cgroup/jobs/one/memory.max", "max\n"),
            ("sys/fs/cgroup/jobs/one/memory.current", "1000\n"),
            ("sys/fs/cgroup/jobs/memory.max", "400000\n"),
            ("sys/fs/cgroup/jobs/memory.current", "150000\n"),
            (
                "sys/fs/cgroup/jobs/memory.stat",
                "file 9\ninactive_file 50000\n",
            ),
        ];
        assert_eq!(found("v2", &files), Some((300_000, Source::ControlGroup)));
    }

    /// In a container without a name space of its own the path is the host's.
    #[test]
    fn control_groups_of_version_1() {
        let files = [
            (
                "proc/self/cgroup",
                "5:cpu:/a\n4:hugetlb,memory:/docker/0123\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "400000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "350000\n"),
        ];
        assert_eq!(found("v1", &files), Some((50_000, Source::ControlGroup)));
    }

    #[test]
    fn limits_of_the_process() {
        let status = ("proc/self/status", "VmSize:\t100 kB\nVmData:\t  50 kB\n");
        let limits = |space: &str, data: &str| {
            format!(
                "Limit  Soft Limit\nMax data size  {data}  unlimited bytes\nMax address space  {space} 1 bytes\n"
            )
        };
        let space = limits("204800", "unlimited");
        let files = [status, ("proc/self/limits", &space)];
        let left = Some((102_400, Source::AddressSpace));
        assert_eq!(found("space", &files), left);
        let data = limits("unlimited", "61200");
        let files = [status, ("proc/self/limits", &data)];
        assert_eq!(found("data", &files), Some((10_000, Source::Data)));
    }

    #[test]
    fn the_variable() {
        let bytes = |text| of_text(text).map(|available| available.bytes);
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        let problem = bytes("4 apples").expect_err("no size").to_string();
        assert_eq!(
            problem,
            "HULL_MEMORY_LIMIT: \"4 apples\" is invalid; expected a size, such as 4GB"
        );
    }
}

//! The flow list that was read last. The check of a scenario and the runs of its schemes and seeds need
//! the same list: it is read once, and held once, until another one is read.
//!
//! A list is read again if its file changed, by the system's time of the change, or if the names of
//! hosts, transports or groups differ, or the network if flows must pass given switches. A file that changed just before it was read may change again
//! within the same step of the system's clock; it is read each time.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::{FlowList, Groups, HostNames};
use crate::topology::Graph;

/// Longer than a step of the clock with which a file system notes changes; coarse ones note whole
/// seconds.
const FINE_STEP: Duration = Duration::from_millis(100);
const COARSE_STEP: Duration = Duration::from_secs(3);

/// Hash of what a list was read from, the list, and the network if flows must pass given switches.
type Read = (u64, Arc<FlowList>, Option<Arc<Graph>>);

/// A list that was read.
#[derive(Debug, Default)]
pub struct LastList(Mutex<Option<Read>>);

impl LastList {
    /// Reads a list as [`FlowList::read`] does, unless it is the one that was read last.
    pub fn read(
        &self,
        path: &str,
        hosts: &HostNames,
        transports: &[String],
        groups: &Groups,
    ) -> Result<Arc<FlowList>, String> {
        let file = std::fs::metadata(path).ok().and_then(|file| state(&file));
        let key = file.map(|file| {
            let mut hasher = DefaultHasher::new();
            (path, file, &hosts.names, groups, transports).hash(&mut hasher);
            hasher.finish()
        });
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, list, graph)) = &*last
            && key == Some(*of)
            && (list.pins().is_empty() || *graph == hosts.graph)
        {
            return Ok(Arc::clone(list));
        }
        *last = None;
        let list = Arc::new(FlowList::read(path, hosts, transports, groups)?);
        let graph = (hosts.graph.clone()).filter(|_| !list.pins().is_empty());
        *last = key.map(|key| (key, Arc::clone(&list), graph));
        Ok(list)
    }
}

/// Numbers that change with a file's content; `None` if a later change might leave them the same.
#[cfg(unix)]
fn state(file: &Metadata) -> Option<[u64; 5]> {
    use std::os::unix::fs::MetadataExt;

    let (seconds, ns) = (
        u64::try_from(file.ctime()).ok()?,
        u64::try_from(file.ctime_nsec()).ok()?,
    );
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(ns);
    let step = if ns == 0 { COARSE_STEP } else { FINE_STEP };
    let is_settled = SystemTime::now().duration_since(changed).ok()? > step;
    is_settled.then_some([file.dev(), file.ino(), file.size(), seconds, ns])
}

#[cfg(not(unix))]
fn state(_: &Metadata) -> Option<[u64; 5]> {
    None
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::super::test_network::hosts;
    use super::*;

    /// The same list is shared while the file stays as it is; a changed one is read at once.
    #[test]
    fn a_list_is_read_again_when_its_file_or_the_names_change() {
        let name = format!("hull-shared-{}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        let write = |bytes: u32| {
            let text = format!("start_ps,src,dst,bytes\n0,0,1,{bytes}\n");
            std::fs::write(&path, text).expect("a temporary file");
        };
        let names = hosts(3, 1);
        let last = LastList::default();
        let read = |hosts: &HostNames, groups: &Groups| {
            last.read(&path.display().to_string(), hosts, &[], groups)
        };
        let read_by = |hosts: &HostNames| read(hosts, &Groups::default()).expect("good");
        // Just written, it is not shared, so that the change to 6 is seen.
        write(5);
        let first = read_by(&names);
        write(6);
        assert_eq!(read_by(&names).flows()[0].bytes, 6);
        assert_eq!(first.flows()[0].bytes, 5);

        // Where the file system notes whole seconds only, three would have to pass.
        std::thread::sleep(2 * FINE_STEP);
        let (second, third) = (read_by(&names), read_by(&names));
        assert!(Arc::ptr_eq(&second, &third));
        let rules = IndexMap::from([("rpc".to_owned(), "bytes<10KB".to_owned())]);
        let groups = Groups::new(&rules, &names).expect("a group");
        let grouped = read(&names, &groups).expect("good");
        assert_eq!(grouped.group_names(), ["rpc"]);
        let mut renamed = names.clone();
        renamed.names[2] = "1".to_owned();
        assert_eq!(read_by(&renamed).flows()[0].dst, 2);
        // Settled as the list before it was, a file of the same size is another one.
        read_by(&names);
        write(7);
        std::thread::sleep(2 * FINE_STEP);
        assert_eq!(read_by(&names).flows()[0].bytes, 7);
        std::fs::remove_file(&path).expect("file exists");
        assert!(read(&names, &Groups::default()).is_err());
    }
}

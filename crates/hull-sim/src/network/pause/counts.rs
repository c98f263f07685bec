//! Statistics of the pauses of a link in one direction. They do not change the run. Times are ps, sizes
//! bytes.

use crate::network::Network;

/// Pauses of a class on a link in one direction: the far end asks, the near end pauses. If links pause as a
/// whole, all classes together are the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassPauses {
    /// Number of frames to pause that the far end sent, refreshed pauses among them.
    pub sent: u64,
    /// Number of these that the near end received.
    pub received: u64,
    /// Number of frames to resume that the near end received.
    pub resumes: u64,
    /// Time for which the near end paused, ps.
    pub paused_ps: u64,
    /// Headroom at the far end, bytes; 0 at a host, whose ring counts packets.
    pub headroom_bytes: u64,
    /// Largest use of the headroom, bytes.
    pub most_in_headroom_bytes: u64,
    /// Number of packets that came over the link and found no room.
    pub drops: u64,
}

impl Network {
    /// Pauses of a class on a port's link until `now_ps`; `None` if the far end never asks for any.
    pub fn class_pauses(&self, port: usize, class: usize, now_ps: u64) -> Option<ClassPauses> {
        let pauses = self.pauses.as_deref()?;
        if class >= self.classes {
            return None;
        }
        let (headroom_bytes, most_in_headroom_bytes, drops) = match self.places.get(port ^ 1)? {
            Some(place) => {
                let memory = &self.memories[place.memory as usize];
                memory.guarded(place.queue as usize + class)?.readings()
            }
            None if pauses.is_asked_by_host(port, class) => (0, 0, 0),
            None => return None,
        };
        let counts = pauses.counts[port][class];
        let since_ps = pauses.paused[port][class].since_ps;
        Some(ClassPauses {
            paused_ps: counts.paused_ps + since_ps.map_or(0, |since_ps| now_ps - since_ps),
            headroom_bytes,
            most_in_headroom_bytes,
            drops,
            ..counts
        })
    }

    /// Times for which classes of ports have been paused until `now_ps`, ps, of those that have been:
    /// port, class and time.
    pub fn paused_times(&self, now_ps: u64) -> impl Iterator<Item = ((u32, u8), u64)> {
        let pauses = self.pauses.as_deref();
        let ports = pauses.map_or(0, |pauses| pauses.counts.len());
        let each = (0..ports).flat_map(|port| (0..self.classes).map(move |class| (port, class)));
        each.filter_map(move |(port, class)| {
            let pauses = pauses?;
            let since_ps = pauses.paused[port][class].since_ps;
            let now_lasts_ps = since_ps.map_or(0, |since_ps| now_ps - since_ps);
            let paused_ps = pauses.counts[port][class].paused_ps + now_lasts_ps;
            (paused_ps > 0).then_some(((port as u32, class as u8), paused_ps))
        })
    }
}

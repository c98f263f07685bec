//! The completion time of a message in an otherwise empty network: its packets leave the host back to
//! back and queue only behind each other. Times are ps, sizes bytes.
//!
//! On link k of the route a full packet takes S_k. F_k is the time from its start there to its
//! earliest start on link k + 1 (S_k and the delay, or with cut-through the header's time, longer
//! if the next link is faster). Packet m starts on link k when it has arrived and packet m - 1 is
//! complete. This is a longest path, which for equal packets is
//!
//! ```text
//! A_k(m) = F_1 + ... + F_(k-1) + (m - 1) max(S_1, ..., S_k)
//! ```
//!
//! The last packet may be shorter. It starts on link k at B_k = max(B_(k-1) + f_(k-1), A_k(m) +
//! S_k), where f is its own F and m the number of full packets before it. All values are the ports'
//! integer picoseconds.

use super::{Hop, Network, Port};

/// Segmentation of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Bytes of the message, at least 1.
    pub bytes: u64,
    /// Largest payload of a packet, bytes.
    pub mss: u16,
    /// Header of each packet, bytes.
    pub header_bytes: u16,
}

impl Segments {
    /// Number of full packets before the last one.
    fn before_last(&self) -> u64 {
        self.bytes.saturating_sub(1) / u64::from(self.mss)
    }

    /// Bytes on the wire of the last packet, which may also be full.
    fn last_bytes(&self) -> u16 {
        let payload = self.bytes - self.before_last() * u64::from(self.mss);
        self.header_bytes + payload as u16
    }

    fn full_bytes(&self) -> u16 {
        self.header_bytes + self.mss
    }
}

impl Port {
    /// Time from the start of a packet here to its earliest start at `next`, the next port of its
    /// route, ps.
    fn forward_ps(&self, next: &Port, bytes: u16) -> u64 {
        let tail_ps = self.tail_of_ps(bytes);
        self.transit_ps(bytes) + tail_ps.saturating_sub(next.serialization_ps(bytes))
    }
}

impl Network {
    /// Time from the sending of a message on the route at `route` to the arrival of its last byte
    /// in an otherwise empty network, ps; `None` if the route leads nowhere.
    pub fn alone_ps(&self, route: u32, message: &Segments) -> Option<u64> {
        let (before, full, last) = (
            message.before_last(),
            message.full_bytes(),
            message.last_bytes(),
        );
        let (mut first_ps, mut slowest_ps, mut last_ps) = (0_u64, 0, 0_u64);
        let mut behind: Option<&Port> = None;
        for at in route.. {
            let Hop::Port(number) = self.hop(at) else {
                break;
            };
            if number == self.nowhere() as usize {
                return None;
            }
            let port = &self.ports[number];
            if let Some(behind) = behind {
                first_ps += behind.forward_ps(port, full);
                last_ps += behind.forward_ps(port, last);
            }
            slowest_ps = port.serialization_ps(full).max(slowest_ps);
            if before > 0 {
                let waited_ps = (before - 1).saturating_mul(slowest_ps);
                let over_ps = port.serialization_ps(full).saturating_add(waited_ps);
                last_ps = last_ps.max(first_ps.saturating_add(over_ps));
            }
            behind = Some(port);
        }
        Some(last_ps.saturating_add(behind?.transit_ps(last)))
    }
}

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
//!
//! If packets are spread over several routes, only the first link and the last one, which the routes
//! share, are certain to hold them apart. Let L and l be the smallest sums of F and of f over the
//! routes, M the larger of both links' S, and S and s the times on the last link of a full packet
//! and of the last one. After m full packets the last transmission there ends no earlier than
//!
//! ```text
//! L + (m - 1) M + S, m S_1 + l + s and min(L, m S_1 + l) + m S + s.
//! ```
//!
//! The last packet can overtake the one before only if S_1 + l < L. Otherwise s is added to the first.
//!
//! If the sender has n NICs and the receiver k, some first link carries at least m / n full packets,
//! rounded up, and some last link m / k. With the smallest times of all routes, the end is no earlier
//! than
//!
//! ```text
//! l + s, (ceil(m / n) - 1) S_1 + L + S and L + ceil(m / k) S.
//! ```

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

/// Times of a message's packets on one route, ps.
struct Times {
    /// From the start on the first link to the earliest start on the last one, for a full and the
    /// last packet.
    before_ps: [u64; 2],
    /// Full packet on the first link.
    first_ps: u64,
    /// Full and last packet on the last link.
    on_last_ps: [u64; 2],
    /// From the end of a transmission on the last link to its arrival.
    after_ps: u64,
}

impl Port {
    /// Time from the start of a packet here to its earliest start at `next`, the next port of its
    /// route, ps.
    fn forward_ps(&self, next: &Port, bytes: u16) -> u64 {
        let tail_ps = self.tail_of_ps(bytes);
        self.transit_ps(bytes) + tail_ps.saturating_sub(next.serialization_ps(bytes))
    }
}

/// Time of a message with `before` full packets before the last one, from its sending to its arrival
/// over several NICs of sender and receiver, ps.
fn over_nics_ps(times: &[Times], before: u64, [senders, receivers]: [u64; 2]) -> Option<u64> {
    let least = |of: fn(&Times) -> u64| times.iter().map(of).min();
    let (full_ps, last_ps) = (least(|t| t.before_ps[0])?, least(|t| t.before_ps[1])?);
    let (each_ps, short_ps) = (least(|t| t.on_last_ps[0])?, least(|t| t.on_last_ps[1])?);
    let (first_ps, after_ps) = (least(|t| t.first_ps)?, least(|t| t.after_ps)?);
    let mut end_ps = last_ps.saturating_add(short_ps);
    if before > 0 {
        let waited_ps = (before.div_ceil(senders) - 1).saturating_mul(first_ps);
        let busy_ps = before.div_ceil(receivers).saturating_mul(each_ps);
        end_ps = end_ps
            .max((full_ps + each_ps).saturating_add(waited_ps))
            .max(full_ps.saturating_add(busy_ps));
    }
    Some(end_ps.saturating_add(after_ps))
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

    /// Time from the sending of a message whose packets are spread over routes to the arrival of its
    /// last byte in an otherwise empty network, ps: a lower bound, reached if the routes have equal
    /// times, no link between the first and the last is slower than these, and consecutive packets
    /// take different routes. `nics` are the numbers of NICs of the sender and of the receiver that
    /// the routes may have. `None` if there is no route, or one leads nowhere.
    pub fn spread_ps(&self, routes: &[u32], message: &Segments, nics: [u64; 2]) -> Option<u64> {
        let times = routes.iter().map(|&route| self.times(route, message));
        let times = times.collect::<Option<Vec<Times>>>()?;
        let one = times.first()?;
        if nics != [1, 1] {
            return over_nics_ps(&times, message.before_last(), nics);
        }
        let least = |of: usize| times.iter().map(|route| route.before_ps[of]).min();
        let (full_ps, last_ps) = (least(0)?, least(1)?);
        let (first_ps, [each_ps, short_ps]) = (one.first_ps, one.on_last_ps);
        let before = message.before_last();
        let arrived_ps = before.saturating_mul(first_ps).saturating_add(last_ps);
        let mut end_ps = arrived_ps.saturating_add(short_ps);
        if before > 0 {
            let waited_ps = (before - 1).saturating_mul(first_ps.max(each_ps));
            let in_turn_ps = match first_ps + last_ps < full_ps {
                true => 0,
                false => short_ps,
            };
            let over_ps = (full_ps + each_ps + in_turn_ps).saturating_add(waited_ps);
            let begin_ps = full_ps.min(arrived_ps) + short_ps;
            let busy_ps = before.saturating_mul(each_ps).saturating_add(begin_ps);
            end_ps = end_ps.max(over_ps).max(busy_ps);
        }
        Some(end_ps.saturating_add(one.after_ps))
    }

    /// Times of a message's packets on the route at `route`; `None` if it leads nowhere.
    fn times(&self, route: u32, message: &Segments) -> Option<Times> {
        let sizes = [message.full_bytes(), message.last_bytes()];
        let ports = self.ports_of(route)?;
        let (first, last) = (*ports.first()?, *ports.last()?);
        let before = |bytes: u16| {
            let hops = ports.windows(2);
            hops.map(|hop| hop[0].forward_ps(hop[1], bytes)).sum()
        };
        Some(Times {
            before_ps: sizes.map(before),
            first_ps: first.serialization_ps(sizes[0]),
            on_last_ps: sizes.map(|bytes| last.serialization_ps(bytes)),
            after_ps: last.transit_ps(sizes[0]) - last.serialization_ps(sizes[0]),
        })
    }

    /// Ports of the route at `route`; `None` if it leads nowhere.
    fn ports_of(&self, route: u32) -> Option<Vec<&Port>> {
        let mut ports = Vec::new();
        for at in route.. {
            match self.hop(at) {
                Hop::Port(number) if number == self.nowhere() as usize => return None,
                Hop::Port(number) => ports.push(&self.ports[number]),
                Hop::Host(_) => break,
            }
        }
        Some(ports)
    }

    /// Whether packets take the same times on both routes.
    pub fn have_equal_times(&self, one: u32, other: u32) -> bool {
        let (Some(one), Some(other)) = (self.ports_of(one), self.ports_of(other)) else {
            return false;
        };
        let sizes = [64, 9000];
        let times =
            |port: &Port| sizes.map(|bytes| (port.transit_ps(bytes), port.tail_of_ps(bytes)));
        let link = |port: &Port| sizes.map(|bytes| port.serialization_ps(bytes));
        let equal = |(a, b): (&&Port, &&Port)| times(a) == times(b) && link(a) == link(b);
        one.len() == other.len() && one.iter().zip(&other).all(equal)
    }
}

//! Linux's `TCP_INFO` of a connection. The structure grows with kernel versions, so fields are read at their
//! offsets in `include/uapi/linux/tcp.h`, as far as the kernel filled them.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use serde::Serialize;

/// Size on the wire: 8 numbers of 4 bytes.
pub const WIRE: usize = 8 * 4;

/// The kernel's TCP_INFINITE_SSTHRESH: no threshold yet.
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// State of one end of a connection at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Smoothed round-trip time, us.
    pub rtt_us: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; `None` before the first reduction.
    pub ssthresh: Option<u32>,
    /// Number of retransmitted segments.
    pub retransmissions: u32,
    /// Bytes acknowledged, modulo 2^32.
    pub acked_bytes: u32,
    /// Number of delivered segments; this field and the next one from Linux 4.18 on.
    pub delivered: Option<u32>,
    /// Number of these segments for which the receiver reported a CE mark.
    pub delivered_ce: Option<u32>,
    /// Number of retransmission timeouts; from Linux 6.7 on.
    pub timeouts: Option<u32>,
}

impl TcpInfo {
    /// Reads the state from the kernel.
    pub fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut bytes = [0_u8; 256];
        let mut length = bytes.len() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes, the size of the array, and both pointers
        // are valid for the call.
        #[allow(unsafe_code)]
        let status = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                bytes.as_mut_ptr().cast(),
                &mut length,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(TcpInfo::read(&bytes[..bytes.len().min(length as usize)]))
    }

    /// Decodes the kernel's structure.
    fn read(bytes: &[u8]) -> Self {
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 4)?;
            bytes.try_into().ok().map(u32::from_ne_bytes)
        };
        let timeouts = bytes.get(240..242).map(|b| [b[0], b[1]]);
        TcpInfo {
            rtt_us: word(68).unwrap_or(0),
            ssthresh: word(76).filter(|&segments| segments < NO_SSTHRESH),
            cwnd: word(80).unwrap_or(0),
            retransmissions: word(100).unwrap_or(0),
            acked_bytes: word(if cfg!(target_endian = "big") {
                124
            } else {
                120
            })
            .unwrap_or(0),
            delivered: word(192),
            delivered_ce: word(196),
            timeouts: timeouts.map(|bytes| u32::from(u16::from_ne_bytes(bytes))),
        }
    }

    /// Encodes the state for the other end of the connection.
    pub fn encode(&self) -> [u8; WIRE] {
        let mut bytes = [0; WIRE];
        let known = |number: Option<u32>| number.unwrap_or(u32::MAX);
        let numbers = [
            self.rtt_us,
            self.cwnd,
            known(self.ssthresh),
            self.retransmissions,
            self.acked_bytes,
            known(self.delivered),
            known(self.delivered_ce),
            known(self.timeouts),
        ];
        for (place, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Decodes the other end's state; missing fields are unknown.
    pub fn decode(bytes: &[u8]) -> Self {
        let number = |i: usize| {
            let bytes = bytes.get(4 * i..4 * i + 4)?;
            let number = u32::from_be_bytes(bytes.try_into().ok()?);
            (number != u32::MAX).then_some(number)
        };
        TcpInfo {
            rtt_us: number(0).unwrap_or(0),
            cwnd: number(1).unwrap_or(0),
            ssthresh: number(2),
            retransmissions: number(3).unwrap_or(0),
            acked_bytes: number(4).unwrap_or(0),
            delivered: number(5),
            delivered_ce: number(6),
            timeouts: number(7),
        }
    }
}

/// State of one end of all connections of a run, at its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TcpEnds {
    /// Number of connections with TCP_INFO.
    pub connections: usize,
    /// Mean of the smoothed round-trip times, us.
    pub mean_rtt_us: Option<f64>,
    /// Largest smoothed round-trip time, us.
    pub max_rtt_us: Option<u32>,
    /// Mean of the congestion windows, segments.
    pub mean_cwnd: Option<f64>,
    /// Largest congestion window, segments.
    pub max_cwnd: Option<u32>,
    /// Largest slow-start threshold of those that have one, segments.
    pub max_ssthresh: Option<u32>,
    /// Number of retransmitted segments of all connections.
    pub retransmissions: Option<u64>,
    /// Number of retransmission timeouts of all connections, if the kernel counts them.
    pub timeouts: Option<u64>,
    /// Number of delivered segments of all connections.
    pub delivered: Option<u64>,
    /// Number of these segments that were reported as CE-marked.
    pub delivered_ce: Option<u64>,
}

impl TcpEnds {
    /// Computes sums, means and maxima.
    pub fn of(infos: &[TcpInfo]) -> Self {
        let mean = |get: fn(&TcpInfo) -> u32| {
            let sum: f64 = infos.iter().map(|info| f64::from(get(info))).sum();
            (!infos.is_empty()).then(|| sum / infos.len() as f64)
        };
        // A sum is known only if all terms are: a sum over some connections would look like one
        // over all.
        let sum = |get: fn(&TcpInfo) -> Option<u32>| {
            let numbers = infos.iter().map(|info| get(info).map(u64::from));
            numbers.sum::<Option<u64>>().filter(|_| !infos.is_empty())
        };
        TcpEnds {
            connections: infos.len(),
            mean_rtt_us: mean(|info| info.rtt_us),
            max_rtt_us: infos.iter().map(|info| info.rtt_us).max(),
            mean_cwnd: mean(|info| info.cwnd),
            max_cwnd: infos.iter().map(|info| info.cwnd).max(),
            max_ssthresh: infos.iter().filter_map(|info| info.ssthresh).max(),
            retransmissions: sum(|info| Some(info.retransmissions)),
            timeouts: sum(|info| info.timeouts),
            delivered: sum(|info| info.delivered),
            delivered_ce: sum(|info| info.delivered_ce),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn older_kernels_report_fewer_fields() {
        let mut bytes = [0_u8; 256];
        for (at, number) in [(68, 90), (76, 20), (80, 10), (100, 3), (192, 7), (196, 5)] {
            bytes[at..at + 4].copy_from_slice(&u32::to_ne_bytes(number));
        }
        bytes[240..242].copy_from_slice(&u16::to_ne_bytes(2));
        let new = TcpInfo::read(&bytes);
        assert_eq!((new.rtt_us, new.cwnd, new.ssthresh), (90, 10, Some(20)));
        assert_eq!((new.retransmissions, new.timeouts), (3, Some(2)));
        assert_eq!((new.delivered, new.delivered_ce), (Some(7), Some(5)));
        let old = TcpInfo::read(&bytes[..104]);
        assert_eq!(
            (old.retransmissions, old.timeouts, old.delivered),
            (3, None, None)
        );
        for info in [new, old] {
            assert_eq!(TcpInfo::decode(&info.encode()), info);
        }
        let both = TcpEnds::of(&[new, old]);
        assert_eq!((both.retransmissions, both.timeouts), (Some(6), None));
        assert_eq!(TcpEnds::of(&[]), TcpEnds::default());
    }

    #[test]
    fn kernel_reports_tcp_info() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let info = TcpInfo::of(stream.as_fd()).expect("a TCP socket");
        assert!(info.cwnd > 0);
        let null = std::fs::File::open("/dev/null").expect("there");
        assert!(TcpInfo::of(null.as_fd()).is_err());
    }
}

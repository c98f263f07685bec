//! The headers of a captured frame: Ethernet, IPv4 (RFC 791, ECN bits of RFC 3168) and TCP (RFC 9293,
//! SACK of RFC 2018) or ICMP echo (RFC 792). Payload is zeros and is not stored; the checksums remain
//! correct.
//!
//! A simulated packet has `header_bytes` of headers (`transport.header`), of which IPv4 and TCP take 20
//! each. Further bytes fill TCP's options with NOPs, after SACK blocks, as far as there is room (40
//! bytes, in multiples of 4). The rest becomes a trailer of the Ethernet frame behind the IP packet, as
//! overhead of the link.

use crate::limits::CAPTURED_HEADERS_BYTES;

const ETHERNET_BYTES: usize = 14;
const IP_BYTES: usize = 20;
const TCP_BYTES: usize = 20;
/// Largest size of TCP options, bytes.
const OPTIONS_BYTES: usize = 40;
/// Largest size of all headers, bytes.
pub const HEADERS_BYTES: usize = ETHERNET_BYTES + IP_BYTES + TCP_BYTES + OPTIONS_BYTES;
const _: () = assert!(HEADERS_BYTES as u64 == CAPTURED_HEADERS_BYTES);

const TCP: u8 = 6;
const ICMP: u8 = 1;

/// TCP header flags.
pub mod tcp_flags {
    /// Opens a connection.
    pub const SYN: u8 = 2;
    /// Push: the data ends a message.
    pub const PSH: u8 = 8;
    /// The acknowledgment number is valid.
    pub const ACK: u8 = 16;
    /// ECN-Echo.
    pub const ECE: u8 = 64;
    /// Congestion window reduced.
    pub const CWR: u8 = 128;
}

/// Content of the IP packet.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// TCP segment.
    Tcp {
        /// Source and destination port.
        ports: (u16, u16),
        /// Sequence number of the first byte.
        seq: u32,
        /// Acknowledgment number.
        ack: u32,
        /// Flags, see [`tcp_flags`].
        flags: u8,
        /// Window field.
        window: u16,
        /// SACK blocks: start and end.
        sack: &'a [(u32, u32)],
        /// Payload bytes.
        payload_bytes: u16,
    },
    /// Ping or its reply.
    Echo {
        /// Whether this is the reply.
        reply: bool,
        /// Number of the ping.
        number: u16,
    },
}

/// Frame between two hosts.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Numbers of the sending and the receiving host.
    pub hosts: (u32, u32),
    /// ECN bits.
    pub ecn: u8,
    /// Size of the packet in the simulator, bytes.
    pub wire_bytes: u16,
    /// Content of the packet.
    pub content: Content<'a>,
}

impl Frame<'_> {
    /// Size of the frame on Ethernet, without preamble and check sequence, bytes.
    pub fn bytes(&self) -> u32 {
        ETHERNET_BYTES as u32 + u32::from(self.wire_bytes)
    }

    /// Headers as they would be on the wire.
    pub fn headers(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADERS_BYTES);
        out.extend(mac(self.hosts.1));
        out.extend(mac(self.hosts.0));
        out.extend([0x08, 0x00]);
        match self.content {
            Content::Tcp {
                payload_bytes,
                sack,
                ..
            } => {
                let header_bytes = usize::from(self.wire_bytes - payload_bytes);
                let spare = header_bytes.saturating_sub(IP_BYTES + TCP_BYTES);
                let options = options(sack, spare.min(OPTIONS_BYTES) / 4 * 4);
                let total = IP_BYTES + TCP_BYTES + options.len() + usize::from(payload_bytes);
                self.ip(&mut out, TCP, total);
                self.tcp(&mut out, &options);
            }
            Content::Echo { .. } => {
                self.ip(&mut out, ICMP, usize::from(self.wire_bytes));
                self.echo(&mut out);
            }
        }
        out
    }

    fn ip(&self, out: &mut Vec<u8>, protocol: u8, total_bytes: usize) {
        let start = out.len();
        out.extend([0x45, self.ecn]);
        out.extend((total_bytes as u16).to_be_bytes());
        out.extend([0, 0, 0x40, 0]); // identification 0, do not fragment (RFC 6864)
        out.extend([64, protocol, 0, 0]);
        out.extend(address(self.hosts.0));
        out.extend(address(self.hosts.1));
        let sum = checksum(0, &out[start..]);
        out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
    }

    fn tcp(&self, out: &mut Vec<u8>, options: &[u8]) {
        let Content::Tcp {
            ports,
            seq,
            ack,
            flags,
            window,
            payload_bytes,
            ..
        } = self.content
        else {
            return;
        };
        let start = out.len();
        out.extend(ports.0.to_be_bytes());
        out.extend(ports.1.to_be_bytes());
        out.extend(seq.to_be_bytes());
        out.extend(ack.to_be_bytes());
        out.push(((TCP_BYTES + options.len()) as u8 / 4) << 4);
        out.push(flags);
        out.extend(window.to_be_bytes());
        out.extend([0; 4]);
        out.extend(options);
        let bytes = (out.len() - start) as u32 + u32::from(payload_bytes);
        let (from, to) = (address(self.hosts.0), address(self.hosts.1));
        let pseudo = words(&from) + words(&to) + u32::from(TCP) + bytes;
        let sum = checksum(pseudo, &out[start..]);
        out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    }

    fn echo(&self, out: &mut Vec<u8>) {
        let Content::Echo { reply, number } = self.content else {
            return;
        };
        let start = out.len();
        out.extend([if reply { 0 } else { 8 }, 0, 0, 0, 0, 1]);
        out.extend(number.to_be_bytes());
        let sum = checksum(0, &out[start..]);
        out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Locally administered MAC address of a host.
fn mac(host: u32) -> [u8; 6] {
    let [a, b, c, d] = host.to_be_bytes();
    [2, 0, a, b, c, d]
}

/// IPv4 address of a host: 10.0.0.1 is host 0, 10.0.1.0 host 255, and so on.
fn address(host: u32) -> [u8; 4] {
    let [_, b, c, d] = (host + 1).to_be_bytes();
    [10, b, c, d]
}

/// TCP options of `bytes` bytes: as many SACK blocks as fit, then NOPs.
fn options(sack: &[(u32, u32)], bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes);
    let blocks = sack.len().min(bytes.saturating_sub(4) / 8);
    if blocks > 0 {
        out.extend([1, 1, 5, 2 + 8 * blocks as u8]);
        for (start, end) in &sack[..blocks] {
            out.extend(start.to_be_bytes());
            out.extend(end.to_be_bytes());
        }
    }
    out.resize(bytes, 1);
    out
}

/// Sum of the 16-bit words; an odd last byte is the high one.
fn words(bytes: &[u8]) -> u32 {
    let pairs = bytes.chunks(2);
    pairs
        .map(|pair| (u32::from(pair[0]) << 8) | u32::from(*pair.get(1).unwrap_or(&0)))
        .sum()
}

/// Internet checksum (RFC 1071).
fn checksum(before: u32, bytes: &[u8]) -> u16 {
    let mut sum = before + words(bytes);
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(wire_bytes: u16, payload_bytes: u16, sack: &[(u32, u32)]) -> Frame<'_> {
        Frame {
            hosts: (0, 300),
            ecn: 3,
            wire_bytes,
            content: Content::Tcp {
                ports: (49152, 50000),
                seq: 1,
                ack: 1,
                flags: tcp_flags::ACK,
                window: 1000,
                sack,
                payload_bytes,
            },
        }
    }

    /// RFC 1071: the sum over everything, checksum included, is all ones.
    #[test]
    fn checksums_sum_to_all_ones() {
        for (wire, payload) in [(1500, 1460), (1499, 1459), (52, 0), (41, 1)] {
            let frame = segment(wire, payload, &[(5, 9)]);
            let headers = frame.headers();
            assert_eq!(checksum(0, &headers[14..34]), 0);
            let pseudo = words(&headers[26..34]) + 6 + u32::from(wire) - 20;
            assert_eq!(checksum(pseudo, &headers[34..]), 0, "{wire} {payload}");
        }
        let echo = Frame {
            content: Content::Echo {
                reply: true,
                number: 7,
            },
            ..segment(1500, 0, &[])
        };
        assert_eq!(checksum(0, &echo.headers()[34..]), 0);
    }

    #[test]
    fn addresses_carry_into_the_next_byte() {
        assert_eq!(address(0), [10, 0, 0, 1]);
        assert_eq!(address(254), [10, 0, 0, 255]);
        assert_eq!(address(65_535), [10, 1, 0, 0]);
        assert_eq!(mac(258), [2, 0, 0, 0, 1, 2]);
    }

    /// 52 header bytes hold 12 of options; 58: 16 and a trailer of 2; 120: 40 and one of 40.
    #[test]
    fn larger_headers_are_options_and_trailer() {
        for (header, options, trailer) in [(40, 0, 0), (52, 12, 0), (58, 16, 2), (120, 40, 40)] {
            let frame = segment(header + 1000, 1000, &[]);
            let headers = frame.headers();
            assert_eq!(headers.len(), ETHERNET_BYTES + 40 + options);
            let total = usize::from(u16::from_be_bytes([headers[16], headers[17]]));
            assert_eq!(total, 40 + options + 1000);
            assert_eq!(frame.bytes() as usize, ETHERNET_BYTES + total + trailer);
            assert_eq!(usize::from(headers[46] >> 4) * 4, 20 + options);
        }
    }

    #[test]
    fn as_many_sack_blocks_as_fit_come_first() {
        let blocks = [(1, 2), (3, 4), (5, 6)];
        let two = segment(40 + 20, 0, &blocks).headers();
        assert_eq!(two[54..60], [1, 1, 5, 18, 0, 0]);
        assert_eq!(two.len(), ETHERNET_BYTES + 40 + 20);
        let three = segment(52 + 28, 0, &blocks).headers();
        assert_eq!(
            (three[57], three[three.len() - 12..].to_vec()),
            (26, vec![1; 12])
        );
    }
}

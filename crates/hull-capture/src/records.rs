//! The records of a capture file: one packet each, with its time.

use std::collections::BTreeMap;
use std::io::Read;

use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};

use crate::flows::Table;
use crate::kind::Kind;
use crate::packet::{self, Link, Packet};
use crate::twice::Twice;
use crate::{Capture, Limits};

const BUFFER: usize = 1 << 20;
/// Largest record, bytes: interface statistics or a key log may be long, unlike packets.
const MOST_BUFFER: usize = 1 << 26;
/// Number of packets without bytes in a row from which a file is no capture: a hole in it reads as such.
const MOST_EMPTY: u64 = 1000;
const SECOND_NS: i128 = 1_000_000_000;

/// Counts of what was read and what was left out: packets and their bytes on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of all packets.
    pub packets: u64,
    /// Packets that are neither IPv4 nor IPv6, and IP packets without TCP or UDP, by what they are.
    pub others: BTreeMap<Kind, (u64, u64)>,
    /// Fragments of IP packets.
    pub fragments: (u64, u64),
    /// Packets with truncated or invalid headers.
    pub unreadable: (u64, u64),
    /// Packets without a time in the file.
    pub without_time: (u64, u64),
    /// TCP and UDP packets without data: connection setup and teardown, acknowledgments.
    pub without_data: (u64, u64),
    /// Packets with data that the capture has twice.
    pub repeated: (u64, u64),
    /// Whether the file ends within a record.
    pub cut_off: bool,
    /// Coarsest clock resolution of an interface, ns; 0 if there is none.
    pub resolution_ns: u64,
}

/// Bits of pcap's link type that hold the type; others are reserved.
const LINK_TYPE: i32 = 0xffff;
/// Bit of pcap's link type that is set if the highest four state the length of the frame check
/// sequence in units of 16 bits.
const FCS_STATED: u32 = 1 << 26;
const FCS_SHIFT: u32 = 28;
/// pcapng's option `if_fcslen`: the length of the frame check sequence, one byte.
const IF_FCSLEN: u16 = 13;

/// Interface of the capture.
struct Interface {
    link: Link,
    /// Frame check sequence after each packet, bytes.
    fcs: u32,
    /// Units of time per second.
    units: i128,
    offset_s: i128,
}

impl Interface {
    fn new(link: i32, fcs: u32, units: u64, offset_s: i64) -> Result<Self, String> {
        let link = Link::of(link).ok_or_else(|| {
            format!(
                "has packets of link type {link}; expected Ethernet (1), raw IP (101), loopback (0, 108) \
                 or Linux cooked (113, 276)"
            )
        })?;
        Ok(Interface {
            link,
            fcs,
            units: i128::from(units),
            offset_s: i128::from(offset_s),
        })
    }

    /// Converts `units` since 1970 to ns.
    fn time(&self, units: u64) -> i64 {
        let ns = i128::from(units) * SECOND_NS / self.units + self.offset_s * SECOND_NS;
        ns.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

/// Units per second from pcapng's `if_tsresol`: a power of 10, or of 2 if the highest bit is set.
fn units(resolution: u8) -> Result<u64, String> {
    let power = u32::from(resolution & 0x7f);
    let units = if resolution & 0x80 == 0 {
        10u64.checked_pow(power)
    } else {
        2u64.checked_pow(power)
    };
    units.ok_or_else(|| format!("has an interface with clock resolution {resolution:#04x}"))
}

/// Length of the frame check sequence in pcap's link type, bytes.
fn fcs_of_link_type(stated: i32) -> u32 {
    let stated = stated.cast_unsigned();
    match stated & FCS_STATED {
        0 => 0,
        _ => 2 * (stated >> FCS_SHIFT),
    }
}

/// Length of the frame check sequence in `if_fcslen`, bytes. The format counts bits; some programs
/// write bytes.
fn fcs_of_option(stated: u8) -> u32 {
    match u32::from(stated) {
        bytes @ ..8 => bytes,
        bits => bits / 8,
    }
}

struct Records {
    interfaces: Vec<Interface>,
    table: Table,
    twice: Twice,
    counts: Counts,
    /// Number of packets without bytes since the last one with bytes.
    empty: u64,
    limits: Limits,
}

/// Reads a capture.
pub(crate) fn read(source: impl Read + Send, limits: Limits) -> Result<Capture, String> {
    let mut records = Records {
        interfaces: Vec::new(),
        table: Table::new(limits),
        twice: Twice::default(),
        counts: Counts::default(),
        empty: 0,
        limits,
    };
    let mut reader = create_reader(BUFFER, source).map_err(|error| match error {
        PcapError::ReadError => "cannot be read or decompressed".to_owned(),
        _ => "is not a capture; expected pcap or pcapng".to_owned(),
    })?;
    let mut capacity = BUFFER;
    loop {
        let wanted = match reader.next() {
            Ok((length, block)) => {
                records.block(&block)?;
                reader.consume(length);
                continue;
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::UnexpectedEof) => {
                records.counts.cut_off = true;
                break;
            }
            Err(PcapError::Incomplete(_)) => capacity,
            Err(PcapError::BufferTooSmall) if capacity < MOST_BUFFER => 2 * capacity,
            Err(_) => {
                let packets = records.counts.packets;
                return Err(format!("has no readable record after packet {packets}"));
            }
        };
        if wanted > capacity && !reader.grow(wanted) {
            return Err("has a record too long to be read".to_owned());
        }
        capacity = wanted;
        if reader.refill().is_err() {
            return Err("cannot be read or decompressed".to_owned());
        }
    }
    let repeated = records.twice.repeated();
    let mut capture = records.table.end(repeated.is_some());
    capture.counts = records.counts;
    capture.counts.repeated = repeated.unwrap_or_default();
    Ok(capture)
}

impl Records {
    fn block(&mut self, block: &PcapBlockOwned<'_>) -> Result<(), String> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let units = if header.is_nanosecond_precision() {
                    1_000_000_000
                } else {
                    1_000_000
                };
                let stated = header.network.0;
                self.add_interface(stated & LINK_TYPE, fcs_of_link_type(stated), units, 0)
            }
            PcapBlockOwned::Legacy(frame) => {
                let Some(interface) = self.interfaces.first() else {
                    return Ok(());
                };
                let units = interface.units as u64;
                let time = u64::from(frame.ts_sec) * units + u64::from(frame.ts_usec);
                self.packet(0, Some(time), frame.data, frame.origlen)
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                self.interfaces.clear();
                Ok(())
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                let units = units(interface.if_tsresol)?;
                let fcs = interface.options.iter().find(|of| of.code.0 == IF_FCSLEN);
                let fcs = fcs
                    .and_then(|of| of.value.first())
                    .copied()
                    .map_or(0, fcs_of_option);
                let link = interface.linktype.0;
                self.add_interface(link, fcs, units, interface.if_tsoffset)
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let time = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let captured = packet.data.len().min(packet.caplen as usize);
                let data = &packet.data[..captured];
                self.packet(packet.if_id as usize, Some(time), data, packet.origlen)
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                self.packet(0, None, packet.data, packet.origlen)
            }
            PcapBlockOwned::NG(_) => Ok(()),
        }
    }

    fn add_interface(
        &mut self,
        link: i32,
        fcs: u32,
        units: u64,
        offset_s: i64,
    ) -> Result<(), String> {
        let interface = Interface::new(link, fcs, units, offset_s)?;
        self.interfaces.push(interface);
        let resolution_ns = (SECOND_NS as u64).div_ceil(units);
        self.counts.resolution_ns = self.counts.resolution_ns.max(resolution_ns);
        Ok(())
    }

    fn packet(
        &mut self,
        interface: usize,
        time: Option<u64>,
        data: &[u8],
        length: u32,
    ) -> Result<(), String> {
        self.counts.packets += 1;
        self.empty = if length == 0 { self.empty + 1 } else { 0 };
        if self.empty == MOST_EMPTY {
            let packets = self.counts.packets;
            return Err(format!(
                "has {MOST_EMPTY} empty packets up to packet {packets}"
            ));
        }
        let Some(interface) = self.interfaces.get(interface) else {
            let packet = self.counts.packets;
            return Err(format!(
                "packet {packet} names an interface that the file does not describe"
            ));
        };
        let without_fcs = length.saturating_sub(interface.fcs);
        let found = packet::read(interface.link, data, without_fcs);
        let dropped = match (found, time) {
            (Packet::NotIp(kind) | Packet::OtherProtocol(kind), _) => {
                self.counts.others.entry(kind).or_default()
            }
            (Packet::Fragment, _) => &mut self.counts.fragments,
            (Packet::Unreadable, _) => &mut self.counts.unreadable,
            (_, None) => &mut self.counts.without_time,
            (
                Packet::Data {
                    ends,
                    bytes,
                    opens,
                    digest,
                },
                Some(time),
            ) => {
                if opens {
                    self.table.open(&ends);
                }
                if bytes > 0 {
                    let at = interface.time(time);
                    let repeats = self.twice.repeats(digest, at, length);
                    if self.table.add(ends, at, bytes, repeats) {
                        return Ok(());
                    }
                    return Err(format!("has more than {} flows", self.limits.flows));
                }
                &mut self.counts.without_data
            }
        };
        dropped.0 += 1;
        dropped.1 += u64::from(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;

    const LIMITS: Limits = Limits {
        idle_ns: 1_000_000_000,
        flows: 1000,
    };

    fn packet(length: usize) -> Vec<u8> {
        let mut data = Vec::new();
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .udp(3, 4)
            .write(&mut data, &vec![0; length])
            .expect("a packet");
        data
    }

    fn pcap(magic: u32, link: u32, packets: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
        let mut file = Vec::new();
        for word in [magic, 0x0004_0002, 0, 0, 65535, link] {
            file.extend(word.to_le_bytes());
        }
        for (seconds, fraction, data) in packets {
            for word in [*seconds, *fraction, data.len() as u32, data.len() as u32] {
                file.extend(word.to_le_bytes());
            }
            file.extend(data);
        }
        file
    }

    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let length = (12 + body.len().next_multiple_of(4)) as u32;
        let mut block = [kind, length].map(u32::to_le_bytes).concat();
        block.extend(body);
        block.resize(length as usize - 4, 0);
        block.extend(length.to_le_bytes());
        block
    }

    #[test]
    fn pcap_in_microseconds_and_nanoseconds() {
        for (magic, unit) in [(0xa1b2_c3d4, 1000), (0xa1b2_3c4d, 1)] {
            let file = pcap(
                magic,
                101,
                &[(5, 7, packet(10)), (6, 7, packet(20)), (9, 0, packet(1))],
            );
            let capture = read(&file[..], LIMITS).expect("a capture");
            let found = Vec::from_iter(
                capture
                    .flows
                    .iter()
                    .map(|f| (f.start_ns, f.end_ns, f.bytes)),
            );
            let [first, second] = [5, 6].map(|s| s * 1_000_000_000 + 7 * unit);
            assert_eq!(
                found,
                [(first, second, 30), (9_000_000_000, 9_000_000_000, 1)]
            );
            assert_eq!(capture.counts.resolution_ns, unit as u64);
        }
    }

    #[test]
    fn pcapng_with_its_own_clock_resolution() {
        let mut file = block(
            0x0a0d_0d0a,
            &[
                0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
            ],
        );
        // Raw IP; if_tsresol: 2^-10 s.
        file.extend(block(
            1,
            &[
                101, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 0x8a, 0, 0, 0, 0, 0, 0, 0,
            ],
        ));
        let data = packet(40);
        let length = data.len() as u32;
        let mut body = [0, 0, 1536, length, length].map(u32::to_le_bytes).concat();
        body.extend(&data);
        file.extend(block(6, &body));
        file.extend(block(3, &[&length.to_le_bytes()[..], &data].concat()));
        let capture = read(&file[..], LIMITS).expect("a capture");
        assert_eq!(capture.flows.len(), 1);
        assert_eq!(
            (capture.flows[0].start_ns, capture.flows[0].bytes),
            (1_500_000_000, 40)
        );
        assert_eq!(capture.counts.without_time, (1, u64::from(length)));
        assert_eq!(capture.counts.resolution_ns, 976_563);
    }

    /// A packet of 10 bytes of UDP without a length of IP, as before segmentation by the network
    /// card, so that the length on the wire counts, with a frame check sequence of 4 bytes.
    fn with_fcs() -> Vec<u8> {
        let mut data = packet(10);
        data[2..4].fill(0);
        data.extend([0xff; 4]);
        data
    }

    #[test]
    fn link_type_of_pcap_with_a_frame_check_sequence() {
        let bytes = |link: u32| {
            let file = pcap(0xa1b2_c3d4, link, &[(5, 7, with_fcs())]);
            read(&file[..], LIMITS).expect("a capture").flows[0].bytes
        };
        assert_eq!(bytes(101), 14);
        // Two words of 16 bits; the same without the bit that says so; reserved bits.
        assert_eq!(bytes(2 << 28 | 1 << 26 | 101), 10);
        assert_eq!(bytes(2 << 28 | 101), 14);
        assert_eq!(bytes(0x03ff_0000 | 101), 14);
        let error = read(&pcap(0xa1b2_c3d4, 2 << 28 | 1 << 26 | 105, &[])[..], LIMITS);
        let error = error.expect_err("unknown type");
        assert!(error.contains("link type 105"), "{error}");
    }

    #[test]
    fn interface_of_pcapng_with_a_frame_check_sequence() {
        let section = [
            0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
        ];
        // The format's unit, bits, and bytes as some programs write.
        for stated in [32, 4] {
            let mut file = block(0x0a0d_0d0a, &section);
            let reserved = [0x34, 0x12];
            let options = [13, 0, 1, 0, stated, 0, 0, 0, 0, 0, 0, 0];
            let mut interface = vec![101, 0];
            interface.extend(reserved);
            interface.extend([0; 4]);
            interface.extend(options);
            file.extend(block(1, &interface));
            let data = with_fcs();
            let length = data.len() as u32;
            let mut body = [0, 0, 1536, length, length].map(u32::to_le_bytes).concat();
            body.extend(&data);
            file.extend(block(6, &body));
            let capture = read(&file[..], LIMITS).expect("a capture");
            assert_eq!(capture.flows[0].bytes, 10);
        }
    }

    /// Every byte of both formats is changed in turn to every value.
    #[test]
    fn no_changed_byte_makes_the_reader_panic() {
        let packets = [(5, 7, packet(10)), (6, 7, packet(20))];
        let mut captures = vec![pcap(0xa1b2_c3d4, 101, &packets)];
        let mut file = block(
            0x0a0d_0d0a,
            &[
                0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
            ],
        );
        file.extend(block(
            1,
            &[
                101, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 6, 0, 0, 0, 14, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0,
            ],
        ));
        for (_, _, data) in &packets {
            let length = data.len() as u32;
            let mut body = [0, 0, 1536, length, length].map(u32::to_le_bytes).concat();
            body.extend(data);
            file.extend(block(6, &body));
            file.extend(block(3, &[&length.to_le_bytes()[..], data].concat()));
        }
        captures.push(file);
        for whole in captures {
            assert_eq!(read(&whole[..], LIMITS).expect("a capture").flows.len(), 1);
            for place in 0..whole.len() {
                for other in 0..=255 {
                    let mut damaged = whole.clone();
                    damaged[place] = other;
                    // An error or other flows: a panic fails the test.
                    let _ = read(&damaged[..], LIMITS);
                }
            }
        }
    }

    #[test]
    fn unreadable_files_are_reported() {
        let good = pcap(0xa1b2_c3d4, 101, &[(5, 7, packet(10)), (6, 7, packet(20))]);
        let cut = read(&good[..good.len() - 3], LIMITS).expect("the first packet");
        assert!(cut.counts.cut_off);
        assert_eq!(cut.flows[0].bytes, 10);
        let error = |file: &[u8], limits| read(file, limits).expect_err("invalid");
        assert!(
            error(b"ts,src\n1,2\n3,4,5,6,7,8,9,0\n", LIMITS).contains("expected pcap or pcapng")
        );
        assert!(error(&pcap(0xa1b2_c3d4, 105, &[]), LIMITS).contains("link type 105"));
        let hole = [pcap(0xa1b2_c3d4, 1, &[]), vec![0; 16 * 2000]].concat();
        assert!(error(&hole, LIMITS).contains("1000 empty packets up to packet 1000"));
        let none = Limits { flows: 0, ..LIMITS };
        assert!(error(&good, none).contains("more than 0 flows"));
    }
}

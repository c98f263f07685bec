//! Addresses, ports and data of one packet, from its headers.

use std::net::IpAddr;

use crate::kind::Kind;
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};

use crate::twice;

/// Properties that the packets of a flow share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ends {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub src_port: u16,
    pub dst_port: u16,
    /// IP protocol number: 6 (TCP) or 17 (UDP).
    pub protocol: u8,
}

/// Contents of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// TCP or UDP.
    Data {
        ends: Ends,
        /// Payload of TCP or UDP, bytes.
        bytes: u64,
        /// Whether the packet opens a connection.
        opens: bool,
        /// Digest by which a second capture of the packet is known; `None` if too little is captured.
        digest: Option<u64>,
    },
    /// Part of a fragmented IP packet; only the first fragment has ports.
    Fragment,
    /// IP without TCP or UDP.
    OtherProtocol(Kind),
    /// Not IP.
    NotIp(Kind),
    /// Headers that are truncated or invalid.
    Unreadable,
}

/// Format of the link header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Ethernet,
    Ip,
    /// A header of this many bytes, then IP.
    IpAfter(usize),
    /// A header of `length` bytes with the Ethernet type at `at`.
    Cooked {
        length: usize,
        at: usize,
    },
}

impl Link {
    /// Format for a link type number of the file.
    pub fn of(number: i32) -> Option<Link> {
        Some(match number {
            1 => Link::Ethernet,
            0 | 108 => Link::IpAfter(4),
            12 | 14 | 101 | 228 | 229 => Link::Ip,
            113 => Link::Cooked { length: 16, at: 14 },
            276 => Link::Cooked { length: 20, at: 0 },
            _ => return None,
        })
    }
}

/// Reads a packet of which `data` was captured and `length` bytes were on the wire.
pub(crate) fn read(link: Link, data: &[u8], length: u32) -> Packet {
    let sliced = match link {
        Link::Ethernet => LaxSlicedPacket::from_ethernet(data).ok(),
        Link::Ip => LaxSlicedPacket::from_ip(data).ok(),
        Link::IpAfter(header) => data
            .get(header..)
            .and_then(|rest| LaxSlicedPacket::from_ip(rest).ok()),
        Link::Cooked { length, at } => data.get(length..).map(|rest| {
            let kind = u16::from_be_bytes([data[at], data[at + 1]]);
            LaxSlicedPacket::from_ether_type(EtherType(kind), rest)
        }),
    };
    match sliced {
        Some(sliced) => of_headers(&sliced, data, length),
        None => Packet::Unreadable,
    }
}

fn of_headers(sliced: &LaxSlicedPacket<'_>, data: &[u8], length: u32) -> Packet {
    let place = |slice: &[u8]| (slice.as_ptr() as usize).wrapping_sub(data.as_ptr() as usize);
    // Start of IP and its length by its own header: 0 if the network card was to fill it in.
    let (src, dst, begin, said) = match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            (
                IpAddr::V4(header.source_addr()),
                IpAddr::V4(header.destination_addr()),
                place(header.slice()),
                u64::from(header.total_len()),
            )
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let said = match header.payload_length() {
                0 => 0,
                payload => 40 + u64::from(payload),
            };
            // ::ffff:10.0.0.1 is the host 10.0.0.1.
            (
                IpAddr::V6(header.source_addr()).to_canonical(),
                IpAddr::V6(header.destination_addr()).to_canonical(),
                place(header.slice()),
                said,
            )
        }
        _ if sliced.stop_err.is_some() => return Packet::Unreadable,
        _ => {
            let payload = sliced.ether_payload();
            let number = payload.map_or(0, |payload| payload.ether_type.0);
            return Packet::NotIp(Kind::EtherType(number));
        }
    };
    let Some(payload) = sliced.ip_payload() else {
        return Packet::Unreadable;
    };
    if payload.fragmented {
        return Packet::Fragment;
    }
    let on_wire = u64::from(length).saturating_sub(begin as u64);
    let whole = if said == 0 { on_wire } else { said };
    let transport = place(payload.payload) - begin;
    let headers = |header: usize| (transport + header) as u64;
    let (src_port, dst_port, protocol, headers, opens) = match &sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => (
            tcp.source_port(),
            tcp.destination_port(),
            6,
            headers(tcp.header_slice().len()),
            tcp.syn() && !tcp.ack(),
        ),
        Some(TransportSlice::Udp(udp)) => (
            udp.source_port(),
            udp.destination_port(),
            17,
            headers(8),
            false,
        ),
        _ if matches!(payload.ip_number.0, 6 | 17) => return Packet::Unreadable,
        _ => return Packet::OtherProtocol(Kind::Protocol(payload.ip_number.0)),
    };
    let ends = Ends {
        src,
        dst,
        src_port,
        dst_port,
        protocol,
    };
    let bytes = whole.saturating_sub(headers);
    Packet::Data {
        ends,
        bytes,
        opens,
        digest: twice::digest(&data[begin..], transport, headers as usize, bytes),
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;

    fn built(builder: etherparse::PacketBuilderStep<etherparse::TcpHeader>) -> Vec<u8> {
        let mut data = Vec::new();
        builder.write(&mut data, &[7; 100]).expect("a packet");
        data
    }

    fn ethernet() -> etherparse::PacketBuilderStep<etherparse::Ethernet2Header> {
        PacketBuilder::ethernet2([1; 6], [2; 6])
    }

    fn bytes(packet: Packet) -> u64 {
        match packet {
            Packet::Data { bytes, .. } => bytes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_give_the_data_length() {
        let tcp = built(
            ethernet()
                .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .tcp(1, 2, 0, 9),
        );
        let length = tcp.len() as u32;
        let whole = read(Link::Ethernet, &tcp, length);
        let Packet::Data {
            ends, bytes, opens, ..
        } = whole
        else {
            panic!("{whole:?}")
        };
        assert_eq!((ends.src_port, ends.dst_port, ends.protocol), (1, 2, 6));
        assert_eq!(ends.src.to_string(), "10.0.0.1");
        assert_eq!((bytes, opens), (100, false));
        let headers_only = read(Link::Ethernet, &tcp[..54], length);
        assert!(
            matches!(headers_only, Packet::Data { ends: of, bytes: 100, .. } if of == ends),
            "{headers_only:?}"
        );
        assert_eq!(read(Link::Ip, &tcp[14..], length - 14), whole);
        assert_eq!(read(Link::IpAfter(4), &tcp[10..], length - 10), whole);
        assert_eq!(read(Link::Ethernet, &tcp[..40], length), Packet::Unreadable);
        let cooked = Link::of(113).expect("known");
        assert_eq!(
            read(cooked, &[&[0, 0], &tcp[..]].concat(), length + 2),
            whole
        );
    }

    #[test]
    fn zero_lengths_use_the_wire_length() {
        let mut tcp = built(
            ethernet()
                .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .tcp(1, 2, 0, 9),
        );
        tcp[16..18].fill(0);
        assert_eq!(bytes(read(Link::Ethernet, &tcp, tcp.len() as u32)), 100);
    }

    #[test]
    fn ipv6_vlan_udp() {
        let vlan = etherparse::VlanId::try_new(5).expect("a number");
        let builder = ethernet()
            .single_vlan(vlan)
            .ipv6([1; 16], [2; 16], 64)
            .udp(3, 4);
        let mut data = Vec::new();
        builder.write(&mut data, &[7; 50]).expect("a packet");
        let found = read(Link::Ethernet, &data, data.len() as u32);
        assert_eq!(bytes(found), 50);
    }

    #[test]
    fn ipv4_address_in_ipv6_is_that_of_the_host() {
        let mapped = |last| {
            let mut address = [0; 16];
            address[10..].copy_from_slice(&[0xff, 0xff, 10, 2, 0, last]);
            address
        };
        let mut data = Vec::new();
        PacketBuilder::ipv6(mapped(1), mapped(2), 64)
            .udp(3, 4)
            .write(&mut data, &[7; 50])
            .expect("a packet");
        let Packet::Data { ends, .. } = read(Link::Ip, &data, data.len() as u32) else {
            panic!("data")
        };
        assert_eq!(
            (ends.src.to_string(), ends.dst.to_string()),
            ("10.2.0.1".into(), "10.2.0.2".into())
        );
    }

    #[test]
    fn not_a_flow() {
        let mut icmp = Vec::new();
        let builder = ethernet().ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
        builder
            .icmpv4_echo_request(1, 1)
            .write(&mut icmp, &[0; 8])
            .expect("a packet");
        let found = Packet::OtherProtocol(Kind::Protocol(1));
        assert_eq!(read(Link::Ethernet, &icmp, 50), found);
        let mut other = vec![0; 60];
        for kind in [0x88cc, 0x8847, 0x0026_u16] {
            other[12..14].copy_from_slice(&kind.to_be_bytes());
            let found = Packet::NotIp(Kind::EtherType(kind));
            assert_eq!(read(Link::Ethernet, &other, 60), found);
        }
        // MPLS behind a VLAN tag.
        other[12..18].copy_from_slice(&[0x81, 0, 0, 7, 0x88, 0x47]);
        let found = Packet::NotIp(Kind::EtherType(0x8847));
        assert_eq!(read(Link::Ethernet, &other, 60), found);
        let mut gre = icmp.clone();
        gre[23] = 47;
        let found = Packet::OtherProtocol(Kind::Protocol(47));
        assert_eq!(read(Link::Ethernet, &gre, 50), found);
        assert_eq!(read(Link::Ethernet, &[1, 2], 60), Packet::Unreadable);
        let mut tcp = built(
            ethernet()
                .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .tcp(1, 2, 0, 9),
        );
        tcp[20] = 0x20;
        assert_eq!(read(Link::Ethernet, &tcp, 154), Packet::Fragment);
    }
}

//! What packets are that carry no data of TCP or UDP: by their EtherType (IANA, IEEE 802 numbers) or their IP
//! protocol number (IANA, protocol numbers).

/// What a packet is instead of a part of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Type field of Ethernet, behind VLAN tags.
    EtherType(u16),
    /// Protocol of IPv4, or next header of IPv6.
    Protocol(u8),
}

impl Kind {
    /// Name with the noun "packets"; tunnels say that their content is not read.
    pub fn name(self) -> &'static str {
        match self {
            Kind::EtherType(..0x600) => "LLC packets, such as spanning tree",
            Kind::EtherType(0x0806) => "ARP packets",
            Kind::EtherType(0x8035) => "RARP packets",
            Kind::EtherType(0x8847 | 0x8848) => "MPLS packets, whose content is not read",
            Kind::EtherType(0x8863 | 0x8864) => "PPPoE packets, whose content is not read",
            Kind::EtherType(0x88e5) => "MACsec packets, whose content is encrypted",
            Kind::EtherType(0x8808) => "pause frames (PFC or 802.3x)",
            Kind::EtherType(0x8809) => "LACP packets",
            Kind::EtherType(0x888e) => "802.1X packets",
            Kind::EtherType(0x88cc) => "LLDP packets",
            Kind::EtherType(0x88f7) => "PTP packets",
            Kind::EtherType(0x8906 | 0x8914) => "FCoE packets",
            Kind::EtherType(0x8915) => "RoCE packets (version 1)",
            Kind::EtherType(_) => "packets of other EtherTypes than IP",
            Kind::Protocol(1 | 58) => "ICMP packets",
            Kind::Protocol(2) => "IGMP packets",
            Kind::Protocol(4 | 41) => "packets of IP in IP, whose content is not read",
            Kind::Protocol(47) => "GRE packets, whose content is not read",
            Kind::Protocol(50 | 51) => "IPsec packets, whose content is encrypted or not read",
            Kind::Protocol(88) => "EIGRP packets",
            Kind::Protocol(89) => "OSPF packets",
            Kind::Protocol(103) => "PIM packets",
            Kind::Protocol(112) => "VRRP packets",
            Kind::Protocol(132) => "SCTP packets, which hull does not read",
            Kind::Protocol(137) => "packets of MPLS in IP, whose content is not read",
            Kind::Protocol(_) => "packets of other protocols than TCP and UDP",
        }
    }
}

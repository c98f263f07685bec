//! The pcapng file format, as far as hull writes it (IETF draft-ietf-opsawg-pcapng): a Section Header,
//! an Interface Description for each port, an Enhanced Packet for each frame. Little-endian; time
//! stamps are nanoseconds since the start of the simulation.

use std::io::{self, Write};

/// Link-layer type of an interface: Ethernet.
const ETHERNET: u16 = 1;

/// Option codes of a section and an interface, and the end of a list.
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const SPEED: u16 = 8;
const TIME_RESOLUTION: u16 = 9;
const END: u16 = 0;

/// Port as shown in Wireshark.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    /// Name.
    pub name: String,
    /// Rate of its link, bit/s.
    pub rate_bps: u64,
}

/// Writes the blocks before the first packet. `snap_bytes` is the largest number of bytes kept of a
/// frame.
pub(super) fn write_head(
    file: &mut impl Write,
    interfaces: &[Interface],
    snap_bytes: u32,
) -> io::Result<()> {
    let mut section = Vec::new();
    section.extend(0x1A2B_3C4D_u32.to_le_bytes());
    section.extend(1_u16.to_le_bytes());
    section.extend(0_u16.to_le_bytes());
    section.extend(u64::MAX.to_le_bytes()); // length of the section: not given
    let application = concat!("hull ", env!("CARGO_PKG_VERSION"));
    option(&mut section, APPLICATION, application.as_bytes());
    option(&mut section, END, &[]);
    block(file, 0x0A0D_0D0A, &section)?;
    for interface in interfaces {
        let mut body = Vec::new();
        body.extend(ETHERNET.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        body.extend(snap_bytes.to_le_bytes());
        option(&mut body, NAME, interface.name.as_bytes());
        option(&mut body, SPEED, &interface.rate_bps.to_le_bytes());
        option(&mut body, TIME_RESOLUTION, &[9]);
        option(&mut body, END, &[]);
        block(file, 1, &body)?;
    }
    Ok(())
}

/// Writes a frame of `bytes` bytes that left interface `interface` at `time_ns`; `kept` is its
/// beginning.
pub(super) fn write_packet(
    file: &mut impl Write,
    interface: u32,
    time_ns: u64,
    kept: &[u8],
    bytes: u32,
) -> io::Result<()> {
    let mut body = Vec::with_capacity(20 + kept.len() + 3);
    body.extend(interface.to_le_bytes());
    body.extend(((time_ns >> 32) as u32).to_le_bytes());
    body.extend((time_ns as u32).to_le_bytes());
    body.extend((kept.len() as u32).to_le_bytes());
    body.extend(bytes.to_le_bytes());
    body.extend(kept);
    pad(&mut body);
    block(file, 6, &body)
}

/// Writes a block: type, length, body, length.
fn block(file: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    file.write_all(&kind.to_le_bytes())?;
    file.write_all(&length)?;
    file.write_all(body)?;
    file.write_all(&length)
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

/// Pads to a multiple of four bytes.
fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::{Interface, write_head, write_packet};

    /// Walks the blocks: each length is a multiple of four and is stated at both ends.
    #[test]
    fn blocks_follow_each_other() {
        let mut file = Vec::new();
        let interfaces = ["a->b", "switch->c"].map(|name| Interface {
            name: name.to_owned(),
            rate_bps: 10_000_000_000,
        });
        write_head(&mut file, &interfaces, 94).expect("memory");
        write_packet(&mut file, 1, 5_000_000_001, &[7; 54], 1514).expect("memory");
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four"));
        let (mut at, mut kinds) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4)), (0, length as u32));
            kinds.push(word(at));
            at += length;
        }
        assert_eq!(kinds, [0x0A0D_0D0A, 1, 1, 6]);
        // The packet: interface, time (5 s and 1 ns is 2^32 + 705_032_705 ns), kept, all bytes.
        let packet = file.len() - (12 + 20 + 56);
        let fields: Vec<u32> = (2..7).map(|i| word(packet + 4 * i)).collect();
        assert_eq!(fields, [1, 1, 705_032_705, 54, 1514]);
    }
}

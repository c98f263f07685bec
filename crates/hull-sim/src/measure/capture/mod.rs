//! Packets of chosen ports in a pcapng file, for Wireshark. A packet is captured when it reaches the
//! far end of the port's link. Its time stamp is the time at which its last bit left the port, in whole
//! nanoseconds, and the file is in the order of these times. Packets lost on a failing link are not
//! captured.
//!
//! Fields that the simulator does not carry are derived consistently: addresses from host numbers,
//! ports from the connection's number, the sequence number of a pure ACK and the acknowledgment number
//! of data without one from earlier packets at the same port. Streams begin at sequence number 1, a SYN
//! has 0.

mod frame;
mod pcapng;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

pub use frame::HEADERS_BYTES;
use frame::{Content, Frame, tcp_flags};
use pcapng::Interface;

use crate::network::{Packet, flags};

/// First of the 2^14 dynamic ports, which belong to no service (RFC 6335).
const FIRST_PORT: u64 = 49152;
const PORTS: u64 = 16384;

/// Captured port.
#[derive(Clone, Debug)]
pub(crate) struct CapturedPort {
    /// Number in the network.
    pub number: usize,
    /// Name.
    pub name: String,
    /// Rate of the link, bit/s.
    pub rate_bps: u64,
    /// Time from the departure of the last bit to its delivery, ps.
    pub delay_ps: u64,
}

/// Settings of a capture.
#[derive(Clone, Debug)]
pub(crate) struct CaptureConfig {
    /// Path of the file.
    pub path: PathBuf,
    /// Captured ports.
    pub ports: Vec<CapturedPort>,
    /// Earliest departure time of a captured packet, ps.
    pub start_ps: u64,
    /// Departure time from which packets are no longer captured, ps.
    pub stop_ps: u64,
    /// Largest number of packets.
    pub max_packets: u64,
    /// Bytes kept of each frame, at least its headers.
    pub snap_bytes: usize,
    /// Receive window, bytes.
    pub receive_window: u64,
    /// Whether connections are opened with ECN.
    pub ecn: bool,
}

/// Context of a packet in the simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// Current simulated time, ps.
    pub now_ps: u64,
    /// Time from now until the last bit arrives, ps.
    pub tail_ps: u64,
    /// Sending and receiving host.
    pub hosts: (u32, u32),
    /// Number of the connection, one for both directions.
    pub connection: u64,
    /// Slot of the connection in the simulation; it is reused after the connection has ended.
    pub slot: u32,
    /// Whether the sender of the packet opened the connection.
    pub from_opener: bool,
    /// Whether the packet's data ends a message.
    pub ends_message: bool,
    /// Payload of data, bytes.
    pub payload_bytes: u16,
    /// SACK blocks, as sequence numbers.
    pub sack: &'a [(u32, u32)],
}

/// State of one direction of a connection at one port.
#[derive(Clone, Copy, Debug)]
struct Passed {
    connection: u64,
    /// Sequence number after the highest one seen.
    next_seq: u32,
    /// Last acknowledgment number seen.
    ack: u32,
}

/// Frame that waits for earlier ones: time (ps), order of arrival, interface, kept bytes, original
/// length (bytes).
type Waiting = Reverse<(u64, u64, u32, Vec<u8>, u32)>;

/// Capture in progress.
#[derive(Debug)]
pub(crate) struct Capture {
    config: CaptureConfig,
    /// Interface number and delay (ps) by port number.
    interfaces: HashMap<usize, (u32, u64)>,
    /// Window field: the window, halved until it fits 16 bits, as with window scaling.
    window: u16,
    /// Largest delay of a port, ps: later frames are not older than this.
    longest_delay_ps: u64,
    passed: HashMap<(u32, u32, bool), Passed>,
    waiting: BinaryHeap<Waiting>,
    taken: u64,
    file: Option<BufWriter<File>>,
    error: Option<io::Error>,
}

impl Capture {
    /// Creates an empty capture.
    pub fn new(config: CaptureConfig) -> Self {
        let interfaces = (0..).zip(&config.ports);
        let mut scaled = config.receive_window;
        while scaled > u64::from(u16::MAX) {
            scaled /= 2;
        }
        Capture {
            interfaces: interfaces
                .map(|(i, port)| (port.number, (i, port.delay_ps)))
                .collect(),
            window: scaled as u16,
            longest_delay_ps: config.ports.iter().map(|p| p.delay_ps).max().unwrap_or(0),
            passed: HashMap::new(),
            waiting: BinaryHeap::new(),
            taken: 0,
            file: None,
            error: None,
            config,
        }
    }

    /// Captured ports.
    pub fn ports(&self) -> impl Iterator<Item = usize> {
        self.config.ports.iter().map(|port| port.number)
    }

    /// Records a packet that has crossed the link of `port`.
    pub fn take(&mut self, port: usize, packet: &Packet, context: &Context<'_>) {
        let Some(&(interface, delay_ps)) = self.interfaces.get(&port) else {
            return;
        };
        let config = &self.config;
        let left_ps = (context.now_ps + context.tail_ps).saturating_sub(delay_ps);
        let in_time = (config.start_ps..config.stop_ps).contains(&left_ps);
        if self.taken >= config.max_packets || self.error.is_some() {
            return;
        }
        let sack: Vec<(u32, u32)> = context
            .sack
            .iter()
            .map(|&(start, end)| (number(start), number(end)))
            .collect();
        let content = if packet.is_probe() {
            Content::Echo {
                reply: packet.has(flags::REPLY),
                number: packet.seq as u16,
            }
        } else {
            self.segment(interface, packet, context, &sack)
        };
        if !in_time {
            return;
        }
        let ecn = (packet.flags >> flags::ECN_SHIFT) as u8 & 3;
        let frame = Frame {
            hosts: context.hosts,
            ecn,
            wire_bytes: packet.wire_bytes,
            content,
        };
        let mut kept = frame.headers();
        let bytes = frame.bytes();
        kept.resize(
            kept.len().max(self.config.snap_bytes.min(bytes as usize)),
            0,
        );
        self.waiting
            .push(Reverse((left_ps, self.taken, interface, kept, bytes)));
        self.taken += 1;
        self.write_until(context.now_ps.saturating_sub(self.longest_delay_ps));
    }

    /// TCP segment of a packet, completed from earlier packets at the same port.
    fn segment<'a>(
        &mut self,
        interface: u32,
        packet: &Packet,
        context: &Context<'_>,
        sack: &'a [(u32, u32)],
    ) -> Content<'a> {
        let first = context.connection % (PORTS * PORTS);
        let opener = (FIRST_PORT + first % PORTS) as u16;
        let other = (FIRST_PORT + first / PORTS) as u16;
        let new = Passed {
            connection: context.connection,
            next_seq: 1,
            ack: 1,
        };
        let key = (interface, context.slot, context.from_opener);
        let passed = self.passed.entry(key).or_insert(new);
        if passed.connection != context.connection {
            *passed = new;
        }
        let syn = packet.has(flags::SYN);
        let payload_bytes = if packet.has(flags::DATA) && !syn {
            context.payload_bytes
        } else {
            0
        };
        let seq = if syn {
            0
        } else if payload_bytes > 0 {
            let seq = number(packet.seq);
            let end = seq.wrapping_add(u32::from(payload_bytes));
            if end.wrapping_sub(passed.next_seq) < 1 << 31 {
                passed.next_seq = end;
            }
            seq
        } else {
            passed.next_seq
        };
        if packet.has(flags::ACK) && !syn {
            passed.ack = number(packet.ack);
        }
        let opens = syn && !packet.has(flags::ACK);
        let ecn_setup = if !syn || !self.config.ecn {
            0
        } else if opens {
            tcp_flags::ECE | tcp_flags::CWR
        } else {
            tcp_flags::ECE
        };
        let bit = |on: bool, flag: u8| if on { flag } else { 0 };
        Content::Tcp {
            ports: if context.from_opener {
                (opener, other)
            } else {
                (other, opener)
            },
            seq,
            ack: if opens { 0 } else { passed.ack },
            flags: ecn_setup
                | bit(syn, tcp_flags::SYN)
                | bit(!opens, tcp_flags::ACK)
                | bit(payload_bytes > 0 && context.ends_message, tcp_flags::PSH)
                | bit(packet.has(flags::ECE), tcp_flags::ECE)
                | bit(packet.has(flags::CWR), tcp_flags::CWR),
            window: self.window,
            sack,
            payload_bytes,
        }
    }

    /// Writes the frames that left by `until_ps`.
    fn write_until(&mut self, until_ps: u64) {
        while let Some(Reverse(next)) = self.waiting.peek()
            && next.0 <= until_ps
            && self.error.is_none()
        {
            if let Some(Reverse((left_ps, _, interface, kept, bytes))) = self.waiting.pop() {
                let written = self.file().and_then(|file| {
                    pcapng::write_packet(file, interface, left_ps / 1000, &kept, bytes)
                });
                self.error = written.err();
            }
        }
    }

    /// Output file, opened at the first use.
    fn file(&mut self) -> io::Result<&mut BufWriter<File>> {
        match &mut self.file {
            Some(file) => Ok(file),
            file @ None => {
                let ports = self.config.ports.iter();
                let interfaces: Vec<Interface> = ports
                    .map(|port| Interface {
                        name: port.name.clone(),
                        rate_bps: port.rate_bps,
                    })
                    .collect();
                let mut new = BufWriter::new(File::create(&self.config.path)?);
                let snap_bytes = self.config.snap_bytes.max(HEADERS_BYTES) as u32;
                pcapng::write_head(&mut new, &interfaces, snap_bytes)?;
                Ok(file.insert(new))
            }
        }
    }

    /// Completes the file. Returns the first error of the capture.
    pub fn close(&mut self) -> io::Result<()> {
        self.write_until(u64::MAX);
        match self.error.take() {
            Some(error) => Err(error),
            None => self.file()?.flush(),
        }
    }
}

/// Sequence number on the wire of a stream position: the stream begins at 1.
fn number(position: u32) -> u32 {
    position.wrapping_add(1)
}

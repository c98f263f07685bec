//! Frames, and programs run on them one by one with a time of our choice (`BPF_PROG_TEST_RUN`).

#![allow(dead_code)]

pub mod harness;
pub mod loaded;

use harness::{Skipped, Tried};
use libbpf_rs::{ProgramInput, ProgramMut};

/// Offsets in `struct __sk_buff` of linux/bpf.h.
const CB: usize = 48;
const TSTAMP: usize = 152;
const WIRE_LEN: usize = 160;
const GSO_SEGS: usize = 164;
const GSO_SIZE: usize = 176;
const CONTEXT_BYTES: usize = 192;

/// Skips a test where programs cannot be loaded.
pub fn able() -> Tried {
    // SAFETY: geteuid has no preconditions.
    #[allow(unsafe_code)]
    let root = unsafe { libc::geteuid() } == 0;
    if root {
        Ok(())
    } else {
        skip("only root loads eBPF programs")
    }
}

/// Ends a test that this machine cannot run.
pub fn skip(reason: impl Into<String>) -> Tried {
    Err(Skipped(reason.into()))
}

/// Input of a program in addition to the frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Injected {
    pub time: u64,
    pub bytes: u32,
    pub random: u32,
}

/// Output of a program.
#[derive(Debug)]
pub struct Ran {
    pub verdict: i32,
    pub frame: Vec<u8>,
    pub tstamp: u64,
    pub associated: bool,
    pub ns: u64,
}

/// Runs a program on a frame; `None` where the kernel refuses the frame before any program sees it, as
/// newer ones do when it ends within its IP header.
pub fn try_run(program: &ProgramMut<'_>, frame: &[u8], injected: Injected) -> Option<Ran> {
    let mut context = context(injected);
    match run_in(program, frame, &mut context, 1) {
        Ok(ran) => Some(ran),
        Err(error) if error.kind() == libbpf_rs::ErrorKind::InvalidInput => None,
        Err(error) => panic!("the program runs: {error}"),
    }
}

/// Runs a program `repeat` times on one frame.
pub fn run(program: &ProgramMut<'_>, frame: &[u8], injected: Injected, repeat: u32) -> Ran {
    run_in(program, frame, &mut context(injected), repeat).expect("the program runs")
}

fn context(injected: Injected) -> [u8; CONTEXT_BYTES] {
    let mut context = [0_u8; CONTEXT_BYTES];
    context[TSTAMP..TSTAMP + 8].copy_from_slice(&injected.time.to_ne_bytes());
    context[CB..CB + 4].copy_from_slice(&injected.bytes.to_ne_bytes());
    context[CB + 4..CB + 8].copy_from_slice(&injected.random.to_ne_bytes());
    context
}

/// Runs a program on a frame that the kernel is told to be of `segments` with `size` bytes each.
pub fn run_segmented(
    program: &ProgramMut<'_>,
    frame: &[u8],
    wire: u32,
    segments: u32,
    size: u32,
) -> Ran {
    let mut context = [0_u8; CONTEXT_BYTES];
    context[WIRE_LEN..WIRE_LEN + 4].copy_from_slice(&wire.to_ne_bytes());
    context[GSO_SEGS..GSO_SEGS + 4].copy_from_slice(&segments.to_ne_bytes());
    context[GSO_SIZE..GSO_SIZE + 4].copy_from_slice(&size.to_ne_bytes());
    run_in(program, frame, &mut context, 1).expect("the program runs")
}

fn run_in(
    program: &ProgramMut<'_>,
    frame: &[u8],
    context: &mut [u8],
    repeat: u32,
) -> libbpf_rs::Result<Ran> {
    let mut context_out = [0_u8; CONTEXT_BYTES];
    let mut data_out = vec![0_u8; frame.len() + 64];
    let (verdict, ns) = {
        let input = ProgramInput {
            context_in: Some(context),
            context_out: Some(&mut context_out),
            data_in: Some(frame),
            data_out: Some(&mut data_out),
            repeat,
            ..Default::default()
        };
        let output = program.test_run(input)?;
        (
            output.return_value as i32,
            output.duration.as_nanos() as u64,
        )
    };
    data_out.truncate(frame.len());
    let word = |at: usize| u32::from_ne_bytes(context_out[at..at + 4].try_into().expect("4 bytes"));
    Ok(Ran {
        verdict,
        frame: data_out,
        tstamp: u64::from_ne_bytes(context_out[TSTAMP..TSTAMP + 8].try_into().expect("8 bytes")),
        associated: word(CB + 8) == 1,
        ns,
    })
}

/// A TCP segment to be built: what the tests vary.
#[derive(Clone, Debug)]
pub struct Segment {
    pub ipv6: bool,
    pub ecn: u8,
    pub flags: u8,
    pub ports: (u16, u16),
    pub vlan_tags: usize,
    /// Words of IPv4 options, 0 to 10.
    pub ip_option_words: usize,
    /// Words of TCP options, 0 to 10.
    pub tcp_option_words: usize,
    /// IPv6 extension headers (hop-by-hop), or none.
    pub extensions: usize,
    pub payload: usize,
    /// From the second host to the first.
    pub reply: bool,
}

pub const ACK: u8 = 0x10;
pub const ECE: u8 = 0x40;

impl Default for Segment {
    fn default() -> Self {
        Segment {
            ipv6: false,
            ecn: 2,
            flags: ACK,
            ports: (1000, 2000),
            vlan_tags: 0,
            ip_option_words: 0,
            tcp_option_words: 0,
            extensions: 0,
            payload: 20,
            reply: false,
        }
    }
}

impl Segment {
    /// The frame, with a right IPv4 header checksum.
    pub fn frame(&self) -> Vec<u8> {
        let mut tcp = Vec::new();
        tcp.extend(self.ports.0.to_be_bytes());
        tcp.extend(self.ports.1.to_be_bytes());
        tcp.extend([0; 8]);
        tcp.push(((5 + self.tcp_option_words) as u8) << 4);
        tcp.push(self.flags);
        tcp.extend([0; 6]);
        tcp.extend(vec![1; self.tcp_option_words * 4]);
        tcp.extend(vec![0xaa; self.payload]);

        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        for tag in 0..self.vlan_tags {
            frame.extend(if tag == 0 && self.vlan_tags == 2 {
                [0x88, 0xa8]
            } else {
                [0x81, 0x00]
            });
            frame.extend([0, 7 + tag as u8]);
        }
        if self.ipv6 {
            frame.extend([0x86, 0xdd]);
            let mut extensions = Vec::new();
            for at in 0..self.extensions {
                let next = if at + 1 == self.extensions { 6 } else { 0 };
                extensions.extend([next, 1, 1, 12]);
                extensions.extend([0; 12]);
            }
            frame.extend([0x60, self.ecn << 4, 0, 0]);
            frame.extend(((extensions.len() + tcp.len()) as u16).to_be_bytes());
            frame.extend([if self.extensions > 0 { 0 } else { 6 }, 64]);
            let (source, destination) = if self.reply {
                (0xfe, 0xfd)
            } else {
                (0xfd, 0xfe)
            };
            frame.extend([source; 16]);
            frame.extend([destination; 16]);
            frame.extend(extensions);
        } else {
            frame.extend([0x08, 0x00]);
            let words = 5 + self.ip_option_words;
            let mut header = vec![0x40 | words as u8, self.ecn];
            header.extend(((words * 4 + tcp.len()) as u16).to_be_bytes());
            header.extend([0, 1, 0, 0, 64, 6, 0, 0]);
            let (source, destination) = if self.reply { (2, 1) } else { (1, 2) };
            header.extend([10, 0, 0, source, 10, 0, 0, destination]);
            header.extend(vec![1; self.ip_option_words * 4]);
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            frame.extend(header);
        }
        frame.extend(tcp);
        frame
    }

    /// Position of the IP header.
    pub fn network(&self) -> usize {
        14 + 4 * self.vlan_tags
    }
}

/// The checksum of an IPv4 header (RFC 1071); zero over one that is right.
pub fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The ECN field of a frame whose IP header begins at `network`.
pub fn ecn(frame: &[u8], network: usize) -> u8 {
    match frame[network] >> 4 {
        4 => frame[network + 1] & 3,
        _ => (frame[network + 1] >> 4) & 3,
    }
}

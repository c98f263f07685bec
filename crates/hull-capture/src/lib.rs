//! Flows in packet captures: pcap and pcapng files, plain or compressed with gzip.
//!
//! A flow is what one end sends to the other: the same two addresses, two ports and protocol (TCP or
//! UDP), without a gap longer than the idle timeout. Bytes are those of the data that TCP and UDP
//! carry, by the lengths in the headers, so that captures that kept only the headers count in full;
//! what is sent again counts again. A direction that only acknowledges carries no data and is no flow.
//!
//! `pcap-parser` and `etherparse` read the formats from a buffer of fixed size. Memory grows with the
//! flows alone, 40 bytes each and 80 more for those that may still get packets; [`Limits`] bounds them.

mod flows;
mod packet;
mod records;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

pub use flows::Flow;
pub use records::Counts;

/// What is read at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A gap longer than this ends a flow, ns.
    pub idle_ns: i64,
    /// Flows.
    pub flows: usize,
}

/// The flows of a capture, in the order of their starts.
#[derive(Debug, Default)]
pub struct Capture {
    /// Those of TCP and UDP.
    pub flows: Vec<Flow>,
    /// The addresses that `flows` number, as text.
    pub addresses: Vec<String>,
    /// What was read, and what was left out.
    pub counts: Counts,
}

/// Reads the capture at `path`. The error says what the file has and what was expected.
pub fn read(path: &Path, limits: Limits) -> Result<Capture, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let mut file = File::open(path).map_err(cannot)?;
    let mut magic = [0; 2];
    let compressed = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];
    file.rewind().map_err(cannot)?;
    let file = BufReader::with_capacity(1 << 18, file);
    if compressed {
        records::read(flate2::read::MultiGzDecoder::new(file), limits)
    } else {
        records::read(file, limits)
    }
}

//! Flows in packet captures: pcap and pcapng files, plain or compressed with gzip.
//!
//! A flow is the data of one direction: the same addresses, ports and protocol (TCP or UDP), without a
//! gap longer than the idle timeout. Its bytes are the payload of TCP and UDP by the lengths in the
//! headers, so captures truncated to headers count in full; retransmissions count again. Packets that
//! were captured twice count once. A direction with ACKs only carries no data and is not a flow.
//!
//! `pcap-parser` and `etherparse` read the formats from a buffer of fixed size. Memory grows only with
//! the number of flows: 48 bytes each, and 80 more for each flow that is still open. [`Limits`] bounds
//! both.

mod flows;
mod kind;
mod packet;
mod records;
mod twice;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

pub use flows::Flow;
pub use kind::Kind;
pub use records::Counts;

/// Limits of reading.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A gap longer than this ends a flow, ns.
    pub idle_ns: i64,
    /// Largest number of flows.
    pub flows: usize,
}

/// Flows of a capture, in the order of their starts.
#[derive(Debug, Default)]
pub struct Capture {
    /// Flows of TCP and UDP.
    pub flows: Vec<Flow>,
    /// Addresses that `flows` number, as text.
    pub addresses: Vec<String>,
    /// Counts of what was read and what was left out.
    pub counts: Counts,
}

/// Reads the capture at `path`. An error has the content found and what was expected.
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

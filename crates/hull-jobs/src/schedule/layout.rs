//! GOAL's binary form, little endian and without padding: a header with the places of all ranks, and for
//! each rank its number of operations, its roots, its operations of 39 bytes and the lists of successors.

use super::Place;
use super::store::{Part, Store};
use crate::op::{Kind, Op};
use crate::problem::Problem;

/// First eight bytes of a file.
pub const COOKIE: u64 = 4223;

/// Bytes before the places of the ranks.
pub const HEADER_BYTES: u64 = 14;

/// The byte from which all places count.
pub const BASE: u64 = 8;

/// Bytes of an operation.
pub const NODE_BYTES: usize = 39;

/// Header of a file.
#[derive(Debug)]
pub struct Header {
    /// Largest processor of any operation.
    pub highest_cpu: u8,
    /// Largest interface of any operation.
    pub highest_nic: u8,
    /// Start and end of each rank's part, bytes from the start of the file.
    pub places: Vec<(u64, u64)>,
}

/// An operation with the place of its successors, in entries of the appendix.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// Number of operations that wait for its end.
    pub requires: u32,
    /// The first of them.
    pub requires_at: u32,
    /// Number of operations that wait for its start.
    pub irequires: u32,
    /// The first of them.
    pub irequires_at: u32,
}

/// Reads numbers from the front of a slice, which is long enough.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        if let Some((first, rest)) = self.0.split_first_chunk::<N>() {
            out = *first;
            self.0 = rest;
        }
        out
    }

    fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

/// Reads the header. The places lie within the file, in order.
pub fn read_header(store: &mut Store) -> Result<Header, Problem> {
    let (cookie, ranks, highest_cpu, highest_nic) =
        store.with(0, Part::Nodes, 0, HEADER_BYTES as usize, |bytes| {
            let mut fields = Fields(bytes);
            (fields.u64(), fields.u32(), fields.u8(), fields.u8())
        })?;
    if cookie != COOKIE {
        let told = format!("cookie {cookie}; expected {COOKIE}, a schedule in GOAL's binary form");
        return Err(Problem::new("byte 0", told));
    }
    let len = store.len();
    let body = HEADER_BYTES + 16 * u64::from(ranks);
    if ranks == 0 || body > len {
        let told = format!(
            "{ranks} ranks in a file of {len} bytes; expected 1 or more, with 16 bytes each"
        );
        return Err(Problem::new("byte 8", told));
    }
    let mut places = Vec::with_capacity(ranks as usize);
    let mut before = body;
    for rank in 0..u64::from(ranks) {
        let at = HEADER_BYTES + 16 * rank;
        let (start, end) = store.with(0, Part::Nodes, at, 16, |bytes| {
            let mut fields = Fields(bytes);
            (
                fields.u64().saturating_add(BASE),
                fields.u64().saturating_add(BASE),
            )
        })?;
        if start < before || end < start || end > len {
            let told = format!(
                "rank {rank} from byte {start} to {end}; expected places in order from {before} to {len}"
            );
            return Err(Problem::new(format!("byte {at}"), told));
        }
        before = end;
        places.push((start, end));
    }
    Ok(Header {
        highest_cpu,
        highest_nic,
        places,
    })
}

/// Finds the parts of a rank, which lie between `start` and `end`.
pub fn place(store: &mut Store, rank: usize, start: u64, end: u64) -> Result<Place, Problem> {
    let (nodes, roots) = store.with(rank as u32, Part::Nodes, start, 8, |bytes| {
        let mut fields = Fields(bytes);
        (fields.u32(), fields.u32())
    })?;
    let roots_at = start + 8;
    let nodes_at = roots_at + 4 * u64::from(roots);
    let appendix_at = nodes_at + NODE_BYTES as u64 * u64::from(nodes);
    if appendix_at > end || roots > nodes {
        let told = format!(
            "rank {rank} with {nodes} operations, {roots} of them without dependencies, in {} bytes",
            end - start
        );
        return Err(Problem::new(format!("byte {start}"), told));
    }
    Ok(Place {
        roots_at,
        roots,
        nodes_at,
        nodes,
        appendix_at,
    })
}

/// Reads an operation.
pub fn read_node(store: &mut Store, rank: u32, at: u64) -> Result<Node, Problem> {
    let node = store.with(rank, Part::Nodes, at, NODE_BYTES, |bytes| {
        let mut fields = Fields(bytes);
        let needs = fields.u32();
        let kind = match fields.u8() {
            1 => Kind::Send,
            2 => Kind::Receive,
            3 => Kind::Compute,
            other => return Err(other),
        };
        Ok(Node {
            op: Op {
                kind,
                needs,
                peer: fields.u32(),
                size: fields.u64(),
                tag: fields.u32(),
                cpu: fields.u8(),
                nic: fields.u8(),
            },
            requires: fields.u32(),
            requires_at: fields.u32(),
            irequires: fields.u32(),
            irequires_at: fields.u32(),
        })
    })?;
    node.map_err(|found| {
        let told =
            format!("operation of type {found}; expected 1 (send), 2 (receive) or 3 (compute)");
        Problem::new(format!("byte {}", at + 4), told)
    })
}

/// Appends an operation to `out`.
pub fn write_node(out: &mut Vec<u8>, node: &Node) {
    let kind = match node.op.kind {
        Kind::Send => 1,
        Kind::Receive => 2,
        Kind::Compute => 3,
    };
    out.extend(node.op.needs.to_le_bytes());
    out.push(kind);
    out.extend(node.op.peer.to_le_bytes());
    out.extend(node.op.size.to_le_bytes());
    out.extend(node.op.tag.to_le_bytes());
    out.extend([node.op.cpu, node.op.nic]);
    for number in [
        node.requires,
        node.requires_at,
        node.irequires,
        node.irequires_at,
    ] {
        out.extend(number.to_le_bytes());
    }
}

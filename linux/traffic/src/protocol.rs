//! The protocol of client and server (paper 6.2: "a request for a file", and the file). Numbers are in network
//! byte order.
//!
//! A request is one frame: a length, a magic number, version, kind, ID, size, service time, then padding to
//! the frame's length, because the documents specify sizes of requests too. A response has exactly the
//! requested number of bytes. If it is long enough, its first 24 bytes are a header: the request's ID, and
//! the server's retransmissions and timeouts so far, so that the client learns of timeouts without additional
//! packets.

use crate::tcp_info::{self, TcpInfo};

/// First bytes of each frame and header.
const MAGIC: [u8; 4] = *b"HULL";
/// Version of the protocol.
const VERSION: u8 = 1;
/// Size of the smallest frame, without padding, bytes.
pub const MIN_FRAME: usize = 36;
/// Size of the largest frame, bytes.
pub const MAX_FRAME: usize = 1_000_000;
/// Size of the largest response, bytes: 1 TB, as in a scenario.
pub const MAX_RESPONSE: u64 = hull_sim::scenario::MAX_FLOW_BYTES;
/// Longest service time, ns: an hour.
pub const MAX_SERVICE_NS: u64 = 3_600_000_000_000;
/// Size of a response's header, bytes.
pub const HEAD: usize = 24;
/// Size of the answer to [`Kind::Info`], bytes.
pub const INFO: usize = HEAD + tcp_info::WIRE;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Send `size` bytes.
    Fetch = 1,
    /// Send bytes until the client closes its direction of the connection; then answer as for
    /// [`Kind::Info`].
    Download = 2,
    /// Discard the following bytes until the client closes its direction of the connection; then
    /// answer as for [`Kind::Info`].
    Upload = 3,
    /// Send the server's TCP state of this connection.
    Info = 4,
}

/// Request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind of the request.
    pub kind: Kind,
    /// Returned in the response's header.
    pub id: u64,
    /// Bytes of the response; 0 unless it is a [`Kind::Fetch`].
    pub size: u64,
    /// Time that the server waits before it answers, ns.
    pub service_ns: u64,
}

/// Reason why a peer is dropped: the value found and the expected form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl Request {
    /// Creates a request for `size` bytes.
    pub fn fetch(id: u64, size: u64, service_ns: u64) -> Self {
        Request {
            kind: Kind::Fetch,
            id,
            size,
            service_ns,
        }
    }

    /// Creates a request of another kind.
    pub fn of(kind: Kind) -> Self {
        Request {
            kind,
            id: 0,
            size: 0,
            service_ns: 0,
        }
    }

    /// Writes the request as a frame of `length` bytes, [`MIN_FRAME`] to [`MAX_FRAME`], to `frame`.
    pub fn encode(&self, length: usize, frame: &mut Vec<u8>) {
        let length = length.clamp(MIN_FRAME, MAX_FRAME);
        frame.clear();
        frame.extend_from_slice(&(length as u32 - 4).to_be_bytes());
        frame.extend_from_slice(&MAGIC);
        frame.extend_from_slice(&[VERSION, self.kind as u8, 0, 0]);
        for number in [self.id, self.size, self.service_ns] {
            frame.extend_from_slice(&number.to_be_bytes());
        }
        frame.resize(length, 0);
    }

    fn decode(head: &[u8; MIN_FRAME]) -> Result<Self, Refused> {
        let kind = match head[9] {
            1 => Kind::Fetch,
            2 => Kind::Download,
            3 => Kind::Upload,
            4 => Kind::Info,
            other => return refuse("kind", other, "1 to 4"),
        };
        let request = Request {
            kind,
            id: long(head, 12),
            size: long(head, 20),
            service_ns: long(head, 28),
        };
        let (least, most) = match kind {
            Kind::Fetch => (1, MAX_RESPONSE),
            _ => (0, 0),
        };
        if !(least..=most).contains(&request.size) {
            return refuse("size", request.size, &format!("{least} to {most} bytes"));
        }
        if request.service_ns > MAX_SERVICE_NS {
            let allowed = format!("0 to {MAX_SERVICE_NS} ns");
            return refuse("service time", request.service_ns, &allowed);
        }
        Ok(request)
    }
}

fn refuse<T>(what: &str, found: impl std::fmt::Display, allowed: &str) -> Result<T, Refused> {
    Err(Refused(format!(
        "{what}: {found} is invalid; expected {allowed}"
    )))
}

/// Parses requests from a stream of bytes; keeps only the header of one frame.
#[derive(Debug)]
pub struct Parser {
    head: [u8; MIN_FRAME],
    have: usize,
    padding: usize,
}

impl Default for Parser {
    fn default() -> Self {
        Parser {
            head: [0; MIN_FRAME],
            have: 0,
            padding: 0,
        }
    }
}

impl Parser {
    /// Consumes bytes from the front of `bytes` until a request is complete or none are left. It
    /// must not be called after an error.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<Request>, Refused> {
        if self.have < MIN_FRAME {
            let n = bytes.len().min(MIN_FRAME - self.have);
            self.head[self.have..self.have + n].copy_from_slice(&bytes[..n]);
            self.have += n;
            *bytes = &bytes[n..];
            self.check_start()?;
            if self.have < MIN_FRAME {
                return Ok(None);
            }
            self.padding = word(&self.head, 0) as usize + 4 - MIN_FRAME;
        }
        let request = Request::decode(&self.head)?;
        let n = bytes.len().min(self.padding);
        self.padding -= n;
        *bytes = &bytes[n..];
        if self.padding > 0 {
            return Ok(None);
        }
        self.have = 0;
        Ok(Some(request))
    }

    /// Checks length, magic number and version as soon as they arrive, to reject a foreign peer at
    /// once.
    fn check_start(&self) -> Result<(), Refused> {
        if self.have >= 4 {
            let length = u64::from(word(&self.head, 0)) + 4;
            if !(MIN_FRAME as u64..=MAX_FRAME as u64).contains(&length) {
                let allowed = format!("{MIN_FRAME} to {MAX_FRAME} bytes");
                return refuse("length of a request", length, &allowed);
            }
        }
        if self.have >= 8 && self.head[4..8] != MAGIC {
            let found = self.head[4..8].escape_ascii();
            return refuse("magic number", format!("\"{found}\""), "\"HULL\"");
        }
        if self.have >= 9 && self.head[8] != VERSION {
            return refuse("version", self.head[8], &VERSION.to_string());
        }
        Ok(())
    }
}

/// Header of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// ID of the request.
    pub id: u64,
    /// Number of segments that the server had retransmitted on this connection when it received the
    /// request.
    pub retransmissions: u32,
    /// Number of retransmission timeouts of the server on this connection until then, if its kernel
    /// counts them.
    pub timeouts: Option<u32>,
}

impl Head {
    /// Encodes the header.
    pub fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[8..16].copy_from_slice(&self.id.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.retransmissions.to_be_bytes());
        bytes[20..].copy_from_slice(&self.timeouts.unwrap_or(u32::MAX).to_be_bytes());
        bytes
    }

    /// Decodes a header; it is an error if it does not answer request `id`.
    pub fn decode(bytes: &[u8; HEAD], id: u64) -> Result<Self, Refused> {
        if bytes[..4] != MAGIC || bytes[4] != VERSION {
            let found = bytes[..5].escape_ascii();
            return refuse("response", format!("\"{found}\""), "\"HULL\" and version 1");
        }
        if long(bytes, 8) != id {
            return refuse("response to request", long(bytes, 8), &id.to_string());
        }
        let timeouts = word(bytes, 20);
        Ok(Head {
            id,
            retransmissions: word(bytes, 16),
            timeouts: (timeouts != u32::MAX).then_some(timeouts),
        })
    }
}

/// Encodes the answer to [`Kind::Info`].
pub fn encode_info(head: &Head, info: &TcpInfo) -> [u8; INFO] {
    let mut bytes = [0; INFO];
    bytes[..HEAD].copy_from_slice(&head.encode());
    bytes[HEAD..].copy_from_slice(&info.encode());
    bytes
}

/// Decodes the answer to [`Kind::Info`].
pub fn decode_info(bytes: &[u8; INFO]) -> Result<TcpInfo, Refused> {
    let (head, info) = bytes.split_at(HEAD);
    let mut fixed = [0; HEAD];
    fixed.copy_from_slice(head);
    Head::decode(&fixed, 0)?;
    Ok(TcpInfo::decode(info))
}

/// 32-bit number at `at`.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// 64-bit number at `at`.
fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) << 32 | u64::from(word(bytes, at + 4))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `bytes` in pieces that end at the multiples of `piece`.
    fn parse(bytes: &[u8], piece: usize) -> Result<Vec<Request>, Refused> {
        let mut parser = Parser::default();
        let mut requests = Vec::new();
        for mut piece in bytes.chunks(piece) {
            while !piece.is_empty() {
                requests.extend(parser.take(&mut piece)?);
            }
        }
        Ok(requests)
    }

    #[test]
    fn bytes_by_hand() {
        let mut frame = Vec::new();
        Request::fetch(7, 1000, 65_000).encode(40, &mut frame);
        let expected = b"\0\0\0\x24HULL\x01\x01\0\0\0\0\0\0\0\0\0\x07\
            \0\0\0\0\0\0\x03\xe8\0\0\0\0\0\0\xfd\xe8\0\0\0\0";
        assert_eq!(frame, expected);
    }

    #[test]
    fn other_protocols_are_rejected_at_once() {
        let mut version_2 = b"\0\0\0\x20HULL\x02".to_vec();
        version_2.resize(36, 0);
        let mut empty = Vec::new();
        Request::fetch(0, 0, 0).encode(36, &mut empty);
        for (bytes, part) in [
            (&b"GET / HTTP/1.1"[..], "length of a request: 1195725"),
            (b"\0\0\0\x24SSH-", "\"SSH-\" is invalid; expected \"HULL\""),
            (b"\0\0\0\x1fHULL", "35 is invalid; expected 36 to 1000000"),
            (&version_2, "version: 2 is invalid; expected 1"),
            (&empty, "size: 0 is invalid; expected 1 to 1000000000000"),
        ] {
            let Err(Refused(problem)) = parse(bytes, 5) else {
                panic!("{} is accepted", bytes.escape_ascii());
            };
            assert!(problem.contains(part), "{problem}");
        }
    }

    fn requests() -> impl Strategy<Value = (Request, usize)> {
        let kind = prop_oneof![
            Just(Kind::Fetch),
            Just(Kind::Download),
            Just(Kind::Upload),
            Just(Kind::Info)
        ];
        let numbers = (any::<u64>(), 1..=MAX_RESPONSE, 0..=MAX_SERVICE_NS);
        (kind, numbers, MIN_FRAME..200).prop_map(|(kind, (id, size, service_ns), length)| {
            let size = if kind == Kind::Fetch { size } else { 0 };
            let request = Request {
                kind,
                id,
                size,
                service_ns,
            };
            (request, length)
        })
    }

    proptest! {
        #[test]
        fn reads_back_any_fragmentation(
            written in proptest::collection::vec(requests(), 0..20),
            piece in 1..300_usize,
        ) {
            let (mut bytes, mut frame) = (Vec::new(), Vec::new());
            for (request, length) in &written {
                request.encode(*length, &mut frame);
                prop_assert_eq!(frame.len(), *length);
                bytes.extend_from_slice(&frame);
            }
            let written: Vec<Request> = written.into_iter().map(|(request, _)| request).collect();
            prop_assert_eq!(parse(&bytes, piece), Ok(written));
        }

        /// Any bytes, also such as begin well, are read or refused. (A parser's memory is its own
        /// size for any input: it allocates nothing.)
        #[test]
        fn any_bytes_are_read_or_refused(
            garbage in proptest::collection::vec(any::<u8>(), 0..400),
            good in 0..50_usize,
            piece in 1..64_usize,
        ) {
            let mut bytes = Vec::new();
            Request::fetch(1, 1, 0).encode(50, &mut bytes);
            bytes.truncate(good);
            bytes.extend_from_slice(&garbage);
            if let Ok(requests) = parse(&bytes, piece) {
                prop_assert!(requests.len() * MIN_FRAME <= bytes.len());
                prop_assert!(requests.iter().all(|request| request.size <= MAX_RESPONSE));
            }
        }

        #[test]
        fn a_head_is_read_or_refused(bytes: [u8; HEAD], id: u64, lost: u32) {
            let _ = Head::decode(&bytes, id);
            let head = Head { id, retransmissions: lost, timeouts: Some(lost / 2) };
            prop_assert_eq!(Head::decode(&head.encode(), id), Ok(head));
            prop_assert!(Head::decode(&head.encode(), !id).is_err());
        }
    }

    #[test]
    fn a_parser_is_small() {
        assert!(size_of::<Parser>() <= 64);
    }
}

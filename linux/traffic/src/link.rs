//! The client's end of a persistent connection: sends requests and receives responses.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connect::{Connector, Server};
use crate::failure::Failure;
use crate::protocol::{HEAD, Head, INFO, Kind, Refused, Request, decode_info};
use crate::tcp_info::TcpInfo;

/// Number of bytes read from a socket at once.
const CHUNK: usize = 1 << 16;
/// Number of chunks before other connections get their turn.
const CHUNKS_IN_A_ROW: u32 = 4;

thread_local! {
    /// Buffer for discarded bytes.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK].into_boxed_slice());
}

/// Payload received on all connections of a client, bytes.
#[derive(Clone, Debug, Default)]
pub struct Delivered(Arc<AtomicU64>);

impl Delivered {
    /// Number of bytes received so far.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts further `bytes`.
    pub fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Retransmission timeouts that a response has reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Timeouts of the server since its last report; they affected the previous response.
    pub before: u32,
    /// Timeouts of the client, from request to response.
    pub own: u32,
}

/// Connection to a server.
#[derive(Debug)]
pub struct Link {
    stream: TcpStream,
    server: String,
    delivered: Delivered,
    frame: Vec<u8>,
    next_id: u64,
    server_timeouts: u32,
    own_timeouts: u32,
}

impl Link {
    /// Opens a connection whose received bytes are counted in `delivered`.
    pub async fn open(
        connector: &Connector,
        server: &Server,
        delivered: &Delivered,
    ) -> Result<Self, Failure> {
        let stream = connector.connect(server).await?;
        Ok(Link {
            stream,
            server: server.name.clone(),
            delivered: delivered.clone(),
            frame: Vec::new(),
            next_id: 1,
            server_timeouts: 0,
            own_timeouts: 0,
        })
    }

    /// Socket of the connection.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a request in a frame of `frame_bytes`.
    pub async fn ask(
        &mut self,
        size: u64,
        service_ns: u64,
        frame_bytes: usize,
    ) -> Result<(), Failure> {
        let request = Request::fetch(self.next_id, size, service_ns);
        request.encode(frame_bytes, &mut self.frame);
        let sent = self.stream.write_all(&self.frame).await;
        sent.map_err(|error| self.broken(&error))
    }

    /// Receives the response of `size` bytes to the last request.
    pub async fn answer(&mut self, size: u64) -> Result<Losses, Failure> {
        let id = self.next_id;
        self.next_id += 1;
        let head = self
            .receive(size)
            .await
            .map_err(|error| self.broken(&error))?;
        let mut losses = Losses::default();
        if size >= HEAD as u64 {
            let head = Head::decode(&head, id).map_err(|Refused(problem)| {
                Failure::Run(format!(
                    "{}: not an answer of hull-traffic: {problem}",
                    self.server
                ))
            })?;
            losses.before = self.server_lost(head.timeouts);
        }
        // A closing connection reports nothing further.
        if let Some(timeouts) = self.own_info().and_then(|info| info.timeouts) {
            losses.own = timeouts.wrapping_sub(self.own_timeouts);
            self.own_timeouts = timeouts;
        }
        Ok(losses)
    }

    /// Server's TCP state of the connection, with its timeouts since the last report.
    pub async fn server_info(&mut self) -> Result<(TcpInfo, u32), Failure> {
        Request::of(Kind::Info).encode(0, &mut self.frame);
        let mut bytes = [0; INFO];
        let exchanged = match self.stream.write_all(&self.frame).await {
            Ok(()) => self.stream.read_exact(&mut bytes).await,
            Err(error) => Err(error),
        };
        exchanged.map_err(|error| self.broken(&error))?;
        let info = decode_info(&bytes).map_err(|Refused(problem)| {
            Failure::Run(format!(
                "{}: not an answer of hull-traffic: {problem}",
                self.server
            ))
        })?;
        Ok((info, self.server_lost(info.timeouts)))
    }

    /// Client's TCP state of the connection.
    pub fn own_info(&self) -> Option<TcpInfo> {
        TcpInfo::of(self.stream.as_fd()).ok()
    }

    /// Starts a long-lived flow in either direction.
    pub async fn begin_endless(&mut self, kind: Kind) -> Result<(), Failure> {
        Request::of(kind).encode(0, &mut self.frame);
        let sent = self.stream.write_all(&self.frame).await;
        sent.map_err(|error| self.broken(&error))
    }

    /// Ends a long-lived flow. Returns the server's TCP state.
    pub async fn end_endless(&mut self) -> Result<TcpInfo, Failure> {
        let closed = self.stream.shutdown().await;
        closed.map_err(|error| self.broken(&error))?;
        // Bytes in flight come before the report.
        let mut last = Vec::with_capacity(2 * CHUNK);
        loop {
            let taken = self.stream.read_buf(&mut last).await;
            if taken.map_err(|error| self.broken(&error))? == 0 {
                break;
            }
            last.drain(..last.len().saturating_sub(INFO));
        }
        let Ok(bytes) = <[u8; INFO]>::try_from(last.as_slice()) else {
            return Err(self.broken(&ErrorKind::UnexpectedEof.into()));
        };
        decode_info(&bytes).map_err(|Refused(problem)| {
            Failure::Run(format!(
                "{}: not an answer of hull-traffic: {problem}",
                self.server
            ))
        })
    }

    /// Receives the available bytes; waits until some are available.
    pub async fn take_some(&mut self) -> Result<usize, Failure> {
        let taken = self.receive_some(u64::MAX, &mut []).await;
        taken.map_err(|error| self.broken(&error))
    }

    /// Sends as many bytes as there is room for; waits until there is some.
    pub async fn send_some(&mut self) -> Result<usize, Failure> {
        static ZEROS: [u8; CHUNK] = [0; CHUNK];
        let sent = self.stream.write(&ZEROS).await;
        sent.map_err(|error| self.broken(&error))
    }

    /// Growth of the server's count of timeouts since the last report.
    fn server_lost(&mut self, timeouts: Option<u32>) -> u32 {
        let now = timeouts.unwrap_or(self.server_timeouts);
        let grown = now.wrapping_sub(self.server_timeouts);
        self.server_timeouts = now;
        grown
    }

    /// Discards `size` bytes except for the first ones, which are returned.
    async fn receive(&mut self, size: u64) -> io::Result<[u8; HEAD]> {
        let (mut head, mut have, mut chunks) = ([0; HEAD], 0_u64, 0_u32);
        while have < size {
            let room = &mut head[HEAD.min(have as usize)..];
            have += self.receive_some(size - have, room).await? as u64;
            chunks += 1;
            if chunks.is_multiple_of(CHUNKS_IN_A_ROW) {
                tokio::task::yield_now().await;
            }
        }
        Ok(head)
    }

    /// Receives up to `most` bytes and keeps the first ones, as far as there is room.
    async fn receive_some(&mut self, most: u64, room: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.readable().await?;
            let taken: io::Result<usize> = SCRATCH.with_borrow_mut(|scratch| {
                let most = usize::try_from(most).unwrap_or(CHUNK).min(CHUNK);
                let taken = self.stream.try_read(&mut scratch[..most])?;
                let kept = taken.min(room.len());
                room[..kept].copy_from_slice(&scratch[..kept]);
                Ok(taken)
            });
            match taken {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(taken) => {
                    self.delivered.add(taken);
                    return Ok(taken);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn broken(&self, error: &io::Error) -> Failure {
        let what = match error.kind() {
            ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
            _ => format!("the connection broke: {error}"),
        };
        Failure::Run(format!(
            "{}: {what}; if the server closed it, its log states the cause",
            self.server
        ))
    }
}

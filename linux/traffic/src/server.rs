//! The server of paper 6.2: "the server application responds with the requested file". It can wait a service
//! time before it answers, sends or receives long-lived flows (paper 6.1), and reports its TCP state of a
//! connection.

use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream};

use crate::alarm::Alarm;
use crate::protocol::{Head, Kind, Parser, Refused, Request, encode_info};
use crate::tcp_info::TcpInfo;

/// Number of bytes read at once, which is also a connection's memory.
const READ: usize = 1 << 12;
/// Number of bytes written at once.
const WRITE: usize = 1 << 16;
/// Number of writes before other connections get their turn.
const WRITES_IN_A_ROW: u32 = 4;
/// Pause when no further connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

static ZEROS: [u8; WRITE] = [0; WRITE];

/// Counters of a server.
#[derive(Debug, Default)]
pub struct Served {
    connections: AtomicU64,
    requests: AtomicU64,
}

impl Served {
    /// Numbers of accepted connections and of answered requests.
    pub fn counts(&self) -> (u64, u64) {
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (count(&self.connections), count(&self.requests))
    }
}

/// Serves until it is dropped; messages go to `log`.
pub async fn serve(
    listener: TcpListener,
    served: Arc<Served>,
    log: impl Fn(&str) + Clone + Send + 'static,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                served.connections.fetch_add(1, Ordering::Relaxed);
                let (served, log) = (Arc::clone(&served), log.clone());
                tokio::spawn(async move {
                    if let Some(line) = attend(stream, peer, &served).await {
                        log(&line);
                    }
                });
            }
            Err(error) => {
                log(&format!("a connection was not accepted: {error}"));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection to its end. Returns a message for the log.
async fn attend(stream: TcpStream, peer: SocketAddr, served: &Served) -> Option<String> {
    let error = match converse(stream, served).await {
        Ok(()) => return None,
        Err(error) => error,
    };
    match error.kind() {
        // A client ends an endless flow in this way.
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => None,
        ErrorKind::InvalidData => Some(format!("{peer}: dropped: {error}")),
        _ => Some(format!("{peer}: the connection broke: {error}")),
    }
}

async fn converse(stream: TcpStream, served: &Served) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut parser = Parser::default();
    let mut alarm = Alarm::new()?;
    let mut buffer = [0; READ];
    loop {
        let n = read_some(&stream, &mut buffer).await?;
        if n == 0 {
            return Ok(());
        }
        let mut bytes = &buffer[..n];
        while !bytes.is_empty() {
            let request = parser
                .take(&mut bytes)
                .map_err(|Refused(problem)| io::Error::new(ErrorKind::InvalidData, problem))?;
            if let Some(request) = request {
                served.requests.fetch_add(1, Ordering::Relaxed);
                match request.kind {
                    Kind::Fetch | Kind::Info => answer(&stream, &request, &mut alarm).await?,
                    Kind::Download => return send_endless(&stream).await,
                    Kind::Upload => return take_endless(&stream).await,
                }
            }
        }
    }
}

async fn answer(stream: &TcpStream, request: &Request, alarm: &mut Alarm) -> io::Result<()> {
    let info = TcpInfo::of(stream.as_fd())?;
    let head = Head {
        id: request.id,
        retransmissions: info.retransmissions,
        timeouts: info.timeouts,
    };
    if request.service_ns > 0 {
        alarm
            .after(Duration::from_nanos(request.service_ns))
            .await?;
    }
    if request.kind == Kind::Info {
        let bytes = encode_info(&head, &info);
        return write(stream, &bytes, bytes.len() as u64).await;
    }
    let head = head.encode();
    let room = usize::try_from(request.size).unwrap_or(usize::MAX) >= head.len();
    write(stream, if room { &head } else { &[] }, request.size).await
}

/// Sends data until the client closes its direction, then reports the server's TCP state.
async fn send_endless(stream: &TcpStream) -> io::Result<()> {
    loop {
        let ready = stream
            .ready(Interest::READABLE | Interest::WRITABLE)
            .await?;
        if ready.is_readable() && read_now(stream, &mut [0])? == Some(0) {
            break;
        }
        match stream.try_write(&ZEROS) {
            Ok(_) => tokio::task::yield_now().await,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    last_words(stream).await
}

/// Discards data until the client closes its direction, then reports the server's TCP state.
async fn take_endless(stream: &TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; WRITE];
    while read_some(stream, &mut buffer).await? > 0 {
        tokio::task::yield_now().await;
    }
    last_words(stream).await
}

async fn last_words(stream: &TcpStream) -> io::Result<()> {
    let info = TcpInfo::of(stream.as_fd())?;
    let bytes = encode_info(&Head::default(), &info);
    write(stream, &bytes, bytes.len() as u64).await
}

/// Writes `size` bytes: `head`, then zeros.
async fn write(stream: &TcpStream, head: &[u8], size: u64) -> io::Result<()> {
    let (mut sent, mut writes) = (0_u64, 0_u32);
    while sent < size {
        stream.writable().await?;
        let head = &head[head.len().min(usize::try_from(sent).unwrap_or(usize::MAX))..];
        let left = usize::try_from(size - sent).unwrap_or(usize::MAX);
        let zeros = &ZEROS[..WRITE.min(left - head.len())];
        match stream.try_write_vectored(&[IoSlice::new(head), IoSlice::new(zeros)]) {
            Ok(n) => sent += n as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        writes += 1;
        if writes.is_multiple_of(WRITES_IN_A_ROW) {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

async fn read_some(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        stream.readable().await?;
        if let Some(taken) = read_now(stream, buffer)? {
            return Ok(taken);
        }
    }
}

/// Reads the available bytes; `None` if none are available yet, 0 at the end.
fn read_now(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match stream.try_read(buffer) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        taken => taken.map(Some),
    }
}

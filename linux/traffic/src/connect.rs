//! Opens the persistent connections of paper 6.2 with the chosen congestion control.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::failure::Failure;

/// The kernel's list of available congestion controls.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(100);
/// Backlog of connections to accept, because many clients open 16 each at once.
const BACKLOG: i32 = 4096;

/// Name and address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Name as the user wrote it.
    pub name: String,
    /// Address and port.
    pub address: SocketAddr,
}

impl Server {
    /// Reads `ADDR:PORT`; a name is looked up.
    pub fn parse(option: &str, text: &str) -> Result<Self, Failure> {
        let allowed = "expected an address or name with a port, such as 10.0.0.2:9000";
        let mut addresses = text.to_socket_addrs().map_err(|error| {
            Failure::option(option, format!("found \"{text}\" ({error}), {allowed}"))
        })?;
        let address = addresses
            .next()
            .ok_or_else(|| Failure::option(option, format!("found \"{text}\", {allowed}")))?;
        Ok(Server {
            name: text.to_owned(),
            address,
        })
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Settings for opening connections.
#[derive(Clone, Debug)]
pub struct Connector {
    /// Name of the congestion control; `None` for the system's.
    pub congestion_control: Option<String>,
    /// Time for which a server that does not answer is retried.
    pub patience: Duration,
}

impl Connector {
    /// Connects to `server`, and retries until patience ends.
    pub async fn connect(&self, server: &Server) -> Result<TcpStream, Failure> {
        let start = Instant::now();
        loop {
            let socket = self.socket(server.address)?;
            let left = self.patience.saturating_sub(start.elapsed());
            let problem = match tokio::time::timeout(left, socket.connect(server.address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer".to_owned(),
            };
            if start.elapsed() + RETRY >= self.patience {
                return Err(Failure::Run(format!(
                    "{server}: no connection in {:.1} s: {problem}; check that `hull-traffic serve` \
                     runs there, listens on this port, and can be reached from here",
                    start.elapsed().as_secs_f64()
                )));
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    fn socket(&self, address: SocketAddr) -> Result<TcpSocket, Failure> {
        let socket = new_socket(address)?;
        set_congestion_control(&socket, self.congestion_control.as_deref())?;
        socket.set_tcp_nodelay(true)?;
        Ok(TcpSocket::from_std_stream(socket.into()))
    }
}

/// Creates a socket that listens on `address` and whose connections use the congestion control
/// `name`.
pub fn listen(address: SocketAddr, name: Option<&str>) -> Result<TcpListener, Failure> {
    let socket = new_socket(address)?;
    set_congestion_control(&socket, name)?;
    let bound = socket
        .set_reuse_address(true)
        .and_then(|()| socket.bind(&address.into()))
        .and_then(|()| socket.listen(BACKLOG));
    bound.map_err(|error| Failure::Run(format!("cannot listen on {address}: {error}")))?;
    Ok(TcpListener::from_std(socket.into())?)
}

/// Congestion control that accepted connections inherit from a socket.
pub fn congestion_control_of(listener: &TcpListener) -> io::Result<String> {
    let name = SockRef::from(listener).tcp_congestion()?;
    let end = name
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

fn new_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn set_congestion_control(socket: &Socket, name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else {
        return Ok(());
    };
    socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
        let available = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
        let available: Vec<&str> = available.split_whitespace().collect();
        let why = match error.kind() {
            ErrorKind::PermissionDenied => "this user may not select it",
            _ => "the kernel has not loaded it",
        };
        Failure::option(
            "--congestion-control",
            format!(
                "found \"{name}\": {why} ({error}); expected {}; `modprobe tcp_{name}` as root \
                 loads one that the kernel was built with",
                available.join(", ")
            ),
        )
    })
}

//! Our DCTCP under the kernel's retransmission timer: RFC 5681, 3.1.

mod common;
#[path = "common/link.rs"]
mod link;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd};
use std::time::{Duration, Instant};

use common::harness::Tried;
use common::{able, skip};
use link::{Link, call, inside};

const SERVER: &str = "10.78.0.2:7801";

/// A connection of ours; the congestion control must be chosen before.
fn connect() -> TcpStream {
    // SAFETY: plain socket calls; the descriptor goes to the stream.
    #[allow(unsafe_code)]
    let stream = unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
        assert!(socket >= 0);
        let name = b"hull_dctcp";
        let chosen = libc::setsockopt(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as u32,
        );
        assert_eq!(chosen, 0, "{}", std::io::Error::last_os_error());
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: 7801_u16.to_be(),
            sin_addr: libc::in_addr {
                s_addr: u32::from_ne_bytes([10, 78, 0, 2]),
            },
            sin_zero: [0; 8],
        };
        let size = size_of_val(&address) as u32;
        assert_eq!(
            libc::connect(socket, std::ptr::from_ref(&address).cast(), size),
            0
        );
        TcpStream::from_raw_fd(socket)
    };
    stream.set_nodelay(true).expect("set");
    stream
}

fn info(stream: &TcpStream) -> libc::tcp_info {
    // SAFETY: the kernel writes at most `size` bytes.
    #[allow(unsafe_code)]
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut size = size_of_val(&info) as u32;
        let read = libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            std::ptr::from_mut(&mut info).cast(),
            &raw mut size,
        );
        assert_eq!(read, 0);
        info
    }
}

/// Waits until what the kernel says of the connection is so.
fn wait(stream: &TcpStream, what: &str, so: impl Fn(&libc::tcp_info) -> bool) -> libc::tcp_info {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let found = info(stream);
        if so(&found) {
            return found;
        }
        assert!(Instant::now() < end, "{what} never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All packets go to an unassigned MAC address, so the timer fires at least twice for the same segment. Once
/// packets arrive again, ssthresh is half of the window before the first timeout, not half of the one segment
/// before the last.
fn a_second_timeout_leaves_ssthresh() -> Tried {
    able()?;
    let link = Link::new("rto");
    let on = link.hull(0, &["dctcp", "on", "--ours"]);
    if !on.status.success() {
        return skip(String::from_utf8_lossy(&on.stderr).trim());
    }
    let server = inside(&link.names[1], || {
        let (mut stream, _) = TcpListener::bind(SERVER)
            .and_then(|listener| listener.accept())
            .expect("a connection");
        let mut buffer = vec![0; 1 << 16];
        while stream.read(&mut buffer).expect("read") > 0 {}
    });
    std::thread::sleep(Duration::from_millis(200));
    let names = link.names.clone();
    let client = inside(&link.names[0], move || {
        let neighbour = |words: &[&str]| {
            let fixed = ["-n", &names[0], "neigh"];
            call("ip", &[&fixed[..], words, &["dev", "e0"]].concat());
        };
        let mut stream = connect();
        stream.write_all(&vec![0; 1 << 20]).expect("written");
        let whole = wait(&stream, "the last acknowledgment", |info| {
            info.tcpi_unacked == 0
        });
        assert!(whole.tcpi_snd_cwnd >= 10, "{}", whole.tcpi_snd_cwnd);
        let unassigned = "02:00:00:00:00:99";
        neighbour(&[
            "replace",
            "10.78.0.2",
            "lladdr",
            unassigned,
            "nud",
            "permanent",
        ]);
        stream.write_all(&vec![0; 50_000]).expect("written");
        let lost = wait(&stream, "the second timeout", |info| info.tcpi_backoff >= 2);
        assert_eq!(lost.tcpi_ca_state, 4, "Loss");
        neighbour(&["del", "10.78.0.2"]);
        let back = wait(&stream, "an acknowledgment", |info| info.tcpi_unacked == 0);
        (whole.tcpi_snd_cwnd, back.tcpi_snd_ssthresh)
    });
    let (cwnd, ssthresh) = client.join().expect("the client ends");
    server.join().expect("the server ends");
    let _ = link.hull(0, &["dctcp", "off"]);
    assert!(
        (cwnd / 2..=cwnd / 2 + 1).contains(&ssthresh),
        "a window of {cwnd}, then ssthresh {ssthresh}"
    );
    Ok(())
}

tests!(a_second_timeout_leaves_ssthresh,);

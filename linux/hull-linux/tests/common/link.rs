//! Two network namespaces with a link between them, and the program in either.

#![allow(dead_code)]

use std::os::fd::AsRawFd;
use std::process::{Command, Output};

/// A pair of namespaces with a link, gone at the end.
pub struct Link {
    pub names: [String; 2],
}

impl Link {
    pub fn new(name: &str) -> Self {
        let names = [0, 1].map(|end| format!("hulltest-{name}{end}-{}", std::process::id()));
        for name in &names {
            call("ip", &["netns", "add", name]);
        }
        let [left, right] = &names;
        call(
            "ip",
            &[
                "link", "add", "e0", "netns", left, "type", "veth", "peer", "name", "e1", "netns",
                right,
            ],
        );
        for (at, name) in names.iter().enumerate() {
            let device = format!("e{at}");
            call(
                "ip",
                &[
                    "-n",
                    name,
                    "addr",
                    "add",
                    &format!("10.78.0.{}/24", at + 1),
                    "dev",
                    &device,
                ],
            );
            call("ip", &["-n", name, "link", "set", "dev", &device, "up"]);
        }
        Link { names }
    }

    pub fn hull(&self, end: usize, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hull-linux"));
        command.args(["--netns", &self.names[end]]).args(arguments);
        command.output().expect("runs")
    }

    pub fn ok(&self, end: usize, arguments: &[&str]) -> String {
        let output = self.hull(end, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    pub fn refused(&self, end: usize, arguments: &[&str], words: &[&str]) {
        let output = self.hull(end, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert_eq!(text.trim().lines().count(), 1, "{text}");
        for word in words {
            assert!(
                text.contains(word),
                "{arguments:?}: {word} is not in {text}"
            );
        }
    }

    /// Queues and filters, as tc shows them.
    pub fn traffic_control(&self, end: usize) -> String {
        let device = format!("e{end}");
        let show = |what: &[&str]| {
            call(
                "tc",
                &[&["-n", &self.names[end]], what, &["dev", &device]].concat(),
            )
        };
        [
            show(&["qdisc", "show"]),
            show(&["filter", "show", "ingress"].map(|word| word)),
        ]
        .concat()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

/// Starts a thread in a network namespace; the others stay where they are.
pub fn inside<T: Send + 'static>(
    namespace: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    let namespace = std::fs::File::open(format!("/run/netns/{namespace}")).expect("it exists");
    std::thread::spawn(move || {
        // SAFETY: the descriptor is open.
        #[allow(unsafe_code)]
        let entered = unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) };
        assert_eq!(entered, 0);
        work()
    })
}

/// Sends a few packets from a namespace.
pub fn send_packets(namespace: &str, to: &'static str) {
    let sender = inside(namespace, move || {
        let any = if to.starts_with('[') {
            "[::]:0"
        } else {
            "0.0.0.0:0"
        };
        let socket = std::net::UdpSocket::bind(any).expect("a socket");
        for _ in 0..5 {
            socket.send_to(b"probe", to).expect("sent");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
    sender.join().expect("sent");
}

pub fn call(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect("iproute2 installed");
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).expect("text")
}

//! Which request is told to have suffered a timeout: a server made up for the test tells of timeouts at
//! known places.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use hull_traffic::arrivals::Arrival;
use hull_traffic::connect::{Connector, Server};
use hull_traffic::incast::Incast;
use hull_traffic::open_loop::OpenLoop;
use hull_traffic::outcome::Outcome;
use hull_traffic::protocol::{Head, Kind, Parser, encode_info};
use hull_traffic::tcp_info::TcpInfo;
use tokio::runtime::Builder;

/// Timeouts that the server has had when it gets the first request, the second, ...; the last number is
/// what it says at the end.
const TOLD: [Option<u32>; 6] = [Some(0), Some(2), Some(2), Some(3), Some(3), Some(4)];

fn made_up(told: [Option<u32>; 6]) -> (Server, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        tell(stream, told);
    });
    let server = Server::parse("--server", &address).expect("an address");
    (server, thread)
}

fn tell(mut stream: TcpStream, told: [Option<u32>; 6]) {
    let (mut parser, mut buffer, mut number) = (Parser::default(), [0; 1000], 0);
    loop {
        let n = stream.read(&mut buffer).expect("reads");
        if n == 0 {
            return;
        }
        let mut bytes = &buffer[..n];
        while let Some(request) = parser.take(&mut bytes).expect("good") {
            let head = Head {
                id: request.id,
                retransmissions: 0,
                timeouts: told[number],
            };
            number += 1;
            if request.kind == Kind::Info {
                let info = TcpInfo {
                    timeouts: head.timeouts,
                    ..TcpInfo::default()
                };
                stream.write_all(&encode_info(&head, &info)).expect("sends");
            } else {
                let mut response = vec![0; request.size as usize];
                response[..24].copy_from_slice(&head.encode());
                stream.write_all(&response).expect("sends");
            }
            if bytes.is_empty() {
                break;
            }
        }
    }
}

fn connector() -> Connector {
    Connector {
        congestion_control: None,
        patience: Duration::from_secs(5),
    }
}

fn five_requests(told: [Option<u32>; 6]) -> Outcome {
    let (server, thread) = made_up(told);
    let run = OpenLoop {
        servers: vec![server],
        connections: vec![0],
        groups: vec![vec![0]],
        classes: vec!["100B".to_owned()],
        request_bytes: 100,
        warmup: Duration::ZERO,
        duration: Duration::from_millis(50),
        drain: Duration::from_secs(5),
    };
    let arrivals = (0..5).map(|number| Arrival {
        at_ps: number * 1_000_000_000,
        class: 0,
        bytes: 100,
        service_ns: 0,
        group: 0,
    });
    let runtime = Builder::new_current_thread().enable_all().build();
    let outcome = runtime
        .expect("a runtime")
        .block_on(run.run(&connector(), arrivals, std::future::pending()))
        .expect("runs");
    thread.join().expect("ends");
    outcome
}

#[test]
fn timeout_is_attributed_to_its_response() {
    let timeouts = |told| -> Vec<u16> {
        let outcome = five_requests(told);
        outcome.flows.iter().map(|flow| flow.timeouts).collect()
    };
    assert_eq!(timeouts(TOLD), [2, 0, 1, 0, 1]);
    assert_eq!(timeouts([None; 6]), [0; 5]);
}

#[test]
fn query_counts_responses_with_timeouts() {
    let (servers, threads): (Vec<_>, Vec<_>) =
        [TOLD, [Some(0); 6], TOLD].map(made_up).into_iter().unzip();
    let run = Incast {
        servers,
        total_bytes: 300,
        request_bytes: 100,
        queries: 5,
        duration: Duration::from_secs(5),
        drain: Duration::from_secs(5),
        jitter_ps: 0,
        deadline_ps: None,
        seed: 1,
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let outcome = runtime
        .expect("a runtime")
        .block_on(run.run(&connector(), std::future::pending()))
        .expect("runs");
    for thread in threads {
        thread.join().expect("ends");
    }
    let timeouts: Vec<u32> = outcome.queries.iter().map(|query| query.timeouts).collect();
    assert_eq!(timeouts, [2, 0, 2, 0, 2]);
}

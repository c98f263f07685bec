//! Server and clients over the loopback interface, a second or less each.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hull_traffic::arrivals::Arrival;
use hull_traffic::connect::{Connector, Server, listen};
use hull_traffic::incast::Incast;
use hull_traffic::long_flows::{Direction, LongFlows};
use hull_traffic::open_loop::OpenLoop;
use hull_traffic::protocol::{HEAD, Head, Request};
use hull_traffic::server::{Served, serve};
use tokio::runtime::{Builder, Handle, Runtime};

/// A server with a thread of its own, which ends with it.
struct Local {
    address: SocketAddr,
    handle: Handle,
    served: Arc<Served>,
    log: Receiver<String>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

impl Local {
    fn start() -> Self {
        let (ready, begun) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (write, log) = mpsc::channel();
        let served = Arc::new(Served::default());
        let mine = Arc::clone(&served);
        let thread = std::thread::spawn(move || {
            let runtime = runtime();
            let handle = runtime.handle().clone();
            runtime.block_on(async {
                let any = SocketAddr::from(([127, 0, 0, 1], 0));
                let listener = listen(any, None).expect("a port");
                let address = listener.local_addr().expect("bound");
                ready.send((address, handle)).expect("waited for");
                let log = move |line: &str| {
                    let _ = write.send(line.to_owned());
                };
                tokio::select! {
                    () = serve(listener, mine, log) => {}
                    _ = stopped => {}
                }
            });
        });
        let (address, handle) = begun.recv().expect("begins");
        Local {
            address,
            handle,
            served,
            log,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn server(&self) -> Server {
        Server::parse("--server", &self.address.to_string()).expect("an address")
    }

    fn stream(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("connects");
        let long = Some(Duration::from_secs(5));
        stream.set_read_timeout(long).expect("can be set");
        stream
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn connector() -> Connector {
    Connector {
        congestion_control: None,
        patience: Duration::from_secs(5),
    }
}

/// One request each millisecond over `connections` connections.
fn each_millisecond(local: &Local, connections: usize, duration: Duration) -> OpenLoop {
    OpenLoop {
        servers: vec![local.server()],
        connections: vec![0; connections],
        groups: vec![(0..connections).collect()],
        classes: vec!["1KB".to_owned()],
        request_bytes: 100,
        warmup: Duration::from_millis(50),
        duration,
        drain: Duration::from_secs(5),
    }
}

fn regular(bytes: u64) -> impl Iterator<Item = Arrival> {
    (0..).map(move |number: u64| Arrival {
        at_ps: number * 1_000_000_000,
        class: 0,
        bytes,
        service_ns: 0,
        group: 0,
    })
}

/// A server that stands still for 200 ms: each of the 200 requests that were to be sent meanwhile
/// ends after that, and its latency counts from when it was to be sent. A client that waited for its
/// 4 connections before it thought of the next request would show 4 such latencies.
#[test]
fn stall_shows_in_all_requests_during_it() {
    let local = Local::start();
    let stall = Duration::from_millis(200);
    let handle = local.handle.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        handle.spawn(async move { std::thread::sleep(stall) });
    });
    let run = each_millisecond(&local, 4, Duration::from_millis(700));
    let outcome = runtime()
        .block_on(run.run(&connector(), regular(1000), std::future::pending()))
        .expect("runs");
    stopper.join().expect("ends");
    assert_eq!(outcome.flows.len(), 700);
    assert_eq!((outcome.unanswered[0], outcome.interrupted), (0, false));
    // The first request of the stall waited longest; the stall ended when it was answered.
    let longest = outcome
        .flows
        .iter()
        .max_by_key(|flow| flow.fct_ps)
        .expect("some");
    let (begin_ps, end_ps) = (longest.start_ps, longest.start_ps + longest.fct_ps);
    assert!(longest.fct_ps >= 190_000_000_000, "{longest:?}");
    let hit: Vec<_> = outcome
        .flows
        .iter()
        .filter(|flow| (begin_ps..end_ps - 10_000_000_000).contains(&flow.start_ps))
        .collect();
    assert!(hit.len() >= 180, "{}", hit.len());
    for flow in &hit {
        let ended_ps = flow.start_ps + flow.fct_ps;
        assert!(
            ended_ps + 20_000_000_000 >= end_ps,
            "{flow:?} ended before {end_ps}"
        );
    }
    assert!(outcome.queued >= 170, "{}", outcome.queued);
    // Half of the 200 latencies are above 100 ms: 14% of all.
    let p90_us = outcome.latencies[0].distribution().expect("some").p90_us;
    assert!(p90_us > 100_000.0, "{p90_us}");
}

#[test]
fn both_ends_and_the_window_are_reported() {
    let local = Local::start();
    let run = each_millisecond(&local, 3, Duration::from_millis(500));
    let outcome = runtime()
        .block_on(run.run(&connector(), regular(10_000), std::future::pending()))
        .expect("runs");
    assert_eq!(outcome.flows.len(), 500);
    assert_eq!((outcome.ends.own.len(), outcome.ends.servers.len()), (3, 3));
    assert!(outcome.ends.servers.iter().all(|info| info.rtt_us > 0));
    // 10 KB each millisecond are 80 Mbit/s.
    let goodput_bps = outcome.window.goodput_bps();
    assert!((goodput_bps / 80e6 - 1.0).abs() < 0.1, "{goodput_bps}");
    let connections: std::collections::BTreeSet<u32> =
        outcome.flows.iter().map(|flow| flow.connection).collect();
    assert_eq!(connections.len(), 3, "in turn");
    // 550 requests and the last words of each connection.
    assert_eq!(local.served.counts(), (3, 553));
}

#[test]
fn stop_keeps_measurements_so_far() {
    let local = Local::start();
    let run = each_millisecond(&local, 2, Duration::from_secs(60));
    let outcome = runtime()
        .block_on(async {
            let stop = tokio::time::sleep(Duration::from_millis(300));
            run.run(&connector(), regular(100), stop).await
        })
        .expect("runs");
    assert!(outcome.interrupted);
    assert!((1..300).contains(&outcome.flows.len()));
    assert!((0.1..0.3).contains(&outcome.window.seconds()));
}

#[test]
fn lost_server_is_named() {
    let local = Local::start();
    let name = local.address.to_string();
    let run = each_millisecond(&local, 2, Duration::from_secs(60));
    let leaver = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(local);
    });
    let problem = runtime()
        .block_on(run.run(&connector(), regular(100), std::future::pending()))
        .expect_err("it went away");
    leaver.join().expect("ends");
    assert_eq!(problem.status(), 1);
    assert!(problem.to_string().starts_with(&name), "{problem}");
}

#[test]
fn answers_come_in_order_and_after_the_service_time() {
    let local = Local::start();
    let mut stream = local.stream();
    let (mut all, mut frame) = (Vec::new(), Vec::new());
    let sizes = [1000_u64, 24, 5, 70_000, 30];
    for (id, &size) in sizes.iter().enumerate() {
        Request::fetch(id as u64, size, 3_000_000).encode(100, &mut frame);
        all.extend_from_slice(&frame);
    }
    let start = Instant::now();
    stream.write_all(&all).expect("sends");
    for (id, &size) in sizes.iter().enumerate() {
        let mut response = vec![1; size as usize];
        stream.read_exact(&mut response).expect("answers");
        if size >= HEAD as u64 {
            let head = response[..HEAD].try_into().expect("24 bytes");
            assert_eq!(
                Head::decode(head, id as u64).map(|head| head.id),
                Ok(id as u64)
            );
        }
        assert!(
            response[HEAD.min(response.len())..]
                .iter()
                .all(|&byte| byte == 0)
        );
    }
    assert!(start.elapsed() >= Duration::from_millis(15));
}

#[test]
fn only_the_peer_with_bad_data_is_dropped() {
    let local = Local::start();
    let mut other = local.stream();
    let mut browser = local.stream();
    browser.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sends");
    let mut nothing = Vec::new();
    // Dropped with bytes of it unread, so the end may be a reset.
    let _ = browser.read_to_end(&mut nothing);
    assert!(nothing.is_empty());
    let line = local
        .log
        .recv_timeout(Duration::from_secs(5))
        .expect("a line");
    assert!(line.contains("dropped: length of a request"), "{line}");
    let mut frame = Vec::new();
    Request::fetch(0, 10, 0).encode(36, &mut frame);
    other.write_all(&frame).expect("sends");
    other.read_exact(&mut [0; 10]).expect("answers");
}

#[test]
fn an_incast_ends_with_the_last_server() {
    let locals = [Local::start(), Local::start(), Local::start()];
    let run = Incast {
        servers: locals.iter().map(Local::server).collect(),
        total_bytes: 100_000,
        request_bytes: 100,
        queries: 20,
        duration: Duration::from_secs(10),
        drain: Duration::from_secs(5),
        jitter_ps: 5_000_000_000,
        deadline_ps: Some(1_000_000_000_000),
        seed: 1,
    };
    let outcome = runtime()
        .block_on(run.run(&connector(), std::future::pending()))
        .expect("runs");
    assert_eq!(outcome.queries.len(), 20);
    for query in &outcome.queries {
        assert_eq!((query.servers, query.in_time, query.bytes), (3, 3, 100_000));
        assert!(query.completion_ps >= Some(query.mean_response_ps));
    }
    // The largest of three draws below 5 ms is 3.75 ms in the mean (deviation 0.97 ms).
    let sum_ps: u64 = outcome
        .queries
        .iter()
        .filter_map(|query| query.completion_ps)
        .sum();
    let mean_ms = sum_ps as f64 / 20.0 * 1e-9;
    assert!((3.0..20.0).contains(&mean_ms), "{mean_ms}");
    assert_eq!(
        (outcome.ends.servers.len(), outcome.interrupted),
        (3, false)
    );
}

#[test]
fn incast_with_a_stalled_server_is_incomplete() {
    let locals = [Local::start(), Local::start()];
    let (begin, begun) = mpsc::channel();
    locals[1].handle.spawn(async move {
        begin.send(()).expect("waited for");
        std::thread::sleep(Duration::from_millis(1500));
    });
    begun.recv().expect("begins");
    let run = Incast {
        servers: locals.iter().map(Local::server).collect(),
        total_bytes: 2000,
        request_bytes: 100,
        queries: 1,
        duration: Duration::from_millis(300),
        drain: Duration::from_millis(300),
        jitter_ps: 0,
        deadline_ps: None,
        seed: 1,
    };
    let outcome = runtime()
        .block_on(run.run(&connector(), std::future::pending()))
        .expect("runs");
    let query = outcome.queries[0];
    assert_eq!(
        (query.completion_ps, query.in_time, query.bytes),
        (None, 1, 1000)
    );
}

#[test]
fn long_flows_go_both_ways() {
    let local = Local::start();
    for direction in [Direction::Download, Direction::Upload] {
        let run = LongFlows {
            servers: vec![local.server()],
            per_server: 2,
            direction,
            warmup: Duration::from_millis(50),
            duration: Duration::from_millis(300),
            interval: Duration::from_millis(100),
        };
        let outcome = runtime()
            .block_on(run.run(&connector(), std::future::pending()))
            .expect("runs");
        assert_eq!(outcome.series.len(), 2 * 3);
        assert_eq!(outcome.long_flows.len(), 2);
        let sum: f64 = outcome.long_flows.iter().map(|flow| flow.goodput_bps).sum();
        assert!((sum / outcome.window.goodput_bps() - 1.0).abs() < 1e-9);
        assert!(outcome.long_flows.iter().all(|flow| flow.goodput_bps > 1e6));
        assert_eq!((outcome.ends.own.len(), outcome.ends.servers.len()), (2, 2));
        let to_client = direction == Direction::Download;
        let ends = if to_client { (1, 0) } else { (0, 1) };
        assert!(outcome.series.iter().all(|sample| sample.ends == ends));
        // What a sender has delivered are segments of at most 64 KB or so.
        let senders = if to_client {
            &outcome.ends.servers
        } else {
            &outcome.ends.own
        };
        assert!(senders.iter().all(|info| info.delivered > Some(10)));
    }
}

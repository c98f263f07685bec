//! The least that a simulator of `tree192` could do: a yardstick for hull's speed, not a simulator to use.
//!
//! A 4-ary heap of busy links, a FIFO ring of packets at each, fixed routes, DCTCP (slow start, one cut for
//! each window of marks) without loss recovery. Buffers have no bound, so that nothing is lost; there are no
//! timers, no statistics, no options, no priorities. It reads the flows that hull is timed on and prints
//! the packet-hops and the CPU time of the process:
//!
//! ```console
//! rustc -O -o loop benches/loop.rs && ./loop FLOWS.csv
//! ```
//!
//! The file has the header `start_ps,src,dst,bytes` and hosts as numbers, sorted by start. Times are ps,
//! sizes bytes. Topology and settings are as in `examples/tree192.toml`.

use std::collections::VecDeque;
use std::process::ExitCode;

const HOSTS: usize = 192;
const HOSTS_PER_TOR: usize = 6;
const TORS_PER_POD: usize = 4;
const PODS: usize = 8;
const TORS: usize = PODS * TORS_PER_POD;
const AGGS_PER_POD: usize = 2;
const CORES_PER_AGG: usize = 4;
const AGGS: usize = PODS * AGGS_PER_POD;

/// First ports of each kind: from hosts, to hosts, up and down between ToRs and aggregation switches, up
/// and down between these and cores.
const FROM_HOST: usize = 0;
const TO_HOST: usize = FROM_HOST + HOSTS;
const TOR_UP: usize = TO_HOST + HOSTS;
const AGG_DOWN: usize = TOR_UP + TORS * AGGS_PER_POD;
const AGG_UP: usize = AGG_DOWN + TORS * AGGS_PER_POD;
const CORE_DOWN: usize = AGG_UP + AGGS * CORES_PER_AGG;
const PORTS: usize = CORE_DOWN + AGGS * CORES_PER_AGG;

const PS_PER_BYTE: u64 = 800;
const DELAY_PS: u64 = 200_000;
const STACK_PS: u64 = 500_000;
const MARKED_ABOVE: u64 = 97_500;
const MSS: u64 = 1460;
const HEADER: u64 = 40;

/// A packet on a link or before it; an ACK has no payload.
#[derive(Clone, Copy)]
struct Packet {
    start_ps: u64,
    flow: u32,
    /// End of its payload in the flow, or what an ACK acknowledges.
    end: u32,
    bytes: u16,
    hop: u8,
    is_ack: bool,
    is_marked: bool,
}

/// A link with the queue before it.
#[derive(Default)]
struct Link {
    busy_until_ps: u64,
    delay_ps: u64,
    packets: VecDeque<Packet>,
    /// How many at the end have not started, and their bytes.
    waiting: usize,
    waiting_bytes: u64,
}

/// The ports of a route.
#[derive(Clone, Copy, Default)]
struct Route {
    ports: [u16; 6],
    len: u8,
}

/// The routes and the window of a flow under way.
#[derive(Clone, Default)]
struct Flow {
    there: Route,
    back: Route,
    bytes: u64,
    sent: u64,
    acked: u64,
    received: u64,
    cwnd: f64,
    ssthresh: f64,
    alpha: f64,
    /// End of the window over which marks are counted, and of the last cut.
    window_end: u64,
    cut_end: u64,
    window_bytes: u64,
    marked_bytes: u64,
}

/// Bits of a port in the number of an event, whose others are its time.
const PORT_BITS: u32 = 10;
const _: () = assert!(PORTS <= 1 << PORT_BITS);

/// A heap with four children a node, of events.
#[derive(Default)]
struct Heap(Vec<u64>);

impl Heap {
    fn push(&mut self, at_ps: u64, port: usize) {
        let event = at_ps << PORT_BITS | port as u64;
        let mut at = self.0.len();
        self.0.push(event);
        while at > 0 && self.0[(at - 1) / 4] > event {
            self.0[at] = self.0[(at - 1) / 4];
            at = (at - 1) / 4;
        }
        self.0[at] = event;
    }

    /// Time of the first event, ps.
    fn first_ps(&self) -> Option<u64> {
        self.0.first().map(|first| first >> PORT_BITS)
    }

    fn pop(&mut self) -> Option<(u64, usize)> {
        let first = *self.0.first()?;
        let last = self.0.pop()?;
        if !self.0.is_empty() {
            self.sink(last);
        }
        let port = first & ((1 << PORT_BITS) - 1);
        Some((first >> PORT_BITS, port as usize))
    }

    fn sink(&mut self, event: u64) {
        let (mut at, len) = (0, self.0.len());
        loop {
            let children = 4 * at + 1..(4 * at + 5).min(len);
            let Some(least) = children.min_by_key(|&child| self.0[child]) else {
                break;
            };
            if self.0[least] >= event {
                break;
            }
            self.0[at] = self.0[least];
            at = least;
        }
        self.0[at] = event;
    }
}

struct Network {
    links: Vec<Link>,
    heap: Heap,
    flows: Vec<Flow>,
    free: Vec<u32>,
    hops: u64,
    done: u64,
}

/// The ports from one host to another: the hash chooses the aggregation switch and the core.
fn route(src: usize, dst: usize, hash: u64) -> Route {
    let (from, to) = (src / HOSTS_PER_TOR, dst / HOSTS_PER_TOR);
    let (from_pod, to_pod) = (from / TORS_PER_POD, to / TORS_PER_POD);
    let agg = hash as usize % AGGS_PER_POD;
    let core = (hash >> 8) as usize % CORES_PER_AGG;
    let mut ports = vec![FROM_HOST + src];
    if from != to {
        ports.push(TOR_UP + from * AGGS_PER_POD + agg);
        if from_pod != to_pod {
            let place = |pod: usize| (pod * AGGS_PER_POD + agg) * CORES_PER_AGG + core;
            ports.push(AGG_UP + place(from_pod));
            ports.push(CORE_DOWN + place(to_pod));
        }
        ports.push(AGG_DOWN + to * AGGS_PER_POD + agg);
    }
    ports.push(TO_HOST + dst);
    let mut route = Route::default();
    for port in ports {
        route.ports[usize::from(route.len)] = port as u16;
        route.len += 1;
    }
    route
}

/// Spreads the bits of a number (the finalizer of MurmurHash3).
fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

impl Network {
    fn new() -> Self {
        let mut links: Vec<Link> = (0..PORTS).map(|_| Link::default()).collect();
        for (port, link) in links.iter_mut().enumerate() {
            link.delay_ps = DELAY_PS + if port < TOR_UP { STACK_PS } else { 0 };
        }
        Network {
            links,
            heap: Heap::default(),
            flows: Vec::new(),
            free: Vec::new(),
            hops: 0,
            done: 0,
        }
    }

    /// Appends a packet to a port's queue; marks it if too many bytes wait there.
    fn enqueue(&mut self, now_ps: u64, port: usize, mut packet: Packet) {
        let link = &mut self.links[port];
        while link.waiting > 0 {
            let first = &link.packets[link.packets.len() - link.waiting];
            if first.start_ps > now_ps {
                break;
            }
            link.waiting_bytes -= u64::from(first.bytes);
            link.waiting -= 1;
        }
        packet.is_marked |= !packet.is_ack && link.waiting_bytes > MARKED_ABOVE;
        packet.start_ps = link.busy_until_ps.max(now_ps);
        link.busy_until_ps = packet.start_ps + u64::from(packet.bytes) * PS_PER_BYTE;
        if packet.start_ps > now_ps {
            link.waiting += 1;
            link.waiting_bytes += u64::from(packet.bytes);
        }
        link.packets.push_back(packet);
        if link.packets.len() == 1 {
            let at_ps = link.busy_until_ps + link.delay_ps;
            self.heap.push(at_ps, port);
        }
    }

    /// The first packet of a link reaches its far end.
    fn serve(&mut self, now_ps: u64, port: usize) {
        let link = &mut self.links[port];
        let all_wait = link.waiting == link.packets.len();
        let Some(mut packet) = link.packets.pop_front() else {
            return;
        };
        if all_wait {
            link.waiting -= 1;
            link.waiting_bytes -= u64::from(packet.bytes);
        }
        if let Some(next) = link.packets.front() {
            let at_ps = next.start_ps + u64::from(next.bytes) * PS_PER_BYTE + link.delay_ps;
            self.heap.push(at_ps, port);
        }
        self.hops += 1;
        packet.hop += 1;
        let flow = &self.flows[packet.flow as usize];
        let route = if packet.is_ack {
            &flow.back
        } else {
            &flow.there
        };
        if packet.hop < route.len {
            let next = usize::from(route.ports[usize::from(packet.hop)]);
            self.enqueue(now_ps, next, packet);
        } else if packet.is_ack {
            self.take_ack(now_ps, &packet);
        } else {
            self.acknowledge(now_ps, &packet);
        }
    }

    fn acknowledge(&mut self, now_ps: u64, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        flow.received = flow.received.max(u64::from(packet.end));
        let ack = Packet {
            end: flow.received as u32,
            bytes: HEADER as u16,
            hop: 0,
            is_ack: true,
            ..*packet
        };
        let first = usize::from(flow.back.ports[0]);
        self.enqueue(now_ps, first, ack);
    }

    fn take_ack(&mut self, now_ps: u64, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        let newly = u64::from(packet.end).saturating_sub(flow.acked);
        flow.acked += newly;
        flow.window_bytes += newly;
        flow.marked_bytes += if packet.is_marked { newly } else { 0 };
        if flow.acked >= flow.window_end {
            let share = flow.marked_bytes as f64 / flow.window_bytes.max(1) as f64;
            flow.alpha += (share - flow.alpha) / 16.0;
            flow.window_end = flow.sent;
            (flow.window_bytes, flow.marked_bytes) = (0, 0);
        }
        if !packet.is_marked {
            let growth = if flow.cwnd < flow.ssthresh {
                newly as f64
            } else {
                (MSS * newly) as f64 / flow.cwnd
            };
            flow.cwnd = (flow.cwnd + growth).min(1000.0 * MSS as f64);
        } else if flow.acked > flow.cut_end {
            flow.cwnd = (flow.cwnd * (1.0 - flow.alpha / 2.0)).max(2.0 * MSS as f64);
            flow.ssthresh = flow.cwnd;
            flow.cut_end = flow.sent;
        }
        if flow.acked == flow.bytes {
            self.free.push(packet.flow);
            self.done += 1;
        } else {
            self.send(now_ps, packet.flow);
        }
    }

    /// Sends what the window allows.
    fn send(&mut self, now_ps: u64, number: u32) {
        loop {
            let flow = &mut self.flows[number as usize];
            let payload = (flow.bytes - flow.sent).min(MSS);
            let in_flight = flow.sent - flow.acked;
            if payload == 0 || (in_flight > 0 && (in_flight + payload) as f64 > flow.cwnd) {
                return;
            }
            flow.sent += payload;
            let packet = Packet {
                start_ps: 0,
                flow: number,
                end: flow.sent as u32,
                bytes: (payload + HEADER) as u16,
                hop: 0,
                is_ack: false,
                is_marked: false,
            };
            let first = usize::from(flow.there.ports[0]);
            self.enqueue(now_ps, first, packet);
        }
    }

    fn start(&mut self, number: u64, row: &Row) {
        let flow = Flow {
            there: route(row.src, row.dst, mix(2 * number)),
            back: route(row.dst, row.src, mix(2 * number + 1)),
            bytes: row.bytes,
            cwnd: 5.0 * MSS as f64,
            ssthresh: f64::INFINITY,
            alpha: 1.0,
            ..Flow::default()
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.flows.push(Flow::default());
            (self.flows.len() - 1) as u32
        });
        self.flows[slot as usize] = flow;
        self.send(row.start_ps, slot);
    }

    fn run(&mut self, rows: &[Row]) {
        let mut rows = (0..).zip(rows).peekable();
        loop {
            let next = self.heap.first_ps().unwrap_or(u64::MAX);
            if let Some((number, row)) = rows.next_if(|(_, row)| row.start_ps <= next) {
                self.start(number, row);
            } else if let Some((now_ps, port)) = self.heap.pop() {
                self.serve(now_ps, port);
            } else {
                return;
            }
        }
    }
}

struct Row {
    start_ps: u64,
    src: usize,
    dst: usize,
    bytes: u64,
}

fn read(path: &str) -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let row = |(i, line): (usize, &str)| {
        let wrong = || {
            format!(
                "{path}: line {} is invalid; expected start_ps,src,dst,bytes",
                i + 1
            )
        };
        let cells: Result<Vec<u64>, _> = line.split(',').map(str::parse).collect();
        match cells.map_err(|_| wrong())?[..] {
            [start_ps, src, dst, bytes] if src.max(dst) < HOSTS as u64 && src != dst => Ok(Row {
                start_ps,
                src: src as usize,
                dst: dst as usize,
                bytes,
            }),
            _ => Err(wrong()),
        }
    };
    text.lines().enumerate().skip(1).map(row).collect()
}

/// User time of this process, s, in hundredths.
fn user_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split(' ').nth(12));
    ticks
        .and_then(|ticks| ticks.parse::<f64>().ok())
        .unwrap_or(f64::NAN)
        / 100.0
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: loop FLOWS.csv");
        return ExitCode::from(2);
    };
    let rows = match read(&path) {
        Ok(rows) => rows,
        Err(message) => {
            eprintln!("loop: {message}");
            return ExitCode::from(2);
        }
    };
    let mut network = Network::new();
    network.run(&rows);
    let (hops, done, seconds) = (network.hops, network.done, user_seconds());
    println!("{{\"packet_hops\":{hops},\"flows\":{done},\"user_seconds\":{seconds}}}");
    ExitCode::SUCCESS
}

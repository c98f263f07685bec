//! A BBR flow on a link by a script: packets of 1000 bytes, 8 Mbps, 1 ms each; a round trip of 20 ms; no
//! buffer limit. Each step is an acknowledgment or a departure.

use std::collections::VecDeque;

use super::super::Echo;
use super::*;

const MSS: u64 = 1000;
const MS: u64 = 1_000_000_000;
const RTT_MS: u64 = 20;

/// Flow, link, and the acknowledgments on their way.
struct Path {
    control: BbrControl,
    window: Window,
    now_ps: u64,
    nxt: u64,
    una: u64,
    next_ps: u64,
    free_ps: u64,
    /// Arrival times of acknowledgments.
    acks: VecDeque<u64>,
    /// Time of a packet on the link, and round trip with it.
    link_ps: u64,
    rtt_ps: u64,
}

impl Path {
    fn new(flow: u64) -> Self {
        let mut control = BbrControl::default();
        control.on_start(&Start {
            now_ps: 0,
            link_bps: 1_000_000_000,
            flow,
        });
        Path {
            control,
            window: Window::new(10 * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, true),
            now_ps: 0,
            nxt: 0,
            una: 0,
            next_ps: 0,
            free_ps: 0,
            acks: VecDeque::new(),
            link_ps: MS,
            rtt_ps: RTT_MS * MS,
        }
    }

    fn state(&self) -> &State {
        &self.control.0
    }

    /// Packets that wait or are on the link.
    fn queue(&self) -> u64 {
        self.free_ps
            .saturating_sub(self.now_ps)
            .div_ceil(self.link_ps)
    }

    fn send(&mut self) {
        while self.nxt - self.una + MSS <= self.window.cwnd() && self.next_ps <= self.now_ps {
            let (now_ps, start) = (self.now_ps, self.nxt);
            self.nxt += MSS;
            self.control.0.delivery.sent(now_ps, start, self.nxt);
            if let Pace::Bps(bps) = self.control.on_sent(now_ps, MSS as u16) {
                self.next_ps = now_ps + 8 * MSS * 1_000_000_000_000 / bps;
            }
            self.free_ps = self.free_ps.max(now_ps) + self.link_ps;
            self.acks
                .push_back(self.free_ps + self.rtt_ps - self.link_ps);
        }
    }

    /// Runs to the next event: an acknowledgment or a departure.
    fn step(&mut self) {
        self.send();
        let has_room = self.nxt - self.una + MSS <= self.window.cwnd();
        let ack_ps = *self.acks.front().expect("packets are on the way");
        if has_room && self.next_ps < ack_ps {
            self.now_ps = self.next_ps;
            return;
        }
        self.now_ps = ack_ps;
        self.acks.pop_front();
        let delivery = &mut self.control.0.delivery;
        delivery.begin(self.now_ps, self.nxt - self.una);
        self.una += MSS;
        delivery.acknowledge(self.una);
        delivery.finish(self.nxt - self.una, false);
        let ack = Feedback {
            now_ps: self.now_ps,
            una: self.una,
            nxt: self.nxt,
            acked: MSS,
            echo: Echo::default(),
            after_loss: false,
            may_grow: true,
            rtt_ps: None,
            srtt_ps: self.rtt_ps,
            sent_ps: None,
        };
        self.control.on_ack(&mut self.window, &ack);
    }

    fn until(&mut self, seconds: u64) {
        while self.now_ps < seconds * 1000 * MS {
            self.step();
        }
    }
}

/// Constants of tcp_bbr.c in 1/256: 739, 88, 512; 320, 192 and 256.
#[test]
fn gains_are_those_of_linux() {
    assert_eq!((HIGH_GAIN, DRAIN_GAIN, WINDOW_GAIN), (739, 88, 512));
    assert_eq!(CYCLE, [320, 192, 256, 256, 256, 256, 256, 256]);
}

/// 99% of 8 Mbps times 5/4 is 9.9 Mbps. The product of 8 Mbps and 20 ms is 20 packets: with gain 1 and 3
/// more, even, 24; with gain 5/4 in its phase 25 + 3 = 28, and 2 more.
#[test]
fn pace_and_window_by_hand() {
    assert_eq!(paced_bps(8_000_000, CYCLE[0]), 9_900_000);
    let mut control = BbrControl::default();
    let state = &mut *control.0;
    state.mss = MSS;
    assert_eq!(state.product_packets(ONE), INITIAL_PACKETS);
    state.min_rtt_ps = RTT_MS * MS;
    state.bandwidth.add(BANDWIDTH_ROUNDS, 0, 8_000_000);
    assert_eq!(state.target(ONE), 24 * MSS);
    state.mode = Mode::ProbeBandwidth;
    assert_eq!(state.target(CYCLE[0]), 30 * MSS);
    state.phase = 1;
    assert_eq!(state.target(WINDOW_GAIN), 44 * MSS);
}

/// 80 Mbps and 100 ms, of which ten packets are a hundredth. Startup doubles the bandwidth in each round
/// (except for ten packets sent at once) up to the link's, waits for three rounds without growth, and
/// drain leaves less than the product and a few packets in flight.
#[test]
fn startup_doubles_and_drain_empties_the_queue() {
    let mut path = Path::new(1);
    (path.link_ps, path.rtt_ps) = (MS / 10, 100 * MS);
    let mut by_round = vec![0];
    while path.state().mode == Mode::Startup {
        path.step();
        let (round, bps) = (path.state().rounds as usize, path.state().bps());
        by_round.resize(round + 1, 0);
        by_round[round] = bps;
    }
    println!("bandwidth by round: {by_round:?}");
    assert_eq!(*by_round.last().expect("rounds"), 80_000_000);
    let full = by_round.iter().position(|&bps| bps >= 79_000_000);
    let full = full.expect("the link's rate");
    assert!((7..=9).contains(&full), "{by_round:?}");
    assert!(
        (full + 3..=full + 5).contains(&by_round.len()),
        "{by_round:?}"
    );
    for pair in by_round[3..full].windows(2) {
        let growth = pair[1] as f64 / pair[0] as f64;
        assert!((1.8..=2.9).contains(&growth), "{by_round:?}");
    }
    while path.state().mode == Mode::Drain {
        path.step();
    }
    assert_eq!(path.state().mode, Mode::ProbeBandwidth);
    assert!(path.nxt - path.una <= 1006 * MSS, "{}", path.nxt - path.una);
}

/// The phases last a shortest round trip each, in their order, with their pace: 99% of 8 Mbps times the
/// gain. The phase of 3/4 may end before, when the queue is empty.
#[test]
fn the_cycle_has_its_gains() {
    let mut path = Path::new(1);
    path.until(2);
    let mut phases = Vec::new();
    let mut last = usize::MAX;
    while phases.len() < 18 {
        path.step();
        let state = path.state();
        if state.phase != last {
            last = state.phase;
            phases.push((last, path.now_ps / MS));
        }
        let share = state.pacing_bps as f64 / 7_920_000.0;
        let gain = CYCLE[state.phase] as f64 / ONE as f64;
        assert!((share / gain - 1.0).abs() < 0.001, "{share} {gain}");
    }
    for pair in phases.windows(2).skip(1) {
        let [(phase, start), (next, end)] = pair else {
            panic!("pairs");
        };
        assert_eq!(*next, (phase + 1) % 8);
        let range = match phase {
            0 => 20..=45,
            1 => 0..=24,
            _ => 20..=24,
        };
        assert!(range.contains(&(end - start)), "{phases:?}");
    }
}

/// The first phase is drawn by flow and never has the gain 3/4.
#[test]
fn flows_begin_in_different_phases() {
    let first: Vec<usize> = (0..50)
        .map(|flow| {
            let mut control = BbrControl::default();
            control.0.random = flow;
            control.0.probe_bandwidth();
            control.0.phase
        })
        .collect();
    for phase in 0..8 {
        assert_eq!(first.contains(&phase), phase != 1, "{phase}");
    }
}

/// Ten seconds after the shortest round trip was last seen the window is four packets for 200 ms; then it
/// is as before. The queue is empty meanwhile.
#[test]
fn the_round_trip_is_measured_with_four_packets() {
    let mut path = Path::new(1);
    path.until(2);
    path.control.0.min_rtt_ps -= MS / 100; // no later round trip is as short
    let seen_ps = path.state().min_rtt_at_ps;
    while path.state().mode != Mode::ProbeRtt {
        path.step();
    }
    let before = path.state().prior_cwnd;
    assert!(path.now_ps - seen_ps >= 10_000 * MS && path.now_ps - seen_ps < 10_040 * MS);
    let start_ps = path.now_ps;
    let mut shortest_queue = u64::MAX;
    while path.state().mode == Mode::ProbeRtt {
        assert!(path.window.cwnd() <= 4 * MSS);
        path.step();
        shortest_queue = shortest_queue.min(path.queue());
    }
    let lasted_ms = (path.now_ps - start_ps) / MS;
    assert!((200..=290).contains(&lasted_ms), "{lasted_ms}");
    assert_eq!(shortest_queue, 0);
    assert!(path.window.cwnd() + 2 * MSS >= before);
    assert_eq!(path.state().min_rtt_ps, RTT_MS * MS);
}

/// The link's rate falls to half: the largest rate of the old link counts for ten rounds, and the window
/// of twice the product bounds the queue meanwhile. Later the estimate is the new rate.
#[test]
fn a_slower_link_is_noticed_after_ten_rounds() {
    let mut path = Path::new(1);
    path.until(2);
    path.link_ps = 2 * MS;
    let rounds = path.state().rounds;
    while path.state().rounds < rounds + 8 {
        path.step();
        assert!(path.state().bps() >= 7_900_000);
    }
    while path.state().rounds < rounds + 24 {
        path.step();
    }
    let bps = path.state().bps();
    assert!((3_990_000..=4_100_000).contains(&bps), "{bps}");
}

/// 30 packets are in flight when one is lost. In the first round of recovery the window is what is in
/// flight plus what arrives; afterwards it is again what it was.
#[test]
fn recovery_conserves_packets_for_a_round() {
    let mut control = BbrControl::default();
    let mut window = Window::new(30 * MSS, MSS as u32, 2 * MSS, 1000 * MSS, true);
    let mut ack = |control: &mut BbrControl, una: u64, block: u64, lost: u64, now_ms: u64| {
        let delivery = &mut control.0.delivery;
        delivery.begin(now_ms * MS, 30 * MSS);
        delivery.acknowledge_selectively(una * MSS + MSS, block * MSS);
        delivery.acknowledge(una * MSS);
        delivery.lose_below(lost * MSS);
        let in_flight = 30 - una - block.saturating_sub(una + 1) - u64::from(lost > una);
        delivery.finish(in_flight * MSS, lost > una);
        let feedback = Feedback {
            now_ps: now_ms * MS,
            una: una * MSS,
            nxt: 30 * MSS,
            acked: 0,
            echo: Echo::default(),
            after_loss: false,
            may_grow: false,
            rtt_ps: None,
            srtt_ps: RTT_MS * MS,
            sent_ps: None,
        };
        control.on_ack(&mut window, &feedback);
        window.cwnd() / MSS
    };
    for n in 0..30 {
        control.0.delivery.sent(n, n * MSS, (n + 1) * MSS);
    }
    // Four segments arrive behind the lost first one: 25 are in flight, and one has arrived.
    ack(&mut control, 0, 2, 0, 20);
    ack(&mut control, 0, 3, 0, 21);
    let before = control.0.cwnd;
    let mut unused = Window::new(30 * MSS, MSS as u32, 2 * MSS, 1000 * MSS, true);
    control.on_loss(&mut unused, 30 * MSS);
    assert_eq!(ack(&mut control, 0, 5, 1, 22), 25 + 2);
    assert_eq!(ack(&mut control, 0, 6, 1, 23), 27);
    assert_eq!(control.0.prior_cwnd, before);
    assert!(ack(&mut control, 30, 30, 0, 40) >= before / MSS);
}

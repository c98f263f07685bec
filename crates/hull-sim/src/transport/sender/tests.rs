//! A sender's handshake, bursts, reuse and size, by hand; segments of 1000 bytes, times in ms.

use super::*;
use crate::scenario::Transport;
use crate::transport::control::ControlName;
use crate::transport::rto::RtoConfig;
use crate::units::Share;

const MSS: u64 = 1000;
const MS_PS: u64 = 1_000_000_000;

fn config() -> SenderConfig {
    SenderConfig {
        window: Window::new(4 * MSS, MSS as u32, 2 * MSS, 100 * MSS, true),
        controller: control(ControlName::NewReno, &Transport::default()),
        rto: RtoConfig {
            initial_ps: 100 * MS_PS,
            min_ps: 10 * MS_PS,
            max_ps: 1000 * MS_PS,
            granularity_ps: 0,
        },
        receive_window: 100 * MSS,
        idle_restart: false,
        idle_decay: false,
        cwnd_validation: false,
        tso_win_divisor: 0,
        ecn: true,
        limited_transmit: true,
        handshake: true,
        samples_every_ack: false,
        samples_delivery: false,
        accurate_ecn: false,
        acknowledged: true,
        duplicate_threshold: 3,
        rack: None,
    }
}

/// Segments sent at `now_ms`: S for a SYN, otherwise the segment's number.
fn sent(sender: &mut Sender, now_ms: u64) -> Vec<String> {
    let mut sent = Vec::new();
    while let Some(segment) = sender.poll(now_ms * MS_PS) {
        assert!(!segment.syn || (segment.bytes, segment.ect) == (0, Codepoint::NotEct));
        sent.push(match segment.syn {
            true => "S".to_owned(),
            false => (segment.start / MSS).to_string(),
        });
    }
    sent
}

fn time_out(sender: &mut Sender) -> (u64, Vec<String>) {
    let now_ps = sender.rto_deadline_ps;
    sender.on_timeout(now_ps);
    (now_ps / MS_PS, sent(sender, now_ps / MS_PS))
}

/// Data waits for the SYN-ACK, which gives the RTT sample: R = 8, RTO = 8 + 4 * 4 = 24.
#[test]
fn data_waits_for_the_handshake() {
    let mut sender = Sender::new(&config());
    assert_eq!(sent(&mut sender, 0), [""; 0]);
    sender.write(10 * MSS);
    assert_eq!(sent(&mut sender, 0), ["S"]);
    assert_eq!(sender.rto_deadline_ps, 100 * MS_PS);
    assert_eq!(sent(&mut sender, 1), [""; 0]);
    sender.on_syn_ack(8 * MS_PS);
    assert_eq!(sender.rto_deadline_ps, NEVER);
    assert_eq!(sent(&mut sender, 8), ["0", "1", "2", "3"]);
    assert_eq!(sender.rto_deadline_ps, (8 + 24) * MS_PS);
    sender.on_syn_ack(9 * MS_PS); // the answer to a SYN that was not lost after all
    assert_eq!(sent(&mut sender, 9), [""; 0]);
    assert_eq!((sender.retransmissions, sender.timeouts), (0, 0));
}

/// SYNs leave at 0, 100 and 300. The SYN-ACK at 310 gives no RTT sample, as it may answer any of
/// them. Then one segment leaves, again with the initial timeout.
#[test]
fn lost_syn_is_retransmitted() {
    let mut sender = Sender::new(&config());
    sender.write(10 * MSS);
    assert_eq!(sent(&mut sender, 0), ["S"]);
    assert_eq!(time_out(&mut sender), (100, vec!["S".to_owned()]));
    assert_eq!(time_out(&mut sender), (300, vec!["S".to_owned()]));
    sender.on_syn_ack(310 * MS_PS);
    assert_eq!(sent(&mut sender, 310), ["0"]);
    assert_eq!(sender.rto_deadline_ps, 410 * MS_PS);
    assert_eq!((sender.srtt_ps(), sender.timeouts), (0, 2));
    assert_eq!(sender.retransmissions, 2);
    sender.on_ack(318 * MS_PS, MSS, Echo::default(), &[]);
    assert_eq!(sender.srtt_ps(), 8 * MS_PS);
    assert_eq!(sent(&mut sender, 318), ["1", "2"]);
}

/// The window allows four segments: a burst of at most 2.5 carries two, the next burst two. The
/// last bytes of the stream leave in the same burst as the full segments before them.
#[test]
fn bursts_are_whole_segments() {
    let mut sender = Sender::new(&SenderConfig {
        handshake: false,
        ..config()
    });
    let burst = |sender: &mut Sender, max_bytes| {
        let segment = sender.poll_burst(0, max_bytes);
        segment.map(|segment| (segment.start, segment.bytes))
    };
    sender.write(5300);
    assert_eq!(burst(&mut sender, 2500), Some((0, 2000)));
    assert_eq!(burst(&mut sender, 65_000), Some((2000, 2000)));
    assert_eq!(burst(&mut sender, 65_000), None);
    sender.on_ack(MS_PS, 2 * MSS, Echo::default(), &[]);
    assert_eq!(burst(&mut sender, 65_000), Some((4000, 1300)));
    assert_eq!(burst(&mut sender, 65_000), None);
}

/// A window of nine segments, half of which new data waits for: with nine outstanding, the first
/// four ACKs release nothing and the fifth releases five. A mark halves the window to 4.5, and data
/// does not wait until segment 14, the last from before the mark, is acknowledged. From then on it
/// waits for half of 5.5, later of 6.5. The last segment never waits.
#[test]
fn tso_win_divisor_defers_small_bursts() {
    let mut sender = Sender::new(&SenderConfig {
        window: Window::new(9 * MSS, MSS as u32, 2 * MSS, 9 * MSS, true),
        handshake: false,
        tso_win_divisor: 2,
        ..config()
    });
    let pieces = |sender: &mut Sender| {
        let mut pieces = Vec::new();
        while let Some(segment) = sender.poll_burst(0, 64_000) {
            pieces.push(u64::from(segment.bytes) / MSS);
        }
        pieces
    };
    sender.write(23 * MSS);
    assert_eq!(pieces(&mut sender), [9]);
    let mut sent = Vec::new();
    for acked in 1..=17 {
        sender.on_ack(MS_PS, acked * MSS, Echo::marks(acked == 6), &[]);
        sent.extend(pieces(&mut sender).iter().map(|&piece| (acked, piece)));
    }
    assert_eq!(sent, [(5, 5), (11, 2), (12, 1), (13, 1), (16, 4), (17, 1)]);
}

fn control(name: ControlName, settings: &Transport) -> Controller {
    Controller::new(&name, settings, None).expect("one of hull's")
}

/// RFC 5681, 3.1: thirty segments are lost. The first timeout sets the threshold to half of them
/// (CUBIC: 0.7) and the window to one segment; the second and third, of the same segment, change
/// neither. Six ACKs then grow the window to seven segments, and a timeout of another segment
/// halves it to 3.5 (CUBIC: 4.9). After new data is acknowledged, a timeout of the next segment at
/// a window of two gives the minimum threshold, two.
#[test]
fn repeated_timeout_of_a_segment_keeps_ssthresh() {
    let mut settings = Transport::default();
    settings.dctcp.g = Share(0);
    settings.vegas.gamma = 30;
    for (name, first, second) in [
        (ControlName::NewReno, 15_000, 3500),
        (ControlName::Dctcp, 15_000, 3500),
        (ControlName::Vegas, 15_000, 3500),
        (ControlName::Cubic, 21_000, 4900),
    ] {
        let mut sender = Sender::new(&SenderConfig {
            window: Window::new(30 * MSS, MSS as u32, 2 * MSS, 100 * MSS, true),
            controller: control(name, &settings),
            handshake: false,
            ..config()
        });
        sender.write(100 * MSS);
        assert_eq!(sent(&mut sender, 0).len(), 30);
        let threshold = |sender: &Sender| (sender.window().cwnd(), sender.window().ssthresh());
        for _ in 0..3 {
            assert_eq!(time_out(&mut sender).1, ["0"]);
            assert_eq!(threshold(&sender), (MSS, first));
        }
        for acked in 1..=6 {
            sender.on_ack(800 * MS_PS, acked * MSS, Echo::default(), &[]);
            sent(&mut sender, 800);
        }
        assert_eq!(sender.window().cwnd(), 7 * MSS);
        for _ in 0..2 {
            assert_eq!(time_out(&mut sender).1, ["6"]);
            assert_eq!(threshold(&sender), (MSS, second));
        }
        sender.on_ack(9000 * MS_PS, 7 * MSS, Echo::default(), &[]);
        sent(&mut sender, 9000);
        time_out(&mut sender);
        assert_eq!(threshold(&sender), (MSS, 2 * MSS));
    }
}

/// Large bursts carry the same bytes as single segments.
#[test]
fn burst_matches_polling() {
    for window in [1, 3, 7] {
        for unsent in [1, 999, 1000, 1001, 2500, 6999, 7000, 9000] {
            let config = SenderConfig {
                window: Window::new(window * MSS, MSS as u32, MSS, 100 * MSS, true),
                handshake: false,
                ..config()
            };
            let (mut one, mut many) = (Sender::new(&config), Sender::new(&config));
            one.write(unsent);
            many.write(unsent);
            let total = |sender: &mut Sender, max_bytes| {
                let mut bytes = 0;
                while let Some(segment) = sender.poll_burst(0, max_bytes) {
                    bytes += u64::from(segment.bytes);
                }
                bytes
            };
            assert_eq!(
                total(&mut one, 64_000),
                total(&mut many, 0),
                "{window} {unsent}"
            );
        }
    }
}

/// A sender that is reset after losses and timeouts equals a new one.
#[test]
fn reset_sender_equals_a_new_one() {
    let template = Sender::new(&config());
    let mut used = template.clone();
    used.write(10 * MSS);
    sent(&mut used, 0);
    used.on_syn_ack(8 * MS_PS);
    sent(&mut used, 8);
    used.on_ack(
        16 * MS_PS,
        0,
        Echo::default(),
        &[(MSS as u32, 2 * MSS as u32)],
    );
    time_out(&mut used);
    used.rto_event_ps = 77;
    used.reset(&template);
    assert_eq!(used.rto_event_ps, 77);
    used.rto_event_ps = NEVER;
    assert_eq!(format!("{used:?}"), format!("{template:?}"));
}

/// Blocks are found at the positions next to the acknowledgment when sequence numbers wrap.
#[test]
fn blocks_are_found_beyond_a_wrap() {
    let mut sender = Sender::new(&config());
    let ack = (1 << 32) - 500;
    let mut report = |block| sender.report(0, ack, ack + 5000, &[block]);
    assert!(report((500, 1500)));
    assert!(!report((500, 1500)), "known");
    assert!(!report((4000, 5000)), "not sent");
    assert!(report((0, 600)));
    let recovery = sender.recovery.expect("blocks were reported");
    assert_eq!(recovery.scoreboard.sacked_bytes(), 1500);
}

/// A repaired loss leaves no state.
#[test]
fn a_repaired_loss_is_forgotten() {
    let mut sender = Sender::new(&SenderConfig {
        handshake: false,
        ..config()
    });
    sender.write(8 * MSS);
    assert_eq!(sent(&mut sender, 0), ["0", "1", "2", "3"]);
    for received in [2, 3, 4] {
        sender.on_ack(
            MS_PS,
            0,
            Echo::default(),
            &[(MSS as u32, (received * MSS) as u32)],
        );
    }
    assert!(sender.recovery.is_some());
    assert_eq!(sent(&mut sender, 1), ["0", "4"]);
    sender.on_ack(2 * MS_PS, 5 * MSS, Echo::default(), &[]);
    assert!(sender.recovery.is_none());
}

#[test]
fn a_sender_is_three_cache_lines() {
    assert_eq!(size_of::<Sender>(), 192);
}

/// By hand: 4 segments of 1000 bytes per round trip of 10 ms are 3.2 Mbps, of which slow start has
/// twice; a window of 8 segments with a threshold of 8 is at least half of that, and has 1.2 times 6.4
/// Mbps.
#[test]
fn pacing_rate_is_that_of_linux() {
    let mut sender = Sender::new(&SenderConfig {
        handshake: false,
        ..config()
    });
    sender.write(100 * MSS);
    assert_eq!(sender.pacing_bps(), None);
    assert_eq!(sent(&mut sender, 0).len(), 4);
    sender.on_ack(10 * MS_PS, MSS, Echo::default(), &[]);
    // The window has grown by the acknowledged segment.
    assert_eq!(sender.pacing_bps(), Some(2 * 4_000_000));
    sender.window.set_cwnd(8 * MSS);
    sender.window.set_ssthresh(8 * MSS);
    assert_eq!(sender.pacing_bps(), Some(7_680_000));
}

/// A sender that its host's queue stops grows in slow start while its window is below twice the data in
/// the network, and not afterwards. By hand: 4, 3 and 2 segments are in the network before the
/// acknowledgments; 4 < 8 and 5 < 6, but not 6 < 4.
#[test]
fn window_does_not_grow_while_the_host_limits_it() {
    let mut sender = Sender::new(&SenderConfig {
        handshake: false,
        ..config()
    });
    sender.write(100 * MSS);
    assert_eq!(sent(&mut sender, 0).len(), 4);
    for (acked, cwnd) in [(1, 5), (2, 6), (3, 6)] {
        sender.note_host_limit();
        sender.on_ack(10 * MS_PS, acked * MSS, Echo::default(), &[]);
        assert_eq!(sender.window().cwnd(), cwnd * MSS, "{acked}");
    }
}

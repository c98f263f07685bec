//! The latency meter: which frames are probes, and how their stamps are matched and counted.

use hull_core::hardware::latency_meter::{Counts, Examined, LatencyMeter, Pattern};

/// The paper's ping: EtherType, protocol and ICMP type; the fourth word is unused.
const PING: Pattern = Pattern {
    offsets: [6, 11, 17, 0],
    values: [0x0800, 0x0001, 0x0800, 0],
    masks: [0xffff, 0x00ff, 0xffff, 0],
    sequence_offset: 20,
};

fn ping(sequence: u16) -> Vec<u8> {
    let mut frame = vec![0; 60];
    frame[12] = 0x08;
    frame[23] = 1;
    frame[34] = 8;
    frame[40..42].copy_from_slice(&sequence.to_be_bytes());
    frame
}

#[test]
fn only_a_complete_ping_is_a_probe() {
    let frame = ping(700);
    assert_eq!(PING.examine(&frame, false), Examined::Probe(700));
    assert_eq!(PING.examine(&frame[..42], false), Examined::Probe(700));
    assert_eq!(PING.examine(&frame, true), Examined::Other);
    for end in 14..42 {
        assert_eq!(
            PING.examine(&frame[..end], false),
            Examined::Truncated,
            "{end}"
        );
    }
    assert_eq!(PING.examine(&frame[..13], false), Examined::Other);
    let mut reply = frame;
    reply[34] = 0;
    assert_eq!(PING.examine(&reply, false), Examined::Other);
}

#[test]
fn timestamp_is_used_once() {
    let mut meter = LatencyMeter::new(5, 10);
    meter.enter(7, u64::MAX - 9);
    assert_eq!(
        meter.leave(39, 0, 0),
        None,
        "the same place, another number"
    );
    assert_eq!(meter.leave(7, 20, 4), Some(30));
    assert_eq!(meter.leave(7, 20, 4), None);
    meter.enter(8, 0);
    assert_eq!(meter.leave(8, 1 << 40, 4), Some(1 << 40));
    meter.enter(9, 0);
    meter.truncated();
    let expected = Counts {
        stamped: 3,
        matched: 2,
        unmatched: 2,
        outstanding: 1,
        truncated: 1,
        minimum: 30,
        maximum: 1 << 40,
        sum: (1 << 40) + 30,
    };
    assert_eq!(meter.counts(), expected);
    assert_eq!(
        (meter.bucket(1), meter.bucket(1023), meter.bucket(0)),
        (1, 1, 0)
    );
    meter.clear();
    assert_eq!(meter, LatencyMeter::new(5, 10));
}

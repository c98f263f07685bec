//! A FIFO port with Poisson arrivals of one packet size against the M/D/1 queue (Pollaczek-Khinchine):
//! mean wait `rho S / (2 (1 - rho))`, share of packets that do not wait `1 - rho` (PASTA), and the
//! time-weighted occupancy, which by Little's law is `rho` times the mean wait when it is expressed
//! as drain time of the waiting bytes. Tolerance 2%.

use hull_sim::network::{
    BufferLimit, NO_OPTIONS, OptionTable, Packet, Port, PortConfig, Verdict, flags,
};
use hull_sim::random::{Purpose, Stream};

use super::star::assert_near;

const RATE_BPS: u64 = 1_000_000_000;
const BYTES: u16 = 1500;
const SERVICE_PS: f64 = 12e6;

fn port() -> Port {
    let config = PortConfig::plain(RATE_BPS, 1_000_000, BufferLimit::Unlimited);
    let mut port = Port::new(config);
    port.watch(RATE_BPS, false);
    port
}

fn packet() -> Packet {
    Packet {
        seq: 0,
        ack: 0,
        flow: 0,
        options: NO_OPTIONS,
        wire_bytes: BYTES,
        hop: 0,
        flags: flags::DATA,
    }
}

/// Offers `packets` Poisson arrivals at load `rho` and compares.
fn compare(rho: f64, packets: u64) {
    let mut port = port();
    let mut options = OptionTable::default();
    let mut gaps = Stream::new(7, Purpose::Arrivals, (rho * 10.0) as usize);
    let (mut now_ps, mut waited_ps, mut straight) = (0, 0, 0);
    for _ in 0..packets {
        now_ps += gaps.exponential(SERVICE_PS / rho);
        match port.enqueue(now_ps, now_ps, &mut packet(), &mut options) {
            Verdict::Accepted { start_ps, .. } => {
                waited_ps += start_ps - now_ps;
                straight += u64::from(start_ps == now_ps);
            }
            Verdict::Queued { .. }
            | Verdict::Held { .. }
            | Verdict::HandedOver
            | Verdict::Dropped => {
                panic!("an unlimited buffer dropped a packet")
            }
        }
    }
    let expected_us = rho * SERVICE_PS / (2.0 * (1.0 - rho)) * 1e-6;
    let mean_us = waited_ps as f64 / packets as f64 * 1e-6;
    assert_near("mean wait, us", mean_us, expected_us, 0.02);
    let share = straight as f64 / packets as f64;
    assert_near("packets without a wait", share, 1.0 - rho, 0.02);
    let reading = port.reading(now_ps, &mut options);
    assert_eq!(reading.waited_ps, waited_ps);
    assert_eq!(u64::from(reading.waited_packets), packets);
    let queue = &mut port.watched().expect("set above").occupancy;
    let queue_us = queue.latencies_us(now_ps).0;
    assert_near("occupancy / rho, us", queue_us / rho, expected_us, 0.02);
}

#[test]
fn light_load() {
    compare(0.3, 3_000_000);
}

#[test]
fn medium_load() {
    compare(0.6, 3_000_000);
}

#[test]
fn heavy_load() {
    compare(0.8, 5_000_000);
}

//! Cost of a packet: each program runs a million times on one packet (`BPF_PROG_TEST_RUN`); the
//! result is JSON. The cost of the kernel's loop, measured with a program that finds empty settings
//! and returns, is subtracted.
//!
//! `cargo run --release --example overhead`, as root.

#[path = "../tests/common/mod.rs"]
mod common;

use std::mem::MaybeUninit;

use bytemuck::{Zeroable, bytes_of};
use common::{ACK, ECE, Injected, Segment, run};
use hull_linux::maps;
use hull_linux::programs::{pacer::PacerSkelBuilder, phantom_queue::PhantomQueueSkelBuilder};
use hull_linux::settings::Settings;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags};

const SLOT: u32 = 0;
const REPEAT: u32 = 1_000_000;

fn main() {
    let settings = Settings::for_rate(10_000_000_000);
    let frame = Segment {
        payload: 1400,
        ..Segment::default()
    };
    let ns = |program: &libbpf_rs::ProgramMut<'_>, frame: &[u8]| {
        run(program, frame, Injected::default(), REPEAT).ns
    };

    let mut storage = MaybeUninit::uninit();
    let open = PhantomQueueSkelBuilder::default()
        .open(&mut storage)
        .expect("opens");
    let skel = open.load().expect("loads (as root)");
    let bare = ns(&skel.progs.phantom, &frame.frame());
    let queue = maps::PhantomQueue::zeroed();
    let mut phantom = maps::PhantomSettings::from(&settings.phantom_queue());
    phantom.threshold_units = u64::MAX;
    let put = |map: &dyn MapCore, key: &[u8], value: &[u8]| {
        map.update(key, value, MapFlags::ANY).expect("fits");
    };
    put(
        &skel.maps.phantom_queues,
        &SLOT.to_ne_bytes(),
        bytes_of(&queue),
    );
    put(
        &skel.maps.phantom_settings,
        &SLOT.to_ne_bytes(),
        bytes_of(&phantom),
    );
    let below = ns(&skel.progs.phantom, &frame.frame());
    phantom.threshold_units = 0;
    phantom.count_arriving = 1;
    put(
        &skel.maps.phantom_settings,
        &SLOT.to_ne_bytes(),
        bytes_of(&phantom),
    );
    let above = ns(&skel.progs.phantom, &frame.frame());

    let mut storage = MaybeUninit::uninit();
    let open = PacerSkelBuilder::default()
        .open(&mut storage)
        .expect("opens");
    let skel = open.load().expect("loads (as root)");
    let key = SLOT.to_ne_bytes();
    let pacer = maps::PacerSettings::new(&settings.departure_pacer(), 0);
    put(&skel.maps.pacer_settings, &key, bytes_of(&pacer));
    put(&skel.maps.pacers, &key, bytes_of(&maps::Pacer::zeroed()));
    let association = maps::AssociationSettings {
        timeout_ns: 1 << 40,
        probability: settings.probability(),
        reserved: 0,
    };
    put(
        &skel.maps.association_settings,
        &key,
        bytes_of(&association),
    );
    put(
        &skel.maps.association_counts,
        &key,
        bytes_of(&maps::AssociationCounts::zeroed()),
    );
    let passing = ns(&skel.progs.pacer_egress, &frame.frame());
    let mut flow = maps::Flow::zeroed();
    flow.source[..4].copy_from_slice(&[10, 0, 0, 1]);
    flow.destination[..4].copy_from_slice(&[10, 0, 0, 2]);
    flow.source_port = frame.ports.0.to_be_bytes();
    flow.destination_port = frame.ports.1.to_be_bytes();
    put(
        &skel.maps.associations,
        bytes_of(&flow),
        &u64::MAX.to_ne_bytes(),
    );
    let paced = ns(&skel.progs.pacer_egress, &frame.frame());
    let ack = Segment {
        payload: 0,
        reply: true,
        ..Segment::default()
    };
    let plain = ns(&skel.progs.association_ingress, &ack.frame());
    let echo = Segment {
        flags: ACK | ECE,
        ..ack
    };
    let echoes = ns(&skel.progs.association_ingress, &echo.frame());
    println!(
        "{}",
        serde_json::json!({
            "unit": "ns a packet",
            "loop": bare,
            "phantom_queue": {"below_threshold": below - bare, "above_threshold": above - bare},
            "pacer": {"not_associated": passing - bare, "associated": paced - bare},
            "association": {"ack": plain - bare, "echo": echoes - bare},
        })
    );
}

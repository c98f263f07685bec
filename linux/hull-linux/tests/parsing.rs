//! Frames of every shape, whole and broken: a mark goes where RFC 3168 has it or nowhere.

mod common;

use std::mem::MaybeUninit;

use bytemuck::{Zeroable, bytes_of};
use common::harness::Tried;
use common::loaded::{self, get, put};
use common::{ACK, ECE, Injected, Segment, able, checksum, ecn, run, run_segmented, try_run};
use hull_linux::maps;
use hull_linux::programs::pacer::PacerSkel;
use hull_linux::programs::phantom_queue::PhantomQueueSkel;
use libbpf_rs::OpenObject;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A phantom queue with a threshold that every packet is above.
fn marking(storage: &mut MaybeUninit<OpenObject>, injected: bool) -> PhantomQueueSkel<'_> {
    let skel = loaded::phantom_queue(storage, injected);
    let settings = maps::PhantomSettings {
        byte_units: 1 << 40,
        threshold_units: 0,
        most_bytes: 1 << 20,
        tick_ps: 0,
        count_arriving: 1,
        reserved: 0,
    };
    put(&skel.maps.phantom_settings, bytes_of(&settings));
    put(
        &skel.maps.phantom_queues,
        bytes_of(&maps::PhantomQueue::zeroed()),
    );
    skel
}

fn state(skel: &PhantomQueueSkel<'_>) -> maps::PhantomQueue {
    get(&skel.maps.phantom_queues)
}

const ANY: Injected = Injected {
    time: 1,
    bytes: 100,
    random: 0,
};

/// Frame after marking as RFC 3168 requires, written independently of the programs.
fn marked(frame: &[u8]) -> Vec<u8> {
    let mut out = frame.to_vec();
    let mut at = 12;
    let word = |at: usize| {
        frame
            .get(at..at + 2)
            .map(|two| u16::from_be_bytes([two[0], two[1]]))
    };
    let mut tags = 0;
    while tags < 2 && matches!(word(at), Some(0x8100 | 0x88a8)) {
        at += 4;
        tags += 1;
    }
    let network = at + 2;
    match word(at) {
        Some(0x0800) => {
            let Some(first) = frame.get(network..network + 20) else {
                return out;
            };
            let length = usize::from(first[0] & 15) * 4;
            if first[0] >> 4 != 4
                || length < 20
                || network + length > frame.len()
                || first[1] & 3 == 0
            {
                return out;
            }
            let header = &mut out[network..network + 20];
            if header[1] & 3 != 3 {
                // RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
                let old = u32::from(u16::from_be_bytes([header[0], header[1]]));
                header[1] |= 3;
                let new = u32::from(u16::from_be_bytes([header[0], header[1]]));
                let sum = u32::from(!u16::from_be_bytes([header[10], header[11]]));
                let mut sum = sum + (!old & 0xffff) + new;
                while sum > 0xffff {
                    sum = (sum & 0xffff) + (sum >> 16);
                }
                header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
            }
        }
        Some(0x86dd) => {
            let Some(first) = frame.get(network..network + 40) else {
                return out;
            };
            if first[0] >> 4 == 6 && (first[1] >> 4) & 3 != 0 {
                out[network + 1] |= 0x30;
            }
        }
        _ => {}
    }
    out
}

/// Compares frames; two checksums with the same meaning (0 and 0xffff, RFC 1624 section 3) are
/// equal.
fn same(found: &[u8], expected: &[u8]) -> bool {
    found == expected || {
        let network = (0..=2)
            .map(|tags| 14 + 4 * tags)
            .find(|&at| found.get(at..at + 20) != expected.get(at..at + 20));
        network.is_some_and(|at| {
            let (mut a, mut b) = (found.to_vec(), expected.to_vec());
            let zeroes = [[0, 0], [0xff, 0xff]];
            let sums = [[a[at + 10], a[at + 11]], [b[at + 10], b[at + 11]]];
            a[at + 10..at + 12].fill(0);
            b[at + 10..at + 12].fill(0);
            a == b && sums.iter().all(|sum| zeroes.contains(sum))
        })
    }
}

fn segments() -> Vec<Segment> {
    let mut all = Vec::new();
    for ecn in 0..4 {
        for vlan_tags in 0..3 {
            for tcp_option_words in 0..=10 {
                let segment = Segment {
                    ecn,
                    vlan_tags,
                    tcp_option_words,
                    ..Segment::default()
                };
                all.extend((0..=10).map(|ip_option_words| Segment {
                    ip_option_words,
                    ..segment.clone()
                }));
                all.extend((0..=3).map(|extensions| Segment {
                    ipv6: true,
                    extensions,
                    ..segment.clone()
                }));
            }
        }
    }
    all
}

fn every_frame_type_is_marked_in_its_header() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = marking(&mut storage, true);
    let mut counts = [0; 4];
    for segment in segments() {
        let frame = segment.frame();
        let ran = run(&skel.progs.phantom, &frame, ANY, 1);
        assert_eq!(ran.verdict, -1);
        let expected = if segment.ecn == 0 { 0 } else { 3 };
        assert_eq!(ecn(&ran.frame, segment.network()), expected, "{segment:?}");
        assert!(same(&ran.frame, &marked(&frame)), "{segment:?}");
        if !segment.ipv6 {
            let header = segment.network()..segment.network() + 20 + 4 * segment.ip_option_words;
            assert_eq!(checksum(&ran.frame[header]), 0, "{segment:?}");
        }
        counts[usize::from(segment.ecn)] += 1;
    }
    let state = state(&skel);
    assert_eq!(state.not_capable, counts[0]);
    assert_eq!(state.already_marked, counts[3]);
    assert_eq!(state.marked, counts[1] + counts[2]);
    assert_eq!(state.packets, counts.iter().sum::<u64>());
    Ok(())
}

fn truncated_frames_are_never_mismarked() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = marking(&mut storage, true);
    let (mut tried, mut refused) = (0, 0);
    for segment in segments().into_iter().step_by(17) {
        let frame = segment.frame();
        for length in 14..frame.len() {
            let Some(ran) = try_run(&skel.progs.phantom, &frame[..length], ANY) else {
                refused += 1;
                continue;
            };
            tried += 1;
            assert!(
                same(&ran.frame, &marked(&frame[..length])),
                "{segment:?}, {length} bytes"
            );
        }
    }
    println!("{tried} frames, {refused} more refused by the kernel");
    assert!(tried > refused);
    Ok(())
}

fn frames() -> impl Strategy<Value = Vec<u8>> {
    let any_bytes = prop::collection::vec(any::<u8>(), 14..120);
    // A whole segment with some bytes changed, and cut.
    let shapes = segments();
    let changed = (
        prop::sample::select(shapes),
        prop::collection::vec((0_usize..90, any::<u8>()), 0..6),
        14_usize..200,
    );
    let changed = changed.prop_map(|(segment, changes, length)| {
        let mut frame = segment.frame();
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        frame.truncate(length);
        frame
    });
    prop_oneof![1 => any_bytes, 4 => changed]
}

fn random_frames_are_marked_correctly_or_untouched() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = marking(&mut storage, true);
    let mut pacer_storage = MaybeUninit::uninit();
    let pacer = associating(&mut pacer_storage);
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(5000)
    });
    let result = runner.run(&frames(), |frame| {
        let Some(ran) = try_run(&skel.progs.phantom, &frame, ANY) else {
            return Ok(());
        };
        // The kernel's own helper marks by its idea of the protocol, which is the frame's protocol.
        prop_assert!(same(&ran.frame, &marked(&frame)));
        for program in [&pacer.progs.association_ingress, &pacer.progs.pacer_egress] {
            let ran = run(program, &frame, ANY, 1);
            prop_assert_eq!(&ran.frame, &frame);
        }
        Ok(())
    });
    result.expect("holds");
    Ok(())
}

/// Association of every ECN-Echo.
fn associating(storage: &mut MaybeUninit<OpenObject>) -> PacerSkel<'_> {
    let skel = loaded::pacer(storage, 4096);
    let settings = maps::AssociationSettings {
        timeout_ns: 1000,
        probability: u32::MAX,
        reserved: 0,
    };
    put(&skel.maps.association_settings, bytes_of(&settings));
    let counts = maps::AssociationCounts::zeroed();
    put(&skel.maps.association_counts, bytes_of(&counts));
    skel
}

fn echoes_are_found_behind_every_header() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = associating(&mut storage);
    for segment in segments() {
        for (flags, expected) in [
            (ACK | ECE, true),
            (ACK, false),
            (ECE, false),
            (ACK | ECE | 2, false),
        ] {
            let echo = Segment {
                flags,
                payload: 0,
                ..segment.clone()
            };
            let ran = run(&skel.progs.association_ingress, &echo.frame(), ANY, 1);
            assert_eq!(ran.associated, expected, "{echo:?}");
        }
    }
    Ok(())
}

fn later_fragments_have_no_ports() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = associating(&mut storage);
    let echo = Segment {
        flags: ACK | ECE,
        ..Segment::default()
    };
    let mut fragment = echo.frame();
    for (offset, expected) in [
        ([0x20, 0], true),
        ([0, 1], false),
        ([0x1f, 0xff], false),
        ([0x40, 0], true),
    ] {
        fragment[20..22].copy_from_slice(&offset);
        let ran = run(&skel.progs.association_ingress, &fragment, ANY, 1);
        assert_eq!(ran.associated, expected, "{offset:?}");
    }
    // IPv6: a fragment header in front of TCP, offset 0 and 1.
    for (offset, expected) in [([0, 1], true), ([0, 8], false)] {
        let mut fragment = Segment {
            ipv6: true,
            extensions: 1,
            flags: ACK | ECE,
            ..Segment::default()
        }
        .frame();
        fragment[20] = 44;
        let tcp = fragment.split_off(54 + 16);
        fragment.truncate(54);
        fragment.extend([6, 0, offset[0], offset[1], 0, 0, 0, 1]);
        fragment.extend(tcp);
        let ran = run(&skel.progs.association_ingress, &fragment, ANY, 1);
        assert_eq!(ran.associated, expected, "{offset:?}");
    }
    Ok(())
}

/// Segments that the NIC will cut (GSO), and what GRO has joined: each with its headers.
fn segmented_packets_count_their_wire_bytes() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = marking(&mut storage, false);
    let frame = Segment {
        payload: 3000,
        ..Segment::default()
    }
    .frame();
    let length = frame.len() as u64;
    // Egress: the kernel has counted 3 segments of 1000 bytes with 54 bytes of headers each.
    run_segmented(&skel.progs.phantom, &frame, length as u32 + 2 * 54, 3, 1000);
    assert_eq!(state(&skel).bytes, length + 2 * 54);
    // GRO: the same is worked out from the number of segments.
    run_segmented(&skel.progs.phantom, &frame, 0, 3, 1000);
    assert_eq!(state(&skel).bytes, 2 * (length + 2 * 54));
    run_segmented(&skel.progs.phantom, &frame, 0, 0, 0);
    assert_eq!(state(&skel).bytes, 2 * (length + 2 * 54) + length);
    Ok(())
}

tests!(
    every_frame_type_is_marked_in_its_header,
    truncated_frames_are_never_mismarked,
    random_frames_are_marked_correctly_or_untouched,
    echoes_are_found_behind_every_header,
    later_fragments_have_no_ports,
    segmented_packets_count_their_wire_bytes,
);

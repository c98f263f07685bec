//! The watchdog of pauses against times and counts by hand, and against the deadlock of a ring
//! (`deadlock.rs`), which it breaks. No packet is lost or invented: [`run`] fails otherwise.

use hull_sim::measure::{PauseCount, PauseSummary, WatchdogSummary, drops_by_place};
use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::{self, Control, Failure, Outcome};

use super::deadlock::RING;
use super::star::{US_PS, run};

/// A sender at 8 Gbps, 1 us for each packet, and a receiver behind a link of 8 Mbps, 1 ms for each packet.
/// The links have a delay of 1 us, so a pause frame takes 1.064 us.
///
/// Packet k of the sender is at switch 0 at k + 1 us, sent until k + 2 and at switch 1 at k + 3. The 21st finds
/// 20 packets there, the threshold, at 24 us: a pause of switch 0 from 25.064 us on. Packet 24 is then on the
/// wire; packet 25 comes at 26 us and waits. The 21st packet that waits, number 45, comes at 46 us, and the
/// sender pauses at 47.064 us, in packet 48: 24 packets wait.
const LINE: &str = r#"
name = "line"
run = { duration = "10ms", drain = "0s" }
host = { rate = "8Gbps", delay = "1us", queue = "fifo" }
[topology]
graph.text = '''{
  "nodes": [
    {"id": "h0", "kind": "host"}, {"id": "h1", "kind": "host"},
    {"id": "s0", "kind": "switch"}, {"id": "s1", "kind": "switch"}
  ],
  "edges": [
    {"source": "h0", "target": "s0"}, {"source": "s0", "target": "s1"}, {"source": "h1", "target": "s1"}
  ]
}'''
links = [{ link = "h1--s1", rate = "8Mbps" }]
[switch]
rate = "8Gbps"
delay = "1us"
count_in_service = true
[switch.pfc]
xoff = "20KB"
hysteresis = "2KB"
reaction = "0s"
watchdog = { detection = "1ms", restoration = "2000500ns" }
[transport]
congestion_control = "constant_rate"
mtu = "1000B"
framing = "0B"
constant_rate = { rate = "8Gbps" }
[workload.long_lived]
flows = [{ src = 0, dst = 1 }]
"#;

fn scenario(text: &str, settings: &[&str]) -> Scenario {
    let settings = Vec::from_iter(settings.iter().map(|&setting| setting.to_owned()));
    match scenario::expand(text, "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// What the watchdog did.
fn watchdog(outcome: &Outcome) -> WatchdogSummary {
    let all = PauseSummary::of(&outcome.pauses, outcome.locks);
    let watchdog = all.and_then(|all| all.watchdog);
    watchdog.expect("a watchdog")
}

/// The same in a run of the line that ends at `end_ns`.
fn until(end_ns: u64, settings: &[&str]) -> (WatchdogSummary, Outcome) {
    let end = format!("run.duration={end_ns}ns");
    let outcome = run(&scenario(LINE, &[settings, &[end.as_str()]].concat()), 1);
    (watchdog(&outcome), outcome)
}

/// Packets lost at switches that the watchdog did not discard.
fn without_room(outcome: &Outcome) -> u64 {
    outcome.pauses.iter().map(|row| row.counts.drops).sum()
}

/// A packet waits from 26 us on, so the storm is detected at 1,026 us; all 24 packets are discarded.
#[test]
fn a_storm_is_detected_after_the_detection_time() {
    let (before, _) = until(1_025_999, &[]);
    assert_eq!((before.storms, before.discarded), (0, 0));
    let (after, outcome) = until(1_026_001, &[]);
    assert_eq!((after.storms, after.restored), (1, 0));
    assert_eq!(after.discarded, 24);
    assert_eq!(outcome.packets.dropped, 24);
    let stormed = |row: &&PauseCount| row.storms.is_some_and(|storms| storms.detected > 0);
    let row = outcome.pauses.iter().find(stormed).expect("a storm");
    assert_eq!(
        (row.from.as_str(), row.to.as_str(), row.class),
        ("s0", "s1", 0)
    );
    // The pause counts until the watchdog ends it: 1,026 - 25.064 us.
    assert_eq!(row.counts.paused_ps, 1_000_936_000);
}

/// Switch 1 holds 24 packets. The sixth has left at 6,004 us: 18 are 2 KB below the threshold, and the frame to
/// resume is at switch 0 at 6,005.064 us. The storm is over 2,000.5 us later. The sender resumed at 1,027.064 us;
/// its packets come from 1,029.064 us on, one each us, and 6,977 of them are discarded.
#[test]
fn a_storm_is_over_after_the_restoration_time() {
    let (before, _) = until(8_005_563, &[]);
    assert_eq!((before.storms, before.restored), (1, 0));
    let (after, outcome) = until(8_005_565, &[]);
    assert_eq!((after.storms, after.restored), (1, 1));
    assert_eq!(after.discarded, 24 + 6_977);
    let places = drops_by_place(&outcome.links, None, None);
    assert_eq!(places["watchdog"], after.discarded);
    assert_eq!(places.values().sum::<u64>(), outcome.packets.dropped);
    assert_eq!(without_room(&outcome), 0);
    // The pauses hold again: switch 1 gets 24 packets again at most, and no packet is lost.
    let (later, _) = until(8_500_000, &[]);
    assert_eq!(later, after);
}

/// Without a frame that resumes before, pauses that are not renewed stand for their time: 10,000 quanta at 8
/// Gbps are 640 us. The first, from 25.064 us on, expires before it is a storm.
#[test]
fn pauses_that_expire_are_no_storm() {
    let (expiring, outcome) = until(
        5_000_000,
        &["switch.pfc.renewal=expiry", "switch.pfc.quanta=10000"],
    );
    assert_eq!(expiring.storms, 0);
    assert!(without_room(&outcome) == 0 || outcome.packets.dropped > 0);
}

/// With `renewal = "never"` a pause stands until the frame to resume, so all times are the same.
#[test]
fn pauses_without_renewal_stand_until_the_frame_to_resume() {
    let never = &["switch.pfc.renewal=never"];
    let (before, _) = until(8_005_563, never);
    assert_eq!((before.storms, before.restored), (1, 0));
    let (after, _) = until(8_005_565, never);
    assert_eq!((after.restored, after.discarded), (1, 24 + 6_977));
}

/// Forwarded packets overrun switch 1, whose losses the watchdog did not discard; an alert changes nothing in the
/// run.
#[test]
fn the_other_actions_discard_nothing() {
    let (forward, outcome) = until(3_000_000, &["switch.pfc.watchdog.action=forward"]);
    assert_eq!((forward.storms, forward.discarded), (1, 0));
    assert!(without_room(&outcome) > 1_000);
    assert_eq!(without_room(&outcome), outcome.packets.dropped);
    let (alert, watched) = until(5_000_000, &["switch.pfc.watchdog.action=alert"]);
    assert_eq!((alert.storms, alert.restored, alert.discarded), (1, 0, 0));
    let plain = LINE.replace("watchdog = {", "# {");
    let plain = run(&scenario(&plain, &["run.duration=5ms"]), 1);
    assert_eq!(plain.packets, watched.packets);
    let counts = |outcome: &Outcome| Vec::from_iter(outcome.pauses.iter().map(|row| row.counts));
    assert_eq!(counts(&plain), counts(&watched));
    assert!(plain.locks.is_none() && plain.pauses.iter().all(|row| row.storms.is_none()));
}

/// The ring locks. An alert counts the deadlock, which lasts from the time that ends the run without a watchdog
/// to the end. Discarding and forwarding break it, and the hosts get packets again.
#[test]
fn a_ring_that_locks_recovers() {
    let plain = scenario(RING, &[]);
    let simulation = simulation::build(&plain, 1, None).expect("valid");
    let Err(Failure::Deadlock(locked)) = simulation.run(&Control::default()) else {
        panic!("no deadlock");
    };
    let with = |action: &str| {
        let action = format!(
            "switch.pfc.watchdog={{detection=\"1ms\",restoration=\"1ms\",action=\"{action}\"}}"
        );
        let outcome = run(&scenario(RING, &[&action]), 1);
        (watchdog(&outcome), outcome)
    };
    let (alert, stuck) = with("alert");
    assert_eq!((alert.deadlocks, alert.discarded), (1, 0));
    assert_eq!(alert.storms, 5);
    let locked_us = (20_000 * US_PS - locked.since_ps) as f64 * 1e-6;
    assert!(
        (alert.locked_us - locked_us).abs() < 1e-6,
        "{alert:?} {locked_us}"
    );
    for action in ["drop", "forward"] {
        let (broken, outcome) = with(action);
        assert!(
            broken.deadlocks > 0 && broken.storms > 0,
            "{action} {broken:?}"
        );
        // Ignored pauses do not end while the ring is overloaded.
        assert_eq!(broken.restored > 0, action == "drop", "{broken:?}");
        // It locks again, each time for the detection time and the time of two checks, 104.8 us each.
        let most_us = broken.deadlocks as f64 * 1_250.0;
        assert!(broken.locked_us < most_us, "{action} {broken:?}");
        assert!(
            outcome.packets.delivered > 2 * stuck.packets.delivered,
            "{action}"
        );
        let lost = broken.discarded + without_room(&outcome);
        assert_eq!(lost, outcome.packets.dropped, "{action}");
        assert_eq!(broken.discarded > 0, action == "drop");
    }
}

/// All of a link, several classes in turn, a shared memory, and a link that fails in a storm: the watchdog's
/// packets and those without room are all that is lost on working links.
#[test]
fn packets_are_conserved() {
    let watchdog_of = "switch.pfc.watchdog={detection=\"200us\",restoration=\"300us\"}";
    let fails = "topology.failures=[{link=\"s1--s2\",at=\"1050us\",until=\"3ms\"}]";
    for settings in [
        &["switch.pfc.whole_link=true", "switch.priorities=2"][..],
        &["switch.priorities=2", "switch.dwrr={weights=[1,3]}"],
        &["switch.memory={size=\"400KB\"}"],
        &[fails],
        &[fails, "switch.pfc.watchdog.action=forward"],
    ] {
        let all = [&[watchdog_of, "run.duration=5ms"][..], settings].concat();
        let outcome = run(&scenario(RING, &all), 1);
        let found = watchdog(&outcome);
        assert!(found.storms > 0, "{settings:?} {found:?}");
        let places = drops_by_place(&outcome.links, Some(outcome.drops_without_route), None);
        assert_eq!(
            places.values().sum::<u64>(),
            outcome.packets.dropped,
            "{settings:?}"
        );
        assert_eq!(places["watchdog"], found.discarded);
        let failed = places["failed_links"] + places["no_route"];
        let lost = found.discarded + failed + without_room(&outcome);
        assert_eq!(lost, outcome.packets.dropped, "{settings:?} {places:?}");
    }
}

/// SONiC's defaults: 200 ms for both times; after a detection time alone twice as much.
#[test]
fn defaults_are_those_of_sonic() {
    let times = |settings: &[&str]| {
        let found = scenario(&LINE.replace("watchdog = {", "# {"), settings);
        let pfc = found.switch.pfc.expect("pauses");
        let watchdog = pfc.watchdog.expect("a watchdog");
        [watchdog.detection.0, watchdog.restoration.0].map(|time_ps| time_ps / (1_000 * US_PS))
    };
    assert_eq!(times(&["switch.pfc.watchdog={}"]), [200, 200]);
    assert_eq!(times(&["switch.pfc.watchdog.detection=400ms"]), [400, 800]);
    for (setting, parts) in [
        (
            "switch.pfc.watchdog.detection=0s",
            ["detection", "at most 5s"],
        ),
        (
            "switch.pfc.watchdog.restoration=61s",
            ["restoration", "at most 60s"],
        ),
        ("switch.pfc.watchdog.action=stop", ["action", "forward"]),
    ] {
        let refused = scenario::expand(LINE, "test.toml", &[setting.to_owned()]);
        let told = refused.expect_err("refused").to_string();
        for part in parts {
            assert!(told.contains(part), "{told}");
        }
    }
}

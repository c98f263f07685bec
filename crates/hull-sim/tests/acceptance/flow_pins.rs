//! Flows of a list whose column `via` names the switch that their data must pass: bytes counted at each
//! link, by hand. A flow of 100 full segments of 1,460 bytes payload puts 100 packets of 1,500 bytes on each
//! link of its path, and on no other; acknowledgments go the other way.

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::{self, Control, Outcome};

use super::star::run;

/// Two leaves of four hosts, and four spines; the flows are 100 full segments.
const LEAF_SPINE: &str = r#"
name = "pins"
[run]
duration = "1ms"
drain = "100ms"
[topology.leaf_spine]
leaves = 2
spines = 4
hosts_per_leaf = 4
[host]
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
buffer = "unlimited"
[transport]
congestion_control = "newreno"
mtu = "1500B"
"#;

/// Replaces the spines of [`LEAF_SPINE`] by messages over 16 paths.
const MESSAGES: &str = "transport={congestion_control=\"nscc\",ecn=true,mtu=\"1500B\",header=\"40B\",\
                        message={load_balancing=\"per_packet\",paths=16}}";

/// Runs a list, which is also read before the run as `hull check` does.
fn replay(name: &str, rows: &str, settings: &[&str]) -> Result<Outcome, String> {
    let path = std::env::temp_dir().join(format!("hull-pins-{}-{name}.csv", std::process::id()));
    std::fs::write(&path, rows).expect("a temporary file");
    let list = format!("workload.flows={}", path.display());
    let settings = settings.iter().copied().chain([list.as_str()]);
    let settings = Vec::from_iter(settings.map(str::to_owned));
    let own = scenario::ExternalControls::new();
    let verify = |scenario: &scenario::Resolved| simulation::verify(scenario);
    let cells = scenario::expand_verified(LEAF_SPINE, "test.toml", &settings, &own, &verify);
    let outcome = cells.map(|cells| run(&Scenario::clone(&cells[0].scenario), 1));
    std::fs::remove_file(&path).expect("the file");
    outcome.map_err(|error| error.to_string())
}

/// Packets of 1,500 bytes on each link out of a switch to others.
fn full_packets(outcome: &Outcome, from: &str, to: [&str; 4]) -> [u64; 4] {
    let of = |to: &str| {
        let link = |link: &&hull_sim::measure::LinkCount| link.from == from && link.to == to;
        outcome.links.iter().find(link).expect("a link").bytes / 1_500
    };
    to.map(of)
}

const SPINES: [&str; 4] = ["spine0", "spine1", "spine2", "spine3"];

/// Three flows pass spine 2, one spine 0, two share a connection over spine 3 in both directions; one
/// without a switch takes the path that it has in a list without the column.
#[test]
fn data_pass_the_named_spine_only() {
    let rows = "start_ps,src,dst,bytes,via,reuse\n\
                0,0,4,146000,spine2,\n0,1,5,146000,spine2,\n0,2,6,146000,spine2,\n5,3,7,146000,spine0,\n\
                6,0,5,146000,spine3,x\n7,5,0,146000,spine3,x\n";
    for (settings, name) in [(&[][..], "streams"), (&[MESSAGES], "messages")] {
        let outcome = replay(name, rows, settings).expect("good");
        assert_eq!(outcome.flows.rows().len(), 6);
        assert_eq!(outcome.packets.dropped, 0);
        // The back direction of the connection is one of spine 3; acknowledgments are below 100
        // packets of 1,500 bytes together.
        let to_spines = full_packets(&outcome, "leaf0", SPINES);
        let of_acks = 40 * 600 / 1_500;
        for (found, data) in to_spines.into_iter().zip([100, 0, 300, 100]) {
            assert!(
                (data..data + of_acks).contains(&found),
                "{name}: {to_spines:?}"
            );
        }
        let back = full_packets(&outcome, "leaf1", SPINES);
        assert!(
            back[3] >= 100 && back[0] + back[1] + back[2] < of_acks,
            "{name}: {back:?}"
        );
        assert_eq!(outcome.pin_misses, 0);
    }
}

/// Rows with empty cells run as without the column, to the last count.
#[test]
fn an_empty_cell_changes_nothing() {
    let rows = |with: bool| {
        let (head, cell) = if with { (",via", ",") } else { ("", "") };
        let flow = |src: u32| {
            format!(
                "{},{src},{},146000{cell}\n",
                10 * src,
                4 + (src * 3 + 1) % 4
            )
        };
        let flows = (0..4).map(flow).collect::<String>();
        format!("start_ps,src,dst,bytes{head}\n{flows}")
    };
    for settings in [&[][..], &[MESSAGES]] {
        let [with, without] = [true, false].map(|with| {
            let outcome = replay("empty", &rows(with), settings).expect("good");
            let bytes = Vec::from_iter(outcome.links.iter().map(|link| link.bytes));
            (bytes, outcome.packet_hops, outcome.simulated_ps)
        });
        assert_eq!(with, without);
    }
}

/// When the link to the spine fails, a flow takes other paths and is counted; when the link is restored,
/// it returns.
#[test]
fn a_flow_without_its_switch_takes_another() {
    let rows = "start_ps,src,dst,bytes,via\n0,0,4,14600000,spine2\n";
    let failure = "topology.failures=[{link=\"leaf0--spine2\",at=\"4ms\",until=\"8ms\"}]";
    let settings = [
        failure,
        "run.duration=1s",
        "transport.min_rto=100us",
        "transport.max_window=44",
    ];
    let outcome = replay("failure", rows, &settings).expect("good");
    assert_eq!(outcome.flows.rows().len(), 1);
    assert_eq!(outcome.pin_misses, 1);
    let packets = full_packets(&outcome, "leaf0", SPINES);
    // 12 ms of packets of 1.2 us, 4 ms of them elsewhere.
    let elsewhere = packets[0] + packets[1] + packets[3];
    assert!((2_500..3_400).contains(&elsewhere), "{packets:?}");
    assert!((6_500..7_600).contains(&packets[2]), "{packets:?}");
    assert_eq!(packets.iter().filter(|&&count| count > 0).count(), 2);
}

/// In a fat tree a core determines the path; parts on threads give what one thread gives.
#[test]
fn cores_of_a_fat_tree_on_threads() {
    let text = LEAF_SPINE.replace(
        "[topology.leaf_spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 4",
        "[topology.fat_tree]\nk = 4",
    );
    let rows =
        "start_ps,src,dst,bytes,via\n0,0,12,146000,core3\n0,1,13,146000,core0\n9,2,14,146000,\n";
    let path = std::env::temp_dir().join(format!("hull-pins-{}-cores.csv", std::process::id()));
    std::fs::write(&path, rows).expect("a temporary file");
    let list = format!("workload.flows={}", path.display());
    let of = |threads: &str| {
        let settings = [list.clone(), format!("run.threads={threads}")];
        let cells = scenario::expand(&text, "test.toml", &settings).expect("good");
        let scenario = Scenario::clone(&cells[0].scenario);
        let run = simulation::build_in_parts(&scenario, 1, None).expect("builds");
        run.run(&Control::default()).expect("conserved")
    };
    let [one, two] = ["1", "2"].map(of);
    std::fs::remove_file(&path).expect("the file");
    let bytes = |outcome: &Outcome| Vec::from_iter(outcome.links.iter().map(|link| link.bytes));
    assert_eq!(bytes(&one), bytes(&two));
    assert!(two.divided.parts > 1);
    for (core, packets) in [("core3", 100), ("core0", 100)] {
        let into = one.links.iter().filter(|link| link.to == core);
        let most = into.map(|link| link.bytes / 1_500).max();
        assert!(most >= Some(packets), "{core}: {most:?}");
    }
}

/// Errors name line, column and value, and what is expected.
#[test]
fn a_switch_that_is_not_on_the_way() {
    for (cells, found) in [
        ("0,4,9000,spine9", "\"spine9\" is invalid"),
        ("0,4,9000,h1", "\"h1\" is invalid"),
        ("0,1,9000,spine0", "\"spine0\" is invalid"),
        ("0,4,9000,spine1", "expected another text"),
    ] {
        let rows = format!("start_ps,src,dst,bytes,via,reuse\n0,0,4,9000,spine0,x\n5,{cells},x\n");
        let told = replay("bad", &rows, &[]).map(|_| ()).expect_err("refused");
        let is_shared = found.starts_with("expected");
        let column = if is_shared { "reuse" } else { "via" };
        for part in [
            "workload.flows",
            "line 3",
            found,
            &format!("column {column}"),
        ] {
            assert!(told.contains(part), "{cells}: {told}");
        }
        let expected = "expected a switch on a shortest path from h0 to";
        assert!(is_shared || told.contains(expected), "{told}");
    }
}

"""Warnings that follow from a scenario before it runs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import hull as hull_package
from conftest import Hull
from hull import scenarios
from hull.experiments import all_experiments
from hull.runs.plan import make_plan, read_scenario
from hull.warnings.scenario import named_rates, warnings_before

NEVER_MARKS: dict[str, Any] = {
    "name": "nomark",
    "run": {"duration": "50ms", "warmup": "10ms"},
    "topology": {"star": {"hosts": 3}},
    "host": {"rate": "10Gbps", "delay": "20us"},
    "switch": {
        "rate": "10Gbps",
        "delay": "20us",
        "memory": {"size": "50pkts"},
        "marking": {"threshold": "65pkts"},
    },
    "transport": {"congestion_control": "dctcp", "ecn": True},
    "workload": {"long_lived": {"flows": [{"src": [1, 2], "dst": 0}]}},
}
TOLD = (
    "switch.marking.threshold: 97.5KB is not below 11.25KB, the longest queue that a full-size "
    "packet can meet with switch.memory (size 75KB, alpha 20%), so the switches mark none"
)


def scenario(switch: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """The same network with these switch keys instead of its memory and marking."""
    return {**NEVER_MARKS, "switch": {"rate": "10Gbps", "delay": "20us", **switch}, **tables}


def warnings(content: dict[str, Any], *settings: str) -> list[str]:
    """The sentences of a scenario."""
    text, file = read_scenario(content)
    return warnings_before(make_plan(text, file, list(settings)))


ON_PURPOSE: dict[str, str | tuple[str, ...]] = {
    # Senders with ECN at a FIFO without marking, one of the source's queues.
    "l4s-coexistence": "transport.ecn, transports.second.ecn: true, but no switch marks",
    # Incast with timeouts of 300 ms, or of 10 ms at a shorter round trip: what the thesis measures.
    "thesis-incast-static": "transport.min_rto: 300ms is 2813 times the round trip",
    "thesis-fig2-18": "transport.min_rto: 300ms is 2813 times the round trip",
    "thesis-incast-other": "transport.min_rto: 10ms is 118 times the round trip",
    # RED's thresholds of deployed networks: above the pauses of switches without a memory, and of
    # ToRs with 5 KB for each Gbps.
    "pfc-victim": "switch.pfc: a host-tor link is paused above",
    "pauses-bought": "switch.pfc: a host-tor link is paused above",
    # The circle of links is what the experiment is about.
    "pfc-deadlock": (
        "switch.pfc: a host-leaf link is paused above",
        "switch.pfc: pauses can lock",
    ),
}
"""Beginnings of the warnings, by scenario or experiment, that say what their source wanted."""


def test_no_shipped_scenario_or_experiment_has_another_warning() -> None:
    plans = [make_plan(scenarios.text(name), name, []) for name in scenarios.names()]
    plans += [of.plan("quick", None) for of in all_experiments().values()]
    assert len(plans) > 100
    told = [
        (plan.name.removesuffix("-quick"), text) for plan in plans for text in warnings_before(plan)
    ]
    assert [one for one in told if not one[1].startswith(ON_PURPOSE.get(one[0], "none"))] == []
    assert {name for name, _ in told} == set(ON_PURPOSE)


def test_check_warns_of_a_threshold_above_the_memory(hull: Hull) -> None:
    Path("own.toml").write_text(tomli_w.dumps(NEVER_MARKS), encoding="utf-8")
    done = hull("check", "own.toml")
    assert (done.returncode, done.stderr) == (0, f"hull: warning: {TOLD}\n")
    assert "warning" not in done.stdout
    found = json.loads(hull("check", "own.toml", "--format", "json").stdout)
    assert found["warnings"] == [TOLD]


RDMA: dict[str, Any] = {
    "transport": {"congestion_control": "dcqcn", "ecn": True, "framing": "38B"},
    "topology": {"star": {"hosts": 4}},
    "host": {"rate": "10Gbps", "delay": "1us"},
}
"""Hosts at 10 Gbps with a headroom of 7,788 bytes, as pause_kinds.rs of hull-sim counts it."""


def lossless(*settings: str, **switch: Any) -> list[str]:
    """The warnings of the network `RDMA` with pauses."""
    table = {"rate": "10Gbps", "delay": "1us", "pfc": {}, **switch}
    return warnings({**NEVER_MARKS, **RDMA, "switch": table}, *settings)


LATE = (
    "switch.pfc: a host-switch link is paused above 10.79KB, but switch->h1 marks only above {}: "
    "unless {} links or more fill its queue together, the congestion control acts after the pause"
)


@pytest.mark.parametrize(
    "rule",
    [
        {"marking": {"threshold": "SIZE"}},
        {"marking": {"threshold": "SIZE", "max_threshold": "400KB", "on": "dequeue"}},
        {"phantom_queue": {"drain": "95%", "threshold": "SIZE"}},
        {"red": {"min": "SIZE", "max": "400KB", "max_probability": "10%"}},
        {"marking": {"threshold": "400KB"}, "phantom_queue": {"drain": "95%", "threshold": "SIZE"}},
    ],
)
def test_pauses_that_begin_before_marks(rule: dict[str, Any]) -> None:
    """Without `switch.memory` XOFF is the headroom and two packets, 10,788 bytes."""

    def with_threshold(size: str) -> dict[str, Any]:
        changed: dict[str, Any] = json.loads(json.dumps(rule).replace("SIZE", size))
        return changed

    assert lossless(**with_threshold("10788B")) == []
    assert lossless(**with_threshold("10789B")) == [LATE.format("10.79KB", 2)]
    assert lossless(**with_threshold("40KB")) == [LATE.format("40KB", 4)]
    # A threshold of the pause, or a memory, above it.
    assert lossless("switch.pfc.xoff=40KB", **with_threshold("40KB")) == []
    assert lossless('switch.memory.size="1MB"', **with_threshold("40KB")) == []


def test_pauses_before_marks_matter_to_senders_with_ecn_in_their_class() -> None:
    marking = {"marking": {"threshold": "40KB"}, "priorities": 2}
    assert lossless(**marking, pfc={"classes": [1]}) == [LATE.format("40KB", 4)]
    assert lossless("transport.priority=0", **marking, pfc={"classes": [0]}) != []
    others = {"second": {"congestion_control": "line-rate", "ecn": False, "priority": 0}}
    flows = [{"src": 1, "dst": 0}, {"src": 2, "dst": 0, "transport": "second"}]
    tables = {"transports": others, "workload": {"long_lived": {"flows": flows}}}
    table = {"rate": "10Gbps", "delay": "1us", "pfc": {"classes": [0]}, **marking}
    assert warnings({**NEVER_MARKS, **RDMA, "switch": table, **tables}) == []


def test_a_warning_names_its_cells() -> None:
    schemes = {
        "low": {"switch": {"marking": {"threshold": "6pkts"}}},
        "high": {"switch": {"marking": {"threshold": "65pkts"}}},
    }
    assert warnings({**NEVER_MARKS, "schemes": schemes}) == [f"{TOLD} (high)"]


@pytest.mark.parametrize(
    ("switch", "key", "enough"),
    [
        # A full-size packet finds at most the buffer without itself.
        (
            {"buffer": "20pkts", "marking": {"threshold": "19pkts"}},
            "switch.marking.threshold: 28.5KB is not below 28.5KB",
            {"marking": {"threshold": "18pkts"}},
        ),
        (
            {"buffer": "10pkts", "marking": {"threshold": "14.9KB", "on": "dequeue"}},
            "switch.marking.threshold: 14.9KB is not below 13.5KB",
            {"count_in_service": True},
        ),
        (
            {"buffer": "300KB", "red": {"min": "250pkts", "max": "300pkts"}},
            "switch.red.min: 250pkts is not below 298.5KB",
            {"red": {"min": "150pkts", "max": "300pkts"}},
        ),
        (
            {"buffer": "300KB", "pie": {}},
            "switch.pie.target: 15ms is too long for switch.buffer, 300KB, behind which a packet "
            "waits 240us at most",
            {"pie": {"target": "400us"}},
        ),
        (
            {"buffer": "300KB", "fq_codel": {"flows": 1}},
            "switch.fq_codel.target: 5ms is too long",
            {"fq_codel": {"flows": 1024}},
        ),
        (
            {"memory": {"preset": "scorpion"}, "marking": {"threshold": "700KB"}},
            "switch.marking.threshold: 700KB is not below 665.4KB",
            {"memory": {"preset": "scorpion", "alpha": "30%"}},
        ),
        (
            {
                "memory": {"preset": "scorpion", "limit": "60KB"},
                "marking": {"threshold": "65KB"},
            },
            "switch.marking.threshold: 65KB is not below 58.5KB",
            {"memory": {"preset": "scorpion", "limit": "600KB"}},
        ),
        (
            {
                "ports": [{"tier": "switch-host", "buffer": "15KB"}],
                "marking": {"threshold": "15KB"},
            },
            "switch.marking.threshold: 15KB is not below 13.5KB, the longest queue that a "
            "full-size packet can meet with switch.ports[0].buffer = 15KB",
            {"marking": {"threshold": "12KB"}},
        ),
    ],
)
def test_ecn_that_never_marks(switch: dict[str, Any], key: str, enough: dict[str, Any]) -> None:
    (found,) = warnings(scenario(switch))
    assert found.startswith(key)
    assert found.endswith("mark none")
    assert warnings(scenario({**switch, **enough})) == []


LEAF_SPINE: dict[str, Any] = {
    "topology": {
        "leaf_spine": {"leaves": 4, "spines": 4, "hosts_per_leaf": 4, "uplink_rate": "400Gbps"}
    },
    "host": {"rate": "100Gbps", "delay": "1us"},
}


def leaf_spine(**switch: Any) -> dict[str, Any]:
    """Hosts of 100 Gbps and uplinks of 400 Gbps."""
    return scenario({"rate": "100Gbps", "delay": "1us", "buffer": "4MB", **switch}, **LEAF_SPINE)


def test_an_absolute_drain_on_links_of_two_rates() -> None:
    queue = {"drain": "95Gbps", "threshold": "30KB"}
    assert warnings(leaf_spine(phantom_queue=queue)) == [
        "switch.phantom_queue.drain: as a share of the rate, 95Gbps is 95% at links of 100Gbps "
        'and 23.8% at links of 400Gbps; write a share, such as "95%"'
    ]
    ports = [{"rate": "400Gbps", "phantom_queue": {**queue, "drain": "380Gbps"}}]
    assert warnings(leaf_spine(phantom_queue=queue, ports=ports)) == []
    assert warnings(leaf_spine(phantom_queue={**queue, "drain": "95%"})) == []
    same = ["topology.leaf_spine.uplink_rate=100Gbps"]
    assert warnings(leaf_spine(phantom_queue=queue), *same) == []


def test_a_drain_above_the_rate_of_some_links() -> None:
    queue = {"drain": "95Gbps", "threshold": "30KB"}
    slow = ["host.rate=25Gbps", "topology.leaf_spine.uplink_rate=100Gbps"]
    content = leaf_spine(phantom_queue=queue)
    content["topology"] = {
        **LEAF_SPINE["topology"],
        "links": [{"link": "leaf0--h0", "rate": "25Gbps"}],
    }
    assert warnings(content, *slow) == [
        "switch.phantom_queue.drain: as a share of the rate, 95Gbps is 380% at links of 25Gbps and "
        "95% at links of 100Gbps, and a queue that drains faster than its link never marks; write "
        'a share, such as "95%"'
    ]


def test_a_threshold_for_the_slow_links_only() -> None:
    (found,) = warnings(leaf_spine(marking={"threshold": "30KB"}))
    assert found.startswith(
        "switch.marking.threshold: 30KB is enough for DCTCP on links of 100Gbps but not of "
        "400Gbps, which need "
    )
    assert warnings(leaf_spine(marking={"threshold": "120KB"})) == []
    ports = [{"rate": "400Gbps", "marking": {"threshold": "120KB"}}]
    assert warnings(leaf_spine(marking={"threshold": "30KB"}, ports=ports)) == []
    assert warnings(leaf_spine(marking={"threshold": "10KB"})) == []


def test_a_phantom_queue_that_drains_as_fast_as_its_link() -> None:
    queue = {"drain": "98%", "threshold": "6KB"}
    assert warnings(scenario({"phantom_queue": queue})) == []
    framed = {"congestion_control": "dctcp", "ecn": True, "framing": "38B"}
    assert warnings(scenario({"phantom_queue": queue}, transport=framed)) == [
        "switch.phantom_queue.drain: 98% is not below the rate at which a link sends packets, "
        "97.53% with transport.framing, so the switches mark none"
    ]
    (found,) = warnings(scenario({"phantom_queue": {**queue, "drain": "100%"}}))
    assert found.startswith("switch.phantom_queue.drain: 100% is not below the rate")
    parallel = {**queue, "drain": "100%", "placement": "parallel"}
    assert warnings(scenario({"phantom_queue": parallel})) == []


def test_ecn_without_marking() -> None:
    assert warnings(scenario({})) == [
        "transport.ecn: true, but no switch marks; set switch.marking, for example"
    ]
    assert warnings(scenario({}, transport={"ecn": False})) == []
    ports = [{"tier": "switch-host", "marking": {"threshold": "65pkts"}}]
    assert warnings(scenario({"ports": ports})) == []


def test_thresholds_below_a_packet() -> None:
    hint = '; a number without a unit is in bytes: write "65pkts" for packets'
    below = "65B is below a packet, transport.mtu = 1.5KB"
    assert warnings(scenario({"marking": {"threshold": 65}})) == [
        f"switch.marking.threshold: {below}{hint}"
    ]
    assert warnings(scenario({"red": {"min": 65, "max": "60KB"}})) == [
        f"switch.red.min: {below}{hint}"
    ]
    queue = {"drain": "95%", "threshold": "1KB"}
    assert warnings(scenario({"phantom_queue": queue})) == []
    assert warnings(scenario({"phantom_queue": {**queue, "count_arriving": True}})) == [
        "switch.phantom_queue.threshold: 1KB is below a packet, transport.mtu = 1.5KB, so each "
        "full-size packet exceeds it"
    ]


def test_strict_makes_warnings_errors(hull: Hull) -> None:
    short = {**NEVER_MARKS, "run": {"duration": "1ms"}}
    Path("own.toml").write_text(tomli_w.dumps(short), encoding="utf-8")
    for command in ("check", "run"):
        done = hull(command, "own.toml", "--strict")
        assert (done.returncode, done.stderr) == (2, f"hull: error: {TOLD}\n")
        fits = hull(command, "own.toml", "--strict", "--set", "switch.marking.threshold=6pkts")
        assert (fits.returncode, "error" in fits.stderr) == (0, False)


def test_a_run_warns_once_before_it_starts(hull: Hull) -> None:
    short = {**NEVER_MARKS, "run": {"duration": "1ms"}}
    Path("own.toml").write_text(tomli_w.dumps(short), encoding="utf-8")
    done = hull("run", "own.toml")
    assert done.returncode == 0
    assert done.stderr.startswith(f"hull: warning: {TOLD}\n")
    assert done.stderr.count(TOLD) == 1
    summary = json.loads(Path("results/nomark/summary.json").read_text(encoding="utf-8"))
    assert summary["warnings"][0] == TOLD
    again = hull("run", "own.toml")
    assert again.stderr.count(TOLD) == 1


def incast(**settings: Any) -> dict[str, Any]:
    """Responses of 1 MB to one host, over a buffer of 300 KB."""
    switch = {"rate": "10Gbps", "delay": "1us", "buffer": "300KB", **settings}
    host = {"rate": "10Gbps", "delay": "1us"}
    transport = {"congestion_control": "newreno"}
    return scenario(switch, host=host, transport=transport, workload={"incast": {}})


def test_a_minimum_rto_far_above_the_round_trip() -> None:
    (found,) = warnings(incast())
    assert found.startswith("transport.min_rto: 10ms is 1")
    assert found.endswith(
        "; after drops (switch.buffer = 300KB), timeouts decide how long workload.incast takes"
    )
    assert warnings(incast(), "transport.min_rto=200us", "transport.delayed_ack=50us") == []
    assert warnings(incast(buffer="unlimited")) == []
    assert warnings(incast(), "workload.incast.total=200KB") == []
    assert len(warnings(incast(loss="1%"), "workload.incast.total=200KB")) == 1
    everyone = {**incast(), "workload": {"all_to_all": {"size": "1MB"}}}
    assert "workload.all_to_all takes" in warnings(everyone)[0]
    # Batches of two of eight servers: a quarter of the megabyte at a time.
    servers = ("topology.star.hosts=10", "workload.incast.servers='1-8'")
    assert warnings(incast(), *servers, "workload.incast.batch=2") == []
    assert len(warnings(incast(), *servers, "workload.incast.batch=3")) == 1
    # Each of two aggregators has half of the workers.
    for size, number in (("100KB", 1), ("70KB", 0)):
        levels = [{"hosts": [1, 2]}, {"hosts": ["3-9", 0], "response_size": size}]
        tree = {**incast(), "workload": {"aggregation_tree": {"interval": "1ms", "levels": levels}}}
        assert len(warnings(tree, servers[0])) == number


def test_drops_without_a_mark_are_told_after_the_run(tmp_path: Path) -> None:
    told = {}
    for threshold in ("65pkts", "3pkts"):
        marking = {"threshold": threshold}
        content = {**NEVER_MARKS, "switch": {**NEVER_MARKS["switch"], "marking": marking}}
        told[threshold] = hull_package.run(content, out=tmp_path / threshold).summary["warnings"]
    assert told["3pkts"] == []
    before, after = told["65pkts"]
    assert before == TOLD
    assert re.fullmatch(
        r"nomark: transport\.ecn: the switches dropped [\d,]+ packets per seed and marked none; "
        r"their buffers fill before they mark",
        after,
    )


def loaded(load: str, *settings: str, **topology: Any) -> list[str]:
    """Warnings of a load of all hosts, of 10 Gbps like all links."""
    flows = {"load": load, "sizes": {"fixed": "10KB"}}
    switch = {"marking": {"threshold": "65pkts"}}
    content = scenario(switch, topology=topology, workload={"flows": flows})
    return warnings(content, *settings)


def test_a_load_above_the_capacity_of_a_tier() -> None:
    # Of 15 other hosts 12 are in other racks: 40% x 4 x 12/15, and headers, on one uplink.
    narrow = {"leaf_spine": {"leaves": 4, "spines": 1, "hosts_per_leaf": 4}}
    assert loaded("40%", **narrow) == [
        "workload.flows.load: 40% offers the links from leaf0 to other switches 1.32 times their "
        "rate, 10Gbps, headers included; they carry 30.4%"
    ]
    assert loaded("30%", **narrow) == []
    assert loaded("40%", "topology.leaf_spine.spines=2", **narrow) == []
    assert loaded("40%", 'workload.flows.sources="0-3"', **narrow)
    near = ('workload.flows.sources="0-3"', 'workload.flows.destinations=["0-3"]')
    assert loaded("40%", *near, **narrow) == []


def test_a_load_above_the_capacity_of_the_cores() -> None:
    tree = {"pods": 2, "tors_per_pod": 2, "hosts_per_tor": 4, "cores": 2, "uplink_rate": "20Gbps"}
    (found,) = loaded("60%", tree=tree)
    assert "the links from pod 0 to the cores 1.32 times their rate, 20Gbps" in found
    assert loaded("60%", "topology.tree.core_rate=20Gbps", tree=tree) == []


def test_rates_are_those_of_the_network() -> None:
    for name in scenarios.names():
        (first, *_) = make_plan(scenarios.text(name), name, []).cells
        network = json.loads(first.resolved.network())
        assert named_rates(first.scenario) in ([], network["rates_bps"]), name


def test_streams_that_take_late_packets_for_lost() -> None:
    """Packets on several paths overtake each other: senders that count them are named."""
    content = scenario({"marking": {"threshold": "30KB"}})
    spray = "transport.spray={paths=16}"
    (found,) = warnings(content, spray)
    assert found == (
        "transport.spray: packets overtake each other on several paths, and 3 that do count as a "
        'loss; transport.loss_detection = "rack" waits for late packets'
    )
    flowlets = 'transport.spray={load_balancing="flowlet"}'
    for settings in (
        [],
        [spray, "transport.loss_detection=rack"],
        [spray, "transport.duplicate_threshold=64"],
        [flowlets],
    ):
        assert warnings(content, *settings) == [], settings


ADMITTED: dict[str, Any] = {
    "name": "admitted",
    "run": {"duration": "1ms"},
    "topology": {"star": {"hosts": 3}},
    "host": {"rate": "100Gbps", "delay": "1us"},
    "switch": {"rate": "100Gbps", "delay": "1us"},
    "transport": {"congestion_control": "line-rate", "mtu": "1048B", "header": "48B"},
    "workload": {"long_lived": {"flows": [{"src": [1, 2], "dst": 0, "size": "1MB"}]}},
}


@pytest.mark.parametrize("name", ["transport", "transports.other"])
def test_a_window_of_receivers_below_the_product(name: str) -> None:
    """A packet, an ACK and four links of 1 us are a round trip of 4.175 us, or 52,192 bytes."""
    key = f"{name}.message.admission.window"
    flows = 'workload.incast={total="1KB",transport="other"}'
    others = [flows] if name != "transport" else []
    told = (
        f"{key}: 40KB is below 52.19KB, which 100Gbps carry in the round trip of 4.175us: a "
        "receiver gets at most 77% of its link's rate"
    )
    assert warnings(ADMITTED, f"{key}=52200B", *others) == []
    assert warnings(ADMITTED, f"{key}=40KB", *others) == [told]

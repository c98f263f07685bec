"""Keys that are set without the setting that makes them act."""

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from conftest import Hull
from hull.runs.plan import make_plan, read_scenario
from hull.warnings.scenario import warnings_before

BASE: dict[str, Any] = {
    "name": "idle",
    "run": {"duration": "1ms"},
    "topology": {"star": {"hosts": 6}},
    "host": {"rate": "10Gbps", "delay": "1us"},
    "switch": {"rate": "10Gbps", "delay": "1us"},
    "transport": {"congestion_control": "newreno", "min_rto": "300us"},
    "workload": {"long_lived": {"flows": [{"src": [1, 2], "dst": 0}]}},
}
QCN = ("transport.congestion_control=qcn", 'switch.qcn.equilibrium="33KB"')
DCTCP = ("transport.congestion_control=dctcp", "transport.ecn=true")
MESSAGE = "transport.message"
DCQCN = (
    "transport.congestion_control=dcqcn",
    "transport.ecn=true",
    "switch.marking.threshold=30KB",
)
SWIFT = ("transport.congestion_control=swift", "transport.message.cnp_interval=50us")
MARKS = ("switch.marking.threshold=30KB",)
AVQ = 'switch.avq={time_constant="5ms",buffer="15KB"}'
ONE_ACK = "transport.dctcp.acks_at_change=1"
NEWRENO = 'has no effect with transport.congestion_control = "newreno"'
NO_ECN = "has no effect, because no sender has ECN (transport.ecn)"
NOT_PACED = "pacer: has no effect, because no sender that it paces has ECN (transport.ecn)"
MEMORY = "switch.memory.size=1MB"
LIMIT = "switch.memory.limit=100KB"
TREE = "workload.aggregation_tree"


def levels(*deadlines: str) -> str:
    """A tree with these deadlines, of one host per level; "" for none."""
    ends = (f',deadline="{deadline}"' if deadline else "" for deadline in deadlines)
    tables = (f"{{hosts={number}{end}}}" for number, end in enumerate(ends, 1))
    return f'{TREE}={{interval="1ms",levels=[{",".join(tables)}]}}'


def warnings(*settings: str, **tables: Any) -> list[str]:
    """The sentences of a scenario."""
    text, file = read_scenario({**BASE, **tables})
    return warnings_before(make_plan(text, file, list(settings)))


@pytest.mark.parametrize(
    ("idle", "told", "acts"),
    [
        (
            ["transport.qcn.rate_limiters=4"],
            f"transport.qcn.rate_limiters: 4 {NEWRENO}",
            QCN,
        ),
        (
            [ONE_ACK],
            f"transport.dctcp.acks_at_change: 1 {NEWRENO}",
            [*DCTCP, *MARKS],
        ),
        (
            [*DCTCP, *MARKS, ONE_ACK, "transport.ack_every=1"],
            "transport.dctcp.acks_at_change: 1 has no effect with transport.ack_every = 1, which "
            "delays no ACK",
            ["transport.ack_every=2"],
        ),
        ([AVQ], f"switch.avq: {NO_ECN}", DCTCP),
        (["pacer.association_end=packet"], NOT_PACED, [*DCTCP, *MARKS]),
        (["pacer.place=before_segmentation"], NOT_PACED, [*DCTCP, *MARKS]),
        (
            [*DCTCP, *MARKS, "pacer.eta=0.125", "transport.paced=false"],
            NOT_PACED,
            ["transport.paced=true"],
        ),
        (
            ["switch.pfc.watchdog={}", "run.drain=0s"],
            "switch.pfc.watchdog: has no effect, because the run is not longer than its "
            "detection, 200ms",
            ["run.duration=300ms"],
        ),
        (
            ["measure.pauses=true"],
            "measure.pauses: has no effect without switch.pfc",
            ["switch.pfc={}"],
        ),
        (
            ["host.transmit={}"],
            "host.transmit: has no effect without packet_cost or frame_cost",
            ["host.transmit.frame_cost=1us"],
        ),
        (
            ["host.nic_choice=rail"],
            "host.nic_choice: rail has no effect, because each host has one link",
            ["topology={dual_tor={racks=2,hosts_per_rack=3,spines=1}}"],
        ),
        (
            ["host.receive.ring=64"],
            "host.receive.ring: 64 has no effect without a cost, such as host.receive.packet_cost",
            ["host.receive.packet_cost=1us"],
        ),
        (
            ["host.receive.ring=64", "host.receive.wait=10us"],
            "host.receive.ring: 64 has no effect without a cost, such as host.receive.packet_cost",
            ["host.receive.frames=65"],
        ),
        (
            [MEMORY, "switch.memory.queues=8"],
            "switch.memory.queues: 8 has no effect without switch.memory.reserved",
            ["switch.memory.reserved=1KB"],
        ),
        (
            [MEMORY, "switch.memory.limit=200KB"],
            "switch.memory.limit: 200KB has no effect, because switch.memory (size 1MB, alpha 20%) "
            "allows no more",
            ["switch.memory.alpha=100%"],
        ),
        (
            [MEMORY, LIMIT, "switch.buffer=80KB"],
            "switch.memory.limit: 100KB has no effect, because switch.buffer = 80KB allows no more",
            ['switch.ports=[{tier="switch-host",buffer="120KB"}]'],
        ),
        (
            ["workload.incast.batch=5"],
            "workload.incast.batch: 5 has no effect, because a query asks 5 servers",
            ["workload.incast.batch=4"],
        ),
        (
            ['workload.incast={batch=2,fan_in=2,servers="1-3"}'],
            "workload.incast.batch: 2 has no effect, because a query asks 2 servers",
            ["workload.incast.fan_in=3"],
        ),
        (
            ['workload.incast={batch=3,all_to_all=true,servers="1-4"}'],
            "workload.incast.batch: 3 has no effect, because a query asks 3 servers",
            ["workload.incast.all_to_all=false"],
        ),
        (
            ["workload.production={batch=4,outside=5}"],
            "workload.production.batch: 4 has no effect, because a query asks 4 servers",
            ["workload.production.batch=3"],
        ),
        (
            [levels("1ms", "", "1ms")],
            f"{TREE}.levels[2].deadline: 1ms has no effect, because it is not below "
            "levels[0].deadline = 1ms",
            [levels("1ms", "", "900us")],
        ),
        (
            [*DCQCN, "transport.message.recovery=selective", f"{MESSAGE}.gap_interval=100us"],
            f'{MESSAGE}.gap_interval: 100us has no effect with {MESSAGE}.recovery = "selective"',
            ["transport.message.recovery=go_back_n"],
        ),
        (
            [*DCQCN, "switch.priorities=2", f"{MESSAGE}.cnp_priority=1"],
            f"{MESSAGE}.cnp_priority: 1 has no effect without {MESSAGE}.cnp_interval",
            [f"{MESSAGE}.cnp_interval=50us"],
        ),
        (
            [*SWIFT, "switch.priorities=2", f"{MESSAGE}.cnp_priority=1"],
            f"{MESSAGE}.cnp_priority: 1 has no effect without transport.ecn",
            ["transport.ecn=true", *MARKS],
        ),
    ],
)
def test_key_without_its_companion(idle: list[str], told: str, acts: list[str]) -> None:
    assert warnings(*idle) == [told]
    assert warnings(*idle, *acts) == []


def test_key_that_acts_in_one_cell_is_no_mistake() -> None:
    """As in a sweep whose baseline has no cost, and in a comparison of two transports."""
    costs = {f"{us}us": {"host": {"transmit": {"frame_cost": f"{us}us"}}} for us in (0, 1)}
    assert warnings(schemes=costs) == []
    del costs["1us"]
    assert warnings(schemes=costs) == [
        "host.transmit: has no effect without packet_cost or frame_cost"
    ]
    named = {
        "transport": {"congestion_control": "newreno", "dctcp": {"acks_at_change": 1}},
        "transports": {"other": {"congestion_control": "dctcp", "ecn": True}},
        "workload": {
            **BASE["workload"],
            "bulk": {"flows": 1, "size": "1KB", "start_interval": "1ms", "transport": "other"},
        },
    }
    assert warnings(*MARKS, **named) == []


def test_check_and_run_warn(hull: Hull) -> None:
    Path("own.toml").write_text(tomli_w.dumps(BASE), encoding="utf-8")
    told = "host.transmit: has no effect without packet_cost or frame_cost"
    for command in ("check", "run"):
        done = hull(command, "own.toml", "--set", "host.transmit={}")
        assert done.returncode == 0
        assert done.stderr.startswith(f"hull: warning: {told}\n")

"""Input handling: all errors of a scenario at once, `hull check`, standard input."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hull
from conftest import COMMAND, Hull
from hull import cli

GOOD = """\
name = "mine"
run = { duration = "10ms", seeds = 3 }
topology.star.hosts = 4
host = { rate = "100G", delay = "1µs" }
switch = { rate = 1e11, delay = 1e-6, buffer = "1MiB", marking.threshold = "65pkts" }
transport = { congestion_control = "dctcp", ecn = true, mtu = "9000B" }
[workload.bulk]
flows = 2
[schemes.dctcp]
[schemes.hull]
pacer.fifo = "30pkts"
[sweep]
"switch.marking.threshold" = ["20pkts", "65pkts"]
"""
WRONG = (
    GOOD.replace('"100G"', '"100GB/s"')
    .replace("buffer", "bufer")
    .replace("flows = 2", 'flows = "two"')
    .replace('fifo = "30pkts"', "fifo = -1")
)
MISTAKES = [
    'mine.toml:4:17: host.rate: "100GB/s" is invalid; expected bits per second',
    "mine.toml:5:39: switch.bufer: there is no such key; did you mean switch.buffer?",
    'mine.toml:8:9: workload.bulk.flows: "two" is invalid; expected a whole number',
    "mine.toml:11:14: pacer.fifo: -1 is invalid; expected a number with one of the units GB, MB",
]


def piped(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], input=text, capture_output=True, text=True, timeout=120, check=False
    )


def begin(lines: list[str], starts: list[str]) -> None:
    assert len(lines) == len(starts), lines
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True)), lines


@pytest.mark.parametrize("command", ["run", "check", "sweep"])
def test_all_errors_are_reported_at_once(hull: Hull, place: Path, command: str) -> None:
    (place / "mine.toml").write_text(WRONG, encoding="utf-8")
    done = hull(command, "mine.toml", "--set", "host.delay=soon", "--set", "switch.loss=x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hull: error: ")
    assert done.stderr.count("hull: error:") == 1
    lines = done.stderr.removeprefix("hull: error: ").splitlines()
    by_hand = ['host.delay: "soon" is invalid', 'switch.loss: "x" is invalid']
    begin(lines, MISTAKES + [f"mine.toml: --set {start}" for start in by_hand])
    assert not (place / "results").exists()


def test_dict_gives_the_same_errors_without_lines(place: Path) -> None:
    scenario: dict[str, Any] = {
        "name": "mine",
        "run": {"duration": 0.01},
        "topology": {"star": {"hosts": "4"}},
        "host": {"rate": "1GB/s", "delay": 1e-6},
        "switch": {"rate": 1e9, "bufer": 1, "delay": "1us"},
        "workload": {"bulk": {"flows": 2}},
    }
    with pytest.raises(hull.ScenarioError) as error:
        hull.run(scenario, set=["host.nic=1"])
    begin(
        str(error.value).splitlines(),
        [
            'scenario: topology.star.hosts: "4" is invalid; expected a whole number',
            'scenario: host.rate: "1GB/s" is invalid; expected bits per second',
            "scenario: switch.bufer: there is no such key; did you mean switch.buffer?",
            "scenario: set host.nic: there is no such key; did you mean host.nic_buffer?",
        ],
    )


def test_python_numbers_are_in_base_units(place: Path) -> None:
    scenario: dict[str, Any] = {
        "name": "mine",
        "run": {"duration": 0.001 * 3, "seeds": 1},
        "topology": {"star": {"hosts": 4}},
        "host": {"rate": 10**10, "delay": 1e-6},
        "switch": {"rate": 1e10, "delay": 1.1e-6 * 3, "buffer": 700_000},
        "workload": {"bulk": {"flows": 2}},
    }
    result = hull.run(scenario, "out")
    resolved = result.summary["parts"][0]
    assert resolved["throughput"]["utilization"] > 0.5
    [cell] = hull.runs.plan.make_plan(*hull.runs.plan.read_scenario(scenario), []).cells
    assert cell.scenario["run"]["duration"] == "3ms"
    assert cell.scenario["switch"]["delay"] == "3.3us"
    assert cell.scenario["switch"]["buffer"] == "700KB"


def test_error_names_the_override_option(hull: Hull, place: Path) -> None:
    (place / "mine.toml").write_text(GOOD, encoding="utf-8")
    done = hull("run", "mine.toml", "--seeds", "9" * 20)
    assert "mine.toml: --seeds run.seeds: " in done.stderr
    done = hull("sweep", "mine.toml", "--over", "switch.loss=1%,2x")
    assert 'mine.toml: --over switch.loss: "2x" is invalid; expected a share' in done.stderr


def test_check_says_what_would_run(hull: Hull, place: Path) -> None:
    (place / "mine.toml").write_text(GOOD, encoding="utf-8")
    done = hull("check", "mine.toml", "--set", "pacer.beta=16")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:10] == [
        "name        mine",
        "network     4 hosts, 1 switch",
        "links       host-switch: 4 at 100Gbps, 1us one way",
        "schemes     dctcp, hull",
        "conditions  threshold=20pkts, threshold=65pkts",
        "cells       4 = 2 schemes x 2 conditions",
        "seeds       3, from 1 to 3",
        "runs        12, each 10ms",
        "memory      about 50 MB for a run",
        "time        about 1 s of processor time for a run, roughly",
    ]
    derived = done.stdout.splitlines()[10:]
    assert derived[0] == 'derived     host.queue = "fair"'
    assert [line.split()[1] for line in derived[1:]] == [
        *("pacer.update_interval", "pacer.association_timeout", "pacer.bucket")
    ]
    assert all(line.endswith("(hull)") for line in derived[1:])
    assert [path.name for path in place.iterdir() if path.suffix != ".toml"] == []
    found = json.loads(hull("check", "mine.toml", "--seeds", "2", "--format", "json").stdout)
    assert (found["cells"], found["seeds"], found["runs"]) == (4, [1, 2], 8)
    kind = {
        "links": 4,
        **dict.fromkeys(("up_bps", "down_bps"), 10**11),
        **dict.fromkeys(("up_ps", "down_ps"), 10**6),
    }
    links = [{"tiers": "host-switch", "links": 4, "kinds": [kind]}]
    assert found["networks"] == [{"hosts": 4, "switches": 1, "links": links}]
    bucket = {"key": "pacer.bucket", "value": "18KB", "schemes": ["hull"]}
    assert bucket in found["derived"]


def test_check_lists_a_derived_delayed_ack(hull: Hull, place: Path) -> None:
    Path("mine.toml").write_text(GOOD, encoding="utf-8")
    done = hull("check", "mine.toml", "--set", "transport.min_rto=1ms")
    assert (done.returncode, done.stderr) == (0, "")
    assert 'derived     transport.delayed_ack = "100us"' in done.stdout.splitlines()


def test_check_finds_errors_that_need_the_network(hull: Hull, place: Path) -> None:
    text = GOOD.replace("[workload.bulk]\nflows = 2", "[workload.incast]\nclient = 9")
    (place / "mine.toml").write_text(text, encoding="utf-8")
    done = hull("check", "mine.toml")
    assert done.returncode == 2
    assert done.stderr.startswith("hull: error: mine.toml:8:10: workload.incast.client: ")


def test_a_scenario_comes_from_standard_input(place: Path) -> None:
    done = piped(GOOD, "check", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert "runs        12" in done.stdout
    done = piped(GOOD, "run", "-", "--seeds", "1", "--set", "run.duration=1ms", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(place / "out")
    assert "<stdin>" in (place / "out" / "scenario.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (WRONG, "hull: error: <stdin>:4:17: host.rate: "),
        ("", "hull: error: <stdin>: empty; expected a scenario\n"),
        (" \n", "hull: error: <stdin>: empty; expected a scenario\n"),
        ("name = \n", "hull: error: <stdin>:1:"),
        ("[a\nb", "hull: error: <stdin>:1:3: is not TOML: "),
        ("x = 1", "hull: error: <stdin>:1:1: x: there is no such key"),
    ],
)
def test_bad_standard_input(place: Path, text: str, told: str) -> None:
    for command in ("run", "check"):
        done = piped(text, command, "-")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(told)
    assert not (place / "results").exists()


def test_standard_input_is_not_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["hull", "check", "-"])
    for stdin, told in (
        (io.TextIOWrapper(io.BytesIO(b"name = '\xff'")), "not UTF-8 text (byte 8)"),
        (None, "closed; expected a scenario"),
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        assert cli.main() == 2
        assert capsys.readouterr().err == f"hull: error: <stdin>: {told}\n"


FALSE_SECOND = """\
name = "mini"
run.duration = "10ms"
topology.star.hosts = 3
host = { rate = "10Gbps", delay = "1us" }
switch = { rate = "10Gbps", delay = "1us", buffer = "500pkts", marking.threshold = "65pkts" }
transport = { congestion_control = "dctcp" }
workload.long_lived.flows = [{ src = [1, 2], dst = 0 }]
"""


def test_a_mistake_in_transport_is_the_only_one(hull: Hull, place: Path) -> None:
    """Packets have their size also where ECN is missing."""
    (place / "mini.toml").write_text(FALSE_SECOND, encoding="utf-8")
    done = hull("check", "mini.toml")
    (only,) = done.stderr.splitlines()
    assert only.startswith("hull: error: mini.toml:6:36: transport.ecn: not given, and its default")
    assert done.returncode == 2
    assert hull("check", "mini.toml", "--set", "transport.ecn=true").returncode == 0


CAPITALS = """\
<graphml>
<key id="d2" for="edge" attr.name="Delay"/><key id="d1" for="edge" attr.name="Rate"/>
<key id="d0" for="node" attr.name="kind"/>
<graph edgedefault="undirected">
<node id="l0"><data key="d0">switch</data></node><node id="l1"><data key="d0">switch</data></node>
<node id="h0"><data key="d0">host</data></node><node id="h1"><data key="d0">host</data></node>
<edge source="l0" target="l1"><data key="d1">40Gbps</data><data key="d2">50us</data></edge>
<edge source="l0" target="h0"><data key="d1">10Gbps</data><data key="d2">50us</data></edge>
<edge source="l1" target="h1"><data key="d1">10Gbps</data><data key="d2">20us</data></edge>
</graph></graphml>
"""
OVER_CAPITALS = """\
name = "t"
run = { duration = "5ms" }
topology.file.path = "capitals.graphml"
host = { rate = "100Gbps", delay = "500ns" }
switch = { rate = "100Gbps", delay = "500ns" }
workload.permutation.size = "1MB"
"""


def test_graph_whose_rates_have_another_name(hull: Hull, place: Path) -> None:
    """They are rejected; with the right names `hull check` shows them by tier."""
    (place / "capitals.graphml").write_text(CAPITALS, encoding="utf-8")
    (place / "capitals.toml").write_text(OVER_CAPITALS, encoding="utf-8")
    done = hull("check", "capitals.toml")
    assert done.returncode == 2
    assert done.stderr == (
        "hull: error: capitals.toml:3:22: topology.file.path: capitals.graphml: line 7: link "
        '"l0" to "l1": Rate: there is no such attribute; did you mean rate? It is ignored only on '
        "links that have rate\n"
    )
    right = CAPITALS.replace("Rate", "rate").replace("Delay", "delay")
    (place / "capitals.graphml").write_text(right, encoding="utf-8")
    lines = hull("check", "capitals.toml").stdout.splitlines()
    assert [line for line in lines if line.startswith("links")] == [
        "links       host-tor: 2, of which 1 at 10Gbps, 20us one way; 1 at 10Gbps, 50us one way",
        "links       tor-tor: 1 at 40Gbps, 50us one way",
    ]


def test_links_of_a_sweep_and_of_two_directions(hull: Hull, place: Path) -> None:
    (place / "mine.toml").write_text(GOOD, encoding="utf-8")
    rates = ("--set", 'sweep."switch.rate"=["50Gbps", "100Gbps"]')
    lines = hull("check", "mine.toml", *rates).stdout.splitlines()
    assert [line for line in lines if line.startswith(("network", "links"))] == [
        "network     4 hosts, 1 switch",
        "links       host-switch: 4 at 100Gbps up and 50Gbps down, 1us one way",
        "links       host-switch: 4 at 100Gbps, 1us one way",
    ]

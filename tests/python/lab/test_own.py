"""The user's scenario in the lab: what it takes and reports, and that it runs as in `hull run`."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from hull import scenarios
from hull.lab import own_cells, scenario
from hull.lab.model import PARAMETERS, read_state
from hull.lab.own import Own, cells_of, read_own, saved
from hull.lab.recommended import networks, recommended

LEAF_SPINE = """
name = "rack"
title = "Our rack"
[run]
duration = "40ms"
warmup = "10ms"
[topology.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 20
uplink_rate = "100Gbps"
[host]
queue = "fifo"
rate = "25Gbps"
delay = "500ns"
stack_delay = "5us"
[switch]
rate = "25Gbps"
delay = "500ns"
buffer = "500KB"
[workload.long_lived]
flows = [{ src = "20-22", dst = 0 }]
[workload.requests]
load = "20%"
servers = "23-30"
classes = [{ size = "1KB", share = "50%" }, { size = "20KB", share = "50%" }]
[schemes.cubic]
transport = { congestion_control = "cubic" }
[schemes.dctcp]
transport = { congestion_control = "dctcp", ecn = true }
switch.marking = { threshold = "100KB" }
[schemes.hull]
transport = { congestion_control = "dctcp", ecn = true }
switch.phantom_queue = { drain = "95%", threshold = "3KB" }
pacer = {}
"""


@pytest.fixture
def rack(tmp_path: Path) -> Own:
    file = tmp_path / "rack.toml"
    file.write_text(LEAF_SPINE)
    return read_own(str(file))


def read(tmp_path: Path, text: str) -> Own:
    file = tmp_path / "my.toml"
    file.write_text(text)
    return read_own(str(file))


def look(cell: scenario.Cell, state: Any, until: float) -> dict[str, Any]:
    """Return the data that the page has of a run at a time."""
    live = cell.live(1, 2 * state.rtt, [0.0])
    live.advance(until, 10**9)
    found: dict[str, Any] = json.loads(live.take(1))
    return found


def test_star_uses_the_files_numbers(rack: Own) -> None:
    state = rack.state
    assert (state.rate, state.mtu, state.buffer) == (25e9, 1500, 500e3)
    assert (state.k, state.drain, state.threshold) == (100e3, 0.95, 3e3)
    assert (state.flows, state.load, state.queue) == (3, 0.2, "fifo")
    assert "hosts' queue fifo" in rack.taken
    assert state.rtt == pytest.approx(25.23e-6, rel=1e-3)
    assert rack.left == ("leaf-spine of 40 hosts: shows the port to one host, h0, as a star",)
    assert "3 long flows to host 0" in rack.taken
    assert rack.taken[-2:] == (
        "schemes cubic as CUBIC, dctcp as DCTCP, hull as HULL",
        "pacer",
    )
    # DCTCP and HULL have charts; the third scheme appears only on the plane.
    assert state.all_schemes == ("own:dctcp", "own:hull", "own:cubic")
    star = read_state({"a": "hull", "b": "dctcp"}, rack.catalog)
    assert replace(star, schemes=state.schemes, more=state.more) == state


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"500KB"', '"unlimited"', "a buffer without limit: the port has the recommended one"),
        ('"5us"', '"5ms"', "outside the lab's range; using 0.001"),
        ("pacer = {}", "pacer = { beta = 16 }", "pacer with beta 16: the star's pacer is set"),
        ('"20KB"', '"10MB"', "responses of 1KB, 10MB: the lab's have 1 KB"),
        ('"cubic"', '"bic"', "cubic: bic without switch.marking is not one of the lab's schemes"),
        ("per_leaf = 20", "per_leaf = 200", "400 hosts: too large to run live as it is"),
        ("dst = 0", "dst = 4", "run live: shows the port to host 0"),
        ('load = "20%"', 'load = "95%"', "requests with a load of 95%: outside the lab's range"),
        (
            "pacer = {}",
            'host = { queue = "fq" }',
            "hull with the hosts' queue fq: the star has fifo",
        ),
        ('queue = "fifo"', "nic_queues = 4", "4 transmit queues of a NIC: the star has one"),
        (
            "[host]",
            "[transport.small_queues]\non = false\n[host]",
            "transport.small_queues: the star has the defaults",
        ),
    ],
)
def test_differences_from_a_star_are_reported(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in LEAF_SPINE
    found = read(tmp_path, LEAF_SPINE.replace(old, new))
    assert any(said in sentence for sentence in found.left), found.left


def test_rates_and_packets_of_the_file_can_be_chosen(tmp_path: Path) -> None:
    text = LEAF_SPINE.replace('"25Gbps"', '"50Gbps"')
    found = read(tmp_path, text + '[transport]\nmtu = "2KB"\n')
    rate, mtu = (found.catalog.parameters[id_] for id_ in ("rate", "mtu"))
    assert list(rate.choices) == [1e9, 10e9, 25e9, 40e9, 50e9, 100e9, 400e9]
    assert list(mtu.choices) == [1500, 2000, 4096, 9000]
    assert (found.state.rate, found.state.mtu) == (50e9, 2000)
    assert PARAMETERS["rate"].default == 10e9


@pytest.mark.parametrize(
    ("new", "queue", "settable"),
    [
        ("", "fair", True),
        ('queue = "fq_codel"', "fq_codel", True),
        ("nic_queues = 4", "fifo", False),
        ("nic_queues = 1", "fair", True),
    ],
)
def test_hosts_queue_is_that_of_the_file(
    tmp_path: Path, new: str, queue: str, settable: bool
) -> None:
    found = read(tmp_path, LEAF_SPINE.replace('queue = "fifo"', new))
    assert found.state.queue == found.catalog.queue == queue
    assert f"hosts' queue {queue}" in found.taken
    other = "fq" if queue == "fair" else "fair"
    for state in (found.state, replace(found.state, queue=other)):
        expected = state.queue if settable else queue
        for cell in cells_of(state, found):
            assert cell.scenario["host"]["queue"] == expected
            assert look(cell, state, 2e-4)["stats"]["packet_hops"] > 0
        star = read_state({"a": "hull", "queue": state.queue}, found.catalog)
        assert cells_of(star, found)[0].scenario["host"]["queue"] == state.queue
    for scheme in found.catalog.schemes.values():
        assert not scheme.own or ("queue" in scheme.parameters) == settable


def test_small_queues_that_are_on_keep_a_queue_per_flow(tmp_path: Path) -> None:
    small = "[transport.small_queues]\non = true\n[host]"
    text = LEAF_SPINE.replace('queue = "fifo"', "").replace("[host]", small)
    found = read(tmp_path, text)
    for cell in cells_of(replace(found.state, queue="fifo"), found):
        assert cell.scenario["host"]["queue"] == "fair"


@pytest.mark.parametrize("name", scenarios.names())
def test_every_shipped_scenario_can_be_viewed(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, scenarios.text(name))
    assert found.taken
    for cell in cells_of(found.state, found):
        live = cell.live(1, 1e-4, [0.0])
        assert live.advance(1e-3, 5000) > 0
        json.loads(live.take(10))


def small(found: dict[str, Any]) -> tuple[float, float]:
    """Return the median and p99 completion times of a summary's smallest class, s."""
    fct = found["fct"][0]
    return fct["p50_us"] / 1e6, fct["p99_us"] / 1e6


@pytest.mark.parametrize("kind", ["star", "own"])
def test_plane_agrees_with_the_run(rack: Own, tmp_path: Path, kind: str) -> None:
    """The page's last frame and `hull run` of the saved scenario agree in bandwidth and latency."""
    chosen = {"a": "own:hull", "b": "own:dctcp", "more": "own:cubic"}
    if kind == "star":
        chosen = {"a": "hull", "b": "dctcp", "more": "tcp"}
    state = read_state({**chosen, "speed": 1e-4}, rack.catalog)
    file = tmp_path / "saved.toml"
    file.write_text(saved(state, rack))
    result = hull.run(file, tmp_path / "out", jobs=1)
    summary = json.loads((result.folder / "summary.json").read_text())
    measured = scenario.duration(state) - scenario.warmup(state)
    cells = cells_of(state, rack)
    assert len(cells) == 3
    for cell in cells:
        stats = look(cell, state, 1.0)["stats"]
        name = cell.scheme.removeprefix(own_cells.PREFIX)
        (run,) = [entry for entry in summary["parts"] if entry["scheme"] == name]
        found = run.get("summary", run)
        assert stats["throughput"] / 25e9 == pytest.approx(
            found["throughput"]["utilization"], abs=1e-3
        )
        p50, p99 = small(found)
        # The page does not wait for requests still open at the end, for example after a timeout.
        assert stats["fct_small_p50"] == pytest.approx(p50, rel=0.02)
        assert stats["timeouts"] or stats["fct_small_p99"] == pytest.approx(p99, rel=0.05)
        folder = result.folder / "parts" / "base" / name / "seed-1"
        series = pl.read_parquet(folder / "series.parquet").filter(
            pl.col("flow").is_between(cell.first_flow, cell.first_flow + cell.long_flows - 1)
        )
        delivered = series.group_by("flow").agg(
            pl.col("delivered_bytes").sort_by("time_ps").last()
            - pl.col("delivered_bytes")
            .filter(pl.col("time_ps") <= 1e12 * scenario.warmup(state) + 1)
            .last()
        )
        goodput = 8 * float(delivered["delivered_bytes"].sum()) / measured
        assert delivered.height == cell.long_flows == 3
        assert stats["goodput_long"] == pytest.approx(goodput, rel=0.01)


def test_untouched_sliders_run_the_file_as_is(rack: Own) -> None:
    state = rack.state
    for cell in cells_of(state, rack):
        resolved, file = cell.scenario, rack.cells[cell.scheme]
        assert {k: v for k, v in resolved.items() if k not in ("run", "measure")} == {
            k: v for k, v in file.items() if k not in ("run", "measure")
        }
    moved = replace(state, drain=0.9, threshold=6e3, k=50e3, load=0.1, buffer=200e3)
    cells = {cell.scheme: cell.scenario for cell in cells_of(moved, rack)}
    assert cells["own:hull"]["switch"]["phantom_queue"]["drain"] == "90%"
    assert cells["own:hull"]["switch"]["phantom_queue"]["threshold"] == "6000B"
    assert cells["own:dctcp"]["switch"]["marking"]["threshold"] == "50000B"
    for one in cells.values():
        assert one["workload"]["requests"]["load"] == "10%"
        assert one["switch"]["buffer"] == "200000B"


def test_two_networks_cannot_be_saved(rack: Own) -> None:
    state = read_state({"a": "hull", "b": "own:hull"}, rack.catalog)
    assert [cell.scheme for cell in cells_of(state, rack)] == ["hull", "own:hull"]
    with pytest.raises(hull.UsageError, match="expected schemes of one network"):
        saved(state, rack)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 1\n", "name: "),
        (LEAF_SPINE.replace("per_leaf", "per_lead"), "hosts_per_lead: there is no such"),
        (LEAF_SPINE.replace('"95%"', '"195%"'), "switch.phantom_queue.drain"),
    ],
)
def test_invalid_file_is_bad_input(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    command = [sys.executable, "-m", "hull", "lab", "--no-open", "--port", "0", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    check = [sys.executable, "-m", "hull", "check", str(file)]
    checked = subprocess.run(check, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == checked.returncode == 2
    assert message in done.stderr
    assert done.stderr == checked.stderr
    assert done.stdout == ""


def test_file_is_shown_only_with_the_token(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("websockets")
    from lab.lab_client import serving

    file = tmp_path / "secret.toml"
    file.write_text(LEAF_SPINE)
    with serving("--host", "0.0.0.0", str(file)) as server:
        for given in (None, "wrong"):
            headers = {} if given is None else {"Authorization": f"Bearer {given}"}
            status, _, body = server.get("/api/model", **headers)
            assert status == 200
            assert b"secret" not in body
            assert b"own:" not in body
            assert json.loads(body)["admitted"] is False
        _, _, body = server.get("/api/model", Authorization=f"Bearer {server.token}")
        found = json.loads(body)
        assert found["admitted"]
        assert found["own"]["title"] == "Our rack"
        assert found["schemes"][0]["id"] == "own:cubic"


def test_missing_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(hull.UsageError, match="no such file"):
        read_own(str(tmp_path / "none.toml"))


@pytest.mark.parametrize("rate", [1e9, 25e9, 100e9, 400e9])
def test_recommended_values_match_hull_design(rate: float) -> None:
    from hull.theory.design import Setting, design

    found = recommended(rate, 1e-4, 1500, 2)
    of_design = design(Setting(rate, 1e-4, 2, 0.4))
    # Sliders have two digits; below two packets nothing is left to mark late.
    assert found["k"] == pytest.approx(max(of_design.k_packets, 2) * 1500, rel=0.05)
    assert found["threshold"] == pytest.approx(of_design.threshold_bytes, rel=0.05)
    assert found["drain"] == pytest.approx(of_design.gamma, abs=0.005)
    read_state({"rate": rate, "rtt": 1e-4, **found})


def test_recommended_speed_limits_packet_hops() -> None:
    assert [network["rate"] for network in networks()] == [10e9, 25e9, 100e9, 400e9]
    for rate in (1e9, 10e9, 100e9, 400e9):
        for rtt in (2e-6, 1e-5, 1e-4, 1e-3):
            speed = recommended(rate, rtt, 1500, 2)["speed"]
            assert 4 * rate * speed / (8 * 1500) < 14e6 if speed == 1e-4 else 1.06e6
            assert speed <= max(53 * rtt, 1e-4)

"""`hull design`: the example of the thesis, rejected input, and its predictions simulated."""

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from hull import _core, cli
from hull.ask.design_check import measure, read_plans
from hull.errors import UsageError
from hull.runs.plan import expand, make_plan
from hull.theory.design import Setting, design, recommended_pacer
from hull.theory.fluid import Fluid
from hull.theory.limit_cycle import limit_cycle
from hull.theory.options import read_setting
from hull.theory.scenario import scenario
from hull.theory.sources import SOURCES

EXAMPLE = Setting(10e9, 300e-6, 2, 0.4)
Hull = Callable[..., CompletedProcess[str]]


def test_example_of_the_thesis() -> None:
    found = design(EXAMPLE)
    assert found.k_packets == pytest.approx(42, abs=1)
    assert (round(found.g_min, 2), round(found.g_max, 2)) == (0.02, 0.06)
    assert found.predicted["dctcp_throughput"] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("rate_bps", "rtt_s", "wanted"),
    [
        # Paper table 3 and 5.1; T_r equals the paper's at a round trip of 105 us.
        (
            1e9,
            105e-6,
            {
                "update_interval_s": 64e-6,
                "eta": 0.125,
                "beta": 16,
                "association_probability": 0.125,
                "association_timeout_s": 10e-3,
                "bucket_bytes": 3000,
                "fifo_bytes": 128_000,
            },
        ),
        # Paper 6.3.
        (
            10e9,
            11.8e-6,
            {
                "update_interval_s": 7.2e-6,
                "eta": 0.125,
                "beta": 375,
                "association_probability": 0.125,
                "association_timeout_s": 1e-3,
            },
        ),
    ],
)
def test_pacer_for_both_documented_settings(
    rate_bps: float, rtt_s: float, wanted: dict[str, float]
) -> None:
    found = asdict(recommended_pacer(rate_bps, rtt_s, 1500))
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("rate_bps", "rtt_s"), [(1e9, 105e-6), (10e9, 300e-6), (25e9, 30e-6), (100e9, 20e-6)]
)
def test_empty_pacer_table_gets_the_designs_pacer(rate_bps: float, rtt_s: float) -> None:
    """`hull design` and `pacer = {}` in its network give the same pacer."""
    table = scenario(design(Setting(rate_bps, rtt_s, 1, 0.0)))
    settled = expanded(table)[1]["pacer"]
    table["schemes"]["hull"]["pacer"] = {}
    derived = expanded(table)[1]["pacer"]
    # The scenario's delays are rounded to ns, and T_r to two digits.
    for key in ("update_interval", "association_timeout"):
        pair = [_core.quantity("time", pacer[key]) for pacer in (settled, derived)]
        assert pair[0] == pytest.approx(pair[1], rel=0.06)
    assert settled["beta"] == pytest.approx(derived["beta"], rel=0.1)


def expanded(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The scenarios of dctcp and hull."""
    cells = expand(tomli_w.dumps(table), "design.toml", [], [])
    return [cell["scenario"] for cell in cells]


@settings(max_examples=60)
@given(
    st.floats(8, 11.5),
    st.floats(-5, -2.5),
    st.integers(1, 40),
    st.floats(0, 0.9),
    st.sampled_from([300, 1500, 9000]),
    st.one_of(st.none(), st.floats(3e3, 1e7)),
)
def test_any_setting_is_designed_or_rejected(
    rate: float, rtt: float, flows: int, load: float, mtu: int, buffer: float | None
) -> None:
    refusal = ""
    try:
        found = design(Setting(10**rate, 10**rtt, flows, load, mtu, buffer))
    except UsageError as error:
        refusal = str(error)
    if refusal:
        assert "; expected" in refusal
        return
    predicted = found.predicted
    assert predicted.keys() <= SOURCES.keys()
    assert 0 < found.g_min <= found.g_max <= 1
    for scheme in ("dctcp", "hull"):
        throughput = predicted[f"{scheme}_throughput"]
        assert throughput is not None
        assert 0.5 < throughput / (found.gamma if scheme == "hull" else 1) <= 1 + 1e-12
    assert (predicted["hull_slowdown"] or 0) >= 1
    assert 0 < (predicted["dctcp_stability_margin"] or 0) <= 1
    assert (predicted["dctcp_convergence_s"] is None) == (flows == 1)
    if buffer is not None:
        assert found.k_packets + flows <= buffer / mtu


def test_phantom_queue_by_small_steps() -> None:
    """The model without queueing delay: windows and a counter, in fixed steps."""
    window, g, psi, dt = 119.0, 0.03, 0.003, 1e-3
    w, a, v = window, 0.1, 0.0
    late = round(1 / dt)
    marks = [0.0] * late
    sent = []
    for i in range(300_000):
        p = marks[i]
        w, a, v = (
            w + dt * (1 - w * a * p / 2),
            a + dt * g * (p - a),
            max(-psi, v + dt * (w / window - 1)),
        )
        marks.append(float(v > 0))
        sent.append(w / window)
    cycle = limit_cycle(Fluid(window, g, psi, phantom=True))
    periods = sent[-20 * round(cycle.period / dt) :]
    assert cycle.throughput == pytest.approx(math.fsum(periods) / len(periods), abs=1e-3)


@pytest.mark.parametrize("here", [Setting(10e9, 300e-6, 2, 0.0), Setting(10e9, 100e-6, 4, 0.0)])
def test_predictions_match_simulation(here: Setting) -> None:
    """Simulated results are within the bounds that SOURCES states."""
    found = design(here)
    measured = measure(found, read_plans(found))
    ratio = {
        name: value / (found.predicted[name] or math.nan)
        for name, value in measured.items()
        if value is not None
    }
    assert ratio["dctcp_throughput"] == pytest.approx(1, abs=0.02)
    assert 1 <= ratio["hull_throughput"] < 1.07
    assert 1 <= ratio["dctcp_queueing_delay_mean_s"] < 1.25
    assert 1 <= ratio["dctcp_queueing_delay_max_s"] < 1.35
    assert ratio["hull_queueing_delay_p99_s"] < 1.01
    assert 1 <= ratio["dctcp_convergence_s"] < 3.2
    # Pacers adapt over T_r / eta, which the model does not have.
    assert 1 <= ratio["hull_convergence_s"] < (3.2 if here.flows == 2 else 7.5)
    assert measured["hull_slowdown"] is measured["dctcp_stability_margin"] is None


def test_scenario_can_be_run() -> None:
    for flows in (1, 2, 3):
        found = design(Setting(10e9, 300e-6, flows, 0.4, 1500, 1e6))
        from hull.runs.plan import read_scenario

        plan = make_plan(*read_scenario(scenario(found)), [])
        assert [cell.scheme for cell in plan.cells] == ["dctcp", "hull"]
        assert plan.cells[0].scenario["switch"]["marking"]["threshold"] == "63.75KB"
        assert plan.cells[0].scenario["switch"]["buffer"] == "1MB"


def test_json(hull: Hull) -> None:
    done = hull("design", "--rate", "10Gbps", "--rtt", "300us", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    wanted = {"k_packets", "g_min", "g_max", "drain_bps", "threshold_bytes", "pacer"}
    assert wanted | {"predicted", "sources"} <= found.keys()
    assert found["pacer"].keys() >= {"update_interval_s", "eta", "beta"}
    assert found["predicted"].keys() | wanted == found["sources"].keys()
    assert all(source["equation"] and source["trust"] for source in found["sources"].values())
    assert found["drain_bps"] == pytest.approx(9.5e9)


def test_text_and_scenario_file(hull: Hull, place: Path) -> None:
    options = ("--rate", "1Gbps", "--rtt", "300us", "--scenario", "mine.toml")
    done = hull("design", *options)
    assert done.returncode == 0, done.stderr
    assert "thesis 3.1: K = 0.17 C d" in done.stdout
    content = tomllib.loads((place / "mine.toml").read_text())
    assert content["schemes"]["hull"]["switch"]["phantom_queue"]["drain"] == "920Mbps"
    again = hull("design", *options)
    assert again.returncode == 2
    assert "mine.toml: File exists; expected a writable file" in again.stderr
    short = ("--set", "run.duration=20ms", "--set", "run.warmup=20ms")
    assert hull("run", "mine.toml", *short).returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtt", "0us"], "--rtt: 0us is invalid; expected a time from 1us to 1s"),
        (["--rtt", "2s"], "--rtt: 2s is invalid; expected a time from 1us to 1s"),
        (["--rtt", "1s"], "--rtt: 1s, with 1,250 MB in flight at 10 Gbps, is invalid; expected at"),
        (["--rtt", "300ms", "--mtu", "300B"], "expected at most 120 MB"),
        (["--rtt", "nan"], '--rtt: "nan" is invalid; expected a number with one of the units'),
        (["--load", "0.95"], "load: 0.95 is invalid; expected 0 or more and below the usable cap"),
        (["--load", "1.5"], "--load: 1.5 is invalid; expected 0% to below 100%"),
        (["--load", "0.000000001", "--check"], "--load: 1e-09 is invalid with --check"),
        (["--flows", "150"], "there is no limit cycle"),
        (["--flows", "0"], "--flows: 0 is invalid; expected a whole number of at least 1"),
        (["--flows", "4096"], "--flows: 4096 is invalid; expected 1 to 4095"),
        (["--flows", "9" * 5000], "--flows: 999"),
        (["--buffer", "3KB"], "buffer: 2 packets is invalid; expected more than 2"),
        (["--rate", "10"], "--rate: 10 is invalid; expected a rate from 10Mbps to 6.4Tbps"),
        (["--rate", "10GB/s"], '--rate: "10GB/s" is invalid; expected bits per second'),
        (["--rate", "1Mbps"], "--rate: 1Mbps is invalid; expected a rate from 10Mbps to 6.4Tbps"),
        (["--rate", "1000Tbps"], '--rate: "1000Tbps" is invalid; expected a'),
        (["--load", "much"], '--load: "much" is invalid; expected a share'),
        (["--mtu", "0B"], "--mtu: 0B is invalid; expected 300B to 9000B"),
        (["--mtu", "1B"], "--mtu: 1B is invalid; expected 300B to 9000B"),
        (["--mtu", "9001B"], "--mtu: 9001B is invalid; expected 300B to 9000B"),
    ],
)
def test_bad_input(
    place: Path,
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["design", "--rate", "10Gbps", "--rtt", "300us", "--scenario", "mine.toml"]
    monkeypatch.setattr("sys.argv", ["hull", *arguments, *options])
    assert cli.main() == 2
    done = capsys.readouterr()
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert done.out == ""
    assert not (place / "mine.toml").exists()


@settings(max_examples=60)
@given(
    st.sampled_from(["10Mbps", "95Mbps", "1Gbps", "10Gbps", "400Gbps", "1.6Tbps", "6.4Tbps"]),
    st.sampled_from(["1us", "20us", "300us", "2ms", "30ms", "1s"]),
    st.sampled_from([1, 2, 3, 100, 4095]),
    st.sampled_from(["0%", "0.000000001", "40%"]),
    st.sampled_from(["300B", "1500B", "9000B"]),
    st.sampled_from([None, "2.999KB", "64KB", "1GB", "1000000GB"]),
)
def test_design_within_the_limits_can_be_run(
    rate: str, rtt: str, flows: int, load: str, mtu: str, buffer: str | None
) -> None:
    try:
        table = scenario(design(read_setting(rate, rtt, str(flows), load, mtu, buffer)))
    except UsageError:
        return
    assert len(expanded(table)) == 2


def test_network_supplies_rate_round_trip_and_mtu(hull: Hull) -> None:
    of_form = hull("design", "2x20@25G,2x100G", "--format", "json")
    assert of_form.returncode == 0, of_form.stderr
    setting = json.loads(of_form.stdout)["setting"]
    assert setting["rate_bps"] == 25e9
    assert setting["rtt_s"] == pytest.approx(30e-6, rel=1e-6)
    assert "--rtt sets it" in of_form.stderr
    same = hull("design", "--rate", "25Gbps", "--rtt", "30us", "--format", "json")
    assert json.loads(same.stdout)["k_packets"] == pytest.approx(
        json.loads(of_form.stdout)["k_packets"], rel=1e-6
    )
    hull("scenarios", "copy", "sharing")
    of_file = hull("design", "sharing.toml", "--format", "json", "--rtt", "100us")
    assert json.loads(of_file.stdout)["setting"]["rtt_s"] == pytest.approx(100e-6)
    assert json.loads(of_file.stdout)["setting"]["rate_bps"] == 10e9


def test_neither_a_network_nor_a_rate(hull: Hull) -> None:
    done = hull("design")
    assert done.returncode == 2
    assert "--rate, --rtt: required without a network" in done.stderr

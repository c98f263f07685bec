"""Variance of N flows and the buffer rule: closed forms by other means, and simulated TCP."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hull
from hull.errors import UsageError
from hull.theory import multiplexing


@given(st.floats(0.05, 0.95))
def test_sawtooth_is_uniform(cut: float) -> None:
    window = np.linspace(1 - cut, 1, 100_001)
    assert window.std() / window.mean() == pytest.approx(
        multiplexing.periodic_deviation(cut), rel=1e-4
    )


@pytest.mark.parametrize("cut", [0.125, 0.5, 0.8])
def test_random_cuts_by_a_sampled_window(cut: float) -> None:
    """The area under the window between two cuts, W0 x + x^2/2, is exponential with mean 1/p."""
    random = np.random.default_rng(7)
    areas = random.exponential(1.0, 200_000)
    window, time, first, second = 1.0, 0.0, 0.0, 0.0
    for area in areas:
        growth = math.sqrt(window * window + 2 * area) - window
        end = window + growth
        time += growth
        first += (end**2 - window**2) / 2
        second += (end**3 - window**3) / 3
        window = end * (1 - cut)
    mean = first / time
    assert mean == pytest.approx(multiplexing.random_mean(cut), rel=0.01)
    assert second / time == pytest.approx(1 / cut, rel=0.01)
    deviation = math.sqrt(second / time - mean**2) / mean
    assert deviation == pytest.approx(multiplexing.random_deviation(cut), rel=0.02)


def test_published_constant() -> None:
    """Ott, Kemperman and Mathis: the time average is 1.3098 / sqrt(p)."""
    assert multiplexing.random_mean() == pytest.approx(1.3098, abs=1e-4)


def test_sums_of_independent_rates() -> None:
    random = np.random.default_rng(3)
    for flows in (2, 9, 64):
        rates = random.uniform(2 / 3, 4 / 3, (20_000, flows)) / flows
        total = rates.sum(axis=1)
        single = multiplexing.periodic_deviation()
        expected = multiplexing.aggregate_deviation(single, flows)
        assert total.std() / total.mean() == pytest.approx(expected, rel=0.03)
        assert multiplexing.buffer_packets(333, flows) == pytest.approx(
            333 * expected / single, rel=1e-12
        )


def scenario(flows: int, duration_ms: int) -> dict[str, Any]:
    """Long-lived NewReno flows with round trips of 400 us and a stack jitter of a packet's time."""
    return {
        "name": "flows",
        "run": {"duration": f"{duration_ms}ms", "warmup": "50ms"},
        "topology": {"star": {"hosts": flows + 1}},
        "host": {
            "queue": "fifo",
            "rate": "100Gbps",
            "delay": "100us",
            "stack_jitter": {"exponential": "1.2us"},
        },
        "switch": {"rate": "100Gbps", "delay": "100us"},
        "transport": {
            "mtu": "1500B",
            "min_window": 1,
            "max_window": 5000,
            "receive_window": 5000,
            "ack_every": 1,
        },
        "workload": {"long_lived": {"flows": [{"src": f"1-{flows}", "dst": 0}]}},
        "measure": {"flows": {"interval": "100us"}},
    }


def deviations(what: dict[str, Any], folder: Path) -> tuple[float, float, float]:
    """Relative deviation of the sum of windows, mean of the flows', and the link's utilization."""
    result = hull.run(what, out=folder, seeds=1, jobs=1)
    late = result.series.filter(pl.col("time_ps") >= 50 * 10**9)
    total = late.group_by("time_ps").agg(pl.col("cwnd_bytes").sum())["cwnd_bytes"].to_numpy()
    flows = late.group_by("flow").agg(
        (pl.col("cwnd_bytes").std() / pl.col("cwnd_bytes").mean()).alias("deviation")
    )
    used = result.summary["cells"][0]["throughput"]["utilization"]["mean"]
    each = flows["deviation"].to_numpy()
    return float(total.std() / total.mean()), float(each.mean()), float(used)


def test_simulated_variance_falls_with_the_number_of_flows(tmp_path: Path) -> None:
    """Random losses of 0.2% on a link that never fills: flows are independent."""
    for flows, duration_ms in ((1, 3000), (4, 1000), (16, 400), (64, 200)):
        what = scenario(flows, duration_ms)
        what["switch"]["loss"] = "0.2%"
        total, each, used = deviations(what, tmp_path / str(flows))
        assert used < 0.6
        assert each == pytest.approx(multiplexing.random_deviation(), rel=0.15)
        expected = multiplexing.aggregate_deviation(multiplexing.random_deviation(), flows)
        assert total == pytest.approx(expected, rel=0.25)


def buffered(flows: int, shortest_us: int, duration_ms: int = 250) -> dict[str, Any]:
    """Drop-tail with a buffer of C RTT/sqrt(N); the mean round trip is 400 us."""
    what = scenario(flows, duration_ms)
    rest = 400 - shortest_us
    rtts = [f"{shortest_us + 2 * rest * (i + 0.5) / flows:.1f}us" for i in range(flows)]
    what["topology"] = {"dumbbell": {"pairs": flows, "rtts": rtts}}
    what["host"] |= {"rate": "40Gbps", "delay": "10us"}
    buffer = multiplexing.buffer_packets(400 / 1.2, flows)
    what["switch"] = {"rate": "10Gbps", "delay": "10us", "buffer": f"{buffer:.0f}pkts"}
    pairs = {"src": f"0-{flows - 1}", "dst": f"{flows}-{2 * flows - 1}"}
    what["workload"] = {"long_lived": {"flows": [pairs]}}
    return what


def test_lone_flow_with_the_rule_of_thumb_fills_the_link(tmp_path: Path) -> None:
    total, _, used = deviations(buffered(1, 400, 600), tmp_path / "run")
    assert total == pytest.approx(multiplexing.periodic_deviation(), rel=0.06)
    assert used > 0.998


def test_rule_needs_flows_that_do_not_cut_together(tmp_path: Path) -> None:
    """64 flows and an eighth of the buffer: flows with different round trips are independent; flows
    with equal ones cut together more often and use less of the link.
    """
    spread, each, used = deviations(buffered(64, 100), tmp_path / "spread")
    equal, each_equal, used_equal = deviations(buffered(64, 400), tmp_path / "equal")
    assert spread < 1.1 * multiplexing.aggregate_deviation(each, 64)
    assert equal > 2 * multiplexing.aggregate_deviation(each_equal, 64)
    assert used > 0.97
    assert used_equal < used


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: multiplexing.periodic_deviation(1), r"cut: 1 is invalid; expected 0\.01 to below"),
        (lambda: multiplexing.random_mean(0), r"cut: 0 is invalid; expected 0\.01 to below 1"),
        (lambda: multiplexing.buffer_packets(9, 0), r"flows: 0 is invalid; expected 1 or more"),
        (lambda: multiplexing.aggregate_deviation(0, 1), r"single: 0 is invalid; expected a numb"),
    ],
)
def test_impossible_arguments_are_rejected(call: Any, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        call()

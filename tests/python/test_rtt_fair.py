"""Equation 3.35 (thesis 3.4.2) with two packets per ACK, per packet and per ACK: alpha of simulated
flows against the balance of growth and marks.

Each ACK adds 1/W. With a share alpha of the packets marked, the cuts are alpha^2 / 2 per packet
that an ACK covers, or per ACK: alpha^2 W = 1 or 2 for two packets per ACK.
"""

import math
from pathlib import Path

import polars as pl
import pytest

import hull
from hull import ScenarioError, scenarios

FLOWS = 20


def alpha_and_window(per: str, folder: Path) -> tuple[float, float]:
    """Means over all flows, alpha and packets."""
    result = hull.run(
        {
            "name": "fair",
            "run": {"duration": "150ms", "warmup": "50ms"},
            "topology": {"star": {"hosts": FLOWS + 1}},
            "host": {
                "queue": "fifo",
                "rate": "10Gbps",
                "delay": "20us",
                "stack_jitter": {"exponential": "1.2us"},
            },
            "switch": {"rate": "10Gbps", "delay": "20us", "marking": {"threshold": "97.5KB"}},
            "transport": {
                "congestion_control": "dctcp",
                "ecn": True,
                "mtu": "1500B",
                "max_window": 5000,
                "receive_window": 5000,
                "ack_every": 2,
                "dctcp": {"rtt_fair": True, "rtt_fair_per": per},
            },
            "workload": {"long_lived": {"flows": [{"src": f"1-{FLOWS}", "dst": 0}]}},
            "measure": {"flows": {"interval": "100us"}},
        },
        out=folder,
        seeds=1,
        jobs=1,
    )
    late = result.series.filter(pl.col("time_ps") >= 50 * 10**9)
    means = late.select("alpha", "cwnd_bytes").mean()
    return means["alpha"][0], means["cwnd_bytes"][0] / 1460


@pytest.mark.parametrize(("per", "balance"), [("packet", 1), ("ack", 2)])
def test_alpha_balances_growth(per: str, balance: int, tmp_path: Path) -> None:
    alpha, window = alpha_and_window(per, tmp_path / "run")
    assert alpha == pytest.approx(math.sqrt(balance / window), rel=0.1)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ('rtt_fair_per="ack"', r'rtt_fair_per: "ack" is invalid; expected "packet" without'),
        ("acks_at_change=3", r"transport\.dctcp\.acks_at_change: 3 is invalid; expected 1 or 2"),
    ],
)
def test_invalid_settings_are_rejected(key: str, message: str, tmp_path: Path) -> None:
    copy = tmp_path / "thesis-fluid.toml"
    copy.write_text(scenarios.text("thesis-fluid"))
    override = f"schemes.dctcp.transport.dctcp.{key}"
    with pytest.raises(ScenarioError, match=message):
        hull.run(copy, out=tmp_path / "run", set=[override])

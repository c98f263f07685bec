"""Measurements of a queue's cycle against a sawtooth of known period and extremes."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from hull.experiments.common.cycles import Cycle, measured


class Sawtooth:
    """Stands in for a run's results: a queue from 20 to 60 packets every 7 round trips."""

    def __init__(self, cycle: Cycle) -> None:
        times = np.arange(0, 100, 0.04)
        queue = 20 + 40 * (times / 7 % 1)
        self.table_ = pl.DataFrame(
            {
                "time_ps": (times * cycle.round_trip_s * 1e12).astype(int),
                "queue_bytes": queue * 1500,
            }
        )

    def parts(self, condition: str, scheme: str) -> list[dict[str, Any]]:
        return [{"seed": 1}, {"seed": 2}]

    def table(self, name: str, condition: str, scheme: str, seed: int) -> pl.DataFrame:
        return self.table_


def test_period_and_extremes() -> None:
    cycle = Cycle(14, 0.0625, 0.6)
    found = measured(Sawtooth(cycle), cycle)
    assert cycle.packets == 112
    assert cycle.threshold == pytest.approx(42)
    assert found.period == pytest.approx(7, rel=0.01)
    assert found.undershoot == pytest.approx((20 - 42) / 112, abs=0.005)
    assert found.overshoot == pytest.approx((60 - 42) / 112, abs=0.005)


def test_settings_match_the_model() -> None:
    overrides = dict(text.split("=", 1) for text in Cycle(10, 0.4, 0.25).variant().overrides)
    assert overrides["switch.marking.threshold"] == "24000B"  # 16 of 80 packets
    rtt = 4 * float(overrides["host.delay"][:-1]) + 2 * 1540 * 8e-9
    rtt += 4 * float(overrides["host.stack_jitter.exponential"][:-1])
    assert rtt == pytest.approx(64 * 12e-6, rel=1e-6)
    assert Cycle(10, 0.4, 0.25).model().model.psi == 0.25

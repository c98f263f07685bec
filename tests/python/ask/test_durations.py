"""Flows that were slower than the network: the need by hand, and the sentence."""

from pathlib import Path

import polars as pl
import pytest

from ask.test_cases import traffic_of
from hull.ask.durations import needed_ps, said_of_durations

MS = 10**9


@pytest.mark.parametrize(
    ("bytes_", "us"),
    [
        # At 1 Gbps and 100 us: rounds of 14,600, 29,200, 58,400, ... bytes, and 8 ns a byte.
        (14_600, 100 + 116.8),
        (14_601, 200 + 116.808),
        (43_800, 200 + 350.4),
        (102_200, 300 + 817.6),
        (1, 100 + 0.008),
    ],
)
def test_need_by_hand(bytes_: int, us: float) -> None:
    found = pl.select(needed_ps(pl.lit(float(bytes_)), 1e9, 100e-6)).item()
    assert found / 1e6 == pytest.approx(us)


def said(rows: list[tuple[int, int | None]], tick_ps: int = 1) -> tuple[str, ...]:
    schema = {"bytes": pl.UInt64, "duration_ps": pl.Int64}
    return said_of_durations(pl.DataFrame(rows, schema, orient="row"), 1e9, 100e-6, tick_ps)


def test_slow_flows_are_said() -> None:
    # 0.5504 ms are needed for 43,800 bytes: 12 s are 21,800 times as long.
    rows = [(43_800, 12_000 * MS), (43_800, 5 * MS), (43_800, None), (43_800, 6 * MS)]
    assert said(rows) == (
        "By their recorded durations, 2 flows with 50% of the bytes took more than 10 times as "
        "long as their size needs on an idle network (median 21,802 times): a program or another "
        "limit paced them. They are replayed as fast as the network allows, in shorter bursts than "
        "recorded.",
    )
    assert said([(43_800, 5 * MS), (43_800, None)]) == ()
    # A clock of 10 ms cannot tell.
    assert said([(43_800, 20 * MS)], 10 * MS) == ()
    assert said([(43_800, 20 * MS)]) != ()


def test_sentence_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("start_ms,end_ms,src,dst,bytes\n0,12000,10.0.0.1,10.0.0.2,1000000\n")
    assert "1 flow with 100% of the bytes took more than 10 times as long" in traffic_of(path)

"""The part of a trace that is simulated, and start times within the clock's tick."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ask.generator import BEGIN_S, collector_csv, nfdump_csv, some_flows
from hull.ask.placement import Placed, place
from hull.ask.trace import read_trace
from hull.ask.window import choose
from hull.errors import UsageError

RACKS = [[0, 1, 2, 3], [4, 5, 6, 7]]
FLOWS = some_flows(500)


def of(path: Path) -> Placed:
    return place(read_trace(path), RACKS)


def of_rows(folder: Path, rows: list[tuple[int, int]]) -> Placed:
    """Place flows given as pairs of start in us and bytes."""
    path = folder / "rows.csv"
    lines = [f"{BEGIN_S * 10**6 + start},10.0.0.1,10.0.1.1,{size}" for start, size in rows]
    path.write_text("\n".join(["ts,src,dst,bytes", *lines, ""]))
    return of(path)


def test_whole_trace(tmp_path: Path) -> None:
    placed = of(collector_csv(tmp_path / "a.csv", FLOWS[::-1]))
    window = choose(placed)
    assert window.flows.height == 500
    assert window.flows["start_ps"].is_sorted()
    assert window.flows["start_ps"][0] == 0
    assert window.said == ()
    assert window.how.startswith("All 500 flows of the trace are simulated, 503 ms.")
    sizes = window.flows.sort("src_port")["bytes"].to_list()
    assert sizes == [f.bytes for f in FLOWS]


def test_a_given_window(tmp_path: Path) -> None:
    flows = [replace(f, duration_us=30 * f.duration_us) for f in FLOWS]
    placed = of(collector_csv(tmp_path / "a.csv", flows))
    window = choose(placed, "100ms,50ms")
    first = FLOWS[0].start_us
    inside = [f for f in FLOWS if 100_000 <= f.start_us - first < 150_000]
    assert window.flows["start_ps"].to_list() == [
        (f.start_us - first - 100_000) * 10**6 for f in inside
    ]
    assert (window.begin_ps, window.length_ps) == (10**11, 5 * 10**10)
    lasting = [
        f for f in flows if f.start_us - first < 100_000 < f.start_us - first + f.duration_us
    ]
    assert len(lasting) > 5
    assert f"{len(lasting)} flows" in window.said[0]
    assert "as given with --window" in window.how
    assert choose(placed, "all").flows.height == 500


def test_the_busiest_part_of_a_long_trace(tmp_path: Path) -> None:
    rows = [(10 * i + 1, 1000 if 40 <= i < 50 else 1) for i in range(100)]
    window = choose(of_rows(tmp_path, rows), most_flows=20)
    assert window.flows.height == 20
    assert window.flows["bytes"].sum() == 10 * 1000 + 10
    assert "the part of at most 20 flows with the most bytes" in window.how
    same = [(1, 1), *[(7, 5)] * 9, (20, 1), (30, 1)]
    assert choose(of_rows(tmp_path, same), most_flows=4).flows.height == 9


def test_starts_are_spread_within_the_tick(tmp_path: Path) -> None:
    placed = of(nfdump_csv(tmp_path / "a.csv", FLOWS))
    window, again, other = choose(placed), choose(placed), choose(placed, seed=2)
    assert window.flows.equals(again.flows)
    assert not window.flows.equals(other.flows)
    assert (
        "steps of 1 ms: each start is moved by a uniform draw within its step (seed 1)"
        in (window.said[0])
    )
    moved = window.flows.sort("src_port")["start_ps"]
    first = FLOWS[0].start_us // 1000
    recorded = pl.Series([(f.start_us // 1000 - first) * 10**9 for f in FLOWS])
    late = moved - recorded
    assert late.to_numpy().min() >= 0
    assert late.to_numpy().max() < 10**9
    assert 0.4e9 < late.to_numpy().mean() < 0.6e9
    assert moved.n_unique() == 500


def test_a_window_is_at_most_a_million_seconds(tmp_path: Path) -> None:
    placed = of_rows(tmp_path, [(0, 5), (2 * 10**12, 5)])
    with pytest.raises(UsageError, match="expected at most 1,000,000 s: give a part"):
        choose(placed)
    assert choose(placed, "0s,1s").flows.height == 1


@pytest.mark.parametrize("text", ["10s", "1,2", "0s,0s", "x,2s", "-1s,2s", "900s,1s"])
def test_bad_windows(tmp_path: Path, text: str) -> None:
    placed = of(collector_csv(tmp_path / "a.csv", FLOWS[:9]))
    with pytest.raises(UsageError, match=r"--window: .*expected"):
        choose(placed, text)

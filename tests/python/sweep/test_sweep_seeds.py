"""Seeds are added until an interval is narrow enough."""

import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

import hull
from conftest import Hull
from hull import UsageError, scenarios
from hull.results.statistics import mean_ci95
from hull.sweeps.seeds import FEWEST, Seeds, read_until
from sweep_help import SHORT, runs

STATISTIC = "throughput.utilization"


def settle(values: list[float], share: float, most: int = 50) -> tuple[int, int]:
    """Return how many seeds count and how many were run."""
    start = FEWEST
    seeds = Seeds(1, start, {"x": share}, most, 1)
    asked = start

    def value(case: int, seed: int) -> Mapping[str, float]:
        return {"x": values[seed - 1]}

    while more := seeds.more(0, value):
        assert more.start == asked + 1
        asked += len(more)
    return len(seeds.shown(0)), asked


def test_minimum_seeds_always_run() -> None:
    values = [10 + ((7 * i) % 11 - 5) / 3 for i in range(50)]
    for share in (0.2, 0.1, 0.07, 0.05):
        count, asked = settle(values, share)
        intervals = {n: mean_ci95(values[:n]) for n in range(5, 51)}
        assert count == min(n for n, (mean, ci) in intervals.items() if (ci or 0) <= share * mean)
        assert count <= asked <= 2 * count


def test_interval_needs_enough_values_not_only_seeds() -> None:
    one: dict[str, float] = {"x": 1.0}
    found = [{}, one, {"x": 1.01}, {}, {}, one, one, {}, {}, one, {}]
    seeds = Seeds(1, 3, {"x": 0.05}, 11, 1)
    while seeds.more(0, lambda case, seed: found[seed - 1]):
        pass
    assert len(seeds.shown(0)) == 10
    assert seeds.is_narrow(0)


def test_missing_statistic_is_not_narrow() -> None:
    seeds = Seeds(1, 3, {"x": 0.05}, 9, 1)
    assert not seeds.more(0, lambda case, seed: {"y": 1.0})
    assert (len(seeds.shown(0)), seeds.is_narrow(0)) == (5, False)


def test_seeds_are_limited() -> None:
    assert settle([(-1.0) ** i * i for i in range(50)], 0.01, most=20) == (20, 20)
    assert settle([0.0] * 50, 0.01) == (5, 5)


def _normal(draw: random.Random, variation: float) -> float:
    return draw.gauss(1, variation)


def _log_normal(draw: random.Random, variation: float) -> float:
    sigma = math.sqrt(math.log1p(variation**2))
    return math.exp(draw.gauss(-(sigma**2) / 2, sigma))


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("of", [_normal, _log_normal])
def test_coverage_at_the_stop(share: float, of: Callable[[random.Random, float], float]) -> None:
    """The page states 92 to 95% for a true mean of 1, the least where seeds vary by twice the width
    asked for; from the same seeds, a fixed number of them covers 95%.
    """
    draw = random.Random(7)
    cases, most = 2000, 100
    values = [[of(draw, 2 * share) for _ in range(most)] for _ in range(cases)]
    seeds = Seeds(0, FEWEST, {"x": share}, most, cases)
    at_stop = fixed = counts = 0
    for case, mine in enumerate(values):
        while seeds.more(case, lambda _, seed, mine=mine: {"x": mine[seed]}):  # type: ignore[misc]
            pass
        assert seeds.is_narrow(case)
        counts += len(seeds.shown(case))
        at_stop += _covers(mine[: len(seeds.shown(case))])
        fixed += _covers(mine[:16])
    assert 15 <= counts / cases <= 17.5
    # Standard error of a share of 0.92 in 2,000 cases: 0.6 points.
    assert 0.90 <= at_stop / cases <= 0.94
    assert 0.93 <= fixed / cases <= 0.97


def _covers(values: list[float]) -> bool:
    mean, ci95 = mean_ci95(values)
    return ci95 is not None and abs(mean - 1) <= ci95


@pytest.mark.parametrize("share", ["0", "-5%", "100%", "x", "", 2])
def test_invalid_share(share: object) -> None:
    with pytest.raises(UsageError, match=r"until a: .*expected a share"):
        read_until({"a": share})


def test_points_get_as_many_seeds_as_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")

    def sweep(store: str, jobs: int) -> pl.DataFrame:
        return hull.sweep(
            "table4.toml",
            set=["run.duration=200ms", "run.warmup=20ms"],
            until={STATISTIC: "40%"},
            max_seeds=12,
            jobs=jobs,
            store=store,
        )

    frame = sweep("a", 2).filter(pl.col("statistic") == STATISTIC)
    points = frame.group_by(["workload.requests.load", "scheme"], maintain_order=True).agg(
        pl.col("value"), pl.col("mean", "ci95", "n").first()
    )
    assert points["n"].n_unique() > 1
    for row in points.iter_rows(named=True):
        assert len(row["value"]) == row["n"] <= 12
        if row["n"] < 12:
            assert row["ci95"] <= 0.4 * row["mean"]
        if row["n"] > FEWEST:
            mean, ci95 = mean_ci95(row["value"][:-1])
            assert ci95 is not None
            assert ci95 > 0.4 * mean
    assert sweep("b", 1).filter(pl.col("statistic") == STATISTIC).equals(frame)


def test_the_command_names_points_that_stay_wide(hull: Hull, place: Path) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    command = ["sweep", "table4.toml", *SHORT, "--until", f"{STATISTIC}=1%"]
    done = hull(*command, "--max-seeds", "6")
    assert done.returncode == 0, done.stderr
    assert "after 6 seeds still wider than --until: load=20%, tcp_droptail;" in done.stderr
    wrong = hull(*command[:-1], "fct.1kB.mean=5%", "--seeds", "50", "--store", "other")
    assert wrong.returncode == 2
    assert "--until fct.1kB.mean: no such statistic; nearest of" in wrong.stderr
    assert "fct.1KB.mean" in wrong.stderr
    assert len(runs(Path("other"))) < 12 * 50 / 2
    absent = hull(*command[:-1], "fct.10MB.mean=5%", "--set", "run.duration=5ms")
    assert absent.returncode == 0, absent.stderr
    assert "no run has the statistic of --until: load=20%, tcp_droptail;" in absent.stderr
    few = hull(*command, "--max-seeds", "4")
    assert few.returncode == 2
    assert "--max-seeds" in few.stderr


def test_interval_that_never_gets_narrow_enough(hull: Hull) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    until = ["--until", "throughput.goodput=1e-300%"]
    done = hull("sweep", "table4.toml", *SHORT, *until, "--max-seeds", "5", "--seeds", "3")
    assert done.returncode == 0, done.stderr
    assert "after 5 seeds still wider than --until" in done.stderr
    refused = hull("sweep", "table4.toml", *SHORT, *until, "--max-seeds", "999999999")
    assert refused.returncode == 2
    assert "--max-seeds: 999999999 is invalid" in refused.stderr
    assert "Traceback" not in refused.stderr

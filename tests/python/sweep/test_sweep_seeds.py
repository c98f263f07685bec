"""Seeds are added until an interval is narrow enough."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import hull
from conftest import Hull
from hull import UsageError, scenarios
from hull.statistics import mean_ci95
from hull.sweeps.seeds import Seeds, read_until
from sweep_help import SHORT, runs

STATISTIC = "throughput.utilization"


def settle(values: list[float], share: float, start: int = 3, most: int = 50) -> tuple[int, int]:
    """Return how many seeds count and how many were run."""
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
        intervals = {n: mean_ci95(values[:n]) for n in range(3, 51)}
        assert count == min(n for n, (mean, ci) in intervals.items() if (ci or 0) <= share * mean)
        assert count <= asked <= 2 * count


def test_interval_needs_enough_values_not_only_seeds() -> None:
    found = [{}, {"x": 1.0}, {"x": 1.01}, {}, {}, {}, {"x": 1.0}, {}, {}]
    seeds = Seeds(1, 3, {"x": 0.05}, 9, 1)
    while seeds.more(0, lambda case, seed: found[seed - 1]):
        pass
    assert len(seeds.shown(0)) == 7
    assert seeds.is_narrow(0)


def test_missing_statistic_is_not_narrow() -> None:
    seeds = Seeds(1, 3, {"x": 0.05}, 9, 1)
    assert not seeds.more(0, lambda case, seed: {"y": 1.0})
    assert (len(seeds.shown(0)), seeds.is_narrow(0)) == (3, False)


def test_seeds_are_limited() -> None:
    assert settle([(-1.0) ** i * i for i in range(50)], 0.01, most=20) == (20, 20)
    assert settle([0.0] * 50, 0.01) == (3, 3)


@pytest.mark.parametrize("share", ["0", "-5%", "100%", "x", "", 2])
def test_invalid_share(share: object) -> None:
    with pytest.raises(UsageError, match=r"--until a: .*expected a share"):
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
        if row["n"] > 3:
            mean, ci95 = mean_ci95(row["value"][:-1])
            assert ci95 is not None
            assert ci95 > 0.4 * mean
    assert sweep("b", 1).filter(pl.col("statistic") == STATISTIC).equals(frame)


def test_the_command_names_points_that_stay_wide(hull: Hull, place: Path) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    command = ["sweep", "table4.toml", *SHORT, "--until", f"{STATISTIC}=1%"]
    done = hull(*command, "--max-seeds", "4")
    assert done.returncode == 0, done.stderr
    assert "after 4 seeds still wider than --until: load=20%, tcp_droptail;" in done.stderr
    wrong = hull(*command[:-1], "fct.1kB.mean=5%", "--seeds", "50", "--store", "other")
    assert wrong.returncode == 2
    assert "--until fct.1kB.mean: no such statistic; nearest of" in wrong.stderr
    assert "fct.1KB.mean" in wrong.stderr
    assert len(runs(Path("other"))) < 12 * 50 / 2
    absent = hull(*command[:-1], "fct.10MB.mean=5%", "--set", "run.duration=5ms")
    assert absent.returncode == 0, absent.stderr
    assert "no run has the statistic of --until: load=20%, tcp_droptail;" in absent.stderr
    few = hull(*command, "--max-seeds", "2")
    assert few.returncode == 2
    assert "--max-seeds" in few.stderr


def test_interval_that_never_gets_narrow_enough(hull: Hull) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    until = ["--until", "throughput.goodput=1e-300%"]
    done = hull("sweep", "table4.toml", *SHORT, *until, "--max-seeds", "4", "--seeds", "3")
    assert done.returncode == 0, done.stderr
    assert "after 4 seeds still wider than --until" in done.stderr
    refused = hull("sweep", "table4.toml", *SHORT, *until, "--max-seeds", "999999999")
    assert refused.returncode == 2
    assert "--max-seeds: 999999999 is invalid" in refused.stderr
    assert "Traceback" not in refused.stderr

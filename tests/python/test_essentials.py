"""A run's essential numbers, against values computed by hand, and their formatting."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import SHORT, Hull, sets
from hull.changes import Value, told
from hull.essentials import as_csv, lines_of, sentence


def part(scheme: str, seed: int, small_us: float, large_us: float) -> dict[str, Any]:
    def entry(name: str, us: float, count: int) -> dict[str, Any]:
        return {"class": name, "count": count, "mean_us": us, "p99_us": 2 * us}

    return {
        "condition": "load=20%",
        "scheme": scheme,
        "seed": seed,
        "fct": [
            entry("1KB", small_us, 100),
            entry("100KB", 5.0, 7),
            {"class": "1MB", "count": 0},
            entry("10MB", large_us, 10),
        ],
        "slowdown": [{"class": "1KB", "count": 100, "p99": 3.0}],
        "queries": None,
        "throughput": {"total_goodput_bps": 1e9},
        "packet_hops": 1000,
    }


SUMMARY = {
    "parts": [
        part("tcp", 1, 10.0, 1000.0),
        part("tcp", 2, 20.0, 1000.0),
        part("hull", 1, 5.0, 1100.0),
        part("hull", 2, 5.0, 1300.0),
    ]
}


def test_schemes_are_compared_with_the_first_per_seed() -> None:
    lines = {(line.scheme, line.what, line.statistic): line for line in lines_of(SUMMARY)}
    assert {what for _, what, _ in lines} == {
        "FCT, 1KB",
        "FCT, 10MB",
        "slowdown, 1KB",
        "goodput of all hosts",
    }
    small = lines["hull", "FCT, 1KB", "p99"]
    assert small.value.mean == 10.0
    assert small.count == 200
    assert small.change is not None
    # Mean of the seeds' changes, -50% and -75%, not 10 against the mean of 20 and 40.
    assert small.change.mean == pytest.approx(-0.625)
    assert lines["tcp", "FCT, 1KB", "p99"].change is None
    large = lines["hull", "FCT, 10MB", "mean"]
    assert large.change is not None
    assert large.change.mean == pytest.approx(0.2)
    # Student's t with one degree of freedom, 12.7062, times half the difference of 10% and 30%.
    assert large.change.ci95 == pytest.approx(12.7062 * 0.1)


def test_summary_is_one_sentence() -> None:
    said = sentence(lines_of(SUMMARY), {"hull": "HULL", "tcp": "TCP"})
    assert said.startswith("With HULL (load=20%), the 99th percentile of 1KB flows falls by 62.5")
    assert "against TCP, the mean of 10MB flows grows by 20" in said
    alone = {"parts": [part("tcp", 1, 10.0, 1000.0)]}
    assert sentence(lines_of(alone), {}) == ""


def test_every_size_class_on_request() -> None:
    whole = {(line.what, line.statistic) for line in lines_of(SUMMARY, every=True)}
    assert {("FCT, 100KB", "mean"), ("FCT, 1KB", "mean"), ("FCT, 10MB", "p99")} <= whole
    short = {(line.what, line.statistic) for line in lines_of(SUMMARY)}
    assert short == {
        ("FCT, 1KB", "p99"),
        ("slowdown, 1KB", "p99"),
        ("FCT, 10MB", "mean"),
        ("goodput of all hosts", ""),
    }


def test_changes_have_no_exponent() -> None:
    assert told(Value(-0.427, 0.066)) == "-42.7 ± 6.6%"
    assert told(Value(0.0, 2.9)) == "+0 ± 290%"
    assert told(Value(1234.5, 77.7)) == "1240 ± 78 times"


def test_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(lines_of(SUMMARY)))))
    assert len(rows) == 2 * 4
    assert rows[0]["scheme"] == "tcp"
    assert rows[0]["change"] == ""


def test_run_and_show_print_the_same(hull: Hull, place: Path) -> None:
    done = hull("run", "scenario.toml", "--out", "out", *sets(SHORT))
    assert done.returncode == 0, done.stderr
    *table, path = done.stdout.splitlines()
    assert path == str(place / "out")
    assert any("FCT" in line for line in table)
    shown = hull("show", "out")
    assert shown.stdout.splitlines() == table
    found = json.loads(hull("show", "out", "--format", "json").stdout)
    assert {"value", "change", "count", "scheme"} <= set(found[0])
    header = hull("show", "out", "--format", "csv").stdout.splitlines()[0]
    assert header.startswith("condition,scheme,what")
    quiet = hull("run", "scenario.toml", "--out", "out", "--quiet", *sets(SHORT))
    assert quiet.stdout == f"{path}\n"
    assert "parts" not in quiet.stderr

"""A run's essential numbers, against values computed by hand, and their formatting."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from conftest import SHORT, Hull, sets
from hull.results.essentials import as_csv, lines_of, sentence


def part(scheme: str, seed: int, small_us: float, large_us: float) -> dict[str, Any]:
    def entry(name: str, us: float, count: int) -> dict[str, Any]:
        return {"class": name, "count": count, "mean_us": us, "p99_us": 2 * us}

    return {
        "condition": "load=20%",
        "scheme": scheme,
        "seed": seed,
        "fct": [
            entry("1KB", small_us, 300),
            entry("100KB", 5.0, 7),
            {"class": "1MB", "count": 0},
            entry("10MB", large_us, 10),
        ],
        "slowdown": [{"class": "1KB", "count": 300, "mean": 2.0, "p99": 3.0}],
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
    assert small.count == 600
    assert small.change is not None
    # Mean of the seeds' changes, -50% and -75%, not 10 against the mean of 20 and 40.
    assert small.change.ratio == pytest.approx((0.5 * 0.25) ** 0.5)
    assert lines["tcp", "FCT, 1KB", "p99"].change is None
    large = lines["hull", "FCT, 10MB", "mean"]
    assert large.change is not None
    assert large.change.ratio == pytest.approx((1.1 * 1.3) ** 0.5)
    # Student's t with one degree of freedom, 12.7062, times half the difference of the logarithms.
    half = 12.7062 * math.log(1.3 / 1.1) / 2
    assert large.change.high / large.change.ratio == pytest.approx(math.exp(half), rel=1e-4)


def test_summary_is_one_sentence() -> None:
    labels = {"hull": "HULL", "tcp": "TCP"}
    assert sentence(lines_of(SUMMARY), labels) == (
        "No scheme is shown to differ from TCP in the 99th percentile of 1KB flows: the seeds vary "
        "more."
    )
    parts = [
        part(scheme, seed, small * (1 + seed / 100), large * (1 + seed / 50))
        for scheme, small, large in (("tcp", 10.0, 1000.0), ("hull", 4.0, 1200.0))
        for seed in range(1, 6)
    ]
    parts[-1] = part("hull", 5, 4.1, 1300.0)
    assert sentence(lines_of({"parts": parts}), labels) == (
        "With HULL (load=20%), the 99th percentile of 1KB flows falls by 60.2% (59.7 to 60.7%) "
        "against TCP, the mean of 10MB flows grows by 20% (19 to 21%)."
    )
    one = {"parts": [part("tcp", 1, 10.0, 1000.0), part("hull", 1, 5.0, 1000.0)]}
    assert sentence(lines_of(one), labels).endswith("grows by 0% (one seed: no range).")
    alone = {"parts": [part("tcp", 1, 10.0, 1000.0)]}
    assert sentence(lines_of(alone), {}) == ""


def _compared(**small_us: list[float]) -> str:
    """The sentence of schemes with these times of small flows, by seed; the first is "tcp"."""
    parts = [
        part(scheme, seed, us, 1000.0)
        for scheme, times in small_us.items()
        for seed, us in enumerate(times)
    ]
    return sentence(lines_of({"parts": parts}), {})


def test_the_sentence_asserts_only_what_is_shown() -> None:
    tcp = [10.0, 10.0, 10.0, 10.0, 10.0]
    low = [8.0, 8.1, 8.2, 7.9, 8.0]
    # On average shorter still, but no more than by chance.
    noisy = [1.0, 30.0, 2.0, 1.0, 20.0]
    high = [20.0, 21.0, 22.0, 19.0, 20.0]
    text = _compared(tcp=tcp, noisy=noisy, low=low, high=high)
    assert text.startswith("With low (load=20%), the 99th percentile of 1KB flows falls by 20%")
    none = "No scheme is shown to shorten the 99th percentile of 1KB flows against tcp; "
    assert _compared(tcp=tcp, noisy=noisy, high=high) == f"{none}1 of 2 lengthen it."
    assert "With high (load=20%), the 99th percentile of 1KB flows is 2 times as long" in (
        _compared(tcp=tcp, high=high)
    )


def test_the_best_of_many_needs_a_wider_range() -> None:
    """Five seeds show a change alone that they do not show as the best of ten."""
    tcp, slight = [10.0] * 5, [9.0, 9.9, 8.6, 9.8, 9.2]
    assert "falls by" in _compared(tcp=tcp, slight=slight)
    noise = {f"n{i}": [9.0, 11.0, 8.0, 12.0 + i, 10.0] for i in range(9)}
    assert _compared(tcp=tcp, slight=slight, **noise).startswith("No scheme is shown to differ")


def test_a_percentile_of_few_flows_is_not_shown() -> None:
    parts = [
        part(scheme, seed, us, 9.0) for scheme, us in (("a", 8.0), ("b", 4.0)) for seed in (1, 2)
    ]
    for one in parts:
        one["fct"][0]["count"] = 299
    lines = lines_of({"parts": parts})
    assert {(line.what, line.statistic) for line in lines[:2]} == {
        ("FCT, 1KB", "mean"),
        ("slowdown, 1KB", "mean"),
    }
    assert sentence(lines, {}).startswith("With b (load=20%), the mean of 1KB flows falls by 50%")


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


def test_last_flow_by_hand() -> None:
    """Two seeds end after 30 and 50 us; of the other scheme one seed leaves 2 of 10 flows open."""

    def ended(scheme: str, seed: int, us: float | None, unfinished: int = 0) -> dict[str, Any]:
        last = {"completion_us": us, "flows": 10, "unfinished": unfinished}
        return {**part(scheme, seed, 10.0, 1000.0), "last_flow": {"incast": last}}

    parts = [ended("tcp", 1, 30.0), ended("tcp", 2, 50.0), ended("hull", 1, 20.0)]
    lines = lines_of({"parts": [*parts, ended("hull", 2, None, 2)]})
    of = {(line.scheme, line.what): line for line in lines if line.what.startswith("last flow")}
    assert list(of) == [
        ("tcp", "last flow completes"),
        ("hull", "last flow missing: unfinished"),
    ]
    complete, unfinished = of.values()
    assert (complete.value.mean, complete.unit, complete.count) == (40.0, "us", 20)
    # Student's t with one degree of freedom times the standard error of the mean, 10.
    assert complete.value.ci95 == pytest.approx(127.062, rel=1e-4)
    assert (unfinished.value.mean, unfinished.unit) == (1.0, "1")
    both = [ended("tcp", 1, 30.0), ended("hull", 1, 15.0)]
    both[1]["last_flow"] = {**both[0]["last_flow"], "list": both[1]["last_flow"]["incast"]}
    named = {line.what for line in lines_of({"parts": both}) if "last flow" in line.what}
    assert named == {"last flow of incast completes", "last flow of list completes"}


def test_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(lines_of(SUMMARY)))))
    assert len(rows) == 2 * 4
    assert rows[0]["scheme"] == "tcp"
    assert rows[0]["ratio"] == ""


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

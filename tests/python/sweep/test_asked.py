"""Names of statistics in --until and --show: checked before the first run, and patterns."""

import itertools
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import hull as hull_package
from conftest import Hull
from hull import scenarios
from hull.sweeps.asked import check_asked, expanded
from hull.terminal.wildcards import can_meet
from sweep_help import SHORT

NAMES = ["fct.(0, 10KB].p99", "fct.10MB.p99", "slowdown.1KB.p99", "slowdown.1KB.mean", "marks"]


def test_patterns_meet_if_a_name_fits_both() -> None:
    patterns = ["".join(p) for n in range(4) for p in itertools.product("ab*?", repeat=n)]
    # Two patterns of at most three characters that meet do so at a name of at most six.
    names = ["".join(name) for n in range(7) for name in itertools.product("ab", repeat=n)]
    fitting = {pattern: {n for n in names if fnmatchcase(n, pattern)} for pattern in patterns}
    for one, other in itertools.product(patterns, repeat=2):
        assert can_meet(one, other) == bool(fitting[one] & fitting[other]), (one, other)


@pytest.mark.parametrize(
    "name",
    [
        *NAMES,
        *("slowdown.*.p99", "*.p99", "fct.*", "fct.(0, 1.5KB].acked.mean", "SLOWDOWN.*"),
        *("transports.tcp.goodput", "queues.switch->h0:class0.p99", "throughput.utilization"),
    ],
)
def test_names_that_runs_can_have(name: str) -> None:
    check_asked("--show", name)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("slowdwn.*.p99", "slowdown.<class>.p99"),
        ("slowdown.*.p97", "slowdown.<class>.p99"),
        ("p99", "`hull statistics` lists all"),
        ("cpu_seconds", "`hull statistics` lists all"),
        ("\x1b", "--show \\x1b: no such statistic"),
    ],
)
def test_names_that_no_run_has(name: str, near: str) -> None:
    with pytest.raises(hull_package.UsageError, match=re.escape(near)):
        check_asked("--show", name)


def test_a_pattern_stands_for_the_names_that_fit_it() -> None:
    assert expanded(["marks", "slowdown.*", "*.p99"], NAMES) == [
        *("marks", "slowdown.1KB.p99", "slowdown.1KB.mean", "fct.(0, 10KB].p99", "fct.10MB.p99")
    ]
    assert expanded(["fct.(0, 10KB].p99", "none"], NAMES) == ["fct.(0, 10KB].p99", "none"]


def test_show_is_checked_first_and_takes_patterns(hull: Hull, place: Path) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    command = ["sweep", "table4.toml", *SHORT, "--over", "workload.load=0.2", "--seeds", "1"]
    wrong = hull(*command, "--show", "slowdwn.*.p99")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("hull: error: --show slowdwn.*.p99: no such statistic; nearest")
    assert sorted(path.name for path in place.iterdir()) == ["scenario.toml", "table4.toml"]
    done = hull(*command, "--show", "fct.*.p99")
    assert done.returncode == 0, done.stderr
    header = "".join(line for line in done.stdout.splitlines()[:6])
    assert "fct.1KB.p99" in re.sub(r"\s", "", header)
    assert "fct.1KB.acked.p99" in re.sub(r"\s", "", header)
    assert "slowdown" not in header

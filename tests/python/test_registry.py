"""The statistics registry has every number of a summary, and a summary has every entry."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Hull
from hull import _core, run
from hull.report.tables import condition_table
from hull.results.registry import LABELS, STATISTICS, StatisticPath, find, numbers
from hull.sweeps.numbers import rows_of

EVERYTHING: dict[str, Any] = {
    "name": "everything",
    "run": {"duration": "20ms", "warmup": "5ms", "drain": "0s"},
    "topology": {
        "star": {"hosts": 5},
        "failures": [{"link": "h0--switch", "at": "10ms", "until": "10.5ms"}],
    },
    "host": {
        "rate": "1Gbps",
        "delay": "1us",
        "receive": {"frames": 8, "wait": "20us"},
        "transmit": {"packet_cost": "1ns"},
    },
    "switch": {
        "rate": "1Gbps",
        "delay": "1us",
        "marking": {"threshold": "30KB"},
        "dscp": [{"code": 26, "priority": 0}],
    },
    "transport": {"congestion_control": "dctcp", "ecn": True, "dscp": 10},
    "transports": {"other": {"congestion_control": "newreno", "ecn": False}},
    "groups": {"first": "src:1"},
    "pacer": {},
    "workload": {
        "requests": {"load": "20%", "classes": [{"size": "1KB", "share": "100%"}]},
        "incast": {"total": "10KB"},
        "permutation": {"size": "1KB"},
        "job": {"collective": {"operation": "broadcast", "size": "1KB"}},
        "aggregation_tree": {"interval": "5ms", "levels": [{"hosts": "1-4", "deadline": "1ms"}]},
        "flows": {
            "load": "20%",
            "transport": "other",
            "sizes": {"pareto": {"shape": 1.2, "mean": "30KB", "cut": "1MB"}},
        },
        "long_lived": {
            "flows": [{"src": "1-2", "dst": 0}, {"src": 3, "dst": 0, "transport": "other"}]
        },
    },
    "measure": {"probe": {}, "flows": {"count": 30, "interval": "1ms"}},
}
"""A scenario whose summary has at least one number of each kind; it ends with flows under way."""


PAUSED: dict[str, Any] = {
    **{key: EVERYTHING[key] for key in ("name", "run", "topology", "host", "transport")},
    "switch": EVERYTHING["switch"] | {"pfc": {"watchdog": {}}},
    "workload": {"incast": {"total": "10KB"}},
}
"""A scenario with pauses, which some of the others' keys exclude."""

ADMITTED: dict[str, Any] = {
    **PAUSED,
    "transport": {"congestion_control": "line-rate", "dscp": 10, "message": {"admission": {}}},
    "host": {"rate": "1Gbps", "delay": "1us"},
    "topology": {"star": {"hosts": 5}},
}
"""A scenario whose receivers admit messages."""


def run_everything(folder: Path) -> dict[str, Any]:
    """The summary of a run of it, with a list of flows: one starts while its switch cannot be
    reached, one is late.
    """
    flows = folder / "flows.csv"
    rows = ["start_ps,src,dst,bytes,via", "0,1,0,1000,", "10200000000,1,0,1000,switch"]
    flows.write_text("\n".join([*rows, "30000000000,1,0,1000,"]))
    workload = EVERYTHING["workload"] | {"flows": str(flows)}
    return run(EVERYTHING | {"workload": workload}, out=folder / "run").summary


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = run_everything(tmp_path_factory.mktemp("everything"))["parts"][0]
    paused = run(PAUSED, out=tmp_path_factory.mktemp("paused") / "run").summary["parts"][0]
    at = list(found).index("links") + 1
    items = list(found.items())
    admitted = run(ADMITTED, out=tmp_path_factory.mktemp("admitted") / "run").summary["parts"][0]
    others = [("pauses", paused["pauses"]), ("admission", admitted["admission"])]
    return dict([*items[:at], *others, *items[at:]])


def test_numbers_and_entries_match_one_to_one(part: dict[str, Any]) -> None:
    met = [find(path) for path, _ in numbers(part)]  # raises if an entry is missing
    assert list(dict.fromkeys(met)) == list(STATISTICS)  # in the same order
    assert all(isinstance(value, int) for path, value in numbers(part) if find(path).whole)


def test_unknown_path_is_rejected(part: dict[str, Any]) -> None:
    with pytest.raises(LookupError, match=r"throughput\.new is not in the registry of statistics"):
        rows_of({**part, "throughput": {"new": 1}})


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (("queues", "switch->h0", "p999_us"), "queues.<port>.<statistic>_us"),
        (("fct", "0.5KB", "mean_us"), "fct.<class>.<statistic>_us"),
        (("fct", "0.5KB", "count"), "fct.<class>.count"),
        (("slowdown", "0.5KB", "p95"), "slowdown.<class>.p95"),
        (("queues", "switch->h0", "p95_us"), None),
        (("queues", "switch->h0", "mean"), None),
        (("queues", "mean_us"), None),
    ],
)
def test_paths_of_patterns(path: StatisticPath, key: str | None) -> None:
    if key is None:
        with pytest.raises(LookupError):
            find(path)
    else:
        assert find(path).key == key


def test_entries_agree_with_each_other() -> None:
    keys = [statistic.key for statistic in STATISTICS]
    assert len(set(keys)) == len(keys)
    assert all(statistic.meaning and statistic.unit for statistic in STATISTICS)
    for group in {statistic.path[0] for statistic in STATISTICS}:
        # A cell has all statistics of a group or none.
        of_group = [statistic for statistic in STATISTICS if statistic.path[0] == group]
        assert len({(s.combined, s.where_several) for s in of_group}) == 1, group
    for statistic in STATISTICS:
        if statistic.combined in ("sum", "max"):
            assert len(statistic.path) == 1, f"{statistic.key}: totals are at the top level"
        if statistic.reported is not None:
            assert statistic.combined == "mean"
            assert "<" not in statistic.key, f"{statistic.key}: reports have a row for one number"


def test_cells_have_the_averaged_statistics(part: dict[str, Any], tmp_path: Path) -> None:
    summary = run_everything(tmp_path)
    cell = summary["cells"][0]
    averaged = {statistic.path[0] for statistic in STATISTICS if statistic.combined == "mean"}
    assert averaged == cell.keys() - {"condition", "scheme", "seeds", "slowdown_by_size"}
    assert cell["marks"] == {"mean": part["marks"], "ci95": None}
    assert summary["warnings"][-1].endswith(
        "1 row of the flow list would start after the measured time (run.warmup + run.duration) "
        "and did not"
    )


def test_report_rows_match_the_registry(part: dict[str, Any]) -> None:
    from hull.report.schemes import schemes
    from hull.report.seed_means import cells

    by_cell = cells({"parts": [part]})
    here = {scheme: cell for (_, scheme), cell in by_cell.items()}
    table = condition_table("All runs", here, schemes(list(here)), [])
    for statistic in STATISTICS:
        if statistic.reported is not None:
            group, label = statistic.reported
            assert f"<span>{group}</span>" in table
            assert f'<th scope="row">{label}' in table


def test_the_command_lists_them(hull: Hull) -> None:
    lines = hull("statistics").stdout.splitlines()
    marks = next(line for line in lines if line.startswith("marks "))
    assert marks.split() == ["marks", "packet", "mean", "over", "seeds", "packets", "marked", "CE"]
    listed = json.loads(hull("statistics", "--format", "json").stdout)
    assert listed == json.loads(_core.statistics())["statistics"]
    assert [entry["key"] for entry in listed] == [statistic.key for statistic in STATISTICS]


def test_labels_are_not_statistics(part: dict[str, Any]) -> None:
    assert part.keys() >= set(LABELS)
    assert not {path[0] for path, _ in numbers(part)} & set(LABELS)

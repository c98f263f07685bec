"""Settings stated in captions and text against those that an experiment's scenarios resolve to."""

import re
from dataclasses import replace
from typing import Any

import pytest

from hull.experiments import all_experiments
from hull.experiments.common.stated import DOCUMENTS, Stated, beside, by_topic, rows, statements
from hull.experiments.common.stated.quantity import agree
from hull.experiments.common.stated.setting import setting
from hull.runs.plan import Cell

SIMULATED = tuple(id_ for id_, found in all_experiments().items() if found.scenario is not None)


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("id_", SIMULATED)
def test_settings_match_the_statements(id_: str, size: Any) -> None:
    """Each cell matches the settings stated for it, or the value declared for a deviation."""
    cells = all_experiments()[id_].plan(size, None).cells
    found = beside(all_experiments()[id_].stated, cells, size)
    assert found, "no setting is stated"
    assert [problem for comparison in found for problem in comparison.problems] == []


def test_every_statement_is_used() -> None:
    taken = {stated for found in all_experiments().values() for stated in found.stated}
    known = {stated for document in DOCUMENTS for _, stated in by_topic(document)}
    assert known <= taken


def test_topic_without_statements_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"paper: nothing is stated of figure 99"):
        statements("paper", "testbed", "figure 99")


def test_statements_do_not_overlap() -> None:
    """Statements of an experiment about one key apply to different cells, sizes or documents."""
    for id_ in SIMULATED:
        seen = [
            (s.source.split()[0], s.key, s.value, s.conditions, s.schemes, size)
            for s in all_experiments()[id_].stated
            for size in s.sizes
        ]
        assert len(set(seen)) == len(seen), id_


def test_undeclared_difference_is_found() -> None:
    """With table 3's threshold, figure 9 differs from figure 4.9 of the thesis."""
    plan = all_experiments()["fig9"].plan("quick", None)
    old = []
    for cell in plan.cells:
        queue = {**cell.scenario["switch"]["phantom_queue"], "threshold": "1KB"}
        switch = {**cell.scenario["switch"], "phantom_queue": queue}
        old.append(replace(cell, scenario={**cell.scenario, "switch": switch}))
    problems = [
        p for c in beside(all_experiments()["fig9"].stated, old, "quick") for p in c.problems
    ]
    assert len(problems) == len(plan.cells)
    assert problems[0] == (
        "2/1500B, dctcp_pq950_pacer: switch.phantom_queue.threshold is 1KB, not 6KB"
    )


CELL = Cell("load20", "dctcp_pq950", {"switch": {"buffer": "500pkts", "marking": {}}}, "")
BUFFER = Stated("paper 1", "buffer", "switch.buffer", "500pkts")


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        (BUFFER, None),
        (replace(BUFFER, value="750KB"), None),
        (replace(BUFFER, value="1000pkts"), "load20, dctcp_pq950: .* is 500pkts, not 1000pkts"),
        (replace(BUFFER, value="1000pkts", used="500pkts", deviates="why"), None),
        (replace(BUFFER, value="1000pkts", used="250pkts", deviates="why"), "not 250pkts"),
        (replace(BUFFER, used="750KB", deviates="why"), "listed as a deviation"),
        (replace(BUFFER, conditions="load40"), "no cell"),
        (replace(BUFFER, schemes="tcp"), "no cell"),
        (replace(BUFFER, value=">= 500pkts"), None),
        (replace(BUFFER, value=">= 501pkts"), "not >= 501pkts"),
        (replace(BUFFER, key="switch.phantom_queue", value="none"), None),
        (replace(BUFFER, key="switch.marking", value="none"), "is present, not none"),
        (replace(BUFFER, value="{0}pkts", conditions="load(20)"), "not 20pkts"),
        (replace(BUFFER, value="{rate}pkts", schemes="dctcp_pq(?P<rate>\\d+)"), "not 950pkts"),
    ],
)
def test_comparison(stated: Stated, problem: str | None) -> None:
    (found,) = beside([stated], [CELL], "quick")
    assert len(found.problems) == (problem is not None)
    if problem is not None:
        assert re.search(problem, found.problems[0])


def test_row() -> None:
    (row,) = rows(beside([replace(BUFFER, used="500pkts", value="1MB")], [CELL], "quick"))
    assert (row["stated"], row["resolved"], row["deviates"]) == ("1MB", "500pkts", "")
    (row,) = rows(beside([replace(BUFFER, value="1MB")], [CELL], "quick"))
    assert row["deviates"] == "changed for this run"


@pytest.mark.parametrize(
    ("stated", "resolved", "equal"),
    [
        ("1/16", "6.25%", True),
        ("1500B", "1.5KB", True),
        ("20pkts", "30KB", True),
        ("0.95", "950Mbps", False),
        ("11.8us", "11.79us", False),
        ("10min", "600s", True),
        ("held", "held", True),
        ("held", "any", False),
        ("1", "100%", True),
    ],
)
def test_quantities(stated: str, resolved: str, equal: bool) -> None:
    assert agree(stated, resolved) is equal


def test_derived_settings_by_hand() -> None:
    """Round trip in a star at 1 Gbps: 1540 bytes over 2 links, 4 propagation and 4 stack delays."""
    scenario = {
        "host": {"rate": "1Gbps", "delay": "5us", "stack_delay": "10us"},
        "switch": {"rate": "1Gbps", "delay": "5us"},
        "topology": {"star": {"hosts": 3}},
        "transport": {"mtu": "1.5KB", "header": "40B"},
        "workload": {"long_lived": {"flows": [{"src": "1-2"}, {"src": [1, "4-6"]}]}},
    }
    assert setting(scenario, "round_trip") == "84.64us"  # 2 x 12.32 + 20 + 40
    assert setting(scenario, "flows") == "6"
    assert setting(scenario, "hosts") == "3"
    assert setting(scenario, "payload") == "1460B"
    memory = {"memory": {"size": "4MB", "alpha": "20%"}}
    assert setting({"switch": memory}, "share_of_memory") == "667KB"  # 4 MB x 0.2 / 1.2

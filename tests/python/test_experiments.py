"""Every experiment in its quick form: verdicts, values and figures.

One table per experiment records which claims hold and the approximate values (expected.py).
test_experiment_pages.py has the pages over all experiments.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import expected
from hull.experiments import all_experiments
from hull.experiments.common.decided import comparisons
from hull.experiments.common.measured import Results

IDS = tuple(all_experiments())


def test_failing_claim_is_explained() -> None:
    for id_, experiment in all_experiments().items():
        failing = {row.quantity for row in expected.read(id_) if row.value == "FAILS"}
        for claim in experiment.claims:
            assert claim.tried or claim.id not in failing, claim.id


def test_claims_without_comparison_exist() -> None:
    ids = {claim.id for experiment in all_experiments().values() for claim in experiment.claims}
    assert set(NO_COMPARISON) <= ids


def test_every_table_belongs_to_an_experiment() -> None:
    assert {path.stem for path in expected.FOLDER.iterdir()} == set(IDS)


FINITE = {"requests", "flows", "incast", "partition_aggregate", "production", "all_to_all", "bulk"}
FINITE |= {"permutation", "list", "aggregation_tree", "job"}


@pytest.mark.parametrize("id_", IDS)
def test_completion_is_defined_where_flows_end(id_: str) -> None:
    """Paper 6.3 counts until the last ACK (16.2 us for 6.8 KB), a client until its last byte."""
    experiment = all_experiments()[id_]
    cells = experiment.plan("quick", 1).cells
    ends = any(has_ends(cell.scenario["workload"]) for cell in cells)
    assert (experiment.completion is not None) == ends
    acked = id_ in ("fig12-13", "sec6-3-loads") or id_.startswith(("uec-", "uno-"))
    assert (experiment.completion == "acked") == acked


def has_ends(workload: dict[str, Any]) -> bool:
    """Whether any of its flows is finite."""
    long_lived = (workload.get("long_lived") or {}).get("flows", [])
    of_a_size = any(flows.get("size") for flows in long_lived)
    return of_a_size or bool(FINITE & {name for name, given in workload.items() if given})


@dataclass(frozen=True)
class Drawn:
    """A completed experiment: its summary and its figure."""

    id: str
    summary: dict[str, Any]
    figure: Figure


@pytest.fixture(scope="module", params=IDS)
def drawn(request: pytest.FixtureRequest, everything: Path) -> Drawn:
    """Each experiment, drawn once for all tests of its figure."""
    id_: str = request.param
    folder = everything / f"{id_}-quick"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return Drawn(id_, summary, all_experiments()[id_].draw(Results(folder, summary)))


def test_results_match_the_recorded_tables(drawn: Drawn) -> None:
    """These tables only record the last run; other tests cover the published values, and a claim's
    limits come from the document."""
    expected.compare(drawn.id, expected.rows(drawn.summary, drawn.figure))


NO_COMPARISON = {
    "remark5-reduced": "no drop in any run",
    "thesis-fig2-19-dctcp": "no timeout in any run",
    "thesis-fig2-22-no-timeouts": "no timeout in any run",
    "thesis-fig2-23-timeouts": "no timeout in any run",
    "thesis-incast-other-dctcp": "no timeout in any run",
    "thesis-workload-incast": "an event that occurs or not",
    "uec-outcast-exact": "equal to the last digit that is printed",
    "uec-permutation-exact": "equal to the last digit that is printed",
}
"""Predicted and fitted claims without a number to compare, each with the reason."""


def test_claims_compare_numbers(drawn: Drawn, everything: Path) -> None:
    """The check of a predicted or fitted claim compares a number with limits, or two in order, so
    that intervals decide it; others are listed."""
    results = Results(everything / f"{drawn.id}-quick", drawn.summary)
    for claim in all_experiments()[drawn.id].claims:
        if claim.kind in ("predicted", "fitted"):
            compared = bool(comparisons(claim.check, results))
            assert compared != (claim.id in NO_COMPARISON), claim.id


def test_figure(drawn: Drawn, everything: Path) -> None:
    """The figure has labels, a legend without duplicates, and is not blank."""
    figure = drawn.figure
    assert any(axis.get_ylabel() or axis.get_title(loc="left") for axis in figure.axes)
    keys = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert len(set(keys)) == len(keys)
    site = everything / "all-quick" / "figures"
    assert (site / f"{drawn.id}.pdf").read_bytes().startswith(b"%PDF")
    with Image.open(site / f"{drawn.id}.png") as image:
        assert image.width >= 900
        grey = np.asarray(image.convert("L"))
        assert grey.min() < 60 < 250 < grey.max()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("105", ""),
        ("89", "100 +- 10 -> 89, -11%"),
        ("nan", "100 +- 10 -> nan"),
    ],
)
def test_changes_are_described(found: str, words: str) -> None:
    before = expected.Row("latency mean", "100", "10")
    assert words in before.moved(expected.Row("latency mean", found, "9"))
    assert bool(before.moved(expected.Row("latency mean", found, "9"))) == bool(words)
    verdict = expected.Row("fig9-lower", "holds")
    assert verdict.moved(expected.Row("fig9-lower", "FAILS")) == "holds -> FAILS"

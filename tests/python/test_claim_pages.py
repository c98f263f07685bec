"""Generated tables of claims: verdicts, what the seeds decide, and the measured runs."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from hull.experiments import all_experiments

DOCS = Path(__file__).parents[2] / "docs"
IDS = [claim.id for claim in all_experiments()["fig9"].claims]


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module docs/claim_pages.py."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("claim_pages")


def entry(size: str, seeds: int, holds: bool, **others: Any) -> dict[str, Any]:
    measured = {id_: {"measured": "3.5 | 4", "holds": True} for id_ in IDS}
    return {
        "size": size,
        "seeds": seeds,
        "claims": dict.fromkeys(IDS, holds),
        "states": dict.fromkeys(IDS, "holds" if holds else "fails"),
        "measured": {"size": "quick", "seeds": 1, "claims": measured},
        **others,
    }


def test_verdicts_of_a_longer_run(pages: Any) -> None:
    lines = pages.page_claims("fig9", entry("full", 10, False)).splitlines()
    assert lines[0] == (
        "Claims. Measured values: `--quick`, one seed. Verdicts: `--full`, 10 seeds."
    )
    rows = lines[4:]
    assert len(rows) == len(IDS)
    assert all(row.endswith("| 3.5 \\| 4 | **fails** (as measured: yes) |") for row in rows)


def test_one_run_has_one_verdict(pages: Any) -> None:
    lines = pages.page_claims("fig9", entry("quick", 1, True)).splitlines()
    assert lines[0] == "Claims: `--quick`, one seed."
    assert all(row.endswith("| holds |") for row in lines[4:])


def test_what_the_seeds_leave_open(pages: Any) -> None:
    states = dict(zip(IDS, ("undecided", "holds"), strict=True))
    lines = pages.page_claims("fig9", entry("quick", 1, True, states=states)).splitlines()
    assert [row.rsplit("| ", 1)[1] for row in lines[4:]] == ["undecided |", "holds |"]

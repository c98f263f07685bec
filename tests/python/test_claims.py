"""Claims: counts by kind, reductions, and the commands behind tested explanations."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hull.experiments import all_experiments
from hull.experiments.common.claims import (
    OTHERS,
    UNSHIPPED,
    Claim,
    Finding,
    by_cause,
    counts,
    cut_as_published,
    document,
    headline,
    judge,
)
from hull.experiments.common.measured import Results

ROOT = Path(__file__).parents[2]
NOTHING = Results(Path(), {"name": "x-quick", "seeds": [], "parts": []})
ONE_SEED = Results(Path(), {"name": "x-quick", "seeds": [1], "parts": []})


def claim(kind: str, holds: bool, source: str = "paper 1") -> Claim:
    return Claim("x", source, "it holds", lambda _: Finding("", holds), kind=kind, bound="hull")  # type: ignore[arg-type]


def test_counts_and_headline() -> None:
    found = judge(
        (claim("fitted", True), claim("predicted", True), claim("predicted", False)), NOTHING
    )
    nothing = {"mathematics": (0, 0), "by construction": (0, 0)}
    assert counts(found) == {"predicted": (1, 2), "fitted": (1, 1), **nothing}
    assert headline(found) == (
        "Claims: predicted 1 hold, 1 fail; fitted 1 hold. "
        "By the measured value alone 1 of 2 and 1 of 1 hold"
    )
    for claim_ in found:
        del claim_["state"]
    assert headline(found) == "Claims that hold: 1 of 2 predicted, 1 of 1 fitted"


def test_one_seed_is_not_assessed_unless_nothing_is_random() -> None:
    claims = (claim("predicted", True), claim("mathematics", True))
    said = "Claims: predicted 1 not assessed; mathematics 1 hold. "
    assert headline(judge(claims, ONE_SEED)).startswith(said)
    found = judge(claims, ONE_SEED, deterministic=True)
    assert [claim["state"] for claim in found] == ["holds", "holds"]


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (
            ("by construction",),
            "Claims: by construction 1 hold. By the measured value alone 1 of 1 hold",
        ),
        ((), "No claims"),
    ],
)
def test_headline_without_predicted_claims(kinds: tuple[str, ...], said: str) -> None:
    assert headline(judge(tuple(claim(kind, True) for kind in kinds), NOTHING)) == said


def test_headline_counts_other_sources_apart() -> None:
    found = [("paper 3.1", True), ("thesis 2", False), ("Uno 5", True), ("no document", True)]
    said = headline(judge(tuple(claim("predicted", held, of) for of, held in found), NOTHING))
    assert said == (
        "Claims: predicted (documents) 1 hold, 1 fail; predicted (other sources) 2 hold. "
        "By the measured value alone 1 of 2 and 2 of 2 hold"
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("paper 8, thesis 2.2.2", "paper"),
        ("report, abstract and I", "report"),
        ("report III-A on the paper", "report"),
        ("slides, review of DCTCP", "slides"),
        ("thesis theorem C.1", "thesis"),
        ("IEEE 802.1Qau, beside thesis remark 5.5", OTHERS),
        ("Uno's log tes.tmo", OTHERS),
        ("no document", OTHERS),
    ],
)
def test_document_of_a_source(source: str, found: str) -> None:
    assert document(source) == found


@pytest.mark.parametrize(
    ("percent", "number", "holds"),
    [
        (98.2, 98.2, True),
        (97.8, 98.2, True),  # 2.2% remains instead of 1.8%: 1.22 times
        (97.5, 98.2, False),  # 1.39 times
        (73.7, 98.2, False),  # 0.75 of the reduction, 15 times the remainder
        (60.0, 47.3, False),  # 1.27 of the reduction, 0.76 of the remainder
        (33.0, 11.0, False),  # 0.75 of the remainder, 3 times the reduction
        (0.0, 11.0, False),
    ],
)
def test_reduction_and_remainder(percent: float, number: float, holds: bool) -> None:
    assert cut_as_published(percent, number).holds == holds


def test_failed_attempts_name_their_commands() -> None:
    for experiment in all_experiments().values():
        for claim in experiment.claims:
            assert bool(claim.tried) == bool(claim.shown_by), claim.id
            for entry in claim.shown_by:
                assert entry.startswith(("hull reproduce ", UNSHIPPED)), entry


def test_failing_claims_have_a_cause_that_a_command_shows() -> None:
    record = json.loads((ROOT / "docs/gallery/record.json").read_text(encoding="utf-8"))
    failing = [
        claim
        for id_, experiment in all_experiments().items()
        for claim in experiment.claims
        if not record[id_]["claims"][claim.id]
    ]
    without = [claim.id for claim in failing if not claim.cause]
    unshown = [c.id for c in failing if all(s.startswith(UNSHIPPED) for s in c.shown_by)]
    assert without == []
    assert unshown == []
    predicted = (vars(claim) for claim in failing if claim.kind == "predicted")
    assert len(by_cause(predicted)["not found"]) < 8


def test_the_commands_resolve() -> None:
    """Each command can be planned: its experiment, size, seeds and keys exist."""
    tool = ROOT / "tools" / "tried.py"
    done = subprocess.run(
        [sys.executable, str(tool), "--dry-run"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert " commands resolve; " in done.stdout


class NoRuns(Results):
    """Results without runs: a check that reads one fails."""

    def __init__(self, size: str) -> None:
        self.summary = {"name": f"x-{size}"}

    def __getattr__(self, name: str) -> Any:
        raise LookupError(name)


@pytest.mark.parametrize("id_", all_experiments())
def test_claims_that_read_no_run_are_mathematics(id_: str) -> None:
    """A claim is of kind mathematics exactly if its check reads no run and it is not arithmetic."""
    for claim in all_experiments()[id_].claims:
        try:
            claim.check(NoRuns("quick"))
        except LookupError:
            assert claim.kind != "mathematics", claim.id
        else:
            assert claim.kind in ("mathematics", "by construction"), claim.id

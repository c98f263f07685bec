"""What became of the frozen claims: each has one state, and a reason if it is not kept."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from hull.experiments import all_experiments

DOCS = Path(__file__).parents[2] / "docs"
OLD = {
    "id": "x",
    "source": "paper 1",
    "claim": "it holds",
    "kind": "predicted",
    "bound": "hull",
    "holds": True,
}


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module docs/frozen_claims.py."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("frozen_claims")


def today() -> dict[str, dict[str, str]]:
    return {
        claim.id: {
            "source": claim.source,
            "claim": claim.claim,
            "kind": claim.kind,
            "bound": claim.bound,
        }
        for experiment in all_experiments().values()
        for claim in experiment.claims
    }


def test_the_frozen_list_is_that_of_the_revision() -> None:
    """Counted independently when the list was frozen: 282 claims, 208 hold, 93 by hull's bound."""
    content = json.loads((DOCS / "claims-frozen.json").read_text(encoding="utf-8"))
    claims = content["claims"]
    assert content["revision"] == "a307986c"
    assert len({claim["id"] for claim in claims}) == len(claims) == 282
    holding = [claim for claim in claims if claim["holds"]]
    assert len(holding) == 208
    assert sum(claim["bound"] == "hull" for claim in holding) == 93
    assert {claim["kind"] for claim in claims} == {"predicted"}


def test_each_frozen_claim_has_one_state(page: Any) -> None:
    fates = page.fates(today())
    assert set(fates) == set(page.frozen())
    assert {fate.state for fate in fates.values()} <= set(page.STATES)
    assert set(page.changed()) == {id_ for id_, fate in fates.items() if fate.state != "kept"}
    for id_, fate in fates.items():
        assert bool(fate.why) == (fate.state != "kept"), id_
        assert set(fate.now) <= set(today()), id_


@pytest.mark.parametrize(
    ("now", "entry", "state"),
    [
        ({}, None, "kept"),
        ({"kind": "mathematics"}, {"why": "why"}, "moved to another kind"),
        ({"claim": "it holds within 10%"}, {"why": "why"}, "restated"),
        ({"source": "paper 2"}, {"why": "why"}, "restated"),
        ({"bound": "document", "kind": "fitted"}, {"why": "why"}, "restated"),
        (None, {"why": "why", "by": ["y"]}, "restated"),
        (None, {"why": "why"}, "withdrawn"),
    ],
)
def test_states(page: Any, now: dict[str, str] | None, entry: Any, state: str) -> None:
    claims = {} if now is None else {"x": {**OLD, **now}}
    assert page.fate(OLD, claims, entry).state == state

"""Claims: counts by kind."""

import pytest

from hull.claims import Claim, Finding, counts, headline, judge
from hull.measured import Results

NOTHING = Results.__new__(Results)


def claim(kind: str, holds: bool) -> Claim:
    return Claim("x", "paper 1", "it holds", lambda _: Finding("", holds), kind=kind)  # type: ignore[arg-type]


def test_counts_and_headline() -> None:
    found = judge(
        (claim("fitted", True), claim("predicted", True), claim("predicted", False)), NOTHING
    )
    assert counts(found) == {"predicted": (1, 2), "fitted": (1, 1), "by construction": (0, 0)}
    assert headline(found) == "1 of 2 predicted claims hold; 1 of 1 fitted"


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (("by construction",), "no predicted claims; 1 of 1 by construction"),
        ((), "no predicted claims"),
    ],
)
def test_headline_without_predicted_claims(kinds: tuple[str, ...], said: str) -> None:
    assert headline(judge(tuple(claim(kind, True) for kind in kinds), NOTHING)) == said

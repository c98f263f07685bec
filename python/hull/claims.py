"""Claims: what the documents say in words about their results, and whether it holds here."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hull.measured import Results

Kind = Literal["predicted", "fitted", "by construction"]
"""What a claim's verdict is worth. predicted: nothing of the statement was used to choose a
parameter. fitted: parameters were chosen with it in view. by construction: it restates an input
or is arithmetic.
"""

Bound = Literal["document", "hull"]
"""Who set the limits of the check: the document in numbers, or hull for words such as "small"."""


class Finding(NamedTuple):
    """What was measured for a claim."""

    measured: str
    """The numbers, in words short enough for a table."""
    holds: bool


@dataclass(frozen=True)
class Claim:
    """One statement of a document, and how it is tried."""

    id: str
    """Begins with the experiment's ID: "fig2-tcp-ecn-loss"."""
    source: str
    """Document and section: "paper 3.1"."""
    claim: str
    """The statement in our words; bounds are the document's."""
    check: Callable[[Results], Finding]
    kind: Kind = "predicted"
    bound: Bound = "document"
    tried: str = ""
    """Where it does not hold: what was tried to find out why, with numbers."""


def judge(claims: tuple[Claim, ...], results: Results) -> list[dict[str, Any]]:
    """Each claim with what was measured and whether it holds, as `--claims` prints it."""
    found = []
    for claim in claims:
        measured, holds = claim.check(results)
        found.append(
            {
                "id": claim.id,
                "source": claim.source,
                "claim": claim.claim,
                "measured": measured,
                "holds": bool(holds),
                "tried": claim.tried,
            }
        )
    return found


def about(value: float, number: float, share: float = 0.25) -> bool:
    """Whether `value` is within a share of the document's number."""
    return abs(ratio(value, number) - 1) <= share


def cut_pct(low: float, high: float) -> float:
    """By how many percent `low` is below `high`."""
    return 100 * (1 - ratio(low, high))


def ratio(value: float, other: float) -> float:
    """Their ratio; not a number, with which no claim holds, where `other` is 0."""
    return value / other if other else math.nan


def within(value: float, low: float, high: float) -> bool:
    """Whether low <= value <= high."""
    return low <= value <= high

"""Claims: the documents' textual statements about their results, and whether they hold here."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from hull.experiments.common.decided import State, compare, decided
from hull.experiments.common.measured import Results

Kind = Literal["predicted", "fitted", "mathematics", "by construction"]
"""What a claim's verdict is worth: see KIND_WORDS."""

Cause = Literal[
    "",
    "testbed unknown",
    "documents contradict",
    "hull lacks it",
    "mechanism",
    "chance",
    "limit too narrow",
    "not found",
]
"""Why a claim does not hold: see CAUSE_WORDS."""

Bound = Literal["document", "hull"]
"""Who set the limits of the check: see BOUND_WORDS."""

KINDS: tuple[Kind, ...] = get_args(Kind)
CAUSES: tuple[Cause, ...] = get_args(Cause)[1:]

DOCUMENTS = ("paper", "thesis", "report", "slides")
"""The source documents, with which the source of their claims begins. All others are other
sources: Uno, Ultra Ethernet, L4S, none."""
OTHERS = "other sources"

KIND_WORDS = (
    "Predicted: no parameter was chosen with the statement in view. Fitted: a parameter, or the "
    "form of the claim, was chosen with it in view. Mathematics: a theorem, an identity or a fluid "
    "model is evaluated; no packet is simulated. By construction: the claim restates an input or "
    "is arithmetic."
)
BOUND_WORDS = (
    "Bound, document: the limit is an ordering or a number from the document; a number counts as "
    "met within 25%, in every experiment alike. Bound, hull: the document gives no number, or hull "
    "chose another tolerance."
)

STATES: dict[State, str] = {
    "holds": "hold",
    "fails": "fail",
    "undecided": "undecided",
    "not assessed": "not assessed",
}
"""The states of a claim, and how they are counted."""

STATE_WORDS = (
    "Over seeds, a number holds if its 90% interval is inside the limits, fails if outside, and is "
    "undecided otherwise; an order holds if the paired 95% interval excludes 0; anything else must "
    "be the same for each seed and for all seeds but each one. One seed decides nothing, unless "
    "nothing is random."
)

CAUSE_WORDS = (
    "Causes. Testbed unknown: the document does not give a setting that decides the verdict. "
    "Documents contradict: a document contradicts itself, another one, or arithmetic. hull lacks "
    "it: hull does not model what the statement needs. Mechanism: a mechanism that the statement "
    "omits decides. Chance: the published value is one run's, or the difference is smaller than "
    "what seeds vary by. Limit too narrow: the statement holds but for a limit that is stricter "
    "than its purpose. Not found: no trial explains it."
)

CUT_FORM = "reduction and remainder within 25%"
"""Form of a claim that `cut_as_published` checks."""

UNSHIPPED = "not shipped: "
"""Begins an entry of `Claim.shown_by` that no command of this version shows."""


class Finding(NamedTuple):
    """What was measured for a claim."""

    measured: str
    """The numbers, short enough for a table."""
    holds: bool


@dataclass(frozen=True)
class Claim:
    """One statement of a document, and how it is checked."""

    id: str
    """Begins with the experiment's ID: "fig2-tcp-ecn-loss"."""
    source: str
    """Document and section: "paper 3.1"."""
    claim: str
    """The statement in our words."""
    check: Callable[[Results], Finding]
    kind: Kind = field(kw_only=True)
    bound: Bound = field(kw_only=True)
    cause: Cause = field(default="", kw_only=True)
    """If it does not hold: why."""
    tried: str = ""
    """If it does not hold: what was tried to find the cause, with numbers."""
    shown_by: tuple[str, ...] = field(default=(), kw_only=True)
    """The commands behind the numbers of `tried`, which `make tried` runs, and what no command
    shows (UNSHIPPED)."""


def commands(experiment: str, *options: str) -> tuple[str, ...]:
    """`hull reproduce` of an experiment's claims, once for each of the options: entries of
    `Claim.shown_by`."""
    return tuple(f"hull reproduce {experiment} --claims {given}".strip() for given in options)


def unshipped(what: str) -> tuple[str]:
    """An entry of `Claim.shown_by` for a trial with code or a scenario that is not shipped."""
    return (f"{UNSHIPPED}{what}",)


def document(source: str) -> str:
    """The document of a claim's source ("paper 3.1": "paper"); OTHERS if it is none of them."""
    first = source.split()[0].rstrip(",")
    return first if first in DOCUMENTS else OTHERS


def judge(
    claims: tuple[Claim, ...], results: Results, *, deterministic: bool = False
) -> list[dict[str, Any]]:
    """Each claim with what was measured and whether it holds, as `--claims` prints it.

    "holds" judges the measured value alone, "state" what the seeds decide. Where nothing is random,
    the two agree.
    """
    found = []
    for claim in claims:
        measured, holds = claim.check(results)
        exact = deterministic or claim.kind == "mathematics" or not results.summary["seeds"]
        known: State = "holds" if holds else "fails"
        found.append(
            {
                "id": claim.id,
                "source": claim.source,
                "claim": claim.claim,
                "kind": claim.kind,
                "bound": claim.bound,
                "measured": measured,
                "holds": bool(holds),
                "state": known if exact else decided(claim.check, results),
                "cause": claim.cause,
                "tried": claim.tried,
                "shown_by": list(claim.shown_by),
            }
        )
    return found


def counts(claims: Iterable[Mapping[str, Any]]) -> dict[Kind, tuple[int, int]]:
    """By kind: how many of the judged claims hold, and how many there are."""
    found: dict[Kind, tuple[int, int]] = dict.fromkeys(KINDS, (0, 0))
    for claim in claims:
        holding, of = found[claim["kind"]]
        found[claim["kind"]] = (holding + claim["holds"], of + 1)
    return found


def headline(claims: Iterable[Mapping[str, Any]]) -> str:
    """The states of each kind that occurs, and how many hold by the measured value alone: "Claims:
    predicted 3 hold, 1 undecided; fitted 1 hold. By the measured value alone 4 of 4 and ...".

    Predicted claims of the documents and of other sources are counted apart. Results of earlier
    versions have no states.
    """
    groups = _groups(list(claims))
    if not groups:
        return "No claims"
    values = [f"{sum(c['holds'] for c in some)} of {len(some)}" for some in groups.values()]
    if not all("state" in claim for some in groups.values() for claim in some):
        found = (f"{value} {name}" for name, value in zip(groups, values, strict=True))
        return f"Claims that hold: {', '.join(found)}"
    states = "; ".join(f"{name} {in_states(some)}" for name, some in groups.items())
    alone = f"{', '.join(values[:-1])} and {values[-1]}" if values[1:] else values[0]
    return f"Claims: {states}. By the measured value alone {alone} hold"


def _groups(judged: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The claims by kind, the predicted ones by documents and other sources if both occur."""
    found: dict[str, list[Mapping[str, Any]]] = {
        kind: [claim for claim in judged if claim["kind"] == kind] for kind in KINDS
    }
    predicted = found.pop("predicted")
    of_documents = [claim for claim in predicted if document(claim["source"]) != OTHERS]
    others = [claim for claim in predicted if document(claim["source"]) == OTHERS]
    both = {"predicted (documents)": of_documents, f"predicted ({OTHERS})": others}
    groups = {**(both if of_documents and others else {"predicted": predicted}), **found}
    return {name: some for name, some in groups.items() if some}


def in_states(judged: Iterable[Mapping[str, Any]]) -> str:
    """What the seeds decide: "3 hold, 1 undecided"."""
    found = Counter(claim["state"] for claim in judged)
    return ", ".join(f"{found[state]} {said}" for state, said in STATES.items() if found[state])


def by_cause(
    failing: Iterable[Mapping[str, Any]],
) -> dict[str, list[Mapping[str, Any]]]:
    """Failing claims by their cause ("documents contradict"), in the order of CAUSES; those
    without one are "not found"."""
    found: dict[str, list[Mapping[str, Any]]] = {cause: [] for cause in CAUSES}
    for claim in failing:
        found[claim["cause"] or "not found"].append(claim)
    return {cause: claims for cause, claims in found.items() if claims}


def about(value: float, number: float, share: float = 0.25) -> bool:
    """Whether `value` is within a share of the document's number."""
    found = ratio(value, number)
    return compare(found, 1 - share, 1 + share, holds=abs(found - 1) <= share)


def cut_as_published(percent: float, number: float, by_load: str = "") -> Finding:
    """Judges a reduction in percent: the reduction and the remainder must each be met within 25%.

    For a reduction by 98% the remaining 2% decide, for one by 11% the 11.
    """
    shown = f"{percent:.1f}%" + (f" ({by_load})" if by_load else "")
    left = 100 - percent
    return Finding(
        f"{shown}, {left:.1f}% remain (source {100 - number:.1f}%)",
        about(percent, number) and about(left, 100 - number),
    )


def cut_pct(low: float, high: float) -> float:
    """By how many percent `low` is below `high`."""
    return 100 * (1 - ratio(low, high))


def ratio(value: float, other: float) -> float:
    """Their ratio; NaN, with which no claim holds, if `other` is 0."""
    return value / other if other else math.nan


def within(value: float, low: float, high: float) -> bool:
    """Whether low <= value <= high."""
    return compare(value, low, high, holds=low <= value <= high)

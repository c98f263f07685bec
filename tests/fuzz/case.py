"""A generated input and its outcome. A generator derives a case from (seed, index) alone."""

import random
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case."""

    what: str
    """One word for the final counts: accepted, rejected, equal, ..."""
    case: str
    """The input as text, for debugging a failure."""
    message: str = ""
    """The message that hull printed."""
    problem: str = ""
    """Why this is a failure; empty if it is none."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def draws(generator: str, seed: int, index: int) -> random.Random:
    """The random numbers of one case, independent of all other cases."""
    return random.Random(f"{generator} {seed} {index}")

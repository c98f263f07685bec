"""One made input and what became of it. A generator makes a case from (seed, index) alone."""

import random
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    what: str
    """One word, which the final count counts: accepted, rejected, equal, ..."""
    case: str
    """The input as text, for whoever looks at a failure."""
    message: str = ""
    """What hull said."""
    problem: str = ""
    """Why this is a failure; empty where all is well."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def draws(generator: str, seed: int, index: int) -> random.Random:
    """The random numbers of one case, which no other case has a part in."""
    return random.Random(f"{generator} {seed} {index}")

"""Failures that are known and not fixed yet: counted, not shown. Whoever fixes one deletes its
line.
"""

import re

from fuzz.case import Outcome

KNOWN: tuple[tuple[str, str], ...] = ()
"""What is the problem, and what the message or the case has in it."""


def is_known(outcome: Outcome) -> bool:
    """Whether a failure is one of these."""
    text = f"{outcome.message}\n{outcome.case}"
    return any(
        re.search(problem, outcome.problem) and re.search(found, text) for problem, found in KNOWN
    )

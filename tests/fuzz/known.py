"""Known failures that are not fixed yet: counted, not shown. A fix deletes its line."""

import re

from fuzz.case import Outcome

KNOWN: tuple[tuple[str, str], ...] = (
    # Headers of trimmed packets have strict priority. Credit of 10 Gbps over links of 300 Mbps is
    # trimmed to headers that leave no time for data, for ever.
    ("^headers can fill a link: ", "trimming"),
)
"""Regular expressions: the problem, and text of the message or the case."""


def is_known(outcome: Outcome) -> bool:
    """Return whether a failure is a known one."""
    text = f"{outcome.message}\n{outcome.case}"
    return any(
        re.search(problem, outcome.problem) and re.search(found, text) for problem, found in KNOWN
    )

"""Failures that are known and not fixed yet: counted, not shown. Whoever fixes one deletes its
line.
"""

import re

from fuzz.case import Outcome

KNOWN = (
    # quote::value writes a float with all its zeros and cuts it: 1e300, 5e-324.
    ("does not show the value", r"found \"?-?\d[\d.]{70,79}\.\.\. \(\d+ char"),
    # quote::plain escapes control characters, not those that hide or turn text.
    (r"the message has '\\(ufeff|u202e)'", ""),
    # Ctrl-C while matplotlib is loaded: its module says that it cannot be.
    ("a traceback", "ImportError: initialization failed"),
    # Whole numbers that TOML cannot hold are refused by its reader, which names the line only.
    ("", r"line \d+: (u64 value was too large|integer number overflow|invalid type: integer)"),
    # Node-link JSON is read by serde, which says it in its words.
    (r"has '(missing field|invalid type|unknown variant|a map)'", "is no node-link JSON"),
    # Parts of a run, and runs of a sweep's store, have no checksums.
    ("Error: |is another|other rows", "# (run that is taken up|store of a sweep): "),
    # A damaged table raises what polars raises, a panic of its own too.
    ("(ComputeError|PanicException|InvalidOperationError|SchemaError)", "# loaded run: "),
    # A file that is not there: the reason is Rust's, and the name is raw.
    ("the message has 'os error'", r"No such file|Is a directory|Not a directory|name too long"),
    # The name of a file that is not there is raw.
    (r"the message has '\\", r"cannot be read|unexpected NUL|os error"),
    # What a file has in it is raw, whatever it is.
    (r"the message has '\\", r"line \d+: |column \w+: found|<|node|edge|id "),
    # shape::check names no key where the key is "".
    ("does not name the key", r"\.toml: there is no such key"),
    # What a scheme sets for a swept key is read by nobody.
    ("wrong unit is accepted|control characters is accepted", "#.*schemes.*phantom_queue.drain"),
)
"""What is the problem, and what the message or the case has in it."""


def is_known(outcome: Outcome) -> bool:
    """Whether a failure is one of these."""
    text = f"{outcome.message}\n{outcome.case}"
    return any(
        re.search(problem, outcome.problem) and re.search(found, text) for problem, found in KNOWN
    )

"""Traces with a known truth (drawn_trace.py): hull reads the flows that were written, and accounts
for every row and byte that it drops.

Rows replayed + rows dropped by reason = rows of the file; bytes replayed + bytes dropped = bytes
written; sizes that cannot be read are counted as unknown, not as 0 bytes. The same holds after
flows are placed on hosts.
"""

from dataclasses import dataclass
from pathlib import Path

from fuzz import messages
from fuzz.case import Outcome, draws
from fuzz.drawn_trace import Drawn, as_counter, drawn
from hull import UsageError
from hull.ask.placement import place
from hull.ask.trace import Trace, read_trace

NAME = "recorded_traces"
RACKS = [list(range(4)), list(range(4, 8))]


@dataclass(frozen=True)
class Case:
    """A trace as text."""

    text: str


def make(seed: int, index: int) -> Case:
    """The case for people."""
    found = drawn(draws(NAME, seed, index))
    return Case(f"{found.file}\n{found.text}\nrows {found.rows}, dropped {found.dropped}")


def check(seed: int, index: int) -> Outcome:
    """Read the trace and compare."""
    truth = drawn(draws(NAME, seed, index))
    case = make(seed, index).text
    path = Path(truth.file)
    path.write_bytes(truth.content)
    try:
        trace = read_trace(path)
    except UsageError as error:
        told = str(error)
        problem = messages.foreign(told)
        if not truth.refused:
            problem = "a trace that can be read is rejected"
        elif truth.refused not in told:
            problem = f"the message lacks {truth.refused!r}"
        return Outcome("rejected", case, told, problem)
    finally:
        path.unlink()
    said = "\n".join(trace.counts.sentences)
    if truth.refused:
        return Outcome("read", case, said, f"not rejected: {truth.refused}")
    return Outcome("read", case, said, _wrong(trace, truth) or _misplaced(trace))


def _wrong(trace: Trace, truth: Drawn) -> str:
    counts = trace.counts
    flows = trace.flows.select("start_ps", "src", "dst", "bytes").collect().rows()
    if as_counter(flows) != as_counter(truth.flows):
        missing, more = (
            list((left - right).elements())[:2]
            for left, right in (
                (as_counter(truth.flows), as_counter(flows)),
                (as_counter(flows), as_counter(truth.flows)),
            )
        )
        return f"flows differ: missing {missing}, not written {more}"
    if (counts.flows, counts.bytes) != (len(flows), sum(flow[3] for flow in flows)):
        return f"counts {counts.flows} flows with {counts.bytes} bytes, but has {len(flows)}"
    if counts.rows != truth.rows:
        return f"{counts.rows} rows are counted, {truth.rows} were written"
    dropped = {one.why: [one.rows, one.bytes, one.unknown] for one in counts.dropped}
    if dropped != truth.dropped:
        return f"dropped {dropped}, expected {truth.dropped}"
    if counts.rows + counts.replies != counts.flows + sum(one.rows for one in counts.dropped):
        return "rows do not add up"
    for one in counts.dropped:
        if one.sentence not in counts.sentences:
            return f"not said: {one.sentence}"
        if one.unknown and "unknown" not in one.sentence:
            return f"an unknown size is not said: {one.sentence}"
    return ""


def _misplaced(trace: Trace) -> str:
    """Whether flows or bytes are lost where they are placed."""
    before = trace.counts
    try:
        after = place(trace, RACKS).counts
    except UsageError as error:
        return "" if str(error).startswith("--place: ") else f"rejected: {error}"
    lost = sum(one.bytes for one in after.unplaced)
    if (after.read, after.bytes + lost) != (before.flows, before.bytes):
        return f"{before.flows} flows with {before.bytes} bytes become {after.read}, {after.bytes}"
    return ""

"""The traffic that is asked about: a trace read, placed on the network, cut to a window, named.

Times in ps, sizes in bytes.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hull.ask.counts import counted, duration, size
from hull.ask.groups import label
from hull.ask.network import Network
from hull.ask.paced import at_recorded_rates
from hull.ask.placement import place
from hull.ask.trace import read_trace
from hull.ask.window import choose
from hull.errors import UsageError, shown

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class TrafficOptions:
    """What the command line says of the trace, as text."""

    trace: Path
    columns: str | None = None
    unit: str | None = None
    sampling: int | None = None
    place: tuple[str, ...] = ()
    gateway: str | None = None
    groups: tuple[str, ...] = ()
    window: str | None = None
    as_fast_as_possible: bool = False


@dataclass(frozen=True)
class Traffic:
    """What is simulated of a trace."""

    flows: "pl.DataFrame"
    """start_ps, src, dst, bytes, group, write (of a paced transfer), by start."""
    duration_ps: int
    longest_ps: int
    """Of the durations that were recorded; 0 where none was."""
    sentences: tuple[str, ...]
    doubt: str
    """Why no verdict can rest on it; empty if one can."""
    placement: tuple[str, ...]


def read_traffic(options: TrafficOptions, network: Network) -> Traffic:
    """Read, place, cut and label. Raises UsageError."""
    trace = read_trace(options.trace, options.columns, options.unit, sampling=options.sampling)
    names = {host.name: number for number, host in enumerate(network.hosts)}
    table, prefixes = _places(options.place)
    placed = place(
        trace,
        list(network.racks.values()),
        table,
        prefixes,
        _gateway(options.gateway, names),
        names,
    )
    placed, paced = at_recorded_rates(
        placed, network, as_fast_as_possible=options.as_fast_as_possible
    )
    window = choose(placed, options.window)
    flows = label(window.flows, options.groups)
    counts = placed.counts
    sentences = [
        f"{options.trace.name} is {trace.form}: {counted(counts.rows, counts.unit)}, "
        f"{counted(counts.read, 'flow')}, of which {counted(counts.flows, 'flow')} with "
        f"{size(counts.bytes)} can be replayed; they start within {duration(trace.span_ps)}.",
        window.how,
        *window.said,
        *paced,
        *counts.sentences,
    ]
    longest = flows["duration_ps"].max() if "duration_ps" in flows.columns else None
    return Traffic(
        flows.select("start_ps", "src", "dst", "bytes", "group", "write"),
        window.length_ps,
        int(longest) if isinstance(longest, int) else 0,
        tuple(sentences),
        counts.doubt,
        (placed.how,),
    )


def _places(given: tuple[str, ...]) -> tuple[Path | None, tuple[str, ...]]:
    """`--place` is a table's name, or prefixes."""
    prefixes = tuple(text for text in given if "=" in text)
    tables = [text for text in given if "=" not in text]
    if len(tables) > 1:
        raise UsageError(
            f"--place: {', '.join(map(shown, tables))} are {len(tables)} tables; expected one"
        )
    return (Path(tables[0]) if tables else None), prefixes


def _gateway(given: str | None, names: dict[str, int]) -> int | None:
    if given is None:
        return None
    if given in names:
        return names[given]
    if given.isdecimal() and int(given) < len(names):
        return int(given)
    raise UsageError(
        f"--gateway: {shown(given)} is invalid; expected a host, 0 to {len(names) - 1} or its name"
    )

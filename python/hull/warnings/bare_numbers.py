"""Numbers without a unit that are plausible only in another one: 4 for a minimum RTO in ms.

A time without a unit is in seconds, a size in bytes. Rates, shares and buffers need no warning:
their ranges reject such numbers. `hull.warnings.marking` knows thresholds below a packet.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from hull import _core

_MOST_BYTES = 1_000_000
"""Of a scenario's text: parsing a longer one takes seconds."""

_TIMES = (
    *((f"*{name}", 0.1) for name in ("delay", ".latency", "stack_jitter.offset")),
    *((f"stack_jitter.{name}", 0.1) for name in ("exponential", "gamma.scale")),
    *((f"host.receive.{name}", 0.1) for name in ("wait", "interrupt_cost", "packet_cost")),
    ("transport.initial_rto", 3.001),
    ("transport.min_rto", 1.001),
    ("transport.delayed_ack", 0.501),
    ("transport.rto_granularity", 1.0),
    ("pacer.update_interval", 1.0),
    ("transport.message.*", 1.0),
    *((f"switch.*.{name}", 1.0) for name in ("interval", "round_trip", "target", "*_rtt")),
    *((f"workload.*.{name}", 1.0) for name in ("jitter", "service.*")),
)
"""Keys, and the seconds from which on they were probably meant in ms or us; the first that fits."""
_SIZES = (
    ("pacer.bucket", 500, "pkts", "packets"),
    *((f"workload.*{name}", 100, "KB", "KB") for name in ("size", ".total", ".fixed", ".mean")),
)
"""Keys, the bytes below which they were probably meant otherwise, and how that is written."""


@dataclass(frozen=True)
class Bare:
    """A number without a unit."""

    place: str
    """As a message names it."""
    path: tuple[str, ...]
    """Where the resolved scenario has it."""
    key: str
    """As `hull keys` lists it."""
    value: float


def bare_numbers(text: str, overrides: tuple[str, ...] = ()) -> list[Bare]:
    """The numbers of times and sizes in the text of a scenario and its overrides."""
    if len(text) > _MOST_BYTES:
        return []
    try:
        found = list(_below(tomllib.loads(text), (), ()))
    except tomllib.TOMLDecodeError:
        return []  # an experiment's scenarios, one after the other
    for override in overrides:
        key, _, value = override.partition("=")
        try:
            found.append((tuple(key.strip().split(".")), (), tomllib.loads(f"v = {value}")["v"]))
        except tomllib.TOMLDecodeError:
            continue  # a text without quotes
    return [bare for written, place, value in found for bare in _bare(written, place, value)]


def implausible(bare: Bare, scenario: Mapping[str, Any]) -> str | None:
    """The warning about a number, if it is the value of a resolved scenario."""
    value: Any = scenario
    for part in bare.path:
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    kind = _types()[bare.key]
    quantity = "time" if kind.startswith("time") else "size"
    try:
        if abs(_core.quantity(quantity, str(value)) - bare.value) > 1e-9 * bare.value:
            return None
    except ValueError:
        return None  # a list, or an other form of the key
    number = f"{bare.value:g}"
    if quantity == "time":
        limit = next((limit for key, limit in _TIMES if fnmatchcase(bare.key, key)), None)
        if limit is None or bare.value < limit:
            return None
        return (
            f"{bare.place}: {number} is in seconds, as each time without a unit; write "
            f'"{number}ms" or "{number}us", or "{number}s" if it is meant'
        )
    for key, limit, unit, noun in _SIZES:
        if fnmatchcase(bare.key, key) and 0 < bare.value < limit:
            return (
                f"{bare.place}: {number} is in bytes, as each size without a unit; write "
                f'"{number}{unit}" for {noun}, or "{number}B" if it is meant'
            )
    return None


def _below(
    value: Any, path: tuple[str, ...], place: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], Any]]:
    """The values below a table: path in a scheme, and the names before it."""
    if not isinstance(value, dict):
        yield path, place, value
        return
    for name, inner in value.items():
        if not path and name == "sweep" and isinstance(inner, dict):
            for key, values in inner.items():
                for one in values if isinstance(values, list) else [values]:
                    yield tuple(key.split(".")), (), one
        elif not path and name == "schemes" and isinstance(inner, dict):
            for scheme, table in inner.items():
                yield from _below(table, (), (name, scheme))
        else:
            yield from _below(inner, (*path, name), place)


def _bare(written: tuple[str, ...], place: tuple[str, ...], value: Any) -> Iterator[Bare]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if written[0] == "schemes":
        written = written[2:]
    of_transport = written[0] == "transports" and len(written) > 2
    key = ".".join(("transport", *written[2:]) if of_transport else written)
    if key in _types():
        shown = ".".join((*place, *written))
        yield Bare(shown, written, key, float(value))
        return
    # A short form, such as pacer.bucket for the key itself or workload.size: the one that it ends.
    first, _, rest = key.partition(".")
    full = [one for one in _types() if one.startswith(f"{first}.") and one.endswith(f".{rest}")]
    for one in full if rest else ():
        yield Bare(one, tuple(one.split(".")), one, float(value))


@cache
def _types() -> dict[str, str]:
    """Types of the keys that are times and sizes."""
    rows = json.loads(_core.keys())
    types = {row["key"]: str(row["type"]) for row in rows}
    return {key: kind for key, kind in types.items() if kind.startswith(("time", "size"))}

"""Units of time columns, inferred from the column's name, then from its values.

The page states each inferred unit; an ambiguous one is an error.
"""

from dataclasses import dataclass, replace

from hull.ask.columns import Column
from hull.ask.records import Records, sampled
from hull.ask.units import ISO, Clock, clock_of, epoch_unit, is_calendar, numbers_of, unit_of_name
from hull.errors import UsageError, shown

_LONG = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "ns", "ps": "ps"}


@dataclass(frozen=True)
class Guess:
    """How a time column is read."""

    clock: Clock
    said: tuple[str, ...] = ()


def time_clock(records: Records, role: str, column: Column, given: str | None) -> Guess:
    """The clock of the start or end; `given`: the unit for both."""
    name, values = column.name, sampled(records, column.name)
    kind = records.kind(name)
    if kind.is_temporal():
        return Guess(Clock(ISO))
    floating = kind.is_float()
    unit = column.unit or given
    if unit:
        return Guess(clock_of(unit, values, floating))
    if is_calendar(values):
        return Guess(clock_of(ISO, values, floating))
    numbers = numbers_of(values)
    if not numbers:
        value = shown(values[0]) if values else "an empty cell"
        raise UsageError(
            f"{role}: {value} in column {name} is invalid; expected a number or an ISO 8601 time "
            "such as 2026-01-31T12:00:00.5Z"
        )
    how = f"override with --columns {role}={name}:UNIT"
    by_name = unit_of_name(name)
    if by_name:
        said = f"{name} is in {_LONG[by_name]}, by its name; {how}."
        return Guess(clock_of(by_name, values, floating), (said,))
    epoch = epoch_unit([number for number in numbers if number != 0])
    if epoch:
        said = f"{name} is in {_LONG[epoch]} since 1970, by its values ({values[0]}); {how}."
        return Guess(clock_of(epoch, values, floating), (said,))
    if floating or any("." in str(value) for value in values):
        said = f"{name} is in seconds, as its values have decimals ({values[0]}); {how}."
        return Guess(clock_of("s", values, floating), (said,))
    raise UsageError(
        f"{role}: the unit of column {name} cannot be inferred from its name or values "
        f"({values[0]}); expected it with the column, such as --columns {role}={name}:us"
    )


def duration_clock(records: Records, column: Column, start: Guess) -> Guess:
    """The clock of durations: as it was given, by the name, or like the start's."""
    name, values = column.name, sampled(records, column.name)
    kind = records.kind(name)
    if kind.is_temporal():
        return Guess(Clock("ns", tick_ps=1))
    by_name = unit_of_name(name)
    decimals = kind.is_float() or any("." in str(value) for value in values)
    how = f"override with --columns duration={name}:UNIT"
    said: tuple[str, ...] = ()
    if column.unit:
        unit = column.unit
    elif by_name:
        unit = by_name
        said = (f"{name} is in {_LONG[unit]}, by its name; {how}.",)
    elif "nfdump" in records.form:
        unit = "s"
    elif decimals or start.clock.unit == ISO:
        unit = "s"
        why = "as its values have decimals" if decimals else "by default"
        said = (f"{name} is in seconds, {why}; {how}.",)
    else:
        unit = start.clock.unit
        said = (f"{name} is in {_LONG[unit]}, like the start; {how}.",)
    if unit == ISO:
        raise UsageError(
            f"duration: the unit iso is invalid for {name}; expected s, ms, us, ns, ps"
        )
    clock = clock_of(unit, values, kind.is_float())
    return Guess(replace(clock, tick_ps=1), said)

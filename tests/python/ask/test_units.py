"""Units of columns, by name and by value, and times from them."""

import polars as pl
import pytest

from hull.ask.columns import map_columns, plain
from hull.ask.counts import duration, size
from hull.ask.units import (
    Clock,
    calendar_pattern,
    clock_of,
    epoch_unit,
    is_calendar,
    resolution_ps,
    ticks,
    unit_of_name,
    whole_bytes,
)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("start_ms", "ms"),
        ("ts_us", "us"),
        ("flowStartMilliseconds", "ms"),
        ("flowStartNanoseconds", "ns"),
        ("start (s)", "s"),
        ("time.usec", "us"),
        ("start_ps", "ps"),
        ("duration_µs", "us"),
        ("ts", None),
        ("ms", None),
        ("packets", None),
        ("first_seen", None),
    ],
)
def test_units_in_names(name: str, unit: str | None) -> None:
    assert unit_of_name(name) == unit


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (1_767_268_800, "s"),
        (1_767_268_800_123, "ms"),
        (1_767_268_800_123_456, "us"),
        (1_767_268_800_123_456_789, "ns"),
        (17, None),
        (0.5, None),
    ],
)
def test_epoch_times(value: float, unit: str | None) -> None:
    assert epoch_unit([value, value]) == unit
    assert epoch_unit([value, 12]) is None


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("2026-01-01T12:00:00Z", 0),
        ("2026-01-01T12:00:00.000000007Z", 7),
        ("2026-01-01 12:00:00.5", 500_000_000),
        ("2026/01/01 12:00:01", 10**9),
        ("2026-01-01T14:00:00.25+02:00", 250_000_000),
        ("2026-01-01 12:00:00 +0000", 0),
    ],
)
def test_calendar_times(text: str, ns: int) -> None:
    assert is_calendar([text])
    clock = Clock("iso", calendar_pattern([text]))
    frame = pl.DataFrame({"t": [text, "noon", None]})
    found = frame.select(ticks(pl.col("t"), pl.String(), clock)).to_series().to_list()
    assert found == [1_767_268_800 * 10**9 + ns, None, None]


@pytest.mark.parametrize(
    ("unit", "texts", "expected", "tick"),
    [
        ("s", ["0.000000000012", "1.5"], [12, 1_500_000_000_000], 1),
        ("s", ["1767268800.123456789"], [1_767_268_800_123_456_789], 1000),
        ("ms", [" 1767268800123 ", "x"], [1_767_268_800_123_000_000, None], 1000),
        ("us", ["1", "2.5"], [1_000_000, 2_500_000], 1),
        ("ps", ["7"], [7], 1),
    ],
)
def test_times_are_exact(unit: str, texts: list[str], expected: list[int], tick: int) -> None:
    clock = clock_of(unit, texts, floating=False)
    assert clock.tick_ps == tick
    column = pl.DataFrame({"t": texts}).select(ticks(pl.col("t"), pl.String(), clock))
    assert column.to_series().to_list() == expected


def test_doubles_keep_every_digit() -> None:
    values = [1_767_268_800.123457, 1_767_268_800.1]
    clock = clock_of("s", values, floating=True)
    column = pl.DataFrame({"t": values}).select(ticks(pl.col("t"), pl.Float64(), clock))
    assert column.to_series().to_list() == [1_767_268_800_123_457_000, 1_767_268_800_100_000_000]


def test_sizes() -> None:
    frame = pl.DataFrame({"b": ["12", "1.5e3", "-4", "1,5", ""]})
    found = frame.select(whole_bytes(pl.col("b"), pl.String(), 1000)).to_series()
    assert found.to_list() == [12_000, 1_500_000, -4000, None, None]


def test_resolution() -> None:
    assert resolution_ps([True] * 6 + [False] * 6, 1000) == 10**9
    assert resolution_ps([True] * 12, 1000) == 10**12
    assert resolution_ps([False] * 12, 1) == 1


def test_common_column_names() -> None:
    ipfix = [
        "flowStartMilliseconds",
        "flowEndMilliseconds",
        "sourceIPv4Address",
        "destinationIPv4Address",
        "octetDeltaCount",
        "packetDeltaCount",
    ]
    roles = {role: column.name for role, column in map_columns(ipfix).items()}
    assert [roles[r] for r in ("start", "end", "src", "dst", "bytes", "packets")] == ipfix
    zeek = map_columns(["ts", "id.orig_h", "id.resp_h", "orig_bytes", "duration"])
    assert zeek["src"].name == "id.orig_h"
    own = map_columns(["start_ps", "src", "dst", "bytes", "transport"])
    assert own["start"].name == "start_ps"
    assert plain("Source IP ") == "source_ip"


def test_numbers_for_pages() -> None:
    assert [size(value) for value in (999, 1000, 2_810_000_000)] == ["999 B", "1 KB", "2.81 GB"]
    assert [duration(value) for value in (10**9, 2_885_730_000_000)] == ["1 ms", "2.88573 s"]

"""Warnings about numbers without a unit that are plausible only in another one."""

from typing import Any

import pytest

from hull.warnings.bare_numbers import bare_numbers
from test_scenario_warnings import scenario, warnings

PACER = {"bucket": "3KB"}


def told(*settings: str, **tables: Any) -> list[str]:
    """Warnings about units, with overrides and further tables."""
    return [
        text
        for text in warnings(scenario({}, **tables), *settings)
        if "without a unit" in text and "threshold" not in text
    ]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "transport.min_rto=4",
            "transport.min_rto: 4 is in seconds, as each time without a unit; write "
            '"4ms" or "4us", or "4s" if it is meant',
        ),
        ("transport.initial_rto=5", "transport.initial_rto: 5 is in seconds, as each time without"),
        (
            "host.delay=0.5",
            'host.delay: 0.5 is in seconds, as each time without a unit; write "0.5',
        ),
        ("switch.delay=1", "switch.delay: 1 is in seconds"),
        ("host.stack_delay=1", "host.stack_delay: 1 is in seconds"),
        (
            "pacer.bucket=2",
            'pacer.bucket: 2 is in bytes, as each size without a unit; write "2pkts" for packets, '
            'or "2B" if it is meant',
        ),
    ],
)
def test_another_unit_was_meant(setting: str, said: str) -> None:
    key, _, number = setting.partition("=")
    assert [text for text in told(setting, pacer=PACER) if text.startswith(said)] != []
    unit = "B" if "bytes" in said else "s"
    assert told(f"{key}={number}{unit}", pacer=PACER) == []


@pytest.mark.parametrize(
    "setting",
    [
        *("transport.min_rto=1", "transport.initial_rto=3", "transport.min_rto=0.01"),
        *("run.duration=4", "switch.buffer=1e5", "pacer.bucket=3000", "host.delay=1e-6"),
        *("transport.max_rto=60", "transport.min_rto=4s", "pacer.association_timeout=100"),
    ],
)
def test_plausible_numbers(setting: str) -> None:
    assert told(setting, pacer=PACER) == []


def test_numbers_in_schemes_sweeps_and_lists() -> None:
    schemes = {"a": {"transport": {"min_rto": 4}}, "b": {"transport": {"min_rto": "5ms"}}}
    assert [text.partition(": ")[0] for text in told(schemes=schemes)] == [
        "schemes.a.transport.min_rto"
    ]
    swept = {"transport.min_rto": [4, "5ms", 6]}
    found = told(sweep=swept)
    assert [text[:24] for text in found] == [f"transport.min_rto: {n} is " for n in (4, 6)]
    assert found[0].endswith("(min_rto=4)")
    # An override replaces the number of the file.
    assert told("transport.min_rto=4ms", transport={"min_rto": 4, "ecn": False}) == []


def test_sizes_of_flows() -> None:
    bulk = {"bulk": {"flows": 2, "size": 10}}
    assert told(workload=bulk) == [
        'workload.bulk.size: 10 is in bytes, as each size without a unit; write "10KB" for KB, or '
        '"10B" if it is meant'
    ]
    assert told("workload.bulk.size=2000", workload=bulk) == []


def test_a_long_text_is_not_read() -> None:
    assert bare_numbers("x = 1\n" * 200_000) == []

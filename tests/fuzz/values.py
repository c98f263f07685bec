"""Draws replacement values: wrong in type, sign, size, unit or alphabet."""

import random
import re
from datetime import UTC, date, datetime, time
from typing import Any

UNICODE = (
    "\u0661\u0660Gbps",
    "1\u00a0Gbps",
    "10\u03bcs",
    "10\u00b5s",
    "\uff11\uff10KB",
    "1\u20440 2%",
    "\u202e30KB",
    "3\u0301",
    "\U0001f4a9",
    "\ufeff1ms",
    "\u221e",
    "\u22121ms",
)
CONTROLS = ("\x00", "\x1b[31mred", "10KB\n", "1\r2", "\x7f", "\x9b1m", "a\tb", "\x08\x08")
UNITS = (
    *("", "Gbps", "Mbps", "bps", "s", "ms", "us", "ns", "ps", "B", "KB", "MB", "pkts", "%"),
    *("G", "gbit/s", "Mb/s", "k", "KiB", "MiB", "kB", "\u00b5s", "\u03bcs"),
)
NO_UNITS = ("parsecs", "GBps", "Kib", "GB/s", "percent", "%%", "us us", "msec", "e")
NUMBERS = (
    *(0, 1, -1, 2, 7, 255, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63)),
    *(0.0, -0.0, 0.1, 0.5, 1e-300, 5e-324, 1e-9, 1e9, 1e18, 1e19, 1e300, -1e300),
    *(float("inf"), float("-inf"), float("nan")),
)
OUTSIDE_TOML: tuple[Any, ...] = (None, b"1Gbps", 1j, {1, 2}, 2**200, ...)
"""Values that a dict can hold and TOML cannot."""
FACTORS = (0, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 1.1, 2, 3, 10, 100, 1e3, 1e6, 1e9)
TEXTS = ("", " ", "auto", "none", "unlimited", "null", "0", "true", "-", "1", "inf", "nan", "[]")


def draw(draw: random.Random, old: object, *, outside_toml: bool) -> tuple[str, object]:
    """Return how a value is wrong, and the value. With `misspelled`, `extra` and `left out` the
    value is unchanged.
    """
    if outside_toml and draw.random() < 0.3:
        return "outside TOML", draw.choice(OUTSIDE_TOML)
    kinds = ["wrong type", "too large", "number", "text", "unicode", "control characters", "nested"]
    if isinstance(old, str) and re.fullmatch(r"[\d.]+ *[A-Za-z%]*", old):
        kinds += [*4 * ["quantity"], *2 * ["wrong unit", "sign"], *8 * ["size"]]
    if isinstance(old, int | float) and not isinstance(old, bool):
        kinds += 6 * ["number"]
    how = draw.choice([*kinds, "misspelled", "extra", "left out"])
    return how, _value(draw, how, old)


def _value(draw: random.Random, how: str, old: object) -> object:
    match how:
        case "wrong type":
            return draw.choice([v for v in _OF_TYPES if type(v) is not type(old)])
        case "number":
            if isinstance(old, int | float) and draw.random() < 0.3:
                return draw.choice([-old, old * 1000, old + 1, old * 10**9, old / 3])
            return draw.choice(NUMBERS)
        case "too large":
            return draw.choice([2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**400])
        case "text":
            long = "x" * draw.choice([61, 300, 100_000])
            return draw.choice([*TEXTS, long, "1" * 400 + "B", "../../etc/passwd"])
        case "unicode":
            return draw.choice(UNICODE)
        case "control characters":
            return draw.choice(CONTROLS)
        case "nested":
            return _nested(draw, old)
        case "quantity":
            return f"{_digits(draw)}{draw.choice(UNITS)}"
        case "wrong unit":
            return f"{_digits(draw)}{draw.choice(NO_UNITS)}"
        case "size":
            number, unit = re.findall(r"([\d.]+)(.*)", str(old))[0]
            return f"{float(number) * draw.choice(FACTORS):.12g}{unit}"
        case "sign":
            return draw.choice(["-", "+", "--", "- "]) + str(old)
        case _:
            return old


_OF_TYPES: tuple[object, ...] = (
    True,
    False,
    3,
    2.5,
    "text",
    [],
    {},
    [1, "a", True],
    {"a": {"b": 1}},
    date(2026, 1, 2),
    datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    time(1, 2, 3),
)


def _digits(draw: random.Random) -> str:
    return draw.choice(
        [
            *("0", "0.0", "1", "1.5", "0.1", "7", "64", "1500", "65536", "1000000", "9" * 20),
            *("1e9", "1e-3", "1e400", "1_000", "1,000", "0x10", "007", ".5", "5.", "1.2.3", ""),
            *(str(draw.randrange(1, 10**6)), "18446744073709551616", "0." + "0" * 40 + "1"),
        ]
    )


def _nested(draw: random.Random, old: object) -> object:
    depth = draw.choice([1, 2, 3, 40])
    value = old
    for _ in range(depth):
        value = [value] if draw.random() < 0.5 else {"a": value}
    return draw.choice([value, [old, old], {"": old}])


def is_like(old: object, new: object) -> bool:
    """Whether two values may mean the same: `"0s"` and `"0us"`, 2 and 2.0, `"50%"` and 0.5."""
    return old == new or _plain(old) == _plain(new)


_FACTORS = {
    "": 1,
    "%": 1e-2,
    "T": 1e12,
    "G": 1e9,
    "g": 1e9,
    "M": 1e6,
    "k": 1e3,
    "K": 1e3,
    "m": 1e-3,
}
_FACTORS |= {"u": 1e-6, "\u00b5": 1e-6, "\u03bc": 1e-6, "n": 1e-9, "p": 1e-12}
_FACTORS |= {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value)
    unit = r"(%|[KMG]i|[TGgMkKmunp\u00b5\u03bc]?)(?:bps|b/s|bit/s|B|s|)"
    found = re.fullmatch(rf"\s*([\d.]+(?:e-?\d+)?)\s*{unit}\s*", str(value))
    try:
        return float(found[1]) * _FACTORS[found[2]] if found else value
    except ValueError:
        return value

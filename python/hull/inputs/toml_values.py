"""Values of a scenario that is given as a dict: each has to be one that TOML can hold."""

import datetime
import reprlib
from decimal import Decimal
from typing import Any

from hull.errors import UsageError

_DEEPEST = 40
"""Tables and lists in each other; a scenario has fewer than 10."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def plain(value: Any, depth: int = 0) -> Any:
    """A value with Python's own numbers, texts and lists in place of NumPy's, also inside tables
    and lists.
    """
    if depth > _DEEPEST:
        return value  # which `check_toml` refuses
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: plain(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member, depth + 1) for member in value]
    return value


def check_toml(value: object, place: str, depth: int = 0) -> None:
    """Raise UsageError that names the key of a value that TOML cannot hold."""
    expected = ""
    match value:
        case dict() | list() | tuple() if depth >= _DEEPEST:
            expected = f"tables and lists at most {_DEEPEST} deep"
        case dict():
            for key, member in value.items():
                if not isinstance(key, str):
                    raise UsageError(
                        f"{place}: the key {_shown(key)} is invalid; expected a text, such as 'run'"
                    )
                name = repr(key)[1:-1]
                check_toml(member, f"{place}{'.' if depth else ': '}{name}", depth + 1)
        case list() | tuple():
            for index, member in enumerate(value):
                check_toml(member, f"{place}[{index}]", depth + 1)
        case int() if not _LEAST <= value <= _MOST:
            expected = "a whole number from -2^63 to 2^63 - 1, such as 3"
        case datetime.time() if value.tzinfo is not None:
            expected = "a time without a time zone"
        case str() | int() | float() | Decimal() | datetime.date() | datetime.time():
            pass
        case _:
            expected = "a text, number, truth value, date, list or dict, such as '1Gbps'"
    if expected:
        raise UsageError(f"{place}: {_shown(value)} is invalid; expected {expected}")


def _shown(value: object) -> str:
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    return short.repr(value)

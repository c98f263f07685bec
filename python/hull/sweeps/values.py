"""The values of a swept key: `a,b,c` or `start:stop:step` on the command line, anything that can be
iterated over in Python; and how a value is written in TOML.
"""

import json
import tomllib
from collections.abc import Iterable
from typing import Any

from hull import _core
from hull.errors import UsageError
from hull.errors import shown as cut
from hull.inputs.toml_values import plain

Value = str | int | float | bool | list[Any] | dict[str, Any]


def split_over(option: str) -> tuple[str, str]:
    """Key and values of `--over KEY=VALUES`."""
    key, equals, values = option.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise UsageError(
            f"--over: {option!r}; the form is key=values, such as workload.load=0.2:0.6:0.1"
        )
    return key.strip(), values.strip()


def values_of(name: str, given: object) -> list[Value]:
    """The values of one swept key, in their order; `name` stands in messages."""
    if isinstance(given, set | frozenset):
        raise UsageError(f"{name}: {given!r} has no order; expected a list of values")
    if hasattr(given, "tolist"):
        given = given.tolist()  # of NumPy or pandas
    if isinstance(given, str):
        found = [value for item in _split(name, given) for value in _item(name, item)]
    elif isinstance(given, Iterable) and not isinstance(given, dict):
        found = [value for item in given for value in _member(name, item)]
    else:
        found = _member(name, given)
    if not found:
        raise UsageError(f"{name}: no value; expected a list of values or a range")
    seen: set[str] = set()
    for value in found:
        written = literal(value)
        if written in seen:
            raise UsageError(f"{name}: {shown(value)} is given twice; expected each value once")
        seen.add(written)
    return found


def literal(value: Value) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {literal(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def shown(value: Value) -> str:
    """A value as people write it."""
    return value if isinstance(value, str) else literal(value)


def _split(name: str, text: str) -> list[str]:
    """The text at its commas, but not at those inside brackets or quotes."""
    items, depth, quote, begin = [], 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0:
            items.append(text[begin:place])
            begin = place + 1
    items.append(text[begin:])
    items = [item.strip() for item in items]
    if not all(items):
        raise UsageError(f"{name}: {text!r} has an empty value; expected a list such as 1,2,3")
    return items


def _item(name: str, text: str) -> list[Value]:
    """One item of a list on the command line: a value, or all values of a range."""
    if text[0] not in "\"'[{":
        values = _range(name, text)
        if values is not None:
            return values
    try:
        value: Value = tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return [text]
    except RecursionError:
        raise UsageError(
            f"{name}: {cut(text)} is invalid, as it is nested too deeply; expected values such as "
            "1,2,3"
        ) from None
    return [value]


def _member(name: str, value: object) -> list[Value]:
    """One member of a Python list: a value, or all values of a range."""
    value = plain(value)
    if isinstance(value, str):
        return _range(name, value) or [value]
    if isinstance(value, float):
        return [float(f"{value:.12g}")]  # 0.1 + 0.2 is meant to be 0.3
    if isinstance(value, bool | int | list | dict):
        return [value]
    forms = "texts, numbers, true, false, lists, tables"
    raise UsageError(f"{name}: {value!r} is invalid; expected {forms}")


def _range(name: str, text: str) -> list[Value] | None:
    try:
        values: list[Value] | None = json.loads(_core.range(text))
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    return values

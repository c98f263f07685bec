"""The hosts at both ends of the large flows of a resolved scenario."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hull import _core


def receivers(cell: Mapping[str, Any]) -> Iterator[int]:
    """The receiver of each large flow."""
    workload = cell["workload"]
    for group in (workload.get("long_lived") or {}).get("flows", []):
        sources, ends = (numbers(cell, group[key]) for key in ("src", "dst"))
        yield from ends * (max(len(sources), len(ends)) // len(ends))
    yield from [0] * int((workload.get("bulk") or {}).get("flows", 0))


def numbers(cell: Mapping[str, Any], given: Any) -> list[int]:
    """The numbers of hosts: a number, a range such as 1-8, a name, or a list of these."""
    if isinstance(given, list):
        return [host for entry in given for host in numbers(cell, entry)]
    if isinstance(given, str) and re.fullmatch(r"\d+-\d+", given):
        first, last = map(int, given.split("-"))
        return list(range(first, last + 1))
    return [number(cell, given)]


def number(cell: Mapping[str, Any], given: Any) -> int:
    """The number of a host: a number or a name."""
    if isinstance(given, int):
        return given
    hosts = json.loads(_core.Resolved(json.dumps(cell)).network())["hosts"]
    names = [host["name"] for host in hosts]
    return names.index(given) if given in names else 0

"""Files that a scenario names: results depend on their content as on the scenario itself."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hull.errors import UsageError, shown
from hull.files.input_file import special_kind

_FILES = (
    "topology.file.path",
    "workload.flows",
    "workload.list",
    "workload.job.schedule",
    "workload.flows.sizes.csv",
    "workload.production.query_intervals",
    "workload.production.background_intervals",
    "workload.production.background_sizes",
)
"""Keys that may name a file, on which the run then depends."""
_EXAMPLES = {"path": "network.graphml", "schedule": "job.goal"}
"""Names for messages, by the last part of the key; flow lists have the others."""
_BY_LAST = {key.rpartition(".")[2]: key for key in _FILES}

_MAY_NAME = re.compile(rf"\b({'|'.join(_BY_LAST)})\b[\"']?\s*=\s*[\"'\[{{]")
"""One of these keys with a text, a list or a table. It is in each scenario that names a file,
unless the key is spelled with backslashes.
"""


def digest_of_files(scenario: dict[str, Any]) -> str:
    """Key and SHA-256 (hexadecimal) of each file that a scenario names; empty for none."""
    digests = []
    for key in _FILES:
        value: Any = scenario
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, str) and Path(value).is_file():
            with open(value, "rb") as file:
                digests.append(f"{key} {hashlib.file_digest(file, 'sha256').hexdigest()}")
    return " ".join(digests)


def check_named_files(file: str, text: str, overrides: Sequence[str]) -> None:
    """Reject a device, pipe or socket as a scenario's file, because reading it may never end.

    `file` appears in messages; the core reports other errors of the text.
    """
    named = [*_named_in(text)]
    for override in overrides:
        key, _, value = override.partition("=")
        last = key.strip().rpartition(".")[2]
        start = value.lstrip()[:1]
        if start in ("{", "[") or (last in _BY_LAST and start in ("'", '"')):
            named += _named_in(f"{last} = {value}") or [(last, value)]
        elif last in _BY_LAST:
            named.append((last, value))
    for key, value in named:
        try:
            kind = special_kind(Path(value).stat().st_mode)
        except (OSError, ValueError):
            continue
        if kind is not None:
            example = _EXAMPLES.get(key, "flows.csv")
            raise UsageError(
                f"{file}: {_BY_LAST[key]}: {shown(value)} is {kind}; expected the path of a "
                f"regular file, such as {example}"
            )


@lru_cache(maxsize=8)
def _named_in(text: str) -> tuple[tuple[str, str], ...]:
    """Keys that may name a file, without their tables, and their texts; of no TOML, none."""
    if _MAY_NAME.search(text) is None and "\\" not in text:
        return ()
    import tomllib

    try:
        return tuple(_texts("", tomllib.loads(text)))
    except (tomllib.TOMLDecodeError, RecursionError):
        return ()


def _texts(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for inner, content in value.items():
            yield from _texts(inner.rpartition(".")[2], content)
    elif isinstance(value, list):
        for content in value:
            yield from _texts(key, content)
    elif isinstance(value, str) and key in _BY_LAST:
        yield key, value

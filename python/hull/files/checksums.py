"""SHA-256 of the files of a folder, stored in its run.json, and the check of the files against it.

A folder from an earlier version of hull has none and counts as intact.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hull.errors import UsageError
from hull.files.input_file import read_json
from hull.files.output_file import write_text

RECORD = "run.json"
_KEY = "sha256"


def digest(path: Path) -> str:
    """SHA-256 (hexadecimal) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_record(folder: Path, content: dict[str, Any], below: Iterable[Path] = ()) -> None:
    """Write run.json: `content`, and the checksums of the files beside it and of those `below`."""
    files = [Path(path.name) for path in folder.iterdir() if path.is_file()]
    names = sorted({*files, *below} - {Path(RECORD)})
    sums = {str(name): digest(folder / name) for name in names}
    write_text(folder / RECORD, json.dumps({**content, _KEY: sums}, indent=2) + "\n")


def record_again(folder: Path, name: str) -> None:
    """Update the checksum in run.json, if it has one, of a file that was written again."""
    try:
        sums = _recorded(folder)
        content = read_json(folder / RECORD) if name in sums else None
    except ValueError:
        return
    if content is not None:
        content[_KEY][name] = digest(folder / name)
        write_text(folder / RECORD, json.dumps(content, indent=2) + "\n")


def has_checksums(folder: Path) -> bool:
    """Whether the files of a folder can be checked."""
    try:
        return bool(_recorded(folder))
    except ValueError:
        return False


def damage(folder: Path) -> str | None:
    """The first file that differs from what was written, and the problem."""
    try:
        recorded = _recorded(folder)
    except ValueError as error:
        return f"{folder / RECORD} {error}"
    problems = (_problem(folder / name, expected) for name, expected in recorded.items())
    return next((problem for problem in problems if problem), None)


def check(folder: Path, name: str) -> bool:
    """Refuse a file of a folder that is not as it was written; return whether it has a checksum."""
    expected = None
    try:
        expected = _recorded(folder).get(name)
        problem = None if expected is None else _problem(folder / name, expected)
    except ValueError as error:
        problem = f"{folder / RECORD} {error}"
    if problem:
        raise UsageError(f"{problem}; expected the files that hull wrote: repeat the same command")
    return expected is not None


def _recorded(folder: Path) -> dict[str, str]:
    """Names of files with their checksums; ValueError for a record that is damaged itself."""
    try:
        content = read_json(folder / RECORD)
    except OSError:
        return {}
    sums = content.get(_KEY, {}) if isinstance(content, dict) else None
    if not isinstance(sums, dict) or not all(isinstance(value, str) for value in sums.values()):
        raise ValueError("is damaged")
    return sums


def _problem(path: Path, expected: str) -> str | None:
    try:
        if not path.is_file():
            return f"{path} is missing"
        return None if digest(path) == expected else f"{path} differs from its SHA-256 in {RECORD}"
    except OSError as error:
        return f"{path}: {error.strerror}"

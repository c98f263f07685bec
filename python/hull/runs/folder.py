"""The folder that a run leaves, and how it comes to be there whole or not at all.

Everything is made in `OUT.partial` beside it. A part (one cell, one seed) is made in
`OUT.partial/making` and renamed into place when it is whole; when all parts and the tables over
them exist, `OUT.partial` is renamed to `OUT`. A run that was stopped leaves `OUT.partial`, from
which the next run with the same fingerprint goes on.
"""

import fcntl
import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

from hull import _core
from hull.errors import RunError, UsageError, check_text
from hull.files.checksums import RECORD, damage, has_checksums, write_record
from hull.files.input_file import read_json
from hull.files.names import check_path
from hull.files.output_file import NO_ROOM, UNFINISHED, write_text
from hull.runs.cache import link_files
from hull.runs.plan import Part, Plan
from hull.terminal.messages import say
from hull.terminal.options import flag, option

_PARTIAL = ".partial"
_FILE_BYTES = 64
"""More than any name of a file in a part, also while it is made."""


class OutputFolder:
    """`OUT` and `OUT.partial` of one plan."""

    def __init__(self, out: Path, plan: Plan) -> None:
        """`out` need not exist; nothing is written before `open`."""
        check_text(option("out"), str(out))
        longest = max((len(os.fsencode(part.path)) for part in plan.parts), default=0)
        inside = longest + _FILE_BYTES
        check_path(option("out"), out, "results/first", added=len(_PARTIAL), inside=inside)
        self.out = Path(os.path.realpath(out))
        if not self.out.name:
            raise UsageError(
                f"{option('out')}: {out} is invalid; expected the name of a new folder"
            )
        self.partial = self.out.with_name(self.out.name + _PARTIAL)
        self._plan = plan
        self._fingerprint = plan.fingerprint
        self._lock: int | None = None
        self._is_made_again = False
        self._number = itertools.count()

    def is_complete(self, *, force: bool) -> bool:
        """Whether `out` already holds this very run; raises UsageError when it holds another.

        An earlier state of the same experiment is no other run: its parts are in the cache.
        """
        if self._belongs(self.out, force=force):
            return True
        self._belongs(self.partial, force=force)
        return False

    def open(self) -> None:
        """Make `OUT.partial`, or take up one that was left."""
        try:
            self.partial.mkdir(parents=True, exist_ok=True)
            self._lock_partial()
            if _fingerprint(self.partial) != self._fingerprint:
                self._empty_partial()
                identity = {
                    "hull_version": _core.version(),
                    "name": self._plan.name,
                    "seeds": self._plan.seeds,
                    "fingerprint": self._fingerprint,
                }
                write_text(self.partial / RECORD, json.dumps(identity, indent=2) + "\n")
            for unfinished in self.partial.glob(UNFINISHED):
                unfinished.unlink()
            shutil.rmtree(self._making, ignore_errors=True)
            self._making.mkdir()
            self._is_made_again = _fingerprint(self.out) == self._fingerprint
        except OSError as error:
            self.close()
            if error.errno in NO_ROOM:
                raise RunError(f"{self.partial}: {error.strerror}") from error
            raise UsageError(
                f"{option('out')}: {self.out}: {error.strerror}; expected a writable folder"
            ) from None

    def damage(self) -> str | None:
        """What is not as it was written in `out`, where that is complete."""
        folders = [self.out, *(self.out / part.path for part in self._plan.parts)]
        problems = map(damage, folders if has_checksums(self.out) else folders[:1])
        return next((problem for problem in problems if problem), None)

    def has(self, part: Part) -> bool:
        """Whether a part is there; parts are renamed into place when they are whole."""
        return (self.partial / part.path).is_dir()

    def take_up(self, part: Part) -> bool:
        """Whether an intact part exists: of a stopped run, in a damaged `out`, or of another run in
        `out` that is replaced.
        """
        if self.has(part):
            problem = damage(self.partial / part.path)
            if problem is None:
                return True
            say(f"{problem}; that part is simulated again")
            shutil.rmtree(self.partial / part.path)
        whole = self.out / part.path
        is_it = self._is_made_again or _identity(whole).get("part") == part.fingerprint
        if not (is_it and has_checksums(whole) and damage(whole) is None):
            return False
        made = self.start_part()
        link_files(whole, made)
        self.keep_part(part, made)
        return True

    def start_part(self) -> Path:
        """An empty folder in which to make a part."""
        # Not under the names of condition and scheme, which together may be too long for one.
        folder = self._making / str(next(self._number))
        folder.mkdir()
        return folder

    def keep_part(self, part: Part, made: Path) -> None:
        """Move a part that is whole into place."""
        place = self.partial / part.path
        place.parent.mkdir(parents=True, exist_ok=True)
        made.rename(place)

    def finish(self) -> None:
        """Everything is written: give the folder its name (over an older run, if forced)."""
        shutil.rmtree(self._making)
        records = [part.path / RECORD for part in self._plan.parts]
        there = [record for record in records if (self.partial / record).exists()]
        write_record(self.partial, _identity(self.partial), there)
        old = self.out.with_name(self.out.name + ".old")
        if _fingerprint(self.out) is not None:
            _remove(old)
            self.out.rename(old)
        self.partial.rename(self.out)
        _remove(old)

    def close(self) -> None:
        """Let other processes use the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def _making(self) -> Path:
        return self.partial / "making"

    def _belongs(self, folder: Path, *, force: bool) -> bool:
        """Whether a folder is of this run. Absent or empty: no. Of something else: UsageError."""
        found = _fingerprint(folder)
        if found == self._fingerprint:
            return True
        try:
            if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
                return False
        except OSError as error:
            raise UsageError(f"{option('out')}: {folder}: {error.strerror}") from None
        if found is None:
            raise UsageError(
                f"{option('out')}: {folder} exists and holds no run of hull; "
                "expected a new or an empty folder"
            )
        if force or self._is_same_experiment(folder) or self._has_nothing_to_lose(folder):
            return False
        kind = "another, unfinished run" if folder == self.partial else "another run"
        raise UsageError(
            f"{option('out')}: {folder} holds {kind} (another scenario, other seeds or another "
            f"build of hull); give another {option('out')}, or {flag('force')} to replace it"
        )

    def _is_same_experiment(self, folder: Path) -> bool:
        return bool(self._plan.code) and _identity(folder).get("name") == self._plan.name

    def _has_nothing_to_lose(self, folder: Path) -> bool:
        """Whether it is of a run that was stopped before its first part was whole."""
        return folder == self.partial and not any(folder.glob("parts/*/*/*"))

    def _lock_partial(self) -> None:
        """Hold a lock that ends with the process, however it ends."""
        self._lock = os.open(self.partial, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise UsageError(
                f"{option('out')}: another hull is writing {self.partial}; wait for it, or give "
                f"another {option('out')}"
            ) from None

    def _empty_partial(self) -> None:
        for entry in self.partial.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _identity(folder: Path) -> dict[str, Any]:
    """What RECORD says of the run in a folder; empty if there is no run."""
    try:
        content: Any = read_json(folder / RECORD)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _fingerprint(folder: Path) -> str | None:
    """Fingerprint of the run in a folder; None if there is no run."""
    found = _identity(folder).get("fingerprint")
    return None if found is None else str(found)


def _remove(folder: Path) -> None:
    if _fingerprint(folder) is not None:
        shutil.rmtree(folder)

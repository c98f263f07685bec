"""A store: a folder of runs, each a Parquet file under its key, that sweeps share.

`runs/<ab>/<key>.parquet` (`ab`: the key's first two letters) is written in `.tmp`, put on the disk
and renamed, so that it is there whole or not at all, whoever else writes at the same time; the same
key has the same bytes. `tables/<ab>/<key>/` has the tables of a run, where they were asked for.
`sums/<ab>` has the checksums of the runs, and a folder of tables its own.
`log.jsonl` says how long each run took, and where: that differs from one time to the next, so it is
no part of a run's file.
"""

import errno
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from hull import _core
from hull.errors import UsageError, shown
from hull.files.checksums import damage, digest, write_record
from hull.files.input_file import read_json
from hull.files.names import check_path
from hull.files.parquet_probe import problem_of
from hull.sweeps.grid import with_seed
from hull.sweeps.numbers import Row
from hull.sweeps.run import Run
from hull.sweeps.sums import Sums
from hull.terminal.options import option

FORMAT = 1
"""Changes when the layout of a store does."""
MARKER = "hull-store.json"
_INSIDE_BYTES = 192
"""More than any path inside, also while it is made."""
_NEEDED = ("run", "statistic", "unit", "value")


class Store:
    """A folder of runs by key."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist; UsageError if it is no store, or another version's."""
        check_path(option("store"), folder, "results/store", inside=_INSIDE_BYTES)
        self.folder = folder
        self.id = _identity(folder)
        self._sums = Sums(folder)

    def create(self) -> None:
        """Create the folder if needed, and check that it is writable."""
        try:
            self._temporary.mkdir(parents=True, exist_ok=True)
            probe = self._temporary / _unique("probe")
            probe.write_text("", encoding="utf-8")
            probe.unlink()
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
            raise UsageError(
                f"{option('store')}: {self.folder}: {error.strerror}; expected a writable folder"
            ) from None
        if not self.id:
            self._mark()

    def path(self, key: str) -> Path:
        """Path of a run, whether or not it exists."""
        return Path(f"{self.folder}/runs/{key[:2]}/{key}.parquet")

    def tables(self, key: str) -> Path:
        """The folder of a run's tables."""
        return self.folder / "tables" / key[:2] / key

    def has_tables(self, key: str) -> bool:
        """Whether the tables of a run exist and match their checksums."""
        return self.tables(key).is_dir() and damage(self.tables(key)) is None

    def keep(self, run: Run, rows: Sequence[Row]) -> None:
        """Write a run. Raises OSError if the disk is full."""
        temporary = self._temporary / _unique(run.key)
        labels = (run.key, run.name, run.condition, run.scheme, with_seed(run.scenario, run.seed))
        try:
            _core.write_statistics(str(temporary), labels, run.seed, list(rows))
            self._sums.add(run.key, digest(temporary))
            self._rename(temporary, self.path(run.key))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def keep_tables(self, key: str, files: dict[str, bytes]) -> None:
        """Write the tables of a run."""
        if self.has_tables(key):
            return
        shutil.rmtree(self.tables(key), ignore_errors=True)
        temporary = self._temporary / _unique(key)
        temporary.mkdir()
        try:
            for name, content in files.items():
                (temporary / name).write_bytes(content)
            write_record(temporary, {"hull_version": _core.version(), "run": key})
            try:
                self._rename(temporary, self.tables(key))
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise  # else another sweep kept the same tables just now
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def log(self, line: dict[str, object]) -> None:
        """Append a line to the log atomically."""
        with (self.folder / "log.jsonl").open("ab", buffering=0) as file:
            file.write(json.dumps(line).encode() + b"\n")

    def read(self, keys: Iterable[str]) -> tuple[dict[str, list[Row]], list[Path]]:
        """The stored runs among `keys`, and the files that do not hold the run of their name."""
        there = [path for path in map(self.path, keys) if path.exists()]
        broken = [path for path in there if not self._is_as_written(path)]
        unknown = [path for path in there if not self._sums.of(path.stem)]
        if problem_of(unknown) is not None:
            broken += [path for path in unknown if problem_of([path]) is not None]
        paths = [path for path in there if path not in broken] if broken else there
        found: dict[str, list[Row]] = {}
        try:
            found.update(_read(paths))
        except _BrokenError:
            for path in paths:
                try:
                    found.update(_read([path]))
                except _BrokenError:
                    broken.append(path)
        return found, broken

    def clean(self) -> None:
        """Remove temporary files of killed sweeps, once they are a day old."""
        try:
            for left in self._temporary.iterdir():
                if time.time() - left.stat().st_mtime > 86400:
                    shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink()
        except OSError:
            return  # another sweep cleans, or the store cannot be written

    def _is_as_written(self, path: Path) -> bool:
        sums = self._sums.of(path.stem)
        try:
            return not sums or digest(path) in sums
        except OSError:
            return False

    @property
    def _temporary(self) -> Path:
        return self.folder / ".tmp"

    def _rename(self, made: Path, place: Path) -> None:
        try:
            made.rename(place)
        except FileNotFoundError:
            place.parent.mkdir(parents=True, exist_ok=True)
            made.rename(place)

    def _mark(self) -> None:
        """Mark the folder as a store; of two concurrent sweeps the first one wins."""
        content = {"format": FORMAT, "id": uuid.uuid4().hex, "hull_version": _core.version()}
        made = self._temporary / _unique("marker")
        made.write_text(json.dumps(content) + "\n", encoding="utf-8")
        try:
            os.link(made, self.folder / MARKER)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            made.rename(self.folder / MARKER)
        made.unlink(missing_ok=True)
        self.id = _identity(self.folder)


class _BrokenError(Exception):
    """A file of a store is truncated or not a run."""


def _read(paths: list[Path]) -> dict[str, list[Row]]:
    """The runs of some files; each must hold the run of its name and nothing else."""
    import polars as pl

    if not paths:
        return {}
    try:
        frame = pl.read_parquet(paths, columns=list(_NEEDED), glob=False)
        columns = [frame[name].to_list() for name in _NEEDED]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _BrokenError from error
    found: dict[str, list[Row]] = {path.stem: [] for path in paths}
    for key, statistic, unit, value in zip(*columns, strict=True):
        if key not in found:
            raise _BrokenError
        found[key].append((statistic, unit, value))
    if not all(found.values()):
        raise _BrokenError
    return found


def _identity(folder: Path) -> str:
    """The name that a store was given when it was made; empty if there is none yet."""
    marker = folder / MARKER
    try:
        content = read_json(marker)
        found = content["format"]
        identity = str(content["id"]) if found == FORMAT else ""
    except (OSError, ValueError, KeyError, TypeError):
        try:
            if not folder.exists() or {entry.name for entry in folder.iterdir()} <= {
                ".tmp",
                "slurm",
            }:
                return ""
        except OSError as error:
            raise UsageError(f"{option('store')}: {folder}: {error.strerror}") from None
        raise UsageError(
            f"{option('store')}: {folder} exists and is not a store of hull ({MARKER} is missing "
            "or "
            "damaged); expected a store, or a new or an empty folder"
        ) from None
    if found != FORMAT:
        raise UsageError(
            f"{option('store')}: {folder} was written by another version of hull (format "
            f"{shown(found)}, here {FORMAT}); nothing was changed: give "
            f"another {option('store')}, or use that version"
        )
    return identity


def _unique(name: str) -> str:
    return f"{name}.{uuid.uuid4().hex}"

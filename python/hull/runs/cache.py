"""A cache of parts of any experiment: each under a key of its scenario, the files that it names,
seed and build of hull, so that only changed parts are run.

A cached part shares its files with the results that use it (hard links), if the file system
supports that. Deleting the cache loses only time.
"""

import contextlib
import json
import os
import shutil
from pathlib import Path

from hull import _core
from hull.errors import UsageError, shown
from hull.files.checksums import damage
from hull.files.input_file import read_json
from hull.files.names import check_path
from hull.files.output_file import write_text
from hull.runs.plan import Part
from hull.terminal.messages import say

FORMAT = 1
"""Changes when the layout of a cache does."""
_INSIDE_BYTES = 192
"""More than any path inside, also while it is made."""


class Cache:
    """A folder of parts by key."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist; raises UsageError where it is something else."""
        check_path("--cache", folder, "results/cache", inside=_INSIDE_BYTES)
        self.folder = folder
        marker = folder / "cache.json"
        if not folder.exists():
            return
        try:
            found = read_json(marker)["format"]
        except (OSError, ValueError, KeyError, TypeError):
            if folder.is_dir() and not any(folder.iterdir()):
                return
            raise UsageError(
                f"--cache: {folder} exists and is not a cache of hull; expected a new or an empty "
                "folder"
            ) from None
        if found != FORMAT:
            raise UsageError(
                f"--cache: {folder} was written by another version of hull (format "
                f"{shown(found)}, here {FORMAT}); nothing was changed: give "
                "another --cache, or remove it"
            )

    def fetch(self, part: Part, made: Path) -> bool:
        """Put a kept part's files into `made`, an empty folder; False where none is kept whole."""
        kept = self._place(part)
        if not kept.is_dir():
            return False
        if problem := damage(kept):
            say(f"{problem}; that part is simulated again")
            shutil.rmtree(kept, ignore_errors=True)
            return False
        link_files(kept, made)
        return True

    def keep(self, part: Part, made: Path) -> None:
        """Keep a part that is whole."""
        kept = self._place(part)
        if kept.exists():
            return
        self._mark()
        making = kept.with_name(f"{kept.name}.{os.getpid()}")
        making.mkdir(parents=True, exist_ok=True)
        try:
            link_files(made, making)
            # Unless another process kept the same part just now.
            with contextlib.suppress(OSError):
                making.rename(kept)
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def _mark(self) -> None:
        marker = self.folder / "cache.json"
        if marker.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"format": FORMAT, "hull_version": _core.version()}
        write_text(marker, json.dumps(content) + "\n")

    def _place(self, part: Part) -> Path:
        key = part.fingerprint
        return self.folder / key[:2] / key[2:]


def link_files(source: Path, target: Path) -> None:
    """Give the files of a folder to another one, as hard links where the file system has them."""
    for file in source.iterdir():
        try:
            os.link(file, target / file.name)
        except OSError:
            shutil.copyfile(file, target / file.name)

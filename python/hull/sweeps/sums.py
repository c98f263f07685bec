"""Checksums of a store's runs: `sums/<ab>`, a line for each run as `sha256sum` writes it.

Lines are added by any number of sweeps at a time, and one that is torn is skipped: its run counts
as whole, as does a run of an earlier version of hull. The same run made under another name, by
another sweep, has another line.
"""

import os
import re
from pathlib import Path

_LINE = re.compile(r"([0-9a-f]{64})  runs/[0-9a-f]{2}/([0-9a-f]+)\.parquet\n")


class Sums:
    """The checksums by key."""

    def __init__(self, store: Path) -> None:
        """Files are read on demand."""
        self._folder = store / "sums"
        self._read: dict[str, tuple[int, dict[str, set[str]]]] = {}

    def add(self, key: str, digest: str) -> None:
        """Append a line atomically."""
        self._folder.mkdir(exist_ok=True)
        with (self._folder / key[:2]).open("ab", buffering=0) as file:
            file.write(f"{digest}  runs/{key[:2]}/{key}.parquet\n".encode())

    def of(self, key: str) -> set[str]:
        """Valid checksums of a run; empty if none is known."""
        path = self._folder / key[:2]
        try:
            size = os.stat(path).st_size
            read, sums = self._read.get(key[:2], (-1, {}))
            if size != read:
                sums = {}
                for digest, of in _LINE.findall(path.read_text(encoding="ascii", errors="replace")):
                    sums.setdefault(of, set()).add(digest)
                self._read[key[:2]] = (size, sums)
        except OSError:
            return set()
        return sums.get(key, set())

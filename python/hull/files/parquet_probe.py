"""Whether polars can read Parquet files: a process of its own tries.

polars trusts the lengths that a file states. On a damaged one it may panic, or ask for so much
memory that the system ends the process, which no exception handler sees. A file whose checksum is
known needs no attempt.
"""

import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

DAMAGED = "its content is damaged"
_ROW = "number of the row"
_UNREADABLE = 3
"""Exit status if polars says why it cannot read a file, on standard output."""


def problem_of(paths: Iterable[Path]) -> str | None:
    """Why polars cannot read one of the files; None if it can, or if no process can be started."""
    names = [str(path.absolute()) for path in paths]
    if not names or not sys.executable:
        return None
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__, *names],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        return None
    if done.returncode == _UNREADABLE:
        return done.stdout.strip() or DAMAGED
    return DAMAGED if done.returncode else None


def _read(names: Iterable[str]) -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        import polars as pl
    except ImportError:
        return 0  # the caller has found polars elsewhere
    for name in names:
        try:
            frame = pl.scan_parquet(name, row_index_name=_ROW, glob=False)
            # As a sample is read: polars stops early, by the counts in the metadata.
            frame.head(1000).collect(engine="streaming")
            # Each column is decoded, and no more rows are held than a piece has.
            frame.sink_batches(lambda _: False)
        except pl.exceptions.PolarsError as error:
            print((str(error).strip() or type(error).__name__).splitlines()[0])
            return _UNREADABLE
    return 0


if __name__ == "__main__":
    sys.exit(_read(sys.argv[1:]))

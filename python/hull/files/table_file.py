"""The tables of a result folder, read with polars: as they were written, or refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hull.errors import UsageError
from hull.files.checksums import check
from hull.files.parquet_probe import DAMAGED, problem_of

if TYPE_CHECKING:
    import polars as pl


def check_table(folder: Path, name: str) -> None:
    """Refuse a table that is not as it was written or, without a checksum, that polars cannot
    read.
    """
    path = folder / name
    if check(folder, name) or not path.exists():
        return
    problem = problem_of([path])
    if problem is not None:
        raise _unreadable(path, problem)


def read_table(path: Path) -> "pl.DataFrame":
    """A table that `check_table` has accepted."""
    import polars as pl

    with reading(path):
        return pl.read_parquet(path, glob=False)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise UsageError about a file, or the folder of several, that polars cannot read."""
    import polars as pl

    try:
        yield
    except pl.exceptions.PanicException:
        raise _unreadable(path, DAMAGED) from None
    except pl.exceptions.PolarsError as error:
        raise _unreadable(path, (str(error).strip() or DAMAGED).splitlines()[0]) from None


def _unreadable(path: Path, problem: str) -> UsageError:
    return UsageError(
        f"{path}: cannot be read: {problem}; expected a table that hull wrote: repeat the same "
        "command"
    )

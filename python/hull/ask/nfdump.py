"""The CSV that nfdump writes for NetFlow v5, v9 and IPFIX (`nfdump -o csv`), and its summary.

nfdump 1.6 has short names (ts, te, td, sa, da, ...) and times of whole seconds, later 1.7 long ones
(firstSeen, duration, srcAddr, ...) and milliseconds; `-o csv-fast` has ms since 1970. After the
flows come three lines: `Summary`, the names of its six numbers, and those.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_OLD = {"ts", "sa", "da", "ibyt"}
_NEW = {"firstSeen", "srcAddr", "dstAddr"}
_SUMMARY = ("Summary", "flows")
_SUMMARY_FIELDS = 6
_FLOWS = r"^\d{1,9}$"
_NUMBER = r"^\d+(\.\d+)?$"
MAGIC = (b"\xa5\x0c", b"\x0c\xa5")
"""The first bytes of nfdump's own files."""


def is_nfdump(names: Sequence[str]) -> bool:
    """Whether a header is one of nfdump's."""
    return set(names) >= _OLD or set(names) >= _NEW


def of_summary(names: Sequence[str], kinds: "Sequence[pl.DataType]") -> "pl.Expr":
    """Whether a row is a line of the summary: it names one, or has six numbers and nothing more.

    The line of numbers begins with a small one, the flows; a flow has addresses.
    """
    import polars as pl

    if not isinstance(kinds[0], pl.String):
        return pl.lit(False)
    cells = [pl.col(name).cast(pl.String).str.strip_chars() for name in names]
    named = cells[0].is_in(_SUMMARY)
    numbers = [cell.str.contains(_NUMBER) for cell in cells[:_SUMMARY_FIELDS]]
    nothing = [cell.is_null() for cell in cells[_SUMMARY_FIELDS:]]
    counts = pl.all_horizontal(cells[0].str.contains(_FLOWS), *numbers, *nothing)
    return named.fill_null(False) | counts.fill_null(False)

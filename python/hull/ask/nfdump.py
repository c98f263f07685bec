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
MAGIC = (b"\xa5\x0c", b"\x0c\xa5")
"""The first bytes of nfdump's own files."""


def is_nfdump(names: Sequence[str]) -> bool:
    """Whether a header is one of nfdump's."""
    return set(names) >= _OLD or set(names) >= _NEW


def of_summary(names: Sequence[str], kinds: "Sequence[pl.DataType]") -> "pl.Expr":
    """Whether a row is a line of the summary: it names one, or has six fields and no more.

    Under a header of fewer columns the line of numbers begins with a small one, the flows.
    """
    import polars as pl

    first = pl.col(names[0])
    if not isinstance(kinds[0], pl.String):
        return pl.lit(False)
    named = first.str.strip_chars().is_in(_SUMMARY).fill_null(False)
    if len(names) <= _SUMMARY_FIELDS:
        return named | first.str.contains(r"^\s*\d{1,9}\s*$").fill_null(False)
    return named | pl.col(names[_SUMMARY_FIELDS]).is_null()

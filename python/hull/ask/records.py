"""Rows of a CSV or Parquet file as they come, read in pieces: any number of rows in little memory.

CSV: a header, fields separated by a comma, semicolon, tab, bar or blanks, comments after #; plain
or compressed with gzip or zstd. JSON: an object per line, plain or gzip.
"""

import gzip
import os
import re
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull.ask import json_lines, zeek
from hull.ask.csv_lines import LINE_BYTES, long_line
from hull.ask.nfdump import MAGIC, is_nfdump, of_summary
from hull.ask.packet_list import is_packet_list
from hull.errors import UsageError, reason_of, shown
from hull.files.input_file import special_kind
from hull.files.parquet_probe import DAMAGED, problem_of
from hull.terminal.messages import escaped

if TYPE_CHECKING:
    import polars as pl

SAMPLE = 1000
"""Rows that units are guessed from."""
ROW = "row"
MORE = "more cells than the header"
"""Column with the first cell of a row beyond the header's cells."""
CAPTURES = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)
"""The first bytes of pcap and pcapng files."""
_HEAD = 1 << 16
_LEAST_NAMES = 4
"""Names in a header of columns separated by blanks: start, two addresses, size."""
_ADDRESS = re.compile(r"\d+(\.\d+){0,3}|\d{4}-\d\d-\d\d.*|[0-9a-fA-F:]*::?[0-9a-fA-F:]+")


@dataclass(frozen=True)
class Records:
    """The rows of a file."""

    form: str
    """For the page, such as "nfdump CSV"."""
    frame: "pl.LazyFrame"
    """With the columns as they are, and `row` from 0."""
    names: tuple[str, ...]
    kinds: "tuple[pl.DataType, ...]"
    sample: "pl.DataFrame"

    def summary(self) -> "pl.Expr":
        """Whether a row is a line of nfdump's summary."""
        import polars as pl

        return of_summary(self.names, self.kinds) if "nfdump" in self.form else pl.lit(False)

    def longer(self) -> "pl.Expr":
        """Whether a row has more cells than the header."""
        import polars as pl

        if MORE not in self.sample.columns:
            return pl.lit(False)
        return (pl.col(MORE).str.strip_chars() != "").fill_null(False) & ~self.summary()

    def kind(self, name: str) -> "pl.DataType":
        """The type of a column."""
        return self.kinds[self.names.index(name)]


def head_of(path: Path) -> bytes:
    """The first bytes of a trace, decompressed. Raises UsageError unless it is a file."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(number, "rb") as file:
            mode = os.fstat(number).st_mode
            if not stat.S_ISREG(mode):
                raise refused(path, f"is {special_kind(mode)}; expected a file")
            head = file.read(_HEAD)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(path) as unpacked:
                head = unpacked.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise refused(path, reason_of(error)) from None
    if not head:
        raise refused(path, "is empty; expected a CSV, Parquet, pcap or pcapng file")
    return head


def refused(path: Path, why: str) -> UsageError:
    """The error about a trace that cannot be used."""
    return UsageError(f"TRACE: {shown(path)}: {escaped(why)}")


def scan(path: Path, head: bytes) -> Records:
    """The rows of a file that begins so."""
    import polars as pl

    try:
        if head[:4] == b"PAR1":
            if _end_of(path) != b"PAR1":
                raise refused(path, "cannot be read: it is no whole Parquet file")
            problem = problem_of([path])
            if problem is not None:
                raise refused(path, f"cannot be read: {problem}")
            frame = pl.scan_parquet(path, row_index_name=ROW, glob=False)
            form = "Parquet"
        else:
            frame, form = _scan_csv(path, head)
        schema = frame.collect_schema()
        sample = frame.head(SAMPLE).collect(engine="streaming")
    except pl.exceptions.PanicException:
        raise refused(path, f"cannot be read: {DAMAGED}") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise refused(path, f"cannot be read: {first_line(error)}") from None
    names = tuple(name for name in schema if name not in (ROW, MORE))
    if form == "CSV" and is_nfdump(names):
        form = "nfdump CSV"
    if is_packet_list(names):
        raise refused(
            path,
            f"the header {shown(', '.join(names))} belongs to a list of packets; expected flows: "
            "give the capture itself (pcap or pcapng)",
        )
    if sample.is_empty():
        raise refused(path, f"has the columns {shown(', '.join(names))} and no row; expected flows")
    records = Records(form, frame, names, tuple(schema[name] for name in names), sample)
    # Before any cell is judged: the cells of a longer row are in the wrong columns.
    if (longer := sample.filter(records.longer())).height:
        row, cell = longer.select(ROW, MORE).row(0)
        raise longer_row(path, names, row, cell)
    return records


def longer_row(path: Path, names: Sequence[str], row: int, cell: str) -> UsageError:
    """The error about a row with more cells than the header."""
    return refused(
        path,
        f"row {row + 1:,}: {shown(cell.strip())} is beyond the {len(names)} columns of the header; "
        "expected a cell for each column: quote text that contains the separator",
    )


def _end_of(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-4, os.SEEK_END)
        return file.read()


def _scan_csv(path: Path, head: bytes) -> "tuple[pl.LazyFrame, str]":
    """The rows, and the form of the file."""
    import polars as pl

    if head[:2] in MAGIC:
        raise refused(
            path, "is nfdump's binary format; expected text: nfdump -r FILE -o csv > flows.csv"
        )
    if b"\0" in head and head[:4] != b"\x28\xb5\x2f\xfd":
        raise refused(path, "is not text; expected a CSV, Parquet, pcap or pcapng file")
    separator = ","
    zeek_header = None
    if b"\0" not in head:
        lines = head.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        zeek_header = zeek.header_of(lines)
        header = next((line for line in lines if line.strip() and line[0] != "#"), "")
        if header.lstrip()[:1] in ("{", "["):
            return _scan_json(path, lines), json_lines.FORM
        separator = max(",;\t|", key=header.count)
        if separator not in header and len(header.split()) >= _LEAST_NAMES:
            separator = " "
        # Without a separator: at runs of blanks.
        parts = header.split(None if separator == " " else separator)
        fields = [field.strip(' "') for field in parts]
        if zeek_header is None and any(_ADDRESS.fullmatch(field) for field in fields):
            raise refused(
                path,
                f"{shown(header)} is invalid; expected a header with the names of the columns, "
                "such as start_ms,src,dst,bytes",
            )
    _check_lines(path)
    # Each thread reads pieces ahead: at polars' 16 MB a piece, 16 threads hold 0.8 GB.
    os.environ.setdefault("POLARS_CSV_CHUNK_SIZE", "1000000")
    scanned = partial(
        pl.scan_csv,
        path,
        row_index_name=ROW,
        comment_prefix="#",
        encoding="utf8-lossy",
        extra_columns="ignore",
        missing_columns="insert",
        glob=False,
    )
    if zeek_header is not None:
        separator, names = zeek_header
        schema = dict.fromkeys([*names, MORE], pl.String)
        whole = scanned(separator=separator, schema=schema, has_header=False, quote_char=None)
        return whole, zeek.FORM
    if separator == " ":
        return _cells_of(path, fields), "text with blanks between the cells"
    names = scanned(separator=separator, infer_schema=False).collect_schema().names()[1:]
    schema = dict.fromkeys([*names, MORE], pl.String)
    return scanned(separator=separator, schema=schema), "CSV"


def _scan_json(path: Path, lines: Sequence[str]) -> "pl.LazyFrame":
    keys = json_lines.keys_of(lines)
    if not keys:
        raise refused(
            path,
            "is JSON, but its first line is no object; expected an object per line (of a list: "
            "jq -c '.[]' FILE)",
        )
    _check_lines(path)
    return json_lines.scan(path, keys, ROW)


def _check_lines(path: Path) -> None:
    if (line := long_line(path)) is not None:
        raise refused(path, f"line {line} has more than {LINE_BYTES} bytes; expected a row")


def _cells_of(path: Path, names: Sequence[str]) -> "pl.LazyFrame":
    """The columns of lines whose cells are separated by one blank or several."""
    import polars as pl

    if len(set(names)) < len(names):
        raise refused(
            path, f"the header {shown(' '.join(names))} has a name twice; expected each name once"
        )
    lines = pl.scan_csv(
        path,
        separator="\x01",
        quote_char=None,
        infer_schema=False,
        row_index_name=ROW,
        comment_prefix="#",
        encoding="utf8-lossy",
        extra_columns="ignore",
        glob=False,
    )
    # The whole header is the name of the only column.
    cells = pl.col(lines.collect_schema().names()[1]).str.extract_all(r"\S+")
    split = [
        cells.list.get(place, null_on_oob=True).alias(name)
        for place, name in enumerate([*names, MORE])
    ]
    return lines.select(ROW, *split)


def sampled(records: Records, name: str) -> list[Any]:
    """The first values of a column that are there."""
    rows = records.sample.filter(~records.summary())
    return list(rows.get_column(name).drop_nulls().to_list())


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its kind if it has none."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__

"""The flows of a run in the columns of HPCC's simulator, which its analysis scripts read.

Source: alibaba-edu/High-Precision-Congestion-Control, `scratch/third.cc`, `qp_finish`. A line of
`fct.txt` has the addresses of source and destination (hexadecimal), their ports, the size (bytes),
and start, completion time and completion time alone (ns). A host has the address of the node with
its number.

Two things differ. Times end when the last byte arrives, both of a flow and of a flow alone; HPCC's
end with its ACK. And hull has no ports: the first source port of a pair is 10000, as there, and the
destination's is 100, which the scripts select. A run keeps no time of a single pause, so there is
no `pfc.txt`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hull.errors import RunError, UsageError
from hull.files.checksums import RECORD, check
from hull.files.output_file import write_text
from hull.files.table_file import check_table, read_table
from hull.runs.plan import part_folder

FIRST_PORT = 10_000
PORT = 100
COLUMNS = ("start_ps", "fct_ps", "bytes", "src", "dst", "ideal_ps")


def address(node: int) -> int:
    """The IP address that HPCC's simulator gives a node."""
    return 0x0B000001 + node // 256 * 0x10000 + node % 256 * 0x100


def write_results(folder: Path, summary: Mapping[str, Any], out: Path) -> list[Path]:
    """Write `fct.txt` for each part of a run, in the folder of the part below `out`; of a run with
    one part, in `out`.

    Raises UsageError for a folder without parts, RunError where a file cannot be written.
    """
    parts: list[dict[str, Any]] = summary.get("parts", [])
    if not parts:
        raise UsageError(f"{folder}: found no simulations; expected a folder of hull run")
    written = []
    for part in parts:
        of_part = part_folder(part["condition"], part["scheme"], part["seed"])
        check(folder, str(of_part / RECORD))
        check_table(folder / of_part, "flows.parquet")
        flows = read_table(folder / of_part / "flows.parquet")
        place = out if len(parts) == 1 else out / of_part
        try:
            place.mkdir(parents=True, exist_ok=True)
            write_text(place / "fct.txt", fct_text(flows))
        except OSError as error:
            raise RunError(f"{place}: {error.strerror or error}") from error
        written.append(place / "fct.txt")
    return written


def fct_text(flows: pl.DataFrame) -> str:
    """The lines of `fct.txt`, in the order in which the flows end; without a flow whose time alone
    is not known.
    """
    rows = flows.select(COLUMNS).filter(pl.col("ideal_ps").is_not_null())
    rows = rows.sort(pl.col("start_ps") + pl.col("fct_ps"), maintain_order=True)
    ports: dict[tuple[int, int], int] = {}
    lines = []
    for start_ps, fct_ps, size, src, dst, ideal_ps in rows.iter_rows():
        port = ports.get((src, dst), FIRST_PORT)
        # A port has 16 bits.
        ports[src, dst] = port + 1 if port < 65_535 else FIRST_PORT
        times = " ".join(str(ps // 1000) for ps in (start_ps, fct_ps, ideal_ps))
        lines.append(f"{address(src):08x} {address(dst):08x} {port} {PORT} {size} {times}\n")
    return "".join(lines)

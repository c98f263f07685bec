"""The flows of a run in the columns of HPCC's simulator, which its analysis scripts read.

Source: alibaba-edu/High-Precision-Congestion-Control, `scratch/third.cc`, `qp_finish`. A line of
`fct.txt` has the addresses of source and destination (hexadecimal), their ports, the size (bytes),
and start, completion time and completion time alone (ns). A host has the address of the node with
its number.

Two things differ. Times end when the last byte arrives, both of a flow and of a flow alone; HPCC's
end with its ACK. And hull has no ports: the first source port of a pair is 10000, as there, and the
destination's is 100, which the scripts select.
"""

import polars as pl

FIRST_PORT = 10_000
PORT = 100
COLUMNS = ("start_ps", "fct_ps", "bytes", "src", "dst", "ideal_ps")


def address(node: int) -> int:
    """The IP address that HPCC's simulator gives a node."""
    return 0x0B000001 + node // 256 * 0x10000 + node % 256 * 0x100


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

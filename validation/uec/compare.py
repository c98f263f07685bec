"""Runs the recorded runs of uet-htsim in hull and sets both results side by side.

The table is a TOML file of the form of `uet-htsim.toml`: `[setup]`, the program's defaults, and
`[current]` with `runs`, each with its connection matrix, options and results. Connection matrices
and topologies are searched for in `--formats`. A row whose inputs are missing is skipped by name.

Ends with status 0 where at least 80% of the rows have a tail within 3% of the recorded one and the
median deviation is within 2%, with 1 where not or where a run failed, with 2 for bad input.
"""

import argparse
import csv
import json
import signal
import statistics
import subprocess
import sys
import time
import tomllib
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import polars as pl
import rows as table_rows
import tomli_w
from rows import Setup, SkippedError
from run_options import end, parse, parser, tell

from hull.errors import UsageError, reason_of

HERE = Path(__file__).resolve().parent
TIMES = ("tail", "first")
COUNTS = {
    "new": "first_sends",
    "rtx": "retransmissions",
    "acks": "acks",
    "nacks": "nacks",
    "pulls": "pulls",
}
"""Quantities of the table that are counts, and their names in hull's summary."""
CLOSE, SHARE, MEDIAN = 0.03, 0.8, 0.02
NEEDED = {"id": int, "cm": str, "options": str, "tail": int | float}


@dataclass
class Row:
    """A row and what became of it: `status` is done, skipped or failed."""

    given: dict[str, Any]
    status: str = "done"
    reason: str = ""
    measured: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Measured over recorded tail."""
        tail = self.measured.get("tail")
        return None if tail is None else tail / self.given["tail"]


def read_table(path: Path) -> tuple[Setup, list[Row]]:
    """The rows of a table; UsageError where it has another form."""
    table = table_rows.read_toml(path)
    current = table.get("current")
    runs = current.get("runs") if isinstance(current, dict) else None
    if not isinstance(runs, list) or not runs:
        table_rows.refuse(path, "current.runs", runs, "a list of runs, `runs = [{ id = 0, ... }]`")
    for at, run in enumerate(runs):
        for key, kind in NEEDED.items():
            value = run.get(key) if isinstance(run, dict) else None
            if isinstance(value, bool) or not isinstance(value, kind):
                expected = "a text" if kind is str else "a number"
                table_rows.refuse(path, f"current.runs[{at}].{key}", value, expected)
        if run["tail"] <= 0:
            table_rows.refuse(path, f"current.runs[{at}].tail", run["tail"], "a number above 0")
    setup = table.get("setup", {})
    if not isinstance(setup, dict):
        table_rows.refuse(path, "setup", setup, "a table")
    return Setup.of(path, setup), [Row(run) for run in runs]


def run_row(row: Row, setup: Setup, formats: Path, hull: str, out: Path) -> None:
    """Runs a row and keeps what it measured in it."""
    try:
        prepared = table_rows.prepare(row.given, setup, formats)
    except SkippedError as reason:
        row.status, row.reason = "skipped", str(reason)
        return
    folder = out / f"uec-{row.given['id']}"
    flows, scenario = folder.with_suffix(".csv"), folder.with_suffix(".toml")
    with flows.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["start_ps", "src", "dst", "bytes", "after", "reuse"])
        for flow in prepared.flows:
            after = " ".join(map(str, flow.after))
            reuse = "" if flow.connection is None else flow.connection
            writer.writerow([flow.start_ps, flow.src, flow.dst, flow.bytes, after, reuse])
    content = prepared.scenario | {"workload": {"flows": str(flows)}}
    scenario.write_text(tomli_w.dumps(content), encoding="utf-8")
    command = [hull, "run", str(scenario), "--out", str(folder), "--force", "--jobs", "1"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"--hull: {hull}: {reason_of(error)}; expected the hull command") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        row.status, row.reason = "failed", last.removeprefix("hull: error: ")
        return
    row.measured = measure(folder, row.given, len(prepared.flows))
    if not row.measured:
        row.status, row.reason = "failed", "not all flows were acknowledged within 1 s"


def measure(folder: Path, given: dict[str, Any], flows: int) -> dict[str, float]:
    """What the table records, from a run's results; nothing where flows are missing."""
    (part,) = sorted(path.parent for path in folder.glob("parts/**/flows.parquet"))
    done = pl.read_parquet(part / "flows.parquet")
    if done.height < flows or done["acked_ps"].null_count():
        return {}
    done = done.with_columns(end_us=(pl.col("start_ps") + pl.col("acked_ps")) * 1e-6)
    # Messages of one connection count as one flow.
    shared = done.filter(pl.col("connection").is_not_null())
    ends = done.filter(pl.col("connection").is_null())["end_us"].to_list()
    ends += (
        shared.group_by("connection", maintain_order=True)
        .agg(pl.col("end_us").max())["end_us"]
        .to_list()
    )
    summary = json.loads((part / "summary.json").read_text(encoding="utf-8"))
    measured = {"tail": max(ends), "first": min(ends)}
    measured |= {name: summary[key] for name, key in COUNTS.items() if name in given}
    named = given.get("flow")
    if isinstance(named, dict) and "finish" in named:
        _, src, dst = str(named["name"]).split("_")
        of = done.filter((pl.col("src") == int(src)) & (pl.col("dst") == int(dst)))
        measured["flow"] = of["end_us"].max()
    return measured


def recorded(row: Row, name: str) -> float | None:
    """A recorded value."""
    value = row.given.get(name)
    return value.get("finish") if isinstance(value, dict) else value


def document(rows: list[Row]) -> dict[str, Any]:
    """The comparison as plain values."""
    entries = []
    for row in rows:
        entry: dict[str, Any] = {"id": row.given["id"], "plan": row.given.get("plan")}
        entry |= {"cm": row.given["cm"], "options": row.given["options"], "status": row.status}
        if row.reason:
            entry["reason"] = row.reason
        for name, value in row.measured.items():
            published = recorded(row, name)
            ratio = value / published if published else None
            entry[name] = {"published": published, "measured": value, "ratio": ratio}
        entries.append(entry)
    return {"rows": entries, "summary": summary(rows)}


def summary(rows: list[Row]) -> dict[str, Any]:
    """How many rows are close, and the median over all."""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    close = [abs(ratio - 1) <= CLOSE for ratio in ratios]
    return {
        "rows": len(rows),
        "compared": len(ratios),
        "skipped": sum(row.status == "skipped" for row in rows),
        "failed": sum(row.status == "failed" for row in rows),
        "within_3_percent": sum(close),
        "share_within_3_percent": sum(close) / len(ratios) if ratios else None,
        "median_deviation": statistics.median(abs(r - 1) for r in ratios) if ratios else None,
    }


def reaches(total: dict[str, Any]) -> bool:
    """Whether the comparison holds."""
    if not total["compared"] or total["failed"]:
        return False
    close = total["share_within_3_percent"] >= SHARE
    return close and total["median_deviation"] <= MEDIAN


def value(number: float | None) -> str:
    """A value with the digits that the program prints."""
    return "" if number is None else f"{number:.6g}"


def text(rows: list[Row]) -> str:
    """The comparison as Markdown: recorded / measured in each cell, the tail with its ratio."""
    names = [name for name in (*TIMES, *COUNTS) if any(name in row.given for row in rows)]
    header = ["id", "connections", "options", "tail, us", "measured", "ratio"]
    header += [f"{name}: recorded, measured" for name in names if name != "tail"]
    lines = []
    for row in rows:
        line = [str(row.given["id"]), row.given["cm"], row.given["options"]]
        line.append(value(row.given["tail"]))
        if row.status != "done":
            lines.append([*line, row.status, "", *[""] * (len(names) - 1)])
            continue
        line += [value(row.measured["tail"]), f"{row.ratio:.4f}"]
        for name in names:
            if name != "tail":
                pair = (recorded(row, name), row.measured.get(name))
                line.append(", ".join(value(one) for one in pair if one is not None))
        lines.append(line)
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    cells = [header, ["-" * width for width in widths], *lines]
    table = "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in cells
    )
    notes = [
        f"{row.given['id']} {row.status}: {row.reason}" for row in rows if row.status != "done"
    ]
    notes += causes(rows)
    total = summary(rows)
    if total["compared"]:
        notes.append(
            f"{total['within_3_percent']} of {total['compared']} tails within 3% "
            f"({total['share_within_3_percent']:.0%}; wanted 80%), median deviation "
            f"{total['median_deviation']:.2%} (wanted at most 2%)"
        )
    else:
        notes.append("no row was compared")
    return "\n".join([table, "", *(f"- {note}" for note in notes)])


def causes(rows: list[Row]) -> list[str]:
    """What is known of the tails that are not close, from `causes.toml`."""
    told = tomllib.loads((HERE / "causes.toml").read_text(encoding="utf-8"))["causes"]
    known = {(one["cm"], one["options"]): one["cause"] for one in told}
    far = [row for row in rows if row.ratio is not None and abs(row.ratio - 1) > CLOSE]
    found = [(row, known.get((row.given["cm"], row.given["options"]))) for row in far]
    return [
        f"{row.given['id']} is {row.ratio - 1:+.1%} off: {cause or 'no cause is known'}"
        for row, cause in found
    ]


def run_all(rows: list[Row], options: argparse.Namespace, setup: Setup) -> bool:
    """Runs the rows, several at a time; False when Ctrl-C came before all were done."""
    started = time.monotonic()
    pool = ThreadPoolExecutor(options.jobs)
    pending: dict[Future[None], Row] = {}
    for row in rows:
        work = pool.submit(run_row, row, setup, options.formats, options.hull, options.out)
        pending[work] = row
    finished = 0
    try:
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for one in done:
                row = pending.pop(one)
                one.result()
                finished += 1
                told = row.reason or f"tail {value(row.measured['tail'])} us"
                spent = time.monotonic() - started
                place = f"{finished} of {len(rows)}, {spent:.0f} s"
                print(f"{place}: row {row.given['id']} {row.status}: {told}", file=sys.stderr)
    except KeyboardInterrupt:
        # The runs got the signal too. What has begun ends; nothing else begins.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for one, row in pending.items():
            if one.cancel() or not row.measured:
                row.status, row.reason = "skipped", "stopped before it was done"
        pool.shutdown(cancel_futures=True)
        return False
    finally:
        pool.shutdown(cancel_futures=True)
    return True


def main() -> int:
    """Compares, prints; the exit status."""
    only = "ids with commas between them, such as 0,2,30"
    summary_line = __doc__.splitlines()[0]
    arguments = parser(summary_line, "folder of .cm and .topo files", only, HERE / "build")
    arguments.add_argument(
        "--seed", type=int, help="instead of the table's: shows how far chance goes"
    )
    options = parse(arguments)
    setup, rows = read_table(options.table)
    if options.seed is not None:
        setup = replace(setup, seed=options.seed)
    if options.only is not None:
        wanted = options.only.split(",")
        unknown = sorted(set(wanted) - {str(row.given["id"]) for row in rows})
        if unknown:
            told = f"--only: {','.join(unknown)} is invalid; expected ids of the table"
            raise UsageError(f"{told}, such as {rows[0].given['id']}")
        rows = [row for row in rows if str(row.given["id"]) in wanted]
    whole = run_all(rows, options, setup)
    tell(options, document(rows), text(rows))
    if not whole:
        return 130
    return 0 if reaches(summary(rows)) else 1


if __name__ == "__main__":
    end(main)

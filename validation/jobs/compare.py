"""Runs recorded runs of schedules in hull and sets both results side by side.

The table is a TOML file of the form of `collectives-runs.toml`. Runs on LogGP are wanted to the
nanosecond in each rank; those with a closed form must have it. Runs of packets are wanted within 3%
(messages, rings and pipelines, in the configurations that `recorded.py` names) or 20% (incasts and
all-to-alls), these with the configurations of a schedule in the recorded order. A run that stopped
before its end must stop here too. A row without its schedule is skipped by name.

A run on LogGP without a closed form may differ if a model of the program's queue (`event_order.py`)
proves that only the order of events at one time does.

Ends with status 0 where all this holds, with 1 where not or where a run failed, with 2 for bad
input.
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import time
import tomllib
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import event_order
import networks
import polars as pl
import recorded
import tomli_w
from controls import NAMES
from recorded import Row, Table
from rows import SkippedError
from run_options import end, parse, parser, tell

from hull.errors import UsageError, reason_of

HERE = Path(__file__).resolve().parent
STOPPED = ("the job cannot end", "nothing moves", str(recorded.UNSENT))
"""What hull says of a job that cannot end, at once where a receive has a tag without a send."""
COUNTS = {
    "packets": "first_sends",
    "retransmitted": "retransmissions",
    "nacks": "nacks",
}
"""Recorded counts, and their names in hull's summary."""
OF_MESSAGES = ("min", "mean", "max")


@dataclass(frozen=True)
class Cause:
    """What is known of rows that differ."""

    text: str
    means_ns: list[float] | None
    """Ends of the ranks by the schedule's meaning, where the recorded program has another one."""


def causes() -> dict[str, Cause]:
    """Known causes by the name of the row."""
    told = tomllib.loads((HERE / "causes.toml").read_text(encoding="utf-8"))["causes"]
    return {row: Cause(one["cause"], one.get("means_ns")) for one in told for row in one["rows"]}


def carry_out(row: Row, table: Table, options: argparse.Namespace) -> None:
    """Runs a row and keeps what it measured in it."""
    if row.schedule is None:
        row.skip(f"{row.given['goal']}.goal is not in {options.formats}")
        return
    folder = options.out / row.name.replace("/", "-")
    if row.takes_no_wildcards:
        row.schedule = row.schedule.without_wildcards(folder.with_suffix(".goal"))
    try:
        if row.is_of_packets:
            command = of_packets(row, table, options, folder)
        else:
            network = loggp(row, table)
            command = [options.hull, "run", str(row.schedule.path), "--network", network]
            command += ["--format", "json"]
    except SkippedError as reason:
        row.skip(str(reason))
        return
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"--hull: {command[0]}: {reason_of(error)}; expected hull") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        row.reason = last.removeprefix("hull: error: ")
        row.ended = False
        if not any(said in last for said in STOPPED):
            row.fail(row.reason)
        return
    if row.is_of_packets:
        measure(row, folder)
    else:
        row.end_ns = json.loads(done.stdout)["end_ns"]
        if row.schedule.is_text and not equal(row.end_ns, recorded_ends(row)):
            path, of_wire = row.schedule.path, "ATLAHS" in row.given["tool"]
            row.queue_ns = event_order.ends(path, table.sets[row.parameters], of_wire=of_wire)


def loggp(row: Row, table: Table) -> str:
    """The row's set as `--network` has it."""
    given = table.sets[row.parameters]
    values = [f"{key}={given[key]}ns" for key in ("L", "o", "g", "G", "O") if key in given]
    values += [f"S={given['S']}B"] if "S" in given else []
    charge = "wire" if "ATLAHS" in row.given["tool"] else "receiver"
    return "loggp:" + ",".join([*values, f"charge={charge}"])


def of_packets(row: Row, table: Table, options: argparse.Namespace, folder: Path) -> list[str]:
    """Writes the row's scenario; the command that runs it."""
    content = networks.prepare(row, table, options.formats, folder.with_suffix(".goal"))
    scenario = folder.with_suffix(".toml")
    scenario.write_text(tomli_w.dumps(content), encoding="utf-8")
    if content["transport"]["congestion_control"] in NAMES.values():
        return [sys.executable, str(HERE / "controls.py"), str(scenario), str(folder)]
    command = [options.hull, "run", str(scenario), "--out", str(folder)]
    return [*command, "--force", "--jobs", "1"]


def measure(row: Row, folder: Path) -> None:
    """Reads what a run of packets measured."""
    (part,) = sorted(path.parent for path in folder.glob("parts/**/ranks.parquet"))
    ranks = pl.read_parquet(part / "ranks.parquet").sort("rank")
    row.end_ns = (ranks["end_ps"] / 1000).to_list()
    flows = pl.read_parquet(part / "flows.parquet")
    if flows.height:
        taken_us = (flows["acked_ps"] * 1e-6).to_list()
        values = (min(taken_us), statistics.fmean(taken_us), max(taken_us))
        row.messages = dict(zip(OF_MESSAGES, values, strict=True))
    summary = json.loads((part / "summary.json").read_text(encoding="utf-8"))
    row.counts = {name: summary[key] for name, key in COUNTS.items()}


class Verdicts:
    """What holds of the rows, by the goals in this file's head."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.causes = causes()

    def agrees(self, row: Row) -> bool | None:
        """Whether a row is as wanted; None without a result, or if nothing is wanted of it."""
        if row.status != "done":
            return None
        if row.stops or not row.ended:
            return row.stops and not row.ended
        if row.is_of_packets:
            return None if row.within is None else abs(self.ratio(row) - 1) <= row.within
        if (meant := self.meant(row)) is not None:
            return equal(row.end_ns, meant)
        return equal(row.end_ns, recorded_ends(row)) and self.is_closed(row)

    def is_closed(self, row: Row) -> bool:
        """Whether a run on LogGP has its closed form, if there is one."""
        closed = row.given.get("closed_ns")
        return closed is None or equal(row.end_ns, closed) or self.meant(row) is not None

    def meant(self, row: Row) -> list[float] | None:
        """Ends by the schedule's meaning, if the recorded ones are not."""
        cause = self.causes.get(row.name)
        return cause.means_ns if cause else None

    def ratio(self, row: Row) -> float:
        """Measured over recorded end of the last rank."""
        most = row.given["max_ns"]
        return max(row.end_ns, default=0) / most if most else float("inf")

    def cause(self, row: Row) -> str:
        """What is known of a row, if anything."""
        cause = self.causes.get(row.name)
        if cause is None and self.is_of_queue(row):
            return (
                "the order of events at one time: a model of the program's queue has the recorded "
                "ends in each rank"
            )
        return cause.text if cause else ""

    def is_of_queue(self, row: Row) -> bool:
        """Whether the model of the program's queue has the recorded ends, which hull has not."""
        return bool(row.queue_ns) and equal(row.queue_ns, recorded_ends(row))

    def disordered(self) -> tuple[list[tuple[Row, Row]], int]:
        """Pairs of runs of an incast or an all-to-all whose order is not the recorded one, and the
        number of all pairs.
        """
        kept = [
            row
            for row in self.rows
            if row.status == "done" and row.is_of_packets and row.ended and row.within == 0.2
        ]
        pairs = [
            (one, other) if one.given["max_ns"] < other.given["max_ns"] else (other, one)
            for one, other in combinations(kept, 2)
            if one.given["goal"] == other.given["goal"]
            and one.given["max_ns"] != other.given["max_ns"]
        ]
        turned = [(one, other) for one, other in pairs if max(one.end_ns) >= max(other.end_ns)]
        return turned, len(pairs)

    def holds(self) -> bool:
        """Whether all goals are reached."""
        done = [row for row in self.rows if row.status == "done"]
        if not done or any(row.status == "failed" for row in self.rows):
            return False
        wrong = [row for row in done if self.agrees(row) is False and not self.is_excused(row)]
        return not wrong and not self.disordered()[0]

    def is_excused(self, row: Row) -> bool:
        """Whether a run on LogGP without a closed form differs by the order of events alone."""
        return "closed_ns" not in row.given and self.is_of_queue(row)

    def summary(self) -> dict[str, Any]:
        """How many rows are as wanted, by kind."""
        turned, pairs = self.disordered()
        total: dict[str, Any] = {
            "rows": len(self.rows),
            "skipped": sum(row.status == "skipped" for row in self.rows),
            "failed": sum(row.status == "failed" for row in self.rows),
        }
        for row in self.rows:
            if row.status != "done":
                continue
            of = total.setdefault(group(row), {"compared": 0, "agree": 0, "differ": 0})
            of["compared"] += 1
            agrees = self.agrees(row)
            of["agree"] += agrees is True
            of["differ"] += agrees is False
            if row.is_of_packets and row.ended and not row.stops:
                of["largest"] = max(of.get("largest", 0), abs(self.ratio(row) - 1))
        total["ordered_pairs"] = {"compared": pairs, "agree": pairs - len(turned)}
        total["holds"] = self.holds()
        return total


def group(row: Row) -> str:
    """What a row is counted with."""
    if row.stops:
        return "stops"
    if not row.is_of_packets:
        return "loggp_closed" if "closed_ns" in row.given else "loggp"
    return row.kind if row.within is not None else f"{row.kind}_reported"


def equal(ends: list[float], wanted: float | list[float]) -> bool:
    """Whether all ranks, or the last one, end at the ns."""
    return ends == wanted if isinstance(wanted, list) else max(ends, default=0) == wanted


def recorded_ends(row: Row) -> float | list[float]:
    """Recorded end of each rank, or of the last one."""
    ends: float | list[float] = row.given.get("end_ns", row.given["max_ns"])
    return ends


def pair(published: Any, measured: float) -> dict[str, Any]:
    """A quantity of the document."""
    ratio = measured / published if published else None
    return {"published": published, "measured": measured, "ratio": ratio}


def document(verdicts: Verdicts) -> dict[str, Any]:
    """The comparison as plain values."""
    entries = []
    for row in verdicts.rows:
        entry: dict[str, Any] = {"id": row.name, "tool": row.given["tool"]}
        entry |= {"goal": row.given["goal"], "parameters": row.parameters, "kind": row.kind}
        entry |= {"status": row.status}
        if row.reason:
            entry["reason"] = row.reason
        if row.status == "done":
            entry["agrees"] = verdicts.agrees(row)
            entry["within"] = row.within if row.is_of_packets else 0
            names = {True: "ended", False: "stopped"}
            entry["outcome"] = {"published": names[not row.stops], "measured": names[row.ended]}
            if cause := verdicts.cause(row):
                entry["cause"] = cause
        if row.end_ns:
            entry["max_ns"] = pair(row.given["max_ns"], max(row.end_ns))
            entry["end_ns"] = {"published": row.given.get("end_ns"), "measured": row.end_ns}
            if "closed_ns" in row.given:
                entry["closed_ns"] = row.given["closed_ns"]
        recorded_us = row.given.get("message_us", {})
        for name, value in row.messages.items():
            entry[f"message_{name}_us"] = pair(recorded_us.get(name), value)
        for name, value in row.counts.items():
            entry[name] = pair(row.given.get(name), value)
        entries.append(entry)
    turned, _ = verdicts.disordered()
    order = [[one.name, other.name] for one, other in turned]
    return {"rows": entries, "out_of_order": order, "summary": verdicts.summary()}


def lines_of(header: list[str], lines: list[list[str]]) -> list[str]:
    """A table of Markdown."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    cells = [header, ["-" * width for width in widths], *lines]
    return [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in cells
    ]


def text(verdicts: Verdicts) -> str:
    """The comparison as Markdown."""
    words = {True: "yes", False: "no", None: ""}
    loggp_lines, packet_lines = [], []
    for row in verdicts.rows:
        line = [row.given["goal"], row.parameters]
        if row.status != "done":
            (packet_lines if row.is_of_packets else loggp_lines).append(
                [*line, row.status, *[""] * (8 if row.is_of_packets else 3)]
            )
            continue
        agrees = words[verdicts.agrees(row)]
        most = max(row.end_ns, default=0)
        if not row.is_of_packets:
            ends = row.given.get("end_ns")
            same = sum(a == b for a, b in zip(ends, row.end_ns, strict=False)) if ends else 0
            ranks = f"{same} of {len(ends)}" if ends and row.end_ns else ""
            told = f"{most:.0f}" if row.end_ns else "stopped"
            loggp_lines.append([*line, f"{row.given['max_ns']:.0f}", told, ranks, agrees])
            continue
        line += [row.kind, f"{row.given['max_ns'] / 1000:.3f}"]
        if not row.end_ns:
            packet_lines.append([*line, "stopped", *[""] * 5, agrees])
            continue
        wanted = "" if row.within is None else f"{row.within:.0%}"
        line += [f"{most / 1000:.3f}", f"{verdicts.ratio(row):.4f}", wanted]
        given_us = row.given.get("message_us", {})
        mean = (given_us.get("mean"), row.messages.get("mean"))
        largest = (given_us.get("max"), row.messages.get("max"))
        line += [", ".join(f"{one:.2f}" for one in both if one) for both in (mean, largest)]
        nacks = (row.given.get("nacks"), row.counts.get("nacks"))
        line.append(", ".join(f"{one:.0f}" for one in nacks if one is not None))
        packet_lines.append([*line, agrees])
    told = []
    if loggp_lines:
        header = ["schedule", "set", "recorded, ns", "measured", "equal ranks", "agrees"]
        told += ["LogGP:", "", *lines_of(header, loggp_lines), ""]
    if packet_lines:
        header = ["schedule", "network", "kind", "recorded, us", "measured", "ratio", "within"]
        header += ["mean of messages, us", "largest", "NACKs", "agrees"]
        told += ["Packets:", "", *lines_of(header, packet_lines), ""]
    return "\n".join([*told, *(f"- {note}" for note in notes(verdicts))])


def notes(verdicts: Verdicts) -> list[str]:
    """What the tables do not say."""
    told = [
        f"{row.name} {row.status}: {row.reason}" for row in verdicts.rows if row.status != "done"
    ]
    for row in verdicts.rows:
        cause = verdicts.cause(row)
        if row.status == "done" and (cause or verdicts.agrees(row) is False):
            told.append(f"{row.name}: {cause or 'no cause is known'}")
    total = verdicts.summary()
    turned, pairs = verdicts.disordered()
    told += [
        f"{one.name} ends before {other.name} in the record "
        f"({one.given['max_ns'] / other.given['max_ns'] - 1:+.1%}), here not"
        for one, other in turned
    ]
    for name, of in total.items():
        if isinstance(of, dict) and name != "ordered_pairs":
            largest = f", largest deviation {of['largest']:.1%}" if "largest" in of else ""
            wanted = of["agree"] + of["differ"]
            counted = f"{of['agree']} of {wanted} agree" if wanted else f"{of['compared']} reported"
            told.append(f"{name.replace('_', ', ')}: {counted}{largest}")
    if pairs:
        told.append(f"order of incasts and all-to-alls: {pairs - len(turned)} of {pairs} pairs")
    told.append(
        f"{total['rows']} rows, {total['skipped']} skipped, {total['failed']} failed; "
        f"the goals are {'' if total['holds'] else 'not '}reached"
    )
    return told


def run_all(table: Table, options: argparse.Namespace) -> bool:
    """Runs the rows, several at a time; False when Ctrl-C came before all were done."""
    started = time.monotonic()
    pool = ThreadPoolExecutor(options.jobs)
    pending: dict[Future[None], Row] = {
        pool.submit(carry_out, row, table, options): row for row in table.rows
    }
    try:
        for work in as_completed(list(pending)):
            row = pending.pop(work)
            work.result()
            ended = f"{max(row.end_ns) / 1000:.3f} us" if row.end_ns else ""
            done = len(table.rows) - len(pending)
            place = f"{done} of {len(table.rows)}, {time.monotonic() - started:.0f} s"
            print(f"{place}: {row.name} {row.status}: {row.reason or ended}", file=sys.stderr)
    except KeyboardInterrupt:
        # The runs got the signal too. What has begun ends; nothing else begins.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pool.shutdown(cancel_futures=True)
        for row in pending.values():
            row.skip("stopped before it was done")
        return False
    finally:
        pool.shutdown(cancel_futures=True)
    return True


def main() -> int:
    """Compares, prints; the exit status."""
    only = "a part of the rows' names, such as ring or /H2g"
    summary = __doc__.splitlines()[0]
    options = parse(parser(summary, "folder of schedules", only, HERE / "build"))
    table = recorded.read(options.table, options.formats)
    if options.only is not None:
        table.rows[:] = [row for row in table.rows if options.only in row.name]
        if not table.rows:
            raise UsageError(f"--only: {options.only} is invalid; expected a part of a row's name")
    whole = run_all(table, options)
    verdicts = Verdicts(table.rows)
    tell(options, document(verdicts), text(verdicts))
    if not whole:
        return 130
    return 0 if verdicts.holds() else 1


if __name__ == "__main__":
    end(main)

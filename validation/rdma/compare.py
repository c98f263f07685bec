"""Runs the recorded runs of RDMA simulators in hull and sets both results side by side.

The table is a TOML file of the form of `rdma-runs.toml`. Before it runs anything it lists the runs
that a named fault of a recorded program excludes. A row that cannot be repeated fails by itself.
Keys of a row that are not read are listed (`unread`). A run agrees if each of its quantities does
(`measured.py`). DCQCN and lossy links draw random numbers: such a run is repeated with `--seeds`
seeds, and a quantity also agrees if hull's mean is within two standard deviations, of the recorded
seeds where the table has them, else of hull's.

Ends with status 0 where at least 85% of the runs agree and a fault excludes at most 15%, with 1
where not or where a run failed, with 2 for bad input.
"""

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tomli_w
from measured import Quantity, Results, quantities, slack
from networks import Network, network
from run_options import end, parse, parser, tell
from runs import Reading, Run, ecn, fault, flows, prepare, scaled_rates
from whole_ns import applies, of_run

from hull.errors import UsageError, reason_of

HERE = Path(__file__).resolve().parent
SHARE, MOST_EXCLUDED = 0.85, 0.15
NEEDED = ("scenario", "run", "cc", "base")


@dataclass
class Value:
    """A quantity with what hull measured, a value for each seed."""

    quantity: Quantity
    measured: list[float]
    slack: float
    deviation: float | None = None
    shaken: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return statistics.fmean(self.measured) if self.measured else math.nan

    @property
    def agrees(self) -> bool:
        """Whether it is close enough."""
        off = abs(self.mean - self.quantity.recorded)
        return off <= max(self.slack, 2 * (self.deviation or 0))


@dataclass
class Row:
    """A run and what became of it: `status` is done, excluded or failed."""

    run: Run
    status: str = "done"
    reason: str = ""
    unread: list[str] = field(default_factory=list)
    clock: str = ""
    values: list[Value] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Whether all quantities agree."""
        return self.status == "done" and all(value.agrees for value in self.values)

    def fail(self, reason: str) -> None:
        """Ends the row without a result."""
        self.status, self.reason, self.values = "failed", reason, []


def read(path: Path) -> list[Row]:
    """The rows of a table; UsageError where it has another form."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {reason_of(error)}; expected a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}; expected TOML") from None
    for key in NEEDED:
        if not isinstance(table.get(key), dict) or not table[key]:
            raise UsageError(f"{path}: {key}: missing; expected the tables {', '.join(NEEDED)}")
    return [row_of(name, given, table) for name, given in table["run"].items()]


def row_of(name: str, given: Any, table: dict[str, Any]) -> Row:
    """A row of a table, failed where its scenario or its control is not in the table."""
    row = Row(Run(name, Reading(given if isinstance(given, dict) else {}), table))
    for key in ("scenario", "cc"):
        if row.run.given.get(key) not in table[key]:
            found, allowed = row.run.given.get(key), ", ".join(table[key])
            row.fail(f'run."{name}".{key}: {found!r} is invalid; expected one of {allowed}')
            break
    return row


def is_random(run: Run) -> bool:
    """Whether the run draws random numbers that count: losses, or marks that the control reads."""
    by_chance = any("max_threshold" in marking for marking in ecn(run).values())
    reads_marks = run.control.startswith(("dcqcn", "dctcp"))
    return (by_chance and reads_marks) or "error_rate_per_link" in run.values


def carry_out(row: Row, options: argparse.Namespace) -> None:
    """Runs a row and keeps what it measured."""
    run = row.run
    try:
        net = network(str(run.given["scenario"]), run.table["scenario"], options.formats)
    except (UsageError, OSError, *UNREADABLE) as error:
        row.fail(unreadable(error))
        return
    try:
        results = simulate(run, net, options)
        for quantity in quantities(run, net):
            measured = [quantity.of(one) for one in results]
            if run.simulator != "C" and any(map(math.isfinite, measured)):
                measured = [*filter(math.isfinite, measured)]  # as `fault` excludes such runs
            deviation = recorded_deviation(run, quantity.name)
            if deviation is None and len(measured) > 1 and all(map(math.isfinite, measured)):
                deviation = statistics.stdev(measured)
            row.values.append(Value(quantity, measured, slack(quantity, run), deviation))
        far = [value for value in row.values if not value.agrees]
        for shake in range(1, options.shake + 1 if far else 1):
            (result,) = simulate(run, net, options, shake)
            for value in far:
                value.shaken.append(value.quantity.of(result))
        row.clock = by_clock(row) if far else ""
        row.unread = run.unread()
    except FailedError as error:
        row.fail(str(error))
    except UsageError:
        raise
    except UNREADABLE as error:
        row.fail(unreadable(error))


def by_clock(row: Row) -> str:
    """Tells that the clock of whole nanoseconds explains all that differs, if it does: the model of
    `whole_ns.py` has the recorded values with this clock, and hull's with an exact one.
    """
    run = row.run
    if not applies(run.given):
        return ""
    whole, exact = (of_run(run.table, run.given, unit_ps) for unit_ps in (1000, 1))
    far = [value for value in row.values if not value.agrees]
    for value in far:
        name, recorded = value.quantity.name, value.quantity.recorded
        if not (
            abs(whole.get(name, math.nan) - recorded) <= value.slack
            and abs(exact.get(name, math.nan) - value.mean) <= value.slack
        ):
            return ""
    names = [value.quantity.name for value in far]
    told = ", ".join(f"{name} {whole[name]:.6g} and {exact[name]:.6g}" for name in names)
    return f"the clock of whole ns; the model with it and without: {told}"


UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a row of another form than the recorded ones raises."""


def unreadable(error: Exception) -> str:
    """Why a row cannot be repeated: a key that it lacks, or a value of another form."""
    if isinstance(error, UsageError | OSError):
        return str(error)
    if isinstance(error, KeyError):
        return f"{error}: missing or unknown; expected a row as in rdma-runs.toml"
    return f"a value has another form than in rdma-runs.toml ({error})"


class FailedError(Exception):
    """A run of hull failed."""


def simulate(run: Run, net: Network, options: argparse.Namespace, shake: int = 0) -> list[Results]:
    """Results of a run, one for each seed; with `shake`, a number, of one seed with each start
    moved by less than a ns.
    """
    folder = options.out / run.name.replace("/", "-")
    if shake:
        folder = folder / f"shaken-{shake}"
    folder.mkdir(parents=True, exist_ok=True)
    graph, listed, scenario = (folder / name for name in ("graph.json", "flows.csv", "run.toml"))
    random = Random(shake)
    starts_ps = [
        start * 1000 + (random.randrange(1000) if shake else 0)
        for _, _, _, start, _ in flows(run, net)
    ]
    graph.write_text(json.dumps(net.graph(scaled_rates(run, net))), encoding="utf-8")
    write_flows(listed, run, net, starts_ps)
    content = prepare(run, net, str(graph), str(listed), starts_ps)
    scenario.write_text(tomli_w.dumps(content), encoding="utf-8")
    seeds = options.seeds if is_random(run) and not shake else 1
    command = [options.hull, "run", str(scenario), "--out", str(folder / "results"), "--force"]
    command += ["--jobs", "1", "--seeds", str(seeds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"--hull: {options.hull}: {reason_of(error)}; expected hull") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FailedError(last.removeprefix("hull: error: "))
    parts = sorted(path.parent for path in (folder / "results").glob("parts/**/flows.parquet"))
    return [Results(part, run, net) for part in parts]


RECORDED = {
    "fct min": ("fct_min_us", 1000),
    "fct mean": ("fct_mean_us", 1000),
    "fct max": ("fct_max_us", 1000),
    "queue.max": ("queue_max_kb", 1000),
    "pauses": ("pause", 1),
    "paused": ("paused_us", 1000),
    "gbps_2_to_4ms[0]": ("gbps0", 1),
    "gbps_2_to_4ms[1]": ("gbps1", 1),
    "small fct mean": ("small_mean_us", 1000),
}
"""Quantities of which the table has seeds: their name there and its unit over ours."""


def recorded_deviation(run: Run, name: str) -> float | None:
    """Standard deviation over the recorded seeds, if there are any."""
    seeds = run.table.get("seeds", {}).get(run.name)
    if seeds is None or name not in RECORDED:
        return None
    key, unit = RECORDED[name]
    deviation = seeds.get(f"{key}_stdev")
    return None if deviation is None else float(deviation) * unit


def write_flows(path: Path, run: Run, net: Network, starts_ps: list[int]) -> None:
    """The run's flow list, with the recorded path of each flow where there is one."""
    spines = run.given.get("path_spine")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["start_ps", "src", "dst", "bytes", *(["via"] if spines else [])])
        for at, (src, dst, size, _, _) in enumerate(flows(run, net)):
            row: list[Any] = [starts_ps[at], net.name(src), net.name(dst), size]
            if spines:
                near = src // 8 == dst // 8
                row.append("" if near else net.name(36 + spines[at]))
            writer.writerow(row)


def summary(rows: list[Row]) -> dict[str, Any]:
    """How many runs and quantities agree."""
    compared = [row for row in rows if row.status == "done"]
    values = [value for row in compared for value in row.values]
    agree = sum(row.agrees for row in compared)
    excluded = sum(row.status == "excluded" for row in rows)
    return {
        "runs": len(rows),
        "compared": len(compared),
        "excluded": excluded,
        "failed": sum(row.status == "failed" for row in rows),
        "agree": agree,
        "share": agree / len(compared) if compared else None,
        "quantities": len(values),
        "quantities_agree": sum(value.agrees for value in values),
    }


def reaches(total: dict[str, Any]) -> bool:
    """Whether the comparison holds."""
    if not total["compared"] or total["failed"]:
        return False
    few_excluded = total["excluded"] <= MOST_EXCLUDED * total["runs"]
    return bool(few_excluded and total["share"] >= SHARE)


def causes(row: Row) -> str:
    """The proven cause of a run that does not agree: the clock, or one from `causes.toml`."""
    if row.clock:
        return row.clock
    told = tomllib.loads((HERE / "causes.toml").read_text(encoding="utf-8"))["causes"]
    found = [one["cause"] for one in told if row.run.name in one["runs"]]
    return "; ".join(found)


def document(rows: list[Row]) -> dict[str, Any]:
    """The comparison as plain values."""
    entries = []
    for row in rows:
        entry: dict[str, Any] = {"run": row.run.name, "status": row.status}
        if row.reason:
            entry["reason"] = row.reason
        if row.status == "done":
            entry["agrees"] = row.agrees
            if not row.agrees and (cause := causes(row)):
                entry["cause"] = cause
        if row.unread:
            entry["unread"] = row.unread
        entry["quantities"] = {
            value.quantity.name: {
                "kind": value.quantity.kind,
                "recorded": value.quantity.recorded,
                "measured": value.mean if math.isfinite(value.mean) else None,
                "agrees": value.agrees,
                **({"shaken": shaken} if (shaken := finite_range(value.shaken)) else {}),
            }
            for value in row.values
        }
        entries.append(entry)
    return {"rows": entries, "summary": summary(rows)}


def finite_range(values: list[float]) -> list[float]:
    """Least and largest of the finite values; JSON has no others."""
    finite = [value for value in values if math.isfinite(value)]
    return [min(finite), max(finite)] if finite else []


def differs(value: Value) -> str:
    """A quantity with its recorded and its measured value, and the range of shaken runs."""
    told = f"{value.quantity.name} {value.quantity.recorded:.6g}, {value.mean:.6g}"
    if value.shaken:
        told += f" [{min(value.shaken):.6g} to {max(value.shaken):.6g}]"
    return told


def text(rows: list[Row]) -> str:
    """The comparison as Markdown: the quantities of each run that differ."""
    lines = ["| run | agrees | quantities that differ: recorded, measured |", "| --- | --- | --- |"]
    for row in rows:
        if row.status != "done":
            lines.append(f"| {row.run.name} | {row.status} | {row.reason} |")
            continue
        far = [value for value in row.values if not value.agrees]
        told = "; ".join(map(differs, far))
        if far and (cause := causes(row)):
            told += f" ({cause})"
        lines.append(f"| {row.run.name} | {'no' if far else 'yes'} | {told} |")
    total = summary(rows)
    share = f"{total['share']:.0%}" if total["share"] is not None else "none"
    lines += [
        "",
        f"{total['agree']} of {total['compared']} runs agree ({share}; wanted {SHARE:.0%}); "
        f"{total['quantities_agree']} of {total['quantities']} quantities do. A fault excludes "
        f"{total['excluded']} of {total['runs']}, {total['failed']} failed.",
    ]
    return "\n".join(lines)


def run_all(rows: list[Row], options: argparse.Namespace) -> bool:
    """Runs the rows, several at a time; False when Ctrl-C came before all were done."""
    started = time.monotonic()
    pool = ThreadPoolExecutor(options.jobs)
    pending = {pool.submit(carry_out, row, options): row for row in rows if row.status == "done"}
    try:
        for finished, work in enumerate(as_completed(pending), 1):
            row = pending[work]
            work.result()
            far = [value.quantity.name for value in row.values if not value.agrees]
            told = row.reason or ("agrees" if not far else f"differs: {', '.join(far)}")
            spent = time.monotonic() - started
            place = f"{finished} of {len(pending)}, {spent:.0f} s"
            print(f"{place}: {row.run.name} {row.status}: {told}", file=sys.stderr)
            if settings := [key for key in row.unread if "." in key]:
                print(f"not read: {row.run.name}: {', '.join(settings)}", file=sys.stderr)
    except KeyboardInterrupt:
        for work, row in pending.items():
            if work.cancel() or not row.values:
                row.fail("stopped before it was done")
        return False
    finally:
        pool.shutdown(cancel_futures=True)
    return True


def main() -> int:
    """Compares, prints; the exit status."""
    only = "a part of the runs' names, such as P/incast16."
    arguments = parser(__doc__.splitlines()[0], "folder of others' files", only, HERE / "build")
    arguments.add_argument("--seeds", type=int, default=16, help="seeds of runs that draw numbers")
    arguments.add_argument(
        "--shake", type=int, default=0, help="repetitions of what differs, starts moved by < 1 ns"
    )
    options = parse(arguments)
    if options.shake < 0:
        raise UsageError(f"--shake: {options.shake} is invalid; expected at least 0")
    if options.seeds < 1:
        raise UsageError(f"--seeds: {options.seeds} is invalid; expected at least 1")
    rows = read(options.table)
    if options.only is not None:
        rows = [row for row in rows if options.only in row.run.name]
        if not rows:
            raise UsageError(f"--only: {options.only} is invalid; expected a part of a run's name")
    for row in rows:
        if row.status == "failed":
            continue
        try:
            row.reason = fault(row.run)
        except UNREADABLE as error:
            row.fail(unreadable(error))
            continue
        if row.reason:
            row.status = "excluded"
            print(f"excluded: {row.run.name}: {row.reason}", file=sys.stderr)
    whole = run_all(rows, options)
    tell(options, document(rows), text(rows))
    if not whole:
        return 130
    return 0 if reaches(summary(rows)) else 1


if __name__ == "__main__":
    end(main)

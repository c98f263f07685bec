"""What a run recorded and what hull measured, quantity by quantity.

Kinds of quantities and how close each must be: `rate` 5%; `queue` 5% or two packets; `time`, a
completion time, 3% or a packet's time; `count` of pauses 10% or 2; `paused`, their time, 10% or two
packets' times. Times are ns, sizes bytes, rates Gbps.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from networks import Network
from runs import Run, flows

STOPPED_GBPS = 0.5
"""Rate from which on a recorded flow that was stopped counts as going on."""
SHARES = {"rate": 0.05, "queue": 0.05, "time": 0.03, "count": 0.10, "paused": 0.10}


@dataclass(frozen=True)
class Quantity:
    """A quantity of a run: its kind, what was recorded, and how hull's results give it."""

    name: str
    kind: str
    recorded: float
    of: "Callable[[Results], float]"


class Results:
    """hull's results of one run."""

    def __init__(self, part: Path, run: Run, network: Network) -> None:
        self.run, self.network = run, network
        self.flows = pl.read_parquet(part / "flows.parquet")
        self.series = pl.read_parquet(part / "series.parquet")
        self.queue = pl.read_parquet(part / "queues.parquet")
        pauses = part / "pauses.parquet"
        self.pauses = pl.read_parquet(pauses) if pauses.exists() else None
        self.summary = json.loads((part / "summary.json").read_text(encoding="utf-8"))

    def fct_ns(self, src: int | None = None, small: bool = False) -> list[float]:
        """Times from the start to the last acknowledgment, of a source or of small flows."""
        done = self.flows.filter(pl.col("acked_ps").is_not_null())
        if src is not None:
            done = done.filter(pl.col("src") == src)
        if small:
            done = done.filter(pl.col("bytes") <= 10_000)
        return [float(ps) / 1000 for ps in done["acked_ps"].to_list()]

    def delivered(self, flow: int, at_ns: float) -> float:
        """Payload of a flow that has arrived at the last sample before a time."""
        of_flow = self.series.filter(
            (pl.col("flow") == flow) & (pl.col("time_ps") <= round(at_ns * 1000))
        )
        return float(of_flow["delivered_bytes"].max() or 0)  # type: ignore[arg-type]

    def gbps(self, flow: int, from_ns: float, to_ns: float) -> float:
        """Mean rate of a flow's payload."""
        got = self.delivered(flow, to_ns) - self.delivered(flow, from_ns)
        return got * 8 / (to_ns - from_ns)

    def end_ns(self) -> float:
        """The last completion, or the end of the run where a flow is left."""
        starts = self.flows["start_ps"].to_list()
        acked = self.flows["acked_ps"].to_list()
        if len(acked) < len(flows(self.run, self.network)) or None in acked:
            return float(self.run.scenario["stop_ns"])
        return max(a + b for a, b in zip(starts, acked, strict=True)) / 1000

    def queue_mean(self, from_ns: float, to_ns: float) -> float:
        """Mean over time of the watched queue."""
        times = [ps / 1000 for ps in self.queue["time_ps"].to_list()]
        sizes = self.queue["bytes"].to_list()
        total = 0.0
        for i, size in enumerate(sizes):
            begins = max(times[i], from_ns)
            ends = min(times[i + 1] if i + 1 < len(times) else math.inf, to_ns)
            if ends > begins:
                total += size * (ends - begins)
        return total / (to_ns - from_ns)

    def queue_max(self, from_ns: float = 0, to_ns: float = math.inf) -> float:
        """Largest watched queue."""
        within = self.queue.filter(
            (pl.col("time_ps") >= from_ns * 1000) & (pl.col("time_ps") <= min(to_ns, 1e15) * 1000)
        )
        return float(within["bytes"].max() or 0)  # type: ignore[arg-type]

    def paused(self, column: str) -> float:
        """Sum over all links of a column of pauses."""
        return 0.0 if self.pauses is None else float(self.pauses[column].sum())


def quantities(run: Run, network: Network) -> Iterator[Quantity]:
    """Quantities of a run that are compared."""
    given = run.given
    stop = float(run.scenario["stop_ns"])
    window_ns = run.scenario["window_ns"]
    windows_end = stop // window_ns * window_ns
    yield from completion_times(run)
    if "goodput_gbps" in given:
        size = flows(run, network)[0][2]
        recorded = given["goodput_gbps"]
        yield Quantity("goodput", "rate", recorded, lambda r: goodput(size, first(r.fct_ns())))
    for key, (begin, end) in {
        "gbps_2_to_4ms": (2e6, 4e6),
        "gbps_1_to_3ms": (1e6, 3e6),
        "long_gbps_after_0_5ms": (0.5e6, windows_end),
    }.items():
        for flow, recorded in enumerate(listed(given.get(key))):
            yield rate(f"{key}[{flow}]", recorded, flow, begin, end)
    for phase in range(7):
        of = given.get(f"phase{phase}")
        if of is None:
            continue
        if goes_on(run, phase):
            continue
        begin, end = of["from_ms"] * 1e6, of["to_ms"] * 1e6
        for flow, recorded in zip(of["active"], of["gbps"], strict=True):
            yield rate(f"phase{phase}.gbps[{flow}]", recorded, flow, begin, end)
        yield from queue(f"phase{phase}.queue", of, "queue_", begin, end)
    if last := given.get("last_500us"):
        recorded = last["sum_gbps"]
        count = len(flows(run, network))
        yield Quantity(
            "last_500us.gbps",
            "rate",
            recorded,
            lambda r: sum(r.gbps(flow, stop - 5e5, stop) for flow in range(count)),
        )
        yield from queue("last_500us.queue", last, "queue_", stop - 5e5, stop)
    for key, begin, end in (("2_to_4ms", 2e6, 4e6), ("1_to_3ms", 1e6, 3e6)):
        recorded = (f"queue_{part}_bytes" for part in ("mean", "max"))
        named = {part: given[f"{part}_{key}"] for part in recorded if f"{part}_{key}" in given}
        yield from queue(f"queue_{key}", named, "queue_", begin, end)
    if "queue_mean_bytes_after_0_5ms" in given:
        recorded = given["queue_mean_bytes_after_0_5ms"]
        mean = lambda r: r.queue_mean(0.5e6, windows_end)  # noqa: E731
        yield Quantity("queue_after_0_5ms.mean", "queue", recorded, mean)
    yield from whole_queue(run)
    total = given["pfc_total"]
    yield Quantity("pauses", "count", total["pause"], lambda r: r.paused("received"))
    paused = lambda r: r.paused("paused_ps") / 1000  # noqa: E731
    yield Quantity("paused", "paused", total["paused_ns"], paused)


def whole_queue(run: Run) -> Iterator[Quantity]:
    """The watched queue over the whole run, unless a stopped flow goes on in it."""
    if any(f"phase{n}" in run.given and goes_on(run, n) for n in range(7)):
        return
    watched = run.given["queue"]
    yield Quantity("queue.max", "queue", watched["max_bytes"], lambda r: r.queue_max())
    mean = lambda r: r.queue_mean(0, r.end_ns())  # noqa: E731
    yield Quantity("queue.mean", "queue", watched["mean_bytes"], mean)


def goes_on(run: Run, phase: int) -> bool:
    """Whether a stopped flow of the recorded program goes on in a phase, which is then left out:
    the receiver's state is deleted while packets are on their way, and the sender sends again.
    """
    of, length = run.given[f"phase{phase}"], run.scenario["window_ns"]
    windows = slice(round(of["from_ms"] * 1e6 / length), round(of["to_ms"] * 1e6 / length))
    return any(
        max(run.given[f"gbps_flow{flow}"][windows], default=0) > STOPPED_GBPS
        for flow in range(4)
        if flow not in of["active"]
    )


def rate(name: str, recorded: float, flow: int, begin: float, end: float) -> Quantity:
    """Mean rate of a flow in an interval."""
    return Quantity(name, "rate", recorded, lambda r: r.gbps(flow, begin, end))


def queue(
    name: str, of: dict[str, Any], prefix: str, begin: float, end: float
) -> Iterator[Quantity]:
    """Mean and largest queue in an interval, as far as recorded."""
    if f"{prefix}mean_bytes" in of:
        recorded = of[f"{prefix}mean_bytes"]
        yield Quantity(f"{name}.mean", "queue", recorded, lambda r: r.queue_mean(begin, end))
    if f"{prefix}max_bytes" in of:
        recorded = of[f"{prefix}max_bytes"]
        yield Quantity(f"{name}.max", "queue", recorded, lambda r: r.queue_max(begin, end))


def completion_times(run: Run) -> Iterator[Quantity]:
    """Completion times: the flow's, or the least, mean and largest; small flows apart."""
    given = run.given
    times = [float(ns) for ns in listed(given.get("fct_ns")) if ns >= 0]
    victim = "victim_fct_us" in given
    if len(times) == 1:
        yield Quantity("fct", "time", times[0], lambda r: first(r.fct_ns()))
    elif times:
        if victim:
            source = run.scenario["flows"][-1][0]
            yield Quantity("victim fct", "time", times[-1], lambda r: first(r.fct_ns(source)))
            times = times[:-1]
        count = len(times)
        for name, of in (("min", min), ("mean", mean_of), ("max", max)):
            yield Quantity(
                f"fct {name}",
                "time",
                of(times),
                lambda r, of=of: of(without_victim(r, victim, count)),
            )
    small = given.get("small_fct_us")
    if small:
        for name, of in (("mean", mean_of), ("p50", part(0.5)), ("p95", part(0.95)), ("max", max)):
            value = small[name] * 1000
            yield Quantity(
                f"small fct {name}", "time", value, lambda r, of=of: of(r.fct_ns(small=True))
            )


def without_victim(results: Results, victim: bool, count: int) -> list[float]:
    """Completion times of the incast's flows; infinite where one is left."""
    times = results.fct_ns()
    if victim:
        source = results.run.scenario["flows"][-1][0]
        times = [
            float(row["acked_ps"]) / 1000
            for row in results.flows.iter_rows(named=True)
            if row["acked_ps"] is not None and row["src"] != source
        ]
    return times + [math.inf] * (count - len(times))


def goodput(size: int, fct_ns: float) -> float:
    """Mean rate of a flow; NaN if it is not done."""
    return size * 8 / fct_ns if math.isfinite(fct_ns) else math.nan


def first(times: list[float]) -> float:
    """The only time of a list; infinite where the flow is not done."""
    return times[0] if times else math.inf


def mean_of(values: list[float]) -> float:
    """Arithmetic mean."""
    return sum(values) / len(values) if values else math.nan


def part(share: float) -> Callable[[list[float]], float]:
    """A quantile, by the nearest rank."""

    def of(values: list[float]) -> float:
        ordered = sorted(values)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan

    return of


def listed(value: Any) -> list[float]:
    """A list, or none."""
    return value if isinstance(value, list) else []


def slack(quantity: Quantity, run: Run) -> float:
    """Largest difference from the recorded value that agrees."""
    packet, packet_ns = run.resolved["wire_bytes"], run.resolved["nic_tx_ns"]
    least = {"rate": 0, "queue": 2 * packet, "time": packet_ns, "count": 2, "paused": 2 * packet_ns}
    return max(SHARES[quantity.kind] * abs(quantity.recorded), least[quantity.kind])

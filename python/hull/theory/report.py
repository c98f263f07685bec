"""Output of `hull design`: the design as tables, its scenario as a file."""

from collections.abc import Sequence
from pathlib import Path

import tomli_w
from rich.table import Table
from rich.text import Text

from hull.files.output_file import write_new
from hull.runs.plan import make_plan
from hull.terminal.tables import console, number
from hull.theory.design import Design
from hull.theory.scenario import scenario
from hull.theory.sources import SOURCES
from hull.theory.tiers import PortClass

_PREDICTIONS = {
    "dctcp_throughput": "DCTCP: throughput of the rate, %",
    "dctcp_queueing_delay_mean_s": "queueing delay, mean, us",
    "dctcp_queueing_delay_max_s": "queueing delay, largest, us",
    "dctcp_convergence_s": "convergence of a new flow, ms",
    "dctcp_stability_margin": "stability margin",
    "hull_throughput": "HULL: throughput of the rate, %",
    "hull_queueing_delay_p99_s": "queueing delay, 99th percentile, us",
    "hull_convergence_s": "convergence of a new flow, ms",
    "hull_slowdown": "slowdown of large flows, times",
}
_SCALES = {"%": 100.0, "us": 1e6, "ms": 1e3}


def write_scenario(design: Design, path: Path) -> None:
    """Write the scenario of a design to a new file, after checking it."""
    here = design.setting
    head = (
        f"# hull design: {here.rate_bps / 1e9:g} Gbps, {here.rtt_s * 1e6:g} us, {here.flows} flows,"
        f" load {here.load:g}\n"
    )
    text = head + tomli_w.dumps(scenario(design))
    make_plan(text, str(path), [])
    write_new(path, text)


def print_design(design: Design, measured: dict[str, float | None] | None) -> None:
    """Print recommended settings, by port class too, and predicted (and measured) performance."""
    out = console()
    out.print(_recommended(design))
    if design.ports:
        out.print(_by_port(design.ports))
    out.print(_predicted(design, measured))
    for note in design.notes:
        out.print(Text(f"Note: {note}"))


def _recommended(design: Design) -> Table:
    pacer = design.pacer
    rows = {
        "k_packets": ("DCTCP: marking threshold K", f"{design.k_packets:.1f} packets"),
        "g_min": ("g, from", f"{design.g_min:.3f}"),
        "g_max": ("g, to", f"{design.g_max:.3f}"),
        "drain_bps": (
            "HULL: drain rate of the phantom queue",
            f"{design.drain_bps / 1e9:.4g} Gbps ({100 * design.gamma:.3g}%)",
        ),
        "threshold_bytes": ("its marking threshold", f"{design.threshold_bytes:.0f} B"),
        "pacer": (
            "pacer",
            f"T_r {pacer.update_interval_s * 1e6:.4g} us, eta {pacer.eta:g}, "
            f"beta {pacer.beta:g}/s, p_a {pacer.association_probability:g}, "
            f"T_i {pacer.association_timeout_s * 1e3:.3g} ms, "
            f"bucket {pacer.bucket_bytes / 1e3:g} KB, FIFO {pacer.fifo_bytes / 1e3:g} KB",
        ),
    }
    table = _table("recommended", "setting", "value", "from")
    for name, (title, value) in rows.items():
        table.add_row(*map(Text, (title, value, _source(name))))
    return table


def _by_port(ports: Sequence[PortClass]) -> Table:
    """A row for each rate of the switches' ports."""
    columns = ("ports", "DCTCP's K", "HULL's drain rate", "its threshold")
    table = _table("by rate of the switches' ports", *columns)
    for one in ports:
        cells = (
            f"{one.name}, {one.ports}",
            f"{one.k_bytes:,} B ({one.k_packets:.3g} packets)",
            f"{one.drain_bps / 1e9:.4g} Gbps ({100 * one.drain_bps / one.rate_bps:.3g}%)",
            f"{one.phantom_bytes:,} B ({one.phantom_packets:.3g} packets)",
        )
        table.add_row(*map(Text, cells))
    return table


def _predicted(design: Design, measured: dict[str, float | None] | None) -> Table:
    columns = ["predicted"] if measured is None else ["predicted", "measured", "ratio"]
    table = _table(f"predicted, with g = {design.g:.3f}", "quantity", *columns, "from")
    for name, title in _PREDICTIONS.items():
        scale = _SCALES.get(title.rpartition(", ")[2], 1.0)
        expected = design.predicted[name]
        cells = [_scaled(expected, scale)]
        if measured is not None:
            found = measured[name]
            ratio = "-" if found is None or not expected else f"{found / expected:.2f}"
            cells += [_scaled(found, scale), ratio]
        table.add_row(*map(Text, (title, *cells, _source(name))))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _source(name: str) -> str:
    source = SOURCES[name]
    return f"{source.equation}; {source.trust}"


def _scaled(value: float | None, scale: float) -> str:
    return number(None if value is None else value * scale)

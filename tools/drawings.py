"""Drawings: the curves of docs/concepts.md, simulated and written to docs/drawn as SVG.

Each is part of the page, so that its text and axes take the page's colours, light or dark. Usage:
drawings.py [FOLDER]. Seconds; the same bytes each time.
"""

import re
import sys
import tempfile
from io import StringIO
from pathlib import Path

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import hull
from hull import scenarios
from hull.theory.slowdown import slowdown

DRAWINGS = Path(__file__).parents[1] / "docs" / "drawn"
TEXT, GRID = "#010203", "#040506"
COLOURS = {TEXT: "var(--color-foreground-primary)", GRID: "var(--color-foreground-border)"}
"""What stands for the page's colours until the drawing is written."""
TCP, DCTCP, HULL, THIRD = "#D55E00", "#2585C7", "#009E73", "#E69F00"
STYLE = {
    "font.size": 10,
    "font.family": "sans-serif",
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "hull",
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), TEXT),
    **dict.fromkeys(("xtick.color", "ytick.color"), TEXT),
}


def run(folder: Path, scenario: str, overrides: list[str]) -> hull.Result:
    """A shipped scenario with some keys changed, one seed."""
    file = folder / f"{scenario}.toml"
    file.write_text(scenarios.text(scenario), encoding="utf-8")
    out = Path(tempfile.mkdtemp(dir=folder), "results")
    return hull.run(file, set=overrides, seeds=1, out=out)


def panels(columns: int, **options: object) -> tuple[Figure, list[Axes]]:
    """A row of panels as wide as a page's text."""
    figure = Figure(figsize=(7.6, 2.7), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False, **options)[0])


def svg(figure: Figure, title: str) -> str:
    """As part of a page: no XML head, no size, no names that another drawing has too."""
    buffer = StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    used = set(re.findall(r"#([\w-]+)", text))
    text = re.sub(r' id="([\w-]+)"', lambda m: m[0] if m[1] in used else "", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text)
    for colour, variable in COLOURS.items():
        text = text.replace(colour, variable)
    head, rest = text.split(">", 1)
    return f'<div class="drawing">{head} role="img"><title>{title}</title>{rest}</div>\n'


def queues(folder: Path) -> Figure:
    """The queue of two long-lived flows over 40 ms: TCP, DCTCP, HULL."""
    shown = {"tcp_droptail": TCP, "dctcp_30k": DCTCP, "dctcp_pq950_pacer": HULL}
    settings = ["run.duration=40ms", "measure.ports=['switch->h0']", "measure.sample_interval=50us"]
    sampled = run(folder, "static", settings)
    figure, axes = panels(3)
    titles = ("TCP: fills the buffer", "DCTCP: stays at 30 KB", "HULL: next to empty")
    for axis, title, (scheme, colour) in zip(axes, titles, shown.items(), strict=True):
        rows = sampled.queues.filter(pl.col("scheme") == scheme)
        time_ms = (rows["time_ps"] - rows["time_ps"].min()) / 1e9
        axis.plot(time_ms, rows["bytes"] / 1000, color=colour, linewidth=0.9)
        axis.set_title(title)
        axis.set_ylim(0, 750 if scheme == "tcp_droptail" else 75)
        axis.set_xlabel("Time (ms)")
    axes[0].set_ylabel("Queue (KB)")
    return figure


def alpha(folder: Path) -> Figure:
    """Windows and alpha of two DCTCP flows from their first packet on."""
    series = run(
        folder, "thesis-fluid", ["run.warmup=1ms", "run.duration=9ms", "measure.flows.count=2"]
    ).series.filter(pl.col("scheme") == "dctcp")
    figure, axes = panels(2)
    for flow, colour in zip(series["flow"].unique().sort(), (DCTCP, THIRD), strict=True):
        mine = series.filter(pl.col("flow") == flow)
        axes[0].plot(mine["time_ps"] / 1e9, mine["cwnd_bytes"] / 1460, color=colour, linewidth=1)
        axes[1].plot(mine["time_ps"] / 1e9, mine["alpha"], color=colour, linewidth=1)
    axes[0].set_title("Window (packets)")
    axes[1].set_title("alpha, the share of marked packets")
    axes[1].set_ylim(0, 1)
    axes[0].set_ylim(0)
    for axis in axes:
        axis.set_xlabel("Time (ms)")
    return figure


def bursts(folder: Path) -> Figure:
    """What arrives of a flow of 1 Gbps on a link of 10 Gbps, behind a phantom queue."""
    common = [
        "run.warmup=50ms",
        "run.duration=3ms",
        "transport.receive_window=45",  # 1 Gbps, as in figure 3 of the paper
        "transport.max_window=45",
        "host.stack_delay=118us",
        "host.receive.wait=9us",
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "switch.phantom_queue={drain='9.2Gbps',threshold='1KB'}",
        "measure.flows={interval='10us',count=1}",
    ]
    pacer = "pacer={update_interval='7.2us',beta=375,association_probability='100%'}"
    figure, axes = panels(2, sharey=True)
    for axis, name, more in zip(axes, ("Not paced", "Paced"), ([], [pacer]), strict=True):
        series = run(folder, "fig3-table2", common + more).series
        rows = series.filter(
            (pl.col("scheme") == "adaptive") & pl.col("time_ps").is_between(50 * 10**9, 53 * 10**9)
        )
        time_ms = (rows["time_ps"] - rows["time_ps"].min()) / 1e9
        delivered = rows["delivered_bytes"] - rows["delivered_bytes"].min()
        axis.step(time_ms, delivered / 1000, where="post", color=HULL, linewidth=1.4)
        axis.set_title(f"{name}: {delivered.max() * 8 / 3e-3 / 1e9:.2f} Gbps")
        axis.set_xlabel("Time (ms)")
    axes[0].set_ylabel("Delivered (KB)")
    return figure


def headroom(folder: Path) -> Figure:
    """What a lower drain rate gains (simulated) and costs (equation 3)."""
    cells = run(folder, "drain-rate", ["run.duration=3s"]).summary["cells"]
    figure, axes = panels(2)
    for statistic, colour, label in (
        ("p99_us", HULL, "99th percentile"),
        ("mean_us", DCTCP, "mean"),
    ):
        found = sorted(
            (
                float(cell["condition"].removeprefix("drain=").removesuffix("Mbps")) / 10,
                cell["switch_latency"]["probe"][statistic]["mean"],
            )
            for cell in cells
            if cell["scheme"] == "dctcp_pq_pacer"
        )
        axes[0].plot(*zip(*found, strict=True), "o-", color=colour, markersize=4, label=label)
    axes[0].set_title("Gain: wait in the switch (µs)")
    axes[0].set_ylim(0)
    drains = [percent / 100 for percent in range(60, 101)]
    for load, colour in ((0.2, HULL), (0.4, DCTCP), (0.6, TCP)):
        usable = [drain for drain in drains if slowdown_fits(drain, load)]
        values = [slowdown(load, drain) for drain in usable]
        percents = [100 * drain for drain in usable]
        axes[1].plot(percents, values, color=colour, label=f"load {load:.0%}")
    axes[1].set_title("Cost: large flows take longer (times)")
    axes[1].set_ylim(1, 4)
    for axis in axes:
        axis.set_xlabel("Drain rate (% of the link)")
        axis.set_xlim(60, 100)
        axis.legend()
    return figure


def slowdown_fits(drain: float, load: float) -> bool:
    """Whether equation 3 has a value that the panel shows."""
    return drain > load + 0.05


DRAWN = {
    "queues": (queues, "Queue over time of TCP, DCTCP and HULL"),
    "alpha": (alpha, "Windows and alpha of two DCTCP flows over time"),
    "bursts": (bursts, "What arrives of a flow over time, not paced and paced"),
    "headroom": (headroom, "Wait in the switch and slowdown of large flows by drain rate"),
}


def main() -> int:
    """Write all drawings."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DRAWINGS
    folder.mkdir(exist_ok=True)
    for name, (draw, title) in DRAWN.items():
        with mpl.rc_context(), tempfile.TemporaryDirectory() as place:
            mpl.rcdefaults()
            mpl.rcParams.update(STYLE)
            (folder / f"{name}.svg").write_text(svg(draw(Path(place)), title), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A workload of your own from a CSV trace (a notebook: `marimo edit csv_trace.py`)."""

import marimo

app = marimo.App(width="medium", app_title="hull: traffic from a CSV trace")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    mo.md("""
    # Traffic from a CSV trace

    A trace says when who sent how much to whom. hull replays it over any network and any scheme:
    `workload.flows` is a list of flows with the columns `start_ps`, `src`, `dst` and `bytes` (documentation:
    *Workloads, Flow lists*). This trace is made up, for this notebook: six machines and 528 flows in
    200 ms, in columns and units of its own.
    """)
    return (mo,)


@app.cell
def _(mo):
    import polars as pl

    trace = pl.read_csv(mo.notebook_dir() / "trace.csv")
    trace.head()
    return pl, trace


@app.cell
def _(mo):
    mo.md(
        """Names of machines become hosts by their place in the list; times become ps and sizes bytes."""
    )
    return


@app.cell
def _(pl, trace):
    from pathlib import Path

    machines = sorted({*trace["source"], *trace["destination"]})
    flows = trace.select(
        (pl.col("time_s") * 1e12).round().cast(pl.Int64).alias("start_ps"),
        pl.col("source").replace_strict(machines, range(len(machines))).alias("src"),
        pl.col("destination").replace_strict(machines, range(len(machines))).alias("dst"),
        (pl.col("kilobytes") * 1000).round().cast(pl.Int64).alias("bytes"),
    )
    flow_file = Path("results") / "csv-trace-flows.csv"
    flow_file.parent.mkdir(exist_ok=True)
    flows.write_csv(flow_file)
    return flow_file, flows, machines


@app.cell
def _(flow_file, machines):
    import hull

    result = hull.run(
        {
            "name": "csv-trace",
            "run": {"duration": "200ms", "warmup": "0s", "drain": "100ms"},
            "topology": {"star": {"hosts": len(machines)}},
            "host": {"queue": "fifo", "rate": "1Gbps", "delay": "500ns", "stack_delay": "30us"},
            "switch": {"rate": "1Gbps", "delay": "500ns", "buffer": "250KB"},
            "transport": {"min_rto": "10ms"},
            "workload": {"flows": str(flow_file)},
            "schemes": {
                "tcp": {},
                "hull": {
                    "transport": {"congestion_control": "dctcp", "ecn": True},
                    "switch": {"phantom_queue": {"drain": "95%", "threshold": "1KB"}},
                    "pacer": {},
                },
            },
        },
        force=True,
    )
    return hull, result


@app.cell
def _(pl, result):
    import matplotlib.pyplot as plt

    slowdown = result.flows.with_columns(
        size=pl.when(pl.col("bytes") < 100_000).then(pl.lit("small")).otherwise(pl.lit("large")),
        # Against a network of its own: the bytes at 1 Gbps, 60 us in stacks and 1 us on links.
        slowdown=pl.col("fct_ps") / (pl.col("bytes") * 8000 + 61_000_000),
    )
    figure, _axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
    for _panel, _size in zip(_axes, ("small", "large"), strict=True):
        for _scheme in ("tcp", "hull"):
            _panel.ecdf(slowdown.filter(size=_size, scheme=_scheme)["slowdown"], label=_scheme)
        _panel.set(xlabel=f"slowdown of {_size} flows", xscale="log")
    _axes[0].set(ylabel="share of flows")
    _axes[1].legend()
    figure
    return figure, slowdown


@app.cell
def _(flows, mo, pl, result, slowdown):
    tails = (
        slowdown.group_by("size", "scheme", maintain_order=True)
        .agg(pl.len().alias("flows"), pl.col("slowdown").quantile(0.99).alias("99th percentile"))
        .sort("size", "scheme")
    )
    finished = result.flows.group_by("scheme", maintain_order=True).len().rows()
    text = f"Of {flows.height} flows in the trace, finished: {dict(finished)}."
    if mo.app_meta().mode == "script":
        print(text, tails, sep="\n")
    mo.vstack([mo.md(text), mo.plain_text(str(tails))])
    return finished, tails


if __name__ == "__main__":
    app.run()

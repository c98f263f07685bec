"""A sweep over drain rate and load (a notebook: `marimo edit sweep.py`)."""

import marimo

app = marimo.App(width="medium", app_title="hull: a sweep")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    mo.md("""
    # A sweep

    How much bandwidth should be given up? The less the phantom queue drains, the shorter is the real queue,
    and the longer take large transfers (paper 3.2 and 6.2.1, figure 10). This sweep has three drain
    rates, two loads and four seeds, 24 runs of one second. What has been run is kept in
    `results/store`: the second time nothing is, and more values or seeds add only what is new.
    """)
    return (mo,)


@app.cell
def _():
    import hull

    scenario = {
        "name": "sweep",
        "run": {"duration": "1s", "warmup": "20ms", "drain": "500ms"},
        "topology": {"star": {"hosts": 5}},
        "host": {"queue": "fifo", "rate": "1Gbps", "delay": "500ns", "stack_delay": "30us"},
        "switch": {"rate": "1Gbps", "delay": "500ns", "buffer": "300KB"},
        "transport": {"congestion_control": "dctcp", "ecn": True},
        "workload": {
            "requests": {
                "load": "20%",
                "pick": "random_idle",
                "connections_per_server": 4,
                "classes": [{"size": "1KB", "share": "80%"}, {"size": "500KB", "share": "20%"}],
            }
        },
        "schemes": {
            "hull": {
                "switch": {"phantom_queue": {"drain": "95%", "threshold": "1KB"}},
                "pacer": {},
            }
        },
    }
    frame = hull.sweep(
        scenario,
        over={"scheme.drain": ["80%", "90%", "95%"], "workload.load": "0.2:0.4:0.2"},
        seeds=4,
    )
    frame.head()
    return frame, hull


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    A row is one statistic of one run; `mean`, `ci95` (half of the 95% interval) and `n` are taken at its
    point over the seeds. The statistics have dotted names; these are the means:
    """)
    return


@app.cell
def _(frame):
    _names = frame["statistic"].unique(maintain_order=True)
    [name for name in _names if name.endswith(".mean")]
    return


@app.cell
def _(frame, plt):
    points = frame.unique(["scheme.drain", "workload.load", "statistic"], maintain_order=True)
    figure, _axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    _titles = {
        "switch_latency.occupancy.p99": "99th percentile of the queue, us",
        "fct.500KB.mean": "mean time of 500 KB, us",
    }
    for _panel, (_statistic, _title) in zip(_axes, _titles.items(), strict=True):
        for (_load,), _rows in points.filter(statistic=_statistic).group_by(
            "workload.load", maintain_order=True
        ):
            _panel.errorbar(
                _rows["scheme.drain"],
                _rows["mean"],
                _rows["ci95"],
                marker="o",
                capsize=3,
                label=f"load {_load:.0%}",
            )
        _panel.set(xlabel="drain rate", ylabel=_title, ylim=(0, None))
    _axes[1].legend()
    figure
    return figure, points


@app.cell
def _(mo, points):
    table = points.filter(
        points["statistic"].is_in(["switch_latency.occupancy.p99", "fct.500KB.mean"])
    )["scheme.drain", "workload.load", "statistic", "mean", "ci95", "n"]
    if mo.app_meta().mode == "script":
        print(table)
    table
    return (table,)


@app.cell(hide_code=True)
def _():
    import matplotlib.pyplot as plt

    return (plt,)


if __name__ == "__main__":
    app.run()

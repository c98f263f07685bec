"""First run: what a phantom queue does to a queue (a notebook: `marimo edit first_run.py`)."""

import marimo

app = marimo.App(width="medium", app_title="hull: first run")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    mo.md("""
    # First run

    Two long flows keep a port of a switch busy, and small requests have to pass it. With TCP the queue
    is as long as the buffer allows; DCTCP keeps it near its marking threshold; HULL keeps it near
    empty, and pays with a little throughput (HULL paper, sections 2 and 3; the network is described in
    section 6.1: 1 Gbps, two long flows).
    """)
    return (mo,)


@app.cell
def _():
    import matplotlib.pyplot as plt
    import polars as pl

    import hull

    scenario = {
        "name": "first-run",
        "source": "HULL paper, section 6.1",
        "run": {"duration": "100ms", "warmup": "50ms"},
        "topology": {"star": {"hosts": 4}},
        "host": {"queue": "fifo", "rate": "1Gbps", "delay": "500ns", "stack_delay": "30us"},
        "switch": {"rate": "1Gbps", "delay": "500ns", "buffer": "300KB"},
        "transport": {"min_rto": "10ms"},
        "workload": {
            "long_lived": {"flows": [{"src": [1, 2], "dst": 0}]},
            "requests": {
                "servers": [3],
                "load": "0.5%",
                "classes": [{"size": "1KB", "share": "100%"}],
            },
        },
        "measure": {"sample_interval": "100us", "ports": ["switch->h0"]},
        "schemes": {
            "tcp": {},
            "dctcp": {
                "transport": {"congestion_control": "dctcp", "ecn": True},
                "switch": {"marking": {"threshold": "30KB"}},
            },
            "hull": {
                "transport": {"congestion_control": "dctcp", "ecn": True},
                "switch": {"phantom_queue": {"drain": "95%", "threshold": "1KB"}},
                "pacer": {},
            },
        },
    }
    result = hull.run(
        scenario, force=True
    )  # force: after a change, the new results replace the old
    return hull, pl, plt, result


@app.cell
def _(pl, plt, result):
    queue_figure, _axes = plt.subplots(figsize=(7, 3), layout="constrained")
    for (_scheme,), _rows in result.queues.group_by("scheme", maintain_order=True):
        _axes.plot(_rows["time_ps"] / 1e9, _rows["bytes"] / 1e3, label=_scheme, linewidth=1)
    _axes.set(xlabel="time, ms", ylabel="queue of the port, KB", ylim=(0, None))
    _axes.legend()
    queues = result.queues.group_by("scheme", maintain_order=True).agg(
        pl.col("bytes").mean().alias("mean_bytes"), pl.col("bytes").max().alias("max_bytes")
    )
    queue_figure
    return queue_figure, queues


@app.cell
def _(plt, result):
    fct_figure, _axes = plt.subplots(figsize=(7, 3), layout="constrained")
    for (_scheme,), _rows in result.flows.group_by("scheme", maintain_order=True):
        _times = _rows["fct_ps"].sort() / 1e6
        _axes.ecdf(_times, label=_scheme)
    _axes.set(xlabel="completion time of a 1 KB request, us", ylabel="share", xscale="log")
    _axes.legend()
    fct_figure
    return (fct_figure,)


@app.cell
def _(mo, queues, result):
    throughput = {
        cell["scheme"]: cell["throughput"]["utilization"]["mean"]
        for cell in result.summary["cells"]
    }
    median_us = {
        scheme: result.flows.filter(scheme=scheme)["fct_ps"].median() / 1e6 for scheme in throughput
    }
    mean_bytes = dict(queues.select("scheme", "mean_bytes").iter_rows())
    _rows = "\n".join(
        f"| {scheme} | {mean_bytes[scheme]:,.0f} B | {median_us[scheme]:,.0f} us | {used:.1%} |"
        for scheme, used in throughput.items()
    )
    text = f"""
    | scheme | mean queue | median 1 KB request | use of the link |
    | --- | ---: | ---: | ---: |
    {_rows}

    The report of the run with all of its numbers is `{result.report()}`.
    """
    if mo.app_meta().mode == "script":
        print(text)
    mo.md(text)
    return mean_bytes, median_us, throughput


if __name__ == "__main__":
    app.run()

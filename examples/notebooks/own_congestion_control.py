"""A congestion control of your own (a notebook: `marimo edit own_congestion_control.py`)."""

import marimo

app = marimo.App(width="medium", app_title="hull: a congestion control of your own")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    mo.md(r"""
    # A congestion control of your own

    A class with `on_ack` is a congestion control: the simulator calls one instance for each flow. Here are two
    answers to the same marks, in a few lines each. `Halving` takes half of its window at a mark, as TCP
    with ECN does (RFC 3168). `Proportional` is DCTCP (thesis 2.2.1): with $F$, the marked share of a window
    of data,

    $$\alpha \leftarrow (1 - g)\,\alpha + g F, \qquad W \leftarrow W\,(1 - \alpha/2).$$

    Numbers are whole: bytes, ps, and here 1/1024 for $\alpha$, so that a run gives the same bytes on every machine.
    """)
    return (mo,)


@app.cell
def _():
    import hull

    class Halving(hull.CongestionControl):
        dctcp_echo = True

        def __init__(self):
            self.until = 0

        def on_ack(self, window, ack):
            if ack.ece and ack.una > self.until:
                self.until = ack.nxt
                window.reduce_to(window.cwnd // 2)
                return True
            if ack.may_grow and not ack.ece:
                window.grow(ack.acked)
            return False

    class Proportional(hull.CongestionControl):
        dctcp_echo = True
        g = 16

        def __init__(self):
            self.share = 1024
            self.acked = self.marked = self.window_end = self.until = 0

        def on_ack(self, window, ack):
            self.acked += ack.acked
            self.marked += ack.acked if ack.ece else 0
            if ack.una > self.window_end:
                self.window_end = ack.nxt
                found = 1024 * self.marked // self.acked
                self.share += (found - self.share) // self.g
                self.alpha = self.share / 1024
                self.acked = self.marked = 0
            if ack.ece and ack.una > self.until:
                self.until = ack.nxt
                window.reduce_to(window.cwnd * (2048 - self.share) // 2048)
                return True
            if ack.may_grow and not ack.ece:
                window.grow(ack.acked)
            return False

    return Halving, Proportional, hull


@app.cell
def _(mo):
    mo.md("""
    Two flows share 1 Gbps, 8 packets may wait before the switch marks. hull's own DCTCP runs beside them.
    """)
    return


@app.cell
def _(Halving, Proportional, hull):
    def scheme(control):
        return {"transport": {"congestion_control": control}}

    result = hull.run(
        {
            "name": "own-congestion-control",
            "run": {"duration": "30ms", "warmup": "20ms"},
            "topology": {"star": {"hosts": 3}},
            "host": {"queue": "fifo", "rate": "1Gbps", "delay": "500ns", "stack_delay": "50us"},
            "switch": {
                "rate": "1Gbps",
                "delay": "500ns",
                "buffer": "300KB",
                "marking": {"threshold": "12KB"},
            },
            "transport": {"ecn": True},
            "workload": {"long_lived": {"flows": [{"src": [1, 2], "dst": 0}]}},
            "measure": {
                "ports": ["switch->h0"],
                "sample_interval": "20us",
                "flows": {"interval": "20us"},
            },
            "schemes": {
                "halving": scheme("halving"),
                "proportional": scheme("proportional"),
                "hull's DCTCP": scheme("dctcp"),
            },
        },
        congestion_control={"halving": Halving, "proportional": Proportional},
        force=True,
    )
    return result, scheme


@app.cell
def _(pl, plt, result):
    figure, _axes = plt.subplots(
        2, 3, figsize=(9, 4), layout="constrained", sharex=True, sharey="row"
    )
    for _column, _scheme in enumerate(result.queues["scheme"].unique(maintain_order=True)):
        _queue = result.queues.filter(scheme=_scheme)
        _axes[0, _column].plot(_queue["time_ps"] / 1e9, _queue["bytes"] / 1e3, linewidth=1)
        _axes[0, _column].set(title=_scheme)
        _series = result.series.filter(pl.col("time_ps") >= 20 * 10**9, scheme=_scheme)
        for (_flow,), _rows in _series.group_by("flow", maintain_order=True):
            _axes[1, _column].plot(_rows["time_ps"] / 1e9, _rows["cwnd_bytes"] / 1e3, linewidth=1)
        _axes[1, _column].set(xlabel="time, ms")
    _axes[0, 0].set(ylabel="queue, KB", ylim=(0, None))
    _axes[1, 0].set(ylabel="windows, KB", ylim=(0, None))
    figure
    return (figure,)


@app.cell
def _(mo, pl, result):
    lowest = dict(
        result.queues.group_by("scheme", maintain_order=True).agg(pl.col("bytes").min()).iter_rows()
    )
    used = {
        cell["scheme"]: cell["throughput"]["utilization"]["mean"]
        for cell in result.summary["cells"]
    }
    _rows = "\n".join(f"| {name} | {lowest[name]} | {used[name]:.2%} |" for name in used)
    text = f"""
    | scheme | smallest queue, bytes | use of the link |
    | --- | ---: | ---: |
    {_rows}

    Who halves at every mark empties the queue, and with it the link; a cut in proportion to the marks keeps
    a few packets waiting (thesis 2.2.3).
    """
    if mo.app_meta().mode == "script":
        print(text)
    mo.md(text)
    return lowest, used


@app.cell(hide_code=True)
def _():
    import matplotlib.pyplot as plt
    import polars as pl

    return pl, plt


if __name__ == "__main__":
    app.run()

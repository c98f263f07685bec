"""From simulation to Linux settings (a notebook: `marimo edit simulation_to_linux.py`).

It prints commands and runs none of them.
"""

import marimo

app = marimo.App(width="medium", app_title="hull: from simulation to Linux")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    mo.md("""
    # From simulation to Linux

    `hull design` recommends settings for a network (thesis 3.1 and 3.2 for DCTCP, paper 5 and 6.1 for HULL), the
    simulator tries them, and `hull linux attach` puts them on a machine. This notebook goes that
    way for one rack and ends with the commands. It prints them; they are to be run as root, on machines of
    your own.
    """)
    return (mo,)


@app.cell
def _():
    from hull.theory.design import Setting, design

    setting = Setting(rate_bps=10e9, rtt_s=100e-6, flows=2, load=0.4)
    found = design(setting)
    return found, setting


@app.cell
def _(found, mo):
    mo.md(f"""
    For 10 Gbps, a round trip of 100 us and two large flows at a port, the theory wants

    | what | value |
    | --- | --- |
    | drain rate of the phantom queue | {found.drain_bps / 1e9:.4g} Gbps (equation 5, at least 5% of headroom) |
    | its threshold | {found.threshold_bytes:.0f} B (a fortieth of C d) |
    | throughput | {found.predicted["hull_throughput"]:.1%} predicted |
    | slowdown of large flows at 40% load | {found.predicted["hull_slowdown"]:.2f} predicted (equation 3) |
    """)
    return


@app.cell
def _(found):
    import hull
    from hull.theory.scenario import scenario

    # What `hull design --scenario` writes: long flows, the last of which joins late. Shorter here.
    result = hull.run(
        {**scenario(found), "name": "simulation-to-linux"},
        set=["run.duration=30ms", "measure.sample_interval=20us", 'measure.ports=["switch->h0"]'],
        force=True,
    )
    measured = {
        cell["scheme"]: cell["throughput"]["utilization"]["mean"]
        for cell in result.summary["cells"]
    }
    return measured, result


@app.cell
def _(measured, mo, plt, result):
    figure, _axes = plt.subplots(figsize=(7, 3), layout="constrained")
    for (_scheme,), _rows in result.queues.group_by("scheme", maintain_order=True):
        _axes.ecdf(_rows["bytes"] / 1e3, label=f"{_scheme}, {measured[_scheme]:.1%} of the link")
    _axes.set(xlabel="queue of the port, KB", ylabel="share of the samples")
    _axes.legend()
    mo.vstack([mo.md("The same in the simulator, DCTCP by itself beside HULL:"), figure])
    return (figure,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The commands

    On each host, where the phantom queue stands at the ingress, in series with the port of the switch (paper
    2.1). The arguments are those that `hull linux attach eth0 --rate 10Gbps --rtt 100us` fills in by itself.
    DCTCP's gain is a power of two in the kernel. The last block is DCTCP without HULL: a Linux machine that
    forwards marks at $K/C$ of waiting time with CoDel's `ce_threshold`. A switch takes $K$ in its own words.
    """)
    return


@app.cell
def _(found, setting):
    import contextlib
    import io
    import math

    from hull.linux.defaults import with_defaults

    with contextlib.redirect_stderr(io.StringIO()) as reasons:
        attach = with_defaults(["attach", "eth0", "--rate", "10Gbps", "--rtt", "100us"])
    shift = round(math.log2(1 / found.g))
    marking_s = found.k_packets * setting.mtu_bytes * 8 / setting.rate_bps
    blocks = {
        "Hosts: DCTCP and ECN": [
            "hull linux dctcp on",
            f"echo {shift} > /sys/module/tcp_dctcp/parameters/dctcp_shift_g",
            "sysctl net.ipv4.tcp_ecn=1",
            "sysctl net.ipv4.tcp_congestion_control=dctcp",
        ],
        "Hosts: phantom queue and pacer": ["hull linux " + " ".join(attach), "hull linux stats"],
        "To go back": ["hull linux detach eth0"],
        "DCTCP by itself: a Linux machine that forwards": [
            "tc qdisc replace dev eth1 root codel limit 1000 target 100s "
            f"interval 100s ecn ce_threshold {marking_s * 1e6:.0f}us",
        ],
    }
    commands = "\n\n".join("\n".join([f"# {title}", *lines]) for title, lines in blocks.items())
    return attach, blocks, commands, reasons


@app.cell
def _(commands, mo, reasons):
    print(commands)
    mo.md(
        "\n".join(
            [
                "```sh",
                commands.replace(" --", " \\\n    --"),
                "```",
                "Where the numbers of `attach` are from:",
                "```text",
                reasons.getvalue().strip(),
                "```",
            ]
        )
    )
    return


@app.cell(hide_code=True)
def _():
    import matplotlib.pyplot as plt

    return (plt,)


if __name__ == "__main__":
    app.run()

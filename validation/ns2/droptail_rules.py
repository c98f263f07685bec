"""Exchanges one rule at a time between hull and ns-2 where drop-tail queues differ.

Mean queue (table II), query timeouts (figure 5) and static flows (figures 2b and 2c). Requests,
network and readings are as in compare.py. Prints three tables and writes
results/droptail_rules.md.
"""

import argparse
import sys
import tomllib
from pathlib import Path
from typing import Any

import compare
import readings
from compare import BUILD, CASES, HERE, Case

import hull

SCHEME = "tcp_droptail"
SHORT_ACK = {"delayed_ack": 24e-6}
"""Time in s until ns-2 acknowledges a short segment; with 6 us runs take 1.5 times as long."""
SACK = {"agent": "Agent/TCP/FullTcp/Sack"}
ACK_FIRST = {"ack_first": 1}
KEEP_TIMER = {"keep_timer": "query"}

QUEUE_LOADS = (20, 40)
QUEUE_RULES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "ACK of a request before the answer": ACK_FIRST,
    "SACK": SACK,
    "both": SACK | ACK_FIRST,
}
TIMEOUT_RULES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "fast retransmit does not restart the timer of query connections": KEEP_TIMER,
    "SACK": SACK,
    "both": SACK | KEEP_TIMER,
}
"""Options of star.tcl that change, as in QUEUE_RULES; each gives ns-2 a rule of hull."""
HOST_RATES = ("1", "0.999", "1.001")
"""Rates of the hosts' links in Gbit/s; the switch has 1 Gbit/s."""


class HalfOfWindow(hull.CongestionControl):
    """NewReno that halves the window, as ns-2 does, not the data outstanding (RFC 5681)."""

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        """Grows as hull's NewReno."""
        if ack.may_grow:
            window.grow(ack.acked)
        return False

    def on_loss(self, window: hull.Window, flight: int) -> None:
        """Halves the window."""
        window.reduce_to(window.cwnd // 2)

    def on_timeout(self, window: hull.Window, flight: int) -> None:
        """Halves the threshold; one segment."""
        window.reduce_to(window.cwnd // 2)
        window.cwnd = window.mss


def parts_of(command: str, name: str, condition: str, case: Case) -> list[Path]:
    """Runs hull; the folders of its parts with drop-tail, one per seed."""
    found = compare.run_hull(command, f"droptail-{name}", condition, case)
    return [part for part in found if SCHEME in part.parts]


def half_of_window(part: Path) -> Path:
    """Runs a part again with HalfOfWindow; the folder of the new part."""
    scenario = tomllib.loads((part / "scenario.toml").read_text())
    scenario["transport"]["congestion_control"] = "half_of_window"
    out = BUILD / "half_of_window"
    hull.run(scenario, out, force=True, congestion_control={"half_of_window": HalfOfWindow})
    return next(out.glob("parts/**/scenario.toml")).parent


def of_hull(part: Path, case: Case) -> readings.Values:
    """The values of a part."""
    return readings.of_hull(part, 1e9, case.warmup_s)


def of_ns2(part: Path, case: Case, rule: dict[str, Any]) -> readings.Values:
    """The values of ns-2 with the requests of a part and a rule exchanged."""
    options, asked = compare.prepare(part, case)
    compare.run_ns2(part / "ns2", options | rule)
    to_s = case.warmup_s + case.duration_s
    return readings.of_ns2(part / "ns2", asked, 1e9, case.warmup_s, to_s)


def queue_values(command: str, load: int) -> dict[str, readings.Values]:
    """Table II at a load by simulator and rule."""
    sets = CASES["table2"].conditions[f"{load}%"]
    conditions = {"as it is": sets, "limited": (*sets, "transport.limited_transmit=false")}
    case = CASES["table2"]._replace(conditions=conditions, seeds=1)
    (part,) = parts_of(command, f"queue-{load}", "as it is", case)
    (limited,) = parts_of(command, f"queue-{load}", "limited", case)
    found = {
        "hull, as it is": of_hull(part, case),
        "hull, half of the window": of_hull(half_of_window(part), case),
        "hull, no limited transmit": of_hull(limited, case),
    }
    for label, rule in QUEUE_RULES.items():
        found[f"ns-2, {label}"] = of_ns2(part, case, SHORT_ACK | rule)
    return found


def queue_table(command: str) -> str:
    """Mean queue of table II."""
    case, header = CASES["table2"], ["simulator and rule"]
    rows: dict[str, list[str]] = {}
    for load in QUEUE_LOADS:
        header += [f"{load}%: mean queue, us", "hull's is longer by", "drops"]
        found = queue_values(command, load)
        ours = found["hull, as it is"]["queue, mean, us"]
        for label, values in found.items():
            queue = values["queue, mean, us"]
            change = f"{100 * (ours / queue - 1):+.1f}%" if label.startswith("ns-2") else ""
            cells = [f"{queue:.1f}", change, f"{values['drops']:.0f}"]
            rows.setdefault(label, []).extend(cells)
    times = f"{case.duration_s} s after {case.warmup_s} s, one seed"
    lines = [[label, *cells] for label, cells in rows.items()]
    return f"**Mean queue**: table II, {times}.\n\n{compare.markdown(header, lines)}"


def timeout_table(command: str) -> str:
    """Query timeouts of figure 5 at 600 Mbps."""
    case = CASES["fig5"]._replace(warmup_s=5, duration_s=25, seeds=1)
    (part,) = parts_of(command, "timeouts", "60%", case)
    found = {"hull": of_hull(part, case)}
    for label, rule in TIMEOUT_RULES.items():
        found[f"ns-2, {label}"] = of_ns2(part, case, SHORT_ACK | rule)
    keys = ("query, timeouts", "drops", "queue, mean, us", "query, mean, us")
    lines = [[label, *(f"{one[key]:.0f}" for key in keys)] for label, one in found.items()]
    title = f"**Query timeouts**: figure 5 at 600 Mbps, {case.duration_s} s after {case.warmup_s} s"
    return f"{title}, one seed.\n\n{compare.markdown(['simulator and rule', *keys], lines)}"


def static_table(command: str) -> str:
    """Mean queue of static flows with hosts as fast as the switch, slower and faster."""
    lines = []
    for name in ("fig2b", "fig2c"):
        for condition, sets in CASES[name].conditions.items():
            cells = []
            for rate in HOST_RATES:
                changed = {condition: (*sets, f"host.rate={rate}Gbps")}
                case = CASES[name]._replace(conditions=changed)
                (part,) = parts_of(command, f"{name}-{rate}", condition, case)
                ours, theirs = of_hull(part, case), of_ns2(part, case, {"host_rate": rate})
                cells += [f"{one['queue, mean, us']:.0f}" for one in (ours, theirs)]
            lines.append([CASES[name].title, condition, *cells])
    header = ["figure", "flows"]
    header += [f"{simulator}, {rate} Gbps" for rate in HOST_RATES for simulator in ("hull", "ns-2")]
    title = "**Static flows**: mean queue in us by the rate of the hosts' links, 4 s after 1 s."
    return f"{title}\n\n{compare.markdown(header, lines)}"


TABLES = {"static": static_table, "queue": queue_table, "timeouts": timeout_table}


def main() -> int:
    """Runs, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hull", default="hull", help="the hull command")
    asked = parser.parse_args()
    for folder in (BUILD, HERE / "results"):
        folder.mkdir(exist_ok=True)
    blocks = []
    for table in TABLES.values():
        blocks.append(table(asked.hull))
        print(blocks[-1], flush=True)
    (HERE / "results" / "droptail_rules.md").write_text("\n".join(blocks))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as problem:
        sys.exit(f"droptail_rules.py: {problem}")

"""The numbers of docs/speed.md: its tables and docs/drawn/cost.svg, from docs/speed/*.json; and
the speeds in README.md.

`make speed` measures those and calls this; `--draw`, for `make docs`, draws only. A table stands
between `<!-- numbers: NAME -->` and `<!-- end -->`; nothing else of a page changes.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "speed.md"
README = DOCS.parent / "README.md"
SPEED = "million_hops_per_cpu_second"
# Processes that want to run: two threads beside a busy process are three.
BUSY = 4.5
Row = list[str]
BESIDE = (
    (
        "ns-3",
        "uncontended transfer time within 1 ps; mean DCTCP queue within 5%; NewReno timeouts "
        "differ ([why](docs/validation.md))",
        "`make validate`",
    ),
    (
        "htsim",
        "htsim's Ultra Ethernet program: 43 of 48 recorded completion times within 3% "
        "([results](docs/validation_uec.md))",
        "`make peers` (speed)",
    ),
    (
        "ns-2",
        "78 published means and 99th percentiles: off by a factor of 1.07 to 1.20 (geometric "
        "means of three tables) "
        "([table](docs/experiments/epfl-table2.md))",
        "`hull reproduce epfl-table2 --full`",
    ),
)
"""Simulator, agreement of its results with hull's, and the command that compares them."""


def read(name: str) -> dict[str, Any]:
    """What was measured."""
    return json.loads((DOCS / "speed" / f"{name}.json").read_text(encoding="utf-8"))


def table(header: Row, rows: list[Row]) -> str:
    """Markdown: the first column to the left, the others to the right."""
    if not rows:
        return "*Not measured yet.*"
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rule, *rows))


def peers(_: dict[str, Any], beside: dict[str, Any]) -> str:
    """User CPU seconds of hull and another simulator on the same list."""
    rows = [
        [
            f"{case['case']}, {case['hosts']:,} hosts",
            f"{case['flows']:,}",
            case["peer"],
            f"{case['hull']['user_seconds']:.2f}",
            f"{case['theirs']['user_seconds']:.2f}",
            f"**{case['times_as_fast']:.1f}**",
            *(hops(case[side]) for side in ("hull", "theirs")),
        ]
        for case in beside["cases"].values()
    ]
    return table(
        [
            "network",
            "flows",
            "peer",
            "hull, s",
            "peer, s",
            "times as fast",
            "hull, M hops/s",
            "peer, M hops/s",
        ],
        rows,
    )


def beside(_: dict[str, Any], beside: dict[str, Any]) -> str:
    """The first table of README.md: each simulator with hull's speed and the agreement."""
    speeds: dict[str, list[str]] = {}
    for case in beside["cases"].values():
        times = f"{case['times_as_fast']:#.2g}".removesuffix(".")
        speed = f"{times} times as fast ({case['hosts']:,} hosts)"
        speeds.setdefault(case["peer"], []).append(speed)
    rows = [
        [simulator, "; ".join(speeds.get(simulator, ["not measured"])), agreement, command]
        for simulator, agreement, command in BESIDE
    ]
    lines = [["simulator", "hull's speed", "agreement", "reproduce with"], ["---"] * 4, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def hops(side: dict[str, Any]) -> str:
    """Million packet-hops per CPU second, where they are counted."""
    if "packet_hops" not in side:
        return "–"
    return f"{side['packet_hops'] / side['user_seconds'] * 1e-6:.1f}"


def of_kind(bench: dict[str, Any], *kinds: str) -> list[tuple[str, dict[str, Any]]]:
    """Names and figures, by size."""
    found = [(name, one) for name, one in bench["figures"].items() if one["kind"] in kinds]
    return sorted(found, key=lambda item: (item[1]["hosts"], item[0]))


def before(one: dict[str, Any], key: str, digits: int) -> Row:
    """What the revision before had, and this one over it."""
    if "base" not in one:
        return ["–", "–"]
    old, new = one["base"][key], one["this"][key]
    return [f"{old:.{digits}f}", f"{new / old:.2f}"]


def speeds(bench: dict[str, Any], _: dict[str, Any]) -> str:
    """Packet-hops per CPU second of every network."""
    rows = [
        [
            name,
            f"{one['hosts']:,}",
            f"{one['this'][SPEED]:.1f}",
            *before(one, SPEED, 1),
            f"{one['this']['peak_megabytes']:,.0f}",
            f"{one['instructions_per_hop']:.0f}" if "instructions_per_hop" in one else "–",
        ]
        for name, one in of_kind(bench, "speed")
    ]
    return table(
        [
            "network, scheme",
            "hosts",
            "million packet-hops per CPU second",
            "before",
            "times",
            "memory, MB",
            "instructions per packet-hop",
        ],
        rows,
    )


def by_hosts(bench: dict[str, Any], side: str) -> list[tuple[int, float]]:
    """Hosts of the fat trees with web search sizes, and ns of user time for a packet-hop."""
    return [
        (one["hosts"], 1e3 / one[side][SPEED])
        for name, one in of_kind(bench, "speed")
        if name.startswith("fat tree") and side in one
    ]


def cost(bench: dict[str, Any], _: dict[str, Any]) -> str:
    """The cost of a packet-hop against the smallest network."""
    then = dict(by_hosts(bench, "base"))
    now = by_hosts(bench, "this")
    rows = []
    for hosts, ns in now:
        old = ["–", "–"]
        if hosts in then:
            old = [f"{then[hosts]:.0f}", f"{then[hosts] / min(then.items())[1]:.2f}"]
        rows.append([f"{hosts:,}", f"{ns:.0f}", f"{ns / now[0][1]:.2f}", *old])
    return table(
        ["hosts", "ns for a packet-hop", "against the smallest", "before, ns", "before, against"],
        rows,
    )


def runs(bench: dict[str, Any], _: dict[str, Any]) -> str:
    """What a run costs that does next to nothing."""
    key = "cpu_seconds"
    rows = [
        [
            name,
            f"{one['this'][key]:.2f}",
            *before(one, key, 2),
            f"{one['this']['peak_megabytes']:,.0f}",
        ]
        for name, one in of_kind(bench, "cost")
    ]
    return table(["", "CPU, s", "before", "times", "memory, MB"], rows)


def threads(bench: dict[str, Any], _: dict[str, Any]) -> str:
    """Two threads against one."""
    rows = [
        [
            name.replace(", threads", "").replace(", busy", ", beside a busy process"),
            f"{one['this']['one_thread_seconds']:.2f}",
            f"{one['this']['two_threads_seconds']:.2f}",
            f"**{one['this']['times_as_fast']:.2f}**",
            *before(one, "times_as_fast", 2)[:1],
        ]
        for name, one in of_kind(bench, "threads", "busy")
    ]
    return table(["network, scheme", "one thread, s", "two, s", "times as fast", "before"], rows)


def loop(bench: dict[str, Any], _: dict[str, Any]) -> str:
    """Against the throw-away simulator."""
    rows = [
        [
            name.replace(", loop", ""),
            f"{one['this'][SPEED]:.1f}",
            f"{one['this']['loop_million_hops_per_cpu_second']:.1f}",
            f"**{one['this']['times_as_fast_as_loop']:.2f}**",
            *before(one, "times_as_fast_as_loop", 2)[:1],
        ]
        for name, one in of_kind(bench, "loop")
    ]
    return table(
        ["network, scheme", "hull, M hops/s", "loop, M hops/s", "times as fast", "before"], rows
    )


def measured(bench: dict[str, Any], beside: dict[str, Any]) -> str:
    """Where, what and how often."""
    all_of = [*bench["figures"].values(), *beside["cases"].values()]
    named = {tuple(one["revisions"]) for one in bench["figures"].values()}
    sides = ", ".join(sorted(" after ".join(pair) for pair in named))
    other = sorted({case["revision"] for case in beside["cases"].values()})
    counts = [one["runs"] for one in all_of]
    busy = any(one.get("load", BUSY) >= BUSY for one in all_of)
    runs = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{max(counts)}"
    return (
        f"Machine: {bench['machine']}. Revision of hull: {sides}; beside other simulators"
        f" {', '.join(other)} (`+`: with changes). htsim at `{beside['htsim'][:10]}`, ns-3 3.37."
        f" Medians of {runs} runs of each."
        f"{' The machine was busy with other work, so these are too low.' if busy else ''}"
    )


TABLES: dict[str, Callable[[dict[str, Any], dict[str, Any]], str]] = {
    "beside": beside,
    "measured": measured,
    "peers": peers,
    "speeds": speeds,
    "cost": cost,
    "runs": runs,
    "threads": threads,
    "loop": loop,
}


def page(text: str, bench: dict[str, Any], beside: dict[str, Any]) -> str:
    """The page with these numbers."""

    def filled(match: re.Match[str]) -> str:
        numbers = TABLES[match[1]](bench, beside)
        return f"<!-- numbers: {match[1]} -->\n\n{numbers}\n\n<!-- end -->"

    return re.sub(r"(?s)<!-- numbers: (\w+) -->.*?<!-- end -->", filled, text)


def draw(bench: dict[str, Any]) -> None:
    """Cost of a packet-hop against hosts."""
    import matplotlib as mpl
    from drawings import DCTCP, DRAWINGS, HULL, STYLE, panels, svg

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure, [axis] = panels(1)
        revisions = next(iter(bench["figures"].values()))["revisions"]
        for side, name, colour in zip(("this", "base"), revisions, (HULL, DCTCP), strict=False):
            points = by_hosts(bench, side)
            axis.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, label=name)
        axis.set_xscale("log", base=4)
        axis.set_xticks(ticks := [hosts for hosts, _ in by_hosts(bench, "this")])
        axis.set_xticklabels([f"{hosts:,}" for hosts in ticks])
        axis.minorticks_off()
        axis.set_ylim(0, 1.2 * axis.dataLim.y1)
        axis.set_xlabel("Hosts of the fat tree")
        axis.set_title("CPU time for a packet-hop (ns)")
        axis.legend(loc="lower right")
        title = "CPU time for a packet-hop by the number of hosts"
        (DRAWINGS / "cost.svg").write_text(svg(figure, title), encoding="utf-8")


def main() -> None:
    """Fills in the pages, draws the picture."""
    bench, beside = read("bench"), read("peers")
    for path in () if sys.argv[1:] == ["--draw"] else (PAGE, README):
        text = path.read_text(encoding="utf-8")
        path.write_text(page(text, bench, beside), encoding="utf-8")
    draw(bench)


if __name__ == "__main__":
    main()

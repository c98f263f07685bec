"""The user's scenario (`hull lab my.toml`): the values that the lab's star uses, and those that it
omits.

The lab shows one port: the one to the host at which most large flows end. `recommended` supplies
values that the file lacks, for its rate and round trip.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import tomli_w

from hull import _core
from hull.errors import UsageError
from hull.lab import lossless, own_cells, recommended
from hull.lab.ends import number, receivers
from hull.lab.model import MOST_MORE, PARAMETERS, SCHEMES, Catalog, State, read_state
from hull.lab.scenario import Cell, cells, toml
from hull.runs.plan import expand, read_scenario

_MARKED_ELSEHOW = ("red", "pi", "qcn", "rcp")
_PACED = ("update_interval", "eta", "beta", "bucket", "fifo")
"""Keys of a pacer that the lab sets."""


@dataclass(frozen=True)
class Own:
    """A scenario file as the lab sees it."""

    file: str
    title: str
    catalog: Catalog
    """The file's values as defaults and as choices; its schemes beside the lab's."""
    state: State
    """What the page shows first."""
    taken: tuple[str, ...]
    left: tuple[str, ...]
    """Properties of the file that the star does not show, each with its replacement."""
    network: str
    """Such as "leaf-spine of 40 hosts"."""
    cells: Mapping[str, dict[str, Any]]
    """The file's scenarios as resolved, by the scheme that runs them."""

    def as_json(self) -> dict[str, Any]:
        """What the page gets."""
        return {
            "file": self.file,
            "title": self.title,
            "state": self.state.query(),
            "taken": self.taken,
            "left": self.left,
            "network": self.network,
        }


def read_own(source: str) -> Own:
    """Read a scenario file. Raises the errors of `hull check` for an invalid one."""
    text, label = read_scenario(source)
    return _Reading(expand(text, label, [], [])).own(label)


def cells_of(state: State, own: Own | None) -> list[Cell]:
    """The scenarios of a state's schemes in its order, the lab's networks' and the file's."""
    of_lab = [
        *cells(_of_star(state)),
        *lossless.cells(state, filter(lossless.is_lossless, state.all_schemes)),
    ]
    found = {cell.scheme: cell for cell in of_lab}
    if own is None:
        return [found[id_] for id_ in state.all_schemes]
    return [
        found[id_] if id_ in found else own_cells.cell(state, id_, own.cells, own.catalog)
        for id_ in state.all_schemes
    ]


def saved(state: State, own: Own | None) -> str:
    """The scenario of a state as a file that `hull run` takes."""
    networks = dict.fromkeys(_network(id_, own) for id_ in state.all_schemes)
    if len(networks) > 1:
        raise UsageError(
            f"a, b, more: schemes of {' and of '.join(networks)} are invalid together; "
            "expected schemes of one network to save a scenario"
        )
    if own is not None and own_cells.is_own(state.schemes[0]):
        return tomli_w.dumps(own_cells.content(cells_of(state, own)))
    if lossless.is_lossless(state.schemes[0]):
        return tomli_w.dumps(lossless.content(state, state.all_schemes))
    return toml(state)


def _network(id_: str, own: Own | None) -> str:
    """What a scheme runs on, for a message."""
    if own is not None and own_cells.is_own(id_):
        return own.file
    return "the lossless network" if lossless.is_lossless(id_) else "the star"


def _of_star(state: State) -> State:
    """The state without schemes of other networks."""
    star = (
        id_ for id_ in state.all_schemes if not (own_cells.is_own(id_) or lossless.is_lossless(id_))
    )
    return replace(state, schemes=tuple(star), more=())


class _Reading:
    """Values so far, and remarks on them."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        conditions = list(dict.fromkeys(cell["condition"] for cell in cells))
        self._cells = {c["scheme"]: c["scenario"] for c in cells if c["condition"] == conditions[0]}
        self._base = next(iter(self._cells.values()))
        self._parameters = dict(PARAMETERS)
        self._values: dict[str, float] = {}
        self._taken: list[str] = []
        self._left: list[str] = []
        self._topology = ""
        if len(conditions) > 1:
            self._left.append(
                f"{len(conditions) - 1} of {len(conditions)} conditions of the sweep: shows the "
                f"first, {conditions[0]}"
            )

    def own(self, label: str) -> Own:
        """Read everything, in the order in which it is said."""
        receiver, flows = _busiest(self._base)
        self._network(receiver)
        self._traffic(receiver, flows)
        schemes = self._schemes()
        self._pacer()
        self._pauses()
        values = {
            **recommended.recommended(*(self._values[i] for i in ("rate", "rtt", "mtu", "flows"))),
            **self._values,
        }
        parameters = {
            id_: replace(parameter, default=values.get(id_, parameter.default))
            for id_, parameter in self._parameters.items()
        }
        runs = own_cells.runs(self._cells, label)
        if not runs:
            self._left.append(f"{self._topology}: too large to run live as it is")
        elif receiver and "dumbbell" not in self._base["topology"]:
            self._left.append(f"{self._topology} run live: shows the port to host 0")
        catalog = Catalog({**runs, **SCHEMES}, parameters, self._base["host"]["queue"])
        shown = sorted(runs, key=self._rank) if runs else schemes
        shown = shown[: 2 + MOST_MORE]
        picked = dict(zip("ab", shown, strict=False))
        state = read_state({**picked, "more": ",".join(shown[2:])}, catalog)
        title = self._base.get("title") or self._base["name"]
        own = {own_cells.id_of(name): cell for name, cell in self._cells.items()}
        said = tuple(self._taken), tuple(self._left)
        return Own(label, title, catalog, state, *said, self._topology, own)

    def _rank(self, id_: str) -> int:
        """DCTCP and HULL come first, as their charts are the ones to compare."""
        cell = next(c for name, c in self._cells.items() if own_cells.id_of(name) == id_)
        ranks = {"dctcp": 0, "hull": 1, "dctcp_pq": 2}
        return ranks.get(counterpart(cell) or "", 3)

    def _take(self, id_: str, value: float, said: str) -> None:
        """A value of the file; of one outside a range the nearest."""
        parameter = self._parameters[id_]
        if parameter.kind == "choice":
            choices = tuple(sorted({*parameter.choices, value}))
            ends = (choices[0], choices[-1])
            self._parameters[id_] = replace(parameter, choices=choices, min=ends[0], max=ends[1])
        nearest = min(max(value, self._parameters[id_].min), self._parameters[id_].max)
        self._values[id_] = nearest
        if nearest == value:
            self._taken.append(said)
        else:
            unit = f" {parameter.unit}" if parameter.unit else ""
            self._left.append(f"{said}: outside the lab's range; using {nearest:g}{unit}")

    def _network(self, receiver: int) -> None:
        base = self._base
        read = _core.Resolved(json.dumps(base))
        found = json.loads(read.network())
        host = found["hosts"][receiver]
        kind = next(iter(k for k, v in base["topology"].items() if isinstance(v, dict)))
        hosts = len(found["hosts"])
        self._topology = f"{kind.replace('_', '-')} of {hosts} hosts"
        if kind != "star":
            self._left.append(
                f"{self._topology}: shows the port to one host, {host['name']}, as a star"
            )
        rate_bps = float(host["in_bps"])
        narrow = base["topology"].get("dumbbell", {}).get("bottleneck_rate")
        if kind == "dumbbell":
            rate_bps = _quantity("rate", narrow or base["switch"]["rate"])
        if host["out_bps"] != rate_bps:
            self._left.append(
                f"links of {host['out_bps'] / 1e9:g} Gbps from the hosts: all links have "
                f"{rate_bps / 1e9:g} Gbps"
            )
        self._take("rate", rate_bps, f"link speed {rate_bps / 1e9:g} Gbps")
        rtt_s = read.round_trip()
        text = f"{rtt_s * 1e6:.4g} us"
        self._take("rtt", rtt_s, f"round trip {text}")
        mtu = str(base["transport"]["mtu"])
        self._take("mtu", _quantity("size", mtu), f"packets of {mtu}")
        self._queue()
        switch = base["switch"]
        if switch.get("buffer", "unlimited") != "unlimited":
            room = self._bytes(switch["buffer"])
            self._take("buffer", room, f"buffer {switch['buffer']}")
        elif "memory" in switch:
            self._left.append("shared memory of the switch: each port has a buffer of its own")
        else:
            self._left.append("a buffer without limit: the port has the recommended one")
        offload = base["host"].get("offload")
        if offload is not None:
            size = _quantity("size", str(offload))
            self._take("burst", max(size, 1500.0), f"bursts of {offload}")

    def _queue(self) -> None:
        """The hosts' queue, and what of it the star does not have."""
        host = self._base["host"]
        queue = host["queue"]
        self._taken.append(f"hosts' queue {queue}")
        if host["nic_queues"] > 1:
            self._left.append(f"{host['nic_queues']} transmit queues of a NIC: the star has one")
        if self._base["transport"].get("small_queues"):
            self._left.append("transport.small_queues: the star has the defaults")
        for name, cell in self._cells.items():
            if cell["host"]["queue"] != queue:
                other = cell["host"]["queue"]
                self._left.append(f"{name} with the hosts' queue {other}: the star has {queue}")

    def _bytes(self, text: object) -> float:
        """A size, or a number of packets."""
        packets = str(text).removesuffix("pkts")
        if packets != str(text):
            return float(packets) * self._values["mtu"]
        return _quantity("size", str(text))

    def _traffic(self, receiver: int, flows: int) -> None:
        workload: dict[str, Any] = self._base["workload"]
        shown = flows or int(PARAMETERS["flows"].default)
        said = f"{shown} long flow{'s' if shown != 1 else ''}"
        if flows:
            self._take("flows", flows, f"{said} to host {receiver}")
        elif set(workload) == {"requests"}:
            self._values["flows"] = 0
        else:
            self._values["flows"] = shown
        requests = workload.get("requests")
        if requests is not None:
            load = _quantity("share", str(requests["load"]))
            text = str(requests["load"])
            self._take("load", load, f"requests with a load of {text}")
            sizes = [str(entry["size"]) for entry in requests["classes"]]
            if sizes != ["1KB", "20KB"]:
                self._left.append(
                    f"responses of {', '.join(sizes[:4])}: the lab's have 1 KB and 20 KB"
                )
        for kind in workload:
            if kind not in ("requests", "long_lived", "bulk") and workload[kind] is not None:
                self._left.append(
                    f"workload.{kind}: shows {said} and small requests; Small requests sets "
                    "their load"
                )
                self._values.setdefault("load", 0.2)

    def _schemes(self) -> list[str]:
        """The lab's counterparts of the file's schemes, in its order; at least one."""
        found: dict[str, str] = {}
        for name, cell in self._cells.items():
            id_ = counterpart(cell)
            label = name or "the scenario"
            if id_ is None:
                self._left.append(f"{label}: {_kind(cell)} is not one of the lab's schemes")
            elif id_ in found.values():
                other = next(n for n, i in found.items() if i == id_)
                self._left.append(f"{label}: {SCHEMES[id_].title} with the settings of {other}")
            elif len(found) == 2 + MOST_MORE:
                self._left.append(f"{label}: the lab runs {2 + MOST_MORE} schemes at a time")
            else:
                found[name] = id_
                self._marks(cell, SCHEMES[id_].title)
        if not found:
            self._left.append("schemes: shows DCTCP and HULL")
            return ["dctcp", "hull"]
        said = (f"{n} as {SCHEMES[i].title}" if n else SCHEMES[i].title for n, i in found.items())
        self._taken.append(f"schemes {', '.join(said)}")
        return list(found.values())

    def _marks(self, scenario: dict[str, Any], title: str) -> None:
        """Thresholds and drain of a scheme, unless one before has set them."""
        switch = scenario["switch"]
        phantom, marking = switch.get("phantom_queue"), switch.get("marking")
        if phantom is not None and "drain" not in self._values:
            drain, size = str(phantom["drain"]), str(phantom["threshold"])
            share = (
                _quantity("share", drain)
                if drain.endswith("%")
                else _quantity("rate", drain) / self._values["rate"]
            )
            self._take("drain", share, f"drain {drain}")
            self._take("threshold", self._bytes(size), f"phantom queue's threshold {size}")
        elif phantom is None and marking is not None and "k" not in self._values:
            size = str(marking["threshold"])
            self._take("k", self._bytes(size), f"K {size} ({title})")

    def _pauses(self) -> None:
        """The first threshold of pauses that is a size."""
        settings = (cell["switch"].get("pfc") or {} for cell in self._cells.values())
        sizes = [str(pfc["xoff"]) for pfc in settings if pfc.get("xoff") is not None]
        if sizes:
            self._take("xoff", self._bytes(sizes[0]), f"pauses from {sizes[0]}")

    def _pacer(self) -> None:
        """Settings of a pacer that differ from the lab's."""
        pacers = (s["pacer"] for s in self._cells.values() if s.get("pacer") is not None)
        pacer = next(pacers, None)
        if pacer is None:
            return
        rate, rtt, mtu = (self._values[id_] for id_ in ("rate", "rtt", "mtu"))
        own = json.loads(_core.pacer_settings(rate, rtt, mtu))
        lab = (
            own["update_interval_s"],
            own["eta"],
            own["beta"],
            own["bucket_bytes"],
            own["fifo_bytes"],
        )
        reads: tuple[Callable[[str], float], ...] = (
            lambda text: _quantity("time", text),
            lambda text: _quantity("share", text),
            float,
            self._bytes,
            self._bytes,
        )
        other = [
            f"{key} {pacer[key]}"
            for key, value, read in zip(_PACED, lab, reads, strict=True)
            if key in pacer and abs(read(str(pacer[key])) - value) > 0.01 * value
        ]
        if other:
            self._left.append(
                f"pacer with {', '.join(other)}: the star's pacer is set for the round trip, as by "
                f"hull design (update_interval {1e6 * own['update_interval_s']:.3g}us, eta "
                f"{own['eta']:g}, beta {own['beta']:.0f})"
            )
        else:
            self._taken.append("pacer")


def counterpart(scenario: dict[str, Any]) -> str | None:
    """The lab's scheme that a resolved scenario is, if it is one."""
    transport, switch = scenario["transport"], scenario["switch"]
    control, ecn = transport["congestion_control"], transport["ecn"]
    if scenario.get("transports") or any(switch.get(key) for key in _MARKED_ELSEHOW):
        return None
    phantom, marks = switch.get("phantom_queue") is not None, switch.get("marking") is not None
    paced = scenario.get("pacer") is not None
    kinds = {
        ("dctcp", True, True, True): "hull",
        ("dctcp", True, True, False): "dctcp_pq",
        ("dctcp", True, False, False): "dctcp",
        ("newreno", True, False, False): "tcp_ecn",
        ("newreno", False, False, False): "tcp",
        ("cubic", False, False, False): "cubic",
        ("vegas", False, False, False): "vegas",
    }
    found = kinds.get((control, ecn, phantom and ecn, paced))
    return None if found in ("dctcp", "tcp_ecn") and not marks else found


def _kind(scenario: dict[str, Any]) -> str:
    """A scheme as text: its congestion control and what the switch adds."""
    switch = scenario["switch"]
    parts = [key for key in (*_MARKED_ELSEHOW, "marking", "phantom_queue") if switch.get(key)]
    parts += ["pacer"] if scenario.get("pacer") else []
    control = scenario["transport"]["congestion_control"]
    return f"{control} with {' and '.join(parts)}" if parts else f"{control} without switch.marking"


def _busiest(scenario: dict[str, Any]) -> tuple[int, int]:
    """The host at which most large flows end, and how many; else the host that asks, and 0."""
    workload = scenario["workload"]
    ends = Counter(receivers(scenario))
    if ends:
        return max(ends.items(), key=lambda item: (item[1], -item[0]))
    for kind in ("requests", "incast", "partition_aggregate"):
        client = (workload.get(kind) or {}).get("client")
        if client is not None:
            return number(scenario, client), 0
    return 0, 0


def _quantity(kind: str, text: str) -> float:
    try:
        return float(_core.quantity(kind, text))
    except ValueError as error:
        raise UsageError(f"{kind}: {error}") from None

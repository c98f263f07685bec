"""The lab's settings: schemes, parameters with their ranges, and the state in a link.

Numbers are in SI base units: bit/s, s, bytes; shares as parts of 1. A state is written as the query
of a URL, `a=hull&b=dctcp&queue=fair&rate=1e10&...`; omitted keys have their defaults. With a
scenario file (`hull.lab.own`) some settings have other defaults and choices.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlencode

from hull.errors import UsageError
from hull.lab.queues import QUEUES


@dataclass(frozen=True)
class Scheme:
    """One of the schemes that are compared."""

    id: str
    title: str
    summary: str
    parameters: tuple[str, ...]
    """The parameters that matter to it beside the network's and the traffic's."""
    settings: tuple[str, ...]
    """What its table in the scenario file holds: see `hull.lab.scenario`."""
    own: bool = False
    """Whether it runs on the network of the user's file (`hull.lab.own_cells`)."""
    lossless: bool = False
    """Whether it runs on the lossless network (`hull.lab.lossless`)."""


SCHEMES = {
    scheme.id: scheme
    for scheme in (
        Scheme(
            "hull",
            "HULL",
            "DCTCP, a phantom queue that marks before the link is full, and a pacer in the host",
            ("drain", "threshold"),
            ("dctcp", "phantom_queue", "pacer"),
        ),
        Scheme(
            "dctcp_pq",
            "DCTCP + phantom queue",
            "HULL without the pacer",
            ("drain", "threshold"),
            ("dctcp", "phantom_queue"),
        ),
        Scheme(
            "dctcp",
            "DCTCP",
            "the switch marks above K, the sender cuts its window by the share of marks",
            ("k",),
            ("dctcp", "marking"),
        ),
        Scheme(
            "tcp_ecn",
            "TCP + ECN",
            "NewReno that halves its window when the switch marks above K",
            ("k",),
            ("ecn", "marking"),
        ),
        Scheme("tcp", "TCP", "NewReno, drops when the buffer is full", (), ()),
        Scheme("cubic", "CUBIC", "Linux's default, drops when the buffer is full", (), ("cubic",)),
        Scheme("vegas", "Vegas", "slows down when the round trip grows, no marks", (), ("vegas",)),
        Scheme(
            "pfc",
            "Pauses alone",
            "two switches that pause their senders (PFC); hosts send at the line rate",
            ("xoff",),
            ("line-rate",),
            lossless=True,
        ),
        Scheme(
            "dcqcn",
            "DCQCN + RED",
            "two switches that pause (PFC) and mark between K and 4 K; DCQCN in the hosts",
            ("xoff", "k"),
            ("dcqcn", "red"),
            lossless=True,
        ),
        Scheme(
            "dcqcn_pq",
            "DCQCN + phantom queue",
            "two switches that pause (PFC) and mark by a phantom queue; DCQCN in the hosts",
            ("xoff", "drain", "threshold"),
            ("dcqcn", "phantom_queue"),
            lossless=True,
        ),
        Scheme(
            "hpcc",
            "HPCC",
            "two switches that pause (PFC) and report their queues; HPCC in the hosts, eta 95%",
            ("xoff",),
            ("hpcc", "telemetry"),
            lossless=True,
        ),
    )
}


@dataclass(frozen=True)
class Parameter:
    """A number that can be set."""

    id: str
    title: str
    unit: str
    kind: str
    """`continuous`, `integer` or `choice`."""
    scale: str
    """Of its slider: `linear` or `log`."""
    min: float
    max: float
    step: float
    """Step of its slider: a difference if it is linear, decades if it is logarithmic."""
    default: float
    help: str
    choices: tuple[float, ...] = field(default=())

    def check(self, value: object) -> float:
        """The value as a number of this parameter; else UsageError."""
        number = _number(value)
        allowed = f"a number from {self.min:g} to {self.max:g}"
        if self.kind == "choice":
            allowed = "one of " + ", ".join(f"{choice:g}" for choice in self.choices)
        elif self.kind == "integer":
            allowed = f"a whole number from {self.min:.0f} to {self.max:.0f}"
        right = number is not None and self.min <= number <= self.max
        if right and self.kind == "choice":
            right = number in self.choices
        elif right and self.kind == "integer":
            right = number == math.floor(number or 0)
        if not right or number is None:
            raise UsageError(f"{self.id}: {shown(value)} is invalid; expected {allowed}")
        return number


def _parameter(id_: str, title: str, unit: str, kind: str, *numbers: float, help: str) -> Parameter:
    low, high, step, default = numbers
    name, _, scale = kind.partition(" ")
    return Parameter(id_, title, unit, name, scale or "linear", low, high, step, default, help)


RATES = (1e9, 10e9, 25e9, 40e9, 100e9, 400e9)
"""Of links, bit/s."""
_RUN = ("speed", "seed")
"""Parameters of every run."""
_COMMON = ("rate", "rtt", "mtu", "flows")
"""Of every run on a network of the lab."""
_TEXTS = ("a", "b", "more", "queue")
"""Keys whose values are names."""
MOST_MORE = 3
"""Schemes on the plane beside the two whose charts are shown."""

PARAMETERS = {
    parameter.id: parameter
    for parameter in (
        Parameter(
            "rate",
            "Link speed",
            "bit/s",
            "choice",
            "log",
            RATES[0],
            RATES[-1],
            0.1,
            10e9,
            "Rate of every link. A change also sets K, threshold, drain, buffer and slow motion as "
            "recommended for it.",
            RATES,
        ),
        _parameter(
            "rtt",
            "Round trip",
            "s",
            "continuous log",
            2e-6,
            1e-3,
            0.01,
            100e-6,
            help="Round trip of a full packet and its acknowledgment without queueing.",
        ),
        Parameter(
            "mtu",
            "Packet size",
            "byte",
            "choice",
            "log",
            1500,
            9000,
            0.1,
            1500,
            "Size of full packets, headers included.",
            (1500, 4096, 9000),
        ),
        _parameter(
            "flows",
            "Long flows",
            "",
            "integer",
            0,
            32,
            1,
            2,
            help="Flows with unlimited data, each from its own host, through one port.",
        ),
        _parameter(
            "load",
            "Small requests",
            "share",
            "continuous",
            0,
            0.8,
            0.01,
            0,
            help="Share of the port that responses of 1 KB and 20 KB use beside long flows.",
        ),
        _parameter(
            "drain",
            "Phantom queue's drain",
            "share",
            "continuous",
            0.5,
            1,
            0.005,
            0.95,
            help="Rate at which the phantom queue drains, as a share of the link's.",
        ),
        _parameter(
            "threshold",
            "Phantom queue's threshold",
            "byte",
            "continuous log",
            500,
            1e6,
            0.01,
            1000,
            help="The switch marks packets while the phantom queue exceeds it.",
        ),
        _parameter(
            "k",
            "Marking threshold K",
            "byte",
            "continuous log",
            1500,
            20e6,
            0.01,
            30e3,
            help="Without a phantom queue, the switch marks packets while the queue exceeds it.",
        ),
        _parameter(
            "buffer",
            "Buffer",
            "byte",
            "continuous log",
            15e3,
            40e6,
            0.01,
            700e3,
            help="Buffer of the port; packets that do not fit are dropped.",
        ),
        _parameter(
            "xoff",
            "Pause threshold",
            "byte",
            "continuous log",
            3e3,
            20e6,
            0.01,
            20e3,
            help="A switch pauses a link while it holds more bytes that came over it.",
        ),
        _parameter(
            "burst",
            "Bursts of hosts",
            "byte",
            "continuous log",
            1500,
            64e3,
            0.01,
            1500,
            help="Largest piece that a host hands to its NIC, which sends it back to back "
            "(segmentation offload); up to one packet: single packets.",
        ),
        _parameter(
            "speed",
            "Slow motion",
            "s/s",
            "continuous log",
            1e-4,
            1,
            0.01,
            0.005,
            help="Simulated time per second of wall time.",
        ),
        _parameter(
            "seed",
            "Seed",
            "",
            "integer",
            1,
            1e6,
            1,
            1,
            help="Seed of the random numbers: the same seed shows the same run.",
        ),
    )
}


@dataclass(frozen=True)
class Catalog:
    """What can be chosen on one server."""

    schemes: Mapping[str, Scheme]
    parameters: Mapping[str, Parameter]
    queue: str
    """The default of the hosts' queue."""

    def default(self, id_: str) -> object:
        """The default of a parameter, or of the hosts' queue."""
        return self.queue if id_ == "queue" else self.parameters[id_].default


STANDARD = Catalog(SCHEMES, PARAMETERS, "fair")
"""Without a scenario file."""


@dataclass(frozen=True)
class State:
    """The state that determines what the page shows."""

    schemes: tuple[str, ...]
    """One or two."""
    more: tuple[str, ...]
    """Those that only the plane shows."""
    queue: str
    """Of the hosts."""
    rate: float
    rtt: float
    mtu: float
    flows: float
    load: float
    drain: float
    threshold: float
    k: float
    buffer: float
    xoff: float
    burst: float
    speed: float
    seed: float

    @property
    def all_schemes(self) -> tuple[str, ...]:
        """All that run, in the order in which a frame has them."""
        return (*self.schemes, *self.more)

    def query(self) -> str:
        """The state as a link holds it."""
        chosen = dict(zip("ab", self.schemes, strict=False))
        more = {"more": ",".join(self.more)} if self.more else {}
        numbers = {id_: f"{getattr(self, id_):.12g}" for id_ in PARAMETERS}
        return urlencode({**chosen, **more, "queue": self.queue, **numbers}, safe=",")


def read_state(values: Mapping[str, object], catalog: Catalog = STANDARD) -> State:
    """The state of keys and values, which are texts or numbers. Raises UsageError for an invalid
    one.
    """
    parameters, known = catalog.parameters, catalog.schemes
    for key in values:
        if key not in parameters and key not in _TEXTS:
            allowed = ", ".join([*_TEXTS, *parameters])
            raise UsageError(f"key: {shown(key)} is invalid; expected {allowed}")
    first = _one_of("a", values.get("a", "hull"), known)
    second = values.get("b")
    schemes: tuple[str, ...] = (first,)
    if second is not None and second != "":
        schemes = (first, _one_of("b", second, known))
    if len(set(schemes)) < len(schemes):
        raise UsageError(f"b: {first} is the same as a; expected another scheme or none")
    more = _more(values.get("more", ""), schemes, known)
    queue = _one_of("queue", values.get("queue", catalog.queue), QUEUES)
    numbers = {
        id_: parameter.check(values.get(id_, parameter.default))
        for id_, parameter in parameters.items()
    }
    return State(schemes, more, queue, **numbers)


def as_json(catalog: Catalog = STANDARD) -> dict[str, Any]:
    """Schemes and parameters, as the page gets them."""
    return {
        "schemes": [
            {
                "id": scheme.id,
                "title": scheme.title,
                "summary": scheme.summary,
                "parameters": [*scheme.parameters, *_of_network(scheme), *_RUN],
                "own": scheme.own,
                "lossless": scheme.lossless,
            }
            for scheme in catalog.schemes.values()
        ],
        "parameters": [_parameter_json(parameter) for parameter in catalog.parameters.values()],
        "queues": [asdict(queue) for queue in QUEUES.values()],
        "queue": catalog.queue,
        "most_more": MOST_MORE,
    }


def shown(value: object) -> str:
    """A value that came from outside, for a message: cut, and without control characters."""
    text = value if isinstance(value, str) else repr(value)
    cut = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:40])
    return f"{cut}..." if len(text) > 40 else cut or '""'


def _of_network(scheme: Scheme) -> tuple[str, ...]:
    """Parameters of the network that a scheme runs on."""
    if scheme.own:
        return ()
    return _COMMON if scheme.lossless else (*_COMMON, "load", "buffer", "burst", "queue")


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    content = {
        key: getattr(parameter, key)
        for key in ("id", "title", "unit", "kind", "scale", "min", "max", "step", "default", "help")
    }
    return content | ({"choices": list(parameter.choices)} if parameter.choices else {})


def _one_of(key: str, value: object, known: Mapping[str, object]) -> str:
    if not isinstance(value, str) or value not in known:
        raise UsageError(f"{key}: {shown(value)} is invalid; expected {', '.join(known)}")
    return value


def _more(value: object, chosen: tuple[str, ...], known: Mapping[str, Scheme]) -> tuple[str, ...]:
    """The schemes of `more`: names with commas between them."""
    if value == "":
        return ()
    names = value.split(",") if isinstance(value, str) else [value]
    found = tuple(_one_of("more", name, known) for name in names)
    if len({*found, *chosen}) < len(found) + len(chosen):
        raise UsageError(
            f"more: {shown(value)} is invalid; expected schemes other than a and b, each once"
        )
    if len(found) > MOST_MORE:
        raise UsageError(
            f"more: found {len(found)} schemes; expected at most {MOST_MORE}, such as tcp,cubic"
        )
    return found


def _number(value: object) -> float | None:
    """A finite number, or one written as text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and (len(value) > 40 or "_" in value):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None

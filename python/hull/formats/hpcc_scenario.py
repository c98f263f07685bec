"""The scenario of a `config.txt` of HPCC's simulator or of one of its forks.

Sources: `scratch/third.cc` of alibaba-edu/High-Precision-Congestion-Control, `run.py` and
`scratch/network-load-balance.cc` of conweave-ns3, and `examples/PowerTCP` of ns3-datacenter, for
the meaning of keys; docs/pauses.md and docs/validation_rdma.md have the rules that these programs
do not read from the file. Each key becomes a part of the scenario or is left with a reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from hull import _core
from hull.errors import UsageError
from hull.formats.hpcc_config import Config, Entry
from hull.formats.numbered_lines import Lines


class Dialect(StrEnum):
    """Program that reads the file, by the name of its rules in `switch.pfc.rules`."""

    HPCC = "hpcc"
    CONWEAVE = "conweave"
    POWERTCP = "ns3-datacenter"


class Control(StrEnum):
    """Controls of ns3-datacenter that its command line chooses."""

    POWERTCP = "powertcp"
    THETA = "theta-powertcp"


@dataclass(frozen=True)
class Converted:
    """A scenario, and the keys that are not in it."""

    dialect: Dialect
    scenario: dict[str, Any]
    left: list[str]
    """A sentence for each key, which begins with it."""


_MODES = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp-rate"}
_OF_CONWEAVE = ("ENABLE_PFC", "ENABLE_IRN", "LB_MODE", "FLOWGEN_STOP_TIME")
_PAYLOAD_HEADER = 48
"""Ethernet, IPv4, UDP, sequence number and class: bytes."""
_IN_BAND = {"hpcc": 42, "timely": 8, "powertcp": 42, "theta-powertcp": 42}
"""Bytes of telemetry or a timestamp in a data packet."""
_ACK = 60
_ACK_WITH_RECORDS = {Dialect.HPCC: 88, Dialect.POWERTCP: 88, Dialect.CONWEAVE: 94}
_ADDITIVE = "150Mbps"
"""Of PowerTCP, a constant of its program."""
_BEGIN_S = 2.0
"""Time from which LINK_DOWN counts."""
_FLOWECMP = 0
_LEFT = {
    "TRACE_FILE": "names the nodes of a packet trace; measure.capture records packets",
    "TRACE_OUTPUT_FILE": "is a packet trace; measure.capture records packets",
    "ENABLE_TRACE": "is for a packet trace; measure.capture records packets",
    "FCT_OUTPUT_FILE": "names an output; hull export --as hpcc writes fct.txt",
    "QLEN_MON_FILE": "names an output; with measure.ports hull export --as hpcc writes qlen.txt",
    "QLEN_MON_START": "limits qlen.txt; hull measures from run.warmup on",
    "QLEN_MON_END": "limits qlen.txt; hull measures until run.duration is over",
    "DATA_RATE": "has no effect: the topology file has the rates",
    "LINK_DELAY": "has no effect: the topology file has the delays",
    "USE_DYNAMIC_PFC_THRESHOLD": "does not reach the switches of the program, whose thresholds are "
    "dynamic",
    "L2_CHUNK_SIZE": "has no effect with L2_BACK_TO_ZERO 0",
    "PINT_LOG_BASE": "has no effect without CC_MODE 10",
    "PINT_PROB": "has no effect without CC_MODE 10",
    "LOAD": "says how the flow list was made",
    "FLOWGEN_START_TIME": "has no effect: the flow list has the times",
    "SW_MONITORING_INTERVAL": "is for outputs that hull does not write; measure.sample_interval",
    "PAUSE_TIME": "has no effect: a pause lasts until the frame to resume",
}
_USUAL: dict[str, tuple[Any, str]] = {
    "GLOBAL_T": (True, "hull sizes all windows by the longest round trip"),
    "MULTI_RATE": (False, "hull's control has one rate for all hops"),
    "SAMPLE_FEEDBACK": (False, "hull's control reads the records of each packet"),
    "RATE_BOUND": (True, "hull's adapter keeps the rate of its control"),
    "L2_BACK_TO_ZERO": (False, "hull goes back to the missing packet"),
    "LB_MODE": (_FLOWECMP, "hull takes one path by a hash; transport.message.load_balancing"),
}
"""Keys with the only value that hull repeats, and what it does for any other."""


def convert(
    path: Path, dialect: Dialect | None = None, control: Control | None = None
) -> Converted:
    """Convert a file; UsageError with the line where it contradicts itself."""
    reading = _Reading(Config(path), dialect, control)
    scenario = reading.scenario()
    return Converted(reading.dialect, scenario, [*reading.left()])


class _Reading:
    """A file of which some keys have been read."""

    def __init__(self, config: Config, dialect: Dialect | None, control: Control | None) -> None:
        self._config = config
        self._read: set[str] = set()
        self._topology = self._file("TOPOLOGY_FILE")
        self._rates, self._link, is_powertcp = _links(self._topology)
        found = Dialect.POWERTCP if is_powertcp else Dialect.HPCC
        if any(key in config.entries for key in _OF_CONWEAVE):
            found = Dialect.CONWEAVE
        self.dialect = dialect or found
        mode = self._value("CC_MODE")
        if control is None and mode not in _MODES:
            modes = ", ".join(f"{number} ({name})" for number, name in _MODES.items())
            config.refuse("CC_MODE", modes)
        self._control = str(control or _MODES[mode])

    def scenario(self) -> dict[str, Any]:
        """The whole scenario."""
        self._check_loss()
        rate, delay = self._link
        return {
            "name": self._config.path.stem,
            "run": self._run(),
            "topology": {"file": {"path": str(self._topology)}, **self._failures()},
            "host": {"queue": "fair", "rate": rate, "delay": delay, **self._loss()},
            "switch": {"rate": rate, "delay": delay, **self._loss(), **self._switch()},
            "transport": self._transport(),
            "workload": {"flows": str(self._file("FLOW_FILE"))},
            **self._measure(),
        }

    def left(self) -> Iterator[str]:
        """A sentence for each key that is not in the scenario."""
        for key, entry in self._config.entries.items():
            if key == "ENABLE_IRN" and entry.value:
                limit = "transport.message.max_in_flight"
                yield f"{_shown(key, entry)}: without its limit of a round trip's bytes; {limit}"
            if key in self._read:
                continue
            usual, reason = _USUAL.get(key, (None, ""))
            if usual is not None and entry.value == usual:
                continue
            if not reason:
                reason = _LEFT.get(key, "")
            if not reason and key.startswith("CONWEAVE_"):
                reason = "has no effect without LB_MODE 9, which hull lacks"
            if not reason and key.endswith("_FILE"):
                reason = "names an output that hull does not write"
            if not reason and key in _PARAMETERS:
                reason = f"has no effect with {self._control}"
            yield f"{_shown(key, entry)}: {reason or 'is no key of these programs that hull knows'}"

    def _value(self, key: str) -> Any:
        """The value of a key that must be there, which counts as read."""
        self._read.add(key)
        if key not in self._config.entries:
            raise UsageError(f"{self._config.path}: lacks {key}; expected it in a line")
        return self._config.entries[key].value

    def _get(self, key: str, default: Any) -> Any:
        return self._value(key) if key in self._config.entries else default

    def _file(self, key: str) -> Path:
        """An input file: its path from the working directory or, as these programs run elsewhere,
        from the folder of the file that names it or the one above.
        """
        given, folder = Path(self._value(key)), self._config.path.parent
        places = (given, folder / given, folder.parent / given, folder / given.name)
        found = next(filter(Path.is_file, places), None)
        if found is None:
            self._config.refuse(key, f"a file here, in {folder} or beside it")
        return found

    def _run(self) -> dict[str, Any]:
        if self.dialect is Dialect.CONWEAVE:
            found = {"duration": f"{self._value('FLOWGEN_STOP_TIME'):g}s", "drain": "10s"}
        else:
            found = {"duration": f"{self._value('SIMULATOR_STOP_TIME'):g}s", "drain": "0s"}
        seed = self._get("RANDOM_SEED", None)
        return found if seed is None else {**found, "seed": seed}

    def _failures(self) -> dict[str, Any]:
        at_us, a, b = self._get("LINK_DOWN", (0, 0, 0))
        if at_us == 0:
            return {}
        begin_s = _BEGIN_S
        if self.dialect is Dialect.CONWEAVE:
            begin_s = self._get("FLOWGEN_START_TIME", _BEGIN_S)
        at = f"{round(begin_s * 1e6) + at_us}us"
        return {"failures": [{"link": f"n{a}--n{b}", "at": at}]}

    def _loss(self) -> dict[str, Any]:
        share = self._get("ERROR_RATE_PER_LINK", 0.0)
        return {"loss": f"{share * 100:.10g}%"} if share else {}

    def _switch(self) -> dict[str, Any]:
        keys: dict[str, Any] = {}
        size = f"{self._value('BUFFER_SIZE')}MiB"
        lossless = self._get("ENABLE_PFC", True)
        # The programs limit no queue of a lossless class; ConWeave's others take what is free.
        limited = self.dialect is Dialect.CONWEAVE and not lossless
        keys["memory"] = {"size": size, "alpha": 1 if limited else 1000}
        if lossless:
            keys["pfc"] = {"rules": str(self.dialect), **self._quanta()}
        if self._acks_apart():
            keys["priorities"] = 2
            if lossless:
                keys["pfc"]["classes"] = [1]
        if self._reads_marks and self._get("ENABLE_QCN", True):
            keys["marking"] = self._marking()
        if self._control in ("hpcc", Control.POWERTCP):
            keys["telemetry"] = {"fields": "hpcc", "unit_factor": self._value("INT_MULTI")}
        return keys

    def _quanta(self) -> dict[str, Any]:
        """The time of a pause, which ConWeave's simulator alone keeps."""
        if self.dialect is not Dialect.CONWEAVE or "PAUSE_TIME" not in self._config.entries:
            return {}
        if len(self._rates) > 1:
            self._config.refuse("PAUSE_TIME", "no such key with links of several rates")
        bits = self._value("PAUSE_TIME") * 1e-6 * min(self._rates)
        return {"quanta": round(bits / 512)}

    @property
    def _reads_marks(self) -> bool:
        return self._control in ("dcqcn", "dctcp-rate")

    def _acks_apart(self) -> bool:
        """Whether ACKs have a class of their own. ConWeave's always have."""
        return self.dialect is Dialect.CONWEAVE or bool(self._get("ACK_HIGH_PRIO", False))

    def _check_loss(self) -> None:
        if self.dialect is not Dialect.CONWEAVE:
            return
        has_pauses, has_irn = self._value("ENABLE_PFC"), self._value("ENABLE_IRN")
        if has_pauses == has_irn:
            key = "ENABLE_IRN" if has_irn else "ENABLE_PFC"
            self._config.refuse(key, "either ENABLE_PFC 1 or ENABLE_IRN 1, as run.py does")

    def _marking(self) -> dict[str, Any]:
        """Thresholds: one table for all rates of links."""
        maps = {key: self._value(key) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")}
        for key, of_rates in maps.items():
            missing = sorted(self._rates - of_rates.keys())
            if missing:
                rates = ", ".join(map(str, missing))
                self._config.refuse(key, f"a value for each rate in {self._topology}, also {rates}")
        rows = sorted((rate, *(of[rate] for of in maps.values())) for rate in self._rates)
        rate, low, high, most = rows[0]
        for at, low_at, high_at, most_at in rows:
            if low_at > high_at:
                self._config.refuse("KMAX_MAP", f"at {at} at least {low_at:g}, as in KMIN_MAP")
            same = (low_at, high_at) == (low, high)
            scaled = (low_at * rate, high_at * rate) == (low * at, high * at)
            if most_at != most or not (scaled or same):
                told = "the same thresholds at all rates of links, or in proportion to them"
                self._config.refuse("KMIN_MAP", told)
        marking: dict[str, Any] = {"threshold": f"{low:g}KB", "on": "dequeue"}
        if high > low:
            marking["max_threshold"] = f"{high:g}KB"
            marking["max_probability"] = f"{most * 100:.10g}%"
        if len({row[1] for row in rows}) > 1:
            marking["at_rate"] = f"{rate}bps"
        return marking

    def _transport(self) -> dict[str, Any]:
        payload, name = self._value("PACKET_PAYLOAD_SIZE"), self._control
        header = _PAYLOAD_HEADER + _IN_BAND.get(name, 0)
        has_records = name in ("hpcc", *Control)
        ack = _ACK_WITH_RECORDS[self.dialect] if has_records else _ACK
        message: dict[str, Any] = {"ack_size": f"{ack}B"}
        if interval := self._value("L2_ACK_INTERVAL"):
            message["ack_bytes"] = f"{interval}B"
        else:
            self._config.refuse("L2_ACK_INTERVAL", "bytes from 1 on")
        if self.dialect is Dialect.CONWEAVE:
            message["gap_interval"] = "4us"
        if self._get("ENABLE_IRN", False):
            message |= {"recovery": "selective_go_back", "timeout": "320us"}
        table = {"theta-powertcp": "powertcp", "dctcp-rate": "dctcp_rate"}.get(name, name)
        return {
            "congestion_control": name,
            "ecn": self._reads_marks,
            "mtu": f"{payload + header}B",
            "header": f"{header}B",
            "message": message,
            table: {**self._parameters(), **self._window()},
        }

    def _parameters(self) -> dict[str, Any]:
        """Keys of the control's own table."""
        found = {}
        for key, (unit, names) in _PARAMETERS.items():
            if name := names.get(self._control):
                found[name] = _in_unit(self._value(key), unit)
        if self._control in (*Control,):
            found["rate_ai"] = _ADDITIVE
        if self._control == "dcqcn":
            found["loss_is_mark"] = self.dialect is Dialect.CONWEAVE
        return found

    def _window(self) -> dict[str, Any]:
        """Whether a rate has a window. HPCC and PowerTCP always have one."""
        has = self._value("HAS_WIN")
        varies = self._get("VAR_WIN", has)
        if has and not varies:
            self._config.refuse("VAR_WIN", "1: hull's window follows the rate")
        if self._control in ("hpcc", *Control):
            if not has:
                told = f"1 with {self._control}, whose rules divide by the window"
                self._config.refuse("HAS_WIN", told)
            return {}
        return {"window": has}

    def _measure(self) -> dict[str, Any]:
        asked = self._get("PFC_OUTPUT_FILE", None) is not None
        return {"measure": {"pauses": True}} if asked and self._get("ENABLE_PFC", True) else {}


_EACH = dict.fromkeys((*_MODES.values(), *Control), "min_rate")
_PARAMETERS: dict[str, tuple[str, dict[str, str]]] = {
    "ALPHA_RESUME_INTERVAL": ("us", {"dcqcn": "alpha_interval"}),
    "RATE_DECREASE_INTERVAL": ("us", {"dcqcn": "decrease_interval"}),
    "RP_TIMER": ("us", {"dcqcn": "increase_interval"}),
    "CLAMP_TARGET_RATE": ("", {"dcqcn": "clamp_target"}),
    "FAST_RECOVERY_TIMES": ("", {"dcqcn": "recovery_cycles"}),
    "EWMA_GAIN": ("%", {"dcqcn": "gain", "dctcp-rate": "gain"}),
    "RATE_AI": ("bps", {"dcqcn": "additive", "timely": "additive", "hpcc": "rate_ai"}),
    "RATE_HAI": ("bps", {"dcqcn": "hyper", "timely": "hyper"}),
    "MIN_RATE": ("bps", _EACH),
    "DCTCP_RATE_AI": ("bps", {"dctcp-rate": "additive"}),
    "FAST_REACT": ("", {"hpcc": "fast_react", **dict.fromkeys(Control, "fast_react")}),
    "U_TARGET": ("%", {"hpcc": "eta", **dict.fromkeys(Control, "eta")}),
    "MI_THRESH": ("", {"hpcc": "max_stage"}),
    "INT_MULTI": ("", {}),
    "ENABLE_QCN": ("", {}),
    "KMIN_MAP": ("", {}),
    "KMAX_MAP": ("", {}),
    "PMAX_MAP": ("", {}),
}
"""Keys that some controls do not read: their unit, and their names in a control's table."""


def _in_unit(value: Any, unit: str) -> Any:
    """A value as a scenario has it."""
    if unit == "%":
        return f"{value * 100:.10g}%"
    return f"{value:.15g}{unit}" if unit else value


def _links(path: Path) -> tuple[set[int], tuple[str, str], bool]:
    """Rates of a topology's links (bit/s), rate and delay of the first one, and whether the file
    has PowerTCP's form. hull checks the rest when it reads the file.
    """
    lines = Lines(path)
    words = lines.words()
    head = next(words, [])
    next(words, [])
    rates: set[int] = set()
    first = ("", "")
    for link, _ in zip(words, range(int(head[-1]) if head and head[-1].isdigit() else 0)):  # noqa: B905
        if len(link) != 5:
            lines.refuse(" ".join(link), "a link: source, destination, rate, delay, error rate")
        try:
            bps = _core.quantity("rate", link[2].replace("b/s", "bps"))
        except ValueError:
            bps = lines.number_of("rate", link[2], above_zero=True)
        rates.add(round(bps))
        first = first if first[0] else (f"{round(bps)}bps", link[3])
    if not rates:
        lines.refuse(" ".join(head), "the numbers of nodes, switches and links, and the links")
    return rates, first, len(head) == 4


def _shown(key: str, entry: Entry) -> str:
    return f"line {entry.line}, {' '.join((key, *entry.words))}"

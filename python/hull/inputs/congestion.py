"""Your own congestion controls: the interface of a class, and the key of its results."""

import hashlib
import inspect
import json
import re
import sys
import threading
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, ClassVar

from hull import _core
from hull.errors import UsageError

if TYPE_CHECKING:
    from hull._core import Ack, Window


def built_in() -> list[str]:
    """The names of hull's own, as the scenario's schema has them."""
    rows = json.loads(_core.keys())
    found = next(row for row in rows if row["key"] == "transport.congestion_control")
    return str(found["type"]).split(" | ")


Own = Mapping[str, "type[CongestionControl]"]

_CALLS = {
    "on_ack": ("window", "ack"),
    "on_loss": ("window", "flight"),
    "on_timeout": ("window", "flight"),
    "on_restart": ("idle_ps",),
    "on_start": ("now_ps", "link_bps"),
    "on_sent": ("now_ps", "wire_bytes"),
    "on_notice": ("now_ps", "steps"),
}
"""What the simulator calls, with which arguments."""

_PLAIN = (bool, int, float, str, bytes, tuple, frozenset, type(None))

_same: set[tuple[type, str]] = set()
"""What is known to be the same in this process."""
_reading = threading.Lock()
"""Python 3.11 cannot read the source of classes in several threads at a time."""


class CongestionControl:
    """Base class of your own congestion control; each flow has an instance.

    The simulator detects losses, keeps the timer and counts acknowledgments; an instance sets the
    window, a rate, or both. An exception in it ends the run. With transport.messages = true it
    controls a flow of the message transport.
    """

    dctcp_echo: ClassVar[bool] = False
    """Whether receivers echo each mark, as DCTCP's do, instead of all until CWR (RFC 3168)."""

    paced: ClassVar[bool] = False
    """Whether segments leave at `rate_bps`, as far as the window allows."""

    asks_rate: ClassVar[bool] = False
    """Whether data asks switches with RCP for the rate that they offer: `ack.offered_bps`."""

    asks_telemetry: ClassVar[bool] = False
    """Whether data asks switches with telemetry for a record of each hop: `ack.telemetry`."""

    samples_every_ack: ClassVar[bool] = False
    """Whether each ACK of new data has its round trip in `ack.rtt_ps`, not one in a round trip."""

    rate_bps: int | None = None
    """With `paced`: the rate in bit/s, of bytes on the wire; None for one segment at a time. Less
    than a segment in a round trip is a window of a fraction of a segment."""

    alpha: float | None = None
    """What series.parquet shows as alpha: an estimate of the marked share, if there is one."""

    def on_ack(self, window: "Window", ack: "Ack") -> bool | None:
        """New data acknowledged, or a duplicate acknowledgment with ECN-Echo (`acked` is then 0).
        Returns whether the window was reduced because of ECN.
        """
        raise NotImplementedError(f"{type(self).__name__} has no on_ack")

    def on_loss(self, window: "Window", flight: int) -> None:
        """Duplicate acknowledgments revealed a loss, with `flight` bytes outstanding.

        Unless overridden: half of it (RFC 5681).
        """
        window.reduce_to(max(flight // 2, 2 * window.mss))

    def on_timeout(self, window: "Window", flight: int) -> None:
        """The retransmission timer fired. Not called when it fires again for the same segment: the
        window then stays as the first timeout left it (RFC 5681, 3.1).

        Unless overridden: one segment, and slow start up to half the flight (RFC 5681).
        """
        window.reduce_to(max(flight // 2, 2 * window.mss))
        window.cwnd = window.mss

    def on_restart(self, idle_ps: int) -> None:
        """Data is sent again after nothing was outstanding; the last was sent `idle_ps` ago."""

    def on_start(self, now_ps: int, link_bps: int) -> None:
        """The flow starts on a host whose link has `link_bps` bit/s."""

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        """With `paced`: a segment leaves; `rate_bps` after this call decides the gap behind it."""

    def on_notice(self, now_ps: int, steps: int) -> None:
        """With `paced`: a congestion point of QCN asks for a reduction of 1 to 63 steps."""


def check_own(own: Own) -> list[tuple[str, str]]:
    """Names with the fingerprints of their classes, for the scenario; UsageError where one cannot
    be used.
    """
    if not isinstance(own, Mapping):
        raise UsageError(
            f"congestion_control: {type(own).__name__} is invalid; expected a dict of classes by "
            "name"
        )
    pairs = []
    for name, cls in own.items():
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII):
            raise UsageError(
                f"congestion_control: name {name!r} is invalid; expected letters, digits, - and "
                "_, a letter first"
            )
        if name in built_in():
            raise UsageError(
                f"congestion_control: name {name!r} is invalid; expected one that hull itself "
                f"does not have ({', '.join(built_in())})"
            )
        if not isinstance(cls, type) or not issubclass(cls, CongestionControl):
            raise UsageError(
                f"congestion_control: {name} is {cls!r}; expected a subclass of "
                "hull.CongestionControl"
            )
        if cls.on_ack is CongestionControl.on_ack:
            raise UsageError(
                f"congestion_control: {name} is {cls!r} without on_ack; expected a "
                "class with a method on_ack(self, window, ack)"
            )
        if cls.asks_rate and cls.asks_telemetry:
            raise UsageError(
                f"congestion_control: {name}: asks_rate and asks_telemetry are both true; expected "
                "one of them, because data carries one kind of fields"
            )
        _check_calls(name, cls)
        found = fingerprint(cls)
        _same.add((cls, found))
        pairs.append((name, found))
    return pairs


def _check_calls(name: str, cls: type) -> None:
    """That the simulator can make an instance and call its methods, and that these do their work
    in the call: a coroutine or generator would only be made.
    """
    if not _takes(cls, ()):
        raise UsageError(
            f"congestion_control: {name}: {name}{inspect.signature(cls)} is invalid; expected a "
            "class that can be created without arguments, such as with __init__(self)"
        )
    for method, arguments in _CALLS.items():
        held = inspect.getattr_static(cls, method)
        call = getattr(cls, method)
        bound = hasattr(held, "__get__") and not isinstance(held, staticmethod)
        found = ""
        if isinstance(held, classmethod):
            found = "a class method, which all flows share,"
        elif not callable(call):
            found = repr(held)
        elif inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call):
            found = "async def"
        elif inspect.isgeneratorfunction(call):
            found = "a generator"
        elif not _takes(call, ("self", *arguments) if bound else arguments):
            found = f"{method}{inspect.signature(call)}"
        if found:
            raise UsageError(
                f"congestion_control: {name}.{method}: {found} is invalid; expected a method, such "
                f"as def {method}(self, {', '.join(arguments)})"
            )


def _takes(call: Callable[..., object], arguments: tuple[str, ...]) -> bool:
    """Whether it can be called with a number of arguments; True if it has no readable signature."""
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def fingerprint(cls: type) -> str:
    """SHA-256 (hexadecimal) of all that a class is known to depend on: its source and its bases',
    the text of their modules, and the values of its attributes.
    """
    digest = hashlib.sha256()
    for base in cls.__mro__:
        if base is object:
            continue
        with _reading:
            parts = [base.__qualname__, _source(base), _module_text(base)]
        parts += [f"{key}={value}" for key, value in sorted(_values(base).items())]
        for part in parts:
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def check_same(cls: type, expected: str) -> None:
    """Check that a class from another process is the same here: a module of the same name may
    differ. A class that was sent with its code has no source here.
    """
    if (cls, expected) in _same:
        return
    with _reading:
        has_text = bool(_source(cls))
    if has_text and fingerprint(cls) != expected:
        import platform

        raise UsageError(
            f"congestion_control: {cls.__module__}.{cls.__qualname__} on {platform.node()} differs "
            "from this sweep's; install the same module on both sides"
        )
    _same.add((cls, expected))


def _source(cls: type) -> str:
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return ""  # The methods' code, which is below, has to do.


def _module_text(cls: type) -> str:
    module = sys.modules.get(cls.__module__)
    try:
        return inspect.getsource(module) if module is not None else ""
    except (OSError, TypeError):
        return ""


def _values(cls: type) -> dict[str, str]:
    """What the class holds: numbers and texts as they are, functions as their code."""
    found = {}
    for key, value in vars(cls).items():
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if isinstance(value, property):
            value = value.fget
        if isinstance(value, FunctionType):
            held = [cell.cell_contents for cell in value.__closure__ or ()]
            held += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).items()]
            found[key] = (
                f"{_code(value.__code__)} {[_text(one) for one in held if isinstance(one, _PLAIN)]}"
            )
        elif isinstance(value, _PLAIN) and not key.startswith("__"):
            found[key] = _text(value)
    return found


def _code(code: CodeType) -> str:
    """What a function does, independent of its file and line."""
    return f"{code.co_code.hex()} {code.co_names} {[_text(item) for item in code.co_consts]}"


def _text(value: object) -> str:
    """The same in every process: a set has another order in each."""
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(_text, value))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return repr(value)

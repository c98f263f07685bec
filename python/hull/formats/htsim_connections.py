"""Connection matrices of htsim (`.cm`, `.tm`): sender, receiver, bytes and start of each flow.

The programs that read these files disagree about the unit of `start`: microseconds in csg-htsim and
Uno, picoseconds in uet-htsim, and microseconds there with connection reuse. A file does not name
its program, so `start` is not converted; `flow_rows` takes the unit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hull.errors import UsageError
from hull.formats.numbered_lines import Lines

_KINDS = ("oneshot", "multishot", "barrier")
_TIERS = ("TOR", "AGG", "CORE")
_HEADER = {"nodes": 1, "connections": 0, "triggers": 0, "failures": 0}
_WITH_VALUE = ("id", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "prio")


@dataclass(frozen=True)
class Flow:
    """A line `src->dst ...`; exactly one of `start` and `trigger` is given."""

    line: int
    src: int
    dst: int
    size: int
    start: float | None = None
    trigger: int | None = None
    id: int | None = None
    is_message: bool = False
    """Whether the line is a message of the connection `id`, which other lines may share."""
    message: int | None = None
    send_done_trigger: int | None = None
    recv_done_trigger: int | None = None
    priority: int | None = None


@dataclass(frozen=True)
class Trigger:
    """Starts the flows that name it: once (oneshot), at each firing (multishot), or after `count`
    firings (barrier)."""

    line: int
    id: int
    kind: str
    count: int = 1


@dataclass(frozen=True)
class Failure:
    """A link that does not work: the switch's tier and number there, and the link's number."""

    switch_type: str
    switch_id: int
    link_id: int


@dataclass(frozen=True)
class Connections:
    """What a file says. `nodes` need not be the number of hosts: Uno's files have smaller ones."""

    path: Path
    nodes: int
    flows: tuple[Flow, ...]
    triggers: dict[int, Trigger]
    failures: tuple[Failure, ...]

    def hosts(self) -> int:
        """The least number of hosts that the flows need, at least `nodes`."""
        return max([self.nodes, *(max(flow.src, flow.dst) + 1 for flow in self.flows)])


@dataclass(frozen=True)
class FlowRow:
    """A flow of `workload.flows`. Its start counts from when the senders of the rows `after` (from
    1) are done; rows with one `connection` share it."""

    start_ps: int
    src: int
    dst: int
    bytes: int
    connection: int | None
    after: tuple[int, ...]


def read(path: Path) -> Connections:
    """Reads a file; UsageError names the line that cannot be read."""
    lines = Lines(path)
    header: dict[str, int] = {}
    flows: list[Flow] = []
    triggers: dict[int, Trigger] = {}
    failures: list[Failure] = []
    header_lines: dict[str, int] = {}
    for words in lines.words():
        key = words[0].lower()
        is_entry = bool(flows or triggers or failures)
        if key in _HEADER and not is_entry:
            if len(words) != 2 or key in header:
                lines.refuse(" ".join(words), f"`{words[0]} NUMBER`, once")
            header[key] = lines.whole(words[0], words[1], _HEADER[key])
            header_lines[key] = lines.number
        elif "->" in words[0]:
            flows.append(_flow(lines, words))
        elif key == "trigger":
            trigger = _trigger(lines, words)
            if trigger.id in triggers:
                lines.refuse(f"trigger id {trigger.id}", "each trigger once")
            triggers[trigger.id] = trigger
        elif key == "failure":
            failures.append(_failure(lines, words))
        else:
            entries = "`SRC->DST ...`, `trigger id ...` or `failure ...`"
            keys = "" if is_entry else "Nodes, Connections, Triggers, Failures, "
            lines.refuse(words[0], f"{keys}{entries}")
    for key in ("nodes", "connections"):
        if key not in header:
            lines.refuse("the header", f"a line `{key.capitalize()} NUMBER` before the entries", 1)
    found = {"connections": len(flows), "triggers": len(triggers), "failures": len(failures)}
    for key, count in found.items():
        told = header.get(key, 0)
        if told != count:
            expected = f"{count}, as many as there are entries"
            lines.refuse(f"{key.capitalize()} {told}", expected, header_lines.get(key, 1))
    _check_triggers(lines, flows, triggers)
    return Connections(path, header["nodes"], tuple(flows), triggers, tuple(failures))


def flow_rows(connections: Connections, start_unit_ps: int) -> list[FlowRow]:
    """The flows as rows of a flow list. Raises UsageError for features that such a list lacks."""
    fires: dict[int, list[int]] = {}
    for row, flow in enumerate(connections.flows, 1):
        if flow.recv_done_trigger is not None:
            _cannot(connections, flow.line, "recv_done_trigger", "send_done_trigger")
        if flow.send_done_trigger is not None:
            fires.setdefault(flow.send_done_trigger, []).append(row)
    rows = []
    for flow in connections.flows:
        after: tuple[int, ...] = ()
        if flow.trigger is not None:
            after = tuple(fires.get(flow.trigger, ()))
            trigger = connections.triggers[flow.trigger]
            needed = trigger.count if trigger.kind == "barrier" else 1
            if trigger.kind == "multishot" and len(after) > 1:
                _cannot(
                    connections, trigger.line, "a multishot trigger of several flows", "oneshot"
                )
            if len(after) != needed:
                found = f"trigger {trigger.id}, which {len(after)} flows fire,"
                _cannot(connections, flow.line, found, f"as many flows as it waits for, {needed}")
        start = flow.start or 0
        rows.append(
            FlowRow(
                start_ps=round(start * start_unit_ps),
                src=flow.src,
                dst=flow.dst,
                bytes=flow.size,
                connection=flow.id if flow.is_message else None,
                after=after,
            )
        )
    return rows


def _cannot(connections: Connections, line: int, found: str, expected: str) -> None:
    raise UsageError(
        f"{connections.path}, line {line}: {found} is invalid in a flow list; expected {expected}"
    )


def _flow(lines: Lines, words: list[str]) -> Flow:
    src, _, dst = words[0].partition("->")
    ends = [lines.whole("host", end, 0, 2**31 - 1) for end in (src, dst)]
    if ends[0] == ends[1]:
        lines.refuse(words[0], "two different hosts")
    given: dict[str, str | None] = {}
    for key, value in _pairs(lines, words[1:]):
        if key in given:
            lines.refuse(f"{key} {value or ''}".strip(), f"{key} once")
        given[key] = value

    def whole(key: str, least: int) -> int | None:
        text = given.get(key)
        return None if text is None else lines.whole(key, text, least)

    start = given.get("start")
    if (start is None) == (given.get("trigger") is None):
        lines.refuse(" ".join(words), "one of `start TIME` and `trigger ID`")
    size = whole("size", 1)
    if size is None:
        lines.refuse(" ".join(words), "`size BYTES`")
    named = [key for key in given if "trigger" in key]
    if given.get("id") is None and ("msg" in given or named):
        lines.refuse(" ".join(words), f"`id NUMBER` beside {'msg' if not named else named[0]}")
    return Flow(
        line=lines.number,
        src=ends[0],
        dst=ends[1],
        size=size,
        start=None if start is None else lines.number_of("start", start),
        trigger=whole("trigger", 1),
        id=whole("id", 1),
        is_message="msg" in given,
        message=whole("msg", 0),
        send_done_trigger=whole("send_done_trigger", 1),
        recv_done_trigger=whole("recv_done_trigger", 1),
        priority=whole("prio", 0),
    )


def _pairs(lines: Lines, words: list[str]) -> Iterator[tuple[str, str | None]]:
    """The keys of a flow with their values; `msg` may be without one."""
    rest = iter(range(len(words)))
    for at in rest:
        key, following = words[at], words[at + 1 : at + 2]
        if key == "msg":
            has_value = bool(following) and following[0].isdigit()
            yield key, following[0] if has_value else None
            if has_value:
                next(rest)
        elif key not in _WITH_VALUE:
            lines.refuse(key, f"one of msg, {', '.join(_WITH_VALUE)}")
        elif not following:
            lines.refuse(key, f"`{key} VALUE`")
        else:
            yield key, following[0]
            next(rest)


def _trigger(lines: Lines, words: list[str]) -> Trigger:
    counts = words[4:]
    if (
        len(words) < 4
        or words[1] != "id"
        or words[3] not in _KINDS
        or (counts and (len(counts) != 2 or counts[0] != "count"))
    ):
        lines.refuse(" ".join(words), f"`trigger id NUMBER {'|'.join(_KINDS)} [count NUMBER]`")
    number = lines.whole("trigger id", words[2], 1)
    count = lines.whole("count", counts[1], 1) if counts else 1
    return Trigger(lines.number, number, words[3], count)


def _failure(lines: Lines, words: list[str]) -> Failure:
    form = f"`failure switch_type {'|'.join(_TIERS)} switch_id NUMBER link_id NUMBER`"
    keys = words[1::2]
    if len(words) != 7 or sorted(keys) != ["link_id", "switch_id", "switch_type"]:
        lines.refuse(" ".join(words), form)
    given = dict(zip(keys, words[2::2], strict=True))
    if given["switch_type"] not in _TIERS:
        lines.refuse(given["switch_type"], form)
    switch, link = (lines.whole(key, given[key]) for key in ("switch_id", "link_id"))
    return Failure(given["switch_type"], switch, link)


def _check_triggers(lines: Lines, flows: list[Flow], triggers: dict[int, Trigger]) -> None:
    """Every trigger that is named is declared, and no two connections have one id."""
    seen: dict[int, Flow] = {}
    for flow in flows:
        for named in (flow.trigger, flow.send_done_trigger, flow.recv_done_trigger):
            if named is not None and named not in triggers:
                lines.refuse(f"trigger {named}", "a trigger that the file declares", flow.line)
        if flow.id is None:
            continue
        first = seen.setdefault(flow.id, flow)
        if first is not flow:
            if not (first.is_message and flow.is_message):
                lines.refuse(f"id {flow.id}", f"another id than line {first.line}", flow.line)
            if (first.src, first.dst) != (flow.src, flow.dst):
                ends = f"{first.src}->{first.dst}"
                lines.refuse(
                    f"{flow.src}->{flow.dst}", f"{ends}, as in line {first.line}", flow.line
                )

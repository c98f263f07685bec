"""The roles of a trace's columns: start, end or duration, addresses, ports, bytes or packets.

They are recognized by the usual names of collectors, or set by `--columns
start=ts:ms,src=src_ip,bytes=octets`.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hull.ask.units import BYTE_UNITS, time_unit, unit_of_name
from hull.errors import UsageError, shown

TIMES = ("start", "end", "duration")
NAMES: dict[str, tuple[str, ...]] = {
    # The first that is there is taken. Names as `plain` writes them.
    "start": (
        "start",
        "flow_start",
        "start_time",
        "first_seen",
        "first",
        "first_switched",
        "ts",
        "timestamp",
        "time_start",
        "time_flow_start",
        "stime",
        "begin",
        "time_received",
        "time",
        "datetime",
        "date",
    ),
    "end": (
        "end",
        "flow_end",
        "end_time",
        "last_seen",
        "last",
        "last_switched",
        "te",
        "time_end",
        "time_flow_end",
        "etime",
        "ltime",
    ),
    "duration": ("duration", "flow_duration", "td", "dur", "elapsed", "fct"),
    "src": (
        "src",
        "source",
        "src_ip",
        "source_ip",
        "src_addr",
        "source_address",
        "srcaddr",
        "srcip",
        "sa",
        "saddr",
        "sip",
        "src_host",
        "source_ipv4_address",
        "source_ipv6_address",
        "ipv4_src_addr",
        "id_orig_h",
        "client",
        "sender",
        "from",
    ),
    "dst": (
        "dst",
        "destination",
        "dest",
        "dst_ip",
        "dest_ip",
        "destination_ip",
        "dst_addr",
        "destination_address",
        "dstaddr",
        "dstip",
        "da",
        "daddr",
        "dip",
        "dst_host",
        "destination_ipv4_address",
        "destination_ipv6_address",
        "ipv4_dst_addr",
        "id_resp_h",
        "server",
        "receiver",
        "to",
    ),
    "bytes": (
        "bytes",
        "size",
        "flow_size",
        "octets",
        "ibyt",
        "in_bytes",
        "inbytes",
        "octet_delta_count",
        "octet_total_count",
        "num_bytes",
        "n_bytes",
        "total_bytes",
        "byte_count",
        "doctets",
        "d_octets",
        "orig_bytes",
        "orig_ip_bytes",
        "flow_bytes_toserver",
        "length",
    ),
    "packets": (
        "packets",
        "pkts",
        "ipkt",
        "in_packets",
        "in_pkts",
        "packet_delta_count",
        "packet_total_count",
        "num_packets",
        "total_packets",
        "packet_count",
        "dpkts",
        "d_pkts",
        "orig_pkts",
        "flow_pkts_toserver",
    ),
    "reply_bytes": (
        "obyt",
        "out_bytes",
        "outbytes",
        "resp_bytes",
        "resp_ip_bytes",
        "reverse_bytes",
        "flow_bytes_toclient",
    ),
    "src_port": (
        "src_port",
        "source_port",
        "sport",
        "sp",
        "srcport",
        "l4_src_port",
        "source_transport_port",
        "id_orig_p",
    ),
    "dst_port": (
        "dst_port",
        "dest_port",
        "destination_port",
        "dport",
        "dp",
        "dstport",
        "l4_dst_port",
        "destination_transport_port",
        "id_resp_p",
    ),
    "protocol": ("protocol", "proto", "pr", "prot", "protocol_identifier", "ip_protocol"),
    "verdict": ("action", "verdict", "disposition", "firewall_action", "policy_action", "decision"),
    "status": ("log_status",),
    "event": ("event_type",),
    "exporter": (
        "exporter",
        "router",
        "exporter_address",
        "exporter_addr",
        "exporter_ip",
        "router_address",
        "router_ip",
        "ra",
        "sampler_address",
        "observation_point",
        "observation_point_id",
        "observer",
        "sensor",
        "interface_id",
    ),
    "sampling": (
        "sampling",
        "sampling_rate",
        "sample_rate",
        "sampling_interval",
        "sampling_packet_interval",
        "sampler_interval",
        "sampler_random_interval",
        "sample_interval",
        "samplerate",
        "samplingrate",
    ),
    "group": ("group", "flow_group"),
}
"""Role -> usual names."""
_UNITS = re.compile(
    r"_(s|secs?|seconds?|ms|msec|millis|milliseconds?|us|usec|micros|microseconds?|ns|nsec|nanos|"
    r"nanoseconds?|ps|picoseconds)$"
)
EXAMPLE = "--columns start=ts:ms,src=src_ip,dst=dst_ip,bytes=octets"


@dataclass(frozen=True)
class Column:
    """A column of the trace."""

    name: str
    unit: str | None = None
    """Where it was given with `--columns`."""
    given: bool = False


def plain(name: str) -> str:
    """A column's name in lower case with underscores."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def map_columns(found: Sequence[str], given: str | None = None) -> dict[str, Column]:
    """Role -> column. Raises UsageError for a role that is needed and not there."""
    roles = _given(found, given) if given else {}
    taken = {column.name for column in roles.values()}
    by_name: dict[str, str] = {}
    for column in found:
        if column not in taken:
            by_name.setdefault(plain(column), column)
    for column in found:
        short = _UNITS.sub("", plain(column))
        if column not in taken and unit_of_name(column):
            by_name.setdefault(short, column)
    for role, names in NAMES.items():
        if role in roles:
            continue
        name = next((by_name[name] for name in names if name in by_name), None)
        if name is not None and (role in TIMES or unit_of_name(name) is None):
            roles[role] = Column(name)
    for role, what in (
        ("start", "the time at which a flow starts"),
        ("src", "the sender's address"),
        ("dst", "the receiver's address"),
    ):
        if role not in roles:
            raise _missing(role, what, found)
    if "bytes" not in roles and "packets" not in roles:
        raise _missing("bytes", "a flow's size (or packets)", found)
    return roles


def _missing(role: str, what: str, found: Sequence[str]) -> UsageError:
    plains = {plain(name): name for name in found}
    near = [
        plains[close]
        for name in NAMES[role]
        for close in difflib.get_close_matches(name, plains, n=1, cutoff=0.75)
    ]
    example = f"--columns {role}={shown(near[0])}" if near else EXAMPLE
    hint = f"did you mean {example}?" if near else f"name it, such as {example}"
    return UsageError(
        f"columns: {shown(', '.join(found))} is invalid; expected one that holds {role}, {what}; "
        f"{hint}"
    )


def _given(found: Sequence[str], text: str) -> dict[str, Column]:
    roles: dict[str, Column] = {}
    for part in text.split(","):
        role, equals, name = (word.strip() for word in part.partition("="))
        if not equals or not name:
            raise UsageError(
                f"--columns: {shown(part)} is invalid; expected ROLE=COLUMN, such as {EXAMPLE}"
            )
        if role not in NAMES:
            near = difflib.get_close_matches(role, NAMES, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(
                f"--columns: {shown(role)} is invalid; expected one of {', '.join(NAMES)}{hint}"
            )
        if role in roles:
            raise UsageError(f"--columns: {role} is given twice; expected each role once")
        roles[role] = _column(role, name, found)
    return roles


def _column(role: str, name: str, found: Sequence[str]) -> Column:
    unit = None
    if name not in found and ":" in name:
        name, _, unit = name.rpartition(":")
        if role in TIMES:
            unit = time_unit(unit, f"--columns: {role}")
        elif role in ("bytes", "reply_bytes"):
            if unit.lower() not in BYTE_UNITS:
                raise UsageError(
                    f"--columns: {role}: {shown(unit)} is invalid; expected B, KB, MB, GB, KiB, MiB"
                )
        else:
            raise UsageError(
                f"--columns: {role}: {shown(unit)} is invalid; expected no unit for {role}"
            )
    if name not in found:
        near = difflib.get_close_matches(name, found, n=1)
        hint = f"; did you mean {shown(near[0])}?" if near else ""
        raise UsageError(
            f"--columns: {role}: {shown(name)} is invalid; expected a column of the trace: "
            f"{shown(', '.join(found))}{hint}"
        )
    return Column(name, unit, given=True)

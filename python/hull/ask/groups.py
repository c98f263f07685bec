"""Named groups of flows: `backups=src:10.2.0.0/16`, `rpc=bytes<10KB`.

A group is a name, `=`, and conditions joined by `&`, all of which hold: `src:`, `dst:` or `host:`
(either end) with an address, a prefix or a host's name; `port:` (either end), `src_port:` or
`dst_port:` with a number or range; `bytes` with `<`, `<=`, `>`, `>=` and a size. The first group
that a flow fits is its group; flows of none are "other". The grammar of `[groups]` in a scenario
(crates/hull-sim/src/workload/group_conditions.rs) is the same, with hosts for addresses and without
ports.
"""

import ipaddress
import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from hull import _core
from hull.ask.addresses import network, parsed
from hull.errors import UsageError, shown
from hull.results.registry import NO_GROUP

if TYPE_CHECKING:
    import polars as pl

_FORM = "NAME=CONDITION, such as backups=src:10.2.0.0/16 or rpc=bytes<10KB&port:443"
_MOST_GROUPS = 1000
_LONGEST_LABEL = 100
_NAME = re.compile(r"[A-Za-z][\w-]{0,39}")
_BYTES = re.compile(r"bytes\s*(<=|>=|<|>)\s*(.+)")
_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
_ENDS = {
    "src": ("src_address",),
    "dst": ("dst_address",),
    "host": ("src_address", "dst_address"),
}
_PORT_ENDS = {
    "src_port": ("src_port",),
    "dst_port": ("dst_port",),
    "port": ("src_port", "dst_port"),
}
_COMPARE: "dict[str, Callable[[pl.Expr, int], pl.Expr]]" = {
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
}


def label(flows: "pl.DataFrame", texts: Sequence[str]) -> "pl.DataFrame":
    """Flows with a column `group`; a flow in no group keeps the trace's label, or is "other"."""
    import polars as pl

    own = pl.lit(NO_GROUP)
    if "group" in flows.columns:
        # An empty label is none, as in a flow list.
        own = pl.col("group").replace("", NO_GROUP).fill_null(NO_GROUP)
    rules = [_rule(text, flows) for text in texts]
    names = [name for name, _ in rules]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--group: {name} is given twice; expected each name once")
    group = own
    for name, condition in reversed(rules):
        group = pl.when(condition.fill_null(False)).then(pl.lit(name)).otherwise(group)
    labelled = flows.with_columns(group.alias("group"))
    found = set(labelled.get_column("group").unique())
    _check_labels(found)
    for name, text in zip(names, texts, strict=True):
        if name not in found:
            raise UsageError(
                f"--group: {shown(text)} fits none of {flows.height:,} flows; expected a group "
                "with flows (the first group that fits counts)"
            )
    return labelled


def _check_labels(labels: Collection[str]) -> None:
    """Refuse labels of the trace that a flow list cannot have."""
    if len(labels) > _MOST_GROUPS:
        raise UsageError(
            f"column group: {len(labels):,} different labels are invalid; expected at most "
            f"{_MOST_GROUPS:,}"
        )
    for label in sorted(labels):
        if len(label) > _LONGEST_LABEL or not label.isprintable():
            raise UsageError(
                f"column group: {shown(label)} is invalid; expected at most {_LONGEST_LABEL} "
                "characters that can be seen"
            )


def _rule(text: str, flows: "pl.DataFrame") -> "tuple[str, pl.Expr]":
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not equals or not rest.strip():
        raise UsageError(f"--group: {shown(text)} is invalid; expected {_FORM}")
    if not _NAME.fullmatch(name) or name == NO_GROUP:
        raise UsageError(
            f"--group: the name {shown(name)} is invalid; expected letters, digits, - and _, at "
            f"most 40, and not {NO_GROUP}"
        )
    conditions = [_condition(part.strip(), text, flows) for part in rest.split("&")]
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = whole & condition
    return name, whole


def _condition(part: str, text: str, flows: "pl.DataFrame") -> "pl.Expr":
    import polars as pl

    compared = _BYTES.fullmatch(part)
    if compared:
        try:
            size = int(_core.quantity("size", compared[2].replace(" ", "")))
        except ValueError:
            raise UsageError(
                f"--group: {shown(compared[2])} in {shown(text)} is invalid; expected a size, such "
                "as 10KB"
            ) from None
        return _COMPARE[compared[1]](pl.col("bytes"), size)
    key, colon, value = part.partition(":")
    key, value = key.strip(), value.strip()
    if colon and value and key in _ENDS:
        return _either([_addresses(flows, column, value, text) for column in _ENDS[key]])
    if colon and value and key in _PORT_ENDS:
        return _either([_ports(flows, column, value, text) for column in _PORT_ENDS[key]])
    raise UsageError(
        f"--group: {shown(part)} in {shown(text)} is invalid; expected src:, dst:, host: with an "
        "address or prefix, port:, src_port:, dst_port: with a number, or bytes with <, <=, >, >="
    )


def _either(conditions: "list[pl.Expr]") -> "pl.Expr":
    import polars as pl

    return pl.any_horizontal(conditions)


def _addresses(flows: "pl.DataFrame", column: str, value: str, text: str) -> "pl.Expr":
    import polars as pl

    unique = flows.get_column(column).unique().to_list()
    if value in unique:
        same = parsed(value)
        fit = [
            address for address in unique if address == value or (same and parsed(address) == same)
        ]
    else:
        net = network(value, f"--group: {shown(text)}")
        fit = [address for address in unique if _inside(parsed(address), net)]
    return pl.col(column).is_in(fit)


def _inside(
    ip: "ipaddress.IPv4Address | ipaddress.IPv6Address | None",
    net: "ipaddress.IPv4Network | ipaddress.IPv6Network",
) -> bool:
    return ip is not None and ip.version == net.version and ip in net


def _ports(flows: "pl.DataFrame", column: str, value: str, text: str) -> "pl.Expr":
    import polars as pl

    if column not in flows.columns:
        raise UsageError(
            f"--group: {shown(text)} needs ports, which the trace does not have; expected a column "
            f"{column} (--columns {column}=COLUMN)"
        )
    match = _PORTS.fullmatch(value)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 65536)
    if not match or low > high or high > 65535:
        raise UsageError(
            f"--group: {shown(value)} in {shown(text)} is invalid; expected a port or a range, "
            "such as 443 or 8000-8999"
        )
    return pl.col(column).is_between(low, high)

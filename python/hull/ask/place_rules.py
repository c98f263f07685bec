"""Places that are given: a table of addresses, or prefixes.

Prefixes: `PREFIX=HOSTS`, where HOSTS are numbers (`0-19` or `0,2,5-7`) or `rack:1`; `;` separates
rules, and the longest prefix that matches an address counts. A table is a CSV with the columns
address and host (a number or name), or address and rack (a number). Racks and ranges are filled in
the order of the addresses; addresses beyond the last host begin again at the first.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hull.ask.addresses import Address, Ip, Network, network, parsed
from hull.ask.counts import counted
from hull.errors import UsageError, reason_of, shown
from hull.files.input_file import read_text

_FORM = "PREFIX=HOSTS, such as 10.1.0.0/24=0-19 or 10.1.0.0/24=rack:1"


@dataclass(frozen=True)
class Places:
    """Hosts of addresses."""

    kind: str
    host_of: dict[str, int]
    """Address in the trace's spelling -> host, without addresses outside."""
    how: str
    guessed: tuple[str, ...] = ()


def by_prefixes(
    rules: Sequence[str], addresses: Sequence[Address], racks: Sequence[Sequence[int]]
) -> Places:
    """Addresses by the longest prefix that has them."""
    read = [_rule(text, racks) for rule in rules for text in rule.split(";") if text.strip()]
    by_length = sorted(read, key=lambda rule: -rule[0].prefixlen)
    held: dict[int, list[Address]] = {index: [] for index in range(len(by_length))}
    for address in addresses:
        for index, (net, _) in enumerate(by_length):
            if address.ip is not None and address.ip.version == net.version and address.ip in net:
                held[index].append(address)
                break
    host_of: dict[str, int] = {}
    guessed: list[str] = []
    for index, (net, hosts) in enumerate(by_length):
        _fill(sorted(held[index], key=lambda a: a.order), hosts, f"in {net}", host_of, guessed)
    how = f"Addresses are placed by {counted(len(read), 'prefix', 'prefixes')}."
    return Places("prefix", host_of, how, tuple(guessed))


def _rule(text: str, racks: Sequence[Sequence[int]]) -> tuple[Network, list[int]]:
    prefix, equals, hosts = text.strip().partition("=")
    if not equals:
        raise UsageError(f"--place: {shown(text)} is invalid; expected {_FORM}")
    return network(prefix, "--place"), _hosts(hosts.strip(), racks)


def _hosts(text: str, racks: Sequence[Sequence[int]]) -> list[int]:
    known = {host for rack in racks for host in rack}
    kind, colon, rest = text.partition(":")
    if colon:
        if kind.strip() in ("rack", "leaf") and rest.strip().isdecimal():
            rack = int(rest)
            if rack < len(racks):
                return list(racks[rack])
            last = len(racks) - 1
            raise UsageError(f"--place: rack {rack} is invalid; expected a rack from 0 to {last}")
        raise UsageError(f"--place: {shown(text)} is invalid; expected {_FORM}")
    found: list[int] = []
    for part in text.split(","):
        first, dash, last_text = (word.strip() for word in part.partition("-"))
        if not first.isdecimal() or (dash and not last_text.isdecimal()):
            raise UsageError(f"--place: {shown(text)} is invalid; expected {_FORM}")
        low, high = int(first), int(last_text or first)
        for host in (low, high):
            if host not in known:
                raise UsageError(
                    f"--place: host {host} is invalid; expected a host from {min(known)} to "
                    f"{max(known)}"
                )
        if high < low:
            raise UsageError(f"--place: {part} is invalid; expected the lower host first")
        found += [host for host in range(low, high + 1) if host in known]
    return found


def by_table(
    path: Path,
    addresses: Sequence[Address],
    racks: Sequence[Sequence[int]],
    names: Mapping[str, int],
) -> Places:
    """Addresses by the rows of a CSV."""
    rows, to_rack = _rows(path)
    known = {host for rack in racks for host in rack}
    of_key: dict[Ip | str, int] = {}
    in_rack: dict[int, list[Ip | str]] = {}
    for line, (text, place) in rows:
        key = parsed(text) or text
        if key in of_key or any(key in keys for keys in in_rack.values() if to_rack):
            raise UsageError(f"{path}: line {line}: {shown(text)} is given twice; expected once")
        value = int(place) if place.isdecimal() else names.get(place, -1)
        if to_rack:
            if not 0 <= value < len(racks):
                raise _wrong(path, line, "rack", place, len(racks) - 1)
            in_rack.setdefault(value, []).append(key)
        else:
            if value not in known:
                raise _wrong(path, line, "host", place, max(known))
            of_key[key] = value
    seen: dict[Ip | str, list[Address]] = {}
    for address in addresses:
        seen.setdefault(address.ip or address.text, []).append(address)
    host_of: dict[str, int] = {}
    guessed: list[str] = []
    for rack, keys in in_rack.items():
        # Addresses of the table that the trace does not have take no host.
        there = [seen[key][0] for key in keys if key in seen]
        _fill(there, list(racks[rack]), f"in rack {rack}", host_of, guessed)
    for key, same in seen.items():
        for address in same:
            if key in of_key:
                host_of[address.text] = of_key[key]
            elif same[0].text in host_of:
                host_of[address.text] = host_of[same[0].text]
    unseen = sum(parsed(text) not in seen and text not in seen for _, (text, _) in rows)
    if unseen:
        said = counted(unseen, "address", "addresses")
        guessed.append(f"{said} of the table {'is' if unseen == 1 else 'are'} not in the trace.")
    how = f"Addresses are placed by the table {path.name}."
    return Places("table", host_of, how, tuple(guessed))


def _wrong(path: Path, line: int, kind: str, place: str, last: int) -> UsageError:
    return UsageError(
        f"{path}: line {line}, column {kind}: {shown(place)} is invalid; expected a {kind} from 0 "
        f"to {last}"
    )


def _rows(path: Path) -> tuple[list[tuple[int, tuple[str, str]]], bool]:
    try:
        text = read_text(path, 100_000_000)
    except (OSError, ValueError) as error:
        raise UsageError(f"--place: {path}: {reason_of(error)}") from None
    lines = csv.reader(text.removeprefix("\ufeff").splitlines())
    found = [
        (number, [cell.strip() for cell in cells])
        for number, cells in enumerate(lines, start=1)
        if cells and not cells[0].startswith("#")
    ]
    header = [cell.lower() for cell in found[0][1]] if found else []
    place = next((name for name in ("host", "rack") if name in header), None)
    if "address" not in header or place is None:
        raise UsageError(
            f"{path}: header: {shown(','.join(header))} is invalid; expected address,host or "
            "address,rack"
        )
    rows = []
    for number, cells in found[1:]:
        if len(cells) != len(header):
            raise UsageError(
                f"{path}: line {number}: {shown(','.join(cells))} is invalid; expected "
                f"{counted(len(header), 'cell')}"
            )
        rows.append((number, (cells[header.index("address")], cells[header.index(place)])))
    return rows, place == "rack"


def _fill(
    addresses: Sequence[Address],
    hosts: Sequence[int],
    where: str,
    host_of: dict[str, int],
    guessed: list[str],
) -> None:
    for index, address in enumerate(addresses):
        host_of[address.text] = hosts[index % len(hosts)]
    if len(addresses) > len(hosts):
        guessed.append(
            f"{counted(len(addresses), 'address', 'addresses')} {where} share "
            f"{counted(len(hosts), 'host')}."
        )

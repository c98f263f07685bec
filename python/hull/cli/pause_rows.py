"""The pauses of a scenario: XOFF, XON and headroom by kind of port, for `hull check`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from hull import _core
from hull.runs.plan import Cell
from hull.warnings.marking import rate_text, size_text, time_text

_TERMS = (
    ("wait_ps", "a packet of its own"),
    ("frame_ps", "the pause frame"),
    ("frame_delay_ps", "its delay"),
    ("reaction_ps", "the peer's reaction"),
    ("peer_packet_ps", "a packet of the peer"),
    ("data_delay_ps", "its delay"),
)
"""Times that a headroom covers, and their names."""
_PS = 1e-12


def pauses_of(cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """The kinds of ports that pause, each set with its schemes and with what decides it."""
    found: dict[str, dict[str, Any]] = {}
    for cell in cells:
        pfc = cell.scenario["switch"].get("pfc")
        if pfc is None:
            continue
        kinds = json.loads(cell.resolved.pauses())
        decided = _decided(cell.scenario["switch"], pfc)
        key = json.dumps([kinds, decided])
        entry = found.setdefault(key, {"schemes": [], **decided, "kinds": kinds})
        if cell.scheme and cell.scheme not in entry["schemes"]:
            entry["schemes"].append(cell.scheme)
    return list(found.values())


def pause_rows(entries: Iterable[Mapping[str, Any]], schemes: int) -> Iterator[tuple[str, str]]:
    """Labels and texts for what `pauses_of` returns, of a plan with this number of schemes."""
    for entry in entries:
        of = entry["schemes"]
        suffix = f" ({', '.join(of)})" if of and len(of) < schemes else ""
        for kind in entry["kinds"]:
            sizes = (size_text(kind[f"{name}_bytes"]) for name in ("xoff", "xon", "headroom"))
            xoff, xon, headroom = sizes
            yield (
                "pauses",
                f"{kind['tiers']}, {kind['ports']} at {rate_text(kind['rate_bps'])}: "
                f"XOFF {xoff}, XON {xon}, headroom {headroom}{suffix}",
            )
            terms = kind["terms"]
            shown = (f"{time_text(terms[key] * _PS)} {name}" for key, name in _TERMS if terms[key])
            total = time_text(sum(terms.values()) * _PS)
            yield (
                "headroom",
                f"{kind['tiers']}: {size_text(kind['computed_bytes'])} for a packet and "
                f"{' + '.join(shown)} = {total}",
            )
        yield "pauses", f"XOFF by {entry['xoff_by']}; headroom {entry['headroom_by']}{suffix}"
        if entry["reaction_is_default"]:
            yield (
                "headroom",
                f"switch.pfc.reaction = {entry['reaction']} is hull's default and of no standard: "
                "set what your NICs and switches state",
            )


def _decided(switch: Mapping[str, Any], pfc: Mapping[str, Any]) -> dict[str, Any]:
    """What decides XOFF and the headroom, and the peer's reaction."""
    if "xoff" in pfc:
        xoff_by = f"switch.pfc.xoff = {pfc['xoff']}"
    elif "alpha" in pfc:
        xoff_by = f"switch.pfc.alpha = {pfc['alpha']}, alone in the switch's memory"
    elif "memory" in switch:
        xoff_by = "the default alpha, 12.5%, alone in the switch's memory"
    else:
        xoff_by = "default: computed headroom and hysteresis"
    headroom_by = "as computed"
    if "headroom" in pfc:
        headroom_by = f"by switch.pfc.headroom = {pfc['headroom']}"
    elif pfc["rules"] != "802.1q":
        headroom_by = f"by switch.pfc.rules = {pfc['rules']}"
    return {
        "xoff_by": xoff_by,
        "headroom_by": headroom_by,
        "reaction": pfc["reaction"],
        "reaction_is_default": pfc["reaction"] == _default_reaction(),
    }


@cache
def _default_reaction() -> str:
    rows = json.loads(_core.keys())
    return next(str(row["default"]) for row in rows if row["key"] == "switch.pfc.reaction")

"""A document's claims as a table, and figures embedded in a page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hull.experiments.common.claims import (
    BOUND_WORDS,
    CAUSE_WORDS,
    KIND_WORDS,
    STATE_WORDS,
    headline,
)
from hull.report.tables import boxed_table

_HEAD = ("Claim", "Source", "Kind", "Bound", "Measured here", "Holds", "Over seeds")


def claims_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """A row per claim: statement, source, kind, bound, measured value and verdict; if it does not
    hold, what was tried to find the cause and the commands that show it."""
    rows = "".join(_row(claim) for claim in claims)
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    table = boxed_table(headline(claims), f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>")
    words = " ".join((KIND_WORDS, BOUND_WORDS, STATE_WORDS, CAUSE_WORDS))
    return f'<div class="claims">{table}</div><p>{words}</p>'


def inline_image(path: Path, alt: str) -> str:
    """A PNG as an HTML image with its data in the page."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img class="figure" alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def _row(claim: Mapping[str, Any]) -> str:
    why = "" if claim["holds"] else _tried(claim)
    verdict = '<td class="holds">yes</td>' if claim["holds"] else '<td class="high">no</td>'
    seeds = f"<td>{escape(claim['state'])}</td>"
    cells = "".join(
        f"<td>{escape(claim[key])}</td>" for key in ("source", "kind", "bound", "measured")
    )
    return f'<tr><th scope="row">{escape(claim["claim"])}{why}</th>{cells}{verdict}{seeds}</tr>'


def _tried(claim: Mapping[str, Any]) -> str:
    cause = f"Cause: {claim['cause']}. " if claim.get("cause") else ""
    text = f"<p>{escape(cause + claim['tried'])}</p>" if claim["tried"] else ""
    commands = "<br>".join(f"<code>{escape(command)}</code>" for command in claim["shown_by"])
    return text + (f"<p>Shown by: {commands}</p>" if commands else "")

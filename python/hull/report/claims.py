"""Claims of a document as a table, and its figure inside the page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hull.report.tables import boxed_table


def claims_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """A row for each claim: source, statement, what was measured, whether it holds; where it does
    not, what was tried to find out why."""
    rows = "".join(_row(claim) for claim in claims)
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("Claim", "Source", "Measured here", "Holds")
    )
    holding = sum(claim["holds"] for claim in claims)
    table = boxed_table(
        f"{holding} of {len(claims)} claims hold",
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>",
    )
    return f'<div class="claims">{table}</div>'


def inline_image(path: Path, alt: str) -> str:
    """A PNG inside the page."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img class="figure" alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def _row(claim: Mapping[str, Any]) -> str:
    why = f"<p>{escape(claim['tried'])}</p>" if claim["tried"] and not claim["holds"] else ""
    verdict = '<td class="holds">yes</td>' if claim["holds"] else '<td class="high">no</td>'
    return (
        f'<tr><th scope="row">{escape(claim["claim"])}{why}</th><td>{escape(claim["source"])}</td>'
        f"<td>{escape(claim['measured'])}</td>{verdict}</tr>"
    )

"""Settings stated in the source, beside the resolved scenario's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from hull.report.tables import boxed_table


def stated_table(settings: Sequence[Mapping[str, str]]) -> str:
    """A row per setting: stated value, its place, hull's value and the reason for a difference."""
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("Setting", "Stated", "Where", "hull")
    )
    differ = sum(bool(setting["deviates"]) for setting in settings)
    table = boxed_table(
        f"{len(settings)} settings, {differ} deliberately different",
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, settings))}</tbody>",
    )
    return f'<div class="claims">{table}</div>'


def _row(setting: Mapping[str, str]) -> str:
    why = f"<p>{escape(setting['deviates'])}</p>" if setting["deviates"] else ""
    style = ' class="high"' if setting["deviates"] else ""
    return (
        f'<tr><th scope="row">{escape(setting["setting"])}{why}</th>'
        f"<td>{escape(setting['stated'])}</td><td>{escape(setting['source'])}</td>"
        f"<td{style}>{escape(setting['resolved'])}</td></tr>"
    )

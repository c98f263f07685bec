"""Sections that an experiment adds to report.html, from its summary and its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hull.experiments.common.claims_table import claims_table, inline_image
from hull.experiments.common.published_tables import published_tables
from hull.experiments.common.stated_table import stated_table
from hull.report.page import Section
from hull.report.schemes import Looks

_WORDS_COMPLETION = {
    "delivered": "<p>Completion times end when the receiving application has the last byte.</p>",
    "acked": "<p>Completion times end when the sender has the acknowledgment of the last byte, as "
    "in the source.</p>",
}
_WORDS_RATIO = (
    "<p>Ratio is measured ÷ published. Cells off by more than a factor of 2 are shaded "
    "and marked ▲ or ▼. ± is the half width of the 95% confidence interval over seeds.</p>"
)


def sections(folder: Path, summary: Mapping[str, Any], looks: Looks) -> list[Section]:
    """Figure, claims, stated settings and comparison, each where there is one."""
    found: list[Section] = []
    if (image := folder / "figure.png").exists():
        alt = f"The figure of {summary['experiment']['source']}, reproduced"
        found.append(Section("figure", "Figure", inline_image(image, alt)))
    if claims := summary.get("claims"):
        found.append(Section("claims", "Claims", claims_table(claims)))
    if settings := summary.get("stated"):
        found.append(Section("stated", "Settings stated in the source", stated_table(settings)))
    if rows := summary.get("comparison"):
        ends = _WORDS_COMPLETION.get(summary.get("experiment", {}).get("completion"), "")
        tables = f"{_WORDS_RATIO}{ends}{published_tables(rows, looks)}"
        found.append(Section("published", "Published beside measured", tables))
    return found

"""A page as a document: one file with its data, style and script inside.

The Vega libraries come out of vl-convert, so that neither writing nor opening needs a network;
the document's Content-Security-Policy forbids it to load anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from hull.report.charts import Chart
from hull.report.library import vega_library
from hull.report.schemes import Scheme
from hull.report.tables import swatch

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)


def document(title: str, body: str, charts: Sequence[Chart]) -> str:
    """Return the whole file. `figures` makes the places of `charts` in the HTML of `body`."""
    specs = json.dumps([chart.spec for chart in charts], separators=(",", ":"), ensure_ascii=False)
    specs = specs.replace("<", "\\u003c")
    assets = files("hull.report")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(title)}</title>
<style>{(assets / "page.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<main>
{body}
</main>
<noscript><p>The charts need JavaScript; the tables hold the same results.</p></noscript>
<script type="application/json" id="charts">{specs}</script>
<script>{vega_library()}</script>
<script>{(assets / "page.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""


def figures(chosen: list[Chart], charts: list[Chart]) -> str:
    """Add the charts `chosen` to the page's `charts` and return the HTML of their places."""
    text = ""
    for chart in chosen:
        text += (
            f"<figure><figcaption>{escape(chart.title)}</figcaption>"
            f'<div class="chart" data-chart="{len(charts)}" role="img" '
            f'aria-label="{escape(chart.alt)}"></div></figure>'
        )
        charts.append(chart)
    return f'<div class="figures">{text}</div>'


def key_of(shown: list[Scheme]) -> str:
    """The colours of schemes, as a list."""
    items = "".join(f"<li>{swatch(scheme)} {escape(scheme.label)}</li>" for scheme in shown)
    return f'<ul class="key" aria-label="Colours of the schemes">{items}</ul>'

"""Start page of several experiments: one row each, with links to its page and figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from hull.experiments.common.claims import (
    BOUND_WORDS,
    KIND_WORDS,
    KINDS,
    STATE_WORDS,
    counts,
    headline,
)
from hull.experiments.common.published_tables import deviation
from hull.report.labels import NO_VALUE
from hull.report.tables import boxed_table

if TYPE_CHECKING:
    from hull.experiments.common.experiment import Experiment
    from hull.result import Result

_HEAD = (
    *("Experiment", "Source"),
    *(f"{kind.capitalize()}: hold" for kind in KINDS),
    *("Do not hold", "Worst ratio", "Typical factor"),
)
_WORDS = (
    f"<p>{KIND_WORDS} {BOUND_WORDS} {STATE_WORDS}</p>"
    "<p>Worst ratio: of all published numbers, the one farthest from the measured value, as "
    "measured ÷ published. Typical factor: geometric mean of max(ratio, 1 ÷ ratio) over all "
    "published numbers of the experiment. Each experiment's page lists all numbers and claims, and "
    "for each claim that does not hold what was tried to explain it.</p>"
)


def start_page(chosen: Sequence[tuple[Experiment, Result]], size: str) -> str:
    """The page as HTML; it loads only the figures beside it."""
    claims = [claim for _, result in chosen for claim in result.summary["claims"]]
    rows = "".join(_row(experiment, result) for experiment, result in chosen)
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    table = boxed_table(headline(claims), f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>")
    pictures = "".join(_picture(experiment) for experiment, _ in chosen)
    style = (files("hull.report") / "page.css").read_text(encoding="utf-8")
    versions = ", ".join(sorted({result.summary["hull_version"] for _, result in chosen}))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:">
<title>hull: reproduction of the documents' results</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>Reproduction of the documents' results</h1>
<p>hull {escape(versions)}, the {escape(size)} form of {len(chosen)} experiments.</p>
<div class="claims">{table}</div>
{_WORDS}
<p><a href="claims.json">claims.json</a> and <a href="comparison.json">comparison.json</a> hold the
same as data; the folder <code>figures</code> has every figure as PDF and PNG.</p>
<div class="figures">{pictures}</div>
</main>
</body>
</html>
"""


def _row(experiment: Experiment, result: Result) -> str:
    claims = result.summary["claims"]
    failing = [claim for claim in claims if not claim["holds"]]
    rows = [row for row in result.summary["comparison"] if row["ratio"] is not None]
    positive = [row for row in rows if row["ratio"] > 0]
    worst = max(positive, key=lambda row: max(row["ratio"], 1 / row["ratio"]), default=None)
    name = escape(experiment.id)
    missing = "<br>".join(escape(claim["claim"]) for claim in failing)
    held = "".join(
        f"<td>{f'{holding} of {of}' if of else NO_VALUE}</td>"
        for holding, of in counts(claims).values()
    )
    spread = deviation(rows)
    described = NO_VALUE
    if worst is not None:
        where = ", ".join(
            str(worst[key]) for key in ("condition", "scheme", "metric", "statistic") if worst[key]
        )
        described = f"{worst['ratio']:.2f}<br><small>{escape(where)}</small>"
    return (
        f'<tr><th scope="row"><a href="{name}.html">{name}</a><br>'
        f"<small>{escape(experiment.title)}</small></th><td>{escape(experiment.source)}</td>"
        f"{held}<td{' class=high' if failing else ''}>{missing}</td><td>{described}</td>"
        f"<td>{NO_VALUE if spread is None else f'{spread:.2f}'}</td></tr>"
    )


def _picture(experiment: Experiment) -> str:
    name = escape(experiment.id)
    return (
        f'<figure><figcaption><a href="{name}.html">{name}</a></figcaption>'
        f'<a href="{name}.html"><img class="figure" loading="lazy" src="figures/{name}.png" '
        f'alt="Figure of {escape(experiment.source)}"></a></figure>'
    )

"""Sphinx settings. The tables of keys, statistics and columns and the gallery's pages are made
here, from what hull itself uses and from docs/gallery/record.json."""

import json
import shutil
import sys
from pathlib import Path
from typing import get_args

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from hull import __version__, _core
from hull.columns import COLUMNS
from hull.experiments import all_experiments
from hull.experiments.common.claims import (
    BOUND_WORDS,
    KIND_WORDS,
    KINDS,
    UNSHIPPED,
    Bound,
    counts,
    headline,
)
from hull.experiments.common.stated import beside, rows
from hull.registry import STATISTICS
from hull.terminal import STATISTIC_COLUMNS, key_row, statistic_row

project = "hull"
copyright = "the hull authors"
version = release = __version__

sys.path.insert(0, str(Path(__file__).parent))
extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
exclude_patterns = ["_build", "generated"]

# Every reference must lead somewhere. The types of other packages have their pages elsewhere.
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"(collections\.abc|numpy|pathlib|pl|polars)\..*"),
    ("py:class", r"Ack|Figure|Path|Window|hull\.(plan\.Plan|scenario_types\..*)"),
]

html_theme = "furo"
html_title = f"hull {__version__}"
html_static_path = ["_static"]
html_css_files = ["hull.css"]
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}

toc_object_entries = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"

DOCS = Path(__file__).parent
GALLERY = (
    ("The HULL paper", ("paper", "slides")),
    ("The EPFL report", ("report",)),
    ("The thesis: DCTCP", ("thesis 1", "thesis 2")),
    ("The thesis: theory of DCTCP", ("thesis 3", "thesis appendix")),
    ("The thesis: QCN, RCP and averaging", ("thesis 5",)),
    ("Ultra Ethernet, Uno, L4S", ("uet", "Uno", "L4S")),
    ("Other sources", ("",)),
)
"""Headings, and how the sources below each begin; an experiment is below the first that fits."""


def _cell(value):
    text = "" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _keys():
    """The keys of a scenario, a heading and a table for each of its tables."""
    tables = {}
    for keys in map(key_row, json.loads(_core.keys())):
        key, type_, example, default, meaning = keys
        table = key.split(".")[0].split("[")[0] if "." in key else "The file itself"
        kind = f"*{type_}, as `{example}`*" if example else f"*{type_}*"
        tables.setdefault(table, []).append((f"`{key}`", default, f"{meaning} {kind}"))
    sections = [
        f"### {table}\n\n:::{{container}} keys\n{_table(['key', 'default', 'meaning'], rows)}:::\n"
        for table, rows in tables.items()
    ]
    return "\n".join(sections)


def _statistics():
    """The registry of statistics."""
    rows = [(f"`{key}`", *others) for key, *others in map(statistic_row, STATISTICS)]
    return _table(STATISTIC_COLUMNS, rows)


def _judged(id_, entry):
    """The claims of an experiment as the record has them, with kind and bound as they are now."""
    return [
        {"kind": claim.kind, "bound": claim.bound, "holds": entry["claims"][claim.id]}
        for claim in all_experiments()[id_].claims
    ]


def _card(id_, entry):
    title = all_experiments()[id_].title
    size = "" if entry["size"] == "full" else " (short run)"
    return f""":::{{container}} card
[![{title}](gallery/{id_}.webp)](experiments/{id_}.md)

[{id_}](experiments/{id_}.md): {title}

*{headline(_judged(id_, entry))}{size}*
:::
"""


def _gallery(record):
    """The gallery's cards with the experiments' pages, and its numbers as a table."""
    cards, rows, everything = [], [], []
    left = dict(all_experiments())
    for heading, beginnings in GALLERY:
        ids = [id_ for id_, found in left.items() if found.source.startswith(beginnings)]
        if not ids:
            continue
        left = {id_: found for id_, found in left.items() if id_ not in ids}
        below = "".join(_card(id_, record[id_]) for id_ in ids)
        cards.append(f"## {heading}\n\n::::{{container}} cards\n{below}::::\n")
        judged = [claim for id_ in ids for claim in _judged(id_, record[id_])]
        rows.append((heading, len(ids), *_held(judged)))
        everything += judged
    rows.append(("all", len(record), *_held(everything)))
    by_source = _table(["source", "experiments", *KINDS], rows)
    bounds = [
        (bound, *_held([claim for claim in everything if claim["bound"] == bound]))
        for bound in get_args(Bound)
    ]
    by_bound = _table(["bound", *KINDS], bounds)
    counted = f"{headline(everything)}.\n\n"
    said = f"{KIND_WORDS}\n\n{by_source}\n{BOUND_WORDS}\n\n{by_bound}"
    pages = "\n".join(f"experiments/{id_}" for id_ in all_experiments())
    cards.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n")
    return counted + "\n".join(cards), counted + said


def _held(judged):
    """One cell for each kind: how many hold, of how many."""
    return [f"{holding} of {of}" if of else "" for holding, of in counts(judged).values()]


def _stated(experiment):
    """The settings that the source states for an experiment, beside the scenario's."""
    plans = {size: experiment.plan(size, None).cells for size in ("quick", "full")}
    sizes = [(stated, stated.sizes[-1]) for stated in experiment.stated]
    found = [c for stated, size in sizes for c in beside([stated], plans[size], size)]
    lines = [
        (
            row["setting"] + (" (quick form)" if size == "quick" else ""),
            row["stated"],
            row["source"],
            f"{row['resolved']}: {row['deviates']}" if row["deviates"] else row["resolved"],
        )
        for row, (_, size) in zip(rows(found), sizes, strict=True)
    ]
    return (
        "\n## Settings stated in the source\n\nThe tests compare each with every cell of the "
        "experiment, quick and full.\n\n:::{container} keys\n"
        + _table(["setting", "stated", "where", "hull"], lines)
        + ":::\n"
    )


def _append_stated(app, docname, source):
    """The pages of experiments end with the settings that their source states."""
    experiment = all_experiments().get(docname.removeprefix("experiments/"))
    if docname.startswith("experiments/") and experiment is not None and experiment.stated:
        source[0] += _stated(experiment)


class IndexedNames(SphinxTransform):
    """The site's search finds the names that tables define: keys, statistics, columns, options."""

    default_priority = 400  # Before the index is collected.
    pages = ("scenario", "results", "command_line", "sweeps")

    def apply(self):
        if self.env.docname not in self.pages:
            return
        for body in self.document.findall(nodes.tbody):
            for row in body.findall(nodes.row):
                first = next(row.findall(nodes.literal), None)
                cell = first and first.parent
                if cell and cell.parent.parent is row and row.index(cell.parent) == 0:
                    self._index(cell, first.astext())

    def _index(self, cell, name):
        id_ = f"name-{nodes.make_id(name)}"
        while id_ in self.document.ids:
            id_ += "-"
        target = nodes.target("", "", ids=[id_])
        self.document.note_explicit_target(target)
        # The last part, too: the search finds what is at least half of an entry.
        words = dict.fromkeys((name.replace(";", ""), name.rpartition(".")[2].replace(";", "")))
        entries = [("single", word, id_, "main", None) for word in words if word]
        cell.insert(0, [addnodes.index(entries=entries), target])


def _check_search(app, env):
    """Every key of a scenario is in the index that the search uses."""
    found = {entry[1] for entry in env.domains["index"].entries["scenario"]}
    for key in json.loads(_core.keys()):
        if key_row(key)[0] not in found:
            logging.getLogger(__name__).warning("the search does not find %s", key_row(key)[0])


def setup(app):
    app.connect("source-read", _append_stated)
    app.connect("env-check-consistency", _check_search)
    app.add_transform(IndexedNames)


def _claims(record):
    """Every claim, a table for each experiment, and below it what was tried where one fails."""
    sections = []
    for id_, experiment in all_experiments().items():
        holds = record[id_]["claims"]
        rows = [
            (_plain(claim.claim), claim.kind, claim.bound, "yes" if holds[claim.id] else "**no**")
            for claim in experiment.claims
        ]
        tried = "".join(_tried(c) for c in experiment.claims if c.tried and not holds[c.id])
        table = _table(["claim", "kind", "bound", "holds"], rows)
        sections.append(f"## [{id_}](experiments/{id_}.md)\n\n{table}\n{tried}")
    return "\n".join(sections)


def _tried(claim):
    shown = "; ".join(
        entry if entry.startswith(UNSHIPPED) else f"`{entry}`" for entry in claim.shown_by
    )
    return f"- {claim.id}: {_plain(claim.tried)} *Shown by:* {shown}.\n"


def _plain(text):
    """Text without Markdown's marks."""
    return "".join(f"\\{mark}" if mark in "*_`$<[]" else mark for mark in text)


generated = DOCS / "generated"
shutil.rmtree(generated, ignore_errors=True)
generated.mkdir()
(generated / "keys.inc").write_text(_keys())
(generated / "statistics.inc").write_text(_statistics())
for table, columns in COLUMNS.items():
    lines = [(f"`{name}`", unit, meaning) for name, (unit, meaning) in columns.items()]
    (generated / f"{table}.inc").write_text(_table(["column", "unit", "meaning"], lines))
record = json.loads((DOCS / "gallery" / "record.json").read_text())
for name, text in zip(("gallery", "claims"), _gallery(record), strict=True):
    (generated / f"{name}.inc").write_text(text)
(generated / "all_claims.inc").write_text(_claims(record))

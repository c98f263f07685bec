"""Sphinx settings. The tables of keys, statistics and columns and the gallery's pages are made
here, from what hull itself uses and from docs/gallery/record.json."""

import json
import shutil
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from hull import __version__, _core
from hull.cli.keys import key_row
from hull.experiments import all_experiments
from hull.experiments.common.stated import beside, rows
from hull.results.columns import COLUMNS
from hull.results.printed import STATISTIC_COLUMNS, statistic_row
from hull.results.registry import STATISTICS

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
from claim_pages import all_claims, frozen_claims, gallery, page_claims  # noqa: E402
from page_text import table  # noqa: E402

project = "hull"
copyright = "the hull authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
exclude_patterns = ["_build", "generated"]

# Every reference must lead somewhere. The types of other packages have their pages elsewhere.
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"(collections\.abc|numpy|pathlib|pl|polars)\..*"),
    ("py:class", r"Ack|Figure|Path|Window|hull\.(runs\.plan\.Plan|inputs\.scenario_types\..*)"),
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


def _keys():
    """The keys of a scenario, a heading and a table for each of its tables."""
    tables = {}
    for keys in map(key_row, json.loads(_core.keys())):
        key, type_, example, default, meaning = keys
        head = key.split(".")[0].split("[")[0] if "." in key else "The file itself"
        kind = f"*{type_}, as `{example}`*" if example else f"*{type_}*"
        tables.setdefault(head, []).append((f"`{key}`", default, f"{meaning} {kind}"))
    sections = [
        f"### {head}\n\n:::{{container}} keys\n{table(['key', 'default', 'meaning'], rows)}:::\n"
        for head, rows in tables.items()
    ]
    return "\n".join(sections)


def _statistics():
    """The registry of statistics."""
    rows = [(f"`{key}`", *others) for key, *others in map(statistic_row, STATISTICS)]
    return table(STATISTIC_COLUMNS, rows)


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
        + table(["setting", "stated", "where", "hull"], lines)
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


generated = DOCS / "generated"
shutil.rmtree(generated, ignore_errors=True)
generated.mkdir()
(generated / "keys.inc").write_text(_keys())
(generated / "statistics.inc").write_text(_statistics())
for name, columns in COLUMNS.items():
    lines = [(f"`{column}`", unit, meaning) for column, (unit, meaning) in columns.items()]
    (generated / f"{name}.inc").write_text(table(["column", "unit", "meaning"], lines))
record = json.loads((DOCS / "gallery" / "record.json").read_text())
for name, text in zip(("gallery", "claims"), gallery(record), strict=True):
    (generated / f"{name}.inc").write_text(text)
(generated / "all_claims.inc").write_text(all_claims(record))
(generated / "frozen_claims.inc").write_text(frozen_claims(record))
(generated / "claims").mkdir()
for id_, entry in record.items():
    (generated / "claims" / f"{id_}.inc").write_text(page_claims(id_, entry))

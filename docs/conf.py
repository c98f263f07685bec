"""Sphinx settings. The tables of keys and columns are made here, from what hull itself uses."""

import json
import shutil
from pathlib import Path

from hull import __version__, _core
from hull.columns import COLUMNS
from hull.terminal import KEY_COLUMNS, key_row

project = "hull"
copyright = "the hull authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["dollarmath", "deflist"]
exclude_patterns = ["_build"]
nitpicky = False

html_theme = "furo"
html_title = f"hull {__version__}"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"


def _cell(value):
    text = "" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


generated = Path(__file__).parent / "generated"
shutil.rmtree(generated, ignore_errors=True)
generated.mkdir()
rows = [(f"`{key}`", *rest) for key, *rest in map(key_row, json.loads(_core.keys()))]
(generated / "keys.inc").write_text(_table(KEY_COLUMNS, rows))
for table, columns in COLUMNS.items():
    rows = [(f"`{name}`", unit, meaning) for name, (unit, meaning) in columns.items()]
    (generated / f"{table}.inc").write_text(_table(["column", "unit", "meaning"], rows))

"""Writes python/hull/report/vega-licenses.txt: the licences of the JavaScript that reports contain.

vl-convert puts Vega, Vega-Lite, Vega-Embed and what these need into one script without their
licences. Run in a folder where `npm install --ignore-scripts` has installed them at the versions
that vl-convert names: `vega_licenses.py FOLDER/node_modules`.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import vl_convert

TARGET = Path(__file__).resolve().parent.parent / "python/hull/report/vega-licenses.txt"
COMMANDS = (
    *("@types", "ansi-", "cliui", "commander", "emoji-", "escalade", "get-", "iconv-", "rw"),
    *("safer-", "string-width", "strip-", "wrap-", "y18n", "yargs"),
)
"""What only the packages' programs need, which are not in the script."""


def heading() -> str:
    """The first lines: the versions that the script has."""
    versions = (
        f"Vega {vl_convert.get_vega_version()}",
        f"Vega-Lite {vl_convert.get_vegalite_versions()[-1]}",
        f"Vega-Embed {vl_convert.get_vega_embed_version()}",
    )
    return f"JavaScript in the reports that hull writes: {', '.join(versions)}.\n"


def licenses(modules: Path) -> str:
    """The packages by licence text."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file in modules.glob("**/package.json"):
        package = json.loads(file.read_text(encoding="utf-8"))
        if "version" not in package or package["name"].startswith(COMMANDS):
            continue
        texts = [path for path in file.parent.iterdir() if "licen" in path.name.lower()]
        for path in texts:
            text = path.read_text(encoding="utf-8").strip()
            names[package["license"], text].add(package["name"])
    parts = [heading()]
    for (license_, text), users in sorted(names.items(), key=lambda item: sorted(item[1])):
        parts.append(f"{'-' * 80}\n{', '.join(sorted(users))}: {license_}\n\n{text}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(licenses(Path(sys.argv[1])), encoding="utf-8")

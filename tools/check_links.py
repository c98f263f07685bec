"""Link check: every relative link, anchor and image of built HTML pages leads somewhere.

Usage: check_links.py FOLDER. Works without a network: what leaves the folder is looked at for its
form only (https, a host's name, no space). Prints a line for each dead link; exit status 1 if any.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}
MADE_BY_SCRIPTS = {"genindex.html", "search.html", "py-modindex.html"}
"""Pages of Sphinx whose own anchors are generated."""


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.pictures_without_text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what points and what is pointed at."""
        of_tag = dict(attrs)
        self.anchors |= {of_tag[key] or "" for key in ("id", "name") if key in of_tag}
        target = of_tag.get(LINKS.get(tag, ""))
        if target is not None:
            self.links.append(target)
        if tag == "img" and not of_tag.get("alt"):
            self.pictures_without_text.append(target or "")


def broken(folder: Path) -> list[str]:
    """One line for each link that leads nowhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in sorted(pages.items()):
        name = path.relative_to(folder)
        found += [f"{name}: picture without a text: {at}" for at in page.pictures_without_text]
        if str(name) in MADE_BY_SCRIPTS:
            continue
        for link in dict.fromkeys(page.links):
            problem = _problem(link, path, pages, folder)
            if problem:
                found.append(f"{name}: {link}: {problem}")
    return found


def _problem(link: str, path: Path, pages: dict[Path, Page], folder: Path) -> str | None:
    parts = urlsplit(link)
    if parts.scheme in ("data", "mailto"):
        return None
    if parts.scheme or parts.netloc:
        good = parts.scheme == "https" and re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc)
        return None if good and " " not in link else "no address of the form https://host/..."
    if parts.path.startswith("/"):
        return "begins at the root: dead on disk"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(folder.resolve()) or not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target.suffix == ".html" and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def main() -> int:
    """Check the folder that is named."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("check_links.py: FOLDER: a folder of HTML pages is needed", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    found = broken(folder)
    for line in found:
        print(line, file=sys.stderr)
    print(f"{len(found)} dead links in {folder.name}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

"""Tables and text as Markdown, for the generated parts of pages."""


def table(header, rows):
    """A table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def plain(text):
    """Text without Markdown's marks."""
    return "".join(f"\\{mark}" if mark in "*_`$<[]" else mark for mark in text)


def _cell(value):
    text = "" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")

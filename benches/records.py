"""Files of what was measured. A figure measured again replaces the one before, where the machine is
the same; else the file starts again."""

import json
from pathlib import Path
from typing import Any

import machine


def add(file: Path, section: str, measured: dict[str, Any], **more: str) -> None:
    """Puts figures, by their names, into a section of a file."""
    report: dict[str, Any] = {}
    if file.exists():
        report = json.loads(file.read_text(encoding="utf-8"))
    if report.get("machine") != machine.text():
        report = {}
    figures = {**report.get(section, {}), **measured}
    report = {"machine": machine.text(), **more, section: figures}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")

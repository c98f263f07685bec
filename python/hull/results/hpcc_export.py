"""The files that the scripts of HPCC's simulator read, from a run's tables."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hull import _core
from hull.errors import RunError, UsageError
from hull.files.checksums import RECORD, check
from hull.files.output_file import write_text
from hull.files.table_file import check_table, read_table
from hull.results.hpcc_flows import fct_text
from hull.results.hpcc_nodes import Interface, interfaces
from hull.results.hpcc_pauses import pfc_text
from hull.results.hpcc_queues import qlen_text
from hull.runs.plan import part_folder


def write_results(folder: Path, summary: Mapping[str, Any], out: Path) -> list[Path]:
    """Write the files of each part of a run, in the folder of the part below `out`; of a run with
    one part, in `out`: `fct.txt`, `pfc.txt` if the run has recorded its pauses, and `qlen.txt` if
    it has measured queues of switches.

    Raises UsageError for a folder without parts, RunError where a file cannot be written.
    """
    parts: list[dict[str, Any]] = summary.get("parts", [])
    if not parts:
        raise UsageError(f"{folder}: found no simulations; expected a folder of hull run")
    written = []
    for part in parts:
        of_part = part_folder(part["condition"], part["scheme"], part["seed"])
        check(folder, str(of_part / RECORD))
        place = out if len(parts) == 1 else out / of_part
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, text in _texts(folder / of_part):
                write_text(place / name, text)
                written.append(place / name)
        except OSError as error:
            raise RunError(f"{place}: {error.strerror or error}") from error
    return written


def _texts(part: Path) -> Iterator[tuple[str, str]]:
    """Names and contents of a part's files."""
    yield "fct.txt", fct_text(_table(part, "flows"))
    links = _table(part, "links")
    of_links = interfaces(links)
    if (part / "pause_events.parquet").exists():
        yield "pfc.txt", pfc_text(_table(part, "pause_events"), of_links)
    if not (part / "queues.parquet").exists():
        return
    queues = _table(part, "queues")
    measured = set(queues["port"].unique())
    ports = {port: one for port, one in _ports(links, of_links).items() if port in measured}
    if not ports:
        return
    check(part, "scenario.toml")
    scenario = tomllib.loads((part / "scenario.toml").read_text(encoding="utf-8"))
    run = scenario["run"]
    end_s = sum(_core.quantity("time", run.get(key, "0s")) for key in ("warmup", "duration"))
    changes = scenario.get("measure", {}).get("queue_changes", False)
    yield "qlen.txt", qlen_text(queues, ports, round(end_s * 1e12), changes=changes)


def _ports(links: pl.DataFrame, of_links: list[Interface]) -> dict[str, Interface]:
    """Switches' ports by name, except parallel links, whose ports share a name."""
    names = [f"{start}->{end}" for start, end in links.select("from", "to").iter_rows()]
    counts = Counter(names)
    each = zip(names, of_links, strict=True)
    return {name: one for name, one in each if one.is_of_switch and counts[name] == 1}


def _table(part: Path, name: str) -> pl.DataFrame:
    check_table(part, f"{name}.parquet")
    return read_table(part / f"{name}.parquet")

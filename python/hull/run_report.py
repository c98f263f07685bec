"""The report of a run, built on request: report.html in its folder.

The report of a reproduced experiment again has the figure, claims and published numbers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hull.errors import RunError, UsageError
from hull.files.checksums import check, has_checksums, record_again
from hull.files.output_file import NO_ROOM
from hull.files.table_file import check_table, reading
from hull.styles import declared

_TABLES = ("flows.parquet", "latency.parquet", "links.parquet", "queues.parquet")
_NEEDED = ("scenario.toml", *_TABLES[:2])


def write_run_report(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Write the report of the run in a folder, and return its path.

    Raises UsageError for results that are not as they were written or a folder that cannot be
    written, RunError without room.
    """
    from hull.report.page import write_report

    check(folder, "scenario.toml")
    for name in _TABLES:
        check_table(folder, name)
    for name in _NEEDED:
        if not (folder / name).is_file():
            raise UsageError(f"{folder / name}: missing; expected the results of a complete run")
    looks = declared(summary)
    title = str(summary.get("title", summary["name"]))
    try:
        with reading(folder):
            path = write_report(
                folder, dict(summary), title=title, looks=looks, added=_added(folder, summary)
            )
        record_again(folder, path.name)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        if has_checksums(folder):
            raise  # the results are as hull wrote them
        raise UsageError(
            f"{folder / 'summary.json'}: cannot be read ({error}), and run.json has no checksums; "
            "expected the files that hull wrote: repeat the same command"
        ) from None
    except OSError as error:
        place = error.filename or folder
        if error.errno in NO_ROOM:
            raise RunError(f"{place}: {error.strerror}") from error
        raise UsageError(f"{place}: {error.strerror}; expected a folder to write to") from None
    return path


def _added(folder: Path, summary: Mapping[str, Any]) -> Any:
    """What an experiment adds to the report."""
    if "experiment" not in summary:
        return ()
    from hull.experiments.common.sections import sections

    return sections(folder, summary, declared(summary))

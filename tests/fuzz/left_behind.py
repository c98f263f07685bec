"""Damages a file that hull wrote and reads again: a finished run, a run that is resumed, the store
of a sweep. The command, run again, must report the damage or restore the results from before it.
"""

import contextlib
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import hull
from fuzz import messages
from fuzz.case import Outcome
from fuzz.command import call
from hull import scenarios
from hull.runs.plan import make_plan

KINDS = (
    *("finished run", "loaded run", "traced run", "reported run", "run that is taken up"),
    *("loaded run without checksums", "reported run without checksums"),
    *("store of a sweep", "store without checksums"),
)
RESTORED = ("run that is taken up", "store of a sweep")
"""The results of the command equal those before the damage."""
SHORT = (
    *("name=short", "run.duration=2ms", "run.warmup=0s", "run.drain=1ms", "run.seeds=1"),
    *("host.rate=1Gbps", "topology={star={hosts=4}}", "measure={}", "sweep={}"),
    'schemes={one={switch={marking={threshold="30KB"}}},two={}}',
)
"""Settings that shorten any star scenario."""
RUN = ("run", "short.toml", "--out", "out", "--jobs", "1")
SWEEP = ("sweep", "short.toml", "--over", "host.delay=1us,2us", "--jobs", "1")
SWEEP_TO = (*SWEEP, "--store", "out", "--out", "rows.parquet")


@cache
def _whole(kind: str) -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """Return a folder with the scenario and a command's results in `out`."""
    kept = tempfile.TemporaryDirectory()
    folder = Path(kept.name)
    settings = [*SHORT, 'workload={bulk={flows=3,size="30KB"}}']
    cell = make_plan(scenarios.text("static"), "static.toml", settings).cells[0]
    (folder / "short.toml").write_text(cell.toml, encoding="utf-8")
    with contextlib.chdir(folder):
        done = call(*(SWEEP_TO if kind.startswith("store") else RUN))
        assert done.status == 0, done.error
        if kind.endswith("without checksums"):
            _remove_checksums(Path("out"))
        if kind == "run that is taken up":
            shutil.copytree("out", "out.partial")
            for path in Path("out.partial").iterdir():
                if path.is_file() and path.name != "run.json":
                    path.unlink()
    return kept, folder


def _remove_checksums(folder: Path) -> None:
    """Make results or a store look like an earlier version's, which had no checksums."""
    shutil.rmtree(folder / "sums", ignore_errors=True)
    for record in folder.rglob("run.json"):
        content = json.loads(record.read_text(encoding="utf-8"))
        record.write_text(json.dumps({**content, "sha256": {}}), encoding="utf-8")


def whole(kind: str) -> tuple[Path, list[Path]]:
    """Return the undamaged folder and its files that may be damaged."""
    folder = _whole(kind)[1]
    place = folder / ("out.partial" if kind == "run that is taken up" else "out")
    paths = [path for path in sorted(place.rglob("*")) if path.is_file()]
    return folder, [path for path in paths if path.suffix != ".html"]


def outcome_of(kind: str, file: str, content: bytes, case: str) -> Outcome:
    """Run the command on a copy with one damaged file."""
    before = _whole(kind)[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(before, folder, dirs_exist_ok=True)
        if kind == "run that is taken up":
            shutil.rmtree(folder / "out")
        (folder / file).write_bytes(content)
        if kind.startswith("loaded run"):
            return _loaded(folder / "out", case)
        with contextlib.chdir(folder):
            match kind:
                case "store of a sweep" | "store without checksums":
                    Path("rows.parquet").unlink()
                    done = call(*SWEEP_TO)
                case "traced run":
                    done = call("trace", "out")
                case "reported run" | "reported run without checksums":
                    done = call("report", "out")
                case "finished run" | "run that is taken up":
                    done = call(*RUN)
                case _:
                    raise ValueError(kind)
        problem = done.problem
        if (
            not problem
            and done.status == 0
            and kind in ("run that is taken up", "store of a sweep")
        ):
            problem = _difference(before, folder)
    what = "rejected" if done.status else "accepted"
    text = done.error.strip()
    if not problem and done.status and Path(file).name not in text and "out" not in text:
        problem = "the message names neither the file nor its folder"
    if text and not problem:
        problem = messages.foreign(text.replace("\n", " "))
    return Outcome(what, case, text, problem)


def _loaded(folder: Path, case: str) -> Outcome:
    """Load the folder and its tables with `hull.load`."""
    try:
        result = hull.load(folder)
        for table in ("flows", "latency", "links"):
            getattr(result, table)
    except hull.UsageError as error:
        return Outcome("rejected", case, str(error), messages.foreign(str(error)))
    return Outcome("accepted", case)


def _difference(before: Path, after: Path) -> str:
    """Describe where results differ from those before the damage; empty if nowhere."""
    if (before / "rows.parquet").exists():
        same = (before / "rows.parquet").read_bytes() == (after / "rows.parquet").read_bytes()
        return "" if same else "other rows than before the damage"
    for path in sorted((before / "out").rglob("*")):
        name = path.relative_to(before)
        if path.suffix == ".parquet" and path.read_bytes() != (after / name).read_bytes():
            return f"{name} is another than before the damage"
    one, other = (_numbers(folder / "out" / "summary.json") for folder in (before, after))
    changed = [key for key in one if one[key] != other.get(key)]
    return f"{', '.join(changed)} of summary.json is another" if changed else ""


def _numbers(path: Path) -> dict[str, object]:
    found = json.loads(path.read_text(encoding="utf-8"))
    of_machine = ("cpu_seconds", "wall_seconds", "peak_rss_bytes", "parts")
    return {key: value for key, value in found.items() if key not in of_machine}

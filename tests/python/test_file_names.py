"""Names that no file system accepts are rejected before anything starts or is written."""

from pathlib import Path

import pytest

from conftest import SHORT, Hull, sets, snapshot
from hull import UsageError, run, scenarios
from hull.files.names import check_path

LONG = "a" * 300
FITS = "b" * 255
RUN = ("run", "scenario.toml", *sets(SHORT))
SWEEP = ("sweep", "scenario.toml", *sets(SHORT))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*RUN, "--out", LONG), "--out: a"),
        ((*RUN, "--out", f"{LONG}/x"), "--out: a"),
        ((*RUN, "--out", FITS), "expected a name of at most 247 bytes, such as results/first"),
        ((*RUN, "--out", "c" * 248), "expected a name of at most 247 bytes"),
        ((*RUN, "--out", "é" * 124), "expected a name of at most 247 bytes"),
        ((*RUN, "--out", "/".join(["d"] * 2030)), "--out: d/d/d"),
        ((*RUN, "--set", f"name={FITS}"), "expected a name of at most 247 bytes"),
        (("run", "scheme.toml", *sets(SHORT), "--out", "out"), "scheme.toml: schemes: a"),
        (("run", "slashes.toml", *sets(SHORT), "--out", "out"), "slashes.toml: schemes: %2F%2F"),
        ((*SWEEP, "--out", f"{FITS}.csv"), "--out: b"),
        ((*SWEEP, "--set", f"name={FITS}"), "--out: b"),
        ((*SWEEP, "--store", LONG), "--store: a"),
        (("reproduce", "eq5", "--out", LONG), "--out: a"),
        (("reproduce", "eq5", "--cache", LONG), "--cache: a"),
        (("trace", ".", "--out", LONG), "--out: a"),
        (("scenarios", "copy", "static", LONG), "a... (300 characters): File name too long"),
    ],
)
def test_names_that_are_too_long(
    hull: Hull, place: Path, arguments: tuple[str, ...], said: str
) -> None:
    text = scenarios.text("epfl-table2")
    for file, scheme in (("scheme", LONG), ("slashes", "/" * 100)):
        renamed = text.replace("schemes.tcp_droptail", f'schemes."{scheme}"')
        Path(f"{file}.toml").write_text(renamed, encoding="utf-8")
    Path("summary.json").write_text('{"name": "x", "parts": []}', encoding="utf-8")
    before = snapshot(place)
    refused = hull(*arguments)
    assert refused.returncode == 2, refused.stderr
    assert "Traceback" not in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert refused.stderr.startswith("hull: error: ")
    assert said.split("... (")[0] in refused.stderr
    assert said.rpartition("... ")[2] in refused.stderr
    assert snapshot(place) == before
    assert len(list(place.iterdir())) == len(before)


def test_condition_too_long_for_a_folder_name(hull: Hull, place: Path) -> None:
    lists = []
    for name in ("e" * 130, "f" * 130):
        folder = Path(name, name)
        folder.mkdir(parents=True)
        (folder / "flows.csv").write_text("start_ps,src,dst,bytes\n0,1,0,1000\n")
        lists.append(str(folder / "flows.csv"))
    Path("scenario.toml").write_text(
        scenarios.text("static").replace("[measure.probe] # paper 5.2", ""), encoding="utf-8"
    )
    settings = ["topology={star={hosts=3}}", "host.rate=1Gbps", "schemes={}", "run.duration=10ms"]
    swept = [
        *settings,
        "run.warmup=0s",
        f"sweep={{'workload.flows'={lists}}}",
        f"workload={{flows='{lists[0]}'}}",
    ]
    refused = hull("run", "scenario.toml", *sets(swept), "--out", "out")
    assert refused.returncode == 2, refused.stderr
    assert "scenario.toml: sweep: flows=eee" in refused.stderr
    assert not list(place.glob("out*"))


def test_the_longest_names_that_fit(hull: Hull, place: Path) -> None:
    long = "s" * 240
    text = scenarios.text("epfl-table2").replace("schemes.tcp_droptail", f"schemes.{long}")
    Path("scenario.toml").write_text(text, encoding="utf-8")
    done = hull(*RUN, "--out", "o" * 247)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in place.iterdir()} == {"scenario.toml", "o" * 247}


def test_schemes_called_like_folders(hull: Hull, place: Path) -> None:
    text = scenarios.text("epfl-table2").replace("schemes.tcp_droptail", 'schemes.".."')
    Path("scenario.toml").write_text(text, encoding="utf-8")
    done = hull(*RUN, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert Path("out/parts/load=20%/%2E%2E/seed-1/flows.parquet").exists()


def test_a_name_with_nul(place: Path) -> None:
    with pytest.raises(UsageError, match="without NUL"):
        run("scenario.toml", out="a\0b")


def test_path_length() -> None:
    check_path("--out", Path("/" + "/".join(["d"] * 2000)), "x")
    with pytest.raises(UsageError, match="at most 3895 bytes"):
        check_path("--out", Path("/" + "/".join(["d"] * 2000)), "x", inside=200)

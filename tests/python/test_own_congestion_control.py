"""Congestion controls in Python: the same bytes as the built-in ones, and error handling."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hull
from hull import _core, scenarios
from hull.inputs.congestion import built_in, check_own, check_same, fingerprint
from hull.runs.plan import make_plan, read_scenario
from own_controls import Dctcp, NewReno

TABLES = ("flows", "latency", "links", "series")


def scenario(control: str, *, ecn: bool, **transport: Any) -> dict[str, Any]:
    """Flows of two sizes share a port that drops and may mark; connections go idle."""
    return {
        "name": "own",
        "run": {"duration": "60ms", "warmup": "5ms"},
        "topology": {"star": {"hosts": 5}},
        "host": {"rate": "1Gbps", "delay": "5us", "queue": "fifo"},
        "switch": {
            "rate": "1Gbps",
            "delay": "5us",
            "buffer": "20KB",
            **({"marking": {"threshold": "12KB"}} if ecn else {}),
        },
        "transport": {
            "congestion_control": control,
            "ecn": ecn,
            "min_rto": "2ms",
            "initial_rto": "2ms",
            "idle_restart": True,
            **transport,
        },
        "workload": {
            "requests": {
                "load": "70%",
                "connections_per_server": 2,
                "classes": [
                    {"size": "2KB", "share": "50%"},
                    {"size": "200KB", "share": "50%"},
                ],
            }
        },
        "measure": {"flows": {"count": 8, "interval": "100us"}},
    }


def tables(result: hull.Result) -> dict[str, bytes]:
    return {name: (result.folder / f"{name}.parquet").read_bytes() for name in TABLES}


@pytest.mark.parametrize(
    ("name", "cls", "transport"),
    [
        ("newreno", NewReno, {"ecn": False}),
        ("newreno", NewReno, {"ecn": True}),
        ("dctcp", Dctcp, {"ecn": True}),
        ("dctcp", Dctcp, {"ecn": True, "ack_every": 2, "delayed_ack": "1ms"}),
    ],
)
def test_same_bytes_as_the_built_in(
    name: str, cls: type[hull.CongestionControl], transport: dict[str, Any], tmp_path: Path
) -> None:
    built_in = hull.run(scenario(name, **transport), tmp_path / "built-in")
    own = hull.run(
        scenario("mine", **transport), tmp_path / "own", congestion_control={"mine": cls}
    )
    part = own.summary["parts"][0]
    assert part["timeouts"] > 0
    assert part["retransmissions"] > part["timeouts"]
    assert (part["marks"] > 0) == transport["ecn"]
    assert own.flows.height > 50
    assert tables(own) == tables(built_in)


def test_takes_one_thread(tmp_path: Path) -> None:
    """A class may share state between flows, so its run is not divided."""
    table = tomllib.loads(scenarios.text("tree192"))
    table["schemes"] = {"own": table["schemes"]["dctcp"]}
    table["schemes"]["own"]["transport"]["congestion_control"] = "mine"
    short = ["workload.flows.count=200", "run.seeds=1"]
    one, two = (
        hull.run(
            table,
            tmp_path / f"{threads}",
            set=[*short, f"run.threads={threads}"],
            congestion_control={"mine": Dctcp},
        )
        for threads in (1, 2)
    )
    one_part = {"by": "none", "parts": 1, "threads": 1}
    assert one.summary["parts"][0]["divided"] == one_part
    because = "a congestion control of the user may share state between flows"
    assert two.summary["parts"][0]["divided"] == one_part | {"because": because}
    assert any(because in text for text in two.summary["warnings"])
    assert one.flows.height == 200
    assert one.flows.equals(two.flows)


class Broken(NewReno):
    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        if ack.una > 50_000:
            raise ZeroDivisionError("all is lost")
        return super().on_ack(window, ack)


class Fractional(NewReno):
    def on_loss(self, window: hull.Window, flight: int) -> None:
        window.reduce_to(flight * 0.7)  # type: ignore[arg-type]


class Worded(NewReno):
    alpha = "much"  # type: ignore[assignment]


class Unmade(NewReno):
    def __init__(self) -> None:
        raise LookupError("all is lost")


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (Broken, r"Broken\.on_ack, line \d+ of test_own\w+\.py: ZeroDivisionError: all is lost"),
        (Fractional, r"Fractional\.on_loss, line \d+ of test_own\w+\.py: TypeError: .*float"),
        (Worded, r"Worded\.alpha: TypeError"),
        (Unmade, r"Unmade\(\), line \d+ of test_own\w+\.py: LookupError: all is lost"),
    ],
)
def test_exception_ends_the_run(
    cls: type[hull.CongestionControl], says: str, tmp_path: Path
) -> None:
    with pytest.raises(hull.RunError, match=f'congestion_control "mine": {says}') as caught:
        hull.run(scenario("mine", ecn=False), tmp_path / "o", congestion_control={"mine": cls})
    assert type(caught.value.__cause__).__name__ in str(caught.value)
    line = re.search(r"line (\d+)", str(caught.value))
    if line:
        text = Path(__file__).read_text().splitlines()[int(line[1]) - 1]
        assert "all is lost" in text or "flight * 0.7" in text
    assert not (tmp_path / "o").exists()


def test_one_instance_for_each_flow(tmp_path: Path) -> None:
    class Counted(NewReno):
        made: ClassVar[list["Counted"]] = []

        def __init__(self) -> None:
            super().__init__()
            self.made.append(self)
            self.last = 0

        def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
            assert ack.una - ack.acked == self.last
            self.last = ack.una
            return super().on_ack(window, ack)

    plan = scenario("counted", ecn=False)
    plan["workload"] = {"incast": {"fan_in": 4, "total": "80KB", "queries": 5}}
    hull.run(plan, tmp_path / "o", congestion_control={"counted": Counted})
    # A connection has two flows: the requests and the responses.
    assert len(Counted.made) == 2 * 4
    # The run ends with the last response, whose acknowledgment is then under way.
    assert sum(control.last == 5 * 20_000 for control in Counted.made) == 3


def own_plan(cls: type[hull.CongestionControl]) -> Any:
    text, file = read_scenario(scenario("mine", ecn=False))
    return make_plan(text, file, [], own={"mine": cls})


def test_another_class_has_another_key(tmp_path: Path) -> None:
    """The class is part of the resolved scenario, and so of every key derived from it."""

    class Slower(NewReno):
        step = 1

    class Slow(NewReno):
        step = 2

    plans = [own_plan(cls) for cls in (NewReno, Slower, Slow)]
    assert len({plan.fingerprint for plan in plans}) == 3
    resolved = plans[0].cells[0].scenario["transport"]
    assert resolved["own_sha256"] == fingerprint(NewReno)
    assert own_plan(NewReno).fingerprint == plans[0].fingerprint
    made = scenario("mine", ecn=False)
    hull.run(made, tmp_path / "o", congestion_control={"mine": NewReno})
    with pytest.raises(hull.UsageError, match="another"):
        hull.run(made, tmp_path / "o", congestion_control={"mine": Slow})
    file = tmp_path / "o" / "parts" / "base" / "base" / "seed-1" / "scenario.toml"
    again = hull.run(file, tmp_path / "again", congestion_control={"mine": NewReno})
    assert again.flows.height > 0
    with pytest.raises(hull.ScenarioError, match=r"own_sha256: \".*the class has changed"):
        hull.run(file, tmp_path / "other", congestion_control={"mine": Slow})


def test_sweep(tmp_path: Path) -> None:
    """Rows equal the built-in control's; a different class is a new run in the same store."""

    def rows(control: str, cls: type[hull.CongestionControl] | None) -> Any:
        frame = hull.sweep(
            scenario(control, ecn=False),
            over={"switch.buffer": ["20KB", "40KB"]},
            seeds=2,
            store=tmp_path / "store",
            congestion_control={} if cls is None else {"mine": cls},
        )
        return frame["switch.buffer", "seed", "statistic", "value"]

    class Slow(NewReno):
        def on_loss(self, window: hull.Window, flight: int) -> None:
            window.reduce_to(window.mss)

    built_in = rows("newreno", None)
    for cls in (NewReno, NewReno):
        assert rows("mine", cls).equals(built_in)
    assert not rows("mine", Slow).equals(built_in)
    kept = list((tmp_path / "store" / "runs").rglob("*.parquet"))
    assert len(kept) == 3 * 4


def test_second_timeout_of_a_segment_is_not_reported(tmp_path: Path) -> None:
    """RFC 5681, 3.1: ssthresh is kept. The link fails for 25 ms; the timer fires twice."""
    thresholds = []

    class Counted(NewReno):
        def on_timeout(self, window: hull.Window, flight: int) -> None:
            super().on_timeout(window, flight)
            thresholds.append(window.ssthresh)

    result = hull.run(
        {
            "name": "failure",
            "run": {"duration": "100ms", "warmup": "0s"},
            "topology": {
                "star": {"hosts": 2},
                "failures": [{"link": "h1--switch", "at": "20ms", "until": "45ms"}],
            },
            "host": {"rate": "1Gbps", "delay": "100us"},
            "switch": {"rate": "1Gbps", "delay": "100us"},
            "transport": {"congestion_control": "counted", "max_window": 60},
            "workload": {"long_lived": {"flows": [{"src": 1, "dst": 0}]}},
        },
        tmp_path / "result",
        congestion_control={"counted": Counted},
    )
    assert result.summary["cells"][0]["timeouts"]["mean"] == 2
    assert thresholds == [30 * 1460]


def test_a_class_without_source() -> None:
    """As from a notebook: the fingerprint covers the methods' code and nested functions."""

    def made(body: str) -> str:
        found: dict[str, Any] = {"hull": hull, "__name__": "nowhere"}
        exec(
            f"class Mine(hull.CongestionControl):\n    def on_ack(self, window, ack): {body}", found
        )
        return fingerprint(found["Mine"])

    one = made("return (lambda: 1)()")
    assert one == made("return (lambda: 1)()")
    assert len({one, made("return (lambda: 2)()"), made("return window.grow(1)")}) == 3


def test_fingerprint_is_the_same_in_every_process() -> None:
    """String sets are ordered differently in each process; the fingerprint does not change."""
    program = (
        "import hull; from hull.inputs.congestion import fingerprint\n"
        "class Mine(hull.CongestionControl):\n"
        "    def on_ack(self, window, ack): return ack in {'a', 'b', 'c', 'd'}\n"
        "print(fingerprint(Mine))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_class_differs_in_the_worker() -> None:
    check_same(NewReno, fingerprint(NewReno))
    with pytest.raises(hull.UsageError, match=r"own_controls\.Dctcp on .* differs from this"):
        check_same(Dctcp, fingerprint(NewReno))


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ({"dctcp": NewReno}, "name 'dctcp' is invalid; expected one that hull"),
        ({"my own": NewReno}, "name 'my own' is invalid; expected letters"),
        ({"mine": NewReno()}, "mine is <.*>; expected a subclass of hull.CongestionControl"),
        ({"mine": dict}, "expected a subclass of"),
        ([NewReno], "list is invalid; expected a dict of classes by name"),
        (NewReno, "type is invalid; expected a dict of classes by name"),
        ({"mine": hull.CongestionControl}, "without on_ack"),
        ({}, 'transport.congestion_control: "mine" is invalid; expected newreno, cubic, .*, or t'),
    ],
)
def test_bad_input(own: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says):
        hull.run(scenario("mine", ecn=False), tmp_path / "o", congestion_control=own)


def _on_ack(self: object, window: hull.Window, ack: hull.Ack) -> None:
    pass


async def _later(self: object, window: hull.Window, ack: hull.Ack) -> None:
    pass


def _in_steps(self: object, window: hull.Window, ack: hull.Ack) -> Iterator[None]:
    yield


async def _steps_later(self: object, window: hull.Window, ack: hull.Ack) -> AsyncIterator[None]:
    yield


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ({"on_ack": _later}, "on_ack: async def is invalid; expected a method, such as def on_ack"),
        ({"on_ack": _steps_later}, "on_ack: async def is invalid"),
        ({"on_loss": _in_steps}, "on_loss: a generator is invalid; expected a method"),
        ({"on_ack": classmethod(_on_ack)}, "on_ack: a class method, which all flows share, is inv"),
        ({"on_ack": lambda self, window: None}, "on_ack: on_ack.self, window. is invalid"),
        ({"on_restart": _on_ack}, r"on_restart: on_restart.self: .* def on_restart.self, idle_ps"),
        ({"on_timeout": None}, "on_timeout: None is invalid; expected a method"),
        ({"on_ack": 5}, "on_ack: 5 is invalid"),
        ({"__init__": lambda self, g: None}, "mine.g. is invalid; expected a class that can be c"),
    ],
)
def test_uncallable_methods(methods: dict[str, Any], says: str, tmp_path: Path) -> None:
    cls = type("Mine", (hull.CongestionControl,), {"on_ack": _on_ack, **methods})
    with pytest.raises(hull.UsageError, match=f"congestion_control: mine.*{says}"):
        hull.run(scenario("mine", ecn=False), tmp_path / "o", congestion_control={"mine": cls})
    assert not (tmp_path / "o").exists()


class _Object:
    def __call__(self, window: hull.Window, ack: hull.Ack) -> None:
        pass


@pytest.mark.parametrize(
    "method", [lambda *_: None, staticmethod(lambda window, ack, more=0: None), _Object(), _on_ack]
)
def test_other_kinds_of_methods(method: object) -> None:
    cls = type("Mine", (hull.CongestionControl,), {"on_ack": method})
    assert [name for name, _ in check_own({"mine": cls})] == ["mine"]


def test_built_in_names_agree(tmp_path: Path) -> None:
    """The schema, the error message for an unknown name, and the reserved names agree."""
    kinds = json.loads(_core.schema())["$defs"]["CongestionControl"]
    in_schema = [kind["const"] for kind in kinds["oneOf"]]
    assert built_in() == in_schema
    assert {"newreno", "cubic", "dctcp", "qcn", "rcp"} < set(in_schema)
    allowed = re.escape(", ".join(in_schema))
    with pytest.raises(hull.ScenarioError, match=f"expected {allowed}, or the name of a class"):
        hull.run(scenario("nameless", ecn=False), tmp_path / "o")

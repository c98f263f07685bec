"""States of the lab: as links, as scenarios that hull accepts and runs, and against the theory."""

import itertools
import json
import math
import random
import re
import tomllib
from pathlib import Path
from urllib.parse import parse_qsl

import polars as pl
import pytest

import hull
from hull import _core
from hull.errors import UsageError
from hull.lab import model, scenario, theory
from hull.lab.model import PARAMETERS, SCHEMES, State, read_state
from hull.lab.queues import QUEUES


def live(state: State, cell: scenario.Cell) -> _core.Live:
    return cell.live(int(state.seed), 2 * scenario.round_trip(state), scenario.edges(state))


def corners() -> list[State]:
    """Each setting at its ends, the others at their defaults; samples with all at their ends."""
    found = [
        read_state({"a": a, "b": b, "queue": queue, "load": 0.2, "burst": burst})
        for a, b in _PAIRS
        for queue in QUEUES
        for burst in (1500, 64e3)
    ]
    for parameter in PARAMETERS.values():
        for value in (parameter.min, parameter.max):
            found += [read_state({"a": a, "b": b, parameter.id: value}) for a, b in _PAIRS]
    ends = [(parameter.min, parameter.max) for parameter in PARAMETERS.values()]
    combinations = random.Random(1).sample(list(itertools.product(*ends)), 60)
    names = ({"a": a, "b": b, "queue": queue} for queue in QUEUES for a, b in _PAIRS)
    for chosen, values in zip(itertools.cycle(names), combinations, strict=False):
        found.append(read_state({**chosen, **dict(zip(PARAMETERS, values, strict=True))}))
    return found


_PAIRS = [("hull", "dctcp"), ("dctcp_pq", "tcp"), ("tcp_ecn", "cubic"), ("vegas", "hull")]


def random_state(draw: random.Random) -> State:
    """Return a random state."""
    chosen = draw.sample(list(SCHEMES), draw.randint(1, 2))
    numbers: dict[str, object] = {}
    for parameter in PARAMETERS.values():
        low, high = parameter.min, parameter.max
        if parameter.kind == "choice":
            numbers[parameter.id] = draw.choice(parameter.choices)
        elif parameter.kind == "integer":
            numbers[parameter.id] = draw.randint(int(low), int(high))
        elif parameter.scale == "log":
            value = math.exp(draw.uniform(math.log(low), math.log(high)))
            numbers[parameter.id] = min(max(value, low), high)
        else:
            numbers[parameter.id] = draw.uniform(low, high)
    queue = draw.choice(list(QUEUES))
    return read_state({**dict(zip("ab", chosen, strict=False)), "queue": queue, **numbers})


def test_links_parse_back_unchanged() -> None:
    draw = random.Random(8)
    for state in [*corners(), *(random_state(draw) for _ in range(200))]:
        again = read_state(dict(parse_qsl(state.query())))
        assert again.query() == state.query()
        for id_ in PARAMETERS:
            assert math.isclose(getattr(again, id_), getattr(state, id_), rel_tol=1e-11)
        assert (again.schemes, again.queue) == (state.schemes, state.queue)


def test_defaults_are_allowed_and_left_out() -> None:
    for parameter in PARAMETERS.values():
        assert parameter.check(parameter.default) == parameter.default
        assert parameter.min <= parameter.default <= parameter.max
        assert parameter.step > 0
    assert read_state({}) == read_state({"a": "hull", "b": "", "flows": "2"})
    content = model.as_json()
    ids = {parameter["id"] for parameter in content["parameters"]}
    used = set().union(*(scheme["parameters"] for scheme in content["schemes"]))
    assert used == ids | {"queue"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speeed": "1"}, "key: speeed is invalid; expected a, b, more, queue, rate, "),
        ({"a": "reno"}, "a: reno is invalid; expected hull, dctcp_pq, "),
        ({"a": 7}, "a: 7 is invalid; expected hull"),
        ({"b": "hull"}, "b: hull is the same as a"),
        ({"more": "hull"}, "more: hull is invalid; expected schemes other than a and b"),
        ({"more": "tcp,tcp"}, "more: tcp,tcp is invalid; expected schemes other than a and b"),
        ({"more": "tcp,reno"}, "more: reno is invalid; expected hull, "),
        ({"more": 5}, "more: 5 is invalid; expected hull, "),
        ({"more": "tcp,cubic,vegas,dctcp"}, "more: found 4 schemes; expected at most 3"),
        ({"queue": "pfifo"}, "queue: pfifo is invalid; expected fair, fifo, fq, fq_codel"),
        ({"queue": ""}, 'queue: "" is invalid; expected fair'),
        ({"queue": None}, "queue: None is invalid; expected fair"),
        ({"rtt": "2"}, "rtt: 2 is invalid; expected a number from 2e-06 to 0.001"),
        ({"rtt": "nan"}, "rtt: nan is invalid; expected"),
        ({"rtt": float("inf")}, "rtt: inf is invalid; expected"),
        ({"rtt": True}, "rtt: True is invalid; expected"),
        ({"rtt": None}, "rtt: None is invalid; expected"),
        ({"rtt": [1]}, r"rtt: \[1\] is invalid; expected"),
        ({"rtt": ""}, 'rtt: "" is invalid; expected'),
        ({"rtt": 10**400}, "rtt: 1000"),
        (
            {"rate": "2e9"},
            r"rate: 2e9 is invalid; expected one of 1e\+09, 1e\+10, 2.5e\+10, 4e\+10",
        ),
        ({"flows": "2.5"}, "flows: 2.5 is invalid; expected a whole number from 0 to 32"),
        ({"flows": -1}, "flows: -1 is invalid; expected"),
        ({"seed": "1_0"}, "seed: 1_0 is invalid; expected"),
        ({"a": "x" * 10_000}, r"a: x{40}\.\.\. is invalid; expected"),
        ({"k": "\x1b[31m\n"}, r"k: \\x1b\[31m\\n is invalid; expected"),
    ],
)
def test_invalid_states_are_rejected(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        read_state(values)


def test_every_corner_is_a_scenario_that_runs() -> None:
    for state in corners():
        cells = scenario.cells(state)
        assert [cell.scheme for cell in cells] == list(state.schemes)
        for cell in cells:
            run = live(state, cell)
            reached = run.advance(20 * scenario.round_trip(state), 20_000)
            assert reached > 0
            look = json.loads(run.take(100))
            busy = state.flows > 0 or state.load > 0
            assert not busy or run.packet_hops() > 0
            assert len(look["flows"]) == min(state.flows, 4)
            assert (look["phantom"] is not None) == (cell.scheme in ("hull", "dctcp_pq"))
            columns = [look["queue"], look["throughput"], *(f["cwnd"] for f in look["flows"])]
            assert {len(column) for column in columns} == {len(look["t"])}
            cdf = look["latency"]["cdf"]
            assert cdf == sorted(cdf)
            assert len(cdf) == len(look["latency"]["edges"])


def test_scenario_matches_the_state() -> None:
    network = {"rate": 1e9, "rtt": 3e-4, "load": 0.2}
    state = read_state({"a": "hull", "b": "dctcp", **network, "drain": 0.9, "k": 6e3})
    found = {cell.scheme: cell.scenario for cell in scenario.cells(state)}
    for cell in found.values():
        assert cell["host"]["rate"] == cell["switch"]["rate"] == "1Gbps"
        assert cell["transport"]["congestion_control"] == "dctcp"
        assert cell["switch"]["buffer"] == "700KB"
        assert cell["workload"]["long_lived"]["flows"][0]["src"] == "1-2"
        assert cell["workload"]["requests"]["load"] == "20%"
    assert found["hull"]["switch"]["phantom_queue"]["drain"] == "90%"
    assert "pacer" in found["hull"]
    assert "marking" not in found["hull"]["switch"]
    assert found["dctcp"]["switch"]["marking"]["threshold"] == "6KB"
    assert "pacer" not in found["dctcp"]
    assert state.query() in found["hull"]["source"]


def test_hosts_of_a_free_state_have_a_queue_per_flow() -> None:
    assert read_state({}).queue == model.as_json()["queue"] == "fair"
    assert [queue["id"] for queue in model.as_json()["queues"]] == list(QUEUES)


@pytest.mark.parametrize("burst", [1500, 64e3])
def test_queue_is_the_only_key_that_its_setting_changes(burst: float) -> None:
    """With a queue per flow, TCP small queues keep their default."""
    found = {}
    for queue in QUEUES:
        state = read_state({"a": "hull", "b": "tcp", "queue": queue, "burst": burst})
        content = tomllib.loads(scenario.toml(state))
        assert f"&queue={queue}&" in content.pop("source")
        assert content["host"].pop("queue") == queue
        assert "small_queues" not in content["transport"]
        found[queue] = content
        for cell in scenario.cells(state):
            resolved = cell.scenario
            assert resolved["host"]["queue"] == queue
            assert resolved["transport"].get("small_queues") is None
    assert all(content == found["fifo"] for content in found.values())
    offload = {} if burst == 1500 else {"offload": "64000B"}
    jitter = {"stack_jitter": {"exponential": "487.68ns"}}
    assert found["fifo"]["host"] == {"rate": "10Gbps", "delay": "23.896us", **jitter, **offload}


@pytest.mark.parametrize("load", [0, 0.2])
def test_hull_trades_bandwidth_for_latency_with_every_queue(load: float) -> None:
    """The page's first example and docs/lab.md: what HULL gains does not depend on the queue."""
    values = {"rate": 1e9, "rtt": 2e-4, "load": load / 2}
    for queue in QUEUES:
        state = read_state({"a": "dctcp", "b": "hull", "queue": queue, **values})
        dctcp, of_hull = (
            json.loads(run.take(1))["stats"]
            for run in (live(state, cell) for cell in scenario.cells(state))
            if run.advance(0.5, 10**8)
        )
        assert of_hull["queue_mean"] < dctcp["queue_mean"] / 10
        assert 0.75 < of_hull["goodput_long"] / dctcp["goodput_long"] < 0.95
        if load:
            assert of_hull["fct_small_p99"] < 0.7 * dctcp["fct_small_p99"]


def test_every_lesson_names_its_queue() -> None:
    """Lessons that reproduce figures or whose numbers docs/lab.md tells have the papers' FIFO."""
    page = Path(scenario.__file__).with_name("page") / "presets.js"
    lessons = re.split(r"\n +id: ", page.read_text())[1:]
    names = [re.findall(r'\bqueue: "(\w+)"', lesson) for lesson in lessons]
    assert len(lessons) > 9
    # Hosts of the lossless network have a queue per flow. The last one is of each faster network.
    assert names[0] == ["fair"]
    assert names[1:] == [["fifo"]] * (len(lessons) - 4) + [["fair"]] * 2 + [["fifo"]]
    assert [lesson.split('"')[1] for lesson in lessons[-3:-1]] == ["spread", "pauses"]


@pytest.mark.parametrize("rate", [1e9, 40e9])
def test_first_ack_arrives_after_a_round_trip(rate: float) -> None:
    """The window's first growth shows its arrival; host stacks add jitter of a few percent."""
    values = {"a": "dctcp", "flows": 1, "load": 0, "rtt": 5e-4, "rate": rate, "speed": 1e-4}
    state = read_state(values)
    run = live(state, scenario.cells(state)[0])
    run.advance(2 * 5e-4, 10**7)
    look = json.loads(run.take(10_000))
    windows = zip(look["t"], look["flows"][0]["cwnd"], strict=True)
    first = next(t for t, window in windows if window > 3)
    assert first == pytest.approx(5e-4, rel=0.03)


@pytest.mark.parametrize("load", [0, 0.1])
def test_a_saved_scenario_shows_the_same_samples(tmp_path: Path, load: float) -> None:
    """`hull run` writes for the saved file the samples that the page receives."""
    values = {"a": "hull", "b": "dctcp", "rtt": 2e-5, "seed": 3, "burst": 20e3, "load": load}
    state = read_state({**values, "speed": 0.002})
    result = hull.run(scenario.scenario(state), tmp_path / "out", jobs=1)
    for cell in scenario.cells(state):
        run = live(state, cell)
        shown: dict[int, tuple[int, list[float]]] = {}
        reached, until = 0.0, 0.0
        while reached < scenario.duration(state) - 1e-11:
            until += 7e-4
            reached = run.advance(until, 10**9)
            look = json.loads(run.take(10**6))
            windows = zip(*(flow["cwnd"] for flow in look["flows"]), strict=True)
            rows = zip(look["queue"], map(list, windows), strict=True)
            shown |= {round(t * 1e12): row for t, row in zip(look["t"], rows, strict=True)}
        folder = result.folder / "parts" / "base" / cell.scheme / "seed-3"
        queues = pl.read_parquet(folder / "queues.parquet")
        assert queues.height > 5000
        assert [shown[t][0] for t in queues["time_ps"]] == queues["bytes"].to_list()
        series = pl.read_parquet(folder / "series.parquet")
        first = scenario.first_flow(state)
        for flow in range(2):
            rows_of = series.filter(
                (pl.col("flow") == first + flow) & pl.col("time_ps").is_in(list(shown))
            )
            windows_of = [shown[t][1][flow] for t in rows_of["time_ps"]]
            assert rows_of.height == (len(shown) if load == 0 else 10_200)
            assert windows_of == pytest.approx((rows_of["cwnd_bytes"] / 1460).to_list(), abs=0.01)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"drain": 1}, "no headroom: a phantom queue that drains as fast as the link never fills"),
        ({"rtt": 1e-5, "flows": 20}, "20 flows, C RTT is 8.33 packets: no headroom is enough"),
        ({"rtt": 1e-5, "flows": 4}, "windows of 1.979 packets; the model has more than 2"),
    ],
)
def test_no_prediction_outside_the_phantom_queue_model(values: dict[str, float], why: str) -> None:
    (found,) = theory.predictions(read_state({"a": "hull", **values}))["schemes"]
    assert {p["why"] for p in found["predictions"]} == {why}
    assert {p["value"] for p in found["predictions"]} == {None}


def test_every_prediction_is_a_number_or_a_reason() -> None:
    for state in corners():
        found = theory.predictions(state)
        assert [scheme["id"] for scheme in found["schemes"]] == list(state.schemes)
        for scheme in found["schemes"]:
            for prediction in scheme["predictions"]:
                value = prediction["value"]
                if value is None:
                    assert prediction["why"]
                else:
                    assert math.isfinite(value)
                    assert value >= 0
                    assert prediction["source"]
        assert all(note.endswith((".", "!")) for note in found["notes"])


@pytest.mark.parametrize("rate", [1e9, 10e9])
def test_predictions_are_near_the_simulation(rate: float) -> None:
    """Two flows that send packets singly, DCTCP with K of 0.5 C d and HULL with its headroom."""
    rtt = 3e-4
    k = 0.5 * rate * rtt / 8
    state = read_state(
        {"a": "dctcp", "b": "hull", "rate": rate, "rtt": rtt, "load": 0, "k": k, "drain": 0.9}
    )
    dctcp, phantom = (
        {p["name"]: p["value"] for p in scheme["predictions"]}
        for scheme in theory.predictions(state)["schemes"]
    )
    measured = []
    for cell in scenario.cells(state):
        run = live(state, cell)
        run.advance(scenario.warmup(state) + 1000 * rtt, 10**9)
        measured.append(json.loads(run.take(400)))
    of_dctcp, of_hull = (look["stats"] for look in measured)
    # docs/theory/design.md: 1.1 to 1.2 times the queue, throughput within 1%.
    assert of_dctcp["queue_mean"] == pytest.approx(dctcp["queue_mean"], rel=0.25)
    assert of_dctcp["throughput"] == pytest.approx(dctcp["throughput"], rel=0.02)
    assert of_hull["throughput"] == pytest.approx(phantom["throughput"], rel=0.06)
    for look, predicted in zip(measured, (dctcp, phantom), strict=True):
        windows = sum(sum(flow["cwnd"]) / len(flow["cwnd"]) for flow in look["flows"]) / 2
        assert windows == pytest.approx(predicted["window"], rel=0.35)
    assert set(SCHEMES) >= {"dctcp", "hull"}


def test_alpha_is_below_equation_2_6_by_the_marked_share_of_a_window(
    tmp_path: Path,
) -> None:
    """docs/lab.md: alpha = sqrt(2 F / W); equation 2.6 is the case F = 1."""
    state = read_state({"a": "dctcp"})
    rtt = scenario.round_trip(state)
    found: dict[bool, float] = {}
    for vary in (True, False):
        content = scenario.scenario(state)
        content["measure"]["sample_interval"] = f"{round(rtt / 2 * 1e9)}ns"
        if not vary:
            del content["host"]["stack_jitter"]
        out = tmp_path / str(vary)
        hull.run(content, out, set=[f"run.duration={round(6000 * rtt * 1e9)}ns"])
        series = pl.read_parquet(next(out.rglob("parts/**/series.parquet")))
        series = series.filter(
            pl.col("time_ps") > pl.col("time_ps").max() // 3, pl.col("flow") == pl.col("flow").min()
        )
        steps = series["alpha"].diff().drop_nulls().to_numpy()
        marked = float((steps > 0).sum() / (steps != 0).sum())
        alpha = float(series["alpha"].to_numpy().mean())
        window = float(series["cwnd_bytes"].to_numpy().mean()) / (state.mtu - scenario.ACK)
        found[vary] = alpha / marked
        assert alpha == pytest.approx(math.sqrt(2 * found[vary] / window), rel=0.15)
        assert window == pytest.approx(51.7, rel=0.05)
    assert found[True] < 0.5
    assert found[False] > 0.6

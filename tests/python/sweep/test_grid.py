"""The grid of a sweep: values, ranges, short keys, and each scenario once."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from hull import UsageError, scenarios
from hull.sweeps.grid import Grid, make_grid, with_seed
from hull.sweeps.seeds import Seeds
from hull.sweeps.values import values_of


def grid(name: str, over: Mapping[str, object], *overrides: str) -> Grid:
    return make_grid(scenarios.text(name), f"{name}.toml", over, overrides)


def test_values_are_lists_ranges_or_both() -> None:
    assert values_of("k", "a,b , c") == ["a", "b", "c"]
    assert values_of("k", "0.2:0.6:0.1") == [0.2, 0.3, 0.4, 0.5, 0.6]
    assert values_of("k", "0.1:0.7:0.2,0.9") == [0.1, 0.3, 0.5, 0.7, 0.9]
    assert values_of("k", "800Mbps:950Mbps:50Mbps") == ["800Mbps", "850Mbps", "900Mbps", "950Mbps"]
    assert values_of("k", "20%:60%:20%") == ["20%", "40%", "60%"]
    assert values_of("k", '[1, 2],[3],{a = 1},"x,y"') == [[1, 2], [3], {"a": 1}, "x,y"]
    assert values_of("k", "true,false,7") == [True, False, 7]


def test_a_long_range_takes_no_time() -> None:
    started = time.process_time()
    assert len(values_of("k", "0.1:0.9:0.00001")) == 80001
    assert time.process_time() - started < 3


def test_values_from_python() -> None:
    assert values_of("k", np.arange(0.1, 0.35, 0.1)) == [0.1, 0.2, 0.3]
    assert values_of("k", range(1, 4)) == [1, 2, 3]
    assert values_of("k", "1Gbps") == ["1Gbps"]
    assert values_of("k", ["1:3:1", 9]) == [1, 2, 3, 9]
    assert values_of("k", 5) == [5]
    assert values_of("k", np.array(5)) == [5]
    assert values_of("k", np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ("0.6:0.2:0.1", "empty"),
        ("0.2:0.6:0", "step is 0"),
        ("0.2:0.6:-0.1", "empty"),
        ("0.2:0.6", "2 parts"),
        ("1:2:x", "no number"),
        ("800Mbps:1Gbps:50Mbps", "units"),
        ("1,,2", "empty value"),
        ("1,2,1", "twice"),
        ([], "no value"),
        ([None], "; expected texts"),
        ({"1Gbps", "2Gbps"}, "no order"),
    ],
)
def test_invalid_values(values: object, why: str) -> None:
    with pytest.raises(UsageError, match=why) as error:
        values_of("--over workload.load", values)
    assert str(error.value).startswith("--over workload.load: ")


def test_short_keys_resolve_to_the_only_match() -> None:
    keys = {
        axis.name: axis.key
        for axis in grid(
            "table4",
            {
                "scheme.drain": ["900Mbps"],
                "workload.load": [0.2],
                "scheme.marking.threshold": ["30KB"],
                "scheme.token_tick": ["16us"],
                "scheme.g": [0.1],
                "switch.buffer": ["700KB"],
            },
        ).axes
    }
    assert keys == {
        "scheme.drain": "switch.phantom_queue.drain",
        "workload.load": "workload.requests.load",
        "scheme.marking.threshold": "switch.marking.threshold",
        "scheme.token_tick": "pacer.token_tick",
        "scheme.g": "transport.dctcp.g",
        "switch.buffer": "switch.buffer",
    }


def test_k_is_the_marking_threshold() -> None:
    assert grid("table4", {"scheme.k": ["30KB"]}).axes[1].key == "switch.marking.threshold"


@pytest.mark.parametrize(
    ("name", "key", "named"),
    [
        (
            "table4",
            "scheme.threshold",
            "switch.marking.threshold or switch.phantom_queue.threshold",
        ),
        ("table4", "scheme.drian", "drain"),
        ("table4", "workload.lod", "workload.requests.load"),
        ("table4", "load", "workload.requests.load"),
        ("table4", "scheme.min", "switch.red.min"),
        ("table4", "switch.phantom_queue.drian", "switch.phantom_queue.drain"),
        ("table4", "run.seed", "seeds, their number"),
        ("table4", "zzz", "hull keys"),
    ],
)
def test_unknown_key_is_reported_with_similar_keys(name: str, key: str, named: str) -> None:
    with pytest.raises(UsageError) as error:
        grid(name, {key: [1]})
    assert str(error.value).startswith(f"over {key}: ")
    assert named in str(error.value)


def test_scheme_without_the_swept_key_runs_once() -> None:
    found = grid("table4", {"scheme.drain": "800Mbps,900Mbps", "workload.load": "0.2,0.4,0.6"})
    assert len(found.places) == 2 * 3 * 4
    assert len(found.cases) == 3 * (3 + 2)
    droptail = {place.case for place in found.places if place.scheme == "tcp_droptail"}
    assert len(droptail) == 3
    assert {found.cases[case].condition for case in droptail} == {
        "load=0.2",
        "load=0.4",
        "load=0.6",
    }
    hull = [found.cases[p.case] for p in found.places if p.scheme == "dctcp_pq950_pacer"]
    drains = [json.loads(case.scenario)["switch"]["phantom_queue"]["drain"] for case in hull]
    assert drains == ["800Mbps"] * 3 + ["900Mbps"] * 3


def test_files_sweep_applies_unless_overridden() -> None:
    own = grid("table4", {"scheme.drain": ["900Mbps"]})
    assert [axis.key for axis in own.axes] == [
        "workload.requests.load",
        "switch.phantom_queue.drain",
    ]
    assert own.axes[0].values == ("20%", "40%", "60%")
    assert [axis.name for axis in grid("table4", {"workload.load": [0.3]}).axes] == [
        "workload.load"
    ]
    assert not grid("table4", {}, "workload.requests.load=30%").axes


def test_a_range_in_the_file() -> None:
    text = scenarios.text("table4").replace('["20%", "40%", "60%"]', '"20%:60%:10%"')
    found = make_grid(text, "t.toml", {})
    assert found.axes[0].values == ("20%", "30%", "40%", "50%", "60%")
    assert len(found.places) == 5 * 4


def test_short_keys_in_the_file_and_in_settings() -> None:
    text = scenarios.text("table4").replace('"workload.requests.load" = ', '"workload.load" = ')
    text = text.replace("[sweep]", '[sweep]\n"scheme.drain" = "900Mbps:950Mbps:50Mbps"')
    found = make_grid(text, "t.toml", {})
    assert [(axis.name, axis.key) for axis in found.axes] == [
        ("scheme.drain", "switch.phantom_queue.drain"),
        ("workload.load", "workload.requests.load"),
    ]
    over = {"scheme.drain": "900Mbps:950Mbps:50Mbps", "workload.load": "20%,40%,60%"}
    assert found.cases == grid("table4", over).cases
    for by_hand in ("workload.load=30%", "workload.requests.load=30%"):
        left = make_grid(text, "t.toml", {}, (by_hand,))
        assert [axis.name for axis in left.axes] == ["scheme.drain"]


def test_duplicate_key_is_rejected() -> None:
    with pytest.raises(UsageError, match=r"swept as workload\.load already"):
        grid("table4", {"workload.load": [0.2], "workload.requests.load": [0.3]})
    with pytest.raises(UsageError, match=r"^set workload\.requests\.load"):
        grid("table4", {"workload.load": [0.2]}, "workload.requests.load=30%")


def test_oversized_sweep_is_rejected_at_once() -> None:
    with pytest.raises(UsageError, match=r"^over: 36080451 points \(80001 x 451\); expected at"):
        grid(
            "table4",
            {"workload.load": "0.1:0.9:0.00001", "scheme.drain": "500Mbps:950Mbps:1Mbps"},
        )
    for seeds in (3_000_000, 10**30):
        with pytest.raises(UsageError, match=r"^seeds: \d+ seeds of 12 scenarios are \d+ runs;"):
            Seeds(1, seeds, {}, None, 12)
    with pytest.raises(UsageError, match=r"run\.seed: 9223372036854775807 and 1 more; the last"):
        Seeds(2**63 - 1, 2, {}, None, 1)


def test_run_key_covers_its_inputs() -> None:
    one = grid("table4", {}).cases[0]
    other_title = grid("table4", {}, "title=x", "run.seeds=7", "run.seed=3").cases[0]
    other = grid("table4", {}, "run.duration=99s").cases[0]
    assert one.key(1) == other_title.key(1) != one.key(2)
    assert one.key(1) != other.key(1)
    assert json.loads(with_seed(one.scenario, 5))["run"]["seed"] == 5


def test_referenced_file_is_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sizes.csv").write_text("bytes,cdf\n1000,0.5\n2000,1\n")
    text = scenarios.text("table4").split("[workload.requests]")[0] + (
        '[workload.flows]\nload = "10%"\nsizes = { csv = "sizes.csv" }\n'
    )
    before = make_grid(text, "t.toml", {}).cases[0].key(1)
    assert make_grid(text, "t.toml", {}).cases[0].key(1) == before
    Path("sizes.csv").write_text("bytes,cdf\n1000,0.6\n2000,1\n")
    assert make_grid(text, "t.toml", {}).cases[0].key(1) != before

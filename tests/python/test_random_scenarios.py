"""Random scenarios as a Python program makes them: a run ends, loses or invents no packet, and a
second one writes the same bytes. crates/hull-sim/tests/acceptance/random_scenarios.rs draws more of
them and more widely; this is the way through text, JSON and files.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import snapshot
from hull import _core

Table = dict[str, Any]


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value, or none for a key that is left out."""
    return st.none() | values


def without_none(table: Table) -> Table:
    """The keys that are there."""
    return {key: value for key, value in table.items() if value is not None}


def size(least: int, most: int) -> st.SearchStrategy[str]:
    return st.integers(least, most).map(lambda number: f"{number}B")


def time(least: int, most: int) -> st.SearchStrategy[str]:
    return st.integers(least, most).map(lambda number: f"{number}ns")


NETWORKS = st.sampled_from(
    [
        {"star": {"hosts": 4}},
        {"dumbbell": {"pairs": 3, "rtts": ["300us", "200us"]}},
        {"multihop": {"s1": 1, "s2": 2, "s3": 1, "r2": 2}},
        {"leaf_spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2}},
        {
            "leaf_spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2},
            "failures": [{"link": "leaf0--spine0", "at": "300us", "until": "1ms"}],
        },
        {"tree": {"pods": 2, "tors_per_pod": 2, "hosts_per_tor": 2, "cores": 2}},
        {"fat_tree": {"k": 4}},
    ]
)

TRAFFIC = st.fixed_dictionaries(
    {
        "high_priority_below": st.just("10KB"),
        "bulk": optional(
            st.fixed_dictionaries(
                {"flows": st.integers(1, 6), "size": size(1, 300_000)},
                optional={"start_interval": time(0, 400_000)},
            )
        ),
        "flows": optional(
            st.fixed_dictionaries(
                {
                    "flows_per_second": st.floats(1000, 20_000),
                    "count": st.integers(1, 60),
                    "connections": st.sampled_from(["per_flow", "persistent"]),
                    "sizes": st.sampled_from(
                        [
                            {"fixed": "3KB"},
                            {"pareto": {"shape": 1.05, "mean": "20KB", "cut": "1MB"}},
                            {"csv": "websearch"},
                        ]
                    ),
                }
            )
        ),
        "incast": optional(
            st.fixed_dictionaries(
                {"total": size(100, 200_000), "queries": st.integers(1, 9), "jitter": time(0, 9000)}
            )
        ),
        "all_to_all": optional(st.fixed_dictionaries({"size": size(1, 20_000)})),
        "long_lived": st.just({"flows": [{"src": 0, "dst": 3, "stop": "900us"}]}),
    }
).map(without_none)

MARKING = st.sampled_from(
    [
        {},
        {"marking": {"threshold": "30KB", "on": "dequeue"}},
        {"red": {"min": "10pkts", "max": "30pkts", "weight": 6}},
        {"pi": {"reference": "9pkts", "interval": "10us", "flows": 2, "round_trip": "300us"}},
        {"phantom_queue": {"drain": "90%", "threshold": "3KB"}},
    ]
)

SWITCHES = st.builds(
    lambda keys, marking: {**without_none(keys), **marking},
    st.fixed_dictionaries(
        {
            "rate": st.sampled_from(["400Mbps", "1Gbps"]),
            "delay": time(0, 9000),
            "buffer": st.sampled_from(["60KB", "200pkts", "unlimited"]),
            "memory": optional(st.just({"size": "200KB", "reserved": "1KB"})),
            "priorities": st.integers(1, 3),
            "cut_through": optional(size(14, 1500)),
            "latency": time(0, 900),
            "loss": st.sampled_from(["0%", "1%"]),
        }
    ),
    MARKING,
)

HOSTS = st.fixed_dictionaries(
    {
        "rate": st.sampled_from(["1Gbps", "10Gbps"]),
        "delay": time(0, 9000),
        "offload": optional(size(1500, 65_535)),
        "stack_jitter": optional(st.just({"exponential": "2us"})),
        "receive": optional(
            st.fixed_dictionaries(
                {"frames": st.integers(1, 20), "wait": time(0, 40_000), "join": size(0, 65_535)}
            )
        ),
    }
).map(without_none)

TRANSPORTS = st.fixed_dictionaries(
    {
        "congestion_control": st.sampled_from(["newreno", "cubic", "bic", "dctcp", "vegas"]),
        "ecn": st.just(value=True),
        "handshake": st.booleans(),
        "ack_every": st.integers(1, 3),
        "min_rto": st.just("2ms"),
        "initial_rto": st.just("2ms"),
    }
)

SCENARIOS = st.fixed_dictionaries(
    {
        "name": st.just("random"),
        "run": st.just({"duration": "2ms", "drain": "15ms"}),
        "topology": NETWORKS,
        "host": HOSTS,
        "switch": SWITCHES,
        "transport": TRANSPORTS,
        "workload": TRAFFIC,
        "pacer": optional(st.just({"bucket": "3KB"})),
        "measure": st.just({"probe": {"interval": "200us"}}),
    }
).map(without_none)


def run(scenario: str, seed: int) -> tuple[Table, dict[str, bytes]]:
    """The summary of one run, and its files."""
    with tempfile.TemporaryDirectory() as folder:
        summary: Table = json.loads(_core.Run(scenario, "", "", seed).execute(folder))
        return summary, snapshot(Path(folder))


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(SCENARIOS, st.integers(0, 2**32))
def test_every_scenario_runs(scenario: Table, seed: int) -> None:
    (cell,) = json.loads(_core.expand(tomli_w.dumps(scenario), "random.toml", []))
    resolved = json.dumps(cell["scenario"])
    summary, files = run(resolved, seed)
    packets = summary["packets"]
    assert packets["sent"] == packets["delivered"] + packets["dropped"] + packets["in_flight"]
    assert 0 < summary["simulated_seconds"] <= 0.017
    assert {"flows.parquet", "latency.parquet", "links.parquet"} <= set(files)
    assert files == run(resolved, seed)[1]

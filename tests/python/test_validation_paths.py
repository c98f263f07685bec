"""The paths that `make validate` gives to ns-3 are hull's own: two flows that start together slow
each other down if and only if the computed paths share a link."""

import importlib.util
from pathlib import Path
from types import ModuleType

import hull

ROOT = Path(__file__).parents[2]
TREE = {"pods": 8, "tors_per_pod": 4, "hosts_per_tor": 6, "aggs_per_pod": 2, "cores": 8}
PAIRS = 64
# From two ToRs of pod 0 to two ToRs of pod 1: only links to and from cores can be shared.
ENDS = [(0, 24), (6, 30)]
PS_APART = 10**10


def paths_module() -> ModuleType:
    """Load validation/ns3/paths.py, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("paths", ROOT / "validation/ns3/paths.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_flows_contend_where_their_paths_meet(tmp_path: Path) -> None:
    seed = 5
    rows = [(i * PS_APART + j, *ends) for i in range(PAIRS) for j, ends in enumerate(ENDS)]
    flows = tmp_path / "flows.csv"
    lines = (f"{start},{src},{dst},60000" for start, src, dst in rows)
    flows.write_text("\n".join(["start_ps,src,dst,bytes", *lines]) + "\n", encoding="utf-8")
    scenario = {
        "name": "pairs",
        "title": "Two flows at a time",
        "source": "none",
        "run": {"duration": "1s", "seed": seed},
        "topology": {"tree": {}},
        "host": {"rate": "10Gbps", "delay": "1us"},
        "switch": {"rate": "10Gbps", "delay": "1us", "buffer": "unlimited"},
        "transport": {"initial_window": 100, "ack_every": 1},
        "workload": {"flows": str(flows)},
    }
    done = hull.run(scenario, tmp_path / "out").flows.sort("start_ps")
    slow = [max(done["fct_ps"][i : i + 2]) for i in range(0, 2 * PAIRS, 2)]
    chosen = paths_module().of_tree(TREE, [ends for _, *ends in rows], seed)
    meet = [chosen[i][:2] == chosen[i + 1][:2] for i in range(0, 2 * PAIRS, 2)]
    assert 2 <= sum(meet) <= PAIRS // 3, "about one in eight"
    # 60 KB take 48 us on one link, and at least half as much again if two flows share it.
    alone = min(slow)
    assert [time > 1.4 * alone for time in slow] == meet

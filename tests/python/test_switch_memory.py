"""The search for a switch memory: its list of claims, and what its rules give a lone port."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from hull import _core, scenarios
from hull.experiments import all_experiments
from hull.runs.plan import make_plan

sys.path.append(str(Path(__file__).parents[2] / "tools"))
search = importlib.import_module("switch_memory")
BYTES, PORTS = 4e6, 52
SMALLER = ("static 289 KB, cells, 6 KB per queue", "dynamic, alpha 8%")


def test_the_listed_claims_exist() -> None:
    listed = json.loads(search.CLAIMS.read_text(encoding="utf-8"))
    known = {claim.id for one in all_experiments().values() for claim in one.claims}
    found = [*listed["sought"], *listed["watched"]]
    assert set(found) <= known
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("rule", search.RULES)
def test_a_lone_port_gets_600_kb(rule: str) -> None:
    """By the closed form: the reservation, and min(limit, alpha P / (1 + alpha)) of the pool."""
    keys = search.RULES[rule]
    size = {key: _core.quantity("size", keys[key]) for key in ("reserved", "limit") if key in keys}
    alpha = _core.quantity("share", keys.get("alpha", "20%"))
    reserved = size.get("reserved", 0.0)
    pool = BYTES - PORTS * int(keys.get("queues", "1")) * reserved
    lone = reserved + min(size.get("limit", BYTES), alpha * pool / (1 + alpha))
    assert (lone < 300e3) if rule in SMALLER else (598e3 <= lone <= 667e3)


@pytest.mark.parametrize("name", ["thesis-benchmark", "thesis-rack", "thesis-long"])
def test_candidates_are_valid_scenarios(name: str) -> None:
    """Every rule, window and host once."""
    text = scenarios.text(name)
    for number, rule in enumerate(search.RULES):
        window = search.WINDOWS[number % len(search.WINDOWS)]
        host = list(search.HOSTS)[number % len(search.HOSTS)]
        settings = search.settings((rule, window, host))
        assert make_plan(text, name, settings, seeds=1).cells

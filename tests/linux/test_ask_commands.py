"""`hull-linux` accepts the options of the runbook of `hull ask`."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hull.ask.host_steps import hull_options
from hull.ask.network import read_network
from hull.ask.question import Question, hull_name, settings_for
from hull.ask.rollout import rollout_of
from hull.ask.verdict import Advice

HULL = Path(sys.executable).with_name("hull-linux")
pytestmark = pytest.mark.skipif(not HULL.exists(), reason="needs `make linux`")


@pytest.mark.parametrize("form", ["8@1G", "2x20@25G,2x100G", "4@400G"])
@pytest.mark.parametrize("part", [0.01, 0.125])
def test_attach_accepts_the_recommended_settings(form: str, part: float) -> None:
    network = read_network(form)
    question = Question(network, (part,), ("dctcp",), settings_for(network))
    rollout = rollout_of(question, Advice(hull_name(part), "", "dctcp"), ())
    assert rollout is not None
    words = ["attach", "nodev0", *shlex.split(hull_options(rollout))]
    done = subprocess.run([HULL, *words], capture_output=True, text=True, check=False)
    # The program parses every option before it looks up the device.
    assert done.returncode != 0
    assert "nodev0" in done.stderr
    assert "invalid value" not in done.stderr
    assert "unexpected argument" not in done.stderr

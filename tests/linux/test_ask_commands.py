"""`hull-linux` accepts the commands that `hull ask` prints."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hull.ask.command import deploy_commands
from hull.ask.network import read_network
from hull.ask.question import Question, hull_name, settings_for
from hull.ask.verdict import Advice

HULL = Path(sys.executable).with_name("hull-linux")
pytestmark = pytest.mark.skipif(not HULL.exists(), reason="needs `make linux`")


@pytest.mark.parametrize("form", ["8@1G", "2x20@25G,2x100G", "4@400G"])
@pytest.mark.parametrize("part", [0.01, 0.125])
def test_attach_accepts_the_recommended_settings(form: str, part: float) -> None:
    network = read_network(form)
    question = Question(network, (part,), ("dctcp",), settings_for(network))
    *_, attach = deploy_commands(question, Advice(hull_name(part), ""))
    words = shlex.split(attach.replace(" eth0 ", " nodev0 "))
    assert words[:2] == ["hull", "linux"]
    done = subprocess.run([HULL, *words[2:]], capture_output=True, text=True, check=False)
    # The program parses every option before it looks up the device.
    assert done.returncode != 0
    assert "nodev0" in done.stderr
    assert "invalid value" not in done.stderr
    assert "unexpected argument" not in done.stderr

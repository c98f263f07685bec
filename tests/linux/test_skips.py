"""A test in Rust that this machine cannot run is reported as skipped."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

LOADER = Path(__file__).parents[2] / "linux" / "hull-linux"
USER_ID = 65534


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_skips_what_only_root_can_run(tmp_path: Path) -> None:
    build = ["cargo", "test", "--release", "--locked", "--no-run", "--message-format=json"]
    built = subprocess.run(
        [*build, "--test", "offloads"], cwd=LOADER, capture_output=True, text=True, check=True
    )
    artifacts = map(json.loads, built.stdout.splitlines())
    program = next(
        each["executable"]
        for each in artifacts
        if each.get("executable") and each["target"]["name"] == "offloads"
    )
    # A user may not see the folder in which it was built.
    shutil.copy(program, tmp_path / "offloads")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    done = subprocess.run(
        [tmp_path / "offloads"], capture_output=True, text=True, check=False, user=USER_ID
    )
    assert done.returncode == 0, done.stderr
    for name in ("ipv4_and_ipv6_are_marked", "tagged_packets_are_marked"):
        assert f"test {name} ... ignored (skipped: only root loads eBPF programs)" in " ".join(
            done.stdout.split()
        )
    assert "0 passed; 0 failed; 2 ignored" in done.stdout

"""Writes wheel/data/share: the completions of bash, zsh and fish where these look for them.

The scripts are the output of `hull completion`. Run by `make man`; tests/python/test_man.py
compares.
"""

from pathlib import Path

from hull.cli.completion import SCRIPTS

SHARE = Path(__file__).resolve().parent.parent / "wheel" / "data" / "share"
FILES = {
    "bash": SHARE / "bash-completion" / "completions" / "hull",
    "zsh": SHARE / "zsh" / "site-functions" / "_hull",
    "fish": SHARE / "fish" / "vendor_completions.d" / "hull.fish",
}

if __name__ == "__main__":
    for shell, file in FILES.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SCRIPTS[shell], encoding="utf-8")

"""The scenario files that hull ships, to run, copy and change."""

from importlib.resources import files


def names() -> list[str]:
    """Names of the shipped scenarios, without ".toml"."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in files(__name__).iterdir()
        if entry.name.endswith(".toml")
    )


def descriptions() -> dict[str, str]:
    """One line for each shipped scenario, by name: its title."""
    import tomllib

    return {name: tomllib.loads(text(name))["title"] for name in names()}


def text(name: str) -> str:
    """The file of that name."""
    return (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")

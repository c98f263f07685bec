"""Writes python/hull/inputs/scenario_types.py: the scenario's types, from its JSON Schema.

The one definition of a scenario is in Rust; `hull schema` tells its schema, this its types. Run by
`make types`, held to the schema by tests/python/test_scenario_types.py.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from hull import _core

TARGET = Path(__file__).resolve().parent.parent / "python" / "hull" / "inputs" / "scenario_types.py"
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
HEAD = '''"""The keys of a scenario, for type checkers: `scenario: hull.Scenario = {...}`.

Written by tools/make_types.py (`make types`) from the definition in crates/hull-sim; do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
'''


def annotation(schema: dict[str, Any]) -> str:
    """The Python type of a schema; a definition is named."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "anyOf" in schema:
        kept = [part for part in schema["anyOf"] if part.get("type") != "null"]
        return " | ".join(annotation(part) for part in kept)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(annotation({**schema, "type": k}) for k in kind if k != "null")
    if kind == "array":
        items = schema["items"]
        return f"list[{annotation(items) if isinstance(items, dict) else 'Any'}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {annotation(values) if isinstance(values, dict) else 'Any'}]"
    return SIMPLE.get(str(kind), "Any")


def choices(schema: dict[str, Any]) -> list[str] | None:
    """The allowed texts of an enumeration."""
    if "oneOf" in schema:
        return [part["const"] for part in schema["oneOf"]]
    names = schema.get("enum")
    return list(names) if names else None


def docstring(text: str) -> str:
    """A docstring, indented for a class body."""
    lines = textwrap.wrap(text.replace("\n", " "), 90)
    quoted = f'"""{lines[0]}"""' if len(lines) == 1 else '"""' + "\n".join(lines) + '\n"""'
    return textwrap.indent(quoted, "    ")


def typed_dict(name: str, schema: dict[str, Any]) -> str:
    """A table of the scenario as a class."""
    lines = [f"class {name}(TypedDict):", docstring(schema.get("description", name)), ""]
    required = schema.get("required", [])
    for key, value in schema["properties"].items():
        inner = annotation(value)
        lines.append(f"    {key}: {inner if key in required else f'NotRequired[{inner}]'}")
        if "description" in value:
            lines.append(docstring(value["description"]))
    return "\n".join(lines)


def source() -> str:
    """The module's text, as ruff formats it."""
    schema = json.loads(_core.schema())
    parts = [HEAD]
    tables = []
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            tables.append(typed_dict(name, definition))
        elif (names := choices(definition)) is not None:
            parts.append(f"{name} = Literal[{', '.join(map(repr, names))}]")
        else:
            parts.append(f"{name} = {annotation(definition)}")
        if "properties" not in definition and "description" in definition:
            parts.append(textwrap.dedent(docstring(definition["description"])))
    text = (
        "\n".join(parts)
        + "\n\n"
        + "\n\n".join([*reversed(tables), typed_dict("Scenario", schema)])
        + "\n"
    )
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="utf-8")

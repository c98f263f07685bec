"""Writes what the wheel contains of others: THIRD_PARTY_LICENSES.txt, the licences, and
hullnet.cdx.json, a software bill of materials (CycloneDX 1.6).

Both follow from Cargo.lock and the sources that cargo has fetched for it, and from the JavaScript
in python/hull. Run by `make third-party`, for `make wheel`.
"""

import hashlib
import json
import re
import subprocess
import textwrap
import tomllib
import uuid
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LICENSES = ROOT / "THIRD_PARTY_LICENSES.txt"
MATERIALS = ROOT / "hullnet.cdx.json"
TARGET = "x86_64-unknown-linux-gnu"
PLOT = ROOT / "python/hull/lab/page/vendor"
VEGA = ROOT / "python/hull/report/vega-licenses.txt"
C_LICENSES = ("zstd/LICENSE", "c_src/mimalloc/v3/LICENSE")
"""In the crates that compile C from other projects."""
LICENSE_FILE = re.compile(r"licen[cs]e|copying|notice|unlicense", re.IGNORECASE)

Package = dict[str, Any]


def linked() -> tuple[list[Package], dict[str, list[str]]]:
    """The crates in the extension module, and by the id of each the ids that it uses. What only
    compiles, as procedural macros do, is left out.
    """
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline"]
    text = subprocess.run(
        [*command, f"--filter-platform={TARGET}"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    found = json.loads(text)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node["deps"] for node in found["resolve"]["nodes"]}
    wanted = [key for key, package in packages.items() if package["name"] == "hull-py"]
    uses: dict[str, list[str]] = {}
    while wanted:
        key = wanted.pop()
        if key not in uses:
            uses[key] = [
                dep["pkg"]
                for dep in nodes[key]
                if any(kind["kind"] is None for kind in dep["dep_kinds"])
                and not _is_macro(packages[dep["pkg"]])
            ]
            wanted += uses[key]
    order = sorted(uses, key=lambda key: (packages[key]["name"], packages[key]["version"]))
    return [packages[key] for key in order], uses


def _is_macro(package: Package) -> bool:
    return any("proc-macro" in target["kind"] for target in package["targets"])


def license_of(package: Package) -> str:
    """The SPDX expression; older crates write a slash for OR."""
    return str(package["license"]).replace("/", " OR ")


def _alternatives(package: Package) -> list[str]:
    return license_of(package).split(" OR ") if " AND " not in license_of(package) else []


def texts(package: Package) -> list[str]:
    """The licences and notices in the sources of a crate."""
    folder = Path(package["manifest_path"]).parent
    files = [path for path in folder.iterdir() if LICENSE_FILE.search(path.name)]
    files += [folder / path for path in C_LICENSES]
    return [path.read_text(encoding="utf-8").strip() for path in sorted(files) if path.is_file()]


def licenses(packages: Iterable[Package]) -> str:
    """The text of THIRD_PARTY_LICENSES.txt."""
    others = [package for package in packages if package["source"]]
    apache = [package for package in others if "Apache-2.0" in _alternatives(package)]
    rest = [package for package in others if package not in apache]
    users: dict[str, list[str]] = defaultdict(list)
    by_repository = {package["repository"]: texts(package) for package in rest if texts(package)}
    for package in rest:
        for text in texts(package) or by_repository[package["repository"]]:
            users[text].append(f"{package['name']} ({license_of(package)})")
    for package in apache:
        for path in sorted(Path(package["manifest_path"]).parent.glob("NOTICE*")):
            text = path.read_text(encoding="utf-8").strip()
            users[text].append(f"{package['name']} (notice)")
    users[(PLOT / "LICENSE").read_text(encoding="utf-8").strip()].append("uPlot (MIT)")
    names_of = ", ".join(f"{package['name']} {package['version']}" for package in apache)
    parts = [
        "Third-party software in hull's wheel, with its licences.",
        textwrap.fill(
            "Used under the Apache License 2.0, whose text is in LICENSE: the Rust standard "
            f"library, {names_of}.",
            break_on_hyphens=False,
            break_long_words=False,
        ),
    ]
    for text, names in sorted(users.items(), key=lambda item: item[1]):
        parts.append(f"{'-' * 80}\n{', '.join(names)}\n\n{text}")
    parts.append(f"{'-' * 80}\n{VEGA.read_text(encoding='utf-8').strip()}")
    return "\n\n".join(parts) + "\n"


def materials(packages: list[Package], uses: dict[str, list[str]]) -> str:
    """The text of hullnet.cdx.json: the same for the same locks, so it has no time."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in locked}
    components, references = [], {}
    for package in packages:
        name, version = package["name"], package["version"]
        reference = f"pkg:cargo/{name}@{version.replace('+', '%2B')}"
        references[package["id"]] = reference
        component = {
            "type": "library",
            "bom-ref": reference,
            "name": name,
            "version": version,
            "licenses": [{"expression": license_of(package)}],
            "purl": reference,
        }
        if checksum := checksums[name, version]:
            component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        components.append(component)
    plot = _plot()
    components.append(plot)
    module = next(package for package in packages if package["name"] == "hull-py")
    hull = module["version"]
    whole = f"pkg:pypi/hullnet@{hull}"
    depends = [
        {"ref": references[key], "dependsOn": sorted(references[one] for one in uses[key])}
        for key in sorted(uses, key=references.__getitem__)
    ]
    depends.append({"ref": whole, "dependsOn": [plot["bom-ref"], references[module["id"]]]})
    content = {
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": whole,
                "name": "hullnet",
                "version": hull,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": whole,
            }
        },
        "components": components,
        "dependencies": depends,
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    head = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
    }
    return json.dumps({**head, **content}, indent=1) + "\n"


def _plot() -> dict[str, Any]:
    script = PLOT / "uPlot.esm.js"
    data = script.read_bytes()
    found = re.search(rb"uPlot \(v([\d.]+)\)", data)
    assert found, f"{script}: no version"
    reference = f"pkg:npm/uplot@{found[1].decode()}"
    return {
        "type": "library",
        "bom-ref": reference,
        "name": "uplot",
        "version": found[1].decode(),
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}],
        "licenses": [{"license": {"id": "MIT"}}],
        "purl": reference,
    }


def main() -> None:
    """Writes both."""
    packages, uses = linked()
    LICENSES.write_text(licenses(packages), encoding="utf-8")
    MATERIALS.write_text(materials(packages, uses), encoding="utf-8")


if __name__ == "__main__":
    main()

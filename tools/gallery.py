"""Gallery: the pictures of docs/gallery, made of the figures in a folder of `hull reproduce`.

For each experiment `<ID>.webp`, which its page and its card in the gallery show, and in record.json
which of its claims hold, by the claims' IDs, in which size it was run, what its seeds
decide, and what was measured for each claim.
Usage: gallery.py RESULTS [FOLDER]. RESULTS holds `<ID>-full` or `<ID>-quick`; where it has both,
the full run is taken, and where it has neither the earlier pictures stay, and the command says so.
FOLDER is docs/gallery otherwise.
"""

import json
import sys
from pathlib import Path
from typing import Any

from PIL import Image

from hull.experiments import all_experiments

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
RECORD = "record.json"
ROOM = (1100, 1300)
"""Largest width and height, in pixels."""


def fitted(image: Image.Image) -> Image.Image:
    """The image, as large as fits."""
    scale = min(ROOM[0] / image.width, ROOM[1] / image.height, 1)
    size = (round(image.width * scale), round(image.height * scale))
    return image.resize(size, Image.Resampling.LANCZOS)


def in_palette(image: Image.Image) -> Image.Image:
    """In a palette large enough for any of our figures; the rest is only the smoothing of edges."""
    return image.quantize(128, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).convert("RGB")


def entry(summary: dict[str, Any], size: str) -> dict[str, Any]:
    """What the gallery says beside a picture."""
    run = {"size": size, "seeds": len(summary["seeds"])}
    found = {c["id"]: {"measured": c["measured"], "holds": c["holds"]} for c in summary["claims"]}
    return {
        **run,
        "claims": {id_: claim["holds"] for id_, claim in found.items()},
        "states": {claim["id"]: claim["state"] for claim in summary["claims"]},
        "measured": {**run, "claims": found},
    }


def make(results: Path, gallery: Path) -> list[str]:
    """Write what `results` has into `gallery`; returns the experiments that it does not have."""
    gallery.mkdir(exist_ok=True)
    path = gallery / RECORD
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    missing = []
    for id_ in all_experiments():
        sizes = [size for size in ("full", "quick") if (results / f"{id_}-{size}").is_dir()]
        if not sizes:
            missing.append(id_)
            continue
        folder = results / f"{id_}-{sizes[0]}"
        with Image.open(folder / "figure.png") as figure:
            image = in_palette(fitted(figure.convert("RGB")))
        image.save(gallery / f"{id_}.webp", lossless=True, quality=75, method=3)
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        record[id_] = entry(summary, sizes[0])
    text = json.dumps({id_: record[id_] for id_ in sorted(record)}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return missing


def main() -> int:
    """Make the pictures; 1 where an experiment has none, not even an earlier one."""
    if len(sys.argv) not in (2, 3) or not Path(sys.argv[1]).is_dir():
        print("gallery.py: RESULTS: a folder of hull reproduce is needed", file=sys.stderr)
        return 2
    gallery = Path(sys.argv[2]) if len(sys.argv) == 3 else GALLERY
    missing = make(Path(sys.argv[1]), gallery)
    if missing:
        print(f"gallery.py: {sys.argv[1]} has no results of {', '.join(missing)}", file=sys.stderr)
    return int(any(not (gallery / f"{id_}.webp").exists() for id_ in missing))


if __name__ == "__main__":
    sys.exit(main())

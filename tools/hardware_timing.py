"""Timing diagrams of docs/hardware: WaveJSON, held against the modules and rendered by WaveDrom.

The diagrams are taken from the modules by hand, register by register. `CHECKS` holds them against
the sources: a sentence of the module's comments gives a latency, and the diagram must have it
between two signals. The modules' tests hold the same latencies against the running module.
"""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import wavedrom

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "docs" / "hardware"
TEXT, MUTED = "var(--color-foreground-primary)", "var(--color-foreground-muted)"
BORDER, PAGE = "var(--color-foreground-border)", "var(--color-background-primary)"
OURS, BUS, MARK = "#009E73", "#2585C7", "#D55E00"
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Check:
    """A latency in clocks, the sentence that states it, two signals first high so far apart."""

    source: str
    sentence: str
    first: str
    second: str
    clocks: int


# A packet that the pacer takes.
PACKET = "packet_valid & packet_ready"
CHECKS = {
    "phantom_queue": (
        Check(
            "rtl/switch/phantom_queue.sv",
            "the answer comes four clocks later",
            "packet_valid",
            "answer_valid",
            4,
        ),
    ),
    "ecn_marker": (
        Check(
            "rtl/switch/ecn_marker.sv",
            "WINDOW + 4 clocks, which is 10, 8, 6 and 5 clocks for 64",
            "s_tvalid",
            "m_tvalid",
            10,
        ),
        Check(
            "rtl/switch/ecn_marker.sv", "3 clocks after its last beat", "s_tlast", "frame_done", 3
        ),
    ),
    "frame_fifo": (
        Check(
            "rtl/stream/frame_fifo.sv",
            "the first beat leaves three clocks later",
            "departs",
            "m_tvalid",
            3,
        ),
    ),
    "switch_port": (
        Check(
            "rtl/switch/port_datapath.sv",
            "21, 19, 17 or 16 clocks (64, 128, 256, 512 bits) after its last beat",
            "s_tlast",
            "m_tvalid",
            16,
        ),
        # The questions and answers of the phantom queue inside.
        Check(
            "rtl/switch/port_datapath.sv",
            "The phantom queue: asked one clock after the departure",
            "frame_in",
            "departs",
            4,
        ),
    ),
    "pacer": (
        Check(
            "rtl/nic/pacer.sv",
            "the decision, 8 clocks after the packet was taken",
            PACKET,
            "admission_valid",
            8,
        ),
        # Here the head appears at an odd clock: 7 to the first even one, 2 to the release.
        Check(
            "docs/hardware/pacer.md",
            "the first even clock that is at least 6 clocks after the head appeared; "
            "`release_head` comes 2 clocks after the decision",
            "head_valid",
            "release_head",
            9,
        ),
    ),
    "flow_association": (
        Check(
            "rtl/nic/flow_association.sv",
            "the answers come eight clocks later",
            "ece_valid",
            "ece_answer_valid",
            8,
        ),
        Check(
            "rtl/nic/flow_association.sv",
            "the answers come eight clocks later",
            "lookup_valid",
            "lookup_answer_valid",
            8,
        ),
    ),
    "latency_meter": (
        Check(
            "rtl/meter/probe_parser.sv",
            "The result comes 4 clocks after the transfer of the last beat",
            "entry_tlast",
            "enter_probe",
            4,
        ),
        Check(
            "rtl/meter/probe_parser.sv",
            "The result comes 4 clocks after the transfer of the last beat",
            "exit_tlast",
            "leave_probe",
            4,
        ),
    ),
    "header_parser": (
        Check(
            "rtl/stream/header_parser.sv",
            "The answer comes ten clocks after the clock in which the beat that decides",
            "s_tlast",
            "header_valid",
            10,
        ),
    ),
    "ece_snooper": (
        Check(
            "rtl/nic/ece_snooper.sv",
            "Eleven clocks after the frame's last beat",
            "s_tlast",
            "ece_valid",
            11,
        ),
    ),
    "nic": (
        Check(
            "docs/hardware/nic.md",
            "leaves 32 or 33 clocks after its last beat",
            "s_host_tlast",
            "m_mac_tvalid",
            33,
        ),
        Check("docs/hardware/pacer.md", "follow 8 clocks later", PACKET, "admission_valid", 8),
        Check(
            "rtl/nic/flow_association.sv",
            "the answers come eight clocks later",
            "header_valid",
            "lookup_answer_valid",
            8,
        ),
    ),
    "switch": (
        # A look-up two clocks after the address was learned; its entry is known in the next clock.
        Check(
            "rtl/switch/mac_table.sv",
            "What is learned is found from two clocks later on",
            "learn_valid",
            "known",
            3,
        ),
    ),
}

TITLES = {
    "phantom_queue": "Three packets and the phantom queue's answers, four clocks later",
    "ecn_marker": "A frame of eight beats through the ECN marker, ten clocks later with CE set",
    "frame_fifo": "Two frames into the frame FIFO and out of it without a gap",
    "switch_port": "Two frames of one beat through the datapath of a switch port",
    "pacer": "A packet that the pacer queues, and its release",
    "flow_association": "An ACK with ECN-Echo, two look-ups and their answers",
    "latency_meter": "A probe that enters a switch and leaves it five clocks later",
    "header_parser": "Two frames of one beat and their headers, ten clocks later",
    "ece_snooper": "An ACK with ECN-Echo, one without, and a bad one with it",
    "nic": "A frame of one beat on its way through a NIC that does not pace it",
    "switch": "An address that is learned, and look-ups before and after it is in the table",
}


def first_high(waves: dict[str, str], signals: str) -> int:
    """The first clock in which a signal is high, or all of several, as `a & b`."""
    levels = []
    for signal in signals.split(" & "):
        level, wave = "", waves[signal]
        for number, mark in enumerate(wave):
            level += level[number - 1] if mark == "." else mark
        levels.append(level)
    return [set(clock) == {"1"} for clock in zip(*levels, strict=True)].index(True)


def check(name: str, diagram: dict[str, list[dict[str, str]]]) -> None:
    """Hold a diagram against the comments of its module.

    Raises:
        ValueError: they disagree.

    """
    waves = {lane["name"]: lane["wave"] for lane in diagram["signal"] if lane}
    if len({len(wave) for wave in waves.values()}) != 1:
        raise ValueError(f"{name}: signals of different length")
    for found in CHECKS[name]:
        text = (ROOT / found.source).read_text(encoding="utf-8")
        words = " ".join(re.sub(r"^\s*// ?|//", " ", text, flags=re.MULTILINE).split())
        if " ".join(found.sentence.split()) not in words:
            raise ValueError(f"{found.source} no longer says: {found.sentence}")
        clocks = first_high(waves, found.second) - first_high(waves, found.first)
        if clocks != found.clocks:
            raise ValueError(
                f"{name}: {found.second} is {clocks} clocks after {found.first}, "
                f"{found.source} says {found.clocks}"
            )


LINE = {"fill": "none", "stroke": TEXT, "stroke-width": "1", "stroke-linejoin": "round"}
CLASSES = {
    "s1": LINE,
    "s2": {**LINE, "stroke": MUTED, "stroke-width": "0.5"},
    "s3": {**LINE, "stroke-dasharray": "1 3"},
    "s4": LINE,
    "s6": {"fill": TEXT, "stroke": "none"},
    # Data: 2 and =; 3; 4, changed here; 5, the next frame.
    "s5": {"fill": PAGE, "stroke": "none"},
    "s7": {"fill": "none", "stroke": "none"},
    "s8": {"fill": OURS, "fill-opacity": "0.3", "stroke": "none"},
    "s9": {"fill": MARK, "fill-opacity": "0.35", "stroke": "none"},
    "s10": {"fill": BUS, "fill-opacity": "0.3", "stroke": "none"},
    "muted": {"fill": MUTED, "font-size": "11"},
    "info": {"fill": TEXT},
}
"""WaveDrom's classes as attributes: a style sheet inside a page would hold for the whole page."""


def timing(name: str, text: str, title: str) -> str:
    """A timing diagram as part of a page."""
    root = ElementTree.fromstring(wavedrom.render(text).tostring())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{SVG}style":
                parent.remove(child)
    used = {use.get(HREF, "").removeprefix("#") for use in root.iter(f"{SVG}use")}
    for defs in root.iter(f"{SVG}defs"):
        for brick in list(defs):
            if brick.tag == f"{SVG}g" and brick.get("id") not in used:
                defs.remove(brick)
    for element in root.iter():
        named = element.attrib.pop("class", "")
        if element.tag == f"{SVG}text" and not named and "style" not in element.attrib:
            element.set("font-size", "11")
        if element.tag == f"{SVG}use":
            element.set("x", element.attrib.pop("transform")[len("translate(") : -1])
        element.attrib.pop("{http://www.w3.org/XML/1998/namespace}space", None)
        for key, value in CLASSES.get(named, {}).items():
            element.set(key, value)
        if "id" in element.attrib:
            element.set("id", f"{name}-{element.get('id')}")
        if HREF in element.attrib:
            element.set("href", f"#{name}-{element.attrib.pop(HREF).removeprefix('#')}")
        style = element.get("style", "")
        if style:
            style = re.sub(r"url\(#(\w+)\)", rf"url(#{name}-\1)", style)
            style = style.replace("#FFF", PAGE).replace("#0041c4", BUS).replace("#888", BORDER)
            element.set("style", style.replace("font-size:8px", "font-size:11px"))
    width, height = (float(root.get(key, "0")) for key in ("width", "height"))
    root.attrib.clear()
    root.set("viewBox", f"0 0 {width:g} {height + 4:g}")
    root.set("font-family", "sans-serif")
    root.set("font-size", "13")
    root.set("fill", TEXT)
    root.set("style", f"max-width:{width:g}px")
    ElementTree.register_namespace("", SVG[1:-1])
    svg = ElementTree.tostring(root, encoding="unicode")
    # Nothing but what is named is left of the ids.
    needed = set(re.findall(r'href="#([\w-]+)"|url\(#([\w-]+)\)', svg))
    needed_ids = {one or other for one, other in needed}
    svg = re.sub(r' id="([\w-]+)"', lambda m: m[0] if m[1] in needed_ids else "", svg)
    head, rest = svg.split(">", 1)
    head += f' role="img"><title>{html.escape(title)}</title>'
    return f'<div class="drawing">{head}{rest}</div>\n'


def drawn(name: str) -> str:
    """The diagram of a module, checked."""
    text = (SOURCES / f"{name}.wavedrom.json").read_text(encoding="utf-8")
    check(name, json.loads(text))
    # Ids are short: each is written for each half clock of each signal.
    short = "".join(word[0] for word in ("timing", *name.split("_")))
    return timing(short, text, TITLES[name])

"""Drawings of docs/hardware: block diagrams, and timing diagrams (hardware_timing.py).

Writes SVG to docs/drawn, each part of a page, in the page's colours, light or dark. Usage:
hardware_drawings.py [FOLDER]. A second.
"""

import html
import sys
from dataclasses import dataclass, field
from pathlib import Path

from hardware_timing import BORDER, BUS, MARK, MUTED, OURS, ROOT, TEXT, TITLES, drawn

DRAWINGS = ROOT / "docs" / "drawn"


@dataclass
class Blocks:
    """A block diagram: boxes, arrows and text in a frame of `width` times `height`."""

    name: str
    title: str
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, text: str, size: int = 12, anchor: str = "start", fill: str = TEXT
    ) -> None:
        """One line of text."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}">{html.escape(text)}</text>'
        )

    def group(self, x: float, y: float, width: float, height: float, label: str) -> None:
        """A border around boxes, its label above."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="none" '
            f'stroke="{BORDER}" stroke-width="1.2"/>'
        )
        self.text(x + 4, y - 6, label, 12, fill=MUTED)

    def box(
        self, x: float, y: float, width: float, height: float, *lines: str, colour: str = TEXT
    ) -> None:
        """A box; the first line is its name, the others are small."""
        stroke = 1.4 if colour == TEXT else 2.2
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="none" '
            f'stroke="{colour}" stroke-width="{stroke}"/>'
        )
        top = y + height / 2 + 4.5 - 7.5 * (len(lines) - 1)
        for number, line in enumerate(lines):
            size = 12 if number == 0 else 11
            self.text(x + width / 2, top + 15 * number, line, size, "middle")

    def arrow(
        self,
        *points: tuple[float, float],
        colour: str = TEXT,
        dashed: bool = False,
        tip: bool = True,
    ) -> None:
        """A line through points, with a tip at its end."""
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        end = {TEXT: "tip", MARK: "mark", BUS: "bus"}[colour]
        marker = f' marker-end="url(#{self.name}-{end})"' if tip else ""
        self.parts.append(
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}{marker}/>'
        )

    def svg(self) -> str:
        """The drawing as part of a page."""
        tips = "".join(
            f'<marker id="{self.name}-{name}" viewBox="0 0 10 10" refX="9" refY="5" '
            f'markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0 L10 5 L0 10 z" fill="{colour}"/></marker>'
            for name, colour in (("tip", TEXT), ("mark", MARK), ("bus", BUS))
            if any(f"#{self.name}-{name})" in part for part in self.parts)
        )
        body = "\n".join(self.parts)
        return (
            f'<div class="drawing"><svg viewBox="0 0 {self.width} {self.height}" '
            f'xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif">'
            f"<title>{html.escape(self.title)}</title>\n<defs>{tips}</defs>\n{body}\n</svg></div>\n"
        )


def rack() -> Blocks:
    """Where the modules sit between two servers of a rack (paper, figure 7)."""
    d = Blocks(
        "hw-rack",
        "Where the modules sit in a rack: the NIC's pacer behind a server, the switch port with "
        "the phantom queue before each cable to a server, the latency meter around the switch",
        760,
        240,
    )
    d.group(6, 70, 216, 124, "sending server")
    d.box(16, 96, 78, 62, "host", "TCP stack,", "DCTCP")
    d.box(112, 82, 100, 92, "hull_nic", "pacer,", "association,", "ECE snooper", colour=OURS)
    d.group(300, 70, 270, 124, "switch")
    d.box(312, 96, 92, 62, "switching", "fabric")
    lines = ("hull_switch_port", "queue,", "threshold marker,", "phantom queue")
    d.box(430, 82, 128, 92, *lines, colour=OURS)
    d.group(646, 70, 108, 124, "receiving server")
    d.box(658, 96, 86, 62, "host", "echoes CE", "as ECE")
    d.arrow((94, 120), (110, 120))
    d.arrow((212, 120), (310, 120))
    d.arrow((404, 120), (428, 120))
    d.arrow((558, 120), (656, 120))
    d.text(250, 112, "link", 11, "middle", MUTED)
    d.text(624, 112, "link", 11, "middle", MUTED)
    d.box(330, 8, 196, 36, "latency_meter: listens", colour=OURS)
    d.arrow((274, 120), (274, 26), (328, 26), dashed=True)
    d.arrow((598, 120), (598, 26), (528, 26), dashed=True)
    d.text(268, 60, "probe enters", 11, "end", MUTED)
    d.text(592, 60, "probe leaves", 11, "end", MUTED)
    d.arrow((701, 158), (701, 232), (162, 232), (162, 176), colour=MARK, dashed=True)
    d.text(430, 224, "ACKs with ECN-Echo", 11, "middle", MARK)
    return d


def switch_port() -> Blocks:
    """Inside of a switch port."""
    d = Blocks(
        "hw-switch-port",
        "Inside hull_switch_port: frames pass the frame FIFO and the ECN marker; the threshold "
        "marker looks at arrivals, the phantom queue at departures; both marks go to "
        "the ECN marker",
        760,
        340,
    )
    d.group(96, 26, 560, 308, "hull_switch_port")
    d.box(124, 116, 150, 58, "frame_fifo", "whole frames, drop-tail")
    d.box(480, 116, 150, 58, "ecn_marker", "sets CE, checksum")
    d.box(124, 44, 150, 44, "threshold_marker", "queue > K on arrival", colour=OURS)
    d.box(290, 202, 154, 52, "phantom_queue", "counter > threshold", colour=OURS)
    d.arrow((6, 145), (122, 145), colour=BUS)
    d.arrow((274, 145), (478, 145), colour=BUS)
    d.arrow((630, 145), (752, 145), colour=BUS)
    d.text(8, 137, "s_axis_*", 12, fill=BUS)
    d.text(8, 162, "from fabric", 11, fill=MUTED)
    d.text(752, 133, "m_axis_*", 12, "end", BUS)
    d.text(752, 162, "to the MAC", 11, "end", MUTED)
    d.arrow((199, 116), (199, 90))
    d.text(206, 107, "queue_bytes", 11)
    d.arrow((274, 66), (540, 66), (540, 114), colour=MARK)
    d.text(292, 60, "mark, kept with the frame", 11, fill=MARK)
    d.arrow((350, 145), (350, 200))
    d.text(357, 168, "length of a frame", 11)
    d.text(357, 182, "that leaves", 11)
    d.arrow((444, 228), (555, 228), (555, 176), colour=MARK)
    d.text(562, 214, "mark", 11, fill=MARK)
    d.box(124, 280, 506, 42, "registers (AXI4-Lite): settings, backlogs, 12 event counters")
    d.arrow((200, 280), (200, 254))
    d.text(206, 270, "settings", 11)
    d.arrow((600, 252), (600, 278))
    d.text(606, 266, "events", 11)
    return d


def nic() -> Blocks:
    """Inside of the NIC's part."""
    d = Blocks(
        "hw-nic",
        "Inside hull_nic: frames of the host are staged until the pacer has decided; they pass, or "
        "wait in the pacer's FIFO. The ECE snooper reads what comes back and feeds the association "
        "table",
        760,
        366,
    )
    d.group(96, 26, 568, 320, "hull_nic")
    d.box(118, 124, 130, 56, "frame_fifo", "until decided")
    d.box(392, 124, 130, 56, "frame_fifo", "of the pacer, 128 KiB")
    d.box(574, 96, 74, 62, "arbiter", "released", "frame first")
    d.box(118, 44, 130, 44, "header_parser", "flow key")
    d.box(270, 196, 140, 52, "flow_association", "64 flows, T_i", colour=OURS)
    d.box(446, 196, 140, 52, "pacer", "token bucket, rate R", colour=OURS)
    d.box(270, 286, 240, 44, "ece_snooper", "TCP ACKs with ECN-Echo", colour=OURS)
    d.arrow((6, 152), (116, 152), colour=BUS)
    d.text(8, 144, "s_host_*", 12, fill=BUS)
    d.arrow((60, 152), (60, 66), (116, 66))
    d.arrow((248, 152), (390, 152), colour=BUS)
    d.text(262, 146, "queued", 11)
    d.arrow((320, 152), (320, 104), (550, 104), (550, 112), (572, 112), colour=BUS)
    d.text(336, 98, "pass: not associated, or tokens enough", 11)
    d.arrow((522, 142), (572, 142), colour=BUS)
    d.arrow((648, 128), (752, 128), colour=BUS)
    d.text(752, 116, "m_mac_*", 12, "end", BUS)
    d.arrow((248, 66), (258, 66), (258, 222), (268, 222))
    d.text(264, 84, "look-up", 11)
    d.arrow((410, 222), (444, 222))
    d.arrow((470, 196), (470, 182))
    d.text(478, 192, "release", 11)
    d.arrow((446, 238), (424, 238), (424, 264), (183, 264), (183, 182), dashed=True)
    d.text(190, 258, "pass, queue, drop or hold", 11)
    d.arrow((752, 308), (512, 308), colour=BUS)
    d.arrow((270, 308), (6, 308), colour=BUS)
    d.text(752, 300, "s_mac_*", 12, "end", BUS)
    d.text(8, 300, "m_host_*", 12, fill=BUS)
    d.arrow((390, 286), (390, 250), colour=MARK)
    d.text(397, 280, "ECE of a flow", 11, fill=MARK)
    return d


def switch() -> Blocks:
    """The switch of four ports."""
    d = Blocks(
        "hw-switch",
        "Inside hull_switch: four inputs with a frame FIFO each, an arbiter with one bus, the "
        "address table, and four outputs hull_switch_port",
        760,
        300,
    )
    d.group(86, 26, 588, 262, "hull_switch")
    for port in range(4):
        y = 44 + 60 * port
        d.box(112, y, 104, 44, "frame_fifo", f"input {port}")
        d.box(514, y, 134, 44, "hull_switch_port", f"output {port}", colour=OURS)
        d.arrow((6, y + 22), (110, y + 22), colour=BUS)
        d.arrow((216, y + 22), (262, y + 22), colour=BUS)
        d.arrow((462, y + 22), (512, y + 22), colour=BUS)
        d.arrow((648, y + 22), (752, y + 22), colour=BUS)
    d.text(8, 58, "s_axis_*[0]", 12, fill=BUS)
    d.text(752, 54, "m_axis_*[0]", 12, "end", BUS)
    d.box(264, 44, 76, 224, "arbiter", "frame by", "frame,", "in turn")
    d.arrow((340, 156), (372, 156), colour=BUS)
    d.box(374, 122, 76, 68, "mac_table", "16", "addresses")
    d.arrow((450, 156), (462, 156), (462, 66), tip=False, colour=BUS)
    d.arrow((462, 156), (462, 246), tip=False, colour=BUS)
    return d


def behind_a_mac() -> Blocks:
    """A switch port and a NIC beside Ethernet MACs."""
    d = Blocks(
        "hw-behind-a-mac",
        "hull_switch_port between a switch's fabric and a MAC's transmit stream; the receive "
        "stream goes to the fabric as it is; software writes registers over AXI4-Lite",
        760,
        250,
    )
    d.box(8, 44, 128, 136, "fabric", "or DMA,", "clock of its own")
    d.box(196, 56, 92, 44, "async. FIFO", "if clocks differ")
    d.box(340, 48, 146, 60, "hull_switch_port", "64 bits, tx clock", colour=OURS)
    d.box(592, 44, 156, 136, "10G MAC and PHY", "adds FCS, preamble,", "gap; checks FCS")
    d.arrow((136, 78), (194, 78), colour=BUS)
    d.arrow((288, 78), (338, 78), colour=BUS)
    d.arrow((486, 78), (590, 78), colour=BUS)
    d.text(490, 70, "m_axis → tx", 11, fill=BUS)
    d.text(490, 96, "tready: line rate", 11, fill=MUTED)
    d.arrow((592, 158), (290, 158), colour=BUS)
    d.box(196, 136, 92, 44, "async. FIFO", "rx clock")
    d.arrow((196, 158), (138, 158), colour=BUS)
    d.text(588, 150, "rx: tuser at tlast = bad FCS", 11, "end", BUS)
    d.box(340, 206, 146, 36, "AXI4-Lite master")
    d.arrow((413, 206), (413, 110))
    d.text(420, 198, "registers, 4 KiB", 11)
    return d


BLOCKS = {
    "hardware_rack": rack,
    "hardware_switch_port": switch_port,
    "hardware_nic": nic,
    "hardware_switch": switch,
    "hardware_behind_a_mac": behind_a_mac,
}


def main() -> int:
    """Write all drawings."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DRAWINGS
    folder.mkdir(exist_ok=True)
    for name, draw in BLOCKS.items():
        (folder / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")
    for name in TITLES:
        (folder / f"timing_{name}.svg").write_text(drawn(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

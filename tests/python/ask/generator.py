"""Traces as collectors, nfdump and tcpdump write them: generated flows in three forms.

The flows are the same in each form, up to the resolution of the form's clock.
"""

import datetime
import random
import struct
from dataclasses import dataclass
from pathlib import Path

BEGIN_S = 1_767_268_800
"""2026-01-01 12:00 UTC."""
NFDUMP_OLD = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out"
NFDUMP_NEW = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows"
NFDUMP_FAST = (
    "cnt,af,firstSeen,lastSeen,proto,srcAddr,srcPort,dstAddr,dstPort,srcAS,dstAS,input,output,"
    "flags,srcTos,packets,bytes"
)


@dataclass(frozen=True)
class Flow:
    """A flow; times in us from BEGIN_S."""

    start_us: int
    duration_us: int
    src: str
    dst: str
    src_port: int
    dst_port: int
    bytes: int


def some_flows(count: int, seed: int = 1, racks: int = 2, hosts: int = 4) -> list[Flow]:
    """Draw flows between addresses 10.0.RACK.HOST, one each ms on average, on distinct ports."""
    draw = random.Random(seed)
    ends = [f"10.0.{rack}.{host + 1}" for rack in range(racks) for host in range(hosts)]
    flows = []
    start = 0
    for index in range(count):
        start += draw.randrange(2000)
        src, dst = draw.sample(ends, 2)
        size = draw.choice([200, 1500, 40_000])
        port = 1024 + index % 60_000
        flows.append(Flow(start, draw.randrange(3000), src, dst, port, 443, size))
    return flows


def calendar(us: int, digits: int = 6, middle: str = "T", zone: str = "Z") -> str:
    """A time as ISO 8601 text."""
    begin = datetime.datetime.fromtimestamp(BEGIN_S, datetime.UTC)
    time = begin + datetime.timedelta(microseconds=us)
    text = time.strftime(f"%Y-%m-%d{middle}%H:%M:%S")
    return f"{text}.{time.microsecond:06d}"[: len(text) + 1 + digits].rstrip(".") + zone


def collector_csv(path: Path, flows: list[Flow]) -> Path:
    """Addresses and ISO times, as a collector exports them."""
    rows = [
        f"{calendar(f.start_us)},{f.src},{f.dst},{f.src_port},{f.dst_port},{f.bytes},"
        f"{f.duration_us / 1e6:.6f}"
        for f in flows
    ]
    header = "timestamp,src_ip,dst_ip,src_port,dst_port,octets,duration"
    path.write_text("\n".join([header, *rows, ""]))
    return path


def nfdump_csv(path: Path, flows: list[Flow], form: str = "new") -> Path:
    """`nfdump -o csv` of 1.6 ("old") or 1.7 ("new"), or `-o csv-fast`, in ms."""
    rows = []
    for index, f in enumerate(flows):
        start = calendar(f.start_us, 3, " ", "")
        end = calendar(f.start_us // 1000 * 1000 + f.duration_us, 3, " ", "")
        lasts = f"{f.duration_us // 1000 / 1000:.3f}"
        packets = 1 + f.bytes // 1500
        ms = BEGIN_S * 1000 + f.start_us // 1000
        rows.append(
            {
                "old": f"{start},{end},{lasts},{f.src},{f.dst},{f.src_port},{f.dst_port},TCP,"
                f".AP.SF,0,0,{packets},{f.bytes},0,0,1,2",
                "new": f"{start},{lasts},6,{f.src},{f.src_port},{f.dst},{f.dst_port},{packets},"
                f"{f.bytes},1",
                "fast": f"{index + 1},2,{ms},{ms + f.duration_us // 1000},6,{f.src},{f.src_port},"
                f"{f.dst},{f.dst_port},0,0,1,2,........,0,{packets},{f.bytes}",
            }[form]
        )
    header = {"old": NFDUMP_OLD, "new": NFDUMP_NEW, "fast": NFDUMP_FAST}[form]
    total = sum(f.bytes for f in flows)
    summary = [
        "Summary",
        "flows,bytes,packets,avg_bps,avg_pps,avg_bpp",
        f"{len(flows)},{total},{len(flows)},1,1,{total // max(1, len(flows))}",
    ]
    path.write_text("\n".join([header, *rows, *([] if form == "fast" else summary), ""]))
    return path


def packet(
    src: str, dst: str, ports: tuple[int, int], data: int, flags: int = 0x10, sequence: int = 0
) -> bytes:
    """An Ethernet frame with TCP and `data` zero bytes."""
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence, 0, 0x50, flags, 0, 0, 0)
    ends = [bytes(map(int, end.split("."))) for end in (src, dst)]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + data, 0, 0, 64, 6, 0) + ends[0] + ends[1]
    return bytes(12) + b"\x08\x00" + ip + tcp + bytes(data)


def icmp(src: str, dst: str) -> bytes:
    """An echo request."""
    ends = [bytes(map(int, end.split("."))) for end in (src, dst)]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 1, 0) + ends[0] + ends[1]
    return bytes(12) + b"\x08\x00" + ip + b"\x08" + bytes(7)


def frames_of(flows: list[Flow]) -> list[tuple[int, bytes]]:
    """Time in us and frame: data in packets of at most 1460 bytes, spread over the duration, each
    acknowledged by the receiver.
    """
    frames = []
    for f in flows:
        pieces = [min(1460, f.bytes - at) for at in range(0, f.bytes, 1460)]
        for index, data in enumerate(pieces):
            time = f.start_us + f.duration_us * index // max(1, len(pieces) - 1)
            ports = (f.src_port, f.dst_port)
            frames.append((time, packet(f.src, f.dst, ports, data, sequence=1460 * index)))
            frames.append((time + 1, packet(f.dst, f.src, (f.dst_port, f.src_port), 0)))
    return sorted(frames)


def pcap(path: Path, frames: list[tuple[int, bytes]]) -> Path:
    """A pcap of Ethernet frames with us timestamps, written byte by byte."""
    content = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for us, frame in frames:
        seconds, rest = divmod(BEGIN_S * 10**6 + us, 10**6)
        content += [struct.pack("<IIII", seconds, rest, len(frame), len(frame)), frame]
    path.write_bytes(b"".join(content))
    return path


def pcapng(
    path: Path, frames: list[tuple[int, bytes]], second: list[tuple[int, bytes]] | None = None
) -> Path:
    """The same as pcapng, with ns timestamps; `second`: what another interface captured."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        length = struct.pack("<I", 12 + len(body))
        return struct.pack("<I", kind) + length + body + length

    content = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    content += 2 * [block(1, struct.pack("<HHIHHB3xHH", 1, 0, 0, 9, 1, 9, 0, 0))]
    every = [(us, 0, frame) for us, frame in frames]
    every += [(us, 1, frame) for us, frame in second or []]
    for us, interface, frame in sorted(every, key=lambda one: one[0]):
        ns = (BEGIN_S * 10**6 + us) * 1000
        head = struct.pack("<IIIII", interface, ns >> 32, ns & 0xFFFFFFFF, len(frame), len(frame))
        content.append(block(6, head + frame))
    path.write_bytes(b"".join(content))
    return path

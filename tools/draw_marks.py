"""Drawing for docs/hardware: one packet stream, marked by simulator, kernel program and hardware.

The packets are from a switch port in table 4's scenario. Simulator: the CE bits that hull wrote to
its capture. Kernel: the C function of linux/bpf/phantom_queue.bpf.c that decides, compiled for this
machine (the tests of linux/hull-linux run the whole program in a kernel). Hardware:
rtl/switch/phantom_queue.sv, verilated, at 125 MHz. Usage: draw_marks.py [FOLDER], where `make
test-rtl` has run; half a minute.
"""

import ctypes
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawings import STYLE, svg
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
BPF = ROOT / "linux" / "bpf"
sys.path[:0] = [str(ROOT / "rtl"), str(ROOT / "rtl" / "switch")]

# The first one says where Verilator and hull-core are.
import conftest  # noqa: E402, F401, I001
import test_phantom_queue as hardware  # noqa: E402
from bench import captures, simulation  # noqa: E402
from hull_reference import HardwarePhantomQueue, PhantomQueue  # noqa: E402

DRAIN_BPS, TICK_PS, THRESHOLD, CLOCK_PS = 950_000_000, 800_000, 1_000, 8_000
OVERRIDES = ["run.warmup=0s", "run.duration=60ms", "workload.requests.load=60%"]
SHOWN_PS = 1_500_000_000
ROWS = {"simulator": "#009E73", "kernel": "#E69F00", "hardware": "#2585C7"}

# What surrounds the kernel's function here.
KERNEL = """
#include <linux/types.h>
#include <stdbool.h>
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define FRACTION_BITS {fraction_bits}
#define SKEW_PS {skew_ps}
struct bpf_spin_lock {{ __u32 value; }};
{structs}
{functions}
void decide(const struct phantom_settings *settings, int packets, const __u64 *times_ps,
            const __u32 *bytes, bool *above)
{{
    struct phantom_queue queue = {{}};
    for (int i = 0; i < packets; i++)
        above[i] = count(&queue, settings, times_ps[i], bytes[i]);
}}
"""


class KernelSettings(ctypes.Structure):
    """The kernel's struct phantom_settings."""

    _fields_ = (
        ("byte_units", ctypes.c_uint64),
        ("threshold_units", ctypes.c_uint64),
        ("most_bytes", ctypes.c_uint64),
        ("tick_ps", ctypes.c_uint64),
        ("count_arriving", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


def found(pattern: str, text: str) -> str:
    """What the group of a pattern matches.

    Raises:
        LookupError: the source has changed.

    """
    match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    if match is None:
        raise LookupError(f"{pattern!r} is not in the kernel program any more")
    return match[1]


def kernel_marks(folder: Path, times_ps: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Which packets the kernel program's function finds above the threshold."""
    program = (BPF / "phantom_queue.bpf.c").read_text(encoding="utf-8")
    header = (BPF / "hull.h").read_text(encoding="utf-8")
    source = KERNEL.format(
        fraction_bits=found(r"^#define FRACTION_BITS (.*?)$", program),
        skew_ps=found(r"^#define SKEW_PS (.*?)$", program),
        structs=found(r"^(struct phantom_settings \{.*?)\nstruct association_settings", header),
        functions=found(r"^(static __always_inline __u64 credit_ps.*?^\}.*?^\})", program),
    )
    (folder / "kernel.c").write_text(source, encoding="utf-8")
    library = folder / "kernel.so"
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-o", library, folder / "kernel.c"], check=True
    )
    _, byte_units, _ = HardwarePhantomQueue.registers(DRAIN_BPS, TICK_PS, CLOCK_PS, False)
    settings = KernelSettings(
        byte_units, byte_units * THRESHOLD, (2**64 - 1) // byte_units, TICK_PS, 0, 0
    )
    packets = times_ps.astype(np.uint64), sizes.astype(np.uint32), np.zeros(len(sizes), bool)
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in packets)
    ctypes.CDLL(str(library)).decide(ctypes.byref(settings), len(sizes), *pointers)
    return packets[-1]


def hardware_marks(times_ps: np.ndarray, sizes: np.ndarray, capable: np.ndarray) -> np.ndarray:
    """Which packets the verilated phantom queue marks."""
    folder = simulation.build("phantom_queue_bench", hardware.SOURCES)
    units = HardwarePhantomQueue.registers(DRAIN_BPS, TICK_PS, CLOCK_PS, False)
    tape = hardware.Tape()
    tape.set(0, hardware.Setting(*units, THRESHOLD, False))
    tape.packets(times_ps // CLOCK_PS + hardware.SETTLED + 1, sizes, capable)
    return tape.play(folder, "drawing").mark


def window(capture: captures.Capture) -> captures.Capture:
    """Packets from one on that finds the counter empty, with as many marks as can be."""
    queue = PhantomQueue(DRAIN_BPS, THRESHOLD, False, TICK_PS)
    starts_ps, sizes = capture.starts_ns * 1000, capture.counted_bytes
    empty = []
    for at, size in zip(starts_ps.tolist(), sizes.tolist(), strict=True):
        empty.append(queue.backlog_bytes(at) == 0)
        queue.on_packets([at], [size])
    marks = np.concatenate([[0], np.cumsum(capture.marked)])
    ends = np.searchsorted(starts_ps, starts_ps + SHOWN_PS)
    first = int(np.argmax(np.where(empty, marks[ends] - marks[:-1], -1)))
    return capture.part(first, int(ends[first]) - first)


def backlog(starts_ps: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The counter over time, in ps and bytes, with the jump of each packet."""
    queue = PhantomQueue(DRAIN_BPS, THRESHOLD, False, TICK_PS)
    times: list[int] = []
    values: list[int] = []
    ticks = np.arange(starts_ps[0] // TICK_PS + 1, starts_ps[-1] // TICK_PS + 1) * TICK_PS
    packets = dict(zip(starts_ps.tolist(), sizes.tolist(), strict=True))
    for at in sorted({*packets, *ticks.tolist()}):
        times.append(at)
        values.append(queue.backlog_bytes(at))
        if at in packets:
            queue.on_packets([at], [packets[at]])
            times.append(at)
            values.append(queue.backlog_bytes(at))
    return np.array(times), np.array(values)


def draw(folder: Path) -> Figure:
    """The counter of one port over time, and the packets that each form marks."""
    table = captures.scheme_of("table4", "dctcp_pq950_pacer")
    [port] = captures.captured(table, "switch->h0", OVERRIDES, folder / "run").values()
    capture = window(port)
    # From the tick in which the first packet leaves.
    began_ps = int(capture.starts_ns[0]) * 1000 // TICK_PS * TICK_PS
    starts_ps, sizes = capture.starts_ns * 1000 - began_ps, capture.counted_bytes
    marks = {
        "simulator": capture.marked,
        "kernel": kernel_marks(folder, starts_ps, sizes) & capture.capable,
        "hardware": hardware_marks(starts_ps, sizes, capture.capable),
    }
    print(len(capture), "packets; marked:", {name: int(of.sum()) for name, of in marks.items()})
    print("identical:", all((of == capture.marked).all() for of in marks.values()))

    figure = Figure(figsize=(7.6, 3.6), layout="constrained")
    top, rows = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.15))
    times, values = backlog(starts_ps, sizes)
    top.plot(times / 1e6, values / 1000, color="#888888", linewidth=0.8)
    top.axhline(THRESHOLD / 1000, color="#D55E00", linewidth=1, linestyle="--")
    top.annotate(
        "threshold\n1 KB",
        (1, THRESHOLD / 1000),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        color="#D55E00",
    )
    top.set_xlim(-30, 1.12 * SHOWN_PS / 1e6)
    top.set_ylabel("Phantom queue (KB)")
    top.set_ylim(0)
    for row, (name, colour) in enumerate(ROWS.items()):
        at = starts_ps / 1e6
        of = marks[name]
        rows.plot(
            at[~of], np.full((~of).sum(), -row), "|", color="#888888", markersize=4, alpha=0.6
        )
        rows.plot(at[of], np.full(of.sum(), -row), "|", color=colour, markersize=13, mew=1.6)
    rows.set_yticks([0, -1, -2], [f"{name}: {int(marks[name].sum())}" for name in ROWS])
    rows.set_ylim(-2.6, 0.6)
    rows.grid(visible=False)
    rows.tick_params(left=False)
    rows.spines["left"].set_visible(False)
    rows.set_xlabel(f"Time (µs); {len(capture)} packets, long ticks are marked")
    return figure


def main() -> int:
    """Write the drawing."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "drawings"
    with mpl.rc_context(), tempfile.TemporaryDirectory() as place:
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        text = svg(draw(Path(place)), "Marks of simulator, kernel and hardware on the same packets")
        (folder / "marks.svg").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Incast under Ultra Ethernet's transport: up to 1,023 senders to one receiver.

Tails of uet-htsim's recorded runs beside hull's. Receiver credit shares the link from the second
round trip on; without credit, a sender's window learns its share from trimmed packets.
"""

from typing import TYPE_CHECKING

from hull.experiments.common import ultra_ethernet as uec
from hull.experiments.common.claims import Claim, Finding, commands, within
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Results
from hull.experiments.common.ultra_ethernet import BOTH, NSCC, RCCC, variant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "incast"
RUNS = uec.recorded(TABLE)
SENDERS = {
    "15 to 1, 2 MB": (15, 2_000_000),
    "127 to 1, 2 MB": (127, 2_000_000),
    "1023 to 1, 100 KB": (1023, 100_000),
}
MANY = "1023 to 1, 100 KB"
MIB = 1 << 20
LARGE = {
    "32 to 1 of 8192, 200 Gbps": (RCCC, 200, 50),
    "32 to 1 of 8192, 400 Gbps": (NSCC, 400, 100),
    "32 to 1 of 8192, 800 Gbps": (RCCC, 800, 200),
}
"""1 MiB each: control, Gbit/s, packets of a port's queue."""
FIRST_WINDOW = "transport.message.initial_window=50"


def least_us(senders: int, size: int, gbps: float = 100.0) -> float:
    """Transmission time of all packets on the receiver's link."""
    full, rest = divmod(size, uec.PAYLOAD)
    each = full * uec.MTU + ((rest + uec.HEADER) if rest else 0)
    return senders * each * 8e-3 / gbps


def _large(results: Results) -> Finding:
    found = uec.deviations(results, [run for run in RUNS if run[0] in LARGE])
    words = "; ".join(f"{name} {100 * one:+.1f}%" for name, one in found.items())
    good = bool(found) and all(within(one, -0.25, 0.25) for one in found.values())
    return Finding(words or "not run (--full runs it)", good)


def _least(results: Results) -> Finding:
    ratios = {
        f"{scheme}, {condition}": uec.tail_us(results, condition, scheme)
        / least_us(*SENDERS[condition])
        for condition, scheme, _ in RUNS
        if condition in SENDERS and results.parts(condition, scheme)
    }
    return Finding(
        "; ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items()),
        all(within(ratio, 1, 1.05) for name, ratio in ratios.items() if not name.startswith(NSCC)),
    )


def _credit_helps(results: Results) -> Finding:
    alone, both = (uec.tail_us(results, MANY, scheme) for scheme in (NSCC, BOTH))
    return Finding(f"{alone:.0f} and {both:.0f} us", ordered(both, alone))


CLAIMS = (
    uec.tails_claim(
        "uec-incast", "uec_sender, uec_rcv, uec_both", [run for run in RUNS if run[0] not in LARGE]
    ),
    Claim(
        id="uec-incast-least",
        source="arithmetic",
        claim="with receiver credit the receiver's link is never idle for long: the tail is at "
        "most 5% above the link's transmission time of all packets",
        check=_least,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="With 1,023 senders the ratio is 1.06 (recorded: also 1.06). Each sends its 25 "
        "packets at once, for 8.3 us. Of the 26,677 headers of trimmed packets, 18,988 find no "
        "room in the queue either, and 14,504 timeouts recover packets whose headers were lost. "
        "The receiver's link is busy 95% of the time.",
        shown_by=commands("uec-incast", ""),
    ),
    Claim(
        id="uec-incast-credit",
        source="uet-htsim, uec_sender, uec_both",
        claim="1,023 senders finish earlier with credit than without (recorded: 8.8 and 10.6 ms)",
        check=_credit_helps,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="uec-incast-8192",
        source="uet-htsim, results/experiment2_out_2.txt",
        claim="32 senders of 1 MiB in a network of 8,192 hosts take as long as in the older code "
        "at 200, 400 and 800 Gbps (within 25%)",
        check=_large,
        kind="predicted",
        bound="document",
    ),
)


def _all_to(receiver: int, hosts: int, size: str) -> str:
    """All other hosts send to one."""
    below = [f"0-{receiver - 1}"] if receiver else []
    above = [f"{receiver + 1}-{hosts - 1}"] if receiver < hosts - 1 else []
    ranges = ",".join(f'"{part}"' for part in (*below, *above))
    return f'workload={{long_lived={{flows=[{{src=[{ranges}],dst={receiver},size="{size}"}}]}}}}'


def _large_variant(condition: str) -> tuple[str, ...]:
    """The senders are the first hosts of 32 leaves; in incast their choice does not matter."""
    _, gbps, packets = LARGE[condition]
    senders = ",".join(str(64 * leaf) for leaf in range(1, 33))
    return (
        *uec.leaf_spine_8192(gbps, packets),
        f'workload={{long_lived={{flows=[{{src=[{senders}],dst=0,size="{MIB}B"}}]}}}}',
    )


def draw(results: Results) -> "Figure":
    """Tails by number of senders."""
    return uec.draw_tails(
        results,
        TABLE,
        {
            "Incast at 100 Gbps": {
                "3 to 1, 2 MB and 250 KB": "3",
                "15 to 1, 2 MB": "15",
                MANY: "1,023\n(100 KB)",
                "127 to 1, 2 MB": "127",
            },
            "32 senders of 1 MiB, 8,192 hosts": {name: name.split(", ")[1] for name in LARGE},
        },
        log=("Incast at 100 Gbps",),
    )


EXPERIMENT = Experiment(
    id="uec-incast",
    title="Ultra Ethernet: incast of up to 1,023 senders, beside uet-htsim's recorded runs",
    source="uet-htsim, recorded runs",
    scenario="uec",
    completion="acked",
    variants=(
        variant("15 to 1, 2 MB", (NSCC, BOTH), *uec.SMALL, _all_to(15, 16, "2MB"), quick=True),
        variant("127 to 1, 2 MB", (RCCC,), *uec.MIDDLE, _all_to(33, 128, "2MB")),
        variant(MANY, (NSCC, BOTH), FIRST_WINDOW, _all_to(0, 1024, "100KB"), quick=True),
        variant(
            "3 to 1, 2 MB and 250 KB",
            (RCCC,),
            *uec.MIDDLE,
            FIRST_WINDOW,
            uec.flows(("127", "0", "2MB"), ("95", "0", "250KB"), ("61", "0", "250KB")),
            quick=True,
        ),
        *(
            variant(name, (scheme,), *_large_variant(name), quick=True)
            for name, (scheme, _, _) in LARGE.items()
        ),
    ),
    points=uec.points(TABLE),
    stated=uec.STATED,
    claims=CLAIMS,
    looks=uec.LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=3),
)

"""One TCP or QCN source at 10 Gbps (thesis 5.6; scenario thesis-qcn-one): its round trips, and
the fraction of a round trip after which the switch's feedback arrives.
"""

from hull.experiments.common.experiment import Variant, published

TABLE = published("thesis-qcn", "table5_1")
RTTS: tuple[int, ...] = tuple(TABLE["rtt_us"])
TCP, QCN, STANDARD = ("tcp", "qcn", "qcn_8021qau")
PLACES = WHOLE, HALF = ("feedback after the RTT", "after half of it")


def condition(rtt_us: int, place: str = WHOLE) -> str:
    """The name of a round trip in results."""
    return f"{rtt_us}us" if place == WHOLE else f"{rtt_us}us half"


def variant(rtt_us: int, place: str = WHOLE) -> Variant:
    """The runs with this round trip."""
    overrides = [f'topology.dumbbell.rtts=["{rtt_us}us"]']
    if place == HALF:
        # The other half is on the receiver's link.
        overrides += [f'{side}.delay="{rtt_us / 4:g}us"' for side in ("host", "switch")]
    return Variant(
        {"": condition(rtt_us, place)},
        overrides=tuple(overrides),
        schemes=None if place == WHOLE else (QCN, STANDARD),
    )

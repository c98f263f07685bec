"""Sender's controls of htsim_uec that hull lacks, and a run with one of them.

`controls.py SCENARIO OUT` runs a scenario whose `transport.congestion_control` is one of `NAMES`.
Rules from htsim_uec (HTSIM 8a33f33, uec.cpp). Sizes are bytes on the wire.
"""

import sys

import hull


class Constant(hull.CongestionControl):
    """The first window, 1.5 bandwidth-delay products, for ever."""

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        """Changes nothing."""
        return False

    def on_loss(self, window: hull.Window, flight: int) -> None:
        """Changes nothing."""

    def on_timeout(self, window: hull.Window, flight: int) -> None:
        """Changes nothing."""


class Marks(hull.CongestionControl):
    """The program's DCTCP: a packet more in each round trip, a third of a marked acknowledgment's
    bytes less. There each trimmed packet takes its size, here one in a window of data.
    """

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        """Grows or shrinks by an acknowledgment."""
        if ack.ece:
            window.cwnd = max(window.cwnd - ack.acked // 3, window.mss)
        else:
            window.cwnd += ack.acked * window.mss // window.cwnd
        return False

    def on_loss(self, window: hull.Window, flight: int) -> None:
        """Shrinks by a packet."""
        window.cwnd = max(window.cwnd - window.mss, window.mss)


CONTROLS = {"constant": Constant, "dctcp": Marks}
"""By the name of the program's option."""
NAMES = {name: f"htsim-{name}" for name in CONTROLS}
"""Their names in a scenario."""

if __name__ == "__main__":
    try:
        own = {NAMES[name]: control for name, control in CONTROLS.items()}
        hull.run(sys.argv[1], sys.argv[2], jobs=1, force=True, congestion_control=own)
    except (hull.RunError, ValueError) as error:
        sys.exit(f"hull: error: {error}")

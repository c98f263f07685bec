"""TIMELY and HPCC of the recorded programs, for the model of `whole_ns.py`.

Both act once per round trip of data: when an ACK is above the highest byte sent at the last update.
Rules: `rdma-notes.md`, `hpcc.toml`. Rates bit/s, sizes bytes.
"""

from dataclasses import dataclass, field

MIN_BPS = 1_000_000_000
ADD_BPS, HYPER_BPS = 100_000_000, 500_000_000
WEIGHT, BETA, LOW_NS, HIGH_NS, MIN_RTT_NS = 0.875, 0.8, 50_000, 500_000, 20_000
HPCC_ADD_BPS, NOMINAL_BPS = 40_000_000, 100_000_000_000
TIME_BITS, BYTES_BITS, QUEUE_BITS = 24, 20, 17
BYTES_UNIT, QUEUE_UNIT = 128, 80

Record = tuple[int, int, int]
"""Telemetry of a port as HPCC's header has it: time in ns, bytes sent and queue in their units."""


@dataclass
class Flow:
    """A queue pair."""

    source: int
    target: int
    size: int
    start_ns: int
    sent: int = 0
    acked: int = 0
    arrived: int = 0
    next_send: int = 0
    last_size: int = 0
    line: int = 0
    rate: int = 0
    last_update: int = 0
    done_ns: float | None = None

    @property
    def is_bound(self) -> bool:
        """Whether the window is full."""
        return False

    def start(self, line: int) -> None:
        """Begins at the rate of the line."""
        self.line = self.rate = line

    def on_ack(self, upto: int, rtt_ns: float, records: list[Record]) -> int | None:
        """Processes an ACK. Returns a new rate that also holds for the present gap, if any."""
        raise NotImplementedError


@dataclass
class Timely(Flow):
    """TIMELY: a new rate counts from the next packet."""

    last_rtt: float = 0
    difference: float = 0
    increases: int = 0

    def on_ack(self, upto: int, rtt_ns: float, records: list[Record]) -> int | None:
        """Updates the rate once per round trip."""
        del records
        if upto <= self.last_update:
            return None
        if self.last_update:
            self.update(rtt_ns)
        if self.sent > self.last_update:
            self.last_update, self.last_rtt = self.sent, rtt_ns
        return None

    def update(self, rtt_ns: float) -> None:
        """Follows the gradient of the round trips."""
        change = rtt_ns - self.last_rtt
        self.difference = (1 - WEIGHT) * self.difference + WEIGHT * change
        gradient = self.difference / MIN_RTT_NS
        if rtt_ns < LOW_NS or (rtt_ns <= HIGH_NS and gradient <= 0):
            self.rate += ADD_BPS if self.increases < 5 else HYPER_BPS
            self.rate = min(self.rate, self.line)
            self.increases += 1
        else:
            by = 1 - HIGH_NS / rtt_ns if rtt_ns > HIGH_NS else gradient
            self.rate = max(MIN_BPS, int(self.rate * max(0.0, 1 - BETA * by)))
            self.increases = 0


@dataclass
class Hpcc(Flow):
    """HPCC's rate form: each ACK sets the rate, one per round trip the reference."""

    base_ns: int = 0
    window: int = 0
    eta: float = 0.95
    stages: int = 0
    reacts_fast: bool = True
    factor: int = 4
    """Factor of the units in the header."""
    reference: int = 0
    smoothed: float = 1
    increases: int = 0
    before: list[Record] = field(default_factory=list)

    @property
    def is_bound(self) -> bool:
        """Whether the window, in proportion to the rate, is full."""
        return self.sent - self.acked >= max(1, self.window * self.rate // self.line)

    def start(self, line: int) -> None:
        """Begins at the rate of the line."""
        super().start(line)
        self.reference = line

    def on_ack(self, upto: int, rtt_ns: float, records: list[Record]) -> int | None:
        """Computes the rate; the first ACK only stores its records."""
        del rtt_ns
        is_full = upto > self.last_update
        new = None
        if self.before and (is_full or self.reacts_fast):
            new, increases = self.computed(records)
            if is_full:
                self.reference, self.increases = new, increases
        if not self.before or is_full or self.reacts_fast:
            self.before = records
        if is_full:
            self.last_update = max(self.last_update, self.sent)
        return new

    def computed(self, records: list[Record]) -> tuple[int, int]:
        """Rate and number of increases from the busiest port's utilization."""
        most, over_ns = 0.0, 0
        for (at, sent, queue), (at_before, sent_before, queue_before) in zip(
            records, self.before, strict=True
        ):
            waited_ns = (at - at_before) % (1 << TIME_BITS)
            sent_bytes = (sent - sent_before) % (1 << BYTES_BITS) * BYTES_UNIT * self.factor
            tx_bps = sent_bytes * 8 / (waited_ns * 1e-9)
            queued = float(min(queue, queue_before) * QUEUE_UNIT * self.factor)
            utilization = tx_bps / NOMINAL_BPS + queued / self.window
            if utilization > most:
                most, over_ns = utilization, waited_ns
        over_ns = min(over_ns, self.base_ns)
        old = self.smoothed * (self.base_ns - over_ns)
        self.smoothed = (old + most * over_ns) / float(self.base_ns)
        load = self.smoothed / self.eta
        if load >= 1 or self.increases >= self.stages:
            new, increases = int(self.reference / load) + HPCC_ADD_BPS, 0
        else:
            new, increases = self.reference + HPCC_ADD_BPS, self.increases + 1
        return max(MIN_BPS, min(new, self.line)), increases

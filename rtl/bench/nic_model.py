"""What hull-core makes of a NIC whose registers change: the settings in time, the association
table, the pacer; and the clocks at which each part of the hardware uses a setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from hull_reference import HardwareFlowAssociation, HardwarePacer

CLOCK_PS = 8_000
# Clocks: time 0 of the pacer's grids; from the switch to the first step; from taking a packet to
# its decision, and on to the answer; from a head's coming to its first decision (pacer.sv).
ZERO, START, DECISION, ANSWER, HEAD = 4, 93, 6, 2, 6
# The bucket's size is calculated again and again, beginning in this clock; a round takes so many.
BUCKET_FIRST, BUCKET_ROUND = 20, 21
# From an operation of the association table to what the registers show of it.
SHOWN_LATER = 8
WHEN_FULL = ("drop", "bypass", "hold")
PASS, QUEUED, DROPPED, HELD, BYPASSED = range(5)
RATES = ("max_rate_bps", "min_rate_bps", "initial_rate_bps", "rate_step_bps")


@dataclass(frozen=True)
class Settings:
    """What the registers of a NIC hold."""

    max_rate_bps: int = 150_000_000
    min_rate_bps: int = 5_000_000
    initial_rate_bps: int = 150_000_000
    bucket_bytes: int = 3_000
    fifo_bytes: int = 6_000
    update_interval: int = 512
    eta: int = 8_192
    beta: int = 4_000 << 8
    rate_step_bps: int = 500_000
    token_tick: int = 0
    when_full: str = "drop"
    enable: bool = True
    probability: int = 1 << 30
    timeout_clocks: int = 20_000
    evict: bool = False
    seed: int = 0x1234_5678

    @property
    def config(self) -> dict[str, int | str]:
        """For hull-core's pacer."""
        names = (*RATES, "bucket_bytes", "fifo_bytes", "eta", "beta", "when_full")
        return {name: getattr(self, name) for name in names} | {
            "update_interval_ps": self.update_interval * CLOCK_PS,
            "token_tick_ps": self.token_tick * CLOCK_PS,
        }

    @property
    def gain(self) -> int:
        """eta / T_r, as the register has it."""
        return dict(HardwarePacer.registers(self.config, CLOCK_PS))["gain"]

    def registers(self) -> dict[str, int]:
        """The registers' contents, in an order that is allowed after a reset, the switch last."""
        return {
            "pacer_token_tick": self.token_tick,
            "pacer_update_interval": self.update_interval,
            "pacer_max_rate_kbps": self.max_rate_bps // 1_000,
            "pacer_min_rate_kbps": self.min_rate_bps // 1_000,
            "pacer_initial_rate_kbps": self.initial_rate_bps // 1_000,
            "pacer_bucket_bytes": self.bucket_bytes,
            "pacer_fifo_bytes": self.fifo_bytes,
            "pacer_eta": self.eta,
            "pacer_beta": self.beta,
            "pacer_gain": self.gain,
            "pacer_rate_step_kbps": self.rate_step_bps // 1_000,
            "pacer_when_full": WHEN_FULL.index(self.when_full),
            "flow_association_probability": self.probability,
            "flow_association_when_full": self.evict,
            "flow_association_timeout_clocks": self.timeout_clocks,
            "flow_association_seed": self.seed,
            "pacer_control": self.enable,
        }


def words(shown: Mapping[str, int]) -> list[int]:
    """What the registers show to the datapath, as the bench records it; `seed_written` left out."""
    flags = shown["flow_association_when_full"] << 3 | shown["pacer_when_full"] << 1
    return [
        (flags | shown["pacer_enable"]) << 32 | shown["pacer_rate_step_bps"],
        shown["pacer_max_rate_bps"],
        shown["pacer_min_rate_bps"],
        shown["pacer_initial_rate_bps"],
        shown["pacer_gain"],
        shown["pacer_bucket_bytes"] << 32 | shown["pacer_fifo_bytes"],
        shown["pacer_update_interval"] << 32 | shown["pacer_token_tick"],
        shown["pacer_eta"] << 32 | shown["pacer_beta"],
        shown["flow_association_probability"] << 32 | shown["flow_association_timeout_clocks"],
        shown["flow_association_seed"] << 32,
    ]


class Timeline:
    """What the datapath saw of the settings, change by change, and when."""

    def __init__(self, recorded: tuple[np.ndarray, np.ndarray]) -> None:
        clocks, table = recorded[0].tolist(), recorded[1].tolist()
        self.seeded = [clock for clock, row in zip(clocks, table, strict=True) if row[9] & 1]
        self.clocks: list[int] = []
        self.rows: list[list[int]] = []
        for clock, row in zip(clocks, table, strict=True):
            row[9] &= ~1
            if not self.rows or self.rows[-1] != row:
                self.clocks.append(clock)
                self.rows.append(row)

    def changes(self, word: int, low: int, width: int) -> list[tuple[int, int]]:
        """A setting's values, each with its first clock."""
        out: list[tuple[int, int]] = []
        for clock, row in zip(self.clocks, self.rows, strict=True):
            value = row[word] >> low & (1 << width) - 1
            if not out or out[-1][1] != value:
                out.append((clock, value))
        return out

    @property
    def enabled(self) -> int:
        """The first clock of the last time that the pacer was switched on."""
        return max(clock for clock, value in self.changes(0, 32, 1) if value)


def step(clock: int) -> int:
    """The first step of the pacer that is not before a clock."""
    return clock + clock % 2


def pacer_of(timeline: Timeline) -> tuple[HardwarePacer, list[tuple[int, dict[str, int | str]]]]:
    """hull-core's pacer at its start, and its settings later: the clocks after which packets are
    decided with them, in the time of its grids.
    """
    start = timeline.enabled
    # Each field: word, lowest bit, width, and the clocks by which packets must be later than a
    # change to be decided with it. What equation 4 takes is of the next sampling.
    sampled = 0
    fields = {
        # Of the packets that are taken from then on.
        "when_full": (0, 33, 2, DECISION - 1),
        "rate_step_bps": (0, 0, 32, sampled),
        "max_rate_bps": (1, 0, 64, sampled),
        "min_rate_bps": (2, 0, 64, sampled),
        "initial_rate_bps": (3, 0, 64, sampled),
        "bucket_bytes": (5, 32, 32, None),
        "fifo_bytes": (5, 0, 32, 0),
        "update_interval": (6, 32, 32, sampled),
        "token_tick": (6, 0, 32, sampled),
        "eta": (7, 32, 32, sampled),
        "beta": (7, 0, 32, sampled),
    }
    first: dict[str, int | str] = {}
    later: list[tuple[int, str, int | str]] = []
    for name, (word, low, width, delay) in fields.items():
        for clock, number in timeline.changes(word, low, width):
            value: int | str = number
            if name == "when_full":
                value = WHEN_FULL[number]
            if clock <= start:
                first[name] = value
                continue
            if delay is None:
                # A round begins with it, and at its end the head sees it, a clock before a packet.
                rounds = -(-(clock - BUCKET_FIRST) // BUCKET_ROUND) + 1
                clock = BUCKET_FIRST + BUCKET_ROUND * rounds + 1 + 2
            else:
                clock += delay
            later.append((clock - ZERO, name, value))
    first["update_interval_ps"] = int(first.pop("update_interval")) * CLOCK_PS
    first["token_tick_ps"] = int(first.pop("token_tick")) * CLOCK_PS
    pacer = HardwarePacer(first, CLOCK_PS, step(start + START) - ZERO)
    changes = []
    for clock, name, value in sorted(later, key=lambda change: change[0]):
        if name in ("update_interval", "token_tick"):
            name, value = f"{name}_ps", int(value) * CLOCK_PS
        first = {**first, name: value}
        changes.append((clock, first))
    return pacer, changes


def early_changes(
    timeline: Timeline, asked: np.ndarray, answered: np.ndarray, decision: np.ndarray
) -> int:
    """Changes of the policy before an answer whose next question finds the FIFO full."""
    changed = np.array([clock for clock, _ in timeline.changes(0, 33, 2)])
    number = np.searchsorted(asked, changed)
    early = (number > np.searchsorted(answered, changed)) & (number < len(asked))
    return int(np.isin(decision[number[early]], (DROPPED, BYPASSED, HELD)).sum())


def association(
    timeline: Timeline,
    acks: tuple[np.ndarray, np.ndarray],
    lookups: tuple[np.ndarray, np.ndarray],
    shown: np.ndarray,
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Whether each flow that is looked up is associated; and live flows and counters, as the
    registers show them at the clocks `shown`.
    """
    events = np.unique(np.concatenate([acks[0], lookups[0], shown - SHOWN_LATER]))
    flows, acked = np.zeros(len(events), np.uint32), np.zeros(len(events), np.uint32)
    is_lookup, is_ack = np.zeros(len(events), bool), np.zeros(len(events), bool)
    for (clocks, keys), where, values in ((acks, is_ack, acked), (lookups, is_lookup, flows)):
        at = np.searchsorted(events, clocks)
        where[at] = True
        values[at] = keys
    # When an ACK's draw sees a change (flow_association.sv): one clock later, four, one before.
    changes: list[tuple[int, str, int]] = []
    changes += [(clock - 1, "probability", value) for clock, value in timeline.changes(8, 32, 32)]
    changes += [(clock - 4, "evict", value) for clock, value in timeline.changes(0, 35, 1)]
    seeds = dict(timeline.changes(9, 32, 32))
    for clock in timeline.seeded:
        value = next(seeds[at] for at in sorted(seeds, reverse=True) if at <= clock)
        changes.append((clock + 1, "seed", value))
    changes.sort(key=lambda change: change[0])
    timeouts = timeline.changes(8, 0, 32)
    assert not len(acks[0]) or timeouts[-1][0] < acks[0][0], "T_i stays"
    settings = {"probability": 0, "evict": 0, "seed": 1}
    table = HardwareFlowAssociation(64, 0, timeouts[-1][1], False, 1)
    rows, done = [], 0
    for clock, name, value in [*changes, (int(events[-1]) + 1, "", 0)]:
        part = slice(done, int(np.searchsorted(events, clock, "left")))
        done = part.stop
        rows.append(
            table.on_clocks(
                events[part].tolist(),
                is_ack[part].tolist(),
                acked[part].tolist(),
                is_lookup[part].tolist(),
                flows[part].tolist(),
            )
        )
        if name == "seed":
            table.seed(value)
        elif name:
            settings[name] = value
            table.change(settings["probability"], bool(settings["evict"]))
    all_rows = np.frombuffer(b"".join(rows), np.uint32).reshape(-1, 10)
    at = np.searchsorted(events, shown - SHOWN_LATER)
    return all_rows[is_lookup, 2] == 1, dict(zip(shown.tolist(), all_rows[at, 3:], strict=True))

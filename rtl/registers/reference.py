"""What a block of registers does with each access: the tests compare the hardware with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import ALL_ONES, PARAMETERS, Block, Field, Register

OKAY, SLVERR = 0, 2
ALL_BYTES = 0b1111


@dataclass
class Reference:
    """A block after reset. `inputs` is what the hardware shows, by signal."""

    block: Block
    parameters: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parameters = {name: PARAMETERS[name][0] for name in PARAMETERS} | self.parameters
        self.values = {r.path: r.reset for r in self.block.registers}
        self.words = {
            r.offset + 4 * word: (r, word) for r in self.block.registers for word in range(r.words)
        }
        self.written_low: dict[str, int] = {}
        self.read_high: dict[str, int] = {}
        self.seen: dict[str, int] = {}
        for register, at in ((r, f) for r in self.block.registers for f in r.fields):
            if self.is_input(register, at):
                self.inputs.setdefault(register.signal(at), 0)

    @staticmethod
    def is_input(register: Register, at: Field) -> bool:
        """Whether the hardware gives the value at a port."""
        return not register.writable and register.group != "common" and not at.parameter

    def limits(self, register: Register) -> tuple[int, int]:
        """Smallest and largest value of a write now."""
        at = register.limit
        if at is None:
            return 0, ALL_ONES
        low, high = at.minimum, at.maximum
        for lower in self.block.lower_bounds(register):
            low = max(low, self.values[lower.path])
        if at.maximum_parameter:
            high = self.parameters[at.maximum_parameter]
        if at.at_most:
            high = self.values[self.block.sibling(register, at.at_most).path]
        return low, high

    def refusal(self, address: int, value: int, strobes: int) -> str:
        """The bit of `errors` that a write sets, or "" where it is good."""
        if address not in self.words:
            return "unknown_write"
        register, word = self.words[address]
        if not register.writable:
            return "read_only"
        if strobes != ALL_BYTES:
            return "partial_write"
        low, high = self.limits(register)
        mask = register.mask >> 32 * word & ALL_ONES
        return "" if value & ~mask == 0 and low <= value <= high else "out_of_range"

    def write(self, address: int, value: int, strobes: int = ALL_BYTES) -> int:
        """Makes a write; returns the response."""
        address &= ~3
        refusal = self.refusal(address, value, strobes)
        if refusal:
            self._refuse(refusal, address, value)
            return SLVERR
        register, word = self.words[address]
        if register.clears:
            self.values[register.path] &= ~value
        elif register.words == 1:
            pulses = sum(at.mask for at in register.fields if at.singlepulse)
            self.values[register.path] = value & ~pulses
        elif word == 0:
            self.written_low[register.path] = value
        else:
            low = self.written_low.pop(register.path, self.values[register.path] & ALL_ONES)
            self.values[register.path] = value << 32 | low
        return OKAY

    def read(self, address: int) -> tuple[int, int]:
        """Makes a read; returns the response and the value."""
        address &= ~3
        if address not in self.words:
            self._refuse("unknown_read", address, 0)
            return SLVERR, 0
        register, word = self.words[address]
        if register.words > 1 and not register.writable:
            if word == 1:
                return OKAY, self.read_high.get(register.path, 0)
            self.read_high[register.path] = self.value(register) >> 32
        return OKAY, self.value(register) >> 32 * word & ALL_ONES

    def value(self, register: Register) -> int:
        """What a register holds now."""
        at = register.fields[0]
        if at.parameter:
            return self.parameters[at.parameter]
        if self.is_input(register, at):
            return self.inputs[register.signal(at)]
        return self.values[register.path]

    def outputs(self) -> dict[str, int]:
        """What the hardware gets, by signal."""
        found = {}
        for register in self.block.registers:
            if not register.writable or register.clears:
                continue
            for at in register.fields:
                value = (self.values[register.path] & at.mask) >> at.low
                if at.maximum_parameter:
                    value = min(value, self.parameters[at.maximum_parameter])
                found[register.signal(at)] = value * 1000 if at.bps else value
        return found

    def _refuse(self, bit: str, address: int, value: int) -> None:
        self.seen[bit] = self.seen.get(bit, 0) + 1
        errors = next(r for r in self.block.registers if r.clears)
        self.values[errors.path] |= next(at.mask for at in errors.fields if at.name == bit)
        self.values["common_refused_address"] = address
        self.values["common_refused_value"] = value

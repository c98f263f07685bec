"""Register accesses under traffic, and their check against the model of hull.rdl."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from registers.model import ADDRESS_BITS, ALL_ONES, block
from registers.reference import ALL_BYTES, OKAY, Reference

WRITE = 1


@dataclass(frozen=True)
class Access:
    """A write or a read, made at `clock` or as soon as the port is free after it."""

    clock: int
    write: bool
    address: int
    value: int = 0
    strobes: int = ALL_BYTES


class RegisterTape:
    """A list of accesses that rtl/bench/register_player.sv makes in order."""

    def __init__(self, name: str, parameters: Mapping[str, int]) -> None:
        self.block = block(name)
        self.parameters = dict(parameters)
        self.registers = {register.path: register for register in self.block.registers}
        self.accesses: list[Access] = []

    def write(self, clock: int, path: str, value: int) -> None:
        """Adds a write of a whole register."""
        register = self.registers[path]
        for word in range(register.words):
            part = value >> 32 * word & ALL_ONES
            self.accesses.append(Access(clock, True, register.offset + 4 * word, part))

    def read(self, clock: int, path: str) -> None:
        """Adds a read of a whole register."""
        register = self.registers[path]
        for word in range(register.words):
            self.accesses.append(Access(clock, False, register.offset + 4 * word))

    def read_all(self, clock: int) -> None:
        """Adds a read of each register of the block."""
        for path in self.registers:
            self.read(clock, path)

    def random_reads(self, rng: np.random.Generator, clock: int) -> None:
        """Adds a read of a random register, or of an address that may have none."""
        if rng.random() < 0.1:
            address = int(rng.integers(1 << ADDRESS_BITS - 2)) << 2
            self.accesses.append(Access(clock, False, address))
        else:
            self.read(clock, str(rng.choice(list(self.registers))))

    def refused(self, rng: np.random.Generator, clock: int) -> None:
        """Adds a write that the guard must reject: beyond a limit, with partial strobes, to a
        read-only register, or to an address without one.
        """
        model = Reference(self.block, self.parameters)
        writable = [register for register in self.block.registers if register.writable]
        while True:
            register = writable[int(rng.integers(len(writable)))]
            kind = rng.choice(["value", "strobes", "read only", "unknown"])
            address, value, strobes = register.offset, register.reset & ALL_ONES, ALL_BYTES
            if kind == "value":
                # Out of range for any value of the other registers.
                low, high = (
                    (register.limit.minimum, register.limit.maximum)
                    if register.limit
                    else (0, ALL_ONES)
                )
                value = int(rng.choice([low - 1, high + 1, ALL_ONES, 0])) & ALL_ONES
                allowed = register.limit and low <= value <= high
                if allowed or not register.limit or register.words > 1:
                    continue
            elif kind == "strobes":
                strobes = int(rng.integers(1, ALL_BYTES))
            elif kind == "read only":
                found = [each for each in self.block.registers if not each.writable]
                address = found[int(rng.integers(len(found)))].offset
            else:
                address = int(rng.integers(1 << ADDRESS_BITS - 2)) << 2
            if model.refusal(address, value, strobes):
                self.accesses.append(Access(clock, True, address, value, strobes))
                return

    def stimulus(self) -> bytes:
        """The file for the player."""
        rows = [
            (
                access.clock,
                WRITE * access.write << 56
                | access.strobes << 48
                | access.address << 32
                | access.value,
            )
            for access in self.accesses
        ]
        return np.array(rows, ">u8").tobytes()

    def path_of(self, access: Access) -> str | None:
        """The register whose first word is accessed."""
        found = [path for path, each in self.registers.items() if each.offset == access.address]
        return found[0] if found else None

    def settings(self, clocks: np.ndarray) -> list[tuple[int, dict[str, int]]]:
        """The settings after each accepted write, with the clock of its response."""
        model = Reference(self.block, self.parameters)
        taken = [(0, model.outputs())]
        for access, clock in zip(self.accesses, clocks.tolist(), strict=True):
            if access.write and model.write(access.address, access.value, access.strobes) == OKAY:
                taken.append((clock, model.outputs()))
        return taken

    def check(
        self,
        responses: tuple[np.ndarray, np.ndarray],
        shown: Callable[[str, int], int],
    ) -> None:
        """Compares each response with the model. `shown(signal, clock)` is the value of a signal
        that a response in that clock must return.
        """
        clocks, words = responses[0].tolist(), responses[1][:, 0].tolist()
        model = Reference(self.block, self.parameters)
        for access, clock, word in zip(self.accesses, clocks, words, strict=True):
            assert word >> 34 & 1 == access.write
            response, value = word >> 32 & 3, word & ALL_ONES
            if access.write:
                assert response == model.write(access.address, access.value, access.strobes), access
                continue
            entry = model.words.get(access.address)
            for at in entry[0].fields if entry and entry[1] == 0 else ():
                if entry and model.is_input(entry[0], at):
                    signal = entry[0].signal(at)
                    model.inputs[signal] = shown(signal, clock)
            expected = model.read(access.address)
            assert (response, value) == expected, (access, entry and entry[0].path, clock)

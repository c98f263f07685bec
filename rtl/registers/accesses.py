"""cocotb tests of one block of registers: each access compared with the Python model of hull.rdl.

They run on NAME_registers for each block NAME; test_registers.py builds and starts them.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from .model import ADDRESS_BITS, ALL_ONES, PARAMETERS, Register, block
from .reference import ALL_BYTES, OKAY, SLVERR, Reference

SEED = 20
# Random accesses of a block.
ACCESSES = 2000
ERRORS, REFUSED_ADDRESS, REFUSED_VALUE = 0x08, 0x0C, 0x10
WRITE_INPUTS = ("awaddr", "awprot", "awvalid", "wdata", "wstrb", "wvalid", "bready")
READ_INPUTS = ("araddr", "arprot", "arvalid", "rready")


class Port:
    """The block under test, its model, and the bus between."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        name = dut._name.removesuffix("_registers")
        parameters = {key: int(getattr(dut, key).value) for key in PARAMETERS if hasattr(dut, key)}
        self.reference = Reference(block(name), parameters)
        self.random = Random(SEED)
        self.master: AxiLiteMaster = None

    @property
    def registers(self) -> list[Register]:
        return self.reference.block.registers

    async def start(self, bus: bool = True) -> Port:
        for name in WRITE_INPUTS + READ_INPUTS:
            getattr(self.dut, f"s_axil_{name}").value = 0
        self.show(dict.fromkeys(self.reference.inputs, 0))
        Clock(self.dut.clk, 8, "ns").start()
        self.dut.rst.value = 1
        if bus:
            logging.getLogger(f"cocotb.{self.dut._name}.s_axil").setLevel(logging.WARNING)
            self.master = AxiLiteMaster(AxiLiteBus.from_prefix(self.dut, "s_axil"), self.dut.clk)
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2)
        if bus:
            # What a held high word is before the low one was ever read is not defined.
            for register in self.registers:
                if register.words > 1:
                    await self.read(register.offset)
        return self

    def show(self, inputs: dict[str, int]) -> None:
        """Gives the hardware's side new values."""
        self.reference.inputs |= inputs
        for name, value in inputs.items():
            getattr(self.dut, name).value = value

    def show_random(self) -> None:
        self.show(
            {
                register.signal(at): self.random.getrandbits(at.width)
                for register in self.registers
                for at in register.fields
                if self.reference.is_input(register, at)
            }
        )

    async def write(self, address: int, value: int) -> int:
        """A write, compared with the model; returns the response."""
        done = await self.master.write(address, value.to_bytes(4, "little"))
        wanted = self.reference.write(address, value)
        assert int(done.resp) == wanted, f"write 0x{address:03x} = {value}: {done.resp}"
        return wanted

    async def write_bytes(self, address: int, data: bytes) -> None:
        """A write of a part of a word, compared with the model."""
        done = await self.master.write(address, data)
        offset = address & 3
        value = int.from_bytes(data, "little") << 8 * offset
        wanted = self.reference.write(address, value, ((1 << len(data)) - 1) << offset)
        assert int(done.resp) == wanted, f"write 0x{address:03x} of {len(data)} bytes"

    async def read(self, address: int) -> tuple[int, int]:
        """A read, compared with the model; returns response and value."""
        done = await self.master.read(address & ~3, 4)
        found = int(done.resp), int.from_bytes(done.data, "little")
        assert found == self.reference.read(address), f"read 0x{address:03x}: {found}"
        return found

    async def settled(self) -> None:
        """The settings at the hardware's side equal the model's."""
        await ClockCycles(self.dut.clk, 2)
        for name, value in self.reference.outputs().items():
            assert int(getattr(self.dut, name).value) == value, name

    async def read_all(self) -> None:
        for register in self.registers:
            for word in range(register.words):
                await self.read(register.offset + 4 * word)

    def pause(self) -> None:
        """The master hesitates on each channel at random."""
        write, read = self.master.write_if, self.master.read_if
        for channel in (write.aw_channel, write.w_channel, write.b_channel):
            channel.set_pause_generator(self.hesitation())
        for channel in (read.ar_channel, read.r_channel):
            channel.set_pause_generator(self.hesitation())

    def hesitation(self) -> Iterator[bool]:
        own = Random(self.random.random())
        while True:
            pauses = own.choice([0, 0, 0, 1, 2, 7])
            yield from itertools.repeat(True, pauses)
            yield False


def settings(port: Port) -> list[Register]:
    return [register for register in port.registers if register.writable and not register.clears]


@cocotb.test()
async def after_reset(dut: Any) -> None:
    port = await Port(dut).start()
    await port.settled()
    await port.read_all()
    for register in settings(port):
        if register.words == 1:
            low, high = port.reference.limits(register)
            assert low <= register.reset, register.path
            assert register.reset <= high or register.fields[0].maximum_parameter, register.path
        read = await port.read(register.offset)
        assert read == (OKAY, register.reset & ALL_ONES)
    # A second reset gives them back.
    for register in settings(port):
        await port.write(register.offset, max(port.reference.limits(register)[0], 1))
    await port.write(0xFFC, 1)
    dut.rst.value = 1
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    port.reference = Reference(
        port.reference.block, port.reference.parameters, port.reference.inputs
    )
    await port.settled()
    await port.read_all()


@cocotb.test()
async def written_values_are_read_back(dut: Any) -> None:
    port = await Port(dut).start()
    for register in settings(port):
        for word in range(register.words):
            address = register.offset + 4 * word
            low, high = port.reference.limits(register)
            mask = register.mask >> 32 * word & ALL_ONES
            values = [1 << bit for bit in range(32)] + [0, mask, mask ^ 0x5555_5555, low, high]
            for value in values:
                if value & ~mask or not low <= value <= high:
                    continue
                assert await port.write(address, value) == OKAY
                await port.read(register.offset)
                await port.read(address)
                await port.settled()
    await port.read_all()
    assert port.reference.seen == {}


@cocotb.test()
async def limits_hold_at_their_edges(dut: Any) -> None:
    port = await Port(dut).start()
    refused = 0
    for register in settings(port):
        for word in range(register.words):
            address = register.offset + 4 * word
            mask = register.mask >> 32 * word & ALL_ONES
            low, high = port.reference.limits(register)
            edges = {low - 1, low, low + 1, high - 1, high, high + 1, mask, mask + 1, 0, ALL_ONES}
            edges |= {1 << bit for bit in range(32)}
            for value in sorted(edges):
                if not 0 <= value <= ALL_ONES:
                    continue
                answer = await port.write(address, value)
                good = low <= value <= high and value & ~mask == 0
                assert answer == (OKAY if good else SLVERR), (register.path, value)
                if good:
                    await port.settled()
                    continue
                refused += 1
                await port.settled()
                assert await port.read(ERRORS) == (OKAY, 1)
                assert await port.read(REFUSED_ADDRESS) == (OKAY, address)
                assert await port.read(REFUSED_VALUE) == (OKAY, value)
                await port.read(address)
                assert await port.write(ERRORS, 1) == OKAY
                assert await port.read(ERRORS) == (OKAY, 0)
    assert refused > 20


@cocotb.test()
async def limits_follow_other_registers(dut: Any) -> None:
    port = await Port(dut).start()
    pairs = [
        (register, port.reference.block.sibling(register, register.fields[0].at_most))
        for register in settings(port)
        if register.fields[0].at_most
    ]
    assert (len(pairs) > 0) == (port.reference.block.name == "hull_nic")
    for lower, upper in pairs:
        for bound in (max(upper.fields[0].minimum, 2), 4000, upper.fields[0].maximum):
            await port.write(lower.offset, 1)
            assert await port.write(upper.offset, bound) == OKAY
            if bound < upper.fields[0].maximum:
                assert await port.write(lower.offset, bound + 1) == SLVERR
            assert await port.write(lower.offset, bound) == OKAY
            assert await port.write(upper.offset, bound - 1) == SLVERR
            await port.settled()


@cocotb.test()
async def what_is_not_there_is_refused(dut: Any) -> None:
    port = await Port(dut).start()
    port.show_random()
    known = set(port.reference.words)
    for address in range(0, 1 << ADDRESS_BITS, 4):
        register, _ = port.reference.words.get(address, (None, 0))
        if register and register.writable:
            continue
        value = port.random.getrandbits(32)
        assert await port.write(address, value) == SLVERR
        answer, _ = await port.read(address)
        assert (answer == OKAY) == (address in known)
        if address not in known and address % 0x40:
            continue
        await port.read(ERRORS)
        await port.read(REFUSED_ADDRESS)
        await port.read(REFUSED_VALUE)
        await port.write(ERRORS, 0b11111)
    await port.settled()
    assert set(port.reference.seen) == {"unknown_write", "unknown_read", "read_only"}


@cocotb.test()
async def parts_of_words_are_refused(dut: Any) -> None:
    port = await Port(dut).start()
    for register in (r for r in port.registers if r.writable):
        for offset in range(4):
            for size in range(1, 4 - offset):
                await port.write_bytes(register.offset + offset, bytes(size))
                await port.read(register.offset)
                await port.read(ERRORS)
    await port.settled()


@cocotb.test()
async def error_bits_stay_until_they_are_cleared(dut: Any) -> None:
    port = await Port(dut).start()
    first = settings(port)[0].offset
    await port.write(first, ALL_ONES)
    await port.write(0x000, 1)
    await port.write(0xFF8, 2)
    await port.read(0xFF4)
    await port.write_bytes(first, b"\x01")
    assert await port.read(ERRORS) == (OKAY, 0b11111)
    await port.write(ERRORS, 0)
    for bit in range(5):
        assert (await port.read(ERRORS))[1] >> bit & 1
        await port.write(ERRORS, 1 << bit)
        assert await port.read(ERRORS) == (OKAY, 0b11111 & ~((2 << bit) - 1))
    # The register itself has limits.
    assert await port.write(ERRORS, 0x20) == SLVERR


@cocotb.test()
async def counters_are_those_of_the_hardware(dut: Any) -> None:
    port = await Port(dut).start()
    for inputs in (0, ALL_ONES << 32 | ALL_ONES):
        port.show(
            {
                register.signal(at): inputs & (1 << at.width) - 1
                for register in port.registers
                for at in register.fields
                if port.reference.is_input(register, at)
            }
        )
        await port.read_all()
    for _ in range(4):
        port.show_random()
        await port.read_all()
    # The high word is the one of when the low word was read.
    for register in port.registers:
        if register.words == 1 or register.writable:
            continue
        await port.read(register.offset)
        port.show_random()
        await port.read(register.offset + 4)


@cocotb.test()
async def two_words_come_into_force_together(dut: Any) -> None:
    port = await Port(dut).start()
    for register in settings(port):
        if register.words == 1:
            continue
        for value in (0x12_3456_789A, 0xFF_FFFF_FFFF, 1 << 32, 1):
            await port.write(register.offset, value & ALL_ONES)
            await port.settled()
            await port.write(register.offset, value & ALL_ONES)
            await port.write(register.offset + 4, value >> 32)
            await port.settled()
            assert port.reference.value(register) == value
        # The high word alone keeps the low one; a refused one is as if it had not been.
        await port.write(register.offset + 4, 2)
        await port.write(register.offset, 77)
        if register.mask >> 32 != ALL_ONES:
            assert await port.write(register.offset + 4, ALL_ONES) == SLVERR
        await port.settled()
        await port.write(register.offset + 4, 3)
        await port.settled()


async def watch(dut: Any, strobe: Any, signal: Any, high: list[int]) -> None:
    """Keeps the signal's value of each clock in which the strobe is high."""
    while True:
        await FallingEdge(dut.clk)
        if strobe.value == 1:
            high.append(int(signal.value))


@cocotb.test()
async def strobes_last_one_clock(dut: Any) -> None:
    port = await Port(dut).start()
    for register in settings(port):
        for at in register.fields:
            if not (at.swmod or at.singlepulse):
                continue
            name = register.signal(at)
            strobe = getattr(dut, f"{name}_written" if at.swmod else name)
            for value, clocks in ((at.mask, 1), (0 if at.singlepulse else at.mask, at.swmod)):
                high: list[int] = []
                watcher = cocotb.start_soon(watch(dut, strobe, getattr(dut, name), high))
                await port.write(register.offset, value)
                await port.read(register.offset)
                watcher.cancel()
                assert high == [value >> at.low] * clocks, name


@cocotb.test()
async def channels_come_in_any_order(dut: Any) -> None:
    """Address first, data first, both at once; each pattern of strobes; slow to take the answer."""
    port = await Port(dut).start(bus=False)
    register = next(r for r in settings(port) if r.limit)
    low, high = port.reference.limits(register)

    async def offer(channel: str, after: int) -> None:
        await ClockCycles(dut.clk, after + 1)
        valid = getattr(dut, f"s_axil_{channel}valid")
        ready = getattr(dut, f"s_axil_{channel}ready")
        valid.value = 1
        while True:
            await RisingEdge(dut.clk)
            if ready.value == 1:
                break
        valid.value = 0

    turns = itertools.product(range(16), [(0, 0), (0, 5), (5, 0)], [0, 4])
    for strobes, (address_after, data_after), answer_after in turns:
        value = port.random.randint(low, high)
        dut.s_axil_awaddr.value = register.offset
        dut.s_axil_wdata.value = value
        dut.s_axil_wstrb.value = strobes
        channels = [
            cocotb.start_soon(offer("aw", address_after)),
            cocotb.start_soon(offer("w", data_after)),
        ]
        for channel in channels:
            await channel
        clocks = 0
        dut.s_axil_bready.value = 0
        while clocks < answer_after or dut.s_axil_bvalid.value == 0:
            await FallingEdge(dut.clk)
            clocks += 1
            assert clocks < 30, "no answer"
        wanted = port.reference.write(register.offset, value, strobes)
        assert (wanted == OKAY) == (strobes == ALL_BYTES)
        for _ in range(answer_after):
            assert (dut.s_axil_bvalid.value, dut.s_axil_bresp.value) == (1, wanted)
            await FallingEdge(dut.clk)
        dut.s_axil_bready.value = 1
        await RisingEdge(dut.clk)
        dut.s_axil_bready.value = 0
        await FallingEdge(dut.clk)
        assert dut.s_axil_bvalid.value == 0, "answered twice"
        await port.settled()


@cocotb.test()
async def reads_and_writes_at_once(dut: Any) -> None:
    """Neither direction starves the other, and a read gives a value that was written."""
    port = await Port(dut).start()
    port.pause()
    register = next(r for r in settings(port) if r.limit and r.words == 1)
    low, high = port.reference.limits(register)
    values = sorted({port.random.randint(low, high) for _ in range(200)})
    taken: list[int] = []
    finished: dict[str, int] = {}

    async def writer() -> None:
        writes = [
            cocotb.start_soon(port.master.write(register.offset, value.to_bytes(4, "little")))
            for value in values
        ]
        for write in writes:
            assert int((await write).resp) == OKAY
        finished["writes"] = len(taken)

    async def reader() -> None:
        addresses = [register.offset, 0xFFC] * len(values)
        reads = [cocotb.start_soon(port.master.read(address, 4)) for address in addresses]
        for address, read in zip(addresses, reads, strict=True):
            done = await read
            if address == register.offset:
                assert int(done.resp) == OKAY
                taken.append(int.from_bytes(done.data, "little"))
            else:
                assert (int(done.resp), bytes(done.data)) == (SLVERR, bytes(4))

    tasks = [cocotb.start_soon(writer()), cocotb.start_soon(reader())]
    for task in tasks:
        await task
    assert taken == sorted(taken), "a read went back in time"
    assert set(taken) <= {register.reset, *values}
    assert len(set(taken)) > 20, "writes waited for all reads"
    assert finished["writes"] > 20, "reads waited for all writes"


@cocotb.test()
async def random_accesses(dut: Any) -> None:
    """Any access, often near a limit, with a master that hesitates; each answer is the model's."""
    port = await Port(dut).start()
    port.pause()
    random, reference = port.random, port.reference
    writable = [address for address, (r, _) in reference.words.items() if r.writable]
    for at in range(ACCESSES):
        if at % 50 == 0:
            port.show_random()
        anywhere = random.randrange(0, 1 << ADDRESS_BITS)
        known = random.choice(list(reference.words)) + random.choice([0, 0, 0, 1, 2, 3])
        address = random.choice([anywhere, known, known, random.choice(writable)])
        if random.random() < 0.4:
            await port.read(address)
            continue
        register, word = reference.words.get(address & ~3, (None, 0))
        low, high = reference.limits(register) if register else (0, ALL_ONES)
        mask = register.mask >> 32 * word & ALL_ONES if register else ALL_ONES
        value = random.choice(
            [
                random.randint(low, high) & mask,
                random.randint(low, high) & mask,
                random.getrandbits(32),
                random.choice([low, high]) + random.choice([-1, 0, 1]),
                random.getrandbits(32) & mask,
            ]
        )
        if random.random() < 0.1:
            size = random.randint(1, 4 - (address & 3))
            data = (value & ALL_ONES).to_bytes(4, "little")[:size]
            await port.write_bytes(address, data)
        else:
            await port.write(address & ~3, value & ALL_ONES)
        if at % 10 == 0:
            await port.settled()
    await port.read_all()
    bits = {"out_of_range", "read_only", "unknown_write", "unknown_read", "partial_write"}
    assert set(reference.seen) == bits, "a rejection reason never occurred"
    dut._log.info("refused: %s of %d", reference.seen, ACCESSES)

"""The registers of hull.rdl as plain data, for the generators and the tests.

Units: addresses in bytes from the start of the block; a word has 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peakrdl_regblock.udps import ALL_UDPS
from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegfileNode, RegNode
from systemrdl.rdltypes.builtin_enums import OnWriteType

SOURCE = Path(__file__).parent / "hull.rdl"
BLOCKS = ("hull_switch_port", "hull_nic", "latency_meter")
ALL_ONES = 0xFFFF_FFFF
# Address bits of each block: a page of 4 KiB.
ADDRESS_BITS = 12
# Parameters of the generated modules: default and meaning.
PARAMETERS = {
    "CLOCK_PS": (8000, "Period of clk in ps: 8000 at 125 MHz, 6400 at 156.25 MHz."),
    "QUEUE_BYTES": (131072, "Memory of the port's queue in bytes, below 2^20: the largest limit."),
    "FIFO_BYTES": (
        131072,
        "Memory of the pacer's FIFO in bytes, below 2^24: the largest fifo_bytes.",
    ),
    "ENTRIES": (64, "Entries of the flow association table."),
    "LAST_BUCKET": (1023, "Number of the histogram's last bucket."),
}


class RulesError(Exception):
    """hull.rdl breaks a rule that its first comment states."""


@dataclass(frozen=True)
class Field:
    """A field of a register. Bits are numbered across the whole register, one word or two."""

    name: str
    desc: str
    low: int
    width: int
    reset: int
    unit: str
    minimum: int
    maximum: int
    maximum_parameter: str  # "" if `maximum` is the limit
    at_most: str  # register of the same regfile that bounds the value, or ""
    parameter: str  # the module parameter that a read returns, or ""
    bps: bool  # kbit/s in the register, bit/s in the datapath
    choices: tuple[tuple[str, int, str], ...]
    singlepulse: bool
    swmod: bool

    @property
    def mask(self) -> int:
        """Mask of the field in the register."""
        return ((1 << self.width) - 1) << self.low

    @property
    def limited(self) -> bool:
        """Whether the field rejects some of the values that fit its width."""
        full = (1 << self.width) - 1
        return bool(self.minimum or self.maximum < full or self.maximum_parameter or self.at_most)


@dataclass(frozen=True)
class Register:
    """A register of one word or two."""

    group: str
    name: str
    desc: str
    offset: int
    words: int
    writable: bool
    clears: bool  # write one to clear
    fields: tuple[Field, ...]

    @property
    def path(self) -> str:
        """Name of the register in constants and signals."""
        return f"{self.group}_{self.name}"

    @property
    def mask(self) -> int:
        """Mask of all fields."""
        return sum(field.mask for field in self.fields)

    @property
    def reset(self) -> int:
        """Value after reset."""
        return sum(field.reset << field.low for field in self.fields)

    @property
    def limit(self) -> Field | None:
        """The field with limits, if any."""
        return self.fields[0] if self.fields[0].limited else None

    def signal(self, field: Field) -> str:
        """Name of the port on the generated module."""
        if field.name != "value":
            return f"{self.group}_{field.name}"
        name = self.name.removesuffix("_kbps") + "_bps" if field.bps else self.name
        return f"{self.group}_{name}"


@dataclass(frozen=True)
class Group:
    """A regfile."""

    name: str
    desc: str
    registers: tuple[Register, ...]


@dataclass(frozen=True)
class Block:
    """An addrmap: one AXI4-Lite port."""

    name: str
    title: str
    desc: str
    groups: tuple[Group, ...]

    @property
    def registers(self) -> list[Register]:
        """All registers, by address."""
        return [register for group in self.groups for register in group.registers]

    @property
    def parameters(self) -> list[str]:
        """Parameters of the module."""
        fields = [field for register in self.registers for field in register.fields]
        used = {field.parameter for field in fields} | {f.maximum_parameter for f in fields}
        return [name for name in PARAMETERS if name in used]

    def sibling(self, register: Register, name: str) -> Register:
        """The register `name` beside `register`."""
        for other in self.registers:
            if (other.group, other.name) == (register.group, name):
                return other
        raise RulesError(f"{register.path}: {name} is not a register of {register.group}")

    def lower_bounds(self, register: Register) -> list[Register]:
        """The registers whose value must not exceed this one's."""
        return [
            other
            for other in self.registers
            if other.group == register.group and other.fields[0].at_most == register.name
        ]


def text(node: Any) -> str:
    """The description, on one line."""
    return " ".join((node.get_property("desc") or "").split())


def read_field(node: FieldNode) -> Field:
    """Reads a field. Its limits default to the range of its width."""
    full = (1 << node.width) - 1
    encode = node.get_property("encode")
    reset: Any = node.get_property("reset")
    return Field(
        name=node.inst_name,
        desc=text(node),
        low=node.low,
        width=node.width,
        reset=int(reset) if reset is not None else 0,
        unit=node.get_property("unit", default=""),
        minimum=node.get_property("minimum", default=0),
        maximum=node.get_property("maximum", default=full),
        maximum_parameter=node.get_property("maximum_parameter", default=""),
        at_most=node.get_property("at_most", default=""),
        parameter=node.get_property("parameter", default=""),
        bps=bool(node.get_property("signal_bps", default=False)),
        choices=tuple(
            (member.name, int(member.value), " ".join((member.rdl_desc or "").split()))
            for member in encode
        )
        if encode
        else (),
        singlepulse=bool(node.get_property("singlepulse")),
        swmod=bool(node.get_property("swmod")),
    )


def read_register(group: RegfileNode, node: RegNode) -> Register:
    """Reads and checks a register."""
    fields = tuple(read_field(field) for field in node.fields())
    register = Register(
        group=group.inst_name,
        name=node.inst_name,
        desc=text(node),
        offset=node.absolute_address,
        words=node.size // 4,
        writable=any(field.is_sw_writable for field in node.fields()),
        clears=any(field.get_property("onwrite") == OnWriteType.woclr for field in node.fields()),
        fields=tuple(sorted(fields, key=lambda field: field.low)),
    )
    check(register)
    return register


def check(register: Register) -> None:
    """Rejects a register that the generators do not support."""
    where = f"hull.rdl: {register.path}"
    if not register.desc:
        raise RulesError(f"{where} has no description")
    for field in register.fields:
        if field.limited and (len(register.fields) > 1 or register.words > 1):
            raise RulesError(f"{where}: a field with limits must be alone in a word of 32 bits")
        if field.maximum >= 1 << field.width or not field.minimum <= field.maximum:
            raise RulesError(f"{where}: minimum and maximum must be values of the field")
        if register.writable and not field.minimum <= field.reset <= field.maximum:
            raise RulesError(f"{where}: the value after reset must be within the limits")
        if field.choices and [value for _, value, _ in field.choices] != list(
            range(field.maximum + 1)
        ):
            raise RulesError(f"{where}: maximum must be the last choice")
        if field.parameter and field.parameter not in PARAMETERS:
            raise RulesError(f"{where}: {field.parameter} is not a parameter in model.py")
        if register.writable and field.name == "value" and not (field.unit or field.choices):
            raise RulesError(f"{where} has no unit")


def compiler() -> RDLCompiler:
    """A compiler with hull.rdl loaded."""
    rdl = RDLCompiler()
    for definition in ALL_UDPS:
        rdl.register_udp(definition)
    rdl.compile_file(str(SOURCE))
    return rdl


def node(name: str) -> AddrmapNode:
    """The addrmap `name`, in the form that PeakRDL's exporters take."""
    return compiler().elaborate(name).top


def block(name: str) -> Block:
    """The addrmap `name`, as data."""
    top = node(name)
    groups = []
    for child in top.children():
        assert isinstance(child, RegfileNode)
        registers = tuple(read_register(child, register) for register in child.registers())
        groups.append(Group(child.inst_name, text(child), registers))
    found = Block(name, top.get_property("name"), text(top), tuple(groups))
    for register in found.registers:
        field = register.fields[0]
        if not field.at_most:
            continue
        upper = found.sibling(register, field.at_most)
        # The limits of the larger register hold for the smaller, and its field must be limited.
        if not upper.limit or upper.limit.maximum > field.maximum:
            raise RulesError(f"{register.path}: {field.at_most} may be above its maximum")
    signals = [r.signal(f) for r in found.registers for f in r.fields if r.group != "common"]
    if len(set(signals)) < len(signals):
        raise RulesError(f"hull.rdl: {name}: two fields have the same signal")
    return found


def blocks() -> list[Block]:
    """All addrmaps."""
    return [block(name) for name in BLOCKS]

"""One op with one setting changed: whether the value is legal, the L1 that it takes, and the time it can save."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol, TypeAlias

import numpy as np

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.roofline import Roofline, roofline_of
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.ops.op_table import OpTable

Value: TypeAlias = "int | bool | str"


@dataclass(frozen=True)
class Op:
    """The op on which a setting is tried.

    Attributes:
        table: a table of its row only.
        attributes: its printed attributes.
        chip: the chip it ran on.
        bounds: its roofline, of one row.
        kernel_ns: its kernel time.
        before: names of the ops that ran before it on its device, the latest first.
        shards: rows and columns, in elements, of the shards of its operands in L1, by the operand's name, as far as the
            reports tell (`told_shards`).
    """

    table: OpTable
    attributes: Attributes
    chip: Chip
    bounds: Roofline
    kernel_ns: float
    before: tuple[str, ...] = ()
    shards: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])

    @property
    def kernel_us(self) -> float | None:
        """Its kernel time; None where no report has times."""
        return self.kernel_ns / 1e3 if np.isfinite(self.kernel_ns) else None

    @property
    def least_ns(self) -> float:
        """The least time in ns that it can take without a change, by its roofline."""
        bound = np.fmax(self.bounds.compute_ns[0], self.bounds.dram_ns[0])
        return min(self.kernel_ns, float(np.fmax(bound, LAUNCH_FLOOR_NS)))

    @property
    def cores(self) -> int | None:
        """The number of cores it ran on; None if the report does not tell."""
        used = float(self.table.numbers("cores")[0])
        return int(used) if np.isfinite(used) else None


@dataclass(frozen=True, slots=True)
class Trial:
    """One value of a setting, tried on an op.

    Attributes:
        now: the value that the op ran with; None if the report does not tell.
        broken: the rules that the value breaks, in words; empty means legal, unless `unknown` is set.
        unknown: why it is unknown whether TTNN accepts the value.
        buffers: bytes per core of the op's circular buffers; empty if not modelled.
        tensors: bytes per core that the op's own tensors take of L1 at least, by its row.
        unsure_bytes: bytes per core that they may take more, where no report tells their shards.
        grown: bytes per core by which those tensors grow.
        ran: bytes per core of the buffers of the config that the op ran with, and what builds before 0.81 may add to
            them; None where these are not known.
        change: what the value changes, in words.
        at_most_ns: the most kernel time that it can save; None where there is no bound.
        needs: what must be changed together with it.
        beside: other settings of a suggested config that follow the value.
        effect: whether the value makes any difference to the op.
        instead: a value to use in its place, if that does not depend on L1.
        same_l1: whether it does not change L1.
        older_bytes: bytes per core that builds before 0.81 may take more, by their source code.
        in_slices: whether TTNN may cut the op's input into slices where it does not fit whole.
        wrong_values: why builds before 0.81, which accept it, compute wrong values; empty if they do not.
    """

    now: Value | None
    broken: tuple[str, ...] = ()
    unknown: str = ""
    buffers: dict[str, int] = field(default_factory=dict[str, int])
    tensors: dict[str, int] = field(default_factory=dict[str, int])
    unsure_bytes: int = 0
    grown: int = 0
    ran: tuple[int, int] | None = None
    change: str = ""
    at_most_ns: float | None = None
    needs: str = ""
    beside: dict[str, int] = field(default_factory=dict[str, int])
    effect: bool = True
    instead: str | None = None
    same_l1: bool = False
    older_bytes: int = 0
    in_slices: bool = False
    wrong_values: str = ""


class OpSettings(Protocol):
    """The settings of one op that can be judged."""

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the settings."""
        ...

    def tried(self, setting: str, value: Value) -> Trial:
        """The trial of one value of a setting."""
        ...

    def changed(self, now: Described, setting: str, value: Value) -> Described | None:
        """The op with the value, as the laws of time describe it; None where they know no such setting."""
        ...

    def choices(self, setting: str) -> tuple[Value, ...]:
        """The values worth a trial, ascending, not all of them legal; empty if a setting has no short list."""
        ...


def op_of(
    row: OpTable, chip: Chip, before: tuple[str, ...] = (), shards: Mapping[str, tuple[int, int]] | None = None
) -> Op:
    """The op in a table of one row."""
    attributes = parse_attributes(row.texts("attributes")[0])
    kernel_ns = float(row.numbers("kernel_ns")[0])
    return Op(row, attributes, chip, roofline_of(row, chip), kernel_ns, before, shards or {})


def broken_of(rules: Mapping[str, bool]) -> tuple[str, ...]:
    """The rules that do not hold."""
    return tuple(rule for rule, holds in rules.items() if not holds)


def per_step_ns(op: Op, steps: float, changed_steps: float) -> float:
    """The most ns saved by fewer steps, if all time above the roofline is proportional to the number of steps."""
    return max(0.0, (op.kernel_ns - op.least_ns) * (1 - changed_steps / steps)) if steps else 0.0

"""One op with one setting changed: is the value legal, what L1 does it take, what can it save. Figures only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.roofline import Roofline, roofline_of
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable

Value: TypeAlias = "int | bool | str"


@dataclass(frozen=True)
class Op:
    """The op a setting is tried on.

    Attributes:
        table: its row alone.
        said: its attributes.
        chip: what it ran on.
        bounds: its roofline, one row.
        kernel_ns: what it took.
        before: names of the ops that ran before it on its device, the latest first.
    """

    table: OpTable
    said: Attributes
    chip: Chip
    bounds: Roofline
    kernel_ns: float
    before: tuple[str, ...] = ()

    @property
    def least_ns(self) -> float:
        """What it takes at least, as it is."""
        bound = np.fmax(self.bounds.compute_ns[0], self.bounds.dram_ns[0])
        return min(self.kernel_ns, float(np.fmax(bound, LAUNCH_FLOOR_NS)))

    @property
    def cores(self) -> int | None:
        """Cores it ran on."""
        used = float(self.table.numbers("cores")[0])
        return int(used) if np.isfinite(used) else None


@dataclass(frozen=True, slots=True)
class Trial:
    """What a value comes to.

    Attributes:
        now: the value the op ran with; None where the report does not say.
        broken: the constraints the value breaks, each named; empty = legal, unless `unknown`.
        unknown: why nobody can say whether TTNN takes the value.
        buffers: bytes per core of the op's circular buffers; empty where they are not modelled.
        tensors: bytes per core of the op's own tensors in L1, guessed from its row.
        grown: bytes per core that those tensors take more than they do now.
        change: what the value changes.
        at_most_ns: the most of the kernel time it can save; None where nothing bounds it.
        needs: what must come with it.
        effect: whether the op would notice.
        instead: what to use in its place, where that is no matter of L1.
        same_l1: whether it leaves L1 as it is.
        older_bytes: that builds before 0.81 may take more, by their sources.
    """

    now: Value | None
    broken: tuple[str, ...] = ()
    unknown: str = ""
    buffers: dict[str, int] = field(default_factory=dict[str, int])
    tensors: dict[str, int] = field(default_factory=dict[str, int])
    grown: int = 0
    change: str = ""
    at_most_ns: float | None = None
    needs: str = ""
    effect: bool = True
    instead: str | None = None
    same_l1: bool = False
    older_bytes: int = 0


class Settings(Protocol):
    """The settings of one op that can be judged."""

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the settings."""
        ...

    def tried(self, setting: str, value: Value) -> Trial:
        """What one value of one of them comes to."""
        ...

    def choices(self, setting: str) -> tuple[Value, ...]:
        """Values worth a look, ascending; legal ones among others. Empty where the setting has no short list."""
        ...


def op_of(row: OpTable, chip: Chip, before: tuple[str, ...] = ()) -> Op:
    """The op in a table of one row."""
    said = parse_attributes(row.texts("attributes")[0])
    return Op(row, said, chip, roofline_of(row, chip), float(row.numbers("kernel_ns")[0]), before)


def broken_of(rules: Mapping[str, bool]) -> tuple[str, ...]:
    """The rules that do not hold."""
    return tuple(rule for rule, holds in rules.items() if not holds)


def per_step_ns(op: Op, now: float, then: float) -> float:
    """Saved at most by going from `now` to `then` steps, if all time above the roofline is paid per step."""
    return max(0.0, (op.kernel_ns - op.least_ns) * (1 - then / now)) if now else 0.0

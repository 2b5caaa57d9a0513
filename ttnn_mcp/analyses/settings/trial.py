"""One op with one setting changed: is the value legal, what L1 does it take, what can it save. Figures only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.roofline import Roofline, roofline_of
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes

if TYPE_CHECKING:
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
    """

    table: OpTable
    said: Attributes
    chip: Chip
    bounds: Roofline
    kernel_ns: float

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
        broken: the constraints the value breaks, each named; empty = legal.
        buffers: L1 bytes per core by buffer; empty where it is not modelled.
        change: what the value changes.
        at_most_ns: the most of the kernel time it can save; None where nothing bounds it.
        legal: legal values and the L1 bytes each needs, ascending; empty where any value is.
        needs: what must come with it.
        effect: whether the op would notice.
        instead: what to use in its place, where that is no matter of L1.
    """

    now: Value | None
    broken: tuple[str, ...] = ()
    buffers: dict[str, int] = field(default_factory=dict[str, int])
    change: str = ""
    at_most_ns: float | None = None
    legal: tuple[tuple[int, int], ...] = ()
    needs: str = ""
    effect: bool = True
    instead: str | None = None

    @property
    def l1_bytes(self) -> int | None:
        """L1 per core in all."""
        return sum(self.buffers.values()) if self.buffers else None


TENSORS_BY_MODEL = (
    "ALLOCATED",
    "OUT",
    "OPERANDS_IN_L1",
)  # guessed from the op's own row


def beside(trial: Trial, tensors_bytes: int) -> Trial:
    """The trial with the tensors that a memory report shows in L1 in place of those the model guesses."""
    guessed = sum(trial.buffers.get(name, 0) for name in TENSORS_BY_MODEL)
    own = {name: size for name, size in trial.buffers.items() if name not in TENSORS_BY_MODEL}
    more = tensors_bytes - guessed
    return replace(
        trial,
        buffers={"TENSORS": tensors_bytes, **own},
        legal=tuple((value, needed + more) for value, needed in trial.legal),
    )


def op_of(row: OpTable, chip: Chip) -> Op:
    """The op in a table of one row."""
    said = parse_attributes(row.texts("attributes")[0])
    return Op(row, said, chip, roofline_of(row, chip), float(row.numbers("kernel_ns")[0]))


def rules(*pairs: tuple[str, bool]) -> tuple[str, ...]:
    """The rules that do not hold."""
    return tuple(rule for rule, holds in pairs if not holds)


def per_step_ns(op: Op, now: float, then: float) -> float:
    """Saved at most by going from `now` to `then` steps, if all time above the roofline is paid per step."""
    return max(0.0, (op.kernel_ns - op.least_ns) * (1 - then / now)) if now else 0.0

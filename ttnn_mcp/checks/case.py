"""The case a check looks at: the ops of one window on the device the others wait for, and what is known of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.devices.host_gaps import Timeline, timeline_of
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.roofline.roofline import Roofline
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand
    from ttnn_mcp.run.ops.texts import Texts
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.run.window import Scope
    from ttnn_mcp.wire import Evidence


class Case:
    """What checks share, computed once. `ops` are the critical device's, in the order they ran.

    Attributes:
        run: the run.
        scope: the window, all devices.
        ops: the critical device's ops of the window.
    """

    def __init__(self, run: Run, scope: Scope) -> None:
        self.run = run
        self.scope = scope
        self.ops: OpTable = scope.critical
        self.answered: dict[str, object] = {}  # what each check said, kept by the diagnosis

    def __len__(self) -> int:
        return len(self.ops)

    @property
    def chip(self) -> Chip:
        """The chip: clock, cores, bandwidth, and what of it was inferred."""
        return self.run.chip

    @cached_property
    def kernel_ns(self) -> NDArray[np.float64]:
        """Kernel time per op."""
        return self.ops.numbers("kernel_ns")

    @cached_property
    def total_ns(self) -> float:
        """Kernel time of the window on this device: what shares are shares of."""
        return float(self.kernel_ns.sum())

    @cached_property
    def timeline(self) -> Timeline:
        """Kernels and gaps of this device over the window."""
        return timeline_of(self.ops, self.chip.clock_ghz)

    @property
    def gap_ns(self) -> float:
        """Time between this device's ops in the window; compile and load time where the window is cold."""
        return self.timeline.gap_ns

    @property
    def gap_share(self) -> float:
        """Share of the window's wall time between ops."""
        return self.gap_ns / self.timeline.wall_ns if self.timeline.wall_ns else 0.0

    @cached_property
    def names(self) -> Texts:
        """OP CODE per op."""
        return self.ops.texts("op_code")

    @cached_property
    def flow(self) -> Flow:
        """Who made an input, who reads an output."""
        return Flow(self.ops)

    @cached_property
    def roofline(self) -> Roofline:
        """Lower bounds per op."""
        return roofline_of(self.ops, self.chip)

    @cached_property
    def _attributes(self) -> dict[int, Attributes]:
        return {}

    def attributes(self, row: int) -> Attributes:
        """The op's attributes; parsed once per distinct text."""
        code = int(self.ops.texts("attributes").codes[row])
        if code not in self._attributes:
            self._attributes[code] = parse_attributes(self.ops.texts("attributes")[row])
        return self._attributes[code]

    def named(self, *canonical_names: str) -> NDArray[np.bool_]:
        """Mask of the ops with one of these canonical names (`Conv2d`, `Tilize`)."""
        return self.names.where(lambda text: canonical(text) in canonical_names)

    def of_family(self, *families: str) -> NDArray[np.bool_]:
        """Mask of the ops of these families (`matmul`, `conv`, `layout`, ...)."""
        return self.names.where(lambda text: family(text) in families)

    def input(self, number: int) -> Operand | None:
        """INPUT_n of every op; None where no op has so many."""
        return self.ops.inputs[number] if number < len(self.ops.inputs) else None

    def output(self, number: int = 0) -> Operand | None:
        """OUTPUT_n of every op; None where no op has so many."""
        return self.ops.outputs[number] if number < len(self.ops.outputs) else None

    def share(self, rows: NDArray[np.int64]) -> float:
        """Share of the window's kernel time on these ops."""
        return float(self.kernel_ns[rows].sum() / self.total_ns) if self.total_ns else 0.0

    def us(self, rows: NDArray[np.int64]) -> float:
        """Kernel time on these ops, in microseconds."""
        return float(self.kernel_ns[rows].sum()) / 1e3

    def heaviest(self, rows: NDArray[np.int64], most: int = 3) -> list[int]:
        """The `most` costliest of these ops, costliest first, different signatures before repeats."""
        ranked = rows[np.argsort(-self.kernel_ns[rows], kind="stable")]
        seen: dict[tuple[object, ...], int] = {}
        for row in ranked[: 50 * most]:
            seen.setdefault((self.names[int(row)], self.shapes(int(row))), int(row))
            if len(seen) == most:
                break
        return list(seen.values())

    def shapes(self, row: int) -> str:
        """`1x1x32[19]x1280 * 1280x5120 -> ...` of the op's operands."""
        inputs = [one.shape_text(row) for one in self.ops.inputs if one.present[row]]
        outputs = [one.shape_text(row) for one in self.ops.outputs if one.present[row]]
        return f"{' * '.join(inputs)} -> {' * '.join(outputs)}"

    def cite(self, row: int, *names: str) -> tuple[Evidence, ...]:
        """Cells of the op behind a claim; `kernel_ns` if none are named."""
        return tuple(self.ops.cite(row, name) for name in names or ("kernel_ns",))

    def line(self, row: int) -> int:
        """The op's line in its file: how it is named towards the user."""
        return int(self.ops.lines[row])


def case_of(run: Run, scope: Scope) -> Case:
    """The case of a window, made once per run: what one check computed serves the next question too."""
    case = run.kept.get(scope)
    if not isinstance(case, Case):
        case = run.kept[scope] = Case(run, scope)
    return case

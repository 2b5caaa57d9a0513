"""A doubt: one contradiction in a report, as the windows and answers that it touches carry it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ttnn_mcp.arrays import Booleans
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable

LINES_NAMED = 3

Code: TypeAlias = Literal[
    "no_such_clock",
    "clocks_differ",
    "clock_of_another_chip",
    "counter_wrapped",
    "ends_before_start",
    "cycles_at_odds",
    "kernel_above_firmware",
    "kernels_below_firmware",
    "kernels_above_wall",
    "kernels_below_their_cores",
    "kernels_above_their_cores",
    "kernels_too_short",
    "times_lost",
    "gaps_at_odds",
    "cores_outside_grid",
    "device_at_odds",
    "not_in_order",
    "ops_twice",
    "replays_alike",
    "pass_unlike_others",
    "told_from_firmware",
    "operands_at_odds",
    "beyond_peak",
    "shapes_lost",
]
# what is said of all other ops still holds
OF_SOME_OPS: frozenset[Code] = frozenset(("told_from_firmware", "beyond_peak", "shapes_lost"))
# the times of the window are what was measured: cores, devices or operands are false, or the pass was an odd one
NOT_OF_TIMES: frozenset[Code] = frozenset(
    ("cores_outside_grid", "device_at_odds", "operands_at_odds", "pass_unlike_others")
)


@dataclass(frozen=True, slots=True)
class Doubt:
    """One contradiction.

    Attributes:
        code: what it is, for programs.
        what: the evidence, with lines and figures, and what follows from it.
    """

    code: Code
    what: str

    @property
    def of_all(self) -> bool:
        """Whether sums over the window are in doubt, not only what is said of some ops."""
        return self.code not in OF_SOME_OPS

    @property
    def of_times(self) -> bool:
        """Whether the times of the window are in doubt: no other run is compared with them."""
        return self.of_all and self.code not in NOT_OF_TIMES

    def __str__(self) -> str:
        return f"{self.code}: {self.what}"


def doubt_at(rows: OpTable, chosen: Booleans, code: Code, what: str, why: str = "") -> Doubt | None:
    """The doubt about what stands at these rows; None where there are none."""
    return Doubt(code, f"{what} at {some_lines(rows, chosen)}{why and f': {why}'}") if chosen.any() else None


def some_lines(rows: OpTable, chosen: Booleans) -> str:
    """`3 ops (lines 4, 19, 77)`, or `1 op (line 4)`."""
    lines: list[int] = rows.lines[chosen].tolist()
    listed = ", ".join(map(str, lines[:LINES_NAMED])) + (", ..." if len(lines) > LINES_NAMED else "")
    return f"{len(lines)} ops (lines {listed})" if len(lines) > 1 else f"1 op (line {listed})"

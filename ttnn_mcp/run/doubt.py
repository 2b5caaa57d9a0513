"""A doubt: one contradiction in a report, as the windows and answers that it touches carry it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ttnn_mcp.records import dataclass

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
    "beyond_peak",
]
OF_SOME_OPS: frozenset[Code] = frozenset(
    ("told_from_firmware", "beyond_peak")
)  # what is said of all other ops still holds


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

    def __str__(self) -> str:
        return f"{self.code}: {self.what}"

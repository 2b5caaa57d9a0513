"""The kernel time to expect of an op with one setting changed, by the laws of time; and which choice to try first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.from_graph.matmul_cores import chooser_of, cores_of
from ttnn_mcp.analyses.laws.anchored import after_change, is_near
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.settings.judged import Judged
from ttnn_mcp.analyses.settings.trial import Op, OpSettings, Trial, Value
from ttnn_mcp.hardware import ARCHITECTURES
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.ops.op_table import OpTable

# Settings that change numerics: less of them is faster, and never to be recommended without a look at the PCC.
COST_ACCURACY = ("math_fidelity", "weights_dtype", "fp32_dest_acc_en")


@dataclass(frozen=True, slots=True)
class LegalChoice:
    """A legal value, its verdict, and the time to expect of it; None where no law tells."""

    value: Value
    judged: Judged
    expected: Expected | None

    @property
    def runs(self) -> bool:
        """Whether it is legal and fits."""
        return self.judged.verdict in ("fits", "legal")

    @property
    def number(self) -> int | None:
        """The value where it is a number."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None

    @property
    def is_now(self) -> bool:
        """Whether the op ran with it."""
        return self.judged.trial.now is not None and self.value == self.judged.trial.now


def predicted(op: Op, settings: OpSettings, setting: str, value: Value, trial: Trial) -> Expected | None:
    """The kernel time of the op with a legal value; None where no law tells. Without times it is a law's alone."""
    us, now = op.kernel_us, described_op(op.table, op.chip)
    if now is None or trial.broken:
        return None
    if not trial.effect:
        return after_change(now, us, now)
    changed = settings.changed(now, setting, value)
    return after_change(now, us, changed) if changed is not None else None


def described_op(table: OpTable, chip: Chip) -> Described | None:
    """The op in a table of its row only; where that names no cores, on those on which TTNN runs it.

    What a graph prints names none: ops on interleaved operands take all cores, and a matmul those that TTNN chooses.
    """
    op, grid = described(table, 0, chip), worker_grid(chip)
    if op is None or any(operand.sharded[0] for operand in (*table.inputs, *table.outputs)):
        return op
    if not isinstance(op, MatmulDescription):
        return replace(op, grid=op.grid or grid)
    cores = op.cores or attributes_of(table).row(0).text_of("user_core_coord")
    if op.program != "AUTO" or cores or grid is None:
        return op
    chooser = chooser_of(table, 0, grid, ARCHITECTURES[op.chip].usable_l1_bytes)
    return replace(op, cores=cores_of(chooser)) if chooser else op


def unlike_its_law(op: Op) -> Expected | None:
    """What a law expects of the op as it ran, where it took a time far from that: no change of it is told."""
    us = op.kernel_us
    now = described(op.table, 0, op.chip) if us is not None else None
    answer = expected(now) if now is not None else None
    if us is None or answer is None:  # unmoved: without a time nothing answers
        return None
    return None if answer.low_us <= us <= answer.high_us or is_near(us, answer) else answer


def fastest(choices: list[LegalChoice]) -> LegalChoice | None:
    """The choice that runs and is expected to take least; None where no law tells of another than today's."""
    foreseen = [one for one in choices if one.runs and one.expected is not None]
    if all(one.is_now for one in foreseen):
        return None
    return min(foreseen, key=lambda one: one.expected.us if one.expected else np.inf)


def worth_a_trial(choices: list[LegalChoice]) -> LegalChoice | None:
    """Where no law tells: the choice that runs and may save most by its bound."""
    bounded = [one for one in choices if one.runs and (one.judged.trial.at_most_ns or 0) > 0]
    return max(bounded, key=lambda one: one.judged.trial.at_most_ns or 0, default=None)


def in_order(choices: list[LegalChoice]) -> list[LegalChoice]:
    """Those that run first, by the time to expect, then those of which no law tells, as they stood."""
    return sorted(choices, key=lambda one: (not one.runs, one.expected.us if one.expected else np.inf))

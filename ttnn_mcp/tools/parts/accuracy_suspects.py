"""Ops of a window that are likely to lose accuracy, the worst first; what TTNN compared goes before what others lost.

The PCCs are those that others measured over a depth of layers; a loss grows with depth, so a shallow model may bear
what a deep one does not (a ViT of 12 layers bore what 24 layers of BGE-M3 did not).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ttnn_mcp.analyses.memory.accuracy import losses_of
from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting
from ttnn_mcp.analyses.op_kinds.formats import SIXTEEN_BITS_OR_MORE
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.wire import Cell, Columns, Table

SUSPECTS = Columns("risk", "op_code", "ops", "layers", "op", "pcc_here", "pcc_elsewhere", "source")
BLOCK_FLOATS = ("BFLOAT8_B", "BFLOAT4_B")
MASKED, MASK_INPUT = ("SDPA", "ScaledDotProductAttention"), 3  # behind Q, K and V; others have more of these there
LONG = 16_384  # keys, above which the approximate exponential is wrong (tt-metal's perf_automation guide)
GUIDE = "tt-metal's perf_automation guide"
OVER_24 = f"BGE-M3, 24 layers ({GUIDE})"


@dataclass(frozen=True, slots=True)
class Suspect:
    """Ops of one kind with one risk.

    Attributes:
        pcc_here: the lowest PCC that TTNN recorded of one of them alone; None where it compared none.
        pcc_elsewhere: what others lost by it, over the depth that `source` names; None where only the risk is known.
    """

    risk: str
    op_code: str
    rows: Integers
    pcc_here: float | None
    pcc_elsewhere: float | None
    source: str


def suspects_of(facts: WindowFacts) -> list[Suspect]:
    """All of them: what was compared here by its PCC, then by what others lost, then the heavier ones."""
    if not len(facts.ops.inputs):
        return []
    compared, names = _compared(facts), facts.names.folded(canonical)
    suspects: list[Suspect] = []
    for risk, mask, elsewhere, source in (*_risks(facts), *_recorded(facts)):
        for code in sorted({int(code) for code in names.codes[mask]}):
            rows = np.flatnonzero(mask & (names.codes == code))
            here = [compared[row] for row in rows.tolist() if row in compared]
            suspects.append(Suspect(risk, names.distinct[code], rows, min(here, default=None), elsewhere, source))
    return sorted(suspects, key=lambda one: (_known(one.pcc_here), _known(one.pcc_elsewhere), -facts.us(one.rows)))


def table_of(facts: WindowFacts, most: int) -> Table:
    """The worst, each with its heaviest op and in how many layers it stands."""
    rows: list[tuple[Cell, ...]] = []
    for one in suspects_of(facts)[:most]:
        layers = layers_of(facts, one.rows)
        example = facts.line(facts.heaviest(one.rows, 1)[0])
        depth = len({*layers} - {None}) or None
        figures = (one.pcc_here, one.pcc_elsewhere, one.source)
        rows.append((one.risk, one.op_code, len(one.rows), depth, example, *figures))
    return SUSPECTS.exact(rows)


def layers_of(facts: WindowFacts, rows: Integers) -> list[int | None]:
    """The number of each op's layer; None outside the layers, or where the window shows none."""
    layering = facts.layering_here
    numbers = layering.layer[rows].tolist() if layering else [0] * len(rows)
    return [int(number) if number > 0 else None for number in numbers]


def _known(pcc: float | None) -> float:
    return 1.0 if pcc is None else pcc


def _risks(facts: WindowFacts) -> Iterator[tuple[str, Booleans, float | None, str]]:
    ops = facts.ops
    first, lofi = ops.inputs[0].dtype, ops.texts("fidelity").among("LoFi")
    norm = facts.named("LayerNorm", "RMSNorm", "LayerNormPreAllGather", "LayerNormPostAllGather")
    attention = facts.of_family("attention")
    yield "norm reads a block float", (norm | facts.named("GroupNorm")) & first.among(*BLOCK_FLOATS), 0.50, OVER_24
    yield "norm sums in 16 bits", _off(facts, norm, "fp32_dest_acc_en"), 0.89, OVER_24
    yield "norm at LoFi", norm & lofi, 0.91, f"{OVER_24}; one layer kept 1.0"
    yield (
        "attention sums in 16 bits",
        _off(facts, attention, "fp32_dest_acc_en"),
        0.938,
        f"BGE-M3 ({GUIDE})",
    )
    if len(ops.inputs) > 1:
        keys, weights = ops.inputs[1].logical[:, 2], ops.inputs[1].dtype
        approximate = attention & (keys > LONG)
        approximate[approximate] = _approximates(facts, np.flatnonzero(approximate))
        yield "approximate exp beyond 16 k keys", approximate, None, GUIDE
        wide = first.among(*SIXTEEN_BITS_OR_MORE) & weights.among(*SIXTEEN_BITS_OR_MORE)
        lofi = lofi & facts.of_family("matmul", "conv") & wide
        yield "bfloat16 multiplied at LoFi", lofi, None, "tt-metal #55889, #22549"
    fourth = facts.input(MASK_INPUT)
    if fourth is not None:
        mask = facts.named(*MASKED) & fourth.dtype.among(*BLOCK_FLOATS)
        yield "mask in a block float", mask, None, "16 values share an exponent: -inf takes it from the others"


def _recorded(facts: WindowFacts) -> Iterator[tuple[str, Booleans, float | None, str]]:
    """What missed its bound alone, by TTNN's own comparison."""
    linked = facts.run.linked
    if linked is None:
        return
    missed = {one.operation for one in losses_of(facts.run.memory_report) if one.record.scope == "local"}
    rows = [linked.operation_at.get(line) in missed for line in facts.ops.lines.tolist()]
    yield "missed its PCC bound", np.array(rows, dtype=np.bool_), None, "comparison records of this run"


def _compared(facts: WindowFacts) -> dict[int, float]:
    """Row -> the lowest PCC that TTNN recorded of the op alone."""
    linked = facts.run.linked
    if linked is None:
        return {}
    memory = facts.run.memory_report
    local = {
        one.tensor: one.actual for one in memory.comparisons if one.scope == "local" and one.actual is not None
    }
    lowest: dict[int, float] = {}
    for row, line in enumerate(facts.ops.lines.tolist()):
        operation = linked.operation_at.get(line)
        outputs = memory.outputs.of(operation) if operation is not None else ()
        reached = [local[tensor] for tensor in outputs if tensor in local]
        if reached:
            lowest[row] = min(reached)
    return lowest


def _off(facts: WindowFacts, able: Booleans, field: str) -> Booleans:
    """Among those ops, the ones that print the field as off."""
    rows = np.flatnonzero(able)
    return np.isin(np.arange(len(able)), rows[compute_setting(facts.ops, rows, field) == 0])


def _approximates(facts: WindowFacts, rows: Integers) -> Booleans:
    """Whether the program config of attention asks for the approximate exponential."""
    structs = (facts.attributes(int(row)).struct("program_config") for row in rows)
    return np.array([bool(one and one.number("exp_approx_mode")) for one in structs], dtype=np.bool_)

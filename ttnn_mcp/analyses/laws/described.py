"""The op of a report's row as the laws describe it; None where its row does not tell enough, or no law is about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ttnn_mcp.analyses.laws.attention import AttentionDescription
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription, as_chosen
from ttnn_mcp.analyses.laws.moves import MoveDescription
from ttnn_mcp.analyses.laws.others import CollectiveDescription, ElementwiseDescription, NormDescription
from ttnn_mcp.analyses.laws.printed_op import PrintedOp
from ttnn_mcp.analyses.programs.grids import grid_in, worker_grid
from ttnn_mcp.analyses.programs.matmul_config import turns_first
from ttnn_mcp.hardware import ARCHITECTURES, TILE_SIDE
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from ttnn_mcp.analyses.laws.descriptions import Described
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand

PROGRAMS: dict[str, Literal["1D", "2D", "DRAM_SHARDED"]] = {
    "MatmulMultiCoreReuseMultiCastProgramConfig": "2D",
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": "1D",
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig": "DRAM_SHARDED",
}
MOVES = {
    "Clone": "clone",
    "Copy": "clone",
    "Typecast": "typecast",
    "Tilize": "tilize",
    "TilizeWithValPadding": "tilize",
    "Untilize": "untilize",
    "UntilizeWithUnpadding": "untilize",
    "InterleavedToSharded": "to_shards",
    "ShardedToInterleaved": "from_shards",
}
MASK = 3  # place of the mask among the inputs of attention
INDICES = 3  # of the active experts' numbers among those of a sparse matmul


def described(ops: OpTable, row: int, chip: Chip) -> Described | None:
    """The op at `row`; None where no law is about it."""
    describe = DESCRIBERS.get(canonical(ops.texts("op_code")[row]))
    op = PrintedOp(ops, row, chip)
    if describe is None or chip.arch not in ARCHITECTURES or not op.inputs or op.output is None:
        return None
    made, peak = describe(op, chip.arch, op.output), chip.dram_peak_gb_s
    slower = peak if peak != ARCHITECTURES[chip.arch].dram_peak_gb_s else None
    return replace(made, card_gb_s=slower) if made is not None else None


def _matmul(op: PrintedOp, chip: str, out: Operand) -> MatmulDescription | None:
    if len(op.inputs) < len(("input", "weights")):
        return None
    first, second = op.inputs[:2]
    if turns_first(op.ops, op.row, op.attributes):
        return None
    (*outer, m, k), pairs = op.shape(first), op.shape(second)[0] * op.shape(second)[1]
    asked = MatmulDescription(
        chip=chip,
        cores=op.cores,
        fidelity=op.fidelity,
        rows=m if pairs > 1 else outer[0] * outer[1] * m,
        k=k,
        n=op.shape(out)[3],
        batch=pairs,
        in0_dtype=op.dtype(first),
        in1_dtype=op.dtype(second),
        out_dtype=op.dtype(out),
        in0_place=op.place(first),
        in1_place=op.place(second),
        out_place=op.place(out),
        fused=op.fused,
    )
    if canonical(op.ops.texts("op_code")[op.row]).startswith("MinimalMatmul"):
        config = op.attributes.struct("config")
        return replace(asked, program="MINIMAL", grid=grid_in(config) or worker_grid(op.chip))
    config = op.attributes.struct("program_config")
    if config is None:
        left = replace(asked, program="AUTO")
        # for a core grid of the caller's TTNN chooses other blocks (create_matmul_1d_systolic_array_program_config)
        return left if op.attributes.text_of("user_core_coord") else as_chosen(left)
    program = PROGRAMS.get(config.name, "")
    apart = config.number("fuse_batch") == 0 and pairs == 1 and outer[0] * outer[1] > 1
    by_rows = config.fields.get("mcast_in0") == "0" and asked.in0_place != "L1_HEIGHT_SHARDED"
    readers = config.number("num_workers_per_dram_bank") or 1
    # no law speaks of several cores per bank, nor of batches that a core multiplies one after the other
    if config.number("gather_in0") == 1 or (program == "1D" and by_rows) or apart or readers > 1:
        return None
    return replace(
        asked,
        program=program,
        cores=None if program == "DRAM_SHARDED" else op.cores,  # CORE COUNT may hold those of the operands (#13108)
        grid=grid_in(config),
        block_w=config.number("in0_block_w"),
        per_core_m=config.number("per_core_M"),
        per_core_n=config.number("per_core_N"),
    )


def _experts(op: PrintedOp, chip: str, out: Operand) -> MatmulDescription | None:
    """The matmul of one expert, and how many are active: as nnz tells, or all that are listed by their numbers."""
    one = _matmul(op, chip, out)
    if one is None:
        return None
    (groups, rows_of, rows, _), slots = op.shape(op.inputs[0]), one.batch
    chosen, each = op.attributes.number("nnz"), op.attributes.flag("is_input_a_sparse")
    all_slots = float(groups * (rows_of if each else rows_of * slots))
    listed = len(op.inputs) > INDICES
    active = float(chosen) if chosen is not None else float(op.shape(op.inputs[INDICES])[3]) if listed else None
    config = op.attributes.struct("program_config")
    return replace(
        one,
        program="SPARSE" if one.program == "1D" else "",
        subblock_w=config.number("out_subblock_w") if config else None,
        rows=rows,
        batch=1,
        active=active,
        slots=all_slots if active is None else active,
    )


def _attention(op: PrintedOp, chip: str, out: Operand) -> AttentionDescription | None:
    """Attention of prefill; a report does not tell at which positions decode is."""
    config, given_mask = op.attributes.struct("program_config"), len(op.inputs) > MASK
    if len(op.inputs) < MASK or config is None or given_mask or op.fused:
        return None
    (batch, heads, queries, size), keys = op.shape(op.inputs[0]), op.shape(op.inputs[1])
    if size != op.shape(out)[3] or op.attributes.number("sliding_window_size"):
        return None
    return AttentionDescription(
        chip=chip,
        cores=op.cores,
        grid=grid_in(config),
        fidelity=op.fidelity,
        batch=batch,
        heads=heads,
        kv_heads=keys[1],
        queries=queries,
        keys=keys[2],
        head_size=size,
        causal=op.attributes.flag("is_causal") is not False,
        q_chunk=config.number("q_chunk_size"),
        k_chunk=config.number("k_chunk_size"),
        kv_dtype=op.dtype(op.inputs[1]),
    )


def _norm(op: PrintedOp, chip: str, out: Operand) -> NormDescription | None:
    stage = op.attributes.get("distributed_norm_stage", "").rpartition(":")[2]
    config = op.attributes.struct("program_config")
    if stage not in ("", "NOT_DISTRIBUTED") or (config and config.number("use_welford") == 1):
        return None
    first = op.inputs[0]
    return NormDescription(
        chip=chip,
        cores=op.cores,
        rows=int(first.height[op.row]),
        width=op.shape(first)[3],
        dtype=op.dtype(first),
        in_place=op.place(first),
        out_place=op.place(out),
        block_h=config.number("block_h") if config else None,
        block_w=config.number("block_w") if config else None,
        residual=len(op.inputs) > 1 and op.shape(op.inputs[1], logical=True) == op.shape(first, logical=True),
    )


def _elementwise(op: PrintedOp, chip: str, out: Operand) -> ElementwiseDescription | None:
    """Two tensors of one size, format and place, or one function of one tensor."""
    binary = op.attributes.get("binary_op_type", "").rpartition(":")[2].lower()
    if any(op.shape(operand) != op.shape(out) for operand in op.inputs):
        return None
    if len({(op.dtype(operand), op.place(operand)) for operand in op.inputs}) > 1:  # the first's are told alone
        return None
    if not binary and len(op.functions) != 1:
        return None
    return ElementwiseDescription(
        chip=chip,
        cores=op.cores,
        kind=binary or op.functions[0].lower(),
        tiles=int(out.height[op.row]) * op.shape(out)[3] // TILE_SIDE**2,
        inputs=len(op.inputs),
        dtype=op.dtype(op.inputs[0]),
        out_dtype=op.dtype(out),
        in_place=op.place(op.inputs[0]),
        out_place=op.place(out),
        fused=op.fused if binary else "",
    )


def _move(op: PrintedOp, chip: str, out: Operand) -> MoveDescription:
    """Its larger side: what is padded is moved too."""
    first, kind = op.inputs[0], MOVES[canonical(op.ops.texts("op_code")[op.row])]
    tiled = out if kind == "tilize" else first
    return MoveDescription(
        chip=chip,
        cores=op.cores,
        kind=kind,
        rows=int(tiled.height[op.row]),
        width=op.shape(tiled)[3],
        dtype=op.dtype(first),
        out_dtype=op.dtype(out),
        from_place=op.place(first),
        to_place=op.place(out),
        ragged=op.shape(tiled) != op.shape(tiled, logical=True),
    )


def _gather(op: PrintedOp, chip: str, out: Operand) -> CollectiveDescription | None:
    devices = op.attributes.number("ring_size", "num_devices")
    size = float(op.inputs[0].bytes[op.row])
    if devices is None or float(out.bytes[op.row]) < size:
        return None
    topology = (op.attributes.text_of("topology") or "").rpartition(":")[2].lower()
    return CollectiveDescription(
        chip=chip,
        kind="all_gather",
        devices=devices,
        size=size,
        links=op.attributes.number("num_links"),
        topology="ring" if topology == "ring" else "linear" if topology == "linear" else "",
    )


DESCRIBERS: dict[str, Callable[[PrintedOp, str, Operand], Described | None]] = {
    **dict.fromkeys(("Matmul", "Linear", "MinimalMatmul"), _matmul),
    "SparseMatmul": _experts,
    "ScaledDotProductAttention": _attention,
    "LayerNorm": _norm,
    **dict.fromkeys(("Binary", "Unary"), _elementwise),
    **dict.fromkeys(MOVES, _move),
    **dict.fromkeys(("AllGather", "AllGatherAsync"), _gather),
}

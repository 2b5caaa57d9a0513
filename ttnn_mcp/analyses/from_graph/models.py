"""The L1 that programs take if a memory report does not show it, by their device op."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from ttnn_mcp.analyses.from_graph import (
    attention,
    collectives,
    convolutions,
    elementwise,
    group_norms,
    heads,
    layouts,
    matmuls,
    movement,
    norms,
    places,
)
from ttnn_mcp.analyses.from_graph.program import (
    CALL,
    Buffers,
    Footprint,
    Machine,
    Program,
    footprint_of,
    machine_of,
)
from ttnn_mcp.analyses.memory.left_out import Room
from ttnn_mcp.readers.graph.launches import Launch
from ttnn_mcp.readers.memory.report import MemoryReport

MODELS: dict[str, Callable[[Program], Buffers | None]] = {
    "MatmulDeviceOperation": matmuls.matmul,
    "SparseMatmulDeviceOperation": matmuls.sparse_matmul,
    "MinimalMatmulDeviceOperation": matmuls.minimal_matmul,
    "Conv3dDeviceOperation": convolutions.conv3d,
    "Conv2dDeviceOperation": convolutions.convolution,
    "HaloDeviceOperation": convolutions.halo,
    "Pool2D": convolutions.pool,
    "GroupNormDeviceOperation": group_norms.group_norm,
    "PaddedSliceDeviceOperation": movement.cut_into_shards,
    "SliceWriteDeviceOperation": movement.written_into,
    "LayerNormDeviceOperation": norms.layer_norm,
    "SoftmaxDeviceOperation": norms.softmax,
    "SDPAOperation": attention.sdpa,
    "JointSDPADeviceOperation": attention.joint,
    "SdpaDecodeDeviceOperation": attention.of_one_token,
    "RotaryEmbeddingLlamaDeviceOperation": heads.rotary_llama,
    "RotaryEmbeddingDeviceOperation": heads.rotary,
    "RotaryEmbeddingHfDeviceOperation": heads.rotary_hf,
    "PagedFusedUpdateCacheDeviceOperation": heads.fused_update,
    "PagedUpdateCacheDeviceOperation": heads.paged_update,
    "PagedFillCacheDeviceOperation": heads.fill_paged,
    "UpdateKVCacheOperation": heads.update_cache,
    "NLPConcatHeadsDeviceOperation": heads.heads_joined,
    "NlpCreateHeadsDeviceOperation": heads.heads_split,
    "CreateQKVHeadsDeviceOperation": heads.heads_from_shards,
    "NLPCreateQKVHeadsDecodeDeviceOperation": movement.nothing,
    "NLPConcatHeadsDecodeDeviceOperation": movement.nothing,
    "NlpCreateHeadsFalcon7BDeviceOperation": heads.heads_of_rows,
    "NlpCreateHeadsVitDeviceOperation": heads.heads_of_rows,
    "NlpCreateHeadsSegformerDeviceOperation": heads.heads_of_rows,
    "NlpKVCacheLoadSliceDeviceOperation": movement.nothing,
    "RotaryEmbeddingLlamaFusedQKDeviceOperation": heads.rotary_fused,
    "RotateHalfDeviceOperation": heads.rotated_half,
    "LayerNormPreAllGatherDeviceOperation": norms.before_gather,
    "LayerNormPostAllGatherDeviceOperation": norms.after_gather,
    "SamplingDeviceOperation": places.sampled,
    "PlusOneDeviceOperation": movement.one_row,
    "TopKDeviceOperation": places.top_k,
    "TopkRoutePrepDeviceOperation": places.prepared,
    "TopkLargeIndicesDeviceOperation": places.large_indices,
    "TopkRouteFinishDeviceOperation": places.finished,
    "AllGatherDeviceOperation": collectives.all_gather,
    "ReduceScatterDeviceOperation": collectives.reduce_scatter,
    "AllGatherAsyncDeviceOperation": collectives.all_gather_async,
    "ReduceScatterMinimalAsyncDeviceOperation": collectives.reduce_scatter,
    "AllBroadcastDeviceOperation": collectives.all_broadcast,
    "BroadcastDeviceOperation": collectives.broadcast,
    "MeshPartitionDeviceOperation": movement.cut_out,
    "AllReduceAsyncDeviceOperation": collectives.all_reduced,
    "AllGatherMatmulAsyncDeviceOperation": collectives.gathered_and_multiplied,
    "AllToAllAsyncGenericDeviceOperation": collectives.exchanged,
    "AllToAllDispatchDeviceOperation": collectives.dispatched,
    "AllToAllCombineDeviceOperation": collectives.combined,
    "MoeExpertTokenRemapDeviceOperation": collectives.remapped,
    "DeepseekGroupedGateDeviceOperation": collectives.grouped_gate,
    "DeepseekMoEFastReduceNCDeviceOperation": collectives.summed_and_split,
    "DropoutDeviceOperation": elementwise.unary,
    "IndexFillOperation": movement.index_filled,
    "IndexFillNewOperation": movement.index_filled,
    "RotateDeviceOperation": movement.rotated,
    "BinaryNgDeviceOperation": elementwise.binary,
    "BinaryDeviceOperation": elementwise.binary,
    "TernaryDeviceOperation": elementwise.ternary,
    "UnaryDeviceOperation": elementwise.unary,
    "UnaryNgDeviceOperation": elementwise.unary,
    "TypecastDeviceOperation": elementwise.unary,
    "ReduceDeviceOperation": elementwise.reduced,
    "WelfordReduceDeviceOperation": elementwise.spread,
    "FastReduceNCDeviceOperation": elementwise.reduced_outside,
    "MorehSumOperation": elementwise.added_outside,
    "FullDeviceOperation": movement.made,
    "ProdAllDeviceOperation": elementwise.multiplied,
    "ProdNcDeviceOperation": elementwise.multiplied,
    "AccumulationDeviceOperation": elementwise.accumulated,
    "BcastDeviceOperation": elementwise.spread_over,
    "BatchNormOperation": elementwise.batch_norm,
    "RunningStatistics": elementwise.batch_norm,
    "SortDeviceOperation": places.sort,
    "ArgMaxDeviceOperation": places.argmax,
    "ScatterDeviceOperation": places.scatter,
    "GatherCodegenDeviceOperation": places.gather,
    "GatherDeviceOperation": places.gathered_by_tiles,
    "CopyDeviceOperation": movement.copied,
    "CloneOperation": movement.cloned,
    "ConcatDeviceOperation": movement.joined,
    "SplitDeviceOperation": movement.two_pages,
    "UpsampleOperation": movement.upsampled,
    "Fold": movement.folded,
    "GridSampleOperation": movement.grid_sampled,
    "SliceDeviceOperation": movement.cut_out,
    "TransposeDeviceOperation": layouts.transposed,
    "PermuteDeviceOperation": layouts.permuted,
    "ReshapeViewDeviceOperation": layouts.reshaped,
    "PadDeviceOperation": movement.padded,
    "FillPadDeviceOperation": movement.filled,
    "RepeatCodegenDeviceOperation": movement.repeated,
    "RepeatInterleaveCodegenDeviceOperation": movement.repeated,
    "TilizeDeviceOperation": layouts.tilized,
    "TilizeWithValPaddingDeviceOperation": layouts.tilized,
    "UntilizeDeviceOperation": layouts.untilized,
    "UntilizeCodegenDeviceOperation": layouts.untilized,
    "UntilizeWithUnpaddingDeviceOperation": layouts.untilized,
    "EmbeddingsDeviceOperation": layouts.embedded,
    "MoveDeviceOperation": movement.moved,
    "ReshardDeviceOperation": movement.resharded,
    "InterleavedToShardedDeviceOperation": movement.into_shards,
    "ShardedToInterleavedDeviceOperation": movement.into_shards,
}


NAMED_KINDS = {"ttnn.logit"}  # whose kind no attribute prints, and which keep a copy
IN_PLACE = {"PagedFusedUpdateCacheDeviceOperation"}  # both outputs are operands: the graph prints neither
BY_OUTPUT = {  # outputs tell enough
    "MoveDeviceOperation",
    "ReshardDeviceOperation",
    "NlpCreateHeadsDeviceOperation",
    "FullDeviceOperation",
}


class TtnnModels:
    """Models of TTNN's programs on one chip.

    Args:
        machine: the chip.
        arguments: by operation, the printed arguments of its call that decide its program, and its name.
    """

    def __init__(self, machine: Machine, arguments: Mapping[int, Mapping[str, str]]) -> None:
        self._machine = machine
        self._arguments = arguments
        self._known: dict[Hashable, Footprint | None] = {}

    def bytes_per_core(self, launch: Launch, operation: int, room: Room) -> int | None:
        """Bytes on the fullest core; None without a model."""
        footprint = self.footprint(launch, operation, room)
        return footprint.total if footprint is not None else None

    def footprint(self, launch: Launch, operation: int, room: Room) -> Footprint | None:
        """What its program takes of the fullest core, buffer by buffer; None without a model."""
        model = MODELS.get(launch.name)
        if model is None or not (launch.outputs or launch.name in IN_PLACE):
            return None
        if not (launch.inputs or launch.name in BY_OUTPUT):
            return None
        settings = self._arguments.get(operation, {})
        key = (launch, room, *settings.values())  # a model may run the same layer a thousand times
        if key not in self._known:
            buffers = model(Program(launch, room, self._machine, settings))
            self._known[key] = footprint_of(launch.name, buffers) if buffers is not None else None
        return self._known[key]


async def models_of(report: MemoryReport) -> TtnnModels | None:
    """The models for a report's chip; None if it describes none."""
    machine = machine_of(report)
    if machine is None:
        return None
    return TtnnModels(machine, await arguments_of(report))


async def arguments_of(report: MemoryReport) -> dict[int, dict[str, str]]:
    """By operation, the printed arguments of its call that decide its program, and its name."""
    arguments = {operation: dict(printed) for operation, printed in (await report.program_arguments()).items()}
    for printed in arguments.values():
        if "Tensor" in printed.pop(norms.RESIDUAL, ""):
            printed[norms.RESIDUAL] = "Tensor"  # not all that is printed of it
    for operation, name in zip(report.operations.ids.tolist(), report.operations.names, strict=True):
        if name in NAMED_KINDS or name.startswith(matmuls.CONVS):
            arguments.setdefault(operation, {})[CALL] = name
    return arguments

"""What programs take of L1 where a memory report does not show it, by their device op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.program_models import attention, collectives, simple
from ttnn_mcp.analyses.program_models.machine import machine_of
from ttnn_mcp.analyses.program_models.matmuls import matmul, minimal_matmul, sparse_matmul
from ttnn_mcp.analyses.program_models.norms import layer_norm, softmax

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.analyses.memory.programs import ProgramModels, Room
    from ttnn_mcp.analyses.program_models.machine import Machine
    from ttnn_mcp.readers.graph.launches import Launch
    from ttnn_mcp.readers.memory.report import MemoryReport

CONFIGURED = {
    "MatmulDeviceOperation": matmul,
    "LayerNormDeviceOperation": layer_norm,
    "SoftmaxDeviceOperation": softmax,
    "SparseMatmulDeviceOperation": sparse_matmul,
    "SDPAOperation": attention.sdpa,
}
PLAIN = simple.BY_NAME | {
    "RotaryEmbeddingLlamaDeviceOperation": attention.rotary_llama,
    "RotaryEmbeddingDeviceOperation": attention.rotary,
    "PagedUpdateCacheDeviceOperation": attention.paged_update,
    "PagedFillCacheDeviceOperation": attention.fill_paged,
    "UpdateKVCacheOperation": attention.update_cache,
    "TopKDeviceOperation": attention.top_k,
    "MinimalMatmulDeviceOperation": minimal_matmul,
    "AllGatherDeviceOperation": collectives.all_gather,
    "ReduceScatterDeviceOperation": collectives.reduce_scatter,
}


class TtnnModels:
    """Models of TTNN's programs on one chip.

    Args:
        machine: the chip.
        arguments: by operation, the printed `program_config` and `core_grid` of its call.
    """

    def __init__(self, machine: Machine, arguments: Mapping[int, Mapping[str, str]]) -> None:
        self._machine = machine
        self._arguments = arguments

    def bytes_per_core(self, launch: Launch, operation: int, room: Room) -> int | None:
        """Bytes on the fullest core; None where no model is honest."""
        if not launch.outputs or any(min(spec.shape) < 1 for spec in (*launch.inputs, *launch.outputs)):
            return None
        configured = CONFIGURED.get(launch.name)
        if configured is not None:
            return configured(launch, room, self._machine, self._arguments.get(operation, {}))
        model = PLAIN.get(launch.name)
        return model(launch, room, self._machine) if model is not None else None


async def models_of(report: MemoryReport) -> ProgramModels | None:
    """The models for a report's chip; None where it does not describe one."""
    machine = machine_of(report)
    return TtnnModels(machine, await report.program_arguments()) if machine is not None else None

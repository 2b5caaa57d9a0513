"""How the same thing was printed at different times: memory configs, shapes, attributes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .model import Attribute, CoreRange, Placement, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ERAS = ("2024", "2025", "2025-09", "2026", "2026-09")


def grid_text(grid: Sequence[CoreRange]) -> str:
    return "{" + ", ".join(f"[(x={x0},y={y0}) - (x={x1},y={y1})]" for x0, y0, x1, y1 in grid) + "}"


def _shard_spec_text(placement: Placement, era: str) -> str:
    if placement.shard is None:
        return "std::nullopt"
    rows, columns = placement.shard
    tail = {
        "2024": ",halo=0",
        "2025": ",mode=ShardMode::PHYSICAL,physical_shard_shape=std::nullopt",
        "2025-09": f",mode=ShardMode::LOGICAL,physical_shard_shape={{{rows}, {columns}}}",
    }.get(era, "")
    return (
        f"ShardSpec(grid={grid_text(placement.grid)},shape={{{rows}, {columns}}},"
        f"orientation=ShardOrientation::{placement.orientation}{tail})"
    )


@cache  # a program has few placements, each in many tensors
def memory_config_text(placement: Placement, era: str = "2026") -> str:
    if era not in ERAS:
        raise ValueError(f"no such era: {era}")
    tail = ""
    if era >= "2025-09":
        nd = "std::nullopt"
        if placement.nd and placement.shard is not None:
            nd = (
                f"NdShardSpec(shard_shape=Shape([{placement.shard[0]}, {placement.shard[1]}]),"
                f"grid={grid_text(placement.grid)},orientation=ShardOrientation::{placement.orientation},"
                "shard_distribution_strategy=ShardDistributionStrategy::ROUND_ROBIN_1D)"
            )
        tail = f",nd_shard_spec={nd},created_with_nd_shard_spec=0"
    if era == "2026-09":
        tail += ",per_core_allocation=0,range_lockstep_allocation=0"
    return (
        f"MemoryConfig(memory_layout=TensorMemoryLayout::{placement.memory_layout},"
        f"buffer_type=BufferType::{placement.buffer},shard_spec={_shard_spec_text(placement, era)}{tail})"
    )


def shape_text(tensor: Tensor, era: str = "2026") -> str:
    """2024 prints logical[padded] where they differ; from 2025 the logical shape only."""
    if era == "2024":
        pairs = zip(tensor.shape, tensor.padded, strict=True)
        return "ttnn.Shape([" + ", ".join(f"{n}" if n == p else f"{n}[{p}]" for n, p in pairs) + "])"
    return f"Shape([{', '.join(map(str, tensor.shape))}])"


def attribute_text(value: Attribute, era: str) -> str:
    if value is None:
        return "std::nullopt"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Placement):
        return memory_config_text(value, era)
    if isinstance(value, Tensor):
        return (
            f"ttnn.Tensor({shape_text(value, era)}, dtype=DataType::{value.dtype}, layout=Layout::{value.layout})"
        )
    return str(value)


def attributes_text(attributes: Mapping[str, Attribute], era: str) -> str:
    """The ATTRIBUTES cell before the writer turns ',' into ';'."""
    return str({name: attribute_text(attributes[name], era) for name in sorted(attributes)})

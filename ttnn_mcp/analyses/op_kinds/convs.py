"""The Conv2d ops of a table, read from their printed ATTRIBUTES; each distinct configuration is parsed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ttnn_mcp.analyses.programs.conv_cores import Size, least_tiles, tiles_of_busiest_core
from ttnn_mcp.analyses.programs.conv_window import window_of
from ttnn_mcp.analyses.programs.convs import DIVISORS_AT_MOST, HEIGHT, WIDTH, Conv
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, canonical_dtype
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.nesting import PrintedStruct, parse_struct, whole
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable


@dataclass(frozen=True)
class Convs:
    """Conv2d rows and their parsed attributes.

    Attributes:
        rows: positions in the table.
        kinds: per row, the index of its configuration in `distinct`.
        distinct: the configurations; None if the attributes leave out too much.
    """

    rows: Integers
    kinds: Integers
    distinct: tuple[Conv | None, ...]

    def at(self, row: int) -> Conv | None:
        """The configuration of the op at position `row` of the table."""
        return self.distinct[int(self.kinds[np.searchsorted(self.rows, row)])]

    def configured(self, rows: Iterable[int]) -> list[tuple[int, Conv]]:
        """The positions whose configuration is known, and that configuration."""
        return [(row, conv) for row in rows if (conv := self.at(row)) is not None]

    def numbers(self, meaning: Callable[[Conv], float | None]) -> Floats:
        """`meaning` of each row's configuration; NaN if it is None or the configuration is unknown."""
        values = [None if conv is None else meaning(conv) for conv in self.distinct]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)[self.kinds]

    def where(self, is_so: Callable[[Conv], bool]) -> Integers:
        """Positions in the table of the convs for which `is_so` holds."""
        return self.rows[self.numbers(is_so) == 1]

    @property
    def known(self) -> int:
        """The number of rows with a known configuration."""
        return int(np.isfinite(self.numbers(lambda _: 1.0)).sum())


def sizes_of(ops: OpTable, rows: Integers) -> list[Size]:
    """The matrix products of conv rows."""
    source, weights, output = ops.inputs[0], ops.inputs[1], ops.outputs[0]
    tiles = np.stack((output.height[rows], output.padded[rows, 3], weights.padded[rows, 2]), axis=1)
    tile_rows = np.ceil(tiles / TILE_SIDE).astype(np.int64).tolist()
    held_bytes = source.bytes[rows].tolist()
    return [
        Size(down, across, inner, size) for (down, across, inner), size in zip(tile_rows, held_bytes, strict=True)
    ]


def share_on_grid(ops: OpTable, grid: tuple[int, int]) -> Floats:
    """Per conv row, the busiest core's output tiles if the conv used the whole grid, as a share of its tiles now.

    1 where no core of the grid is idle, and where the cores or the configuration are unknown.
    """
    convs = convs_of(ops)
    share = np.ones(len(convs.rows))
    used = ops.numbers("cores")[convs.rows]
    idle = convs.rows[used < grid[0] * grid[1]]
    sizes = dict(zip(idle.tolist(), sizes_of(ops, idle), strict=True)) if convs.known else {}
    for row, conv in convs.configured(sizes):
        share[np.searchsorted(convs.rows, row)] = least_tiles(conv, sizes[row], grid) / tiles_of_busiest_core(conv)
    return share


@artefact
def convs_of(ops: OpTable) -> Convs:
    """The Conv2d ops (`OptimizedConvNew` before mid 2025) of `ops`."""
    rows = np.flatnonzero(ops.named("Conv2d"))
    if len(ops.inputs) < 2 or not ops.outputs:
        return Convs(rows, np.zeros(len(rows), dtype=np.int64), (None,))
    source, weights, output = ops.inputs[0], ops.inputs[1], ops.outputs[0]
    attributes = ops.texts("attributes")
    columns = (attributes.codes, source.dtype.codes, weights.dtype.codes, output.dtype.codes, source.bytes)
    signature = np.stack([column[rows].astype(np.int64) for column in columns])
    _, first, kinds = np.unique(signature, axis=1, return_index=True, return_inverse=True)
    distinct = tuple(
        conv_of(
            parse_attributes(attributes[row]),
            input_dtype=source.dtype[row],
            weights_dtype=weights.dtype[row],
            output_dtype=output.dtype[row],
            input_bytes=float(source.bytes[row]),
        )
        for row in rows[first].tolist()
    )
    return Convs(rows, np.ravel(kinds), distinct)  # NumPy 2.0 alone returns it two-dimensional


def conv_of(
    attributes: Attributes, *, input_dtype: str, weights_dtype: str, output_dtype: str, input_bytes: float
) -> Conv | None:
    """The conv of a row; None where its attributes leave out block, parallelisation, window or layout.

    Args:
        attributes: the row's ATTRIBUTES.
        input_dtype: INPUT_0_DATATYPE.
        weights_dtype: INPUT_1_DATATYPE, which ATTRIBUTES do not have.
        output_dtype: OUTPUT_0_DATATYPE, for ATTRIBUTES without one.
        input_bytes: bytes of INPUT_0; its shard is the allocation of reports that do not state one.
    """
    block, spread = attributes.struct("block_config"), attributes.struct("parallelization_config")
    window = attributes.struct("sliding_window_config")
    placement = parse_memory_config(attributes.get("memory_config", ""))
    if block is None or spread is None or window is None or placement is None:
        return None
    block_h, block_w = block.number("act_block_h_ntiles"), block.number("act_block_w_ntiles")
    per_core_h, per_core_w = _tiles(spread, "height"), _tiles(spread, "width")
    kernel = parse_struct(window.fields.get("window_hw", ""))
    dtypes = [canonical_dtype(dtype) for dtype in (weights_dtype, attributes.text_of("dtype") or output_dtype)]
    if not (block_h and block_w and per_core_h and per_core_w and kernel and kernel.values):
        return None
    if any(dtype not in TILE_BYTES for dtype in dtypes):
        return None
    rows, channels = spread.number("num_cores_nhw") or 1, spread.number("num_cores_c") or 1
    cores = (rows, spread.number("num_cores_c_in") or channels, spread.number("num_cores_c_out") or channels)
    if not all(0 < number <= DIVISORS_AT_MOST for number in (block_h, block_w, per_core_h, per_core_w, *cores)):
        return None
    compute = attributes.struct("compute_kernel_config") or PrintedStruct("", {})
    allocated = attributes.number("pre_op_l1_allocation_size_bytes")
    height = whole(kernel.values[0]) or 1
    return Conv(
        layout=placement.layout,
        block_h=block_h,
        block_w=block_w,
        per_core_h=per_core_h,
        per_core_w=per_core_w,
        kernel_h=height,
        inner_blocks=_inner_blocks(placement.layout, cores[1], height, attributes.flag("full_inner_dim") or False),
        cores=cores,
        staging_dtype="FLOAT32" if canonical_dtype(input_dtype) == "FLOAT32" else "BFLOAT16",
        weights_dtype=dtypes[0],
        output_dtype=dtypes[1],
        act_double=attributes.flag("enable_act_double_buffer") or False,
        weights_double=attributes.flag("enable_weights_double_buffer") or False,
        bias=attributes.flag("has_bias") or False,
        untilize=attributes.flag("untilize_out") or False,
        fp32_accumulation=compute.number("fp32_dest_acc_en") == 1,
        packer_l1=compute.number("packer_l1_acc") == 1,
        allocated_bytes=allocated
        if allocated is not None
        else round(input_bytes / _holders(cores, placement.layout)),
        allocated_said=allocated is not None,
        window=window_of(window),
        input_channels=_channels(attributes),
        indices_in_l1=attributes.flag("config_tensors_in_dram") or False,
        reuses_activation=attributes.flag("enable_activation_reuse") or False,
        depthwise=is_depthwise(attributes),
        transposed=placement.shard is not None and placement.shard.orientation == "COL_MAJOR",
    )


def _channels(attributes: Attributes) -> int:
    """Channels of the input by its printed shape; 0 where none is printed."""
    shape = attributes.struct("input_tensor_shape")
    return (whole(shape.values[-1]) or 0) if shape and shape.values else 0


def is_depthwise(attributes: Attributes) -> bool:
    """Whether it has as many groups as channels, by what its row prints of both."""
    groups = attributes.number("groups") or 1
    return groups > 1 and groups == _channels(attributes) == attributes.number("output_channels")


def _inner_blocks(layout: str, channel_cores: int, kernel_h: int, full: bool) -> int:
    """Blocks along the inner dimension: HEIGHT has one per window row, WIDTH one per core, BLOCK both unless `full`."""
    rows = 1 if full or layout == WIDTH else kernel_h
    return rows if layout == HEIGHT else rows * channel_cores


def _tiles(spread: PrintedStruct, side: str) -> int | None:
    """Tiles per core, from `per_core_out_matrix_height_ntile`; reports before 2025-03 print elements."""
    tiles = spread.number(f"per_core_out_matrix_{side}_ntile")
    elements = spread.number(f"per_core_out_matrix_{side}")
    return tiles if tiles is not None or elements is None else -(-elements // TILE_SIDE)


def _holders(cores: tuple[int, int, int], layout: str) -> int:
    """How many cores hold a shard of the input."""
    return {HEIGHT: cores[0], WIDTH: cores[1]}.get(layout, cores[0] * cores[1])

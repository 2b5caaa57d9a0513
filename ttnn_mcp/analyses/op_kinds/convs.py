"""The Conv2d ops of a table; each distinct configuration is parsed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.conv_printed import conv_of
from ttnn_mcp.analyses.programs.conv_cores import Size, least_tiles, tiles_of_busiest_core
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.programs.convs import Conv
    from ttnn_mcp.run.ops.op_table import OpTable


@dataclass(frozen=True)
class Convs:
    """Conv2d rows and their parsed attributes.

    Attributes:
        rows: positions in the table.
        kinds: per row, the index of its configuration in `distinct`.
        distinct: the configurations; None if the attributes leave out too much.
    """

    rows: NDArray[np.int64]
    kinds: NDArray[np.int64]
    distinct: tuple[Conv | None, ...]

    def at(self, row: int) -> Conv | None:
        """The configuration of the op at position `row` of the table."""
        return self.distinct[int(self.kinds[np.searchsorted(self.rows, row)])]

    def configured(self, rows: Iterable[int]) -> list[tuple[int, Conv]]:
        """The positions whose configuration is known, and that configuration."""
        return [(row, conv) for row in rows if (conv := self.at(row)) is not None]

    def numbers(self, meaning: Callable[[Conv], float | None]) -> NDArray[np.float64]:
        """`meaning` of each row's configuration; NaN if it is None or the configuration is unknown."""
        values = [None if conv is None else meaning(conv) for conv in self.distinct]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)[self.kinds]

    def where(self, is_so: Callable[[Conv], bool]) -> NDArray[np.int64]:
        """Positions in the table of the convs for which `is_so` holds."""
        return self.rows[self.numbers(is_so) == 1]

    @property
    def known(self) -> int:
        """The number of rows with a known configuration."""
        return int(np.isfinite(self.numbers(lambda _: 1.0)).sum())


def sizes_of(ops: OpTable, rows: NDArray[np.int64]) -> list[Size]:
    """The matrix products of conv rows."""
    source, weights, output = ops.inputs[0], ops.inputs[1], ops.outputs[0]
    tiles = np.stack((output.height[rows], output.padded[rows, 3], weights.padded[rows, 2]), axis=1)
    tile_rows = np.ceil(tiles / TILE_SIDE).astype(np.int64).tolist()
    held_bytes = source.bytes[rows].tolist()
    return [
        Size(down, across, inner, size) for (down, across, inner), size in zip(tile_rows, held_bytes, strict=True)
    ]


def share_on_grid(ops: OpTable, grid: tuple[int, int]) -> NDArray[np.float64]:
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

"""One operand (INPUT_n, OUTPUT_n) of every row: shape, layout, data type, placement."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.hardware import ELEMENT_BYTES, ELEMENTS_AT_MOST
from ttnn_mcp.readers.performance.columns import OPERAND_HEADER
from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.readers.printed.memory_config import Placement, parse_memory_cell
from ttnn_mcp.readers.printed.shapes import parse_cell
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.texts import Texts, no_texts, texts_of

DIMS = ("W", "Z", "Y", "X")  # outermost first; Y and X are the tiled ones
_UNREAD = (0, 0, 0)  # of a dim that was not written, or cannot be read
_DEVICE_PREFIX = re.compile(r"^DEV_\d+_")


@dataclass(frozen=True)
class Operand:
    """One operand of every row. In a row without it, `present` is False and sizes are 0.

    Attributes:
        name: "INPUT_0".
        columns: the parts of the operand (W, LAYOUT, ...) in the report's frame.
        places: rows of that frame; None means all.
        rows: how many rows there are.
        has_logical: False for generations that wrote padded shapes only; then `logical` equals `padded`.
    """

    name: str
    columns: dict[str, TextColumn]
    places: Integers | None
    rows: int
    has_logical: bool

    @cached_property
    def padded(self) -> Integers:
        """Dims in memory, shape (rows, 4); 0 in rows without the operand."""
        return self._sides[0]

    @cached_property
    def logical(self) -> Integers:
        """Dims of the model's tensor, shape (rows, 4); equal to `padded` before generation C4."""
        return self._sides[1]

    @cached_property
    def height(self) -> Integers:
        """Rows in memory: all dims of `padded` but the last; 0 in rows without the operand."""
        return self.padded[:, :3].prod(axis=1)

    @cached_property
    def present(self) -> Booleans:
        """Rows that have this operand."""
        return self.padded[:, 3] > 0

    @cached_property
    def layout(self) -> Texts:
        """TILE or ROW_MAJOR."""
        return self._texts("LAYOUT")

    @cached_property
    def dtype(self) -> Texts:
        """BFLOAT16, BFLOAT8_B, ..."""
        return self._texts("DATATYPE")

    @cached_property
    def memory(self) -> Texts:
        """Placement as written, e.g. DEV_1_L1_HEIGHT_SHARDED; its number is a handle of the mesh, not a DEVICE ID."""
        return self._texts("MEMORY")

    @cached_property
    def placement(self) -> Texts:
        """Placement without the device handle: L1_HEIGHT_SHARDED."""
        bare = [_DEVICE_PREFIX.sub("", text) for text in self.memory.distinct]
        number = {text: place for place, text in enumerate(dict.fromkeys(bare))}
        place = np.array([*(number[text] for text in bare), -1], dtype=np.int64)
        return Texts(place[self.memory.codes], tuple(number))

    @cached_property
    def in_dram(self) -> Booleans:
        """Mask of the rows whose operand is in DRAM."""
        return self._lives(lambda placement: placement.buffer == "DRAM")

    @cached_property
    def in_l1(self) -> Booleans:
        """Mask of the rows whose operand is in L1 (L1_SMALL included)."""
        return self._lives(lambda placement: placement.buffer.startswith("L1"))

    @cached_property
    def sharded(self) -> Booleans:
        """Mask of the rows whose operand is sharded."""
        return self._lives(lambda placement: placement.layout.endswith("SHARDED"))

    @cached_property
    def elements(self) -> Integers:
        """Number of logical elements; 0 in rows without the operand."""
        return self.logical.prod(axis=1)

    @cached_property
    def bytes(self) -> Floats:
        """Bytes in memory, padding and block-float exponents included; 0 in rows without the operand."""
        return self.padded.prod(axis=1) * np.nan_to_num(self.element_bytes)

    @cached_property
    def element_bytes(self) -> Floats:
        """Bytes of one element, with its part of a block-float's exponent; NaN for a type we do not know."""
        return self.dtype.mapped(lambda text: ELEMENT_BYTES.get(text, np.nan), missing=np.nan, dtype=np.float64)

    def _lives(self, condition: Callable[[Placement], bool]) -> Booleans:
        def is_so(cell: str) -> bool:
            placement = parse_memory_cell(cell)
            return placement is not None and condition(placement)

        return self.memory.where(is_so)

    def cell(self, row: int, part: str) -> str:
        """The text in the file of LAYOUT, DATATYPE or MEMORY."""
        return {"LAYOUT": self.layout, "DATATYPE": self.dtype, "MEMORY": self.memory}[part][row]

    def shape_text(self, row: int) -> str:
        """The logical shape, such as `1x19[32]x1280`: a dim that is padded has its size in memory in brackets."""
        pairs = zip(self.logical[row].tolist(), self.padded[row].tolist(), strict=True)
        dims = [f"{logical}" if logical == padded else f"{logical}[{padded}]" for logical, padded in pairs]
        while len(dims) > 2 and dims[0] == "1":
            dims.pop(0)
        return "x".join(dims)

    @property
    def described_by(self) -> tuple[Integers, ...]:
        """All columns of the operand, as numbers. Rows that agree in all of them are alike (`alike.numbered`)."""
        dims = (*self.padded.T, *self.logical.T) if self.has_logical else tuple(self.padded.T)
        return (*dims, self.dtype.codes, self.layout.codes, self.placement.codes)

    @property
    def written_by(self) -> tuple[Integers, ...]:
        """All columns of the operand as the file has them, as numbers: what the operand is follows from them."""
        return tuple(
            texts_of(column, self.places).codes
            for column in self.columns.values()
            if column.distinct  # unmoved: a column without a text tells no rows apart
        )

    @cached_property
    def broken(self) -> Booleans:
        """Mask of the rows that tell an operand without a shape, or with one that none has, or no chip could hold."""
        odd = ((self.padded == 0) != (self.logical == 0)).any(axis=1) | ~self._sides[2].all(axis=1)
        sizes = [np.maximum(dims, 1).prod(axis=1, dtype=np.float64) for dims in (self.padded, self.logical)]
        return self._told & (odd | (np.maximum(*sizes) > ELEMENTS_AT_MOST))

    @cached_property
    def empty(self) -> Booleans:
        """Mask of the rows that tell an operand with a side of 0."""
        return self._told & ~self.padded.all(axis=1)

    @cached_property
    def _told(self) -> Booleans:
        read = self._sides[2].any(axis=1)
        return read | (self.layout.among("TILE", "ROW_MAJOR") & read.any())  # a report may have no shapes at all

    @cached_property
    def _sides(self) -> tuple[Integers, Integers, Booleans]:
        """Padded and logical dims as written in the file, and where a dim was written that can be read."""
        padded = np.zeros((self.rows, len(DIMS)), dtype=np.int64, order="F")  # read dim by dim
        logical, read = np.zeros_like(padded), np.zeros_like(padded, dtype=np.bool_)
        for place, dim in enumerate(DIMS):
            texts = self._texts(dim)
            if not texts.distinct:  # unmoved: it only saves time, for the operands that no op has
                continue
            cells = [(*cell, 1) if cell else _UNREAD for cell in (*map(parse_cell, texts.distinct), None)]
            of_text = np.array(cells, dtype=np.int64)
            for side, values in zip((padded, logical, read), of_text.T, strict=True):
                side[:, place] = values[texts.codes]
        return padded, logical, read

    def _texts(self, part: str) -> Texts:
        column = self.columns.get(part)
        return texts_of(column, self.places) if column is not None else no_texts(self.rows)


def operands_of(
    frame: Frame, role: str, places: Integers | None = None, *, has_logical: bool
) -> tuple[Operand, ...]:
    """The operands of a role (INPUT, OUTPUT) in order, for the frame's rows at `places` (None means all)."""
    rows = len(frame) if places is None else len(places)
    return tuple(
        Operand(
            f"{role}_{number}",
            {part: frame.texts(header) for part, header in headers},
            places,
            rows,
            has_logical,
        )
        for number, headers in _operand_headers(tuple(frame.columns), role)
    )


# Asked again for every window and every few rows of the same report.
@lru_cache(maxsize=32)  # unmoved: what is forgotten is looked up again
def _operand_headers(columns: tuple[str, ...], role: str) -> tuple[tuple[int, tuple[tuple[str, str], ...]], ...]:
    """The operands of a role in order: their numbers, and per part (W, LAYOUT, ...) the header of its column."""
    parts: dict[int, dict[str, str]] = {}
    for header in columns:
        match = OPERAND_HEADER.match(header)
        if match and match[1] == role:
            parts.setdefault(int(match[2]), {}).setdefault(match[3], header)
    return tuple((number, tuple(parts[number].items())) for number in sorted(parts))

"""The ATTRIBUTES of many ops: each distinct text is parsed once, for all ops that share it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable


class AttributeColumns:
    """The ATTRIBUTES of the ops of a table, asked by column or by row."""

    def __init__(self, ops: OpTable) -> None:
        self._texts = ops.texts("attributes")
        self._parsed: dict[int, Attributes] = {-1: Attributes({})}

    def numbers(self, rows: Integers, meaning: Callable[[Attributes], float | None]) -> Floats:
        """`meaning` of the attributes of each row; NaN if it is None."""
        codes, places = np.unique(self._texts.codes[rows], return_inverse=True)
        values = [meaning(self._of(int(code))) for code in codes]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)[places]

    def flags(self, rows: Integers, *keys: str) -> Booleans:
        """Rows where the first of `keys` that is printed is true."""
        return self.numbers(rows, lambda attributes: float(attributes.flag(*keys) or False)) > 0

    def row(self, row: int) -> Attributes:
        """The attributes of one op."""
        return self._of(int(self._texts.codes[row]))

    def _of(self, code: int) -> Attributes:
        if code not in self._parsed:
            self._parsed[code] = parse_attributes(self._texts.distinct[code])
        return self._parsed[code]


@artefact
def attributes_of(ops: OpTable) -> AttributeColumns:
    """The attributes of a table's ops."""
    return AttributeColumns(ops)

"""Columns of one rank's rows, straight into arrays; a table or column that is not there reads as empty or -1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.memory.spaces import NUMBER_BITS
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    import sqlite3

    import aiosqlite

    from ttnn_mcp.readers.memory.schema import Schema

_BATCH = 8_000  # rows turned into arrays at a time: bounds the Python objects alive
_FEW = 1000
_TEXT_CHARS = 20_000  # foreign text is cut before it is kept; a memory config of 64 core ranges has 4,000
LARGEST = 2**NUMBER_BITS - 1  # 2**40 ttnn calls, one in a microsecond, take 12 days
LARGEST_DEVICE = 2**12 - 2  # no cluster of today has a thousand chips, and as many meshes
_CODE_OF_NAME = " ".join(f"WHEN '{name}' THEN {code}" for code, name in enumerate(BUFFER_TYPES))
_BUFFER_NAME = "replace(replace(replace(upper(buffer_type), 'BUFFERTYPE', ''), '::', ''), '.', '')"


def whole(expression: str, largest: int = LARGEST) -> str:
    """A whole number from 0 on; -1 where the cell is NULL, a text, a fraction, or beyond all that a run counts."""
    number = f"CAST({expression} AS INTEGER)"
    return f"CASE WHEN {number} BETWEEN 0 AND {largest:d} AND {number} = {expression} THEN {number} ELSE -1 END"


def real(expression: str) -> str:
    """A number; NULL where the cell is none."""
    return f"CASE WHEN CAST({expression} AS REAL) = {expression} THEN CAST({expression} AS REAL) END"


_BUFFER_CODE = (  # captures exist with names instead of numbers
    f"CASE typeof(buffer_type) WHEN 'text' THEN CASE {_BUFFER_NAME} {_CODE_OF_NAME} ELSE -1 END "
    f"ELSE {whole('buffer_type', len(BUFFER_TYPES) - 1)} END"
)


@dataclass(frozen=True, slots=True)
class Rows:
    """Reads columns of an open database at one rank. Table and column names are ours, never the file's."""

    connection: aiosqlite.Connection
    schema: Schema

    async def integers(
        self, table: str, columns: Sequence[str], *, order: int = 0, operation: int | None = None
    ) -> list[Integers]:
        """Integer columns, sorted by the first `order` of them; `operation` keeps one operation's rows."""
        return await self.arrays(table, self.numbers(table, columns), order=order, operation=operation)

    async def arrays(
        self,
        table: str,
        expressions: Sequence[str],
        *,
        order: int = 0,
        operation: int | None = None,
        group: str = "",
    ) -> list[Integers]:
        """The same for expressions that yield integers only."""
        import numpy as np  # noqa: PLC0415 - only who reads a report pays for it

        width = len(expressions)
        batches: list[Integers] = [np.empty(0, dtype=np.int64)]

        def keep(rows: list[sqlite3.Row]) -> None:
            batches.append(np.fromiter(chain.from_iterable(rows), np.int64, count=len(rows) * width))

        await self.each_batch(table, expressions, keep, operation=operation, group=group)
        columns = [np.concatenate([batch[at::width] for batch in batches]) for at in range(width)]
        if order:
            place = np.lexsort(columns[:order][::-1])
            columns = [column[place] for column in columns]
        return columns

    async def each_batch(
        self,
        table: str,
        expressions: Sequence[str],
        visit: Callable[[list[sqlite3.Row]], None],
        *,
        operation: int | None = None,
        group: str = "",
    ) -> None:
        """Show `visit` the rows, some ten thousand at a time, in the order they were written."""
        if self.schema.has(table):
            async with self.connection.execute(self._select(table, expressions, operation) + group) as cursor:
                while rows := list(await cursor.fetchmany(_BATCH)):
                    visit(rows)
                    if len(rows) < _BATCH:  # unmoved: it spares asking for more where there are none
                        break

    async def few(
        self, table: str, expressions: Sequence[str], *, operation: int | None = None, limit: int = _FEW
    ) -> list[sqlite3.Row]:
        """Rows of which there are few, all at once."""
        if not self.schema.has(table):
            return []
        sql = self._select(table, expressions, operation)
        return list(await self.connection.execute_fetchall(f"{sql} LIMIT {limit:d}"))

    def _select(self, table: str, expressions: Sequence[str], operation: int | None) -> str:
        only = "" if operation is None else f" AND operation_id = {operation:d}"
        return f"SELECT {', '.join(expressions)} FROM {table} WHERE {self.schema.where(table)}{only}"  # noqa: S608

    def text(self, table: str, column: str, chars: int = _TEXT_CHARS) -> str:
        """The expression of a text column, cut."""
        return f"substr(CAST({column if self.schema.has(table, column) else 'NULL'} AS TEXT), 1, {chars})"

    def numbers(self, table: str, columns: Sequence[str]) -> list[str]:
        """The expressions of integer columns, -1 where missing or no number of a run."""
        return [
            "-1"
            if not self.schema.has(table, column)
            else _BUFFER_CODE
            if column == "buffer_type"
            else whole(column, LARGEST_DEVICE if column == "device_id" else LARGEST)
            for column in columns
        ]

"""The two large parts of a memory report from end to end: a million snapshot rows, twenty thousand graphs.

`MemoryReport` answers single questions; a replay needs everything, in as few Python objects as can be.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from itertools import chain

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.rows import Rows
from ttnn_mcp.records import dataclass

_ROWS = 16_000  # rows turned into an array at a time
_TEXT = 4_000_000  # characters of graphs in memory at a time; a single graph can have more
_FIRST, _MOST = 32, 2_000  # graphs per trip to the file
_TABLE, _COLUMNS = "buffers", ("operation_id", "device_id", "address", "max_size_per_bank", "buffer_type")
_GRAPH = "captured_graph"


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotRows:
    """The `buffers` table as written, in no promised order; -1 where it does not say."""

    operations: Integers
    devices: Integers
    addresses: Integers
    bytes_per_bank: Integers
    buffers: Integers
    """Codes of BUFFER_TYPES."""

    def __len__(self) -> int:
        return len(self.operations)


async def read_snapshots(memory: MemoryReport) -> SnapshotRows:
    """All live buffers after all operations.

    Operation, device and buffer type travel as one integer: three objects per row instead of five.
    """
    parts: list[Integers] = [np.empty(0, dtype=np.int64)]
    if memory.schema.has(_TABLE):
        async with memory.opened() as connection:
            operation, device, address, size, buffer = Rows(connection, memory.schema).numbers(_TABLE, _COLUMNS)
            packed = f"(({operation}) << 16) | ((({device}) + 1) << 4) | (({buffer}) + 1)"  # they fit: see `whole`
            sql = f"SELECT {packed}, {address}, {size} FROM {_TABLE} WHERE {memory.schema.where(_TABLE)}"  # noqa: S608
            async with connection.execute(sql) as cursor:
                while rows := list(await cursor.fetchmany(_ROWS)):
                    parts.append(np.fromiter(chain.from_iterable(rows), np.int64, count=3 * len(rows)))
    return _unpacked(parts)


def _unpacked(parts: list[Integers]) -> SnapshotRows:
    together: Integers = np.concatenate(parts)
    packed, addresses, sizes = (np.ascontiguousarray(together[at::3]) for at in range(3))
    return SnapshotRows(packed >> 16, ((packed >> 4) & 4095) - 1, addresses, sizes, (packed & 15) - 1)


async def iter_graph_batches(memory: MemoryReport) -> AsyncGenerator[list[tuple[int, str]], None]:
    """Captured graphs as (operation, JSON text) in operation order, some megabytes at a time.

    The file is closed while the caller works on them.
    """
    if not memory.schema.has(_GRAPH, _GRAPH):
        return
    async with memory.opened() as connection:
        rows = Rows(connection, memory.schema)
        ids, places = await rows.arrays(_GRAPH, [*rows.numbers(_GRAPH, ["operation_id"]), "rowid"], order=2)
    start, step = 0, _FIRST
    while start < len(ids):
        wanted = places[start : start + step].tolist()
        sql = f"SELECT rowid, CAST({_GRAPH} AS TEXT) FROM {_GRAPH} WHERE rowid IN ({str(wanted)[1:-1]})"  # noqa: S608
        async with memory.opened() as connection:
            texts = {int(row[0]): str(row[1] or "") for row in await connection.execute_fetchall(sql)}
        pairs = zip(ids[start : start + step].tolist(), wanted, strict=True)
        yield [(operation, texts[rowid]) for operation, rowid in pairs if texts.get(rowid)]
        start += step
        read = sum(map(len, texts.values()))
        step = max(1, min(_MOST, 4 * step, step * _TEXT // max(read, 1)))

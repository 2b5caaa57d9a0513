"""A memory report as large as real ones get, written in seconds, with figures that can be told in advance.

Every operation writes `per_operation` tensors of 16 KiB per bank to L1 and frees as many of the oldest, so that
`live` are left. One operation in the middle has larger circular buffers than the others: the peak.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .memory_database import insert_rows
from .model import height_sharded
from .schema import statements
from .text import memory_config_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TENSOR_BYTES = 16_384  # per bank: a shard of 256 x 32 elements of BFLOAT16
BUFFER_BYTES = 65_536
PEAK_BUFFER_BYTES = 262_144
L1_TOP = 1_474_560
PLACEMENT = height_sharded(256, 32, (8, 8))


@dataclass(frozen=True)
class Big:
    """What a reader must find."""

    path: Path
    operations: int
    tensors: int
    buffers: int
    peak_operation: int
    peak_bytes_per_bank: int


@dataclass(frozen=True)
class _Plan:
    operations: int
    per_operation: int
    live: int

    def address(self, tensor: int) -> int:
        return L1_TOP - (tensor % (self.live + self.per_operation) + 1) * TENSOR_BYTES

    def made_by(self, operation: int) -> range:
        return range((operation - 1) * self.per_operation + 1, operation * self.per_operation + 1)

    def live_after(self, operation: int) -> range:
        last = operation * self.per_operation
        return range(max(1, last - self.live + 1), last + 1)

    def freed_by(self, operation: int) -> range:
        first = self.live_after(operation).start
        return range(max(1, first - self.per_operation), first)

    def graph(self, operation: int, buffer_bytes: int) -> str:
        total = str(64 * TENSOR_BYTES)

        def buffer(tensor: int) -> dict[str, str]:
            return {
                "size": total, "type": "L1", "layout": "HEIGHT_SHARDED", "page_size": "2048", "num_cores": "64",
                "device_id": "0", "address": str(self.address(tensor)), "max_size_per_bank": str(TENSOR_BYTES),
            }  # fmt: skip

        circular = {
            "address": "103712", "size": str(buffer_bytes), "core_range_set": "{[(x=0,y=0) - (x=7,y=7)]}",
            "globally_allocated": "0", "device_id": "0",
        }  # fmt: skip
        nodes: list[tuple[str, dict[str, str]]] = [
            ("capture_start", {}),
            ("function_start", {"name": "ttnn.split", "inputs": "1"}),
            ("function_start", {"name": "SplitDeviceOperation", "inputs": "1"}),
            *(("buffer_allocate", buffer(tensor)) for tensor in self.made_by(operation)),
            ("circular_buffer_deallocate_all", {"device_id": "0"}),
            ("circular_buffer_allocate", circular),
            ("function_end", {"name": "SplitDeviceOperation"}),
            *(("buffer_deallocate", buffer(tensor)) for tensor in self.freed_by(operation)),
            ("function_end", {"name": "ttnn.split"}),
            ("capture_end", {}),
        ]
        return json.dumps(
            [
                {"counter": n, "node_type": kind, "params": params, "connections": []}
                for n, (kind, params) in enumerate(nodes)
            ]
        )


def _buffer_rows(plan: _Plan) -> Iterator[tuple[int, ...]]:
    for operation in range(1, plan.operations + 1):
        for tensor in plan.live_after(operation):
            yield operation, 0, plan.address(tensor), TENSOR_BYTES, 1, 1, 0


def write_big_database(
    path: Path, *, operations: int = 20_000, per_operation: int = 5, live: int = 50, generation: str = "3.3"
) -> Big:
    """By default 20,000 operations, 100,000 tensors and about 1,000,000 buffer rows; generation 3.0 or later."""
    plan = _Plan(operations, per_operation, live)
    peak = operations // 2
    count = operations * per_operation
    config = memory_config_text(PLACEMENT)
    shape = "Shape([1, 1, 16384, 32])"
    steps = range(1, operations + 1)
    made = [(tensor, step, index) for step in steps for index, tensor in enumerate(plan.made_by(step))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for statement in statements(generation):
            connection.execute(statement)
        insert_rows(
            connection,
            "devices",
            [
                (
                    0,
                    8,
                    8,
                    8,
                    8,
                    1499136,
                    64,
                    1370848,
                    0,
                    103712,
                    1,
                    64,
                    0,
                    95944704,
                    0,
                    87734272,
                    87734272,
                    1395424,
                    0,
                )
            ],
        )
        insert_rows(connection, "report_metadata", [("schema_version", generation), ("rank", "0")])
        insert_rows(connection, "operations", [(step, "ttnn.split", 0.0005, 0) for step in steps])
        insert_rows(
            connection,
            "captured_graph",
            [(step, plan.graph(step, PEAK_BUFFER_BYTES if step == peak else BUFFER_BYTES), 0) for step in steps],
        )
        insert_rows(
            connection,
            "tensors",
            [
                (t, shape, "DataType.BFLOAT16", "Layout.TILE", config, 0, plan.address(t), 1, 0)
                for t in range(1, count + 1)
            ],
        )
        insert_rows(connection, "output_tensors", [(step, index, tensor, 0) for tensor, step, index in made])
        insert_rows(
            connection,
            "input_tensors",
            [(step, 0, plan.made_by(step).start - 1, 0) for step in steps if step > 1],
        )
        connection.executemany("INSERT INTO buffers VALUES (?, ?, ?, ?, ?, ?, ?)", _buffer_rows(plan))
        buffers = connection.execute("SELECT count(*) FROM buffers").fetchone()[0]
        connection.commit()
    fullest = (live + per_operation) * TENSOR_BYTES + PEAK_BUFFER_BYTES
    return Big(path, operations, count, buffers, peak, fullest)

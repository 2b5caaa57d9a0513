"""The tables of one memory report, read at one rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from sqlite3 import Row
from typing import TypeVar

from ttnn_mcp.arrays import Integers
from ttnn_mcp.hardware import canonical_dtype, tensor_bytes
from ttnn_mcp.readers.memory.columns import (
    Chunks,
    Coded,
    Device,
    DeviceTensors,
    Executions,
    OperationError,
    Operations,
    RecordedLifetimes,
    TensorLinks,
    Tensors,
)
from ttnn_mcp.readers.memory.rows import LARGEST, Rows, real, whole
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.shapes import Shape, parse_database_shape

T = TypeVar("T")
LONGEST_S = 86_400.0  # of one operation on the host: a day; no capture runs longer
_NAME_CHARS, _MESSAGE_CHARS, _ERRORS = 500, 4000, 200  # foreign text is cut before it is kept
DEVICES_AT_MOST = 2048  # rows read: a thousand chips and their meshes; no cluster of today has as many
_DEVICE_COLUMNS = (  # in the order of Device's fields
    *("device_id", "num_x_compute_cores", "num_y_compute_cores", "worker_l1_size", "l1_num_banks", "l1_bank_size"),
    *("address_at_first_l1_cb_buffer", "num_compute_cores", "num_storage_cores", "total_l1_memory", "cb_limit"),
)


async def read_devices(rows: Rows) -> tuple[Device, ...]:
    """The devices, by id."""
    described = await rows.few("devices", rows.numbers("devices", _DEVICE_COLUMNS), limit=DEVICES_AT_MOST)
    by_id = sorted(tuple(one) for one in described)
    return tuple(Device(one[0], *(value if value >= 0 else None for value in one[1:])) for one in by_id)


async def read_operations(rows: Rows) -> Operations:
    """The operations that have an id, by it; the first row wins where an id repeats."""
    import numpy as np  # noqa: PLC0415 - only who reads a report pays for it

    ids: list[int] = []
    names: list[str] = []
    seconds: list[float | None] = []
    same: dict[str, str] = {}  # one object per distinct name
    duration = real("duration") if rows.schema.has("operations", "duration") else "NULL"
    columns = (
        *rows.numbers("operations", ("operation_id",)),
        rows.text("operations", "name", _NAME_CHARS),
        duration,
    )

    def keep(batch: list[Row]) -> None:
        for operation, name, taken in batch:
            ids.append(operation)
            names.append(same.setdefault(name or "", name or ""))
            seconds.append(taken)

    await rows.each_batch("operations", columns, keep)
    distinct, first = _numbered(np.array(ids, dtype=np.int64))
    kept: list[int] = first.tolist()
    durations = np.array(seconds, dtype=np.float64)[first]
    durations[~((durations >= 0) & (durations <= LONGEST_S))] = np.nan  # not measured
    return Operations(distinct, tuple(names[at] for at in kept), durations)


async def read_tensors(rows: Rows) -> Tensors:
    """The tensors that have an id, by it; the first row wins where an id repeats."""
    import numpy as np  # noqa: PLC0415

    numbers = rows.numbers("tensors", ("tensor_id", "device_id", "address", "buffer_type", "size"))
    texts = [rows.text("tensors", column) for column in ("shape", "dtype", "layout", "memory_config")]
    code_of_text: list[dict[str | None, int]] = [{} for _ in texts]
    parts: list[Integers] = []

    def keep(batch: list[Row]) -> None:
        columns = list(zip(*batch, strict=True))
        codes = (
            [code_of.setdefault(text, len(code_of)) for text in column]
            for code_of, column in zip(code_of_text, columns[len(numbers) :], strict=True)
        )
        parts.append(np.array([*columns[: len(numbers)], *codes], dtype=np.int64))

    await rows.each_batch("tensors", (*numbers, *texts), keep)
    width = len(numbers) + len(texts)
    merged = np.concatenate(parts, axis=1) if parts else np.empty((width, 0), dtype=np.int64)
    ids, first = _numbered(merged[0])
    _, device, address, buffer, size, *codes = merged[:, first]
    shapes = _coded(codes[0], code_of_text[0], parse_database_shape)
    dtypes = _coded(codes[1], code_of_text[1], canonical_dtype)
    layouts = _coded(codes[2], code_of_text[2], canonical_dtype)
    return Tensors(
        ids=ids,
        shapes=shapes,
        dtypes=dtypes,
        layouts=layouts,
        placements=_coded(codes[3], code_of_text[3], parse_memory_config),
        devices=device,
        addresses=address,
        buffers=np.where(address >= 0, buffer, -1),
        size_bytes=np.where(size >= 0, size, _sizes(shapes, dtypes, layouts)),
    )


def _numbered(ids: Integers) -> tuple[Integers, Integers]:
    """The ids in order, and the first row of each; rows without one are left out."""
    import numpy as np  # noqa: PLC0415

    distinct, first = np.unique(ids, return_index=True)
    return distinct[distinct >= 0], first[distinct >= 0]


def _coded(codes: Integers, texts: Iterable[str | None], parse: Callable[[str], T | None]) -> Coded[T]:
    """Parse each distinct text once. Texts that mean the same word share a code; other values keep one per text."""
    import numpy as np  # noqa: PLC0415

    values: list[T] = []
    code_of: dict[object, int] = {}
    code_of_text: list[int] = []
    for text in texts:
        value = None if text is None else parse(text)
        if value is None:
            code_of_text.append(-1)
            continue
        code = code_of.setdefault(value if isinstance(value, str) else (text,), len(values))
        if code == len(values):
            values.append(value)
        code_of_text.append(code)
    return Coded(np.array(code_of_text, dtype=np.int64)[codes], tuple(values))


def _sizes(shapes: Coded[Shape], dtypes: Coded[str], layouts: Coded[str]) -> Integers:
    """Bytes of each tensor from its shape, dtype and layout, computed once per combination that occurs."""
    import numpy as np  # noqa: PLC0415

    kinds = list(product((*dtypes.distinct, None), (*layouts.distinct, None)))  # code -1 finds the None at the end
    kind = (dtypes.codes % (len(dtypes.distinct) + 1)) * (len(layouts.distinct) + 1)
    kind += layouts.codes % (len(layouts.distinct) + 1)
    distinct, where = np.unique(shapes.codes * len(kinds) + kind, return_inverse=True)
    keys: list[int] = distinct.tolist()
    sizes: list[int] = []
    for key in keys:
        dtype, layout = kinds[key % len(kinds)]
        shape = shapes.distinct[key // len(kinds)] if key >= 0 else None
        size = tensor_bytes(shape.stored, dtype, layout) if shape and dtype and layout else None
        sizes.append(size if size is not None and size <= LARGEST else -1)
    return np.array(sizes, dtype=np.int64)[where]


async def read_links(rows: Rows, table: str, index: str) -> TensorLinks:
    """`input_tensors` or `output_tensors`."""
    operations, _, tensors = await rows.integers(table, ("operation_id", index, "tensor_id"), order=2)
    return TensorLinks(operations, tensors)


async def read_device_tensors(rows: Rows) -> DeviceTensors:
    """The copies of tensors on each device of a mesh."""
    return DeviceTensors(*await rows.integers("device_tensors", ("tensor_id", "device_id", "address"), order=2))


async def read_lifetimes(rows: Rows) -> RecordedLifetimes | None:
    """Tensor lifetimes; None where the report has none (before 3.x)."""
    if not rows.schema.has("tensor_lifetime"):
        return None
    columns = ("tensor_id", "producer_operation_id", "last_use_operation_id")
    return RecordedLifetimes(*await rows.integers("tensor_lifetime", columns, order=1))


async def read_executions(rows: Rows) -> Executions | None:
    """The ids that the performance report uses too; None where the report has none."""
    if not rows.schema.has("operation_executions", "global_call_count"):
        return None
    columns = ("operation_id", "device_id", "physical_device_id", "global_call_count", "command_queue_id")
    return Executions(*await rows.integers("operation_executions", columns, order=3))


async def read_chunks(rows: Rows, operation: int) -> Chunks:
    """Where the L1 buffers of one operation lie: `buffer_chunks` (3.1 on), or `buffer_pages` put together alike."""
    keys = ("device_id", "address", "bank_id")
    if rows.schema.has("buffer_chunks"):
        columns = (*keys, "chunk_address", "chunk_size", "page_size", "num_pages", "buffer_type")
        return Chunks(*await rows.integers("buffer_chunks", columns, order=3, operation=operation))
    *numbers, buffer = rows.numbers("buffer_pages", (*keys, "buffer_type"))
    chunk = (
        "MIN(page_address)",
        "(MAX(page_address + page_size) - MIN(page_address))",
        "MAX(page_size)",
        "COUNT(*)",
    )
    columns = (*numbers, *map(whole, chunk), buffer)
    group = f" GROUP BY {', '.join(keys)}, buffer_type"
    return Chunks(*await rows.arrays("buffer_pages", columns, order=3, operation=operation, group=group))


async def read_errors(rows: Rows, operations: Operations) -> tuple[OperationError, ...]:
    """What went wrong in the run. Importers file errors under an id that is no operation: then by name only."""
    name = "operation_name" if rows.schema.has("errors", "operation_name") else "error_operation"  # early 2026
    texts = [rows.text("errors", column, _MESSAGE_CHARS) for column in (name, "error_type", "error_message")]
    columns = (*rows.numbers("errors", ("operation_id",)), *texts)
    return tuple(
        OperationError(
            operation if operations.row(operation) is not None else None, *(word or "" for word in words)
        )
        for operation, *words in await rows.few("errors", columns, limit=_ERRORS)
    )


async def read_filled(rows: Rows) -> frozenset[str]:
    """Tables that hold at least one row of this rank."""
    present = [table for table in rows.schema.columns if rows.schema.has(table)]
    asked = (f"EXISTS (SELECT 1 FROM {table} WHERE {rows.schema.where(table)})" for table in present)  # noqa: S608
    [answers] = await rows.connection.execute_fetchall(f"SELECT {', '.join(asked)}")
    return frozenset(table for table, is_filled in zip(present, answers, strict=True) if is_filled)

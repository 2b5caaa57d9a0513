"""Tables of a few rows, made by hand: what a module reads of a report, and nothing else. The real ones lie in ../shared."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from tests.shared_reports import SHARED
from ttnn_mcp.analyses.memory.buffer_spans import SpanLog
from ttnn_mcp.readers.graph.graph_events import MemoryEvent
from ttnn_mcp.readers.memory.columns import (
    Coded,
    Device,
    DeviceTensors,
    OperationError,
    Operations,
    RecordedLifetimes,
    TensorLinks,
    Tensors,
)
from ttnn_mcp.readers.memory.spaces import L1, key_of
from ttnn_mcp.readers.printed.memory_config import Placement, ShardSpec
from ttnn_mcp.readers.printed.shapes import Shape

REAL = SHARED.parent / "real" / "reports"
NEVER_ENDED = float("nan")
IN_L1, IN_DRAM = Placement("INTERLEAVED", "L1"), Placement("INTERLEAVED", "DRAM")


def real(name):
    """The folder of a report that TTNN wrote, or the reason why this test is skipped."""
    folder = REAL / name
    if not folder.is_dir():
        pytest.skip(f"the capture {name} is not beside this checkout (../shared)")
    return folder


def asked(folder, sql):
    """What plain SQL says of a report."""
    with closing(sqlite3.connect(f"file:{folder / 'db.sqlite'}?mode=ro&immutable=1", uri=True)) as database:
        return database.execute(sql).fetchall()


def numbers(*values):
    return np.array(values, dtype=np.int64)


def operations(*names, ids=None, never_ended=()):
    """Operations 1, 2, ... by name; `never_ended` are places."""
    seconds = np.array([NEVER_ENDED if place in never_ended else 0.1 for place in range(len(names))])
    return Operations(numbers(*(ids or range(1, len(names) + 1))), names, seconds)


def links(*pairs):
    """(operation, tensor), as an operation takes or gives it."""
    listed = [operation for operation, _ in pairs]
    return TensorLinks(numbers(*listed), numbers(*(tensor for _, tensor in pairs)))


def tensor(at, address=4096, buffer=L1, **more):
    """One row for `tensors`, by its id."""
    row = {"device": 0, "size": 2048, "shape": (1, 1, 32, 32), "dtype": "BFLOAT16", "layout": "TILE"}
    return {"id": at, "address": address, "buffer": buffer, "placement": IN_L1, **row, **more}


def tensors(*rows):
    return Tensors(
        ids=numbers(*(row["id"] for row in rows)),
        shapes=[None if row["shape"] is None else Shape(tuple(row["shape"])) for row in rows],
        dtypes=[row["dtype"] for row in rows],
        layouts=[row["layout"] for row in rows],
        placements=_coded([row["placement"] for row in rows]),
        devices=numbers(*(row["device"] for row in rows)),
        addresses=numbers(*(row["address"] for row in rows)),
        buffers=numbers(*(row["buffer"] for row in rows)),
        size_bytes=numbers(*(row["size"] for row in rows)),
    )


def _coded(values):
    distinct = tuple(value for value in dict.fromkeys(values) if value is not None)
    return Coded(numbers(*(-1 if value is None else distinct.index(value) for value in values)), distinct)


def sharded(shape=(32, 32), ranges=(((0, 0), (0, 0)),), layout="HEIGHT_SHARDED"):
    return Placement(layout, "L1", ShardSpec(tuple(ranges), tuple(shape)))


def device(number=0, **more):
    """A Wormhole's row, as TTNN 0.81.1 writes it."""
    figures = {
        "compute_grid_x": 8, "compute_grid_y": 8, "worker_l1_bytes": 1_499_136,
        "l1_banks": 64, "l1_bank_bytes": 1_360_544, "first_cb_address": 105_824,
        "compute_cores": 64, "storage_cores": 0, "l1_bytes": 95_944_704,
        "cb_limit_bytes": 1_393_312,
    }  # fmt: skip
    return Device(number, **{**figures, **more})


def error(operation, name, message="", kind="RuntimeError"):
    return OperationError(operation, name, kind, message)


def memory(**parts):
    """A report with these tables, the others empty."""
    empty = numbers()
    return SimpleNamespace(
        **{
            "operations": operations(), "tensors": tensors(), "inputs": links(), "outputs": links(), "errors": (),
            "device_tensors": DeviceTensors(empty, empty, empty), "lifetimes": None, "devices": (),
            "comparisons": (), "arch": "wormhole_b0", "has": frozenset(),
            **parts,
        }
    )  # fmt: skip


def recorded(*rows):
    """(tensor, producer, last use), as `tensor_lifetime` tells them."""
    ids, producers, last_uses = (numbers(*column) for column in zip(*rows, strict=True))
    return RecordedLifetimes(ids, producers, last_uses)


def event(kind, address=-1, size=-1, *, buffer=L1, op=0, of=0, key=None, **more):
    """One event of a graph: `size` is per bank, or per core."""
    place = key_of(address, buffer) if key is None else key
    whole = size if kind == "circular" else 64 * size if size >= 0 else size
    told = {"over_tensor": False} if kind == "circular" else {}
    return MemoryEvent(kind, op, of, place, buffer, whole, -1 if kind == "circular" else size, **{**told, **more})


def spans(*rows):
    """(address, bytes per bank, start, end[, buffer, recorded]): None never ends."""
    log = SpanLog()
    for address, size, start, end, *more in rows:
        buffer, is_recorded = (*more, *(L1, True)[len(more) :])
        row = log.open(key_of(address, buffer), buffer, size, 64 * size, start, recorded=is_recorded)
        if end is not None:
            log.ends[row] = end
    return log.spans()

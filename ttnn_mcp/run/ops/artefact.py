"""Artefacts: what is computed of a table of ops, once, however many checks and tools ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from ttnn_mcp.run.ops.op_table import OpTable

P = ParamSpec("P")
T = TypeVar("T")


def artefact(compute: Callable[Concatenate[OpTable, P], T]) -> Callable[Concatenate[OpTable, P], T]:
    """Store the result of `compute` with its table, one per set of further arguments (which must be hashable).

    The table's lock makes concurrent callers wait for the first one instead of computing it again. All callers
    share the result, so none may write into it: an array is made read-only.
    """

    @wraps(compute)
    def once(ops: OpTable, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (compute, args, tuple(kwargs.items()))
        with ops.lock:
            if key not in ops.artefacts:
                ops.artefacts[key] = _read_only(compute(ops, *args, **kwargs))
            return cast("T", ops.artefacts[key])

    return once


def stored(ops: OpTable, compute: Callable[[OpTable], T]) -> T | None:
    """What `compute`, an artefact, returned for the table before; None where nobody has asked yet."""
    return cast("T | None", ops.artefacts.get((compute.__wrapped__, (), ())))  # type: ignore[attr-defined]


def known(ops: OpTable, compute: Callable[[OpTable], T], result: T) -> None:
    """Store what `compute`, an artefact, returned for the same rows before, so that it is not computed again."""
    with ops.lock:
        ops.artefacts[compute.__wrapped__, (), ()] = _read_only(result)  # type: ignore[attr-defined]


def _read_only(result: T) -> T:
    array: object = result
    if isinstance(array, np.ndarray):
        array.setflags(write=False)
    return result

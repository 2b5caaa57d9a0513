"""Writes of caches of keys and values that could be one: fills of single users, updates of keys beside values."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable

UNPAGED = ("UpdateKVCache", "UpdateCache")  # fills and updates; builds of 2025 and later, and before
BETWEEN = ("Slice", "Typecast", "Reshape")  # what prepares the rows of a user
FILLS_AT_LEAST = 4  # of one user there are two, keys and values; of two users four
BETWEEN_AT_MOST = 3  # ops from one write to the next (ours: slice, cast, reshape)


@artefact
def fills_by_user(ops: OpTable) -> tuple[Integers, Integers]:
    """The fills of single users that run in one stretch, and the slices among them."""
    none = np.zeros(0, dtype=np.int64)
    if len(ops.inputs) < len(("cache", "rows")):
        return none, none
    paged = ops.named("PagedFillCache") & (ops.inputs[1].logical[:, 0] == 1)
    users = users_of_fills(ops)
    stretches = [
        *_stretches(ops, np.flatnonzero(paged)),
        *(part for part in _stretches(ops, np.flatnonzero(users >= 0)) if len(np.unique(users[part])) > 1),
    ]
    long = [stretch for stretch in stretches if len(stretch) >= FILLS_AT_LEAST]
    if not long:
        return none, none
    slices = np.flatnonzero(ops.named("Slice"))
    inside = [slices[(slices > part[0] - BETWEEN_AT_MOST) & (slices < part[-1])] for part in long]
    return np.concatenate(long), np.unique(np.concatenate(inside))


@artefact
def users_of_fills(ops: OpTable) -> Floats:
    """Per op, the user whose rows a fill of a cache without pages writes; NaN for all other ops."""
    rows = np.flatnonzero(ops.named(*UNPAGED))

    def user(attributes: Attributes) -> float | None:
        return attributes.number("batch_idx") if str(attributes.text_of("op_type")).endswith("FILL") else None

    users = np.full(len(ops), np.nan)
    users[rows] = attributes_of(ops).numbers(rows, user)
    return users


def updates_in_pairs(ops: OpTable) -> tuple[Integers, Integers]:
    """(first, second) updates of two caches of one description, one right after the other."""
    stretches = _stretches(ops, np.flatnonzero(ops.named("PagedUpdateCache")))
    pairs = [stretch for stretch in stretches if len(stretch) == len(("keys", "values")) and _alike(ops, stretch)]
    firsts, seconds = ([int(pair[place]) for pair in pairs] for place in (0, 1))
    return np.array(firsts, dtype=np.int64), np.array(seconds, dtype=np.int64)


def _stretches(ops: OpTable, writes: Integers) -> list[Integers]:
    """The writes, cut where another kind of op or too many ops stand between two."""
    prepares = ops.named(*BETWEEN)
    apart = [
        after - before > BETWEEN_AT_MOST + 1 or not prepares[before + 1 : after].all()
        for before, after in zip(writes[:-1].tolist(), writes[1:].tolist(), strict=True)
    ]
    return np.split(writes, np.flatnonzero(apart) + 1)


def _alike(ops: OpTable, pair: Integers) -> bool:
    first, second = pair.tolist()
    same = [(part.logical[first] == part.logical[second]).all() for part in ops.inputs[:2]]
    return bool(all(same)) and bool(ops.inputs[0].dtype[first] == ops.inputs[0].dtype[second])

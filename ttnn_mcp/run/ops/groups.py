"""Ops in groups: by op code, signature, family or source line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.texts import Texts


@dataclass(frozen=True, slots=True)
class Group:
    """Ops with the same key.

    Attributes:
        key: the key, an index into the labels; -1 where the ops have no label.
        rows: positions of the ops.
        kernel_ns: sum of their kernel times.
    """

    key: int
    rows: Integers
    kernel_ns: float


def grouped(keys: Integers, kernel_ns: Floats) -> list[Group]:
    """One group per distinct key, the one with the most kernel time first. The key -1 means "no label"."""
    distinct, places = np.unique(keys, return_inverse=True)
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(len(distinct) + 1))
    groups = [
        Group(int(key), order[start:end], float(kernel_ns[order[start:end]].sum()))
        for key, start, end in zip(distinct, bounds[:-1], bounds[1:], strict=True)
    ]
    return sorted(groups, key=lambda group: (-group.kernel_ns, group.key))


def heaviest_kinds(op_codes: Texts, time_ns: Floats, most: int) -> list[tuple[str, float, Integers]]:
    """(canonical name, time, positions of its ops with any) of the kinds of op with the most of a time per op."""
    names, rows = op_codes.folded(canonical), np.flatnonzero(time_ns > 0)
    groups = grouped(names.codes[rows], time_ns[rows])
    named = (group for group in groups if group.key >= 0)  # an empty OP CODE is no kind
    return [(names.distinct[group.key], group.kernel_ns, rows[group.rows]) for group in islice(named, most)]


def keyed(labels: Sequence[str]) -> tuple[Integers, list[str]]:
    """A key per label, and the sorted distinct labels, which the keys index."""
    distinct = sorted(set(labels))
    number = {label: place for place, label in enumerate(distinct)}
    return np.array([number[label] for label in labels], dtype=np.int64), distinct

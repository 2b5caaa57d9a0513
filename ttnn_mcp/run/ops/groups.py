"""Ops folded into groups: by op code, signature, family or source line; counts and times only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Group:
    """Some ops that are alike.

    Attributes:
        key: index of the group's label.
        rows: positions of its ops.
        kernel_ns: their kernel time.
    """

    key: int
    rows: NDArray[np.int64]
    kernel_ns: float


def grouped(keys: NDArray[np.int64], kernel_ns: NDArray[np.float64]) -> list[Group]:
    """Groups by key (negative keys are one group each sign says nothing: -1), heaviest first."""
    distinct, places = np.unique(keys, return_inverse=True)
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(len(distinct) + 1))
    groups = [
        Group(int(key), order[start:end], float(kernel_ns[order[start:end]].sum()))
        for key, start, end in zip(distinct, bounds[:-1], bounds[1:], strict=True)
    ]
    return sorted(groups, key=lambda group: (-group.kernel_ns, group.key))


def keyed(labels: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """A key per label, and the distinct labels the keys stand for."""
    distinct = sorted(set(labels))
    number = {label: place for place, label in enumerate(distinct)}
    return np.array([number[label] for label in labels], dtype=np.int64), distinct

"""Devices laid side by side: the same launch on each, and what every device spent on collectives.

Launches are matched by GLOBAL CALL COUNT >> 10 where that encodes the launch, else by position, and then only if
all devices ran the same ops. An op is never compared with another one: what some device did not run is left out.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

Matched = Literal["call_count", "position", "not_matched"]


@dataclass(frozen=True, eq=False)  # hashable, as an argument of artefacts
class Balance:
    """Times per device, and per launch and device.

    Attributes:
        devices: chip ids, ascending; the order of every device axis.
        ops: ops per device.
        kernel_ns: kernel time per device.
        collective_ns: of it, in collectives; waiting for slower devices included.
        rows: (launches, devices) positions in the table; launches in the order of the first device.
        times_ns: (launches, devices) kernel time.
        collective: per launch, whether it is a collective.
        left_out: ops that have no counterpart on some device.
        matched: how launches were matched.
    """

    devices: tuple[int, ...]
    ops: Integers
    kernel_ns: Floats
    collective_ns: Floats
    rows: Integers
    times_ns: Floats
    collective: Booleans
    left_out: int
    matched: Matched

    @property
    def mean_ns(self) -> Floats:
        """Per launch, mean over the devices: what each would take if work were spread evenly."""
        return self.times_ns.mean(axis=1)

    @property
    def imbalance(self) -> Floats:
        """Per launch, slowest device over mean; 1 = even."""
        mean = self.mean_ns
        return np.where(mean > 0, self.times_ns.max(axis=1, initial=0.0) / np.where(mean > 0, mean, 1.0), 1.0)

    @property
    def collective_share(self) -> float:
        """Collectives' share of the kernel time of all devices."""
        total = float(self.kernel_ns.sum())
        return float(self.collective_ns.sum()) / total if total else 0.0

    def waiting_ns(self) -> Floats:
        """Per device, time in collectives above the fastest device's: waiting, for the most part."""
        exchange = self.times_ns[self.collective]
        return (exchange - exchange.min(axis=1, keepdims=True, initial=np.inf)).sum(axis=0)


@artefact
def balance_of(ops: OpTable, *, encodes_device: bool) -> Balance:
    """Compare the devices of `ops`, which are sorted by device, then by time."""
    device, kernel = ops.numbers("device"), ops.numbers("kernel_ns")
    ids, place = np.unique(device, return_inverse=True)
    collective = ops.of_family("collective")
    rows = _same_launch(ops, place, len(ids), encodes_device=encodes_device)
    present = rows if rows is not None else np.zeros((0, len(ids)), dtype=np.int64)
    return Balance(
        devices=tuple(int(one) for one in ids),
        ops=np.bincount(place, minlength=len(ids)),
        kernel_ns=_summed(place, kernel, len(ids)),
        collective_ns=_summed(place, np.where(collective, kernel, 0.0), len(ids)),
        rows=present,
        times_ns=kernel[present],
        collective=collective[present[:, 0]] if len(present) else np.zeros(0, dtype=np.bool_),
        left_out=len(ops) - present.size,
        matched="not_matched" if rows is None else "call_count" if encodes_device else "position",
    )


def _summed(place: Integers, values: Floats, devices: int) -> Floats:
    return np.bincount(place, weights=values, minlength=devices).astype(np.float64)


def _same_launch(ops: OpTable, place: Integers, devices: int, *, encodes_device: bool) -> Integers | None:
    """(launches, devices) positions; None where the devices cannot be compared."""
    if not len(ops):
        return None
    names = ops.texts("op_code").folded(canonical).codes
    if not encodes_device:
        per_device = [np.flatnonzero(place == one) for one in range(devices)]
        if len({len(one) for one in per_device}) > 1:
            return None
        rows = np.stack(per_device, axis=1)
        return rows if (names[rows] == names[rows][:, :1]).all() else None
    launch = ops.numbers("call_count").astype(np.int64) >> 10
    # a trace replays a launch under the same number: the n-th time on one device is the n-th on another
    order = np.lexsort((np.arange(len(ops)), launch, place))
    starts = np.flatnonzero(np.diff(place[order], prepend=-1) | np.diff(launch[order], prepend=-1))
    counts = np.diff(np.append(starts, len(order)))
    nth = np.empty(len(ops), dtype=np.int64)
    nth[order] = np.arange(len(order)) - np.repeat(starts, counts)
    _, key = np.unique(np.stack((launch, nth, names)), axis=1, return_inverse=True)
    key = np.ravel(key)  # NumPy 2.0 alone returns it two-dimensional
    grid = np.full((int(key.max()) + 1, devices), -1, dtype=np.int64)
    grid[key, place] = np.arange(len(ops))
    rows = grid[(grid >= 0).all(axis=1)]
    return rows[np.argsort(rows[:, 0])] if len(rows) else None

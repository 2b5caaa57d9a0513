"""Buffers that Python dropped between operations: no graph records that, and no later snapshot exists.

An operation that runs out of memory has no snapshot, but TTNN's message tells how much was allocated. If the replay
holds more, tensors were freed: those that no later operation reads and whose sizes are exactly the difference.

The frees of a dry capture (NO_DISPATCH) name neither tensor nor address, and no snapshot shows a buffer without one. So
a buffer counts until the last operation that takes its tensor, `deallocate` included. It may have stayed longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np

from ttnn_mcp.analyses.memory.device_lane import Lane
from ttnn_mcp.analyses.memory.shortage import parse_shortage
from ttnn_mcp.analyses.memory.tensor_spans import keys_on
from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.graph.graph_events import MemoryEvent
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.spaces import L1, UNPLACED

_TRIED = 24  # buffers tried, the longest unread first
_TOGETHER = 3  # of them at a time: 2,324 combinations


class UnrecordedFrees:
    """The buffers freed before operations that, by TTNN's messages, ran out of L1.

    Args:
        memory: the report.
        operations: ids in execution order.
        device: whose addresses count.
    """

    def __init__(self, memory: MemoryReport, operations: Integers, device: int | None) -> None:
        self._memory = memory
        self._operations = operations
        self._device = device
        self._allocated: dict[int | None, int] = {}
        for error in memory.errors:
            shortage = parse_shortage(error.message)
            if shortage and shortage.buffer == "L1" and shortage.allocated_bytes is not None:
                self._allocated[error.operation] = shortage.allocated_bytes

    def __contains__(self, place: int) -> bool:
        return int(self._operations[place]) in self._allocated

    def before(self, place: int, lane: Lane, events: Sequence[MemoryEvent]) -> tuple[int, ...]:
        """Keys of a lane's buffers that were freed before the operation at `place`.

        Args:
            place: of the operation that died.
            lane: replayed up to the operation before.
            events: of the operation, until it failed.
        """
        live = {key: row for key, row in lane.live.items() if lane.log.buffers[row] == L1}
        level = sum(lane.log.bytes_per_bank[row] for row in live.values())
        for event in events:
            if event.buffer == L1 and event.kind in ("allocate", "free"):
                level += max(event.bytes_per_bank, 0) * (1 if event.kind == "allocate" else -1)
        excess = level - self._allocated[int(self._operations[place])]
        if excess <= 0:
            return ()
        touched = {event.key for event in events}
        unread = [key for key in self._unread(place, live) if key not in touched][:_TRIED]
        size = {key: lane.log.bytes_per_bank[live[key]] for key in unread}
        for together in range(1, _TOGETHER + 1):
            for keys in combinations(unread, together):
                if sum(size[key] for key in keys) == excess:
                    return keys
        return ()

    def _unread(self, place: int, live: dict[int, int]) -> list[int]:
        """Live keys that neither this nor a later operation reads: earliest last read first, then oldest first."""
        memory, operations = self._memory, self._operations
        keys = keys_on(memory, self._device)
        last = dict.fromkeys(live, -1)
        known = np.isin(memory.inputs.tensors, memory.tensors.ids) & np.isin(memory.inputs.operations, operations)
        read_keys = keys[np.searchsorted(memory.tensors.ids, memory.inputs.tensors[known])]
        places = np.searchsorted(operations, memory.inputs.operations[known])
        for key, turn in zip(read_keys.tolist(), places.tolist(), strict=True):
            if key in last:
                last[key] = max(last[key], turn)
        unread = [key for key, use in last.items() if 0 <= use < place]
        return sorted(unread, key=lambda key: (last[key], live[key]))


class DryFrees:
    """The ends of buffers without an address.

    Args:
        memory: the report.
        operations: ids in execution order.
        tensors: the tensor of each buffer, by its key; grows while graphs are read.
    """

    def __init__(self, memory: MemoryReport, operations: Integers, tensors: Mapping[int, int]) -> None:
        self._inputs, self._outputs = memory.inputs, memory.outputs
        self._operations = operations
        self._tensors = tensors
        self._names: dict[int, int] = {}

    def after(self, place: int, lane: Lane) -> list[int]:
        """Keys of a lane's buffers that an operation took, but none after the operation at `place` takes."""
        if not self._tensors:
            return []
        last, gone = self._last_uses, list[int]()
        for key in [key for key in lane.live if key >= UNPLACED]:
            if key not in self._names:
                self._names[key] = self._named(key, place)
            if 0 <= last.get(self._names[key], -1) <= place:
                gone.append(key)
        return gone

    def _named(self, key: int, place: int) -> int:
        """The tensor that later operations name: the only output, if the operation reshaped its result."""
        tensor = self._tensors.get(key, -1)
        if tensor in self._last_uses:
            return tensor
        outputs = self._outputs.tensors[self._outputs.operations == self._operations[place]].tolist()
        return outputs[0] if len(outputs) == 1 and outputs[0] not in self._names.values() else tensor

    @cached_property
    def _last_uses(self) -> dict[int, int]:
        """The place of the last operation that takes each tensor."""
        known = np.isin(self._inputs.operations, self._operations)
        places = np.searchsorted(self._operations, self._inputs.operations[known])
        order = np.argsort(places, kind="stable")
        return dict(zip(self._inputs.tensors[known][order].tolist(), places[order].tolist(), strict=True))

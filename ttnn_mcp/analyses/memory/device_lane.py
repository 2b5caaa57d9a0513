"""Replays the memory of a device, operation by operation, from captured graphs and snapshots.

A graph shows what an operation allocates and frees; the snapshot after it shows what is live then. Between
operations (uploads that the importer leaves out, Python names that are dropped) only snapshots show changes. So each
operation starts from the buffers that both show as live, follows its graph, and is then corrected by its snapshot.
Differences between the two are counted.

Circular buffers are counted on top: from their allocation until they are cleared, or their device op ends, or the
operation ends, whichever is first. The allocator does not track them: the graph may place the next op's output while
the circular buffers of the op before are still recorded. The two were never in memory together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType

from ttnn_mcp.analyses.memory.buffer_spans import SpanLog, before, inside
from ttnn_mcp.analyses.memory.core_load import OnCores
from ttnn_mcp.analyses.memory.left_out import Completing, LeftOut
from ttnn_mcp.analyses.memory.replay_records import Differences, Fullest, Levels, Step
from ttnn_mcp.analyses.memory.shard_bytes import ShardBytes
from ttnn_mcp.analyses.memory.snapshots import Seen, Snapshots
from ttnn_mcp.analyses.memory.there_before import EarlierBuffer
from ttnn_mcp.readers.graph.graph_events import MemoryEvent
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL, TRACE, UNPLACED

BEYOND = UNPLACED  # no address that a report names reaches it


class Lane:
    """One device's memory while it is replayed. Feed it the operations in order.

    Args:
        snapshots: of the device; None if the report has none.
        base: address at which the buffers of programs begin; 0 if unknown.
        bank_bytes: of L1 above `base`.
        small_from: first address of the L1_SMALL region: older graphs call both regions L1.
        shards: sizes of buffers for which neither graph nor snapshot has one.
        watch: keep the buffers live at the fullest moment of the last operation fed.
    """

    def __init__(
        self,
        snapshots: Snapshots | None,
        small_from: int = BEYOND,
        shards: ShardBytes | None = None,
        *,
        base: int = 0,
        bank_bytes: int = 0,
        watch: bool = False,
    ) -> None:
        self.snapshots = snapshots
        self.small_from = small_from
        self.shards = shards
        self.base, self.bank_bytes = base, bank_bytes
        self.watch = watch
        self.loads: dict[int, int] = {}
        self.log = SpanLog()
        self.levels = Levels()
        self.differences = Differences()
        self.fullest = Fullest((), (), -1)
        self.live: dict[int, int] = {}
        self._now = [0, 0, 0, 0, 0]  # bytes per bank, by code of BUFFER_TYPES
        self._shown: dict[int, tuple[int, int]] = {}  # the last snapshot: key -> (bytes per bank, buffer)
        self._settled = False  # whether a snapshot has been seen

    def preload(self, key: int, buffer: int, per_bank: int) -> None:
        """Add a buffer that is live before the first operation fed."""
        self._open(key, buffer, per_bank, -1, 0, recorded=False)

    def fork(self) -> Lane:
        """A lane for another device with the same history so far."""
        shared = (self.snapshots, self.shards)
        return deepcopy(self, {id(record): record for record in shared})

    def was_there(self, place: int, operand: EarlierBuffer) -> None:
        """Add a buffer that the operation at `place` reads and nothing allocated: it was there from the start.

        If something else has lain at its place since, it came after that.
        """
        if operand.key in self.live:
            return
        self.differences.before += 1
        self._open_earlier(place, *operand)

    def _open_earlier(self, place: int, key: int, buffer: int, size: int, whole: int = -1) -> None:
        """Add a buffer from the start on, or before the operation at `place` if another one lay at these addresses."""
        since = any(self._overlap(other, row, key, size) for row, other in enumerate(self.log.keys))
        self._open(key, buffer, size, whole, before(place) if since else 0)
        if not since:
            self.levels.add_to_all(buffer, size)

    def _overlap(self, key: int, row: int, other: int, size: int) -> bool:
        """Whether a buffer of the log and another one share addresses of a space."""
        same_space = not (key - other) % 2
        return same_space and key < other + 2 * size and other < key + 2 * self.log.bytes_per_bank[row]

    def forget(self, place: int, keys: Iterable[int]) -> None:
        """End buffers that were freed before the operation at `place`, but by no operation."""
        for key in keys:
            self.differences.went += 1
            self._close(key, before(place))

    def feed(
        self,
        place: int,
        events: Sequence[MemoryEvent] | None,
        *,
        written: Sequence[int] = (),
        left_out: Mapping[int, LeftOut] = MappingProxyType({}),
        failed: bool = False,
    ) -> None:
        """Replay the operation at `place`.

        Args:
            place: of the operation, in execution order.
            events: this device's events of its graph; None if there is no graph: then only snapshots are used.
            written: without a graph, keys of the operation's outputs that are not also inputs.
            left_out: by device op, the programs whose buffers the graph leaves out.
            failed: whether it ended by an exception: Python drops what that held only after it.
        """
        captured, step = events is not None, Step(events or (), failed=failed)
        snapshots = self.snapshots
        snapshot = snapshots.at(place) if snapshots is not None and snapshots.taken[place] else None
        lost = self._begin(place, snapshot, step, captured=captured)
        self._written_over(place, written, snapshot)
        self._follow(place, step, left_out, lost, taken=snapshot is not None)
        for key in lost:
            self._close(key, inside(place))
        if snapshot is not None:
            self._settle(place, step)
            self._settled = True

    def _begin(self, place: int, snapshot: Seen | None, step: Step, *, captured: bool) -> list[int]:
        """Set the state before the operation from graph and snapshot; returns keys freed in it at an unknown point."""
        lost = self._look(place, snapshot, step, captured=captured) if snapshot is not None else []
        if snapshot is None:
            self._make_way(place, step)
        for key, index in step.first.items():
            event = step.events[index]
            if event.kind == "free":
                if key not in self.live:
                    if self._settled:
                        self.differences.came += 1
                    self._open(key, event.buffer, max(event.bytes_per_bank, 0), event.size_bytes, before(place))
            elif key in self.live and not step.nameless:  # freed earlier; otherwise the address would not be free
                self.differences.went += 1
                self._close(key, before(place))
        return lost

    def _look(self, place: int, snapshot: Seen, step: Step, *, captured: bool) -> list[int]:
        """Apply the snapshot after the operation to all buffers that its graph does not mention."""
        for key in snapshot.went:
            self._shown.pop(key, None)
        for key, size, buffer in snapshot.came:
            self._shown[key] = (size, buffer)
            if key not in step.last:
                self._came(place, key, size, buffer, captured=captured)
        went = snapshot.went if self._settled else [key for key in self.live if key < UNPLACED]
        gone = [key for key in went if key in self.live and not (key in step.last or key in self._shown)]
        if step.nameless or step.failed:
            return gone
        for key in gone:
            if captured:
                self.differences.went += 1
            self._close(key, before(place) if captured else inside(place))
        return []

    def _came(self, place: int, key: int, size: int, buffer: int, *, captured: bool) -> None:
        """Add a buffer that the snapshot shows and the operation's graph does not mention."""
        row = self.live.get(key)
        if row is not None:
            if (self.log.bytes_per_bank[row], self.log.buffers[row]) == (size, buffer):
                return
            if captured:
                self.differences.contradicted += 1
            self._close(key, before(place))
        elif not self._settled:  # no snapshot before this one
            self._open_earlier(place, key, buffer, size)
            return
        elif captured:
            self.differences.came += 1
        self._open(key, buffer, size, -1, before(place))

    def _written_over(self, place: int, written: Sequence[int], snapshot: Seen | None) -> None:
        """A new tensor at an address in use means that the old one was freed."""
        new = {key for key, _, _ in snapshot.came} if snapshot else set[int]()
        for key in written:
            row = self.live.get(key)
            if row is not None and key not in new:
                buffer, size = self.log.buffers[row], self.log.bytes_per_bank[row]
                self._close(key, inside(place))
                self._open(key, buffer, size, -1, inside(place))

    def _follow(
        self, place: int, step: Step, left_out: Mapping[int, LeftOut], lost: list[int], *, taken: bool
    ) -> None:
        """Follow the operation's events and add its fullest moment to the levels."""
        on_cores, now, self.loads = OnCores(self.base), self._now, {}
        completing = Completing(left_out, lambda: self._lowest() - self.base)
        most = tensors = recorded = now[L1]
        small, dram, filled_by = now[L1_SMALL], now[DRAM] + now[TRACE], -1
        self._watch(on_cores, -1)
        for index, event in enumerate(step.events):
            kind = event.kind
            completing.goes_on(event.device_op)
            if kind == "allocate":
                self._allocate(place, step, index, event, taken=taken)
                small, dram = max(small, now[L1_SMALL]), max(dram, now[DRAM] + now[TRACE])
            elif kind == "free":
                key = event.key if event.key >= 0 else self._alike(event, lost)
                if key in self.live:
                    self._close(key, inside(place))
                continue
            elif kind != "circular":
                size = completing.ends(event.device_op) if kind == "end" else 0
                if now[L1] + size > most:
                    most, tensors, filled_by = now[L1] + size, now[L1], event.device_op
                    self._watch(on_cores, event.device_op, size)
                on_cores.drop(event)
                continue
            elif event.over_tensor is None and event.key in self.live:
                continue
            else:
                on_cores.add(event)
                self.loads[event.device_op] = on_cores.fullest
            level = now[L1] + on_cores.fullest
            recorded = max(recorded, level)
            if level > most or (level == most and self.watch and kind == "circular"):
                most, tensors, filled_by = level, now[L1], -1
                self._watch(on_cores, event.device_op)
        by_model = filled_by >= 0 and left_out[filled_by].carried is None
        self.levels.add((most, tensors, filled_by, by_model), small, dram, recorded)

    def _alike(self, event: MemoryEvent, lost: list[int]) -> int:
        """The buffer that a free without an address ends: one of its size among those gone after the operation."""
        for key in lost:
            row = self.live[key]
            if (self.log.buffers[row], self.log.bytes_per_bank[row]) == (event.buffer, event.bytes_per_bank):
                lost.remove(key)
                return key
        return -1

    def _lowest(self) -> int:
        return max(self.log.lowest_of(self.live, L1, otherwise=self.base + self.bank_bytes), self.base)

    def _watch(self, on_cores: OnCores, device_op: int, left_out_bytes: int = 0) -> None:
        if self.watch:
            marked = () if left_out_bytes else on_cores.mark
            self.fullest = Fullest(tuple(self.live.values()), marked, device_op, left_out_bytes)

    def _allocate(self, place: int, step: Step, index: int, event: MemoryEvent, *, taken: bool) -> None:
        key = event.key
        if key < 0:
            return
        if key in self.live:  # its end was not recorded
            self._close(key, inside(place))
        size, buffer = event.bytes_per_bank, event.buffer
        if buffer == L1 and self.small_from <= event.address and key < UNPLACED:
            buffer = L1_SMALL
        if taken and step.last[key] == index and key in self._shown:  # not freed again: the snapshot has its size
            shown, buffer = self._shown[key]
            self.differences.contradicted += -1 < size < shown
            size = max(size, shown)  # a graph counts whole pages as they are aligned, a snapshot what fills them
        if size < 0:
            size, recorded = self.shards.at(key, event.size_bytes) if self.shards and buffer == L1 else (0, False)
            if buffer == L1 and not recorded:
                self.differences.unsized += 1
        self._open(key, buffer, size, event.size_bytes, inside(place), recorded=True)

    def _make_way(self, place: int, step: Step) -> None:
        """End tensors at addresses that are given out again: without a snapshot nothing else tells of their end."""
        for event in step.events:
            if event.kind != "allocate" or not -1 < event.key < UNPLACED:
                continue
            for other, row in [*self.live.items()]:
                if other not in step.first and self._overlap(other, row, event.key, max(event.bytes_per_bank, 1)):
                    self.differences.went += 1
                    self._close(other, before(place))

    def _settle(self, place: int, step: Step) -> None:
        """Where the operation's last event of a buffer and the snapshot differ, the snapshot is right."""
        for key, index in step.last.items():
            live, shown = key in self.live, key in self._shown
            if live and not shown and key < UNPLACED:
                self.differences.contradicted += 1
                self._close(key, inside(place))
            elif shown and not live:
                self.differences.contradicted += 1
                size, buffer = self._shown[key]
                self._open(key, buffer, size, step.events[index].size_bytes, inside(place))

    def _open(self, key: int, buffer: int, size: int, whole: int, start: int, *, recorded: bool = False) -> None:
        self.live[key] = self.log.open(key, buffer, size, whole, start, recorded=recorded)
        self._now[buffer] += size

    def _close(self, key: int, end: int) -> None:
        row = self.live.pop(key)
        self.log.ends[row] = end
        self._now[self.log.buffers[row]] -= self.log.bytes_per_bank[row]

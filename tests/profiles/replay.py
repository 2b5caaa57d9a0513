"""What happens to memory as a program runs: addresses, live tensors, circular buffers, the true peak.

The allocator is the simplest that agrees with the real one's rules: every bank reserves the same bytes; L1 from
the top down, DRAM from the bottom up, first gap that fits. Circular buffers lie bottom-up from the first L1 address
while their op runs. What a reader must find can so be computed by hand, or asked of `Replay`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .model import BANK_ALIGNMENT, Call, CircularBuffer, DeviceOp, Tensor, core_ranges, round_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import CoreRange
    from .program import Program

FIRST_DRAM_ADDRESS = 1_920_032  # as real reports have it
DRAM_BANK_BYTES = 1 << 30


@dataclass(frozen=True)
class Event:
    """`kind`: op_start, allocate, cb_clear, cb, op_end, free."""

    kind: str
    op: DeviceOp | None = None
    tensor: Tensor | None = None
    buffer: CircularBuffer | None = None
    address: int = 0


@dataclass(frozen=True)
class Moment:
    """A device op at its fullest: its outputs and circular buffers exist, nothing of its call is freed yet."""

    call: Call
    op: DeviceOp
    tensors_bytes: int  # per bank, of all tensors in L1
    circular_buffers_bytes: int  # of the fullest core; those over a tensor not counted
    live: tuple[Tensor, ...]

    @property
    def bytes_per_bank(self) -> int:
        return self.tensors_bytes + self.circular_buffers_bytes


@dataclass
class _Bank:
    """Occupied stretches of one buffer type; the same in all banks."""

    bottom: int
    top: int
    downwards: bool
    taken: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def allocate(self, size: int) -> int:
        size = round_up(size, BANK_ALIGNMENT)
        edges = [self.bottom, *(edge for stretch in self.taken for edge in stretch), self.top]
        gaps = list(zip(edges[::2], edges[1::2], strict=True))
        for start, end in reversed(gaps) if self.downwards else gaps:
            if end - start >= size:
                address = end - size if self.downwards else start
                self.taken.append((address, address + size))
                self.taken.sort()
                return address
        raise MemoryError(f"the made program does not fit: {size} bytes per bank wanted")

    def free(self, address: int) -> None:
        self.taken = [stretch for stretch in self.taken if stretch[0] != address]


class Replay:
    """The memory side of a program. L1 figures are bytes per bank."""

    def __init__(self, program: Program) -> None:
        self.program = program
        device = program.device
        l1_top = device.worker_l1_bytes - program.l1_small_bytes
        self._banks = {
            "DRAM": _Bank(FIRST_DRAM_ADDRESS, DRAM_BANK_BYTES, downwards=False),
            "L1": _Bank(device.first_l1_address, l1_top, downwards=True),
            "L1_SMALL": _Bank(l1_top, device.worker_l1_bytes, downwards=False),
            "TRACE": _Bank(DRAM_BANK_BYTES, 2 * DRAM_BANK_BYTES, downwards=False),
        }
        self.l1_bank_bytes = l1_top - device.first_l1_address
        self.addresses: dict[Tensor, int] = {}
        self.events: dict[Call, list[Event]] = {}
        self.after: dict[Call, list[Tensor]] = {}  # live tensors when the call has returned, oldest first
        self.moments: list[Moment] = []
        self.freed_by: dict[Tensor, Call] = {}
        self._live: dict[Tensor, None] = {}
        self._bank_bytes: dict[Tensor, int] = {}
        self._aliases: dict[Tensor, list[Tensor]] = {}
        for tensor in program.tensors:
            if tensor.alias_of is not None:
                self._aliases.setdefault(tensor.alias_of, []).append(tensor)
        self._last_uses = {t: c for c in program.calls if "deallocate" not in c.name for t in c.inputs}
        self._run()

    def banks_of(self, tensor: Tensor) -> int:
        return self.program.device.dram_banks if tensor.is_in("DRAM") else self.program.device.cores

    def bank_bytes(self, tensor: Tensor) -> int:
        if tensor not in self._bank_bytes:  # asked for all that is live, at every op
            self._bank_bytes[tensor] = tensor.bank_bytes(self.banks_of(tensor))
        return self._bank_bytes[tensor]

    def last_use(self, tensor: Tensor) -> Call | None:
        """The last call that reads it, deallocation apart."""
        return self._last_uses.get(tensor)

    def late_frees(self) -> list[tuple[Tensor, Call, Call | None]]:
        """L1 tensors that outlive their last use by a call that starts a device op: (tensor, last use, freed by)."""
        late: list[tuple[Tensor, Call, Call | None]] = []
        for tensor in self.program.tensors:
            used, freed = self.last_use(tensor), self.freed_by.get(tensor)
            if used is None or not tensor.is_in("L1"):
                continue
            between = self.program.calls[used.id : freed.id - 1 if freed else None]
            if any(call.ops for call in between):
                late.append((tensor, used, freed))
        return late

    def l1_peak(self) -> Moment:
        return max(self.moments, key=lambda moment: moment.bytes_per_bank)

    def l1_tensor_bytes(self, live: Iterable[Tensor]) -> int:
        return sum(self.bank_bytes(t) for t in live if t.is_in("L1") and t.alias_of is None)

    def _run(self) -> None:
        made = {id(t) for call in self.program.calls for t in (*call.outputs, *call.intermediates)}
        for tensor in self.program.tensors:
            if id(tensor) not in made:
                self._allocate(tensor)
        for call in self.program.calls:
            self.events[call] = list(self._run_call(call))
            self.after[call] = list(self._live)

    def _run_call(self, call: Call) -> Iterable[Event]:
        readers = {t: op for op in call.ops for t in op.inputs}
        for op in call.ops:
            yield Event("op_start", op)
            for tensor in op.outputs:
                yield from self._allocate(tensor)
            yield Event("cb_clear", op)
            reached = self._reached = defaultdict[tuple[int, int], int](
                lambda: self.program.device.first_l1_address
            )
            for buffer in op.circular_buffers:
                if buffer.over:
                    yield Event("cb", op, buffer=buffer, address=self.addresses.get(buffer.over, 0))
                    continue
                cores = [
                    (x, y)
                    for x0, y0, x1, y1 in self.grid_of(op, buffer)
                    for x in range(x0, x1 + 1)
                    for y in range(y0, y1 + 1)
                ]
                address = max(reached[core] for core in cores)  # above the tallest core it lies on: program.cpp
                yield Event("cb", op, buffer=buffer, address=address)
                reached.update(dict.fromkeys(cores, address + buffer.bytes))
            self.moments.append(self._moment(call, op))
            yield Event("op_end", op)
            for tensor in (*call.intermediates, *call.frees):
                if readers.get(tensor) is op:
                    yield from self._free(tensor, call)
        for tensor in call.outputs:
            yield from self._allocate(tensor)
        for tensor in call.frees:
            if tensor not in readers:
                yield from self._free(tensor, call)

    def _allocate(self, tensor: Tensor) -> list[Event]:
        if tensor.placement is None or tensor in self.addresses:
            return []
        if tensor.alias_of is not None:
            self.addresses[tensor] = self.addresses[tensor.alias_of]
            return []
        bank = self._banks[tensor.placement.buffer]
        self.addresses[tensor] = bank.allocate(self.bank_bytes(tensor))
        self._live[tensor] = None
        return [Event("allocate", tensor=tensor, address=self.addresses[tensor])]

    def _free(self, tensor: Tensor, call: Call) -> list[Event]:
        owner = tensor.alias_of or tensor
        for same in (owner, *self._aliases.get(owner, ())):
            self.freed_by[same] = call
        if owner not in self._live or owner.placement is None:
            return []
        del self._live[owner]
        self._banks[owner.placement.buffer].free(self.addresses[owner])
        return [Event("free", tensor=owner, address=self.addresses[owner])]

    def grid_of(self, op: DeviceOp, buffer: CircularBuffer) -> tuple[CoreRange, ...]:
        """The cores a circular buffer lies on: its own, else the op's."""
        if buffer.grid is not None:
            return buffer.grid
        grids = [t.placement.grid for t in (*op.outputs, *op.inputs) if t.placement and t.placement.grid]
        if grids and op.cores is None:
            return grids[0]
        columns, rows = self.program.device.grid
        return core_ranges((columns, rows)) if op.cores is None else core_ranges(op.cores, columns)

    def _moment(self, call: Call, op: DeviceOp) -> Moment:
        live, base = tuple(self._live), self.program.device.first_l1_address
        reach = max(self._reached.values(), default=base) - base
        return Moment(call, op, self.l1_tensor_bytes(live), reach, live)

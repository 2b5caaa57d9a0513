"""When each row of the performance report happened: cycles on the device, nanoseconds on the host.

Exact on purpose, so that a test can compute what a reader must find: per device, the kernel of op i starts
`gap_ns` after the kernel of op i-1 ended and lasts `kernel_ns`; firmware starts FW_LEAD_NS earlier and ends
FW_TAIL_NS later, so firmware windows overlap where a gap is shorter than the two together, as they do in life.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from .text import attributes_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .model import Call, DeviceOp
    from .program import Program

FW_LEAD_NS = 520
FW_TAIL_NS = 280
FIRST_CYCLE = 14_168_404_359_928
FIRST_HOST_NS = 5_000_000_000
LAUNCH_HOST_NS = 4_500  # host time to launch an op whose program is cached


@dataclass(frozen=True)
class Iteration:
    """One pass over the program. `cold` compiles each program it meets first, before the op that needs it."""

    cold: bool = False
    signposts: tuple[str, str] | None = None
    capture: bool = False  # records a trace: rows without device columns, as nothing ran
    trace: tuple[int, int] | None = None  # (trace id, replay session), replays of the captured iteration
    before_ns: int = 3_000_000  # gap of the first op: input upload and Python
    host_rows: Sequence[str] = ()  # python_fallback rows before the first op
    kernel_scale: float = 1.0


@dataclass(frozen=True)
class Row:
    """One line of the CSV. `kind`: device, captured, host, signpost."""

    kind: str
    name: str
    host_start_ns: int
    host_ns: int = 0
    op: DeviceOp | None = None
    call: Call | None = None
    device: int = 0
    runtime_id: int = 0
    kernel_start: int = 0  # cycles
    kernel_end: int = 0
    fw_start: int = 0
    fw_end: int = 0
    kernel_ns: int = 0
    gap_ns: int = 0  # as written: 0 for the first op of a device
    fw_gap_ns: int = 0  # firmware end to firmware start, what 2024 reports print
    trace: tuple[int, int] | None = None
    compiled: bool = False
    text: str = ""  # a signpost's second line


def program_hash(op: DeviceOp) -> int:
    if op.program_hash is not None:
        return op.program_hash
    operands = [(t.shape, t.dtype, t.layout, t.placement) for t in (*op.inputs, *op.outputs)]
    text = f"{op.op_code}|{attributes_text(op.attributes, '2026')}|{operands}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def compile_ns(op: DeviceOp) -> int:
    """25 to 425 ms, the same for the same program."""
    return op.compile_ns if op.compile_ns is not None else 25_000_000 + program_hash(op) % 400_000_000


class _Clock:
    """What has happened so far: the host's time, each device's last kernel end, the programs compiled."""

    def __init__(self, program: Program) -> None:
        self.ghz = program.device.clock_ghz
        self.host_ns = FIRST_HOST_NS
        self.runtime_id = 0
        self.compiled: set[int] = set()
        self.kernel_end: dict[int, int] = {}
        self.fw_end: dict[int, int] = {}

    def host(self, wanted: int = 0) -> int:
        """The host start of the next row: when wanted, never before the row above."""
        start = max(self.host_ns + 100, wanted)
        self.host_ns = start
        return start


def _each(value: int | Sequence[int], device: int) -> int:
    return value if isinstance(value, int) else value[device]


def _first_cycle(device: int) -> int:
    return FIRST_CYCLE + device * 515_000_000_000  # devices count from their own reset


def timeline(program: Program, iterations: Iterable[Iteration]) -> list[Row]:
    """The rows in the order of the file: by host start."""
    clock = _Clock(program)
    rows: list[Row] = []
    captured: list[int] = []
    for iteration in iterations:
        opening, closing = iteration.signposts or (None, None)
        if opening:
            rows.append(_signpost(opening, clock))
        for name in iteration.host_rows:
            clock.runtime_id += 1
            start = clock.host()
            rows.append(Row("host", name, start, 14_353, runtime_id=clock.runtime_id))
        ids: list[int] = []
        position = 0
        for call in program.calls:
            for op in call.ops:
                if iteration.trace is None:
                    clock.runtime_id += 1
                    runtime_id = clock.runtime_id
                else:
                    runtime_id = captured[position]
                ids.append(runtime_id)
                rows += _op_rows(program, clock, iteration, call, op, runtime_id, first=position == 0)
                position += 1
        if iteration.capture:
            captured = ids
        if closing:
            rows.append(_signpost(closing, clock))
    return rows


def _signpost(message: str, clock: _Clock) -> Row:
    name, _, text = message.partition("\n")
    return Row("signpost", name, clock.host(), text=text)


def _op_rows(
    program: Program, clock: _Clock, iteration: Iteration, call: Call, op: DeviceOp, runtime_id: int, *, first: bool
) -> list[Row]:
    digest = program_hash(op)
    compiles = digest not in clock.compiled and iteration.cold
    clock.compiled.add(digest)
    rows: list[Row] = []
    for device in range(program.devices):
        if iteration.capture:
            start = clock.host()
            rows.append(Row("captured", op.op_code, start, LAUNCH_HOST_NS, op, call, device, runtime_id))
            continue
        is_first_of_device = device not in clock.kernel_end
        gap = _each(op.gap_ns, device)
        if compiles:
            gap += compile_ns(op)
        elif first and not is_first_of_device:
            gap = iteration.before_ns
        previous = clock.kernel_end.get(device, _first_cycle(device))
        kernel_ns = round(_each(op.kernel_ns, device) * iteration.kernel_scale)
        kernel_start = previous if is_first_of_device else previous + round(gap * clock.ghz)
        kernel_end = kernel_start + round(kernel_ns * clock.ghz)
        fw_start = kernel_start - round(FW_LEAD_NS * clock.ghz)
        fw_end = kernel_end + round(FW_TAIL_NS * clock.ghz)
        host_ns = round(gap * 0.9) if compiles and device == 0 and not is_first_of_device else LAUNCH_HOST_NS
        since_first = round((kernel_start - _first_cycle(device)) / clock.ghz)
        host_start = clock.host(FIRST_HOST_NS + 1_000_000 + since_first - host_ns)
        fw_gap = 0 if is_first_of_device else round((fw_start - clock.fw_end[device]) / clock.ghz)
        rows.append(
            Row(
                "device",
                op.op_code,
                host_start,
                host_ns,
                op,
                call,
                device,
                runtime_id,
                kernel_start=kernel_start,
                kernel_end=kernel_end,
                fw_start=fw_start,
                fw_end=fw_end,
                kernel_ns=kernel_ns,
                gap_ns=0 if is_first_of_device else gap,
                fw_gap_ns=fw_gap,
                trace=iteration.trace,
                compiled=compiles,
            )  # fmt: skip
        )
        clock.kernel_end[device] = kernel_end
        clock.fw_end[device] = fw_end
    return rows

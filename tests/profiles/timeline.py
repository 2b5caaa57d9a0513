"""When each row of the performance report happened: cycles on the device, nanoseconds on the host.

Exact on purpose, so that a test can compute what a reader must find: per device, the kernel of op i starts
`gap_ns` after the kernel of op i-1 ended and lasts `kernel_ns`; firmware starts FW_LEAD_NS earlier and ends
FW_TAIL_NS later, so firmware windows overlap where a gap is shorter than the two together, as they do in life.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

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
    digest: int = 0  # the program's hash
    text: str = ""  # a signpost's second line


def program_hash(op: DeviceOp) -> int:
    if op.program_hash is not None:
        return op.program_hash
    operands = [(t.shape, t.dtype, t.layout, t.placement) for t in (*op.inputs, *op.outputs)]
    text = f"{op.op_code}|{attributes_text(op.attributes, '2026')}|{operands}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def compile_ns(op: DeviceOp, digest: int) -> int:
    """25 to 425 ms, the same for the same program."""
    return op.compile_ns if op.compile_ns is not None else 25_000_000 + digest % 400_000_000


def timeline(program: Program, iterations: Iterable[Iteration]) -> list[Row]:
    """The rows in the order of the file: by host start."""
    run = _Run(program)
    for iteration in iterations:
        run.pass_over(iteration)
    return run.rows


def _each(value: int | Sequence[int], device: int) -> int:
    return value if isinstance(value, int) else value[device]


def _first_cycle(device: int) -> int:
    return FIRST_CYCLE + device * 515_000_000_000  # devices count from their own reset


class _Run:
    """What has happened so far: the host's time, each device's last op, the programs compiled."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows: list[Row] = []
        self._host_ns = FIRST_HOST_NS
        self._runtime_id = 0
        self._captured: list[int] = []
        self._compiled: set[int] = set()
        self._last: dict[int, Row] = {}
        self._digests: dict[int, int] = {}  # by the id of the op

    def pass_over(self, iteration: Iteration) -> None:
        opening, closing = iteration.signposts or (None, None)
        if opening:
            self._signpost(opening)
        for name in iteration.host_rows:
            self._runtime_id += 1
            self.rows.append(Row("host", name, self._host(), 14_353, runtime_id=self._runtime_id))
        launched: list[int] = []
        for call in self.program.calls:
            for op in call.ops:
                if iteration.trace is None:
                    self._runtime_id += 1
                    launched.append(self._runtime_id)
                else:
                    launched.append(self._captured[len(launched)])
                self._launch(iteration, call, op, runtime_id=launched[-1], first=len(launched) == 1)
        if iteration.capture:
            self._captured = launched
        if closing:
            self._signpost(closing)

    def _host(self, wanted: int = 0) -> int:
        """The host start of the next row: when wanted, never before the row above."""
        self._host_ns = max(self._host_ns + 100, wanted)
        return self._host_ns

    def _signpost(self, message: str) -> None:
        name, _, text = message.partition("\n")
        self.rows.append(Row("signpost", name, self._host(), text=text))

    def _launch(self, iteration: Iteration, call: Call, op: DeviceOp, *, runtime_id: int, first: bool) -> None:
        if id(op) not in self._digests:
            self._digests[id(op)] = program_hash(op)
        digest = self._digests[id(op)]
        compiles = digest not in self._compiled and iteration.cold
        self._compiled.add(digest)
        for device in range(self.program.devices):
            ran = {
                "name": op.op_code, "op": op, "call": call, "device": device,
                "runtime_id": runtime_id, "digest": digest,
            }  # fmt: skip
            if iteration.capture:
                self.rows.append(Row("captured", host_start_ns=self._host(), host_ns=LAUNCH_HOST_NS, **ran))
                continue
            gap = _each(op.gap_ns, device)
            if compiles:
                gap += compile_ns(op, digest)
            elif first:
                gap = iteration.before_ns
            self._last[device] = Row("device", **ran, **self._times(op, device, iteration, gap, compiles=compiles))
            self.rows.append(self._last[device])

    def _times(
        self, op: DeviceOp, device: int, iteration: Iteration, gap: int, *, compiles: bool
    ) -> dict[str, Any]:
        ghz, last = self.program.device.clock_ghz, self._last.get(device)
        kernel_ns = round(_each(op.kernel_ns, device) * iteration.kernel_scale)
        start = last.kernel_end + round(gap * ghz) if last else _first_cycle(device)
        end = start + round(kernel_ns * ghz)
        fw_start, fw_end = start - round(FW_LEAD_NS * ghz), end + round(FW_TAIL_NS * ghz)
        host_ns = round(gap * 0.9) if compiles and last and device == 0 else LAUNCH_HOST_NS
        since_first = round((start - _first_cycle(device)) / ghz)
        return {
            "host_start_ns": self._host(FIRST_HOST_NS + 1_000_000 + since_first - host_ns),
            "host_ns": host_ns,
            "kernel_start": start,
            "kernel_end": end,
            "fw_start": fw_start,
            "fw_end": fw_end,
            "kernel_ns": kernel_ns,
            "gap_ns": gap if last else 0,
            "fw_gap_ns": round((fw_start - last.fw_end) / ghz) if last else 0,
            "trace": iteration.trace,
            "compiled": compiles,
        }

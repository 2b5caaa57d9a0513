"""Programs on several devices: collectives whose payload is known, work that is uneven, devices that lost rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.checks.rows import pass_time, put
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, unary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.profiles import Tensor

PAYLOAD = 3 * 1024 * 1024 * 2  # bytes each of 4 devices sends: three quarters of 1024 x 4096 in BFLOAT16


@dataclass
class Gather:
    """All-gather of 0.25 N tensors of 2 MB each over N = 4 devices: 6.3 MB per device."""

    kernel_ns: int | Sequence[int] = 200_000
    links: int | None = 2
    topology: str = "Linear"
    persistent: bool = True
    ring_size: int = 4
    kind: str = "AllGatherAsync"

    def put(self, program: Program, x: Tensor | None = None, **attributes: object) -> Tensor:
        x = x or program.tensor([1, 1, 1024, 1024])
        out = program.tensor([1, 1, 1024, 4096])
        op = collective(self.kind, x, out, self.kernel_ns, ring_size=self.ring_size, links=self.links or 0)
        op.attributes = {
            **op.attributes,
            "num_links": self.links,
            "topology": f"Topology::{self.topology}",
            "using_persistent_buffers": self.persistent,
            **attributes,
        }
        return put(program, op)


def mesh(arch: str = "blackhole", devices: int = 4) -> Program:
    return Program(arch, devices=devices)


def with_gather(rest_ns: float = 0, *, arch: str = "blackhole", **change: object) -> Program:
    """A gather with something changed, and the rest of the window."""
    program = mesh(arch)
    Gather(**change).put(program)
    if rest_ns:
        pass_time(program, rest_ns)
    return program


def attention(program: Program, kernel_ns: int | Sequence[int], **attributes: object) -> Tensor:
    x, y = program.tensor([1, 8, 1024, 64]), program.tensor([1, 8, 1024, 64])
    op = DeviceOp(
        "RingJointSDPADeviceOperation", (x, x, x), (y,), kernel_ns, attributes=attributes, fidelity="HiFi2"
    )
    return put(program, op)


def uneven(program: Program, kernel_ns: Sequence[int], width: int = 256, kind: str = "Unary") -> None:
    """An element-wise op that takes another time on each device."""
    x, y = program.tensor([1, 1, 128, width]), program.tensor([1, 1, 128, width])
    put(program, unary("RELU", x, y, 0))
    program.device_ops[-1].kernel_ns = kernel_ns
    program.device_ops[-1].op_code = f"{kind}DeviceOperation"


def with_lost_rows(folder: Path) -> Path:
    """Four devices that ran a gather and an attention, of which the last device's was dropped."""
    program = mesh()
    Gather().put(program)
    attention(program, [100_000] * 4)
    rows = performance_rows(program, [Iteration()])
    rows = [row for row in rows if row is not rows[-1]]
    return write_rows(folder / "ops_perf_results_1.csv", rows, header_of(rows, "C7"))


def with_other_ops(folder: Path) -> Path:
    """Two devices that ran one op each, and not the same one."""
    program = mesh(devices=2)
    Gather([300_000, 300_000], ring_size=2).put(program)
    rows = performance_rows(program, [Iteration()])
    rows[1]["OP CODE"] = "TanhDeviceOperation"
    return write_rows(folder / "ops_perf_results_1.csv", rows, header_of(rows, "C7"))

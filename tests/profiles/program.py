"""Describe a run call by call; the writers turn the description into reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .model import DRAM, Attribute, Call, CircularBuffer, DeviceOp, Placement, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Device:
    """Wormhole's figures are from tt-metal's own test report; Blackhole's first L1 address is a guess."""

    arch: str
    clock_ghz: float
    grid: tuple[int, int]  # columns, rows of worker cores
    worker_l1_bytes: int
    first_l1_address: int
    dram_banks: int
    board: str

    @property
    def cores(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def cb_limit(self) -> int:
        return self.worker_l1_bytes - self.first_l1_address


DEVICES = {
    "wormhole_b0": Device("wormhole_b0", 1.0, (8, 8), 1_499_136, 103_712, 12, "n150"),
    "blackhole": Device("blackhole", 1.35, (11, 10), 1_572_864, 109_696, 8, "p150"),
    "grayskull": Device("grayskull", 1.2, (12, 9), 1_048_576, 107_616, 8, "e150"),
}
UNCHANGED = object()


class Program:
    """A model's run: `tensor` before it, `call` or `op` and `free` in order. Ids count from 1."""

    def __init__(
        self,
        arch: str = "wormhole_b0",
        *,
        grid: tuple[int, int] | None = None,
        clock_ghz: float | None = None,
        devices: int = 1,
        l1_small_bytes: int = 24_576,
        source: Sequence[str] = ("import ttnn", "", "", "def forward(x):"),
        source_path: str = "/home/user/tt-metal/models/made/model.py",
        device_object: int = 0,
    ) -> None:
        base = DEVICES[arch]
        self.device = Device(
            arch,
            clock_ghz or base.clock_ghz,
            grid or base.grid,
            base.worker_l1_bytes,
            base.first_l1_address,
            base.dram_banks,
            base.board,
        )
        self.devices = devices
        self.l1_small_bytes = l1_small_bytes
        self.device_object = device_object  # the m of DEV_<m>_..., which is not the device id
        self.source_path = source_path
        self.source = list(source)
        self.tensors: list[Tensor] = []
        self.calls: list[Call] = []

    @property
    def device_ops(self) -> list[DeviceOp]:
        return [op for call in self.calls for op in call.ops]

    def write(self, *lines: str) -> None:
        """Add lines to the model's source text."""
        self.source.extend(lines)

    def tensor(
        self,
        shape: Sequence[int],
        dtype: str = "BFLOAT16",
        layout: str = "TILE",
        placement: Placement | None = DRAM,
        *,
        padded: Sequence[int] | None = None,
        alias_of: Tensor | None = None,
    ) -> Tensor:
        """A new tensor; it exists before the run unless a call or op has it among its outputs."""
        tensor = Tensor(
            len(self.tensors) + 1,
            tuple(shape),
            dtype,
            layout,
            placement,
            tuple(padded) if padded else None,
            alias_of,
        )
        self.tensors.append(tensor)
        return tensor

    def weight(self, shape: Sequence[int], dtype: str = "BFLOAT16", layout: str = "TILE") -> Tensor:
        return self.tensor(shape, dtype, layout)

    def call(
        self,
        name: str,
        inputs: Sequence[Tensor] = (),
        outputs: Sequence[Tensor] = (),
        ops: Sequence[DeviceOp] = (),
        *,
        arguments: Mapping[str, Attribute] | None = None,
        code: str | None = None,
        seconds: float | None = 0.001,
        frees: Sequence[Tensor] = (),
    ) -> Call:
        """One ttnn call; its line in the model is the next line of the source, `code`."""
        text = code or f"x = {name}(x)"
        self.write(*(f"    {line}" for line in text.split("\n")))
        line = len(self.source) - text.count("\n")
        call = Call(
            len(self.calls) + 1,
            name,
            tuple(inputs),
            tuple(outputs),
            tuple(ops),
            arguments or {},
            self.source_path,
            line,
            text.split("\n")[0],
            seconds,
            tuple(frees),
        )
        self.calls.append(call)
        return call

    def op(
        self,
        op_code: str,
        inputs: Sequence[Tensor],
        *,
        call: str = "ttnn.made_up",
        shape: Sequence[int] | None = None,
        dtype: str | None = None,
        layout: str | None = None,
        placement: Placement | object | None = UNCHANGED,
        frees: Sequence[Tensor] = (),
        arguments: Mapping[str, Attribute] | None = None,
        code: str | None = None,
        seconds: float = 0.001,
        kernel_ns: int | Sequence[int] = 10_000,
        gap_ns: int | Sequence[int] = 1_500,
        cores: int | None = None,
        fidelity: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        circular_buffers: Sequence[CircularBuffer] = (),
        pm_ns: tuple[int, int, int] = (1, 1, 1),
        risc_ns: Mapping[str, int] | None = None,
    ) -> Tensor:
        """One call that starts one device op; the output is like the first input except for what is given."""
        first = inputs[0]
        where = placement if isinstance(placement, Placement) or placement is None else first.placement
        output = self.tensor(shape or first.shape, dtype or first.dtype, layout or first.layout, where)
        op = DeviceOp(
            op_code,
            tuple(inputs),
            (output,),
            kernel_ns,
            gap_ns,
            cores,
            fidelity,
            attributes or {},
            circular_buffers,
            pm_ns=pm_ns,
            risc_ns=risc_ns or {},
        )
        self.call(call, inputs, (output,), (op,), arguments=arguments, code=code, seconds=seconds, frees=frees)
        return output

    def free(self, tensor: Tensor, *, code: str | None = None) -> Call:
        """`ttnn.deallocate`: an operation of its own, without a device op."""
        return self.call(
            "ttnn.deallocate", (tensor,), arguments={"tensor": tensor}, code=code or "ttnn.deallocate(x)",
            seconds=2e-05, frees=(tensor,),
        )  # fmt: skip

    def drop(self, tensor: Tensor) -> Call:
        """Its last Python name is gone: the importer makes up a `ttnn::deallocate` that names no tensor."""
        line = len(self.source)
        call = Call(
            len(self.calls) + 1, "ttnn::deallocate", (), (), (), {}, self.source_path, line, self.source[-1].strip(),
            0.0, (tensor,),
        )  # fmt: skip
        self.calls.append(call)
        return call

    def fail(self, message: str) -> None:
        """The last call started and never finished; `message` is what it died of."""
        self.calls[-1].seconds = None
        self.calls[-1].error = message

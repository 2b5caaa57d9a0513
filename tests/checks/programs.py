"""Programs in which a check of step 1 or 2 must fire; `change` is what a near miss changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.checks.rows import put
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.conv import Window, conv2d
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul, tilize, unary, untilize

if TYPE_CHECKING:
    from tests.profiles import Placement, Tensor

WIDE, NARROW = "BFLOAT16", "BFLOAT8_B"


def linear(
    program: Program,
    m: int,
    k: int,
    n: int,
    kernel_ns: int,
    *,
    weights: str = WIDE,
    activations: str = WIDE,
    output: str | None = None,
    fidelity: str = "HiFi2",
    where: Placement = DRAM,
    **how: object,
) -> Tensor:
    x = program.tensor([1, 1, m, k], activations)
    w = program.tensor([1, 1, k, n], weights, placement=where)
    y = program.tensor([1, 1, m, n], output or activations)
    return put(program, matmul(x, w, y, kernel_ns, fidelity=fidelity, **how))


def decode(program: Program, **change: object) -> None:
    """33.5 MB of weights: 140 us at 240 GB/s, 74 us in BFLOAT8_B."""
    linear(program, 32, 4096, 4096, 300_000, **change)


def prefill(program: Program, **change: object) -> None:
    """137 GFLOP: 2.1 ms at HiFi4 on 64 cores, 0.2 ms of DRAM traffic."""
    how = {"kernel_ns": 4_000_000, "weights": NARROW, "fidelity": "HiFi4", **change}
    linear(program, 4096, 4096, 4096, **how)


def conv(program: Program, *, fidelity: str = "HiFi4", weights: str = NARROW, blocks: int = 3) -> DeviceOp:
    """A 3x3 conv of 56 x 56 x 64 with a bias; `blocks` along K (3: one per row of the kernel)."""
    x = program.tensor([1, 1, 3944, 64], layout="ROW_MAJOR", placement=height_sharded(62, 64, (8, 8)))
    w, bias = program.weight([1, 1, 192 * blocks, 64], weights), program.weight([1, 1, 1, 64], weights)
    y = program.tensor([1, 1, 3136, 64], NARROW, placement=height_sharded(64, 64, 49))
    window = Window((56, 56), (3, 3), padding=1)
    op = conv2d(x, w, bias, y, window=window, kernel_ns=20_000, in_channels=64, act_block_h=1, fidelity=fidelity)
    put(program, op)
    return op


def configured(
    program: Program, *, fp32: int = 0, packer: int = 1, subblock: tuple[int, int] = (1, 4), n: int = 4096,
    per_core: tuple[int, int] = (16, 16),
) -> None:  # fmt: skip
    """A compute-bound matmul whose ATTRIBUTES say how it accumulates and what its subblock is."""
    config = (
        "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=4,"
        f"out_subblock_h={subblock[0]},out_subblock_w={subblock[1]},"
        f"per_core_M={per_core[0]},per_core_N={per_core[1]})"
    )
    x, w = program.tensor([1, 1, 4096, 4096]), program.weight([1, 1, 4096, n], NARROW)
    y = program.tensor([1, 1, 4096, n])
    op = matmul(x, w, y, 4_000_000, program_config=config)
    said = dict(op.attributes)
    kernel = str(said["compute_kernel_config"])
    kernel = kernel.replace("fp32_dest_acc_en=0", f"fp32_dest_acc_en={fp32}")
    said["compute_kernel_config"] = kernel.replace("packer_l1_acc=1", f"packer_l1_acc={packer}")
    op.attributes = said
    put(program, op)


def scaled(
    program: Program, *, dtype: str = WIDE, layout: str = "TILE", kernel_ns: int = 250_000, kind: str = "MUL"
) -> None:
    """A multiply of 16.8 M elements by a row: 67 MB, 280 us at 240 GB/s."""
    a = program.tensor([1, 1, 4096, 4096], dtype, layout)
    b = program.tensor([1, 1, 4096, 4096] if kind == "ADD" else [1, 1, 1, 4096], dtype, layout)
    put(program, binary(kind, a, b, program.tensor([1, 1, 4096, 4096], dtype, layout), kernel_ns))


def cast(program: Program, x: Tensor, dtype: str, kernel_ns: int = 20_000) -> Tensor:
    y = program.tensor(x.shape, dtype, x.layout, x.placement)
    return put(program, DeviceOp("TypecastDeviceOperation", (x,), (y,), kernel_ns, fidelity="HiFi4"))


def relu(program: Program, x: Tensor, dtype: str | None = None) -> Tensor:
    return put(program, unary("RELU", x, program.tensor(x.shape, dtype or x.dtype, x.layout, x.placement), 5_000))


def to_rows(program: Program, x: Tensor, kernel_ns: int = 30_000, placement: Placement | None = None) -> Tensor:
    y = program.tensor(x.shape, WIDE, "ROW_MAJOR", placement or x.placement)
    return put(program, untilize(x, y, kernel_ns))


def to_tiles(program: Program, x: Tensor, kernel_ns: int = 40_000, dtype: str = WIDE) -> Tensor:
    return put(program, tilize(x, program.tensor(x.shape, dtype, "TILE", x.placement), kernel_ns))


def reshape(
    program: Program, before: list[int], after: list[int], *, layout: str = "TILE", kernel_ns: int = 50_000
) -> None:
    x, y = program.tensor(before, layout=layout), program.tensor(after, layout=layout)
    put(program, DeviceOp("ReshapeViewDeviceOperation", (x,), (y,), kernel_ns))


__all__ = ["DRAM", "L1", "NARROW", "WIDE"]

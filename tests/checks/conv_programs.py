"""Convs of any shard layout for checks that read their ATTRIBUTES; sizes in tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.checks.rows import put
from tests.profiles import DRAM, Program, block_sharded, height_sharded, width_sharded
from tests.profiles.conv import Window, move
from tests.profiles.conv import halo as halo_op
from tests.profiles.model import Attribute, DeviceOp
from tests.profiles.ops import interleaved_to_sharded, unary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

TUNED = {"block": (8, 6), "weights_double": True}  # nothing left that a check of step 6 could ask for
SHARDED = {"HEIGHT": height_sharded, "BLOCK": block_sharded, "WIDTH": width_sharded}


@dataclass(frozen=True)
class Conv:
    """By default 64 cores with 8 x 2 tiles of output each, in 4 blocks; 3 x 3 window, 64 channels."""

    layout: str = "HEIGHT"
    grid: tuple[int, int] = (8, 8)
    channel_cores: int = 1
    per_core: tuple[int, int] = (8, 2)
    block: tuple[int, int] = (2, 6)
    inner: int = 18
    kernel: int = 3
    act_double: bool = False
    weights_double: bool = False
    activation: str | None = None
    allocated: int | None = 100_000
    weights: str = "BFLOAT8_B"
    out: str = "BFLOAT8_B"
    fidelity: str = "HiFi2"
    kernel_ns: int = 100_000
    legacy: bool = False
    window: str = ""  # further fields of the window, as printed
    more: tuple[tuple[str, Attribute], ...] = ()  # further attributes

    @property
    def cores(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def rows(self) -> int:
        """Of the output, in elements."""
        return 32 * self.per_core[0] * self.cores // self.channel_cores

    @property
    def columns(self) -> int:
        return 32 * self.per_core[1] * self.channel_cores

    def placed(self, rows: int, columns: int) -> Placement:
        return SHARDED[self.layout](rows, columns, self.grid)

    def attributes(self) -> dict[str, Attribute]:
        down, across = self.cores // self.channel_cores, self.channel_cores
        prefix = "OptimizedConv" if self.legacy else "Conv2d"
        (height, width), unit = self.per_core, "" if self.legacy else "_ntile"
        side = 32 if self.legacy else 1  # elements before 2025-03
        sizes = [
            f"per_core_out_matrix_height{unit}={height * side}",
            f"per_core_out_matrix_width{unit}={width * side}",
        ]
        channels = f"num_cores_c={across}" if self.legacy else f"num_cores_c_in={across},num_cores_c_out={across}"
        said: dict[str, Attribute] = {
            "activation": f"UnaryWithParam(op_type=UnaryOpType::{self.activation})" if self.activation else None,
            "block_config": (
                f"{prefix}BlockConfig(act_block_h_ntiles={self.block[0]},act_block_w_ntiles={self.block[1]},"
                "out_subblock_h_ntiles=1,out_subblock_w_ntiles=2)"
            ),
            "compute_kernel_config": "WormholeComputeKernelConfig(fp32_dest_acc_en=0,packer_l1_acc=0)",
            "dtype": f"DataType::{self.out}",
            "enable_act_double_buffer": self.act_double,
            "enable_weights_double_buffer": self.weights_double,
            "has_bias": False,
            "memory_config": self.placed(32 * self.per_core[0], 32 * self.per_core[1]),
            "parallelization_config": (
                f"{prefix}ParallelizationConfig(grid_size=(x={self.grid[0]},y={self.grid[1]}),num_cores_nhw={down},"
                f"{channels},{','.join(sizes)})"
            ),
            "sliding_window_config": (
                f"SlidingWindowConfig(batch_size=1, window_hw=({self.kernel},{self.kernel}){self.window})"
            ),
            "untilize_out": False,
            **dict(self.more),
        }
        if self.allocated is not None:
            said["pre_op_l1_allocation_size_bytes"] = self.allocated
        return said


ROOMY = Conv(block=(8, 6))  # all its rows in one block
SHARDS, OTHER_SHARDS = height_sharded(256, 64, (8, 8)), height_sharded(512, 64, (8, 4))


def halo_output(program: Program, conv: Conv = Conv()) -> Tensor:
    """What a conv takes: a few rows more than the output, row major."""
    rows = conv.rows + 128
    return program.tensor([1, 1, rows, 64], layout="ROW_MAJOR", placement=conv.placed(rows // conv.cores, 64))


def put_conv(program: Program, conv: Conv = Conv(), x: Tensor | None = None, **change: object) -> Tensor:
    """A conv with something changed; its output."""
    conv = replace(conv, **change)
    source = x or halo_output(program, conv)
    weight = program.weight([1, 1, 32 * conv.inner, conv.columns], conv.weights)
    out = program.tensor(
        [1, 1, conv.rows, conv.columns],
        conv.out,
        placement=conv.placed(32 * conv.per_core[0], 32 * conv.per_core[1]),
    )
    return put(
        program,
        DeviceOp(
            "OptimizedConvNew" if conv.legacy else "Conv2dDeviceOperation",
            (source, weight),
            (out,),
            conv.kernel_ns,
            cores=conv.cores,
            fidelity=conv.fidelity,
            attributes=conv.attributes(),
        ),
    )


def put_halo(program: Program, x: Tensor, conv: Conv = Conv(), kernel_ns: int = 5_000) -> Tensor:
    return put(program, halo_op(x, halo_output(program, conv), Window((64, 64), (3, 3), padding=1), kernel_ns))


def relu(
    program: Program, x: Tensor, kernel_ns: int = 20_000, kind: str = "RELU", dtype: str | None = None
) -> Tensor:
    out = program.tensor(x.shape, dtype or x.dtype, placement=x.placement)
    return put(program, unary(kind, x, out, kernel_ns))


def row_major(program: Program, placement: Placement = DRAM, height: int = 16_384) -> Tensor:
    """64 channels as halo takes them."""
    return program.tensor([1, 1, height, 64], layout="ROW_MAJOR", placement=placement)


def into_shards(program: Program, x: Tensor, kernel_ns: int = 40_000) -> Tensor:
    return put(program, interleaved_to_sharded(x, row_major(program, SHARDS), kernel_ns))


def moved(program: Program, x: Tensor, kernel_ns: int = 30_000) -> Tensor:
    return put(program, move(x, program.tensor(x.shape, x.dtype, "ROW_MAJOR", x.placement), kernel_ns))


def with_all(*parts: Callable[[Program], None]) -> Program:
    program = Program("wormhole_b0")
    for part in parts:
        part(program)
    return program


def with_conv(arch: str = "wormhole_b0", **change: object) -> Program:
    """One conv, with something changed."""
    program = Program(arch)
    put_conv(program, **change)
    return program


def without_convs() -> Program:
    program = Program("wormhole_b0")
    relu(program, program.tensor([1, 1, 32, 32]))
    return program


def put_silent_conv(program: Program, kernel_ns: int = 50_000) -> Tensor:
    """A conv of a report whose ATTRIBUTES are empty."""
    x, w = halo_output(program), program.weight([1, 1, 576, 64])
    out = program.tensor([1, 1, 4096, 64])
    return put(program, DeviceOp("Conv2dDeviceOperation", (x, w), (out,), kernel_ns, cores=64))


def with_silent_conv() -> Program:
    program = Program("wormhole_b0")
    put_silent_conv(program)
    return program


def of_unknown_chip() -> Program:
    """A conv on a chip whose clock is nobody's; written without DEVICE ARCH (generation "C4") it has no name."""
    program = Program("wormhole_b0", clock_ghz=0.7)
    put_conv(program)
    return program


__all__ = [
    "DRAM",
    "OTHER_SHARDS",
    "ROOMY",
    "SHARDS",
    "TUNED",
    "Conv",
    "halo_output",
    "into_shards",
    "moved",
    "of_unknown_chip",
    "put_conv",
    "put_halo",
    "put_silent_conv",
    "relu",
    "row_major",
    "with_all",
    "with_conv",
    "with_silent_conv",
    "without_convs",
]

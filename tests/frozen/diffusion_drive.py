"""DiffusionDrive on one Wormhole chip (N300s): its two ResNet-34 (a camera picture of 256 x 1024, a lidar one of 256 x 256).

BFLOAT16, HiFi2; each convolution takes its pixels out of DRAM, shards them as TTNN chooses, and puts its result back. The report
tells one traced forward pass before and after, and how two convolutions of a stage did by themselves with other shards.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, Told, dead, gain, laid
from tests.frozen.names import BFP8, LOFI
from tests.profiles import block_sharded
from tests.profiles.conv import Window, conv2d, halo

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Layer
    from tests.profiles import Placement, Tensor

SOURCE = f"{TT_METAL}/3bdcdc72c112610dd8cba2c7569c2fdd5617e3fc/models/demos/diffusion_drive/PERFORMANCE.md"
GRID, CORES = (8, 8), 64
STAGES = (
    (64, 3, 4),
    (128, 4, 8),
    (256, 6, 16),
    (512, 3, 32),
)  # channels, blocks, how much smaller than the picture
PICTURES = {"camera": (256, 1024), "lidar": (256, 256)}
RELUS, RELUS_US, CONVS_US = 32, 1_990.0, 15_500.0


@dataclass(frozen=True)
class Conv:
    role: str
    hw: tuple[int, int]
    inside: int
    outside: int
    stride: int = 1
    relu: bool = False

    @property
    def work(self) -> float:
        return self.hw[0] * self.hw[1] / self.stride**2 * self.inside * self.outside


def _convs() -> list[Conv]:
    convs = []
    for picture, (high, wide) in PICTURES.items():
        inside = 64
        for stage, (channels, blocks, part) in enumerate(STAGES, 1):
            for number in range(blocks):
                stride = 2 if stage > 1 and number == 0 else 1
                hw, out = (high * stride // part, wide * stride // part), (high // part, wide // part)
                name = f"{picture}{stage}_{number}"
                convs.append(Conv(f"{name}_first", hw, inside, channels, stride, relu=True))
                convs.append(Conv(f"{name}_second", out, channels, channels))
                inside = channels
    return convs


def _place(block: Block, rows: int, channels: int) -> Placement:
    """By height up to 128 channels, by blocks beyond: TTNN's choice is not told."""
    tiles = ceil(rows / 32)
    if channels > 128:
        return block_sharded(32 * ceil(tiles / 8), 32 * ceil(channels / 32 / 8), (8, min(8, tiles)))
    return block.along(32 * ceil(tiles / CORES), 32 * ceil(channels / 32), min(CORES, tiles))


def _convolved(block: Block, conv: Conv, x: Tensor, us: float, *, fused: bool) -> Tensor:
    (height, width), rows = conv.hw, conv.hw[0] * conv.hw[1]
    window = Window(conv.hw, (3, 3), conv.stride, 1)
    placed = block.to_shards(f"{conv.role}_placed", x, _place(block, rows, conv.inside), 0.10 * us)
    wide = _place(block, rows + 2 * (height + width) + 128, conv.inside)
    spread = block.put(f"{conv.role}_halo", halo(placed, block.tensor(x.shape, place=wide, layout=ROW_MAJOR), window, round(100 * us)))  # fmt: skip
    rows = window.output_hw[0] * window.output_hw[1]
    out = block.tensor([1, 1, rows, conv.outside], place=_place(block, rows, conv.outside))
    made = conv2d(
        spread, block.tensor([1, 1, 9 * conv.inside, conv.outside]), block.tensor([1, 1, 32, conv.outside]), out, window=window,
        kernel_ns=round(700 * us), in_channels=conv.inside, act_block_h=1, fidelity="HiFi2",
        activation="RELU" if fused and conv.relu else None,
    )  # fmt: skip
    made.attributes = {**made.attributes, "compute_kernel_config": block.kernel("HiFi2")}
    return block.from_shards(f"{conv.role}_flat", block.put(f"{conv.role}_conv", made), 0.10 * us, DRAM)


def backbones(*, fused: bool) -> Callable[[], Block]:
    """Both nets: convolutions share their time by their work, with a floor; so do the activations by their bytes."""

    def build() -> Block:
        block = Block("wormhole_b0", grid=GRID, gap_us=1.5)
        convs = _convs()
        floor = sum(conv.work for conv in convs) / len(convs)
        all_work = sum(conv.work + floor for conv in convs)
        all_values = sum(conv.hw[0] * conv.hw[1] / conv.stride**2 * conv.outside for conv in convs if conv.relu)
        given: Tensor | None = None
        for conv in convs:
            us = CONVS_US * (conv.work + floor) / all_work
            if conv.role.endswith("1_0_first"):
                given = block.tensor([1, 1, conv.hw[0] * conv.hw[1], conv.inside])
            assert given is not None
            made = _convolved(block, conv, given, us, fused=fused)
            if conv.relu:
                values = made.shape[-2] * made.shape[-1]
                given, before = made, given
                if not fused:
                    given = block.unary(f"{conv.role}_relu", "RELU", made, RELUS_US * (0.5 / RELUS + 0.5 * values / all_values), cores=CORES)  # fmt: skip
                if conv.stride > 1 or conv.inside != conv.outside:
                    before = block.tensor(made.shape)
            else:
                given = block.binary(f"{conv.role}_sum", "ADD", made, before, 0.12 * us + 4, cores=CORES)
                given = block.unary(f"{conv.role}_last", "RELU", given, 0.1 * us + 3, cores=CORES)
        return block

    return build


def stage(number: int) -> Callable[[], Block]:
    """Two convolutions of the camera's net, one after the other."""

    def build() -> Block:
        channels, _, part = STAGES[number - 1]
        high, wide = PICTURES["camera"]
        block = Block("wormhole_b0", grid=GRID, gap_us=1.5)
        hw = (high // part, wide // part)
        before = block.tensor([1, 1, hw[0] * hw[1], channels])
        us = {1: 190.0, 2: 175.0, 3: 230.0, 4: 420.0}[number]
        x = _convolved(block, Conv("first", hw, channels, channels, relu=True), before, us, fused=True)
        made = _convolved(block, Conv("second", hw, channels, channels), x, us, fused=True)
        block.binary("sum", "ADD", made, before, 4, cores=CORES)
        return block

    return build


HIGH, BLOCKS = r"HEIGHT_SHARDED|height.sharded", r"BLOCK_SHARDED|block.sharded"
CONVS = "*_conv *_placed *_halo *_flat"
ALONE = "the time of the two by themselves, their shards, halos and blocks; gaps"
MADE_UP = "how the forward pass is shared: the convolutions' sum and each one's part by its work, the other ops, the fusions between the nets and the head left out; shards, halos and blocks; gaps"


def alone(number: int, levers: tuple[Told, ...]) -> Layer:
    channels, _, part = STAGES[number - 1]
    ran = f"two convolutions of {channels} channels by themselves, {256 // part} x {1024 // part}"
    return laid(f"diffusiondrive-stage{number}", SOURCE, ran, stage(number), levers, ALONE)


DIFFUSION_DRIVE = (
    laid(
        "diffusiondrive-relus", SOURCE, "a traced forward pass with an op for each ReLU: 52.3 ms", backbones(fused=False),
        (gain("relus", "the ReLU after a convolution as its activation", 1_937.0, "*_relu", r"activation|fus\w+.{0,40}(relu|conv)", "52.3 -> 50.0 ms, traced, with 38 of them, of which 32 are in these nets: 32 / 38 of 2300 us; untraced 71.8 -> 71.4 ms"),),
        MADE_UP,
    ),
    laid(
        "diffusiondrive-fused", SOURCE, "a traced forward pass with ReLUs in the convolutions: 50.0 ms, later 44.9 with one more part traced", backbones(fused=True),
        (
            dead("buffers", "double-buffered activations and weights for all convolutions", "*_conv", r"double.?buffer", "median 50.0 -> 49.2 ms, mean 50.7 -> 53.2: noise"),
            dead("low", "weights in BFLOAT8_B at LoFi for all convolutions", "*_conv", rf"{BFP8}|{LOFI}", "median 44.9 -> 46.7 ms, mean 45.8 -> 49.1"),
        ),
        MADE_UP,
    ),
    alone(1, (
        dead("high", "HEIGHT_SHARDED", CONVS, HIGH, "1.02 times as fast: noise"),
        dead("blocks", "BLOCK_SHARDED", CONVS, BLOCKS, "0.86 times as fast"),
    )),
    alone(2, (
        dead("high", "HEIGHT_SHARDED", CONVS, HIGH, "0.91 times as fast"),
        dead("blocks", "BLOCK_SHARDED", CONVS, BLOCKS, "0.84 times as fast"),
    )),
    alone(3, (
        gain("high", "HEIGHT_SHARDED", None, CONVS, HIGH, "1.18 times as fast; not kept, as other stages lost"),
        gain("blocks", "BLOCK_SHARDED with shards that the caller asks for", None, CONVS, BLOCKS, "1.06 times as fast; not kept, as other stages lost"),
    )),
    alone(4, (
        dead("high", "HEIGHT_SHARDED", CONVS, HIGH, "refused: the sliding window fails"),
        dead("blocks", "BLOCK_SHARDED", CONVS, BLOCKS, "1.00 times as fast"),
    )),
)  # fmt: skip

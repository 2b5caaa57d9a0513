"""Three nets of convolutions whose authors had switched packer_l1_acc off, on one Blackhole and two of them on one Wormhole chip.

VGG UNet for a picture of 256 x 256, MobileNetV2 for ten of 224 x 224, UFLD v2 (lanes) for one of 320 x 800. The ledger tells the
sum of the convolutions and of all kernels, before and after; shapes are the nets' published ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import PACKER
from tests.profiles import block_sharded
from tests.profiles.conv import Window, conv2d, halo

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement

SOURCE = f"{TT_METAL}/0db8bcb266198a94d1593b8a33e677d7b91fc10b/OPT_SUMMARY.md"
GRIDS = {"blackhole": (11, 10), "wormhole_b0": (8, 8)}
DEEP = 256  # channels from which the cores share them


@dataclass(frozen=True)
class Conv:
    """One convolution: height and width of all its pictures, channels in and out, the kernel's side."""

    hw: tuple[int, int]
    inside: int
    outside: int
    kernel: int = 3
    stride: int = 1
    groups: int = 1

    @property
    def work(self) -> float:
        height, width = self.hw
        return height * width / self.stride**2 * self.outside * self.inside / self.groups * self.kernel**2


@dataclass(frozen=True)
class Net:
    """The convolutions, how many pools and joins, and rows and columns of matmuls at the end."""

    convs: list[Conv]
    others: int
    ends: tuple[tuple[int, int], ...] = ()


def _vgg() -> Net:
    convs: list[Conv] = []
    inside = 3
    for side, outside, count in ((256, 64, 2), (128, 128, 2), (64, 256, 4), (32, 512, 4), (16, 512, 4)):
        for _ in range(count):
            convs.append(Conv((side, side), inside, outside))
            inside = outside
    for side, outside in ((32, 512), (64, 256), (128, 128), (256, 64)):
        convs += [Conv((side, side), inside, outside, 2), Conv((side, side), 2 * outside, outside), Conv((side, side), outside, outside)]  # fmt: skip
        inside = outside
    return Net([*convs, Conv((256, 256), 64, 1, 1)], 8)


def _mobile() -> Net:
    convs, inside, side = [Conv((2240, 224), 3, 32, 3, 2)], 32, 112
    for times, outside, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):  # fmt: skip
        for number in range(count):
            step, wide = stride if number == 0 else 1, times * inside
            if times > 1:
                convs.append(Conv((10 * side, side), inside, wide, 1))
            convs.append(Conv((10 * side, side), wide, wide, 3, step, wide))
            side //= step
            convs.append(Conv((10 * side, side), wide, outside, 1))
            inside = outside
    return Net([*convs, Conv((70, 7), 320, 1280, 1)], 12, ((1280, 1000),))


def _lanes() -> Net:
    convs, inside, hw = [Conv((320, 800), 3, 64, 7, 2)], 64, (80, 200)
    for outside, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for number in range(count):
            stride = 2 if outside > 64 and number == 0 else 1
            convs.append(Conv(hw, inside, outside, 3, stride))
            if stride == 2:
                convs.append(Conv(hw, inside, outside, 1, 2))
                hw = (hw[0] // 2, hw[1] // 2)
            convs.append(Conv(hw, outside, outside))
            inside = outside
    return Net([*convs, Conv(hw, 512, 8, 1)], 17, ((2000, 2048), (2048, 39576)))


def _place(block: Block, rows: int, channels: int) -> Placement:
    across, down = block.grid
    tiles = ceil(rows / 32)
    if channels >= DEEP:
        return block_sharded(32 * ceil(tiles / down), 32 * ceil(channels / 32 / 8), (8, down))
    return block.along(32 * ceil(tiles / (across * down)), 32 * ceil(channels / 32), min(across * down, tiles))


def _convolved(block: Block, number: int, conv: Conv, us: float, halo_us: float) -> None:
    (height, width), window = conv.hw, Window(conv.hw, (conv.kernel, conv.kernel), conv.stride, conv.kernel // 2)
    if conv.kernel == 2:
        window = Window((height + 1, width + 1), (2, 2))
    where = _place(block, height * width, conv.inside)
    x = block.tensor([1, 1, height * width, conv.inside], place=where)
    if conv.kernel > 1:
        wide = _place(block, height * width + 64 * len(where.cores), conv.inside)
        spread = block.tensor(x.shape, place=wide, layout=ROW_MAJOR)
        block.put(f"halo{number}", halo(x, spread, window, round(halo_us * 1e3)))
        x = spread
    rows = window.output_hw[0] * window.output_hw[1]
    weight = block.tensor([1, 1, conv.kernel**2 * conv.inside // conv.groups, conv.outside], "BFLOAT8_B")
    out = block.tensor([1, 1, rows, conv.outside], place=_place(block, rows, conv.outside))
    made = conv2d(
        x, weight, block.tensor([1, 1, 32, conv.outside], "BFLOAT8_B"), out, window=window, kernel_ns=round(us * 1e3),
        in_channels=conv.inside // conv.groups, act_block_h=1, fidelity="LoFi", activation="RELU",
    )  # fmt: skip
    made.attributes = {**made.attributes, "compute_kernel_config": block.kernel("LoFi", packer=False), "groups": conv.groups, "has_bias": True}  # fmt: skip
    block.put(f"conv{number}", made)


def whole(net: Net, arch: str, convs_us: float, all_us: float) -> Callable[[], Block]:
    """The convolutions share `convs_us` by their work, with a floor; halos, pools and matmuls the rest."""

    def build() -> Block:
        block = Block(arch, grid=GRIDS[arch], gap_us=1.0)
        floor = 0.3 * sum(conv.work for conv in net.convs) / len(net.convs)
        each = [conv.work + floor for conv in net.convs]
        rest = all_us - convs_us
        halos = sum(conv.kernel > 1 for conv in net.convs)
        ends = 0.35 * rest if net.ends else 0.0
        for number, (conv, work) in enumerate(zip(net.convs, each, strict=True)):
            _convolved(block, number, conv, convs_us * work / sum(each), 0.5 * (rest - ends) / halos)
        for number in range(net.others):
            side = net.convs[0].hw[0] >> min(3, number // 2 + 1)
            block.moved(f"pool{number}", "Pool2D", block.tensor([1, 1, side * side, 64]), 0.5 * (rest - ends) / net.others, cores=64, fidelity="HiFi4")  # fmt: skip
        size = sum(k * n for k, n in net.ends)
        for number, (k, n) in enumerate(net.ends):
            block.linear(f"end{number}", block.tensor([1, 1, 32, k]), n, ends * k * n / size, dtype="BFLOAT8_B", cores=64, fidelity="LoFi")  # fmt: skip
        return block

    return build


ON = "packer_l1_acc for the convolutions"
MADE_UP = "how the convolutions share their sum (by their work, with a floor), and halos, pools and matmuls the rest; shards, formats and blocks; pools' shapes; gaps"
CONV_NETS = (
    laid(
        "vggunet-blackhole", SOURCE, "VGG UNet on Blackhole: 1856.657 us of kernels", whole(_vgg(), "blackhole", 1199.514, 1856.657),
        (gain("packer", ON, 65.4, "conv*", PACKER, "1199.514 -> 1134.101 us of convolutions, 1856.657 -> 1790.417 of all"),),
        MADE_UP, pass_us=1856.7,
    ),
    laid(
        "vggunet-wormhole", SOURCE, "VGG UNet on Wormhole: 3339.426 us of kernels", whole(_vgg(), "wormhole_b0", 2393.312, 3339.426),
        (dead("packer", ON, "conv*", PACKER, "2393.312 -> 2391.881 us of convolutions"),),
        MADE_UP, pass_us=3339.4,
    ),
    laid(
        "ufld-blackhole", SOURCE, "UFLD v2 on Blackhole: 1589.317 us of kernels", whole(_lanes(), "blackhole", 643.674, 1589.317),
        (gain("packer", ON, 12.45, "conv*", PACKER, "643.674 -> 631.225 us of convolutions, 1589.317 -> 1575.074 of all"),),
        MADE_UP, pass_us=1589.3,
    ),
    laid(
        "ufld-wormhole", SOURCE, "UFLD v2 on Wormhole: 2903.7 us of kernels", whole(_lanes(), "wormhole_b0", 1075.219, 2903.7),
        (dead("packer", ON, "conv*", PACKER, "1075.219 -> 1080.150 us of convolutions"),),
        MADE_UP, pass_us=2903.7,
    ),
    laid(
        "mobilenet-blackhole", SOURCE, "MobileNetV2 on Blackhole: 1442.014 us of kernels", whole(_mobile(), "blackhole", 793.513, 1442.014),
        (gain("packer", ON, 73.75, "conv*", PACKER, "793.513 -> 719.759 us of convolutions, 1442.014 -> 1361.783 of all"),),
        MADE_UP, pass_us=1442.0,
    ),
)  # fmt: skip

"""FIBO's image transformer on four Blackhole chips (2 x 2): a double and a single block, for a picture of 1024 x 1024.

Two chips share the 4096 words of the picture, two the 3072 channels (12 of 24 heads each); 128 words of the text on each. Eight
double and 38 single blocks. The document tells the matmuls of a forward before and after and steps a second; the blocks do
about the same multiplications, so each takes a share of 46.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks, minimal
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import IN_L1, MINIMAL_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Layer
    from tests.profiles import Tensor

SOURCE = f"{TT_METAL}/1dc31791c32a76bb1609d356cd1be9cba59c72ab/models/tt_dit/models/BriaFibo.md"
GRID, CORES, CHIPS, HIDDEN, HALF, HEADS, SIZE = (12, 10), 120, 4, 3072, 1536, 12, 128
ROWS = {"image": 2048, "text": 128}
SHARE = {"image": 1.0, "text": 0.16}  # of a matmul's time, for the text's rows
QKV_US, OUT_US, UP_US, DOWN_US, LAST_US = 405.0, 140.0, 545.0, 535.0, 670.0


def gathered(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.collective(
        role, "AllGatherAsync", x, 2 * x.shape[-1], us, ring=2, links=1, cores=8, topology="Linear"
    )


def summed(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.collective(role, "ReduceScatterMinimalAsync", x, x.shape[-1] // 2, us, ring=2, links=1, cores=12, topology="Linear")  # fmt: skip


def linear(block: Block, role: str, x: Tensor, n: int, us: float, *, act: str | None = None) -> Tensor:
    return block.minimal(role, x, n, us, config=minimal((8, 8, 8), (2, 2), GRID), cores=CORES, act=act)


def modulated(block: Block, role: str, x: Tensor, part: float) -> Tensor:
    y = block.op(
        f"{role}_norm", "DitLayerNorm", (x,), block.tensor(x.shape), 62 * part, cores=CORES, fidelity="HiFi4"
    )
    return gathered(block, f"{role}_gather", y, 330 * part)


def heads(block: Block, name: str, x: Tensor) -> tuple[Tensor, ...]:
    part = SHARE[name]
    qkv = linear(block, f"{name}_qkv", x, 3 * HALF, QKV_US * part)
    made = block.split_heads(f"{name}_heads", qkv, 52 * part, heads=HEADS, kv=HEADS, size=SIZE, rows=ROWS[name], cores=CORES)  # fmt: skip
    q, k = (
        block.norm(f"{name}_{letter}_norm", one, 36 * part, cores=CORES)
        for letter, one in zip("qk", made, strict=False)
    )
    q, k = (block.rotary(f"{name}_{letter}_rotary", one, 34 * part, decode=False, cores=CORES) for letter, one in zip("qk", (q, k), strict=True))  # fmt: skip
    return q, k, made[2]


def attended(block: Block, image: tuple[Tensor, ...], text: tuple[Tensor, ...]) -> dict[str, Tensor]:
    outs = tuple(block.tensor([1, HEADS, ROWS[name], SIZE]) for name in ROWS)
    block.op(
        "sdpa", "RingJointSDPA", (*image, *text), outs, 1050, cores=110, fidelity="HiFi2", dim=2, is_causal=False,
        compute_kernel_config=block.kernel("HiFi2", packer=False), joint_strategy="rear", logical_n=4096, num_links=1,
        output_mem_config=outs[0].placement, program_config=chunks(128, 512, (11, 10)), ring_size=2, scale="0.08838834764",
        topology="Topology::Linear",
    )  # fmt: skip
    return {
        name: block.join_heads(f"{name}_joined", out, 40 * SHARE[name], cores=CORES)
        for name, out in zip(ROWS, outs, strict=True)
    }


def gated(block: Block, role: str, x: Tensor, y: Tensor, part: float) -> Tensor:
    y = block.binary(f"{role}_gated", "MUL", y, block.tensor([1, 1, 1, y.shape[-1]]), 30 * part, cores=CORES)
    return block.binary(f"{role}_sum", "ADD", x, y, 30 * part, cores=CORES)


def double() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=3.0)
    ends: dict[str, Tensor] = {}
    x = {name: block.tensor([1, 1, rows, HALF]) for name, rows in ROWS.items()}
    given = {
        name: heads(block, name, modulated(block, f"{name}_first", one, SHARE[name])) for name, one in x.items()
    }
    for name, made in attended(block, given["image"], given["text"]).items():
        part, y = SHARE[name], gathered(block, f"{name}_joined_gather", made, 330 * SHARE[name])
        ends[name] = gated(
            block, f"{name}_first", x[name], linear(block, f"{name}_out", y, HALF, OUT_US * part), part
        )
        y = modulated(block, f"{name}_second", ends[name], part)
        y = linear(block, f"{name}_up", y, 2 * HIDDEN, UP_US * part, act="GELU")
        y = summed(block, f"{name}_down_sums", linear(block, f"{name}_down", y, HIDDEN, DOWN_US * part), 420 * part)
        gated(block, f"{name}_second", ends[name], y, part)
    return block


def single() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=3.0)
    x = {name: block.tensor([1, 1, rows, HALF]) for name, rows in ROWS.items()}
    normed = {name: modulated(block, f"{name}_first", one, SHARE[name]) for name, one in x.items()}
    given = {name: heads(block, name, one) for name, one in normed.items()}
    for name, made in attended(block, given["image"], given["text"]).items():
        part = SHARE[name]
        wide = linear(block, f"{name}_up", normed[name], 2 * HIDDEN, UP_US * part, act="GELU")
        y = block.concat(f"{name}_both", (made, wide), [1, 1, ROWS[name], 5 * HALF], 3, 130 * part)
        y = summed(block, f"{name}_last_sums", linear(block, f"{name}_last", y, HIDDEN, LAST_US * part), 420 * part)
        gated(block, f"{name}_second", x[name], y, part)
    return block


MADE_UP = "the share of a block, by the multiplications; how its matmuls share it; all other times, so that a forward takes a little less than its 235 ms; fidelity; gaps"
LINKED = "num_links|links"


def tried(matmuls: str, collectives: str, build: Callable[[], Block], name: str, ran: str) -> Layer:
    return laid(
        f"fibo-{name}", SOURCE, ran, build,
        (
            gain("blocks", "blocks of its own for each shape of matmul", 113.0, matmuls, MINIMAL_BLOCKS, "91.4 -> 86.2 ms of the 46 blocks, from (8, 8, 8) for all"),
            gain("links", "four links for the exchanges", 770.0, collectives, LINKED, "2.00 -> 2.33 steps of two forwards a second: 35.4 ms of 46 blocks"),
            dead("l1", "the matmuls' inputs and outputs in L1", matmuls, IN_L1, "no faster where it fits; elsewhere the buffers clash"),
            dead("cores", "fewer cores for the text's matmuls", "text_qkv text_up", r"fewer cores|smaller grid", "34 to 369 % slower"),
            dead("chunks", "other chunks for the ring attention", "sdpa", r"chunk", "0.5 % at best, within the noise, and another picture"),
        ),
        MADE_UP,
    )  # fmt: skip


FIBO = (
    tried(
        "*_qkv *_out *_up *_down",
        "*_gather *_sums sdpa",
        double,
        "double",
        "one of eight double blocks, of a forward of 235 ms",
    ),
    tried(
        "*_qkv *_up *_last",
        "*_gather *_sums sdpa",
        single,
        "single",
        "one of 38 single blocks, of a forward of 235 ms",
    ),
)

"""A vision tower of 27 blocks for an image of 11008 patches on Wormhole: two chips (N300) and eight (T3K).

Hidden 1152, 16 heads of 72 (padded to 96), an MLP of 4304; rows in chunks, BFLOAT8_B weights. One block, with the
patches' embedding before it and the merger behind it. Times of matmuls, attention and gathers are the ledger's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, Block, chunks, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_MATMUL,
    BFP8,
    BLOCK_W,
    COLLECTIVE,
    CONFIG,
    CORES,
    HIFI2,
    IN_L1,
    LOFI,
    SDPA_CHUNKS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MODEL = "models/demos/blackhole/qwen36"
TOWER = f"{TT_METAL}/2ea4637d88663dd7a5e222dce396caaf95f02802/{MODEL}/VISION_TOWER_PERF.md"
LATER = f"{TT_METAL}/59dfb6f76dc88126af99a532fd362b6475f8fae0/{MODEL}/README-N300-9B.md"
HIDDEN, ROWS, PATCHES = 1152, 12288, 11008


@dataclass(frozen=True)
class Tower:
    """How one block runs: times in us, and the config of a matmul that TTNN did not choose."""

    devices: int
    heads: int
    wide: int  # of the MLP, one chip
    merged: int  # of the merger's output, one chip
    patch: tuple[float, str | None, int]
    qkv: tuple[float, str | None, int]
    out: tuple[float, str | None, int]
    up: tuple[float, str | None, int]
    down: tuple[float, str | None, int]
    merger: tuple[tuple[float, str | None, int], tuple[float, str | None, int]]
    sdpa: float
    gathers: tuple[float, float]
    bias: float = 0.0
    gelu: float = 0.0
    fidelity: str = "HiFi4"
    attention: str = "HiFi4"
    keys: str = "BFLOAT16"
    size: tuple[int, int] = (256, 256)
    rows: int = ROWS
    chunks: tuple[int, int, int, int] = (2048, 1024, 1024, 1024)  # rows of a matmul: QKV, output, up, down
    workers: int = 2


def _attended(block: Block, how: Tower, wide: Tensor) -> Tensor:
    """Attention between its projections."""
    q, k, v = block.split_heads("heads", wide, 640.0 / how.devices, heads=how.heads, kv=how.heads, size=96, rows=how.rows)  # fmt: skip
    q, k = (block.rotary(f"rope_{name}", one, 500.0 / how.devices, decode=False) for name, one in (("q", q), ("k", k)))  # fmt: skip
    q, v = (block.typecast(f"{name}_narrow", one, "BFLOAT8_B", 300.0 / how.devices) for name, one in (("q", q), ("v", v)))  # fmt: skip
    if how.keys == "BFLOAT8_B":
        k = block.typecast("k_narrow", k, "BFLOAT8_B", 300.0 / how.devices)
    attended = block.attend("sdpa", q, k, v, how.sdpa, config=chunks(*how.size, (8, 8)), cores=64, causal=False, fidelity=how.attention)  # fmt: skip
    return block.join_heads("joined", attended, 300.0 / how.devices)


def tower(how: Tower) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=how.devices, gap_us=5.0)
        part = HIDDEN // how.devices
        inner = how.heads * 96

        def project(role: str, x: Tensor, n: int, rows: int, given: tuple[float, str | None, int], fidelity: str = "HiFi2", place=DRAM, bias: bool = False) -> Tensor:  # noqa: PLR0917  # fmt: skip
            us, config, cores = given
            total = x.shape[-2] * x.shape[-3]
            x = block.view(x, [1, -(-total // rows), rows, x.shape[-1]])
            made = block.linear(role, x, n, us, dtype="BFLOAT8_B", fidelity=fidelity, config=config, cores=cores, place=place, bias=bias)  # fmt: skip
            return block.view(made, [1, 1, total, n])

        def gathered(role: str, x: Tensor, us: float) -> Tensor:
            if how.devices == 8:  # every chip sums whole outputs of all chips
                many = block.op(role, "AllGatherAsync", (x,), block.tensor([8, 1, x.shape[-2], x.shape[-1]]), us, cores=8, dim=0, num_links=1, num_workers_per_link=how.workers, chunks_per_sync=10, ring_size=8, topology="Topology::Linear", output_mem_config=DRAM, cluster_axis=1, num_buffers_per_channel=None, sub_device_id=None)  # fmt: skip
                return block.op(f"{role}_sum", "FastReduceNC", (many,), block.tensor(x.shape), us / 9, cores=64, fidelity="HiFi4", dim=0)  # fmt: skip
            return block.collective(role, "AllGatherAsync", x, HIDDEN, us, ring=2, links=1, workers=how.workers, topology="Linear")  # fmt: skip

        patches = block.tensor([1, 1, PATCHES, 1536])
        first = project("patch", patches, part if how.devices == 2 else HIDDEN, PATCHES // 2, how.patch)
        x = block.tensor([1, 1, how.rows, first.shape[-1]])
        x = block.binary("positions", "ADD", x, block.tensor(x.shape), 180.0)
        whole = gathered("gather_in", x, how.gathers[0]) if how.devices == 2 else x
        normed = block.norm("norm_in", whole, 330.0, cores=64, kind="LAYERNORM")
        wide = project("qkv", normed, 3 * inner, how.chunks[0], how.qkv, how.fidelity, bias=not how.bias)
        if how.bias:
            wide = block.binary("qkv_bias", "ADD", wide, block.tensor([1, 1, 1, 3 * inner]), how.bias)
        joined = _attended(block, how, wide)
        out = project("out", joined, HIDDEN, how.chunks[1], how.out, how.fidelity)
        if how.devices == 2:
            out = block.collective("scatter_attention", "ReduceScatterMinimalAsync", out, part, 1900.0, ring=2, links=1, workers=how.workers, topology="Linear")  # fmt: skip
        else:
            out = gathered("reduce_attention", out, how.gathers[0])
        x = block.binary("sum_attention", "ADD", x, out, 150.0)
        whole = gathered("gather_feed", x, how.gathers[1]) if how.devices == 2 else x
        normed = block.norm("norm_feed", whole, 330.0, cores=64, kind="LAYERNORM")
        hidden = project("up", normed, how.wide, how.chunks[2], how.up, bias=True)
        if how.gelu:
            hidden = block.unary("gelu", "GELU", hidden, how.gelu, parameter="1")
        down = project("down", hidden, HIDDEN, how.chunks[3], how.down)
        if how.devices == 2:
            down = block.collective("scatter_fed", "ReduceScatterMinimalAsync", down, part, 1900.0, ring=2, links=1, workers=how.workers, topology="Linear")  # fmt: skip
        else:
            down = gathered("reduce_fed", down, how.gathers[1])
        x = block.binary("sum_feed", "ADD", x, down, 150.0)
        merged = block.tensor([1, 1, 2752, 4608])
        hidden = project("merger_up", merged, 4608 // how.devices, 2752, how.merger[0], bias=True)
        if how.devices == 2:
            project("merger_down", hidden, how.merged, 2752, how.merger[1])
        else:
            project("merger_down", block.view(hidden, [1, 2, 1376, 576]), how.merged, 1376, how.merger[1])
        return block

    return build


def spread(grid: tuple[int, int], block: int, per_core: tuple[int, int], subblock: tuple[int, int], act: str | None = None) -> str:  # fmt: skip
    return two_d(grid, block, per_core, subblock=subblock, act=act, batch=False)


FIRST_TWO = Tower(
    devices=2, heads=8, wide=2176, merged=4096,
    patch=(865, None, 64), qkv=(3281, spread((8, 8), 1, (8, 9), (1, 1)), 64), out=(2725, spread((8, 8), 4, (11, 5), (1, 5)), 24),
    up=(1863, None, 64), down=(1670, None, 64), merger=((707, None, 64), (764, None, 64)),
    sdpa=18270, gathers=(2885, 2885), bias=937, gelu=1234,
)  # fmt: skip
TUNED_TWO = Tower(
    devices=2, heads=8, wide=2176, merged=4096,
    patch=(730, spread((6, 8), 6, (22, 3), (1, 3)), 48), qkv=(1264, spread((8, 8), 18, (6, 9), (1, 3)), 64),
    out=(263, spread((6, 8), 24, (16, 6), (1, 6)), 48), up=(1784, spread((8, 8), 6, (12, 9), (2, 3), "GELU"), 64),
    down=(891, spread((6, 8), 4, (6, 6), (1, 6)), 48), merger=((708, None, 64), (757, None, 64)),
    sdpa=13430, gathers=(2345, 2345), fidelity="HiFi2", attention="HiFi2", keys="BFLOAT8_B", size=(128, 512), rows=PATCHES,
    chunks=(1376, 2752, 2752, 1376), workers=4,
)  # fmt: skip
FIRST_EIGHT = Tower(
    devices=8, heads=2, wide=544, merged=5120,
    patch=(1756, None, 64), qkv=(1061, spread((8, 8), 1, (8, 3), (1, 1)), 64), out=(893, spread((8, 8), 2, (11, 5), (1, 5)), 24),
    up=(635, None, 64), down=(741, None, 64), merger=((531, None, 64), (641, None, 64)),
    sdpa=6060, gathers=(7800, 12700), gelu=294,
)  # fmt: skip
CONFIGURED_EIGHT = Tower(
    devices=8, heads=2, wide=544, merged=5120,
    patch=(1125, spread((8, 8), 6, (22, 5), (2, 1)), 64), qkv=(562, spread((8, 8), 18, (3, 3), (1, 3)), 64),
    out=(95, spread((6, 8), 6, (12, 6), (1, 3)), 48), up=(769, spread((8, 8), 18, (6, 3), (2, 3), "GELU"), 64),
    down=(298, spread((6, 8), 17, (6, 6), (1, 6)), 48), merger=((531, None, 64), (497, spread((8, 8), 9, (6, 20), (1, 5)), 64)),
    sdpa=3800, gathers=(7800, 12700), fidelity="HiFi2", attention="HiFi2", keys="BFLOAT8_B", size=(128, 512),
    chunks=(768, 3072, 1536, 1536),
)  # fmt: skip
AROUND = "norms, heads, rotary, casts, sums and reduce-scatters; chunks of attention before its tuning"

QWEN_VISION = (
    laid(
        "vision-9b-first", TOWER, "one block, patches and merger on two chips, mostly left to TTNN",
        tower(FIRST_TWO),
        (
            gain("qkv", "in0_block_w 18 and a subblock of three, HiFi2", 1870, "qkv", rf"{BLOCK_W}|{CONFIG}|{HIFI2}", "3281 + 937 -> 1411 us with the sum folded in"),
            gain("qkv-bias", "the bias in the matmul", 937, "qkv_bias qkv", r"bias", "3281 + 937 -> 1411 us with the config"),
            gain("out", "48 cores instead of 24, in0_block_w 24, LoFi", 2431, "out", rf"{CORES}|{CONFIG}|{BLOCK_W}", "2725 -> 294 us"),
            gain("up", "a config with GELU in it", 1106, "up gelu", rf"{ACTIVATION_IN_MATMUL}|{CONFIG}", "1863 + 1234 -> 1991 us"),
            gain("down", "a config, result in L1", 675, "down", rf"{BLOCK_W}|{CONFIG}|{IN_L1}", "1670 -> 995 us"),
            gain("patch", "a config", 135, "patch", rf"{BLOCK_W}|{CONFIG}", "865 -> 730 us"),
            gain("sdpa", "HiFi2, keys in BFLOAT8_B, chunks of 128 and 512", 4840, "sdpa", rf"{HIFI2}|{BFP8}|{SDPA_CHUNKS}", "18.27 -> 13.43 ms", LATER),
            gain("workers", "four workers a link", 1080, "gather_*", COLLECTIVE, "5.77 -> 4.69 ms", LATER),
            dead("inputs", "inputs of matmuls in L1", "norm_in norm_feed qkv up joined out", rf"(?s)(input|in0|operand|norm).{{0,80}}({IN_L1})", "1.02x for QKV, 0.7 % for up, nothing for the others"),
            dead("merger", "a 2D config for the merger", "merger_up", rf"{CONFIG}", "left to TTNN it is the fastest in the model"),
        ),
        AROUND,
    ),
    laid(
        "vision-9b-tuned", LATER, "one block, patches and merger on two chips, tuned",
        tower(TUNED_TWO),
        (
            dead("block-shards", "inputs in L1 block shards", "qkv out up down", r"block.?shard|BLOCK_SHARDED", "refused for 7 of 8 shapes, and slower"),
            dead("inputs", "inputs of matmuls in L1", "norm_in norm_feed qkv up", IN_L1, "within the noise, and in0_block_w 18 becomes 6"),
            dead("exp", "approximate exponentials", "sdpa", r"exp_approx", "0.6 %, within the noise"),
            dead("chunks", "chunks of 512 and 512", "sdpa", SDPA_CHUNKS, "refused: 1.95 MB of circular buffers"),
            dead("lofi", "LoFi for attention", "sdpa", LOFI, "3 % faster and wrong (PCC 0.9656)"),
            dead("workers", "eight workers a link", "gather_* scatter_*", r"workers", "as four"),
        ),
        AROUND,
    ),
    laid(
        "vision-27b-first", TOWER, "one block, patches and merger on eight chips, mostly left to TTNN",
        tower(FIRST_EIGHT),
        (
            gain("patch", "a config on 64 cores, in0_block_w 6", 631, "patch", rf"{BLOCK_W}|{CONFIG}", "1756 -> 1125 us"),
            gain("qkv", "in0_block_w 18 and a subblock of three, HiFi2", 499, "qkv", rf"{BLOCK_W}|{CONFIG}|{HIFI2}", "1061 -> 562 us"),
            gain("out", "48 cores instead of 24, HiFi2", 798, "out", rf"{CORES}|{CONFIG}|{BLOCK_W}", "893 -> 95 us"),
            gain("up", "a config with GELU in it", 160, "up gelu", rf"{ACTIVATION_IN_MATMUL}|{CONFIG}", "929 -> 769 us"),
            gain("down", "a config, result in L1", 443, "down", rf"{BLOCK_W}|{CONFIG}|{IN_L1}", "741 -> 298 us"),
            gain("merger", "a config for the merger's second matmul", 144, "merger_down", rf"{BLOCK_W}|{CONFIG}", "641 -> 497 us"),
            gain("sdpa", "HiFi2, keys in BFLOAT8_B, chunks of 128 and 512", 2260, "sdpa", rf"{HIFI2}|{BFP8}|{SDPA_CHUNKS}", "6.06 -> 3.80 ms", LATER),
            dead("merger-config", "a 2D config for the merger's first matmul", "merger_up", CONFIG, "531 -> 559 us in the model"),
        ),
        AROUND,
    ),
    laid(
        "vision-27b-configured", TOWER, "the same with configs",
        tower(CONFIGURED_EIGHT),
        (
            gain("qkv-l1", "QKV's input and result in L1", 171, "norm_in qkv", IN_L1, "562 -> 391 us"),
            gain("up-l1", "up's input and result in L1", 66, "norm_feed up", IN_L1, "769 -> 703 us"),
            gain("merger-l1", "the merger's result in L1", 253, "merger_down", IN_L1, "497 -> 244 us"),
            dead("out-shards", "the output projection's input in L1 block shards", "joined out", r"block.?shard|BLOCK_SHARDED", "105 -> 408 us"),
            dead("patch-l1", "the patches in L1", "patch", IN_L1, "1125 -> 1122 us"),
            dead("moved", "the inputs moved to L1 by an op of their own", "qkv up", r"to_memory_config\(|interleaved_to_sharded", "139 to 277 us more"),
        ),
        AROUND,
    ),
)  # fmt: skip

"""Qwen3.6 35B A3B on four Blackhole chips (P150), one engineer's port for one user: the experts of a layer of decode, the words' scores.

Hidden 2048; 256 experts of 512, 64 on each chip, all of them run on one row in two batched matmuls whose results are weighed by zeros
but for the eight chosen; a shared expert, cut over the chips. Everything is interleaved in DRAM, matmuls are at HiFi4 with sums in 32
bits. A profile of one call tells the first of the batched matmuls (1838 us on 11 cores, 62.1 % of the call) and the median of both with
which 930 us fit the second; the rest of the call's 2960 us is split over the small ops by guess. The log tells ms of a token from a
trace of 40 layers; a saving of a token is divided by 40.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, CONFIG, CORES, HIFI2, IN_L1

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/aweditya/tt-model-bringup/blob"
LOG = f"{HOME}/14ea33d724455c713a91feac4f71e0ba8b02231a/research/35b_perf_workflow_log.md"
ROUNDS = f"{HOME}/5d415e881044e41a969df75f1d45017a1c4168c8/research/35b_perf_milestones.md"
CHIPS, GRID, ALL = 4, (11, 10), 110
HIDDEN, EXPERTS, HERE, WIDE, ACTIVE, WORDS = 2048, 256, 64, 512, 8, 152_064


@dataclass(frozen=True)
class How:
    """The batched matmuls: times in us, and cores."""

    up: float = 1838
    down: float = 930
    cores: int = 11
    grid: tuple[int, int] | None = None


FIRST = How()
SECOND = replace(FIRST, up=1224, down=794, cores=ALL, grid=(11, 10))  # 750 us less, of which 614 the first


def linear(block: Block, role: str, x: Tensor, n: int, us: float, *, cores: int | None = None) -> Tensor:
    return block.linear(role, x, n, us, fidelity="HiFi4", fp32=True, cores=cores)


def batched(block: Block, how: How, role: str, x: Tensor, n: int, *, us: float) -> Tensor:
    weight = block.tensor([HERE, x.shape[-1], n])
    return block.op(
        role, "Matmul", (x, weight), block.tensor([HERE, 1, n]), us, cores=how.cores, fidelity="HiFi4", bcast_batch=False,
        compute_kernel_config=block.kernel("HiFi4", fp32=True), global_cb=None, output_dtype="DataType::BFLOAT16",
        output_mem_config=DRAM, program_config=None, sub_device_id=None, transpose_a=False, transpose_b=False,
        untilize_out=False, user_core_coord=f"(x={how.grid[0]},y={how.grid[1]})" if how.grid else None,
        user_fused_activation=None, user_run_batched=False,
    )  # fmt: skip


def summed(block: Block, name: str, x: Tensor) -> Tensor:
    part = block.collective(f"{name}_scatter", "ReduceScatter", x, HIDDEN // CHIPS, 14, topology="Linear")
    return block.collective(f"{name}_gather", "AllGather", part, HIDDEN, 10, topology="Linear")


def routed(block: Block, x: Tensor) -> Tensor:
    """The weight of each of the chip's experts, zero for most."""
    y = block.softmax("router_softmax", linear(block, "router", x, EXPERTS, 14, cores=8), 6, cores=1)
    best = (block.tensor([1, 1, 1, 32]), block.tensor([1, 1, 1, 32], "UINT16"))
    y = block.op("router_topk", "TopK", (y,), best, 16, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    total = block.op("router_sum", "Reduce", (y,), block.tensor([1, 1, 1, 1]), 4, cores=1, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
    y = block.binary("router_divided", "DIV", y, total, 3, cores=1)
    mask = block.binary("mask", "EQ", block.tensor([1, 1, HERE, ACTIVE], "UINT16"), best[1], 3, cores=2)
    mask = block.binary("mask_weighed", "MUL", block.typecast("mask_cast", mask, "BFLOAT16", 3, cores=2), y, 3, cores=2)  # fmt: skip
    y = block.op("mask_sum", "Reduce", (mask,), block.tensor([1, 1, HERE, 1]), 4, cores=2, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
    return block.op("weights", "Clone", (block.view(y, [HERE, 1, 1]),), block.tensor([HERE, 1, 1]), 4, cores=ALL, dtype="DataType::BFLOAT16", memory_config=DRAM)  # fmt: skip


def experts(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
        x = block.tensor([1, 1, 1, HIDDEN])
        weights = routed(block, x)
        row = block.view(x, [1, 1, HIDDEN])
        y = block.concat("copies", [row] * HERE, [HERE, 1, HIDDEN], 0, 12)
        y = batched(block, how, "experts_up", y, 2 * WIDE, us=how.up)
        gate, up = (block.slice(f"experts_{name}", y, (0, 0, n * WIDE), (HERE, 1, (n + 1) * WIDE), 4) for n, name in enumerate(("gate", "value")))  # fmt: skip
        y = block.binary("experts_gated", "MUL", gate, up, 6, cores=ALL, lhs="SILU")
        y = batched(block, how, "experts_down", y, HIDDEN, us=how.down)
        y = block.moved("experts_rows", "ReshapeView", y, 10, shape=[1, 1, HERE, HIDDEN], cores=ALL)
        across = block.moved("weights_row", "ReshapeView", weights, 4, shape=[1, 1, 1, HERE], cores=2)
        y = summed(block, "experts", block.product("experts_sum", across, y, 8, cores=64))
        gate, up = (linear(block, f"shared_{name}", x, WIDE // CHIPS, 9, cores=4) for name in ("gate", "up"))
        both = block.binary("shared_gated", "MUL", gate, up, 3, cores=4, lhs="SILU")
        shared = summed(block, "shared", linear(block, "shared_down", both, HIDDEN, 6, cores=64))
        gate = linear(block, "shared_weight", x, 32, 9, cores=1)
        shared = block.binary("shared_weighed", "MUL", shared, gate, 3, cores=64, lhs="SIGMOID")
        block.binary("joined", "ADD", y, shared, 3, cores=64)
        return block

    return build


def words() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
    y = block.norm("norm", block.tensor([1, 1, 1, HIDDEN]), 14, cores=1)
    y = linear(block, "scores", y, WORDS, 1732, cores=ALL)
    y = block.moved("rows", "UntilizeWithUnpadding", y, 60, layout=ROW_MAJOR, cores=ALL, fidelity="HiFi4")
    block.op("token", "ArgMax", (y,), block.tensor([1, 1, 1, 1], "UINT32", layout=ROW_MAJOR), 120, cores=ALL, dim=3, keepdim=True, output_dtype="DataType::UINT32", output_mem_config=DRAM, sub_core_grids=None, use_multicore=True)  # fmt: skip
    return block


BOTH = "experts_up experts_down"
SHARED = "shared_gate shared_up shared_down shared_weight"
ROUTER = "router_softmax router_topk router_sum router_divided"
HALF = r"fp32_dest_acc|fp16|16.bit"
OVERLAP = r"async|overlap"
MADE_UP = "times of the small ops, and their cores; shapes inside the routing; ops of the collectives; gaps"
QWEN36_FOUR = (
    laid(
        "qwen36-four-experts-first", LOG, "the experts of a layer, batched matmuls as TTNN sets them: 2.96 ms, 140.4 ms a token", experts(FIRST),
        (
            gain("grid", "core_grid of 11 x 10 for the batched matmuls, which TTNN puts on 11 cores", 750, BOTH, rf"{CORES}|{CONFIG}", "140.41 -> 110.40 ms a token; alone 2.00 -> 1.25 ms"),
            dead("bfp8", "BFLOAT8_B for the experts' weights, on 11 cores", BOTH, BFP8, "930.6 -> 930 us, the median of both", ROUNDS),
            dead("hifi2", "HiFi2 for the batched matmuls", BOTH, HIFI2, "931 -> 931 us, the median of both", ROUNDS),
            dead("half", "HiFi2 and sums in 16 bits for the batched matmuls", BOTH, HALF, "931 -> 930 us, the median of both", ROUNDS),
            dead("overlap", "the experts' all-reduce while the shared expert runs", "experts_scatter experts_gather", OVERLAP, "1.315 -> 1.331 ms, all-reduce and four matmuls alone", ROUNDS),
            dead("router", "the best first, and a softmax of eight scores", ROUTER, r"topk.{0,60}(before|then|first|ahead).{0,40}softmax|softmax.{0,60}(after|of the (chosen|best|eight|top))|softmax.{0,40}top", "140.66 -> 140.41 ms a token: noise, kept for its shortness"),
        ),
        MADE_UP, 2960,
    ),
    laid(
        "qwen36-four-experts-second", LOG, "the experts of a layer, batched matmuls on all cores: 110.4 ms a token", experts(SECOND),
        (
            gain("bfp8", "BFLOAT8_B for the experts' weights", 731, BOTH, BFP8, "110.40 -> 81.16 ms a token"),
            dead("near", "what the first batched matmul reads in L1", "experts_up", IN_L1, "1.224 -> 1.244 ms, with its result in L1 too"),
            dead("moved", "what the first batched matmul reads moved to L1 before it", "copies experts_up", IN_L1, "1.224 -> 1.238 ms"),
            dead("grid", "core_grid of 11 x 10 for the shared expert, and for what goes into the delta rule", SHARED, rf"{CORES}|{CONFIG}", "110.40 -> 113.39 ms a token"),
        ),
        f"{MADE_UP}; how the saving on all cores is shared by both batched matmuls, from the first alone",
    ),
    laid(
        "qwen36-four-words", LOG, "the words' scores, all of them on each chip", words,
        (
            dead("grid", "core_grid of 11 x 10", "scores", rf"{CORES}|{CONFIG}", "1.732 -> 1.716 ms alone: noise"),
            dead("grid-8", "core_grid of 8 x 8", "scores", r"8 ?x ?8|64 cores|fewer cores", "1.732 -> 1.947 ms alone"),
        ),
        "times of all but the matmul; core counts; gaps",
    ),
)  # fmt: skip

"""Qwen3.8-Flash-Next on a line of four Blackhole cards (P150), tensor-parallel: slabs of prefill, decode, rows to be verified.

Hidden 2560 in four streams, 48 layers, 36 of them with a gated delta rule (four heads of keys and 12 of values of 128 on a
chip), 12 with sparse attention (six heads of 256 on a chip over keys that an index picks); 512 experts of 640, ten active,
128 of them on a chip in BFLOAT4_B, and a shared one. Dense weights over the DRAM banks, BFLOAT8_B at the end.
The documents tell times of calls alone, of chains of small ops, of families of ops in one step, and savings of a pass, of
which a 12th, a 36th or a 49th is taken. Most ops that replaced chains are the engineer's own; how a chain's or a family's
time is shared is made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import DRAM_SHARDED, HIFI2, TWO_D

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.profiles import Tensor

HOME = "https://github.com/sjettTT/tt-qwen-3.8-flash-next/blob"
MODEL = "models/demos/blackhole/qwen38_flash_next"
PREFILL = f"{HOME}/1067c7b67bb87bb0f111117be279f86e7969f1f7/{MODEL}/docs/PREFILL.md"
CONFIGS = f"{HOME}/1067c7b67bb87bb0f111117be279f86e7969f1f7/{MODEL}/ttnn/decode_matmul.py"
NUMERICS = f"{HOME}/05e03ce26f7811efacf71c08f7866e1158332d10/{MODEL}/docs/NUMERICS.md"
CHIPS, GRID, SLAB, HIDDEN, STREAMS = 4, (11, 10), 2048, 2560, 4
MIXED, VALUES, QKV, SIZE, HEADS, QUERY = 4120, 1536, 2560, 128, 12, 3072
EXPERTS, ACTIVE, WIDE, LOCAL, WORDS = 512, 10, 640, 128, 62080
FP8, FP4, FP32 = "BFLOAT8_B", "BFLOAT4_B", "FLOAT32"


def begun() -> Block:
    return Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1)


def linear(block: Block, role: str, x: Tensor, n: int, us: float, cores: int = 40, dtype: str = FP8) -> Tensor:  # noqa: PLR0917
    """A matmul of up to 32 rows, its weight over the banks, its input on `cores`."""
    columns = -(-n // 32 // cores)
    return block.linear(role, x, n, us, dtype=dtype, fidelity="HiFi2", config=banked(max(x.shape[-1] // 32 // cores, 1), columns), cores=cores, place=block.across(32, n, cores), banks=True, fp32=True)  # fmt: skip


def by_rows(name: str, n: int, us: float) -> Callable[[], Block]:
    """A matmul of 2048 rows, 32 at a time."""

    def build() -> Block:
        block = begun()
        x = block.norm("before", block.tensor([1, 1, SLAB, HIDDEN]), 60, cores=64)  # or each part passes for a pass
        for at in range(SLAB // 32):
            rows = block.slice(f"{name}_rows_{at}", x, (0, 0, 32 * at, 0), (1, 1, 32 * at + 32, HIDDEN), 4)
            near = block.to_shards(f"{name}_near_{at}", rows, block.across(32, HIDDEN, 40), 3)
            block.from_shards(f"{name}_far_{at}", linear(block, f"{name}_{at}", near, n, us - 10), 3)
        return block

    return build


def at_once(block: Block, name: str, x: Tensor, n: int, us: tuple[float, float]) -> Tensor:
    """A matmul of 2048 rows with a copy of its weight."""
    weight = block.moved(f"{name}_copy", "Copy", block.weight(x.shape[-1], n, "BFLOAT16", banks=True), us[1], place=DRAM, cores=110)  # fmt: skip
    columns = -(-n // 32 // 11)
    return block.linear(name, x, n, us[0], weight=weight, fidelity="HiFi2", fp32=True, config=two_d((11, 10), 8, (7, columns), subblock=(1, next(w for w in (4, 3, 2, 1) if columns % w == 0)), batch=False), cores=110)  # fmt: skip


def delta_slab() -> Block:
    """The gated delta rule of 2048 rows, 128 a call."""
    block = begun()
    y = at_once(block, "in", block.tensor([1, 1, SLAB, HIDDEN]), MIXED, (490, 150))
    mixed = block.slice("cut", y, (0, 0, 0, 0), (1, 1, SLAB, QKV), 60)
    taps = block.tensor([1, 1, 1, QKV])
    y = block.binary("tap_0", "MUL", mixed, taps, 55, cores=110)
    for at in (1, 2, 3):
        y = block.binary(f"tap_{at}", "ADD", block.binary(f"tapped_{at}", "MUL", mixed, taps, 55, cores=110), y, 60, cores=110)  # fmt: skip
    y = block.unary("silu", "SILU", y, 45, cores=110)
    state = block.tensor([1, HEADS, SIZE, SIZE], FP32)
    parts: list[Tensor] = []
    for at in range(SLAB // 128):
        made = block.tensor([1, 1, 128, VALUES]), block.tensor(state.shape, FP32)
        parts.append(block.op(f"chunk_{at}", "ChunkGatedDeltaRule", (y, state), made, 154.4, cores=48, fidelity="HiFi4"))  # fmt: skip
        state = made[1]
    y = block.concat("joined", parts, [1, 1, SLAB, VALUES], 2, 40)
    at_once(block, "out", y, HIDDEN, (220, 60))
    return block


def sparse_slab() -> Block:
    """Sparse attention of 2048 rows, 128 a call."""
    block = begun()
    at_once(block, "query_gate", block.tensor([1, 1, SLAB, HIDDEN]), QUERY, (480, 110))
    cache = block.tensor([1024, 2, 32, 512])
    for at in range(SLAB // 128):
        rows = block.tensor([1, 2, 128, 512])
        block.op(f"keys_{at}", "PagedFillCache", (cache, rows, block.tensor([1, 1024], "INT32", layout=ROW_MAJOR)), cache, 12.9, cores=8)  # fmt: skip
    for at in range(SLAB // 128):
        query, picked = block.tensor([1, 32, 128, 512]), block.tensor([1, 1, 128, 2112], "UINT32", layout=ROW_MAJOR)
        block.op(f"attend_{at}", "SparseSdpa", (query, cache, picked), block.tensor([1, 32, 128, 256]), 832, cores=110, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), scale="0.0625")  # fmt: skip
    return block


def sparse_chain() -> Block:
    """Sparse attention of 2048 rows in one call, with what it needs: 89.77 ms for 12 layers, 81.14 of it the call."""
    block = begun()
    picked = block.tensor([1, 1, SLAB, 64], "UINT32", layout=ROW_MAJOR)
    names = block.moved("expanded", "Repeat", picked, 330, shape=[1, 1, SLAB, 2112], cores=110)
    query = block.tensor([1, 6, SLAB, 256])
    zeros = block.op("zeros", "Full", (), block.tensor([1, 6, SLAB, 256]), 60, cores=110, fill_value="0")
    both = block.concat("widened", (query, zeros), [1, 6, SLAB, 512], 3, 120)
    wide = block.moved("padded", "Pad", both, 140, shape=[1, 32, SLAB, 512], cores=110)
    cache = block.tensor([1024, 2, 32, 512])
    y = block.op("attend", "SparseSdpa", (wide, cache, names), block.tensor([1, 32, SLAB, 256]), 6762, cores=110, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), scale="0.0625")  # fmt: skip
    block.slice("cut", y, (0, 0, 0, 0), (1, 6, SLAB, 256), 69)
    return block


def sparse_own() -> Block:
    """The same in an op of the engineer's own, at first in HiFi4: 18.45 ms for 12 layers."""
    block = begun()
    given = block.tensor([1, 6, SLAB, 256]), block.tensor([1024, 2, 32, 512]), block.tensor([1, 1, SLAB, 64], "UINT32", layout=ROW_MAJOR)  # fmt: skip
    block.op("attend", "GenericOp", given, block.tensor([1, 6, SLAB, 256]), 1537.5, cores=110, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
    return block


def read(block: Block, role: str, streams: Tensor, rows: int) -> Tensor:
    """Four streams to one, in two ops: statistics, norm and a small matmul with both gathers, then the gate."""
    low = block.op(f"{role}_front", "GenericOp", (streams, block.weight(STREAMS * HIDDEN, 320, FP8)), block.tensor([1, 1, rows, 320], place=L1), 44.1, cores=108, fidelity="HiFi4")  # fmt: skip
    return block.op(f"{role}_gate", "GenericOp", (streams, low), block.tensor([1, 1, rows, HIDDEN], place=L1), 27.5, cores=80, fidelity="HiFi4")  # fmt: skip


def glue(block: Block, role: str, x: Tensor, kinds: Sequence[str], us: float) -> Tensor:
    """Small ops, one after the other; which, is made up."""
    y = x
    for at, kind in enumerate(kinds):
        name = f"{role}_{at}"
        if kind in {"MUL", "ADD"}:
            y = block.binary(name, kind, y, block.tensor(y.shape), us, cores=40)
        elif kind in {"SILU", "SIGMOID"}:
            y = block.unary(name, kind, y, us, cores=40)
        elif kind == "Norm":
            y = block.norm(name, y, us, cores=4)
        else:
            layout = {"Untilize": ROW_MAJOR, "Tilize": "TILE"}.get(kind)
            y = block.moved(name, kind, y, us, place=L1, cores=40, layout=layout)
    return y


CHAIN = ("Copy", "MUL", "ADD", "Transpose", "ReshapeView", "MUL", "ADD", "Slice", "SILU", "ReshapeView", "Norm", "MUL", "Transpose")  # fmt: skip


def several(block: Block, x: Tensor, rows: int, us: tuple[float, float], picking: Sequence[str] = ()) -> Tensor:
    """Router, experts and shared expert; `us`: of the router's ten best in one op, and of the experts' matmuls."""
    logits = block.from_shards("router_flat", linear(block, "router", block.to_shards("router_near", x, block.across(32, HIDDEN, 40), 2), EXPERTS, 8, 8), 2, L1)  # fmt: skip
    made = block.tensor([1, 1, rows, 32], place=L1), block.tensor([1, 1, rows, 32], "UINT16", L1)
    if picking:
        y = block.softmax("pick_softmax", block.typecast("pick_wide", logits, FP32, 4, cores=16), 9, cores=1)
        block.op("pick_topk", "TopK", (y,), made, 42, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
        glue(block, "pick", made[0], picking, 3.7)
    else:
        block.op("pick", "GenericOp", (logits,), made, us[0], cores=16, fidelity="HiFi4")
    both = linear(
        block, "shared_in", block.to_shards("shared_near", x, block.across(32, HIDDEN, 40), 2), 352, 10, 8
    )
    half = block.op("shared_gated", "GenericOp", (both,), block.tensor([1, 1, rows, 160], place=block.across(32, 160, 5)), 3.5, cores=5, fidelity="HiFi4")  # fmt: skip
    shared = linear(block, "shared_down", half, HIDDEN, 5.9, 5)
    plain = block.moved("dispatch_rows", "UntilizeWithUnpadding", x, 4.5, layout=ROW_MAJOR, cores=8)
    weights = block.tensor([1, LOCAL, HIDDEN, 2 * WIDE], FP4), block.tensor([1, LOCAL, WIDE, HIDDEN], FP4)
    y = block.op("experts", "MoECompute", (plain, *weights, made[1]), block.tensor([1, ACTIVE, rows, HIDDEN], layout=ROW_MAJOR), us[1], cores=16, fidelity="LoFi", num_rings=1)  # fmt: skip
    y = block.op("experts_post", "GenericOp", (y, made[0], shared), block.tensor([1, 1, rows, HIDDEN], place=L1), 7.5, cores=80, fidelity="HiFi4")  # fmt: skip
    return block.collective("experts_sum", "AllReduceAsync", y, HIDDEN, 30, ring=4, links=2, topology="Linear")


def verified(*, wrapped: bool) -> Callable[[], Block]:
    """A layer with a gated delta rule, five rows to be verified; `wrapped`: six ops for the 53 around its recurrence."""

    def build() -> Block:
        block, rows = begun(), 5
        streams = block.tensor([1, STREAMS, rows, HIDDEN])
        y = block.to_shards("in_near", read(block, "first", streams, rows), block.across(32, HIDDEN, 40), 2)
        y = block.from_shards("in_flat", linear(block, "in", y, MIXED, 50), 2, L1)
        made = block.tensor([1, HEADS, 32, SIZE]), block.tensor([1, HEADS, SIZE, SIZE], FP32)
        mixed = block.slice("delta_cut", y, (0, 0, 0, 0), (1, 1, rows, QKV), 4.2) if not wrapped else y
        if wrapped:
            mixed = block.op(
                "delta_pre", "GenericOp", (y,), block.tensor([1, 1, rows, QKV], place=L1), 24, cores=48
            )
        else:
            mixed = glue(block, "delta_before", mixed, 2 * CHAIN, 5.4)
        ready = block.op("delta_prep", "ChunkGdnPrep", (mixed,), block.tensor([1, HEADS, 32, 4 * SIZE]), 20, cores=12, fidelity="HiFi4")  # fmt: skip
        y = block.op("delta_scan", "ChunkGdnScan", (ready, block.tensor([1, HEADS, SIZE, SIZE], FP32)), made, 32, cores=12, fidelity="HiFi4")  # fmt: skip
        y = block.moved("delta_flat", "ReshapeView", y, 4.5, shape=[1, 1, rows, VALUES], cores=40)
        if wrapped:
            y = block.op(
                "delta_post", "GenericOp", (y,), block.tensor([1, 1, rows, VALUES], place=L1), 22, cores=48
            )
        else:
            y = glue(block, "delta_after", y, (*CHAIN, "MUL", "SIGMOID", "ADD"), 5.4)
        y = linear(block, "out", block.to_shards("out_near", y, block.across(32, VALUES, 24), 2), HIDDEN, 24, 24)
        y = block.collective("out_sum", "AllReduceAsync", block.from_shards("out_flat", y, 2, L1), HIDDEN, 28, ring=4, links=2, topology="Linear")  # fmt: skip
        streams = block.op("first_write", "GenericOp", (streams, y), block.tensor(streams.shape), 8, cores=80)
        y = several(block, read(block, "second", streams, rows), rows, (53, 156))
        block.op("second_write", "GenericOp", (streams, y), block.tensor(streams.shape), 8, cores=80)
        return block

    return build


def sparse_verified() -> Block:
    """A layer with sparse attention, five rows to be verified."""
    block, rows = begun(), 5
    streams = block.tensor([1, STREAMS, rows, HIDDEN])
    x = read(block, "first", streams, rows)
    near = block.to_shards("in_near", x, block.across(32, HIDDEN, 40), 2)
    query = block.from_shards("query_flat", linear(block, "query_gate", near, QUERY, 40), 2, L1)
    keys = block.from_shards("keys_flat", linear(block, "keys", near, 1024, 16, 8), 2, L1)
    index = block.from_shards("index_flat", linear(block, "index", near, 640, 12, 8), 2, L1)
    tail = glue(block, "tail", block.concat("tail_whole", (query, keys), [1, 1, rows, QUERY + 1024], 3, 5), ("Slice", "Slice", "Norm", "Norm", "MUL", "ADD", "MUL", "ADD", "Copy", "Transpose", "ReshapeView", "MUL", "MUL", "MUL", "ADD", "Copy", "Copy", "Untilize", "Pad"), 7.2)  # fmt: skip
    scores = block.op("scores", "Indexer", (index, block.tensor([1, 1, 8192, 128])), block.tensor([1, 4, rows, 8192], place=L1), 24, cores=110, fidelity="HiFi2")  # fmt: skip
    y = block.slice("pages_cut", scores, (0, 0, 0, 0), (1, 4, rows, 8192), 8)
    y = block.moved("pages_rows", "ReshapeView", y, 9, cores=40)
    y = block.collective("merge_gather", "AllGatherAsync", y, 4 * 8192, 40, ring=4, links=2, topology="Linear")
    y = glue(block, "merge", y, ("ReshapeView", "ADD", "ADD", "ADD", "ADD"), 7)
    best = block.tensor([1, 1, rows, 64]), block.tensor([1, 1, rows, 64], "UINT32")
    block.op("best", "TopKLargeIndices", (y,), best, 38, cores=16, fidelity="HiFi4", k=64)
    y = block.op("attend", "SparseSdpa", (tail, block.tensor([1024, 2, 32, 512]), best[1]), block.tensor([1, 32, rows, 256], layout=ROW_MAJOR), 52, cores=40, fidelity="HiFi4", scale="0.0625")  # fmt: skip
    y = glue(block, "post", y, ("Copy", "Slice", "Slice", "Copy", "Slice", "Tilize", "SIGMOID", "MUL", "Slice", "Copy"), 5.6)  # fmt: skip
    y = block.moved("post_near", "ReshapeView", y, 4, shape=[1, 1, rows, VALUES], cores=40)
    y = linear(block, "out", block.to_shards("out_near", y, block.across(32, VALUES, 24), 2), HIDDEN, 24, 24)
    y = block.moved("out_wide", "Copy", block.from_shards("out_flat", y, 2, L1), 3, dtype=FP32, cores=40)
    y = block.collective("out_sum", "AllReduceAsync", y, HIDDEN, 28, ring=4, links=2, topology="Linear")
    streams = block.op("first_write", "GenericOp", (streams, y), block.tensor(streams.shape), 8, cores=80)
    y = several(block, read(block, "second", streams, rows), rows, (53, 156))
    block.op("second_write", "GenericOp", (streams, y), block.tensor(streams.shape), 8, cores=80)
    return block


def decoded(*, one: bool) -> Callable[[], Block]:
    """The experts of one row, with what reads and writes the streams; `one`: the router's ten best in one op."""

    def build() -> Block:
        block = begun()
        streams = block.tensor([1, STREAMS, 1, HIDDEN])
        x = read(block, "second", streams, 1)
        picking = () if one else ("ADD", "MUL", "Copy", "Copy", "Untilize", "Copy", "Copy", "Tilize", "Copy")
        y = several(block, x, 1, (51, 65), picking)
        block.op("second_write", "GenericOp", (streams, y), block.tensor(streams.shape), 8, cores=80)
        return block

    return build


def candidates() -> Block:
    """The best word and the best 32 of a chip's quarter of them: 66 us in the engineer's ops, and ten ops of 312 us."""
    block = begun()
    scores = block.tensor([1, 1, 32, WORDS])
    found = block.op("scan", "GenericOp", (scores,), block.tensor([1, 1, 128, 32], FP32), 50, cores=97, fidelity="HiFi4")  # fmt: skip
    block.op("merge", "GenericOp", (found,), block.tensor([1, 1, 1, 32], FP32), 16, cores=1, fidelity="HiFi4")
    y = block.moved("row_pad", "Pad", block.slice("row_cut", scores, (0, 0, 0, 0), (1, 1, 32, WORDS), 18), 22, shape=[1, 1, 32, 65536], cores=110)  # fmt: skip
    made = block.tensor([1, 1, 32, 32]), block.tensor([1, 1, 32, 32], "UINT16")
    block.op(
        "row_topk", "TopK", (y,), made, 205, cores=65, fidelity="HiFi4", dim=3, k=32, largest=True, sorted=True
    )
    names = block.typecast("row_names", made[1], FP32, 6, cores=1)
    names = block.binary("row_moved_on", "ADD", names, block.tensor([1, 1, 32, 32], FP32), 6, cores=1)
    both = block.concat("row_both", (block.typecast("row_values", made[0], FP32, 6, cores=1), names), [1, 1, 32, 64], 3, 8)  # fmt: skip
    y = block.moved("row_plain", "Untilize", both, 8, layout=ROW_MAJOR, cores=1)
    y = block.collective("row_gather", "AllGatherAsync", y, 256, 25, ring=4, links=2, topology="Linear")
    block.moved("row_copy", "Copy", y, 8, cores=1)
    return block


def lanes() -> Block:
    """The best word of eight users' rows, each of whose scores all cores scan."""
    block = begun()
    found = block.op("scan", "GenericOp", (block.tensor([1, 1, 32, WORDS]),), block.tensor([8, 1, 128, 32], FP32), 322, cores=97, fidelity="HiFi4")  # fmt: skip
    block.op("merge", "GenericOp", (found,), block.tensor([1, 1, 8, 32], FP32), 16, cores=8, fidelity="HiFi4")
    return block


OWN = r"one (own |custom |fused )?(kernel|op|program)|single (op|kernel|program)|generic_op|custom kernel|own kernel|fus"
ONCE = r"(one|single|fewer|larger) (call|op|chunk|kernel)s?|at once|all (2048 )?(rows|tokens)|whole (slab|sequence)|batch"
RINGS = r"rings?\b"
MADE_UP = "which small ops a chain has and how its time is shared; core counts; gaps"
FLASH_NEXT_LINE = (
    laid(
        "flash-next-line-rows", PREFILL, "2048 rows through a layer's first matmul, 32 at a time: 6.03 ms", by_rows("in", MIXED, 94.2),
        (gain("at-once", "one 2D matmul for all rows, with a copy of its weight off the banks", 5390, "in_*", rf"{TWO_D}|{ONCE}|per_core_M|interleaved", "6.03 -> 0.49 ms, and 0.15 for the copy"),),
        "times of slices and shards; the output's joining; gaps",
    ),
    laid(
        "flash-next-line-query", PREFILL, "2048 rows through attention's first matmul, 32 at a time: 4.28 ms", by_rows("query_gate", QUERY, 66.9),
        (gain("at-once", "one 2D matmul for all rows, with a copy of its weight off the banks", 3690, "query_gate_*", rf"{TWO_D}|{ONCE}|per_core_M|interleaved", "4.28 -> 0.48 ms; the copy is taken for 0.11, where 0.04 to 0.15 are told for all"),),
        "times of slices and shards; the output's joining; gaps",
    ),
    laid(
        "flash-next-line-delta", PREFILL, "the delta rule of 2048 rows, 128 a call: 2.47 ms", delta_slab,
        (
            gain("one-call", "all rows in one call of the recurrence", 1130, "chunk_*", ONCE, "2.47 -> 1.34 ms, bit for bit"),
            dead("automatic", "the 2D config left to TTNN", "in", r"without (a |any )?program_config|program_config=None|let ttnn|automatic|default (program )?config|minimal_matmul", "2 to 2.5 times as long", CONFIGS),
            dead("no-copy", "the 2D matmul off the weight over the banks, without a copy", "in_copy in out_copy out", rf"{DRAM_SHARDED}|without (a |the )?copy|copy|avoid", "96 % of all values differ", CONFIGS, faster=True),
        ),
        f"{MADE_UP}; the taps and the last matmul",
    ),
    laid(
        "flash-next-line-sparse", PREFILL, "sparse attention of 2048 rows, 128 a call: 13.31 ms", sparse_slab,
        (
            gain("one-call", "all rows in one call of attention", 2320, "attend_*", ONCE, "13.31 -> 10.99 ms, bit for bit"),
            gain("keys", "all rows' keys and values written at once", 150, "keys_*", ONCE, "0.206 -> 0.056 ms"),
        ),
        MADE_UP,
    ),
    laid(
        "flash-next-line-chain", NUMERICS, "sparse attention of 2048 rows in one call: 89.77 ms for 12 layers", sparse_chain,
        (gain("own", "one own op for attention, blocks shared by its rows, and for all around it", 6124, "expanded zeros widened padded attend cut", rf"{OWN}|tile|block", "89.77 -> 16.28 ms for 12 layers"),),
        "how 8.63 ms are shared by what stands around the call; the share of the picked keys; gaps",
    ),
    laid(
        "flash-next-line-own", NUMERICS, "the same in one own op, HiFi4 with sums in FLOAT32: 18.45 ms for 12 layers", sparse_own,
        (gain("hifi2", "HiFi2 with sums in BFLOAT16", 181, "attend", rf"{HIFI2}|fp32_dest_acc_en", "18.45 -> 16.28 ms for 12 layers, and nearer to the chain"),),
        "the op's cores",
    ),
    laid(
        "flash-next-line-verify", NUMERICS, "five rows to be verified through a layer with a delta rule: 833 us in kernels", verified(wrapped=False),
        (
            gain("wrapped", "two own ops around the recurrence, for all small ones but two", 174.4, "delta_*", OWN, "0.4805 -> 0.3061 ms a layer, 58 -> 12 ops, bit for bit"),
            gain("rings", "two rings of cores for the experts, each with the weights of its own", 39.8, "experts", RINGS, "37.89 -> 35.94 ms a pass, a 49th; 42.0 + 10.87 -> 36.1 + 7.39 us for each expert"),
            gain("late-scale", "the norm's scale after the small matmul, so that nothing waits on statistics", 22, "first_front second_front", r"rsqrt|after the (matmul|projection)|late|reorder|overlap|re-?associat", "44.1 -> 33.1 us, twice a layer"),
            dead("pieces", "the norm's row multicast in pieces of four tiles", "first_front second_front", r"(pieces|chunks?|parts) of|4.tile|four tiles|smaller (pieces|chunks)", "2.4 to 3.2 us slower, after that change"),
            dead("headers", "a pool of packet headers in place of a flush for each packet", "first_front second_front", r"packet|header|flush", "flat, after that change"),
            dead("three-rings", "three rings of cores for the experts", "experts", r"\b(three|3) rings|num_rings\W{0,3}3", "29.6 + 8.20 us for each expert: no better than two"),
            dead("blocks", "five or six blocks of weights held ahead", "experts", r"buffer|ahead|blocks", "no better than four, which took 10.88 -> 10.68 us an expert"),
            dead("both-nocs", "weights read over both NoCs", "experts", r"\bNoCs?\b|NOC", "no better"),
        ),
        f"{MADE_UP}: families are told, 215 us of experts with their sum, 215 of own ops, 110 of matmuls, 52 of the recurrence and 242 of others",
    ),
    laid(
        "flash-next-line-wrapped", NUMERICS, "the same with two own ops around the recurrence", verified(wrapped=True),
        (gain("one", "one own op from the first matmul to the last, row after row", 35, "delta_*", OWN, "0.306 -> 0.271 ms a layer, 12 -> 10 ops"),),
        MADE_UP,
    ),
    laid(
        "flash-next-line-verify-sparse", NUMERICS, "five rows to be verified through a layer with sparse attention: 986 us in kernels", sparse_verified,
        (
            gain("tail", "one own op from the projections to the cache and the queries", 49, "tail_*", OWN, "0.143 -> 0.094 ms a call"),
            gain("merge", "the scores' sum and mask in a gather and one own op", 42, "merge_*", OWN, "0.50 to 0.60 ms a pass, a 12th"),
            gain("post", "two own ops: before the scores' gather, and from attention to the last matmul", 42.5, "pages_* post_*", OWN, "0.51 ms a pass, a 12th; 0.7 of wall time"),
            dead("widen", "the wider format after the last matmul within another op", "out_wide", rf"{OWN}|typecast|dtype|FLOAT32", "zero"),
        ),
        f"{MADE_UP}: families are told, 215 us of experts with their sum, 207 of own ops, 136 of matmuls and 429 of others",
    ),
    laid(
        "flash-next-line-decode", NUMERICS, "one row through a layer's experts, 12 ops for the router's ten best: 88 us", decoded(one=False),
        (gain("pick", "one own op for the router's ten best, four groups of rows on a core each", 36, "pick_*", OWN, "88 -> 52 us, bit for bit"),),
        f"{MADE_UP}; the experts' 65 us are told of one row",
    ),
    laid(
        "flash-next-line-decode-picked", NUMERICS, "the same with the router's ten best in one op", decoded(one=True),
        (gain("beside", "the ten best, the shared expert and the rows' relayout beside each other on other cores, in one op", 13.7, "pick shared_gated shared_down dispatch_rows", rf"{OWN}|parallel|concurrent|sub.?device|beside|overlap|disjoint", "64.9 -> 51.2 us"),),
        MADE_UP,
    ),
    laid(
        "flash-next-line-words", NUMERICS, "the best word and the best 32 of a quarter: 378 us", candidates,
        (gain("within", "the best 32 kept by the scan that finds the best", 242, "scan merge row_*", rf"{OWN}|within|same (scan|pass|op)|argmax", "312 us of ten ops -> 8 of two, while scan and merge take 66 -> 128"),),
        MADE_UP,
    ),
    laid(
        "flash-next-line-lanes", NUMERICS, "the best word of eight rows, each core with all rows of its words: 322 us of scan", lanes,
        (gain("split", "one row of some words on a core, over up to 128", 149, "scan", r"more cores|all (the )?cores|\d+ cores|row.{0,20}core|core_grid|split", "322 -> 173 us; 164 -> 86 for four rows"),),
        "the merge; the scan's cores",
    ),
)  # fmt: skip

"""Wan 2.2 TI2V 5B (it films) on a Blackhole Galaxy: a block of its transformer and what its decoder repeats.

Four chips of a ring share the columns, eight such rings the rows: 2336 of a picture of 1280 x 704 and 81 frames on a
chip, or 1024 of 832 x 480. Hidden 3072, 24 heads of 128, feed-forward of 14336, 512 rows of the prompt. The ledger
has sweeps of its matmuls and of its attention, and one time for each repetition of the decoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block, chunks, minimal
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import MINIMAL_BLOCKS, SDPA_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.profiles import Tensor

LOG = f"{TT_METAL}/01002d7a02eb054f3a1d253e834f2070134813d0/models/tt_dit/models/Wan2_2_TI2V_nadim_opt.md"
GRID, CORES = (12, 10), 120
HIDDEN, PART, HEADS, SIZE, WIDE, PROMPT = 3072, 768, 6, 128, 3584, 512  # of one chip
LARGE: Mapping[str, float] = {"qkv": 315.3, "out": 236.0, "ff1": 400.7, "ff2": 410.6, "proj": 74.7, "kv": 58.7}
SMALL: Mapping[str, float] = {"qkv": 160.2, "out": 108.5, "ff1": 239.3, "ff2": 270.5, "proj": 35.4, "kv": 58.7}


def transformer(rows: int, us: Mapping[str, float], attend: float, q_chunk: int) -> Callable[[], Block]:
    """A block and the projection after all of them."""

    def build() -> Block:
        block, share = Block("blackhole", devices=4, grid=GRID, gap_us=1.0), rows / 2336

        def project(role: str, x: Tensor, n: int, us: float, *, act: str | None = None) -> Tensor:
            """The columns gathered and multiplied in one op."""
            config = minimal((8, 8, 8), (2, 2), (12, 9))
            weighted = block.weight(HIDDEN, n, "BFLOAT16")
            return block.op(
                role, "AllGatherMinimalMatmulAsync", (x, weighted), block.tensor([*x.shape[:-1], n]), us, cores=108,
                fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), config=config,
                fused_activation=act, num_links=2, ring_size=4, topology="Topology::Ring",
            )  # fmt: skip

        def normed(role: str, x: Tensor) -> Tensor:
            kind, kernel, cores = (
                "LayerNormDistributedType::LAYERNORM",
                block.kernel("HiFi4", fp32=True),
                rows // 32,
            )
            sums = block.op(f"{role}_sums", "LayerNormPreAllGather", (x,), block.tensor([1, 1, rows, 64]), 34 * share, cores=cores, fidelity="HiFi4", compute_kernel_config=kernel, norm_type=kind)  # fmt: skip
            sums = block.collective(f"{role}_gathered", "AllGatherAsync", sums, 256, 26)
            x = block.op(f"{role}_scaled", "LayerNormPostAllGather", (x, sums), block.tensor(x.shape), 44 * share, cores=cores, fidelity="HiFi4", compute_kernel_config=kernel, eps="1e-06", norm_type=kind)  # fmt: skip
            return block.binary(
                f"{role}_modulated", "MUL", x, block.tensor([1, 1, 1, PART]), 22 * share, cores=CORES
            )

        def added(role: str, x: Tensor, y: Tensor) -> Tensor:
            gated = block.binary(f"{role}_gated", "MUL", y, block.tensor([1, 1, 1, PART]), 22 * share, cores=CORES)
            return block.binary(role, "ADD", x, gated, 24 * share, cores=CORES)

        x = block.tensor([1, 1, rows, PART])
        qkv = project("qkv", normed("norm", x), 3 * PART, us["qkv"])
        q, k, v = block.split_heads("heads", qkv, 60 * share, heads=HEADS, kv=HEADS, size=SIZE, rows=rows, cores=rows // 32)  # fmt: skip
        q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, block.tensor([1, 1, rows, SIZE]), block.tensor([1, 1, rows, SIZE]), block.tensor([1, 1, 32, 32])), block.tensor(one.shape), 48 * share, cores=CORES, fidelity="HiFi4", is_decode_mode=False, output_mem_config=one.placement) for name, one in (("q", q), ("k", k)))  # fmt: skip
        out = block.op(
            "attend", "RingJointSDPA", (q, k, v), block.tensor(q.shape), attend, cores=110, fidelity="HiFi2",
            compute_kernel_config=block.kernel("HiFi2"), is_causal=False, joint_strategy="rear", logical_n=8 * rows,
            program_config=chunks(q_chunk, 512, (11, 10)), ring_size=8, scale="0.08838834764",
        )  # fmt: skip
        joined = block.join_heads("joined", out, 50 * share, cores=rows // 32)
        x = added("attention_added", x, project("out", joined, PART, us["out"]))
        q = project("cross_q", normed("norm_cross", x), PART, us["out"])
        q = block.op("cross_heads", "NlpCreateHeads", (q,), block.tensor([1, HEADS, rows, SIZE]), 30 * share, cores=rows // 32, head_dim=SIZE, num_kv_heads=0, num_q_heads=HEADS, output_mem_config=q.placement, transpose_k_heads=False)  # fmt: skip
        kv = block.minimal("cross_kv", block.tensor([1, 1, PROMPT, HIDDEN]), 2 * PART, us["kv"], config=minimal((8, 8, 8), (2, 2), (11, 10)), cores=110)  # fmt: skip
        k, v = (block.slice(f"cross_{name}", kv, (0, 0, 0, at * PART), (1, 1, PROMPT, (at + 1) * PART), 8) for at, name in enumerate("kv"))  # fmt: skip
        k, v = (block.view(one, [1, HEADS, PROMPT, SIZE]) for one in (k, v))
        out = block.attend("cross_attend", q, k, v, 150 * share, config=chunks(256, 512, (11, 10)), cores=110, causal=False)  # fmt: skip
        joined = block.join_heads("cross_joined", out, 50 * share, cores=rows // 32)
        x = block.binary("cross_added", "ADD", x, project("cross_out", joined, PART, us["out"]), 24 * share, cores=CORES)  # fmt: skip
        wide = project("ff1", normed("norm_feed", x), WIDE, us["ff1"], act="GELU")
        down = block.op(
            "ff2", "MinimalMatmulStridedReduceScatterAsync", (wide, block.weight(WIDE, HIDDEN, "BFLOAT16")),
            block.tensor([1, 1, rows, PART]), us["ff2"], cores=110, fidelity="HiFi2",
            compute_kernel_config=block.kernel("HiFi2"), config=minimal((8, 8, 8), (2, 2), (11, 9)), num_links=2,
            ring_size=4, topology="Topology::Ring",
        )  # fmt: skip
        x = added("feed_added", x, down)
        whole = block.collective("gathered", "AllGatherAsync", x, HIDDEN, 110 * share)
        block.minimal("projected", whole, 192, us["proj"], config=minimal((8, 8, 8), (2, 2), (11, 10)), cores=110)
        return block

    return build


def repeated(places: Sequence[int], channels: tuple[int, int], factor: tuple[int, int], ms: Sequence[float]) -> Callable[[], Block]:  # fmt: skip
    """Channels made into places: a short cut around two convolutions; times of each step."""

    def build() -> Block:
        block = Block("blackhole", devices=4, grid=GRID, gap_us=5.0)
        (t, h, w), (inside, out), (factor_t, factor_s) = places, channels, factor
        whole = factor_t * factor_s * factor_s
        count = out * whole // inside
        x = block.tensor([1, t, h * w, inside], layout=ROW_MAJOR)
        steps = iter(1e3 * one for one in ms)

        def shaped(role: str, x: Tensor, shape: Sequence[int]) -> Tensor:
            return block.moved(role, "ReshapeView", x, next(steps), shape=shape, cores=CORES)

        made = block.op("convolved", "Conv3d", (x, block.tensor([1, 1, 27 * inside, out])), block.tensor([1, t, h * w, out], layout=ROW_MAJOR), next(steps), cores=CORES, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), output_channels=out)  # fmt: skip
        single = shaped("single", x, [t * h * w, inside, 1])
        many = block.concat("many", [single] * count, [t * h * w, inside, count], 2, next(steps))
        grouped = shaped("grouped", many, [t * h * w, out, whole])
        turned = block.permute("turned", grouped, (0, 2, 1), next(steps))
        rows = shaped("rows", turned, [t, h, w * factor_t * factor_s, factor_s * out])
        turned = block.permute("placed", block.view(rows, [t, h, w, factor_t * factor_s, factor_s * out]), (0, 3, 1, 2, 4), next(steps))  # fmt: skip
        larger = shaped("larger", turned, [1, t * factor_t, h * factor_s * w * factor_s, out])
        upsampled = block.tensor(larger.shape, layout=ROW_MAJOR)
        block.op("convolved_again", "Conv3d", (made, block.tensor([1, 1, 27 * out, out])), upsampled, next(steps), cores=CORES, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), output_channels=out)  # fmt: skip
        block.binary("added", "ADD", upsampled, larger, next(steps), cores=CORES)
        return block

    return build


SHORT_CUT = "single many grouped turned rows placed larger"
NEAREST = r"upsample|nearest|repeat_interleave|broadcast|(inner|last|trailing)(most)? (dim|ax|channel)|channels? (last|inner)|\bpad(ded|ding|s)?\b|32 ?(B\b|bytes)|(instead of|avoid|without|remove|drop) .{0,60}(concat|repeat)"
SHORT_KEYS = r"k_chunk_size.{0,4}\b(128|256)\b|keys? .{0,20}\b(128|256)\b"
MADE_UP = "the ops beside those swept, and their times; that two projections of cross attention have the shape of to_out; the blocks before; gaps; one ring of eight"
UP_MADE_UP = "how the chain's time divides over its ops, but for the concatenation of the middle one; its shapes on a chip; the convolutions and the sum; gaps"

WAN = (
    laid(
        "wan-720p-first", LOG, "a block at 1280 x 704, attention by 128 queries and 512 keys", transformer(2336, LARGE, 1480, 128),
        (
            gain("queries", "160 queries at a time: 90 pieces of work for 110 cores instead of 114", 411.6, "attend", SDPA_CHUNKS, "1480.0 -> 1068.4 us; the film's steps 12.18 -> 11.44 s"),
            dead("keys", "128 or 256 keys at a time", "attend", SHORT_KEYS, "1480.0 -> 1954.4 and 1619.2 us"),
        ),
        MADE_UP,
    ),
    laid(
        "wan-720p", LOG, "a block at 1280 x 704, attention by 160 queries and 512 keys", transformer(2336, LARGE, 1068.4, 160),
        (
            gain("qkv", "blocks of the swept table for to_qkv", 39.5, "qkv", MINIMAL_BLOCKS, "315.3 -> 275.8 us"),
            gain("out", "blocks of the swept table for to_out, of which there are three", 20.4, "out cross_q cross_out", MINIMAL_BLOCKS, "236.0 -> 229.2 us each"),
            gain("ff1", "blocks of the swept table for ff1", 48.6, "ff1", MINIMAL_BLOCKS, "400.7 -> 352.1 us"),
            gain("ff2", "blocks of the swept table for ff2", 52.9, "ff2", MINIMAL_BLOCKS, "410.6 -> 357.7 us"),
            gain("projected", "blocks of the swept table for the last projection", 4.5, "projected", MINIMAL_BLOCKS, "74.7 -> 70.2 us"),
            gain("kv", "blocks of the swept table for cross attention's keys and values", 4.0, "cross_kv", MINIMAL_BLOCKS, "58.7 -> 54.7 us"),
            dead("queries", "128, 192, 224 or 256 queries at a time", "attend", r"q_chunk_size.{0,4}\b(128|192|224|256)\b", "1068.4 -> 1480.0, 1183.6, 1260.9 and 1433.0 us"),
            dead("keys", "128 or 256 keys at a time", "attend", SHORT_KEYS, "1068.4 -> 1579.0 and 1174.8 us"),
        ),
        MADE_UP,
    ),
    laid(
        "wan-480p", LOG, "a block at 832 x 480", transformer(1024, SMALL, 420, 128),
        (
            gain("qkv", "blocks of the swept table for to_qkv", 10.7, "qkv", MINIMAL_BLOCKS, "160.2 -> 149.5 us"),
            gain("ff1", "blocks of the swept table for ff1", 35.5, "ff1", MINIMAL_BLOCKS, "239.3 -> 203.8 us"),
            gain("ff2", "blocks of the swept table for ff2", 60.1, "ff2", MINIMAL_BLOCKS, "270.5 -> 210.4 us"),
            gain("projected", "blocks of the swept table for the last projection", 1.7, "projected", MINIMAL_BLOCKS, "35.4 -> 33.7 us"),
            dead("out", "other blocks for to_out", "out cross_q cross_out", MINIMAL_BLOCKS, "108.5 us: the best of some 350 are those it has"),
            dead("queries", "160 queries at a time", "attend", SDPA_CHUNKS, "the film's steps +0.5%, within 1.1%: 48 pieces of work are fewer than the cores as it is"),
        ),
        f"the attention's time; {MADE_UP}",
    ),
    laid(
        "wan-up-0", LOG, "the first repetition of the decoder: 50.4 ms", repeated((7, 11, 10), (1024, 1024), (2, 2), (1.5, 1.6, 12.4, 6.2, 12.1, 5.1, 8.2, 4.8, 1.5, 0.2)),
        (gain("nearest", "channels kept as the rows, the whole an upsampling to the nearest", 50_210, SHORT_CUT, NEAREST, "50.4 -> 0.19 ms, with the launches"),),
        UP_MADE_UP,
    ),
    laid(
        "wan-up-1", LOG, "the second repetition of the decoder: 186.0 ms", repeated((14, 22, 20), (1024, 1024), (2, 2), (6, 6.0, 83.6, 18.4, 36.2, 11.0, 19.6, 11.2, 6, 0.7)),
        (gain("nearest", "channels kept as the rows, the whole an upsampling to the nearest", 185_440, SHORT_CUT, NEAREST, "186.0 -> 0.56 ms, with the launches"),),
        UP_MADE_UP,
    ),
    laid(
        "wan-up-2", LOG, "the third repetition of the decoder, two of each channel: 206.8 ms", repeated((28, 44, 40), (1024, 512), (1, 2), (24, 14.0, 61.8, 25.0, 44.0, 18.0, 28.0, 16.0, 24, 2.4)),
        (gain("slices", "channels kept as the rows: two slices of them, repeated along the width", 201_060, SHORT_CUT, NEAREST, "206.8 -> 5.74 ms, with the launches"),),
        UP_MADE_UP,
    ),
)  # fmt: skip

"""BEVFormer's encoder (it sees a street from above by six cameras) on one Wormhole chip (n150): one layer.

100 x 100 places, eight heads of 32, four points; attention to the last picture from above has one level, that to the
cameras four: 30125 places of six cameras, seen from 2496 rows of each. The ledger has times of kinds of ops at each
stage and of most single ops at one (perf_optimization_candidates.md at 7820f325bd8); two branches of it go apart after
the sampling became one op. Rows of measurements hold a reshape, two permutes and an embedding of its layers, and the
gather that was tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.profiles import Tensor

FOLDER = "models/experimental/bevformer/docs/perf_reports"
FOLDED = f"{TT_METAL}/1d274eb0b9d046ed49dcff2eb43be886f37bbae0/{FOLDER}/05-offset-normalizer-folded.md"
CAMERAS = f"{TT_METAL}/276a95e15422170db948a0e6ceef390f3cdf7a5f/{FOLDER}/03-camera-fold.md"
KEY = f"{TT_METAL}/4af8255f67b9443e7d23329c2ca24c9ac8be471b/{FOLDER}/06-sca-key-permute-deleted.md"
ROWS = f"{TT_METAL}/4af8255f67b9443e7d23329c2ca24c9ac8be471b/{FOLDER}/07-sampling-grid-in-row-major.md"
ONCE = f"{TT_METAL}/4af8255f67b9443e7d23329c2ca24c9ac8be471b/{FOLDER}/08-attn-prepared-once-per-call.md"
HEADS_FIRST = f"{TT_METAL}/1c13bedcd22219c8fffbc25f52a3fec848f60fb5/{FOLDER}/09-head-major-sampling-grid.md"
SPLIT_HEADS = f"{TT_METAL}/1c13bedcd22219c8fffbc25f52a3fec848f60fb5/{FOLDER}/10-value-head-split-unpadded.md"
HOISTED = f"{TT_METAL}/5c5e26a82043d5e609c7aaf6d7fc6c8c648c8655/{FOLDER}/05-hoisted-layout-ops.md"
DEAD_ENDS = f"{TT_METAL}/8a48cf6bde251f9dfcf85296c100a192c272b59a/{FOLDER}/DEAD_ENDS.md"
GRID, CORES = (8, 8), 64
HEADS, POINTS, SIZE, HIDDEN = 8, 4, 32, 256
PLACES, SEEN, CAMERAS_OF, LEVELS = 10000, 2496, 6, ((200, 113), (100, 57), (50, 29), (25, 15))
ALL = sum(h * w for h, w in LEVELS)


@dataclass(frozen=True)
class How:
    """A layer at a stage of its tuning."""

    divided: bool = False  # offsets by the size of their level, by an op
    keyed: bool = False  # cameras permuted a second time, for a key that nobody reads
    in_rows: bool = False  # the sampling grid made flat and in row major
    once: bool = False  # attention's weights prepared before the levels
    heads_first: bool = False  # the grid with its heads before its queries
    folded: bool = False  # the other branch: cameras permuted in row major, values too, weights permuted by level
    early: bool = False  # there: the grid permuted once, values out of tiles before the heads are split


class Layer:
    """The parts of a layer."""

    def __init__(self, how: How) -> None:
        self.how, self.block = how, Block("wormhole_b0", grid=GRID, gap_us=70.0)

    def shaped(self, role: str, x: Tensor, shape: Sequence[int], ms: float) -> Tensor:
        return self.block.moved(role, "ReshapeView", x, 1e3 * ms, shape=shape, cores=CORES)

    def untiled(self, role: str, x: Tensor, ms: float) -> Tensor:
        return self.block.moved(role, "UntilizeWithUnpadding", x, 1e3 * ms, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")  # fmt: skip

    def tiled(self, role: str, x: Tensor, ms: float) -> Tensor:
        return self.block.moved(role, "TilizeWithValPadding", x, 1e3 * ms, layout="TILE", cores=CORES, fidelity="HiFi4")  # fmt: skip

    def linear(self, role: str, x: Tensor, n: int, ms: float) -> Tensor:
        return self.block.linear(role, x, n, 1e3 * ms, fidelity="HiFi4", cores=CORES, bias=True, packer=False)

    def binary(self, role: str, kind: str, a: Tensor, b: Tensor, ms: float) -> Tensor:
        return self.block.binary(role, kind, a, b, 1e3 * ms, cores=CORES)

    def sampled(self, role: str, value: Tensor, grid: Tensor, weights: Tensor, ms: float) -> Tensor:
        batch, rows = weights.shape[:2]
        out = self.block.tensor([batch, rows, 1, SIZE], layout=ROW_MAJOR)
        return self.block.op(
            role, "MSDAOperation", (value, grid, weights), out, 1e3 * ms, cores=CORES, fidelity="HiFi4",
            align_corners=False, memory_config=out.placement,
        )  # fmt: skip

    def grid(self, role: str, x: Tensor, levels: int, ms: Sequence[float]) -> Tensor:
        """Where each point samples; times of two shapes, a division, a sum, a product, a difference, out of tiles."""
        block, how, rows = self.block, self.how, x.shape[-2]
        flat = [1, 1, rows, HEADS * levels * POINTS * 2]
        offsets = self.linear(f"{role}_offsets", x, flat[-1], ms[0])
        if how.in_rows:
            if how.heads_first:
                offsets = self.shaped(
                    f"{role}_offsets_heads", offsets, [1, rows, HEADS, flat[-1] // HEADS], ms[7] / 4
                )
                offsets = block.turned(f"{role}_offsets_turned", offsets, 1e3 * ms[7] / 18, dims="CH", cores=CORES)
            offsets = self.untiled(f"{role}_offsets_rows", offsets, 0.15)
            bias = block.moved(f"{role}_bias", "RepeatCodegen", block.tensor([1, 1, rows, 8], layout=ROW_MAJOR), 150 if how.heads_first else 1e3 * ms[8], shape=offsets.shape, cores=CORES)  # fmt: skip
            grid = self.binary(f"{role}_shifted", "ADD", offsets, bias, 0.3)
            return self.shaped(f"{role}_split", grid, [rows, HEADS, levels, POINTS * 2], ms[7])
        apart = [rows * HEADS, levels, POINTS, 2]
        offsets = self.shaped(f"{role}_apart", offsets, apart, ms[1])
        if how.divided:
            offsets = self.binary(f"{role}_divided", "DIV", offsets, block.tensor([1, levels, 1, 2]), ms[2])
        offsets = self.shaped(f"{role}_grouped", offsets, apart, ms[3])
        grid = self.binary(f"{role}_shifted", "ADD", offsets, block.tensor(apart), ms[4])
        grid = self.binary(f"{role}_doubled", "MUL", grid, block.tensor([1, 1, 1, 1]), ms[5])
        grid = self.binary(f"{role}_centred", "SUB", grid, block.tensor([1, 1, 1, 1]), ms[5])
        return self.untiled(f"{role}_rows", grid, ms[6])

    def past(self, x: Tensor) -> Tensor:
        """Attention to the last picture from above."""
        block, how = self.block, self.how
        value = self.linear("past_value", x, HIDDEN, 0.2)
        value = self.shaped("past_value_heads", value, [1, PLACES, HEADS, SIZE], 1.9)
        value = block.turned("past_value_turned", value, 500, dims="CH", cores=CORES)
        value = self.untiled("past_value_rows", value, 0.7)
        grid = self.grid("past", x, 1, (0.15, 11, 9.4, 3, 9.41, 1.56, 8.27, 1.6, 1.0))
        if not how.heads_first:
            grid = self.block.permute("past_turned", block.view(grid, [1, PLACES, HEADS, 8]), (0, 2, 1, 3), 3300)
        weights = self.linear("past_weights", x, HEADS * POINTS, 0.12)
        weights = block.softmax("past_softmax", block.view(weights, [1, PLACES, HEADS, POINTS]), 490, cores=CORES)
        if not how.once:
            weights = self.shaped("past_weights_apart", weights, [PLACES, HEADS, 1, POINTS], 2.4)
        weights = block.turned("past_weights_turned", weights, 400, dims="CH", cores=CORES)
        weights = self.untiled("past_weights_rows", weights, 0.3 if how.once else 1.8)
        weights = block.view(weights, [HEADS, PLACES, 1, POINTS])
        out = self.sampled("past_sampled", block.view(value, [HEADS, 100, 100, SIZE]), grid, weights, 24.4)
        out = block.permute("past_packed", block.view(out, [1, HEADS, PLACES, SIZE]), (0, 2, 1, 3), 1200)
        out = self.tiled("past_tiled", block.view(out, [1, 1, PLACES, HIDDEN]), 0.3)
        return self.binary("past_added", "ADD", x, self.linear("past_out", out, HIDDEN, 0.2), 0.15)

    def plan(self) -> Tensor:
        """Which places each camera sees, and from where; made anew, as only this layer runs."""
        block = self.block
        seen = block.unary("plan_clamped", "CLAMP", block.tensor([1, CAMERAS_OF, PLACES, POINTS]), 700, cores=CORES)
        seen = self.untiled("plan_rows", seen, 0.9)
        index = block.tensor([1, 1, 1, CAMERAS_OF * SEEN], "UINT32", layout=ROW_MAJOR)
        picked = block.op("plan_points", "Embeddings", (index, block.view(seen, [1, 1, PLACES * CAMERAS_OF, POINTS])), block.tensor([1, 1, CAMERAS_OF * SEEN, POINTS], layout=ROW_MAJOR), 120, cores=CORES, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=seen.placement, pad_token=None, tilized=False)  # fmt: skip
        picked = self.shaped("plan_shaped", picked, [CAMERAS_OF, SEEN, POINTS // 2, 2], 2.5)
        return block.moved("plan_repeated", "RepeatCodegen", picked, 1000, shape=[CAMERAS_OF, SEEN, POINTS, 2], cores=CORES)  # fmt: skip

    def fold(self) -> Tensor:
        """The cameras' places, camera by camera."""
        block, how = self.block, self.how
        shape = [CAMERAS_OF, ALL, 1, HIDDEN]
        if how.folded:
            rows = block.tensor(shape, layout=ROW_MAJOR)
            return self.tiled("value_tiled", block.permute("value_folded", rows, (2, 0, 1, 3), 1800), 1.0)
        places = block.tensor(shape)
        if how.keyed:
            block.permute("key_folded", places, (2, 0, 1, 3), 19_320)
        return block.permute("value_folded", places, (2, 0, 1, 3), 19_300)

    def weights_of(self, n: int, weights: Tensor) -> Tensor:
        """Attention's weights of one level."""
        block, how, role, shape = self.block, self.how, f"weights_{n}", [CAMERAS_OF * HEADS, SEEN, 1, POINTS]
        start, end = (0, 0, n, 0), (*weights.shape[:2], n + 1, POINTS)
        if how.once:
            return block.view(block.slice(f"{role}_cut", weights, start, end, 60), shape)
        if how.folded:
            cut = block.slice(f"{role}_cut", weights, start, end, 600)
            cut = block.permute(f"{role}_turned", block.view(cut, [CAMERAS_OF, SEEN, HEADS, POINTS]), (0, 2, 1, 3), 1500)  # fmt: skip
            return block.view(cut, shape)
        if n:
            rows = self.untiled(f"{role}_untiled", weights, 3.6)
            cut = self.tiled(f"{role}_tiled", block.slice(f"{role}_cut", rows, start, end, 570), 5.43)
        else:
            cut = block.slice(f"{role}_cut", weights, start, end, 2410)
        cut = self.shaped(f"{role}_shaped", cut, [CAMERAS_OF, SEEN, HEADS, POINTS], 1.4)
        cut = block.turned(f"{role}_turned", cut, 400, dims="CH", cores=CORES)
        return block.view(self.untiled(f"{role}_rows", cut, 1.1), shape)

    def value_of(self, n: int, value: Tensor, start: int) -> Tensor:
        """The values of one level, head by head."""
        block, how, (h, w) = self.block, self.how, LEVELS[n]
        share = h * w / ALL
        cut = block.slice(f"value_{n}_cut", value, (0, start, 0, 0), (CAMERAS_OF, start + h * w, HEADS, SIZE), 3900 * share)  # fmt: skip
        if how.folded:
            if not how.early:
                cut = self.untiled(f"value_{n}_rows", cut, 8.9 * share)
            cut = block.permute(f"value_{n}_turned", cut, (0, 2, 1, 3), 9800 * share)
        else:
            cut = block.turned(f"value_{n}_turned", cut, 5100 * share, dims="CH", cores=CORES)
            cut = self.untiled(f"value_{n}_rows", cut, 8.9 * share)
        return block.view(cut, [CAMERAS_OF * HEADS, h, w, SIZE])

    def cameras(self, x: Tensor) -> Tensor:
        """Attention to the cameras."""
        block, how = self.block, self.how
        self.plan()
        rows = self.untiled("query_rows", x, 0.09)
        index = block.tensor([1, 1, 1, CAMERAS_OF * SEEN], "UINT32", layout=ROW_MAJOR)
        query = block.op("query_rebatched", "Embeddings", (index, rows), block.tensor([1, 1, CAMERAS_OF * SEEN, HIDDEN]), 150, cores=CORES, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=x.placement, pad_token=None, tilized=True)  # fmt: skip
        value = block.view(self.fold(), [1, CAMERAS_OF, ALL, HIDDEN])
        value = self.linear("value", value, HIDDEN, 2.3)
        if how.early:
            value = block.view(self.untiled("value_rows", value, 3.6), [CAMERAS_OF, ALL, HEADS, SIZE])
        else:
            value = self.shaped("value_heads", value, [CAMERAS_OF, ALL, HEADS, SIZE], 21.15)
        grid = self.grid("grid", query, 4, (0.25, 16.88, 23.9, 4.44, 14.98, 9.55, 14.26, 7.09, 2.0))
        weights = self.linear("weights", query, HEADS * 4 * POINTS, 0.15)
        shape = [1, CAMERAS_OF * SEEN, HEADS, 4 * POINTS]
        weights = block.softmax("softmax", block.view(weights, shape), 730, cores=CORES)
        if how.once:
            weights = self.untiled("weights_rows", block.turned("weights_turned", weights, 400, dims="CH", cores=CORES), 0.2)  # fmt: skip
            weights = self.shaped("weights_apart", weights, [CAMERAS_OF * SEEN, HEADS, 4, POINTS], 2.59)
        elif how.folded:
            weights = self.shaped("weights_apart", self.untiled("weights_rows", weights, 0.3), [CAMERAS_OF * SEEN, HEADS, 4, POINTS], 2.6)  # fmt: skip
        else:
            weights = self.shaped("weights_apart", weights, [CAMERAS_OF * SEEN, HEADS, 4, POINTS], 2.2)
        grid = block.view(grid, [CAMERAS_OF * SEEN, HEADS, 4, POINTS * 2])
        if how.early:
            grid = block.permute("grid_turned", grid, (1, 0, 2, 3), 1700)
        total, start = None, 0
        for n, (h, w) in enumerate(LEVELS):
            part = block.slice(f"grid_{n}_cut", grid, (0, 0, n, 0), (*grid.shape[:2], n + 1, POINTS * 2), 1280)
            part = block.view(part, [CAMERAS_OF, SEEN, HEADS, POINTS * 2])
            if not (how.heads_first or how.early):
                part = block.permute(f"grid_{n}_turned", part, (0, 2, 1, 3), 5010)
            part = block.view(part, [CAMERAS_OF * HEADS, SEEN, POINTS, 2])
            out = self.sampled(
                f"sampled_{n}", self.value_of(n, value, start), part, self.weights_of(n, weights), 35.85
            )
            total = out if total is None else self.binary(f"summed_{n}", "ADD", total, out, 0.32)
            start += h * w
        assert total is not None
        out = block.permute("packed", block.view(total, [CAMERAS_OF, HEADS, SEEN, SIZE]), (0, 2, 1, 3), 1500)
        out = self.tiled("packed_tiled", block.view(out, [1, 1, CAMERAS_OF * SEEN, HIDDEN]), 0.3)
        return self.back(x, self.linear("camera_out", out, HIDDEN, 0.35))

    def back(self, x: Tensor, out: Tensor) -> Tensor:
        """What the cameras saw, back at its places."""
        block = self.block
        out = self.untiled("back_rows", out, 0.2)
        empty = block.tensor([1, 1, PLACES, HIDDEN], layout=ROW_MAJOR)
        index = block.tensor(out.shape, "UINT32", layout=ROW_MAJOR)
        slots = block.op("back_scattered", "Scatter", (empty, index, out), empty, 10_500, cores=CORES, dim=2)
        slots = self.tiled("back_tiled", slots, 0.3)
        slots = self.binary("back_counted", "DIV", slots, block.tensor([1, 1, PLACES, 1]), 0.2)
        return self.binary("camera_added", "ADD", x, slots, 0.15)

    def whole(self) -> Block:
        block = self.block
        x = self.past(block.tensor([1, 1, PLACES, HIDDEN]))
        x = self.cameras(block.norm("norm_past", x, 89, cores=CORES, kind="LAYERNORM"))
        x = block.norm("norm_camera", x, 89, cores=CORES, kind="LAYERNORM")
        wide = block.unary("relu", "RELU", self.linear("up", x, 512, 0.3), 300, cores=CORES)
        x = self.binary("feed_added", "ADD", x, self.linear("down", wide, HIDDEN, 0.3), 0.15)
        block.norm("norm_feed", x, 89, cores=CORES, kind="LAYERNORM")
        return block


def layer(how: How) -> Callable[[], Block]:
    return lambda: Layer(how).whole()


STAGE_4, STAGE_5, STAGE_6 = How(divided=True, keyed=True), How(keyed=True), How()
STAGE_7, STAGE_8, STAGE_9 = How(in_rows=True), How(in_rows=True, once=True), How(in_rows=True, once=True, heads_first=True)  # fmt: skip
OTHER_4, OTHER_5 = How(in_rows=True, folded=True), How(in_rows=True, folded=True, early=True)

INTO_WEIGHTS = r"(fold|scal|divi|multipl|absorb|bake|premultipl|pre-multipl).{0,80}(weight|linear|matmul|projection)|(weight|linear|matmul|projection).{0,80}(fold|scaled|divided|absorb|pre-?multipl)"
UNREAD = r"(un|never |not )(used|read)\b|no(body| op|thing) (later )?(reads|uses)|same (tensor|input).{0,40}twice|twice|reuse|permut.{0,40}once"
IN_ROWS = r"row.?major|\bpad(ded|ding|s)?\b|(last|trailing) (two )?(dim|ax)|flat"
PREPARED = r"row.?major|(un)?tiliz.{0,100}(once|remove|drop|avoid|skip|stay|keep|round)|(once|remove|drop|avoid|skip|without|stay|keep|round).{0,100}(un)?tiliz|to_layout"
TURNED = r"transpose|permut.{0,80}(tile|once|before|avoid|remove|drop|skip|fewer)|(tile|once|before|avoid|remove|drop|skip|fewer).{0,80}permut"
SPLIT = r"row.?major|\bpad(ded|ding|s)?\b|reshape|\bview\b"
OTHER_TIMES = (
    "the ops around, and how time splits between single ops of a kind where only their sum is told; gaps; cores"
)

BEVFORMER = (
    laid(
        "bevformer-4", FOLDED, "a layer with its sampling in one op: 489.5 ms", layer(STAGE_4),
        (
            gain("divided", "the division by a level's size folded into the weights of its projection", 32_700, "past_divided grid_divided", INTO_WEIGHTS, "489.5 -> 456.8 ms; all binary ops 81.5 -> 48.2 ms"),
            gain("cameras", "cameras folded in row major, once for key and value", 36_800, "key_folded value_folded", rf"{IN_ROWS}|{UNREAD}", "487.4 -> 450.6 ms in the other branch, whose layer was the same", CAMERAS),
            dead("gather", "a gather instead of an embedding of rows", "plan_points query_rebatched", r"\bgather\b", "97.6 ms instead of 0.12 ms", DEAD_ENDS),
            dead("bound", "a fixed number of rows for each camera, 3072", "grid_* sampled_* weights_*", r"static|fixed (number|length|size)|upper bound|largest (length|number)", "532.4 -> 661.3 ms of the attention to cameras, to let a trace be taken", DEAD_ENDS),
        ),
        OTHER_TIMES, 489_500,
    ),
    laid(
        "bevformer-5", KEY, "the same without the division: 456.5 ms", layer(STAGE_5),
        (gain("key", "no permute of the key, which nobody reads", 19_300, "key_folded value_folded", UNREAD, "62.7 -> 43.4 ms of all permutes; the layer 456.5 -> 438.4 ms"),),
        OTHER_TIMES, 456_500,
    ),
    laid(
        "bevformer-6", ROWS, "the same without the key: 438.4 ms", layer(STAGE_6),
        (gain("rows", "the sampling grid made on flat rows in row major, its constants in weights and bias", 82_200, "past_apart past_grouped past_shifted past_doubled past_centred past_rows grid_apart grid_grouped grid_shifted grid_doubled grid_centred grid_rows", IN_ROWS, "438.4 -> 356.2 ms; all binary ops 49.3 -> 2.3 ms"),),
        OTHER_TIMES, 438_400,
    ),
    laid(
        "bevformer-7", ONCE, "the same with its grid in row major: 356.2 ms", layer(STAGE_7),
        (gain("once", "attention's weights turned in tiles and untilized once, before the levels", 44_900, "past_weights_* weights_*", PREPARED, "356.2 -> 311.3 ms; tilize 17.2 -> 0.9, untilize 26.5 -> 13.2, reshape 55.3 -> 43.0 ms"),),
        OTHER_TIMES, 356_200,
    ),
    laid(
        "bevformer-8", HEADS_FIRST, "the same with attention's weights prepared once: 311.3 ms", layer(STAGE_8),
        (gain("heads", "the grid's heads moved before its queries by a transpose in tiles", 24_500, "past_turned past_bias grid_bias grid_0_turned grid_1_turned grid_2_turned grid_3_turned", TURNED, "311.3 -> 286.8 ms; all permutes 43.4 -> 19.9 ms"),),
        OTHER_TIMES, 311_300,
    ),
    laid(
        "bevformer-9", SPLIT_HEADS, "the same with its grid's heads first: 286.8 ms", layer(STAGE_9),
        (gain("split", "the values' heads folded into rows, then split in row major", 6_600, "value_heads value_*_turned value_*_rows", SPLIT, "286.8 -> 280.2 ms; reshape -14.3, transpose -5.4, permute +13.9 ms"),),
        OTHER_TIMES, 286_800,
    ),
    laid(
        "bevformer-other-4", HOISTED, "the other branch, its grid flat, permuted by level: 310.1 ms", layer(OTHER_4),
        (
            gain("grid", "the grid's heads permuted once instead of by level", 22_000, "past_turned grid_0_turned grid_1_turned grid_2_turned grid_3_turned", TURNED, "47.5 -> 25.5 ms of all permutes"),
            gain("split", "values untilized once, before their heads are split", 24_500, "value_heads value_*_rows", SPLIT, "reshape 41.8 -> 26.2, untilize 17.5 -> 8.5 ms"),
        ),
        OTHER_TIMES, 310_100,
    ),
    laid(
        "bevformer-other-5", HOISTED, "the same with both: 263.6 ms", layer(OTHER_5),
        (
            dead("values", "values permuted once instead of by level", "value_*_turned", TURNED, "263.6 -> 263.5 ms, and 14.9 ms more gaps: these permutes move bytes"),
            dead("grid", "a range of columns cut instead of a grid of six dimensions", "grid_split grid_*_cut", r"reshape|\bview\b|slice", "3.1 ms less of slices, 2.7 ms more of reshapes"),
        ),
        OTHER_TIMES, 263_600,
    ),
)  # fmt: skip

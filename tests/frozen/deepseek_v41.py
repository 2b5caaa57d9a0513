"""DeepSeek V4.1 Flash on 32 Blackhole chips (a Galaxy, 4 x 8): the experts of one layer in a prefill.

Hidden 5120, 384 experts of 2304, of which 12 lie on each chip; every column of chips is a group of 48 that exchanges
tokens among its four chips. A row of chips has 4096 tokens, of which each chip routes 512. All ops but the router's are
of one kind that exists for such prefills. The ledger tells times of the stages and of the whole section.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.profiles import Tensor

FOLDER = "models/demos/blackhole/deepseek_v41_flash"
NOTES = f"{TT_METAL}/01c49e743daee7debd14511317bdca31d50ca460/{FOLDER}/PREFILL_UNIFIED_MOE_NOTES.md"
GRID, CHIPS, TOKENS, OWN, HIDDEN, WIDE, EXPERTS, MINE = (12, 10), 32, 4096, 512, 5120, 2304, 384, 12


@dataclass(frozen=True)
class How:
    """Times of the stages in us."""

    links: int
    gather: float
    rows: float
    router: float
    counted: float
    dispatch: float
    experts: float
    combine: float
    reduced: float
    scatter: float
    exchange: float


def section(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1)

        def exchanged(role: str, name: str, inputs: Sequence[Tensor], out: Tensor, us: float) -> Tensor:
            """Among the four chips of a column."""
            return block.op(role, name, inputs, out, us, cores=12, cluster_axis=0, num_links=how.links, num_workers_per_sender=1, topology="Topology::Linear")  # fmt: skip

        def gathered(role: str, x: Tensor, us: float) -> Tensor:
            """Among the eight chips of a row."""
            out = block.tensor([1, 1, TOKENS, x.shape[-1]], x.dtype, layout=x.layout)
            return block.op(role, "AllGatherAsync", (x,), out, us, cores=8, cluster_axis=1, dim=2, num_links=how.links, output_mem_config=DRAM, ring_size=8, topology="Topology::Linear")  # fmt: skip

        x = block.tensor([1, 1, OWN, HIDDEN])
        for part in range(OWN // 32):
            own = block.slice(f"router_{part}_cut", x, (0, 0, 32 * part, 0), (1, 1, 32 * part + 32, HIDDEN), 4)
            logits = block.linear(f"router_{part}", own, EXPERTS, how.router / 16 * 0.4, fidelity="HiFi4", fp32=True, out="FLOAT32", cores=12)  # fmt: skip
            scores = block.unary(f"router_{part}_scores", "SIGMOID", logits, 3, cores=12)
            best = (block.tensor([1, 1, 32, 8]), block.tensor([1, 1, 32, 8], "UINT16"))
            block.op(f"router_{part}_best", "TopK", (scores,), best, how.router / 16 * 0.6 - 7, cores=1, fidelity="HiFi4", dim=3, k=8, largest=True, sorted=True)  # fmt: skip
        chosen = block.tensor([1, 1, OWN, EXPERTS], "FLOAT32", layout=ROW_MAJOR)
        chosen = gathered("gather_chosen", chosen, 40)
        tiles = gathered("gather", x, how.gather)
        tokens = block.moved("rows", "Untilize", tiles, how.rows, layout=ROW_MAJOR, cores=110, fidelity="HiFi4")
        counts = block.op("counts", "MaskedBincount", (chosen,), block.tensor([1, EXPERTS], "UINT32", layout=ROW_MAJOR), how.counted * 0.6, cores=16)  # fmt: skip
        starts = block.op("starts", "OffsetCumsum", (counts,), block.tensor([4, EXPERTS], "UINT32", layout=ROW_MAJOR), how.counted * 0.4, cores=4, cluster_axis=0)  # fmt: skip
        sent = exchanged("dispatch", "PrefillDispatch", (tokens, chosen, starts), block.tensor([1, 1, 4 * TOKENS, HIDDEN], layout=ROW_MAJOR), how.dispatch)  # fmt: skip
        weights = [block.tensor([MINE, *shape], "BFLOAT8_B") for shape in ((HIDDEN, WIDE), (HIDDEN, WIDE), (WIDE, HIDDEN))]  # fmt: skip
        made = block.op("experts", "UnifiedRoutedExpertMoe", (sent, counts, *weights), block.tensor([1, 1, 4 * TOKENS, HIDDEN], "BFLOAT8_B"), how.experts, cores=88, fidelity="LoFi")  # fmt: skip
        back = exchanged("combine", "PrefillCombine", (made, starts), block.tensor([1, TOKENS, 8, HIDDEN], layout=ROW_MAJOR), how.combine)  # fmt: skip
        total = block.op("reduced", "PostCombineReduce", (back, chosen), block.tensor([1, 1, TOKENS, HIDDEN]), how.reduced, cores=110, fidelity="HiFi4")  # fmt: skip
        part = block.collective(
            "scatter",
            "ReduceScatter",
            total,
            HIDDEN // 8,
            how.scatter,
            ring=8,
            links=how.links,
            topology="Linear",
            place=DRAM,
        )
        block.op("exchange", "AllToAllAsyncGeneric", (part,), block.tensor([1, 1, OWN, HIDDEN]), how.exchange, cores=12, cluster_axis=1, in_dim=3, num_links=how.links, out_dim=2, topology="Topology::Linear")  # fmt: skip
        return block

    return build


ONE = How(1, 790, 220, 700, 350, 2480, 1960, 1750, 860, 790, 280)
REAL = How(2, 415, 190, 735, 112, 3400, 5240, 2716, 735, 415, 147)
MADE_UP = "how the router's time splits over its 16 parts; workers of the ops that no other model here has; gaps"

DEEPSEEK_V41 = (
    laid(
        "dsv41-moe-link", NOTES, "the experts of a layer, 4096 random tokens on a row of chips, one link: 10.0 ms",
        section(ONE),
        (gain("links", "two links for all that goes between chips", 2300, "gather gather_chosen dispatch combine scatter exchange", r"num_links", "10.0 -> 7.7 ms"),),
        f"how the second link's gain is shared out among what goes between chips; {MADE_UP}", 10_000,
    ),
    laid(
        "dsv41-moe-real", NOTES, "the experts of a layer, 4096 tokens of a text on a row of chips, two links: 14.1 ms",
        section(REAL),
        (
            gain("ring", "a ring of the four chips of a column for what is sent out and brought back", 1960, "dispatch combine", r"Ring\b", "14.10 -> 12.14 ms"),
            dead("rows", "rows instead of tiles gathered", "gather rows", r"untilize|row.?major|before the (all.?)?gather", "0.71 -> 1.32 ms"),
            dead("workers", "two to four workers for each sender", "dispatch combine", r"num_workers|workers", "no change"),
            dead("exchange", "one all-to-all of tokens and a sum instead of a reduce-scatter", "scatter exchange", r"all_to_all", "0.17 -> 1.39 ms, and wrong"),
        ),
        f"stages as told sum to 16.3 ms, here each is as much less; {MADE_UP}", 14_100,
    ),
)  # fmt: skip

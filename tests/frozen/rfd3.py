"""RFD3 (it designs proteins) on one Blackhole chip (p300c): the products of its attentions, 298 residues, 1192 atoms.

BFLOAT16, no config: TTNN chose. The ledger timed each product as it was, by a core grid, and by a config for products
of many heads with each count of rows to a core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import CONFIG

if TYPE_CHECKING:
    from collections.abc import Callable

LEDGER = "https://github.com/moritztng/tt-bio/blob/a0666e5723ec3a0f94ef15ce95a85574be2e86f8/perf/attn_sites/rfd3_esm_qb2c0.json"
OWN_CONFIG = r"program_config|ProgramConfig|per_core"


def attention(heads: int, rows: int, keys: int, size: int, us: tuple[float, float, float], cores: tuple[int, int]) -> Callable[[], Block]:  # noqa: PLR0917  # fmt: skip
    """Scores, their softmax, and what they choose."""

    def build() -> Block:
        block = Block("blackhole", grid=(11, 10), gap_us=2.0)
        q, v = block.tensor([1, heads, rows, size]), block.tensor([1, heads, keys, size])
        scores = block.product("scores", q, block.tensor([1, heads, size, keys]), us[0], cores=cores[0])
        block.product("context", block.softmax("softmax", scores, us[1], cores=110), v, us[2], cores=cores[1])
        return block

    return build


MADE_UP = "the softmax between both; cores, as the ledger works them out; fidelity; gaps"
RFD3 = (
    laid(
        "rfd3-trunk", LEDGER, "the trunk's 16 heads of 24",
        attention(16, 298, 298, 24, (27.90, 35.0, 94.87), (100, 10)),
        (
            gain("scores", "two rows of tiles to a core, 80 cores", 7.9, "scores", OWN_CONFIG, "27.90 -> 20.02 us, the same bits"),
            gain("context", "two rows of tiles to a core, 80 cores", 77.2, "context", CONFIG, "94.87 -> 17.70 us, the same bits"),
            dead("grid", "the scores by a core grid", "scores", r"core_grid", "27.90 -> 39.05 us, on 16 cores"),
            dead("heads", "the scores with a head to a core", "scores", r"per_core_M.{0,3}10\b|16 cores", "27.90 -> 38.96 us"),
        ),
        MADE_UP,
    ),
    laid(
        "rfd3-tokens", LEDGER, "16 heads of 48 over tokens",
        attention(16, 298, 320, 48, (49.57, 35.0, 91.58), (100, 10)),
        (
            gain("scores", "two rows of tiles to a core, 80 cores", 23.3, "scores", CONFIG, "49.57 -> 26.31 us, the same bits; by a core grid 47.25"),
            gain("context", "five rows of tiles to a core, 32 cores", 75.8, "context", CONFIG, "91.58 -> 15.83 us, the same bits; by a core grid 23.41, with other bits"),
        ),
        MADE_UP,
    ),
    laid(
        "rfd3-atoms", LEDGER, "four heads of 32 over atoms",
        attention(4, 1192, 1216, 32, (53.82, 60.0, 69.56), (110, 38)),
        (
            gain("context", "two rows of tiles to a core, 76 cores", 30.2, "context", OWN_CONFIG, "69.56 -> 39.34 us, the same bits"),
            dead("scores_grid", "the scores by a core grid", "scores", r"core_grid", "53.82 -> 54.04 us: TTNN falls back, as its buffers do not fit"),
            dead("scores_rows", "the scores with two rows of tiles to a core", "scores", r"per_core_M|program_config|ProgramConfig|76 cores", "53.82 -> 67.26 us"),
            dead("context_grid", "the other product by a core grid", "context", r"core_grid", "69.56 -> 135.07 us, on four cores"),
            dead("context_rows", "the other product with 19 rows of tiles to a core", "context", r"per_core_M.{0,3}19\b|8 cores", "69.56 -> 110.27 us"),
        ),
        MADE_UP,
    ),
)  # fmt: skip

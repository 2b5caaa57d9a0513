"""Protenix-v2 and OpenDDE (they fold proteins) on one Blackhole chip (p150a) of 130 cores.

The products of their attentions, all chosen by TTNN, were timed as they were, by a core grid, and by a config for
products of many heads; the triangle multiplication, the triangle attention, the outer product mean and the templates
of Protenix were timed op by op, or as whole calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import L1, ROW_MAJOR, Block, chunks
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import CONFIG, IN_L1, MINIMAL, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.profiles import Tensor

HOME = "https://github.com/moritztng/tt-bio/blob"
SITES = f"{HOME}/7791dba268e783b2e5a9db73c4c0d312d76a76e5/perf/attn_sites/rank_protenix-v2_298.json"
OPENDDE_SITES = f"{HOME}/7791dba268e783b2e5a9db73c4c0d312d76a76e5/perf/attn_sites/rank_opendde_298.json"
SPLIT = f"{HOME}/834997427f3bddcf9183db14ba215023c0cd3209/perf/trimul_kernel/opsplit_n320.json"
LAYOUTS = f"{HOME}/f6654fdb90902cc3888d323a9f561fbe95285b7b/perf/trimul_kernel/layout_micro_n320.json"
SCOUT = f"{HOME}/b571f7be5b8dd077678e5745ad774d0f6c16567f/docs/boltz2-protenix-kernel-scout.md"
TEMPLATES = f"{HOME}/15878ca07f55979d8b65d0d49f62d0dd9efee185/perf/protenix_tpl_l1/results.md"
GRID, CORES = (13, 10), 130
EXACT = {"fidelity": "HiFi4", "fp32": True, "cores": CORES}
OWN_CONFIG = r"program_config|ProgramConfig|per_core"


def products(batch: Sequence[int], sizes: tuple[int, int, int], dtype: str, us: tuple[float, float, float], cores: tuple[int, int]) -> Callable[[], Block]:  # fmt: skip
    """Scores of (rows, keys, size of a head), their softmax, and what they choose."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=2.0)
        rows, keys, size = sizes
        q, v = block.tensor([*batch, rows, size], dtype), block.tensor([*batch, keys, size], dtype)
        scores = block.product("scores", q, block.tensor([*batch, size, keys], dtype), us[0], cores=cores[0])
        block.product("context", block.softmax("softmax", scores, us[1], cores=CORES), v, us[2], cores=cores[1])
        return block

    return build


def triangle() -> Block:
    """320 by 320 pairs of 256 channels, 64 of them at a time, in L1."""
    block = Block("blackhole", grid=GRID, gap_us=2.0)
    n, width = 320, 256
    normed = block.norm("norm", block.tensor([1, n, n, width]), 426.0, cores=CORES, kind="LAYERNORM", place=L1)
    joined: Tensor | None = None
    for at in range(4):
        both = block.minimal(f"in_{at}", normed, 256, 290.05, fidelity="HiFi4", cores=CORES, place=L1)
        parts = [block.slice(f"part_{at}_{one}", both, (0, 0, 0, 64 * one), (1, n, n, 64 * (one + 1)), 30.2) for one in range(4)]  # fmt: skip
        a, b = (block.binary(f"gated_{at}_{name}", "MUL", one, two, 132.05, cores=CORES, rhs="SIGMOID") for name, one, two in (("a", *parts[:2]), ("b", *parts[2:])))  # fmt: skip
        first = block.permute(f"first_{at}", a, (0, 3, 1, 2), 198.2)
        second = block.permute(f"second_{at}", b, (0, 3, 2, 1), 161.9)
        moved = [
            block.moved(f"moved_{at}_{name}", "Move", one, 22.5) for name, one in (("a", first), ("b", second))
        ]
        made = block.product(f"product_{at}", *moved, 180.4, cores=CORES, place=L1)
        last = block.permute(f"last_{at}", made, (0, 2, 3, 1), 158.5)
        joined = block.concat(f"joined_{at}", (joined, last), (1, n, n, 64 * (at + 1)), 3, (0, 159.8, 221.8, 280.6)[at]) if joined else last  # fmt: skip
    out = block.moved("copied", "Copy", joined or normed, 87.6, place=block.tensor([32, 32]).placement)
    out = block.norm("norm_out", out, 355.6, cores=CORES, kind="LAYERNORM")
    out, gate = (block.linear(name, x, width, us, **EXACT) for name, x, us in (("out", out, 714.3), ("gate", normed, 698.9)))  # fmt: skip
    block.binary("gated_out", "MUL", out, gate, 417.6, cores=CORES, rhs="SIGMOID")
    return block


def attention() -> Block:
    """Triangle attention at the ending node, 512 residues."""
    block = Block("blackhole", grid=GRID, gap_us=2.0)
    n, width, heads, size = 512, 256, 8, 32
    x = block.tensor([1, n, n, width])
    normed = block.norm("norm", block.permute("turned", x, (0, 2, 1, 3), 1600), 900, cores=CORES, kind="LAYERNORM")
    qkv = block.minimal("qkv", normed, 3 * width, 2700, fidelity="HiFi4", cores=CORES)
    q, k, v = block.split_heads("heads", block.view(qkv, [n, 1, n, 3 * width]), 1900, heads=heads, kv=heads, size=size, rows=n, batch=n, cores=CORES)  # fmt: skip
    bias = block.linear("bias", normed, 32, 900, **EXACT)
    bias = block.permute("bias_first", bias, (0, 3, 1, 2), 1085)
    out = block.op(
        "attend", "SDPAOperation", (q, k, v, bias), block.tensor(q.shape), 7375, cores=CORES, fidelity="HiFi2",
        compute_kernel_config=block.kernel("HiFi2"), is_causal=False, output_mem_config=bias.placement,
        program_config=chunks(64, 64, GRID), scale="0.1767766953", sliding_window_size=None, use_mla=False,
    )  # fmt: skip
    out = block.view(block.join_heads("heads_joined", out, 1084, cores=CORES), x.shape)
    gate = block.minimal("gate", normed, width, 1200, fidelity="HiFi4", cores=CORES)
    out = block.binary("gated", "MUL", out, gate, 1240, cores=CORES, rhs="SIGMOID")
    out = block.permute("back", block.linear("out", out, width, 1649, **EXACT), (0, 2, 1, 3), 1600)
    block.binary("sum", "ADD", x, out, 900, cores=CORES)
    return block


def outer() -> Block:
    """The mean of outer products over 2048 rows of the alignment, 512 residues, 32 channels."""
    block = Block("blackhole", grid=GRID, gap_us=2.0)
    n, depth, size = 512, 2048, 32
    normed = block.norm("norm", block.tensor([1, depth, n, 128]), 3000, cores=CORES, kind="LAYERNORM")
    a, b = (block.linear(name, normed, size, 1700, **EXACT) for name in ("left", "right"))
    a = block.permute("left_turned", a, (0, 2, 3, 1), 3500)
    b = block.permute("right_turned", b, (0, 1, 3, 2), 3500)
    made = block.product("product", block.view(a, [1, 1, n * size, depth]), block.view(b, [1, 1, depth, n * size]), 9250, cores=CORES)  # fmt: skip
    rows = block.moved("rows", "Untilize", made, 3250, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")
    last = block.permute("last", block.view(rows, [n, size, n, size]), (0, 2, 1, 3), 10800)
    tiles = block.moved("tiles", "Tilize", block.view(last, [1, n, n, size * size]), 3250, layout="TILE", cores=CORES, fidelity="HiFi4")  # fmt: skip
    out = block.linear("out", tiles, 256, 3650, **EXACT)
    block.unary("mean", "MUL_UNARY_SFPU", out, 3500, cores=CORES, parameter="0.000488")
    return block


def templates() -> Block:
    """Four templates each take 64 channels of 496 by 496 normed pairs."""
    block = Block("blackhole", grid=GRID, gap_us=2.0)
    normed = block.norm("norm", block.tensor([1, 496, 496, 256]), 900, cores=CORES, kind="LAYERNORM")
    for at in range(4):
        block.linear(f"template_{at}", normed, 64, 320.2, **EXACT)
    return block


MADE_UP = "the softmax between both; fidelity; gaps"
PROTENIX = (
    laid(
        "protenix-atoms", SITES, "attention in FLOAT32 over 75 blocks of 32 atoms with 128 keys each",
        products((75, 4), (32, 128, 32), "FLOAT32", (320.16, 45.0, 536.56), (4, 1)),
        (
            gain("scores", "a head of a block to a core, 130 cores", 287.1, "scores", CONFIG, "320.16 -> 33.06 us; by a core grid 33.31"),
            gain("context", "a head of a block to a core, 130 cores", 503.1, "context", CONFIG, "536.56 -> 33.47 us; by a core grid 37.71"),
        ),
        MADE_UP,
    ),
    laid(
        "protenix-tokens", SITES, "attention in FLOAT32 over 298 tokens, 16 heads of 64",
        products((1, 16), (298, 298, 64), "FLOAT32", (48.12, 60.0, 110.90), (100, 20)),
        (
            gain("scores", "five rows of tiles to a core, 32 cores", 3.2, "scores", OWN_CONFIG, "48.12 -> 44.91 us"),
            gain("context", "five rows of tiles to a core, 32 cores", 78.9, "context", CONFIG, "110.90 -> 31.98 us; by a core grid 43.73"),
            dead("grid", "the scores by a core grid", "scores", r"core_grid", "48.12 -> 58.95 us"),
            dead("two", "the scores with two rows of tiles to a core, 80 cores", "scores", r"per_core_M.{0,3}2\b|80 cores", "48.12 -> 53.74 us"),
        ),
        MADE_UP,
    ),
    laid(
        "protenix-trunk", SITES, "the trunk's attention in BFLOAT16 over 298 tokens, 16 heads of 32",
        products((1, 16), (298, 298, 32), "BFLOAT16", (26.76, 35.0, 71.12), (100, 10)),
        (
            gain("scores", "five rows of tiles to a core, 32 cores", 4.85, "scores", OWN_CONFIG, "26.76 -> 21.92 us"),
            gain("context", "two rows of tiles to a core, 80 cores", 56.5, "context", CONFIG, "71.12 -> 14.64 us; by a core grid 23.50"),
            dead("grid", "the scores by a core grid", "scores", r"core_grid", "26.76 -> 30.46 us"),
        ),
        MADE_UP,
    ),
    laid(
        "protenix-triangle", SPLIT, "a triangle multiplication in four parts: 9.04 ms, one op after the other",
        triangle,
        (
            gain("minimal", "both last projections by minimal_matmul", 553.8, "out gate", MINIMAL, "0.6525 -> 0.3756 ms of one", LAYOUTS),
            gain("first", "the permute that puts channels first as a transpose and a swap of rows", 74.0, "first_*", r"transpose", "0.1651 -> 0.1466 ms of one, the same bits", LAYOUTS),
            gain("joined", "one concat at the end instead of three", 112.2, "joined_*", r"one concat|concat.{0,40}(once|end)|once|fewer", "7.053 -> 6.941 ms"),
            dead("moved", "no Move of what is permuted", "moved_*", r"reallocat|Move", "7.053 -> 7.058 ms"),
            dead("second", "the permute that also turns them as transposes", "second_*", r"transpose", "0.1297 -> 0.1661 ms", LAYOUTS),
            dead("last", "the permute that puts channels last as a transpose", "last_*", r"transpose", "0.1260 -> 0.1501 ms", LAYOUTS),
            dead("linear_l1", "a last projection's output in L1", "out gate", IN_L1, "refused: its buffers and L1's clash", LAYOUTS),
        ),
        "the order of parts in the first projection; gaps", pass_us=9038,
    ),
    laid(
        "protenix-attention", SCOUT, "a triangle attention at 512 residues: 24.1 ms",
        attention,
        (
            dead("turned", "the ending node's permutes as transposes", "turned back", r"transpose", "1.0002 times as fast"),
            dead("bias", "the bias's permute as two transposes", "bias_first", r"transpose", "takes 1.03 times as long"),
            dead("packed", "queries, keys, values and gate as one projection", "qkv gate", PACKED, "takes 1.65 times as long"),
        ),
        "how times are shared between the permutes, the projections, and the rest; heads; chunks; gaps", pass_us=24133,
    ),
    laid(
        "protenix-outer", SCOUT, "one of four outer product means over 2048 rows: 47.1 ms",
        outer,
        (
            gain("permutes", "its permutes as transposes", 3217, "left_turned right_turned last", r"transpose", "188.44 -> 175.57 ms of four"),
        ),
        "how times are shared between the permutes, the linears, and the rest; channels before; gaps", pass_us=47110,
    ),
    laid(
        "protenix-templates", TEMPLATES, "the norm of the pairs and what four templates take of it: 2.18 ms",
        templates,
        (
            gain("l1", "the norm and the projections in L1", 1327.6, "*", IN_L1, "2180.7 -> 853.1 us"),
        ),
        "how times are shared; gaps", pass_us=2180.7,
    ),
)  # fmt: skip
OPENDDE = (
    laid(
        "opendde-tokens", OPENDDE_SITES, "attention in BFLOAT16 over 580 tokens, 16 heads of 64",
        products((1, 16), (580, 580, 64), "BFLOAT16", (72.15, 80.0, 248.23), (130, 38)),
        (
            gain("context", "a head to a core, 16 cores", 176.6, "context", CONFIG, "248.23 -> 71.63 us; by a core grid 72.03"),
            dead("grid", "the scores by a core grid", "scores", r"core_grid", "72.15 -> 72.79 us"),
            dead("heads", "the scores with a head to a core", "scores", OWN_CONFIG, "refused: its buffers do not fit in L1"),
        ),
        MADE_UP,
    ),
    laid(
        "opendde-refiner", OPENDDE_SITES, "attention in BFLOAT16 over 580 tokens, eight heads of 64",
        products((1, 8), (580, 580, 64), "BFLOAT16", (38.36, 45.0, 124.80), (130, 38)),
        (
            gain("context", "a head to a core, eight cores", 61.4, "context", CONFIG, "124.80 -> 63.36 us; by a core grid 64.43"),
            dead("grid", "the scores by a core grid", "scores", r"core_grid", "38.36 -> 37.81 us"),
            dead("heads", "the scores with a head to a core", "scores", OWN_CONFIG, "refused: its buffers do not fit in L1"),
        ),
        MADE_UP,
    ),
)  # fmt: skip

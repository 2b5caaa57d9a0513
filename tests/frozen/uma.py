"""UMA's small model (energies and forces of atoms) on one Blackhole chip (p150a, 130 cores): what each edge of its graph does.

1000 atoms have 46016 edges; an atom has nine coefficients of 128 channels, an edge both its atoms'. Edges are turned by a
matrix of 9 x 9 of their own, of which 35 entries are ever other than zero. The ledger times one turn alone in four forms, some
other parts as shares of a step, and tells of others only that they paid: their times are made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, LOFI

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.profiles import Tensor

HOME = "https://github.com/moritztng/tt-atom/blob"
ROTATION = f"{HOME}/00f0291fb4cfe58661d6d7a3c38581dd3c43b226/tt_atom/rotation.py"
FIRST = f"{HOME}/42ba09910c4c60c1d635ee4267b8c648ec6e538b/custom_kernels/README.md"
KERNELS = f"{HOME}/0894f05b2cf368e858d0199347640a366def2bd6/custom_kernels/README.md"
DEVICE = f"{HOME}/11cd94bb3d2da688ab2fee0f3955ec9b857f7d94/tt_atom/device.py"
FORCES = f"{HOME}/97577221c06ca284bba733f84f3c0d2f757b996d/tt_atom/forces.py"
SPECTRAL = f"{HOME}/11cd94bb3d2da688ab2fee0f3955ec9b857f7d94/tt_atom/spectral.py"
RADIAL = f"{HOME}/02cd4d93598ee7e0ec4a099d1e0170a42df598cc/tt_atom/so2.py"
GRID, CORES = (13, 10), 130
EDGES, N, WIDE, ENTRIES = 46016, 9, 256, 35
BLOCKS = ((0,), (1, 2, 3), (4, 5, 6, 7, 8))
DEGREE = [(row, column) for of in BLOCKS for row in of for column in of]
EXACT = {"fidelity": "HiFi4", "fp32": True, "cores": CORES}
KERNEL = r"(fus|one|single|custom).{0,80}(kernel|op\b)|generic_op"


def edges(block: Block, columns: int = N * WIDE) -> Tensor:
    return block.tensor([1, 1, EDGES, columns])


def columns_of(block: Block, name: str, x: Tensor, count: int, us: float) -> list[Tensor]:
    wide = x.shape[-1] // count
    return [
        block.slice(f"{name}_{n}", x, (0, 0, 0, n * wide), (1, 1, EDGES, (n + 1) * wide), us) for n in range(count)
    ]


def turned_whole() -> Block:
    """A small product for each edge."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    block.product("turn", block.tensor([1, EDGES, N, N]), block.tensor([1, EDGES, N, WIDE]), 133_446, cores=CORES)
    return block


def turned(times: Sequence[float], *, at_once: bool) -> Callable[[], Block]:
    """Entry by entry: us of a cut of x, a cut of an entry, a product, a sum or a product with a sum, and of the join."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        cut, entry, product, total, join = times
        x, entries = edges(block), block.tensor([1, 1, EDGES, ENTRIES])
        if at_once:
            parts = [edges(block, WIDE) for _ in range(N)]
            block.op("x_cut", "Split", (x,), parts, N * cut)
            values = [edges(block, 1) for _ in range(ENTRIES)]
            block.op("entries_cut", "Split", (entries,), values, ENTRIES * entry)
        else:
            parts = columns_of(block, "x", x, N, cut)
            values = columns_of(block, "entry", entries, ENTRIES, entry)
        out: dict[int, Tensor] = {}
        for n, (row, column) in enumerate(DEGREE):
            if at_once and row in out:
                given = (out[row], parts[column], values[n])
                out[row] = block.op(f"both_{n}", "Ternary", given, edges(block, WIDE), total, cores=CORES, ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
                continue
            made = block.binary(f"product_{n}", "MUL", parts[column], values[n], product, cores=CORES)
            out[row] = block.binary(f"sum_{n}", "ADD", out[row], made, total, cores=CORES) if row in out else made
        block.concat("joined", [out[row] for row in range(N)], [1, 1, EDGES, N * WIDE], 3, join)
        return block

    return build


def entries_back(*, by_matmul: bool) -> Callable[[], Block]:
    """The gradient of the entries: 35 products of columns, each summed over its 256 channels."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        given = [columns_of(block, name, edges(block), N, 90) for name in ("x", "back")]
        made = [block.binary(f"product_{n}", "MUL", given[1][row], given[0][column], 150, cores=CORES) for n, (row, column) in enumerate(DEGREE)]  # fmt: skip
        if by_matmul:
            x = block.concat("joined", made, [1, 1, EDGES, ENTRIES * WIDE], 3, 6130)
            block.linear("sums", x, ENTRIES, 5500, **EXACT)
            return block
        sums = [
            block.op(f"sum_{n}", "Reduce", (x,), edges(block, 1), 750, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM", scaler=1.0)
            for n, x in enumerate(made)
        ]  # fmt: skip
        block.concat("joined", sums, [1, 1, EDGES, ENTRIES], 3, 2030)
        return block

    return build


def parted() -> Block:
    """The gradient of both atoms of an edge taken apart: nine rows of coefficients fill a tile of 32."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x = block.moved("shaped", "ReshapeView", edges(block), 18_000, shape=[1, EDGES, N, WIDE], cores=CORES)
    for number in range(2):
        half = block.slice(f"half_{number}", x, (0, 0, 0, number * WIDE // 2), (1, EDGES, N, (number + 1) * WIDE // 2), 2000)  # fmt: skip
        block.moved(f"flat_{number}", "ReshapeView", half, 18_000, shape=[1, 1, EDGES, N * WIDE // 2], cores=CORES)
    return block


def convolved() -> Block:
    """The first convolution: the radial factors, then a linear for each order, of 768, 1024 and 512 columns."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    factors = block.linear("radial", edges(block, 128), N * WIDE, 700, bias=True, **EXACT)
    x = block.binary("scaled", "MUL", edges(block), factors, 1500, cores=CORES)
    parts: list[Tensor] = []
    at = 0
    for order, (wide, out, us) in enumerate(((768, 640, 420), (1024, 512, 460), (512, 256, 240))):
        part = block.slice(f"order_{order}", x, (0, 0, 0, at), (1, 1, EDGES, at + wide), us)
        parts.append(block.linear(f"linear_{order}", part, out, 1.3 * us, bias=order == 0, **EXACT))
        at += wide
    gates = block.slice("gates", parts[0], (0, 0, 0, 0), (1, 1, EDGES, 256), 150)
    block.unary("sigmoid", "SIGMOID", gates, 130, cores=CORES)
    rest = block.slice("rest", parts[0], (0, 0, 0, 256), (1, 1, EDGES, 640), 220)
    block.concat("joined", [rest, *parts[1:]], [1, 1, EDGES, 384 + 512 + 256], 3, 620)
    return block


def unnormed() -> Block:
    """The way back through the radial norm of 128 channels, by 15 ops."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x, back = edges(block, 128), edges(block, 128)

    def mean(role: str, y: Tensor) -> Tensor:
        return block.op(role, "Reduce", (y,), edges(block, 1), 92, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::AVG", scaler=1.0)  # fmt: skip

    def two(role: str, kind: str, a: Tensor, b: Tensor) -> Tensor:
        return block.binary(role, kind, a, b, 108, cores=CORES)

    centred = two("centred", "SUB", x, mean("mean", x))
    variance = mean("variance", two("squared", "MUL", centred, centred))
    root = block.unary("root", "RSQRT", block.unary("eps", "ADD_UNARY_SFPU", variance, 30, parameter="1e-05"), 32)
    y = two("normed", "MUL", centred, root)
    back = two("weighted", "MUL", back, block.tensor([1, 1, 1, 128]))
    one = mean("back_mean", back)
    other = mean("along_mean", two("along", "MUL", back, y))
    inner = two("less", "SUB", two("less_mean", "SUB", back, one), two("along_y", "MUL", y, other))
    two("rooted", "MUL", inner, root)
    return block


def spectral() -> Block:
    """The linear of atoms: each degree by itself, its one, three or five coefficients in tiles of 32 rows."""
    block, atoms, wide = Block("blackhole", grid=GRID, gap_us=1.0), 1000, 128
    x, at = block.tensor([1, atoms, N, wide]), 0
    made: list[Tensor] = []
    for degree, of in enumerate(BLOCKS):
        part = block.slice(f"degree_{degree}", x, (0, 0, at, 0), (1, atoms, at + len(of), wide), 350)
        made.append(block.linear(f"linear_{degree}", part, wide, 900, **EXACT))
        at += len(of)
    made[0] = block.binary("bias", "ADD", made[0], block.tensor([1, 1, 1, wide]), 110, cores=CORES)
    block.concat("joined", made, [1, atoms, N, wide], 2, 900)
    return block


MADE_UP = "how times are shared; cores; gaps"
ALL = "all times; cores; gaps"
UMA = (
    laid(
        "uma-products", ROTATION, "46016 edges turned by a product of 9 x 9 and 9 x 256 each: 2.9 us an edge",
        turned_whole,
        (
            gain("columns", "entry by entry, products and sums of columns of all edges at once", 98_330, "turn", r"(element-?wise|multiply.{0,30}(add|accumulat)|column|sparse|flat|addcmul|padd)", "3.8 times as fast"),
            dead("lofi", "LoFi", "turn", LOFI, "as long as HiFi4: the edges count, not the arithmetic"),
        ),
        "channels of an edge in this measurement; cores", pass_us=133_446,
    ),
    laid(
        "uma-entries", FIRST, "46016 edges turned entry by entry, each cut, multiplied and added: 20.78 ms",
        turned((250, 75, 210, 270, 1535), at_once=False),
        (
            gain("kernel", "a kernel of its own", 19_280, "*", KERNEL, "20.78 -> 1.50 ms"),
            gain("addcmul", "one split for all cuts, and products and sums in one op", 13_770, "x_* entry_* product_* sum_*", r"addcmul|(fus|merge|one).{0,60}(multipl|mul\b).{0,60}add|\bsplit\b", "20.78 -> 7.01 ms, which another measurement tells", KERNELS),
        ),
        MADE_UP, pass_us=20_780,
    ),
    laid(
        "uma-addcmul", KERNELS, "46016 edges turned entry by entry by addcmul: 7.01 ms",
        turned((80, 12, 120, 148, 942), at_once=True),
        (gain("kernel", "a kernel of its own", 5390, "*", KERNEL, "7.01 -> 1.62 ms; a step of molecular dynamics 1.4 to 1.68 times as fast"),),
        MADE_UP, pass_us=7010,
    ),
    laid(
        "uma-sums", ROTATION, "the gradient of 35 entries of 46016 edges, each by a product and a sum",
        entries_back(by_matmul=False),
        (gain("matmul", "all sums by one matmul with ones", None, "sum_* joined", r"matmul|matrix multipl|linear", "1.9 times as fast"),),
        ALL,
    ),
    laid(
        "uma-joined", ROTATION, "the gradient of 35 entries of 46016 edges by a join of 824 MB and a matmul with ones: 111 ms of a step",
        entries_back(by_matmul=True),
        (gain("kernel", "a kernel of its own keeps the products in L1", None, "product_* joined sums", KERNEL, "kept from 45000 edges on; below, its buffers collide with what the step holds in L1"),),
        "what one of eight takes: 18.5 ms, as four of twice the others' width share 111 ms; how times are shared; gaps",
        pass_us=18_500,
    ),
    laid(
        "uma-shapes", FORCES, "the gradient of both atoms of 46016 edges taken apart in tiles: three reshapes of 18 ms",
        parted,
        (gain("rows", "reshapes and cuts in ROW_MAJOR, tiles but at the ends", None, "shaped half_* flat_*", rf"{ROW_MAJOR}|row.major|untiliz", "tiles of 32 rows for nine are gone"),),
        "the cuts' times; cores; gaps",
    ),
    laid(
        "uma-convolved", DEVICE, "the first convolution of 46016 edges",
        convolved,
        (
            gain("bfp8", "edges in BFLOAT8_B, weights too", None, "radial scaled order_* linear_* gates sigmoid rest joined", BFP8, "matmuls about twice as fast; few edges lose by it"),
            dead("weights", "only weights in BFLOAT8_B", "linear_* radial", r"weights?.{0,60}(bfloat8_b|BFP8|BFLOAT8_B)", "1.00 times as fast"),
            dead("lofi", "LoFi", "linear_* radial", LOFI, "as long as HiFi4"),
        ),
        ALL,
    ),
    laid(
        "uma-norm-back", RADIAL, "the way back through a radial norm of 46016 edges: 14 ms of a step for about ten",
        unnormed,
        (gain("kernel", "a kernel of its own", None, "*", rf"{KERNEL}|layer_norm_backward|layernorm_bw", "faster at every size", DEVICE),),
        MADE_UP, pass_us=1400,
    ),
    laid(
        "uma-spectral", SPECTRAL, "the linear of 1000 atoms, of each degree by itself; with its like 100 ms of a step",
        spectral,
        (gain("flat", "one linear of all nine coefficients, whose weight is zero between them", None, "degree_* linear_* bias joined", r"flat|2D|block.?diagonal|padd|one (matmul|linear)|tile", "tiles of 32 rows for one, three or five are gone"),),
        ALL,
    ),
)  # fmt: skip

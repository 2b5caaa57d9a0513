"""Orb-v3 (energies and forces of crystals) on one Blackhole chip: the first layer of its graph net, forward and backward.

A crystal of 2016 atoms with 46 neighbours each, thus 92736 edges; 256 numbers of an atom and of an edge. An edge sees itself and
its two atoms through three linears of 1024 and a norm by hand; its atoms add up what their edges say. Forces come from the way
back. BFLOAT16 in DRAM, HiFi4, sums in FLOAT32. The ledger tells times of stages, each op waited for; smaller crystals have times
of the linears of their edges alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import ACTIVATION_IN_MATMUL, BFP8, IN_L1, MINIMAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Layer
    from tests.profiles import Tensor

HOME = "https://github.com/moritztng/tt-atom/blob"
LAYER = f"{HOME}/3463bdf93fb51b97d8f4eacc942f239096704dd1/benchmarks/orb_layer_profile.json"
AFTER = f"{HOME}/3463bdf93fb51b97d8f4eacc942f239096704dd1/benchmarks/orb_layer_profile_opt.json"
LINEARS = f"{HOME}/c6881951703c7e142257c945971c90f2f9e839bb/benchmarks/orb_minimal_matmul.json"
EDGES = f"{HOME}/dddc9f7b555e20834f1cb7244374ec1da13d32d1/benchmarks/orb_edge_mlp_profile.json"
ONE_KERNEL = f"{HOME}/dddc9f7b555e20834f1cb7244374ec1da13d32d1/benchmarks/orb_edge_mlp_profile_fused_bw.json"
EIGHT = f"{HOME}/dddc9f7b555e20834f1cb7244374ec1da13d32d1/benchmarks/orb_edge_mlp_profile_fast.json"
PIECES = f"{HOME}/95b5bd296328e1c912fd03715caafc608d7a8fbf/benchmarks/orb_edge_streaming_floor.json"
SUMS = f"{HOME}/ee66ed9944fb00b6ed196a45daf7f550f67a90bd/benchmarks/orb_scatter_ablation.json"
GRID, CORES = (13, 10), 130
WIDTH, HIDDEN, NEIGHBOURS = 256, 1024, 46
ATOMS = 2016


@dataclass(frozen=True)
class Times:
    """Microseconds of three linears, their two SiLUs and the norm, from first to last."""

    linears: tuple[float, float, float]
    silus: tuple[float, float]
    norm: float
    plain: bool = True


def multiplied(block: Block, role: str, x: Tensor, n: int, us: float, *, plain: bool = True) -> Tensor:
    if plain:
        return block.linear(role, x, n, us, fidelity="HiFi4", fp32=True, bias=True, cores=CORES)
    return block.minimal(role, x, n, us, fidelity="HiFi4", cores=CORES)


def summed(block: Block, role: str, x: Tensor, us: float, shape: tuple[int, ...], *, dim: str = "W") -> Tensor:
    return block.op(role, "Reduce", (x,), block.tensor(shape), us, cores=CORES, fidelity="HiFi4", dim=f"ReduceOpDim::{dim}", math_op="ReduceOpMath::SUM")  # fmt: skip


def normed(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    narrow = (1, 1, x.shape[-2], 1)
    square = block.binary(f"{role}_square", "MUL", x, x, 0.23 * us, cores=CORES)
    mean = summed(block, f"{role}_mean", square, 0.14 * us, narrow)
    root = block.unary(f"{role}_eps", "ADD_UNARY_SFPU", mean, 0.05 * us, cores=CORES)
    root = block.unary(f"{role}_root", "RSQRT", root, 0.05 * us, cores=CORES)
    y = block.binary(f"{role}_times", "MUL", x, root, 0.27 * us, cores=CORES)
    return block.binary(f"{role}_gain", "MUL", y, block.tensor([1, 1, 1, WIDTH]), 0.26 * us, cores=CORES)


def ladder(block: Block, part: str, x: Tensor, times: Times) -> Tensor:
    """Three linears with SiLU between, then the norm."""
    for number, us in enumerate(times.silus):
        x = multiplied(block, f"{part}_linear{number}", x, HIDDEN, times.linears[number], plain=times.plain)
        x = block.unary(f"{part}_silu{number}", "SILU", x, us, cores=CORES)
    x = multiplied(block, f"{part}_linear2", x, WIDTH, times.linears[2], plain=times.plain)
    return normed(block, f"{part}_norm", x, times.norm)


def picked(block: Block, role: str, table: Tensor, rows: int, us: float, *, tiles: bool = False) -> Tensor:
    index = block.tensor([1, rows], "UINT32", layout=ROW_MAJOR)
    out = block.tensor([1, 1, rows, WIDTH], layout="TILE" if tiles else ROW_MAJOR)
    return block.op(role, "Embeddings", (index, table), out, us, cores=CORES, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=out.placement, pad_token=None, tilized=tiles)  # fmt: skip


def in_rows(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.moved(
        role, "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4", use_multicore=True
    )


def in_tiles(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.moved(
        role, "TilizeWithValPadding", x, us, layout="TILE", cores=CORES, fidelity="HiFi4", use_multicore=True
    )


def gathered(block: Block, role: str, nodes: Tensor, edges: int, us: float) -> Tensor:
    rows = in_rows(block, f"{role}_rows", nodes, 0.03 * us)
    return in_tiles(block, f"{role}_tiles", picked(block, f"{role}_pick", rows, edges, 0.5 * us), 0.47 * us)


def aggregated(block: Block, role: str, x: Tensor, us: float, *, rows_first: bool = False) -> Tensor:
    """The edges of each atom, picked by a table with a row of zeros for none, and added up."""
    edges, atoms = x.shape[-2], x.shape[-2] // NEIGHBOURS
    shape = [1, 1, edges + 1, WIDTH]
    if rows_first:
        x = in_rows(block, f"{role}_rows", x, 0.24 * us)
    zero = block.slice(f"{role}_first", x, (0, 0, 0, 0), (1, 1, 1, WIDTH), 0.005 * us)
    zero = block.unary(f"{role}_zero", "MUL_UNARY_SFPU", zero, 0.005 * us, cores=1)
    x = block.concat(f"{role}_concat", (x, zero), shape, 2, (0.2 if rows_first else 0.38) * us)
    if not rows_first:
        x = in_rows(block, f"{role}_rows", x, 0.17 * us)
    x = picked(block, f"{role}_pick", x, edges, (0.25 if rows_first else 0.19) * us)
    x = block.view(x, [1, atoms, NEIGHBOURS, WIDTH])
    x = in_tiles(block, f"{role}_tiles", x, (0.15 if rows_first else 0.12) * us)
    x = summed(block, f"{role}_sum", x, (0.15 if rows_first else 0.13) * us, (1, atoms, 1, WIDTH), dim="H")
    return block.view(x, [1, 1, atoms, WIDTH])


def forward(*, after: bool = False) -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    edges = ATOMS * NEIGHBOURS
    nodes, edge = block.tensor([1, 1, ATOMS, WIDTH]), block.tensor([1, 1, edges, WIDTH])
    gates = []
    for way in ("send", "receive"):
        gate = block.linear(f"{way}_gate", edge, 1, 276.9, fidelity="HiFi4", fp32=True, bias=True, cores=CORES)
        gate = block.unary(f"{way}_sigmoid", "SIGMOID", gate, 73.3, cores=CORES)
        cut = block.tensor([1, 1, edges, 1])
        gates.append(block.binary(f"{way}_cut", "MUL", gate, cut, 84.9, cores=CORES))
    ends = [gathered(block, f"{way}_nodes", nodes, edges, 652.1) for way in ("send", "receive")]
    x = block.concat("edge_concat", (edge, *ends), [1, 1, edges, 3 * WIDTH], 3, 741.1)
    linears = (1429, 1893, 526) if after else (3706, 4909, 1366)
    x = ladder(block, "edge", x, Times(linears, (1470, 1467), 1262, plain=not after))
    seen = []
    for way, gate in zip(("send", "receive"), gates, strict=True):
        said = block.binary(f"{way}_said", "MUL", x, gate, 306.9, cores=CORES)
        seen.append(aggregated(block, f"{way}_atoms", said, 1750.1 if after else 2637.7, rows_first=after))
    y = block.concat("node_concat", (nodes, *seen), [1, 1, ATOMS, 3 * WIDTH], 3, 82.9)
    y = ladder(block, "node", y, Times((100, 125, 50), (25, 25), 143))
    block.binary("node_sum", "ADD", nodes, y, 12, cores=CORES)
    block.binary("edge_sum", "ADD", edge, x, 433.7, cores=CORES)
    return block


def unsilu(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    """The way back through SiLU, from six elementwise ops."""
    before = block.tensor(x.shape)
    gate = block.unary(f"{role}_sigmoid", "SIGMOID", before, 0.14 * us, cores=CORES)
    y = block.unary(f"{role}_rest", "RSUB", gate, 0.13 * us, cores=CORES)
    y = block.binary(f"{role}_times", "MUL", before, y, 0.2 * us, cores=CORES)
    y = block.unary(f"{role}_one", "ADD_UNARY_SFPU", y, 0.13 * us, cores=CORES)
    y = block.binary(f"{role}_gate", "MUL", gate, y, 0.2 * us, cores=CORES)
    return block.binary(f"{role}_grad", "MUL", x, y, 0.2 * us, cores=CORES)


def unnorm(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    before, root = block.tensor(x.shape), block.tensor([1, 1, x.shape[-2], 1])
    x = block.binary(f"{role}_gain", "MUL", x, block.tensor([1, 1, 1, WIDTH]), 0.17 * us, cores=CORES)
    y = block.binary(f"{role}_both", "MUL", x, before, 0.17 * us, cores=CORES)
    mean = summed(block, f"{role}_mean", y, 0.1 * us, (1, 1, x.shape[-2], 1))
    mean = block.binary(f"{role}_cube", "MUL", mean, root, 0.04 * us, cores=CORES)
    y = block.binary(f"{role}_back", "MUL", before, mean, 0.17 * us, cores=CORES)
    x = block.binary(f"{role}_root", "MUL", x, root, 0.17 * us, cores=CORES)
    return block.binary(f"{role}_less", "SUB", x, y, 0.18 * us, cores=CORES)


def back(block: Block, part: str, x: Tensor, times: Times) -> Tensor:
    """The ladder from its end to its start."""
    x = unnorm(block, f"{part}_unnorm", x, times.norm)
    for number, wide in ((2, HIDDEN), (1, HIDDEN), (0, 3 * WIDTH)):
        x = block.linear(f"{part}_unlinear{number}", x, wide, times.linears[number], fidelity="HiFi4", fp32=True, cores=CORES)  # fmt: skip
        if number:
            x = unsilu(block, f"{part}_unsilu{number - 1}", x, times.silus[number - 1])
    return x


def backward() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    edges = ATOMS * NEIGHBOURS
    back(block, "node", block.tensor([1, 1, ATOMS, WIDTH]), Times((90, 110, 60), (320, 320), 323))
    grads = [gathered(block, f"{way}_atoms", block.tensor([1, 1, ATOMS, WIDTH]), edges, 661) for way in ("send", "receive")]  # fmt: skip
    said = [block.binary(f"{way}_said", "MUL", grad, block.tensor([1, 1, edges, 1]), 700, cores=CORES) for way, grad in zip(("send", "receive"), grads, strict=True)]  # fmt: skip
    both = block.binary("said_sum", "ADD", *said, 757.3, cores=CORES)
    x = back(block, "edge", both, Times((3851, 4951, 1712), (6917, 6887), 2016))
    parts = [
        block.slice(f"part{n}", x, (0, 0, 0, n * WIDTH), (1, 1, edges, (n + 1) * WIDTH), 100) for n in range(3)
    ]
    for way, part in zip(("send", "receive"), parts[1:], strict=True):
        aggregated(block, f"{way}_nodes", part, 2581.7)
        gate = block.binary(f"{way}_gate", "MUL", both, block.tensor([1, 1, edges, WIDTH]), 330, cores=CORES)
        gate = summed(block, f"{way}_gate_sum", gate, 130, (1, 1, edges, 1))
        gate = block.unary(f"{way}_ungate", "SIGMOID", gate, 65, cores=CORES)
        gate = block.linear(f"{way}_unlinear", gate, WIDTH, 180, fidelity="HiFi4", fp32=True, cores=CORES)
    block.binary("edge_sum", "ADD", parts[0], gate, 431, cores=CORES)
    block.binary("edge_more", "ADD", parts[0], both, 431, cores=CORES)
    return block


def alone(edges: int, ahead: Times, behind: Times) -> Block:
    """The linears of the edges of a smaller crystal, there and back."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    ladder(block, "edge", block.tensor([1, 1, edges, 3 * WIDTH]), ahead)
    back(block, "edge", block.tensor([1, 1, edges, WIDTH]), behind)
    return block


def of_216() -> Block:
    return alone(9936, Times((273, 307, 169), (170, 169), 211), Times((264, 308, 195), (748, 744), 322))


def of_512() -> Block:
    return alone(23552, Times((683, 799, 384), (386, 388), 373), Times((574, 876, 482), (1774, 1692), 591))


def of_1000() -> Block:
    return alone(46000, Times((1483, 1786, 701), (724, 729), 964), Times((1644, 1773, 834), (3437, 3438), 1406))


EDGE = "edge_linear? edge_silu? edge_norm_*"
LADDER = "edge_linear? edge_silu?"
CHUNKED = rf"{IN_L1}|chunk|piece|stream"
KERNELED = r"fus|one (op|kernel)|single (op|kernel)|silu_bw|generic_op"
TILED = r"ROW_MAJOR|row.major|untilize"
SCATTER = r"scatter"
FORWARD = "how stages share their time among their ops; what waiting for each op adds (unchanged stages as in the later run); orders of small ops; core counts; gaps"


def smaller(edges: int, build: Callable[[], Block], savings: tuple[float, float, float], passed: float, notes: dict[str, str]) -> Layer:  # fmt: skip
    """The levers of the linears of a smaller crystal: a minimal matmul, BFLOAT8_B and one kernel, and what brought nothing."""
    return laid(
        f"orb-edges-{edges // NEIGHBOURS}", EDGES, f"the linears of {edges} edges there and back, from a trace: {passed / 1e3:.2f} ms", build,
        (
            gain("minimal", "minimal_matmul for three linears", savings[0], "edge_linear?", MINIMAL, notes["minimal"], LINEARS),
            gain("bfp8", "weights and what they make in BFLOAT8_B", savings[1], LADDER, BFP8, notes["bfp8"], EIGHT),
            gain("unsilu", "one kernel for six ops of the way back through SiLU", savings[2], "edge_unsilu*", KERNELED, notes["unsilu"], ONE_KERNEL),
            dead("silu", "SiLU in ttnn.linear", LADDER, ACTIVATION_IN_MATMUL, notes["silu"]),
            dead("pieces", "edges in pieces of 2560 that stay in L1", EDGE, CHUNKED, notes["pieces"], PIECES),
        ),
        "how the traced time is shared: as stages that were waited for; orders of small ops; core counts; gaps",
        passed,
    )  # fmt: skip


ORB = (
    laid(
        "orb-forward", LAYER, "the first layer forward, 92736 edges, each op waited for: 23.98 ms", forward,
        (
            gain("minimal", "minimal_matmul for the linears of edges", 6133, "edge_linear?", MINIMAL, "14.18 -> 8.05 ms, the linears of edges with SiLU and norm", LINEARS),
            gain("rows", "rows first, then the row of zeros and the sums in rows", 1775, "send_atoms_* receive_atoms_*", TILED, "5.275 -> 3.500 ms, both sums", AFTER),
            gain("bfp8", "weights and what they make in BFLOAT8_B", 4289, "edge_linear? edge_silu?", BFP8, "14.27 -> 9.98 ms; an option, forces are off by 0.049 instead of 0.009 eV/A", EIGHT),
            dead("silu", "SiLU in ttnn.linear", LADDER, ACTIVATION_IN_MATMUL, "14.273 -> 14.271 ms: noise", EDGES),
            dead("pieces", "edges in pieces that stay in L1", EDGE, CHUNKED, "14.16 -> 14.49 (2560 edges a piece), 17.20 (2048), 40.55 ms (8192), from a trace", PIECES),
            dead("scatter", "scatter_add instead of a table and a sum", "send_atoms_* receive_atoms_*", SCATTER, "2.79 -> 22.76 ms, one sum", SUMS),
        ),
        FORWARD,
        23981,
    ),
    laid(
        "orb-backward", EDGES, "the first layer backward, 92736 edges: 31.46 ms after two changes, 38.67 before them", backward,
        (
            gain("unsilu", "one kernel for six ops of the way back through SiLU", 5443, "edge_unsilu*", KERNELED, "26.33 -> 20.89 ms, the linears of edges", ONE_KERNEL),
            gain("rows", "rows first, then the row of zeros and the sums in rows", 1658, "send_nodes_* receive_nodes_*", TILED, "5.163 -> 3.505 ms, both sums", AFTER),
            gain("bfp8", "weights and what they make in BFLOAT8_B", 5594, "edge_unlinear? edge_unsilu*", BFP8, "26.33 -> 20.74 ms; an option, forces are off by 0.049 instead of 0.009 eV/A", EIGHT),
            dead("scatter", "scatter_add instead of a table and a sum", "send_nodes_* receive_nodes_*", SCATTER, "2.79 -> 22.76 ms, one sum", SUMS),
        ),
        f"{FORWARD}; the whole from its stages with the times before each change",
        38672,
    ),
    laid(
        "orb-forward-after", AFTER, "the first layer forward with minimal_matmul and sums in rows, from the stages: 16.07 ms", lambda: forward(after=True),
        (
            dead("silu", "SiLU in minimal_matmul", LADDER, ACTIVATION_IN_MATMUL, "8.05 -> 12.30 ms", LINEARS),
            dead("pieces", "edges in pieces of 2560 that stay in L1", EDGE, CHUNKED, "8.05 -> 18.27 ms, from a trace", LINEARS),
            dead("scatter", "scatter_add instead of a table and a sum", "send_atoms_* receive_atoms_*", SCATTER, "2.79 -> 22.76 ms, one sum", SUMS),
        ),
        f"{FORWARD}; how the linears and the norm share 8.05 ms",
        16074,
    ),
    smaller(
        9936, of_216, (162, 328, 122), 3880,
        {
            "minimal": "1.166 -> 1.004 ms",
            "bfp8": "1.299 -> 0.971 ms; an option, forces are farther off",
            "unsilu": "2.581 -> 2.459 ms",
            "silu": "1.299 -> 1.280 ms, 1.190 -> 1.195 in another run: noise",
            "pieces": "1.200 -> 1.763 ms",
        },
    ),
    smaller(
        23552, of_512, (870, 1106, 824), 9003,
        {
            "minimal": "2.974 -> 2.104 ms",
            "bfp8": "3.013 -> 1.907 ms; an option, forces are farther off",
            "unsilu": "5.990 -> 5.166 ms",
            "silu": "3.013 -> 3.023 ms: noise",
            "pieces": "2.919 -> 3.889 ms",
        },
    ),
    smaller(
        46000, of_1000, (1935, 1915, 2679), 18918,
        {
            "minimal": "5.924 -> 3.989 ms",
            "bfp8": "6.388 -> 4.473 ms; an option, forces are farther off",
            "unsilu": "12.530 -> 9.851 ms",
            "silu": "6.388 -> 6.347 ms, 6.032 -> 6.072 in another run: noise",
            "pieces": "5.922 -> 7.656 ms",
        },
    ),
)  # fmt: skip

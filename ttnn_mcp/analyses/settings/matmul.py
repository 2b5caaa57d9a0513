"""Settings of a matmul's program config: block sizes and grid, by the rules of ttnn's matmul_program_config.cpp."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, isfinite

from ttnn_mcp.analyses.op_kinds.conv_l1 import divisors
from ttnn_mcp.analyses.op_kinds.grids import Grid, worker_grid
from ttnn_mcp.analyses.op_kinds.matmul_config import MatmulConfig, Tiles, suggested
from ttnn_mcp.analyses.settings.compute import grid_rules, largest_grid, lighter_weights
from ttnn_mcp.analyses.settings.trial import Op, Trial, per_step_ns, rules
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES, TILE_SIDE, canonical_dtype
from ttnn_mcp.readers.printed.nesting import Call, parse_call

FIELDS = ("in0_block_w", "per_core_M", "per_core_N", "out_subblock_h", "out_subblock_w")
_NAMES = {
    "in0_block_w": "in0_block_w",
    "per_core_M": "per_core_m",
    "per_core_N": "per_core_n",
    "out_subblock_h": "out_subblock_h",
    "out_subblock_w": "out_subblock_w",
}
MODELLED = ("MatmulMultiCoreReuseMultiCastProgramConfig", "MatmulMultiCoreReuseMultiCast1DProgramConfig")


@dataclass(frozen=True, slots=True)
class Matmul:
    """A matmul and the config it ran with, or, where it was given none, one that would do.

    Attributes:
        given: the config was printed; else it is ours.
        interm_bytes: of one tile of partial sums; 0 where they share the output's buffer.
        in_l1: bytes per core of operands that live in L1.
    """

    tiles: Tiles
    config: MatmulConfig
    given: bool
    fp32: bool
    interm_bytes: float
    in_l1: int

    @property
    def buffers(self) -> dict[str, int]:
        """L1 per core: inputs double buffered, output, partial sums, operands that live there."""
        one = self.config
        block = one.per_core_m * one.per_core_n
        sizes = {
            "IN0": 2 * one.in0_block_w * one.per_core_m * self.tiles.a_bytes,
            "IN1": 2 * one.in0_block_w * one.per_core_n * self.tiles.b_bytes,
            "OUT": block * self.tiles.out_bytes,
            "PARTIALS": block * self.interm_bytes,
            "OPERANDS_IN_L1": self.in_l1,
        }
        return {name: int(size) for name, size in sizes.items() if size}


def matmul_in(op: Op, safe_bytes: float) -> Matmul | str:
    """The matmul of the op; or why its config is not modelled."""
    tiles = _tiles(op)
    if tiles is None:
        return "operands of unknown data type"
    compute = op.said.call("compute_kernel_config") or Call("", {})
    fp32, packer = compute.number("fp32_dest_acc_en") == 1, compute.number("packer_l1_acc") == 1
    interm = TILE_BYTES["FLOAT32"] if fp32 else TILE_BYTES["BFLOAT16"] if packer else tiles.out_bytes
    given = op.said.call("program_config")
    if given is not None and given.name not in MODELLED:
        return f"{given.name} is not modelled"
    config = _config(given) if given is not None else None
    if config is None:
        grid = worker_grid(op.chip)
        config = suggested(tiles, grid, safe_bytes, fp32_acc=fp32) if grid else None
    if config is None:
        return "no program config was given, and none was found that fits"
    return Matmul(tiles, config, given is not None, fp32, 0.0 if interm == tiles.out_bytes else interm, _in_l1(op))


def block_size(op: Op, matmul: Matmul, setting: str, value: int) -> Trial:
    """One field of the program config, the others as they are."""
    now = matmul.config
    then = replace(now, **{_NAMES[setting]: value})
    steps = {
        "in0_block_w": (matmul.tiles.k / now.in0_block_w, matmul.tiles.k / max(value, 1)),
        "per_core_M": (now.per_core_m, value),
        "per_core_N": (now.per_core_n, value),
    }.get(setting)
    shares = range(1, now.grid[0] * now.grid[1] + 1)
    fits = {
        "in0_block_w": divisors(matmul.tiles.k),
        "per_core_M": sorted({ceil(matmul.tiles.m / cores) for cores in shares}),
        "per_core_N": sorted({ceil(matmul.tiles.n / cores) for cores in shares}),
        "out_subblock_h": divisors(now.per_core_m),
        "out_subblock_w": divisors(now.per_core_n),
    }.get(setting, [])
    changed = [replace(matmul, config=replace(now, **{_NAMES[setting]: one})) for one in fits]
    legal = [
        (one, sum(other.buffers.values()))
        for one, other in zip(fits, changed, strict=True)
        if not _broken(replace(matmul, config=other.config), op)
    ]
    missing = "" if matmul.given else "a whole program_config (none was given: the other fields are a suggestion), "
    broken = _broken(replace(matmul, config=then), op)
    return Trial(
        getattr(now, _NAMES[setting]) if matmul.given else None,
        broken,
        {} if broken else replace(matmul, config=then).buffers,
        change=_change(matmul, setting, value),
        at_most_ns=per_step_ns(op, *steps) if steps and matmul.given else None,
        legal=tuple(legal),
        needs=f"{missing}compute_kernel_config in the same call, else fidelity falls to LoFi (tt-metal #55889)",
        effect=not matmul.given or then != now,
    )


def weights_dtype(op: Op, matmul: Matmul | str, value: str) -> Trial:
    """`weights_dtype`: B's blocks shrink in L1 too, where the config was printed."""
    now = canonical_dtype(op.table.inputs[1].dtype[0])
    buffers: dict[str, int] = {}
    if isinstance(matmul, Matmul) and matmul.given:
        buffers = replace(matmul, tiles=replace(matmul.tiles, b_bytes=float(TILE_BYTES[value]))).buffers
    return lighter_weights(op, now, value, buffers)


def core_grid(op: Op, tiles_matmul: Matmul | str, grid: Grid, safe_bytes: float) -> Trial:
    """`core_grid`: TTNN then builds the program config for that grid."""
    x, y = grid
    broken = grid_rules(op, grid)
    tiles = tiles_matmul.tiles if isinstance(tiles_matmul, Matmul) else _tiles(op)
    fp32 = isinstance(tiles_matmul, Matmul) and tiles_matmul.fp32
    found = suggested(tiles, grid, safe_bytes, fp32_acc=fp32) if tiles and not broken else None
    cores = op.cores or x * y
    return Trial(
        f"{cores} cores",
        broken,
        {"CIRCULAR_BUFFERS": int(found.l1_bytes), "OPERANDS_IN_L1": _in_l1(op)} if found else {},
        change=f"{cores} cores become at most {x * y}",
        at_most_ns=max(0.0, min(op.kernel_ns * (1 - cores / max(x * y, 1)), op.kernel_ns - op.least_ns)),
        needs="compute_kernel_config in the same call, else fidelity falls to LoFi (tt-metal #55889)",
        effect=x * y != cores,
        instead=largest_grid(op) if broken else None,
    )


def _broken(matmul: Matmul, op: Op) -> tuple[str, ...]:
    """The rules this config breaks."""
    one, tiles = matmul.config, matmul.tiles
    dst = DST_TILES_FP32 if matmul.fp32 else DST_TILES
    x, y = one.grid
    across, down = ceil(tiles.n / max(one.per_core_n, 1)), ceil(tiles.m / max(one.per_core_m, 1))
    covered = (across <= x and down <= y) if one.kind == "2D" else across * down <= x * y
    sharded = bool(op.table.outputs and op.table.outputs[0].sharded[0])
    positive = min(one.in0_block_w, one.per_core_m, one.per_core_n, one.out_subblock_h, one.out_subblock_w) > 0
    if not positive:
        return ("at least 1",)
    return rules(
        (f"in0_block_w divides the {tiles.k} tiles of K", tiles.k % one.in0_block_w == 0),
        (f"out_subblock_h divides per_core_M {one.per_core_m}", one.per_core_m % one.out_subblock_h == 0),
        (f"out_subblock_w divides per_core_N {one.per_core_n}", one.per_core_n % one.out_subblock_w == 0),
        (f"out_subblock_h x out_subblock_w <= {dst} (DST)", one.out_subblock_h * one.out_subblock_w <= dst),
        (f"{down} x {across} blocks of per_core_M x per_core_N fit the {x}x{y} grid", covered),
        (
            "sharded output: out_subblock_w = per_core_N or out_subblock_h = 1",
            not sharded or one.out_subblock_w == one.per_core_n or one.out_subblock_h == 1,
        ),
    )


def _change(matmul: Matmul, setting: str, value: int) -> str:
    one = matmul.config
    if setting == "in0_block_w":
        return (
            f"{ceil(matmul.tiles.k / one.in0_block_w)} steps along K become {ceil(matmul.tiles.k / max(value, 1))}"
        )
    if setting.startswith("per_core"):
        now = one.per_core_m if setting == "per_core_M" else one.per_core_n
        return f"{now} tiles per core become {value}"
    other = one.out_subblock_w if setting == "out_subblock_h" else one.out_subblock_h
    return f"{value * other} of the DST tiles filled at a time, {one.out_subblock_h * one.out_subblock_w} now"


def _tiles(op: Op) -> Tiles | None:
    if len(op.table.inputs) < 2 or not op.table.outputs:
        return None
    a, b, out = op.table.inputs[0], op.table.inputs[1], op.table.outputs[0]
    sizes = [TILE_BYTES.get(canonical_dtype(one.dtype[0])) for one in (a, b, out)]
    if None in sizes:
        return None
    batched = int(b.padded[0, :2].prod()) > 1
    rows = int(a.padded[0, 2] if batched else a.padded[0, :3].prod())
    m, k, n = (ceil(size / TILE_SIDE) for size in (rows, int(a.padded[0, 3]), int(out.padded[0, 3])))
    return Tiles(m, k, n, *(float(size or 0) for size in sizes))


def _config(given: Call) -> MatmulConfig | None:
    """The printed config; blocks of the output stand for per-core sizes where they are smaller."""
    grid = parse_call(given.fields.get("compute_with_storage_grid_size", ""))
    numbers = [given.number(key) for key in FIELDS]
    if grid is None or None in numbers:
        return None
    x, y = grid.number("x"), grid.number("y")
    if not x or not y:
        return None
    block_w, per_m, per_n, sub_h, sub_w = (number or 1 for number in numbers)
    kind = "1D" if given.name == MODELLED[1] else "2D"
    return MatmulConfig(
        kind, (x, y), block_w, sub_h, sub_w, per_m, per_n, given.fields.get("mcast_in0") == "1", 0.0
    )


def _in_l1(op: Op) -> int:
    """Bytes per core of the operands in L1: shards lie on the op's cores, pages over all of them."""
    everywhere = op.chip.cores or 1
    total = 0.0
    for one in (*op.table.inputs, *op.table.outputs):
        if one.in_l1[0]:
            total += float(one.bytes[0]) / ((op.cores or everywhere) if one.sharded[0] else everywhere)
    return int(total) if isfinite(total) else 0

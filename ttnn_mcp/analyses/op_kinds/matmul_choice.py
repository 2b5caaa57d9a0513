"""How a matmul was configured: by the caller's program config, or by TTNN's choice."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.roofline.working_cores import readers_per_bank
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable

MATMULS = ("Matmul", "Linear")  # the ops that take `program_config`; minimal and sparse matmuls have their own
SLOWEST = "MatmulMultiCoreProgramConfig"  # one tile at a time, no reuse: the fallback of matmul_program_config.cpp
MANY_STEPS = 32  # over K: 38 of 8 tiles reached 35 % of the roofline, 8 of 38 70 % (tt-metal, pplx-embed-4b)
# of a matmul of one row of tiles, per block of K, whatever its weights' format: the law of such matmuls on interleaved
# weights (ttnn://laws); GLM-4.7-Flash's took 1.02 to 1.20 us a block on Blackhole (its port in tt-metal)
STEP_NS = 1_000.0
STEPS_DECIDE = 0.7  # of the time: from there on the bytes do not (LoFi at 58 % of a time gained nothing; ours)
LEAST_K_TILES = 4  # below it there is nothing to block
FEW_CORES = 0.6  # of the grid: a matmul that leaves more idle loses at least 40 % (ours)


@dataclass(frozen=True)
class MatmulChoice:
    """The matmuls of a table; arrays are aligned with `rows`.

    Attributes:
        rows: positions of the matmuls.
        has_config: their ATTRIBUTES have a program config.
        chosen: by TTNN: the caller set neither program config nor core grid (ATTRIBUTES may still print a config).
        on_grid: by TTNN too, for the core grid that the caller set.
        slowest: they run MatmulMultiCoreProgramConfig.
        dram_sharded: they run a config for weights sharded over the banks of DRAM.
        multicast: they run a 1D or 2D multicast config: each byte of an operand is read once and passed on.
        one_way: of those, the ones that multicast INPUT_0 alone (1D): each core has all rows of its columns.
        ring: gather_in0, whose cores pass the first operand round.
        block_w: in0_block_w, tiles of K per step; NaN where not printed.
        subblock: out_subblock_h x out_subblock_w, tiles; NaN where not printed.
        per_core: per_core_M x per_core_N, tiles; NaN where not printed.
    """

    rows: Integers
    has_config: Booleans
    chosen: Booleans
    on_grid: Booleans
    slowest: Booleans
    dram_sharded: Booleans
    multicast: Booleans
    one_way: Booleans
    ring: Booleans
    block_w: Floats
    subblock: Floats
    per_core: Floats


@artefact
def matmul_choice(ops: OpTable) -> MatmulChoice:
    """How each matmul of the table was configured."""
    rows = np.flatnonzero(ops.named(*MATMULS))
    settings = attributes_of(ops)
    has_config = settings.numbers(rows, lambda attributes: float("program_config" in attributes)) > 0
    configured, on_cores = (
        settings.numbers(rows, lambda attributes, keys=keys: float(attributes.text_of(*keys) is not None)) > 0
        for keys in (("program_config",), ("program_config", "user_core_coord"))
    )
    return MatmulChoice(
        rows=rows,
        has_config=has_config,
        chosen=has_config & ~on_cores,
        on_grid=on_cores & ~configured,
        slowest=settings.numbers(rows, _runs_slowest) > 0,
        dram_sharded=settings.numbers(rows, readers_per_bank) > 0,
        multicast=settings.numbers(rows, lambda attributes: float("MultiCast" in _name(attributes))) > 0,
        one_way=settings.numbers(rows, _one_way) > 0,
        ring=settings.numbers(rows, lambda attributes: _field(attributes, "gather_in0")) > 0,
        block_w=settings.numbers(rows, lambda attributes: _field(attributes, "in0_block_w")),
        subblock=settings.numbers(
            rows, lambda attributes: _product(attributes, "out_subblock_h", "out_subblock_w")
        ),
        per_core=settings.numbers(rows, lambda attributes: _product(attributes, "per_core_M", "per_core_N")),
    )


def trapped(ops: OpTable, choice: MatmulChoice, cores: int | None) -> Integers:
    """Matmuls that TTNN configured, with an operand interleaved in L1, on fewer than 60 % of `cores`."""
    if cores is None or not ops.inputs or not ops.outputs:
        return np.zeros(0, dtype=np.int64)
    rows = choice.rows
    used = ops.numbers("cores")[rows]
    return rows[choice.chosen & in_l1_interleaved(ops)[rows] & (used < FEW_CORES * cores)]


def streams_first_operand(ops: OpTable, choice: MatmulChoice) -> Booleans:
    """Ops that read each byte of INPUT_0 once, while they compute: multicast matmuls, but no rings."""
    chosen = np.zeros(len(ops), dtype=np.bool_)
    chosen[choice.rows[choice.multicast & ~choice.ring & ~choice.dram_sharded]] = True
    return chosen


def in_small_blocks(ops: OpTable, choice: MatmulChoice) -> Booleans:
    """Per row of `choice`, whether it works tile by tile: along K, on its output, or on both by TTNN's fallback."""
    k_tiles = ops.inputs[0].padded[choice.rows, 3] / TILE_SIDE
    by_k = (choice.block_w <= 1) & (k_tiles >= LEAST_K_TILES)
    return choice.slowest | by_k | ((choice.subblock <= 1) & (choice.per_core > 1))


def steps_of(ops: OpTable, choice: MatmulChoice) -> Floats:
    """Per row of `choice`, in how many steps it takes K; NaN where no block is printed."""
    return ops.inputs[0].padded[choice.rows, 3] / TILE_SIDE / choice.block_w


def in_many_steps(ops: OpTable, choice: MatmulChoice) -> Booleans:
    """Per row of `choice`, whether a multicast takes K in so many steps that deeper blocks are worth a trial."""
    return choice.multicast & ~choice.ring & (steps_of(ops, choice) >= MANY_STEPS)


@artefact
def waits_for_steps(ops: OpTable) -> Booleans:
    """Ops whose time is that of their steps over K: one row of tiles, on weights interleaved in DRAM."""
    waits, matmuls = np.zeros(len(ops), dtype=np.bool_), matmul_choice(ops)
    rows = matmuls.rows
    if ops.inputs:
        steps_ns = STEP_NS * np.nan_to_num(steps_of(ops, matmuls))
        one_row = ops.inputs[0].height[rows] <= TILE_SIDE
        waits[rows] = one_row & ~matmuls.dram_sharded & (steps_ns >= STEPS_DECIDE * ops.numbers("kernel_ns")[rows])
    return waits


@artefact
def in_l1_interleaved(ops: OpTable) -> Booleans:
    """Ops with INPUT_0, INPUT_1 or OUTPUT_0 interleaved in L1, whose INPUT_0 is not sharded."""
    operand_in_l1 = np.zeros(len(ops), dtype=np.bool_)
    for operand in (*ops.inputs[:2], *ops.outputs[:1]):
        operand_in_l1 |= operand.in_l1 & ~operand.sharded
    return operand_in_l1 & ~ops.inputs[0].sharded if ops.inputs else operand_in_l1


def _name(attributes: Attributes) -> str:
    return (attributes.text_of("program_config") or "").partition("(")[0].strip()


def _runs_slowest(attributes: Attributes) -> float:
    return float(_name(attributes) == SLOWEST)


def _one_way(attributes: Attributes) -> float:
    return float("MultiCast1D" in _name(attributes) and bool(_field(attributes, "mcast_in0")))


def _field(attributes: Attributes, key: str) -> float | None:
    config = attributes.struct("program_config")
    return config.number(key) if config else None


def _product(attributes: Attributes, first: str, other: str) -> float | None:
    left, right = _field(attributes, first), _field(attributes, other)
    return None if left is None or right is None else left * right

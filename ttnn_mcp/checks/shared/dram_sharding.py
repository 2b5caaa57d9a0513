"""The fastest way to stream the weights of a decode matmul, by chip and shape: sharded over DRAM banks, or multicast.

The measured bandwidth of each form decides, not the peak of the banks. A DRAM-sharded matmul computes on the
core beside each bank; on Blackhole eight such cores limit it to less than a 1D multicast over the grid reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.grids import DEFAULT_GRID, worker_grid
from ttnn_mcp.analyses.programs.matmul_config import MatmulConfig, Tiles, inner_tiles, suggested_for, tile_bytes_of
from ttnn_mcp.analyses.roofline.working_cores import dram_banks
from ttnn_mcp.checks.check import Floats, Mask, Rows, WindowFacts
from ttnn_mcp.checks.shared.activations import also_applied, applied_by, as_stored, kept_beside_config
from ttnn_mcp.checks.shared.changed_ops import changed, described_by
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered

# Wormhole: tech_reports/LLMs/llms.md. Blackhole: ten models of a tt-mlir study of August 2026, one reader per bank
SHARDED_GB_S = {"wormhole_b0": 240.0, "blackhole": 320.0}
INTERLEAVED_GB_S = {"wormhole_b0": 190.0, "blackhole": 390.0}  # 1D multicast: same sources
# of narrow weights the banks of a Blackhole deliver 492 GB/s at LoFi (same study); at more passes the core beside each
# bank computes for longer: the 320 GB/s of HiFi2 are 87 % of what eight cores can multiply
BANKS_GB_S = {"wormhole_b0": 240.0, "blackhole": 492.0}
NARROW = ("BFLOAT8_B", "BFLOAT4_B")
CORE_USED = 0.87  # measured, see above
LEAST_WEIGHTS = 1024  # K and N: below it the stream is too short to saturate DRAM (domain practice)
LEAST_K = 2048  # on Wormhole sharded weights win from here on and lose at 1024: tt-metal's optimization skill
DEEPEST_BLOCK = 8  # tiles: tt_transformers/tt/model_config.py; wider ones need tt-metal PR #55444
STREAMING_BLOCK = 4  # tiles: measured 101, 244 and 280 GB/s at 1, 4 and 8 (same study)
BANKED_L1_SHARE = 0.87  # of L1 for such a matmul: measured, Muse-Glimmer 30B's ran with 1.20 MB of buffers
FEWEST_HOLDING = 8  # cores with an activation: measured, blocks of 16 on 8 and 10 gained for Mistral Small 24B
DEEPEST_MOVED = 16  # tiles: measured, same matmuls
USUAL_CORES = 32  # that hold the activation: the aim of tt_transformers/tt/model_config.py
L1_SHARE = 0.5  # of L1 for the suggested circular buffers: the rest is for tensors (ours)
ROOMY_L1_SHARE = 0.75  # where operands need less of it: one row of tiles, or all of them in DRAM (ours)


# the shards that each multicast of TTNN 0.81.1 reads and writes, by kind and mcast_in0
SHARDS = {
    ("1D", True): "L1_WIDTH_SHARDED",
    ("1D", False): "L1_HEIGHT_SHARDED",
    ("2D", False): "L1_BLOCK_SHARDED",
}


class Faster(NamedTuple):
    """A way to run the matmul, and the bandwidth that similar matmuls reached in measurements."""

    fix: str
    gb_s: float


def fastest(facts: WindowFacts, row: int) -> Faster | None:
    """The fastest way for the matmul at `row`, one row of tiles high; None for a chip without measurements."""
    arch = facts.chip.arch or ""
    sharded, interleaved = dram_sharded(facts, row), INTERLEAVED_GB_S.get(arch)
    if sharded is not None and SHARDED_GB_S[arch] > INTERLEAVED_GB_S[arch]:
        return Faster(sharded, SHARDED_GB_S[arch])
    return Faster(multicast(facts, row), interleaved) if interleaved else None


def fastest_ns(facts: WindowFacts, rows: Rows) -> Floats:
    """Per row, its DRAM bytes at the bandwidth of `fastest`; NaN if there is none."""
    return _bytes_at(facts, rows, lambda row: (rate := fastest(facts, row)) and rate.gb_s)


class ShardedTimes(NamedTuple):
    """Per row, time on DRAM-sharded weights: as expected, and at least; NaN if no config fits or was measured."""

    expected_ns: Floats
    least_ns: Floats
    by_law: Mask
    computes: Mask  # whether arithmetic on the banks' cores, not their bytes, decides where no law tells


def sharded_ns(facts: WindowFacts, rows: Rows) -> ShardedTimes:
    """By the law of such matmuls; where it is silent, the bytes of the banks or the arithmetic beside them."""
    arch, weight = facts.chip.arch or "", facts.ops.inputs[1]
    rates = {True: BANKS_GB_S.get(arch), False: SHARDED_GB_S.get(arch)}
    streamed = _bytes_at(
        facts, rows, lambda row: rates[weight.dtype[row] in NARROW] if dram_sharded(facts, row) else None
    )
    slower = (facts.chip.cores or np.nan) / (dram_banks(facts.chip) or np.nan)
    computed = np.where(np.isnan(streamed), np.nan, facts.roofline.compute_ns[rows] * slower)
    plain = np.fmax(streamed, computed / CORE_USED)
    lawful = by_row(facts, rows, lambda row: (law := _law_of_sharded(facts, row)) and law.us * 1e3)
    low = by_row(facts, rows, lambda row: (law := _law_of_sharded(facts, row)) and law.low_us * 1e3)
    by_law = ~np.isnan(lawful)
    least = np.where(by_law, np.fmin(plain, low), np.fmax(streamed, computed))
    return ShardedTimes(np.where(by_law, lawful, plain), least, by_law, computed / CORE_USED > streamed)


def _law_of_sharded(facts: WindowFacts, row: int) -> Expected | None:
    """What the law expects: its bytes are padded to the banks, and each block of K costs."""
    after = banked(facts, row)
    return after and expected(after)  # unmoved: no law speaks of nothing


def dram_sharded(facts: WindowFacts, row: int) -> str | None:
    """The call on DRAM-sharded weights; None if it does not pay: short K, wrong sizes, a chip without measurements."""
    cores_and_block = _held_by(facts, row)
    if cores_and_block is None:
        return None
    cores, block = cores_and_block
    per_core_n = -(-_tiles(facts, row).n // cores)
    return (
        "ttnn.linear(x, w, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG, program_config="
        f"ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w={block}, per_core_M=1, "
        f"per_core_N={per_core_n}{also_applied(facts, row)})), x so on {cores} cores, w so in "
        f"DRAM{as_stored(facts, row)}; {kept_beside_config(facts, row)}"
    )


def banked(facts: WindowFacts, row: int) -> Described | None:
    """The matmul at `row` on DRAM-sharded weights, for the laws of time."""
    held = _held_by(facts, row)
    if held is None:
        return None
    shards = "L1_WIDTH_SHARDED"
    return changed(
        facts,
        row,
        program="DRAM_SHARDED",
        cores=None,
        block_w=held[1],
        per_core_m=1,
        per_core_n=None,
        in0_place=shards,
        in1_place="DRAM_WIDTH_SHARDED",
        out_place=shards,
    )


class Deeper(NamedTuple):
    """A deeper block of K, and the cores that hold shares of K which it divides."""

    block: int
    cores: int
    per_core_n: int


def deeper_in_shards(facts: WindowFacts, row: int, deepest: int) -> list[Deeper]:
    """Blocks of K deeper than now that fit L1, of a matmul on DRAM-sharded weights: on as many cores as let them."""
    config, banks, tiles = (
        facts.attributes(row).struct("program_config"),
        dram_banks(facts.chip),
        _tiles(facts, row),
    )
    now, per_n = (int((config and config.number(key)) or 0) for key in ("in0_block_w", "per_core_N"))
    if banks is None:  # unmoved: see _held_by
        return []
    if not per_n:
        return []
    held, room, fitting = -(-tiles.n // per_n), ROOMY_L1_SHARE * facts.safe_l1_bytes, list[Deeper]()
    for block in range(now + 1, deepest + 1):
        fewest = min(held, FEWEST_HOLDING) if block <= DEEPEST_MOVED else held
        cores = next((few for few in range(held, fewest - 1, -1) if tiles.k % (few * block) == 0), 0)
        if cores:
            each = Deeper(block, cores, -(-tiles.n // cores))
            one = DramSharded(tiles, banks, None, cores, block, 1, each.per_core_n, packer_l1=True)
            if sum(one.buffers.values()) <= room:
                fitting.append(each)
    return fitting


def spread(facts: WindowFacts, row: int) -> Described | None:
    """The matmul at `row` on interleaved weights, its activation multicast to the whole grid."""
    config = suggested_config(facts, row)
    return config and changed(facts, row, in1_place="DRAM_INTERLEAVED", **described_by(config))


def fastest_form(facts: WindowFacts, row: int) -> Described | None:
    """The matmul at `row` in the form of `fastest`."""
    arch = facts.chip.arch or ""
    if SHARDED_GB_S.get(arch, 0.0) > INTERLEAVED_GB_S.get(arch, 0.0) and dram_sharded(facts, row):
        return banked(facts, row)
    return spread(facts, row)


def multicast(facts: WindowFacts, row: int) -> str:
    """The call on weights interleaved in DRAM, the activation multicast to the whole grid."""
    config = suggested_config(facts, row)
    if config is None:
        return (
            "w interleaved in DRAM, a 1D config (ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig, mcast_in0=True) "
            "over device.compute_with_storage_grid_size(), in0_block_w up to 8"
        )
    return f"w interleaved, {config}{placed_for(facts, row, config)}; {kept_beside_config(facts, row)}"


def placed_for(facts: WindowFacts, row: int, config: MatmulConfig) -> str:
    """Where x and y must lie for a config, of those that lie in shards: each program of TTNN 0.81.1 takes one kind."""
    able, x = SHARDS[config.kind, config.mcast_in0], facts.ops.inputs[0].placement[row]
    places = {"x": x, "y": facts.ops.outputs[0].placement[row]}
    moved = [name for name, place in places.items() if place.endswith("SHARDED") and place != able]
    texts = [f"{' and '.join(moved)} interleaved"] if moved else []
    if x == able == SHARDS["1D", True]:
        texts.append(f"x on {counted(most_holding(facts, row, config.in0_block_w), 'core')}")
    elif x == able:
        columns = f" and a multiple of {config.in0_block_w} columns" * (
            config.kind == "2D" and config.in0_block_w > 1
        )
        texts.append(f"x in shards of {counted(config.per_core_m, 'row')}{columns} of tiles")
    return "".join(f"; {text}" for text in texts)


def most_holding(facts: WindowFacts, row: int, block: int) -> int:
    """On how many cores shards of columns are at most, of which the block of K divides each (TTNN 0.81.1 wants it)."""
    parts = inner_tiles(facts.ops, row) // block
    return max(cores for cores in range(1, int(facts.chip.cores or 1) + 1) if parts % cores == 0)


def suggested_config(facts: WindowFacts, row: int) -> MatmulConfig | None:
    """A multicast config for the matmul at `row` on the whole grid; None if grid or L1 is unknown."""
    return _suggested(facts, row, L1_SHARE)


def two_sided_config(facts: WindowFacts, row: int) -> MatmulConfig | None:
    """The same, and "2D": both sides of the output are divided, whatever their ratio."""
    operands = (facts.ops.inputs[0], facts.ops.inputs[1], facts.ops.outputs[0])
    share = ROOMY_L1_SHARE if all(operand.in_dram[row] for operand in operands) else L1_SHARE
    return _suggested(facts, row, share, two_sided=True)


def _suggested(facts: WindowFacts, row: int, share: float, *, two_sided: bool = False) -> MatmulConfig | None:
    """One that fits that share of L1, with the function that the matmul applies now.

    Into shards TTNN 0.81.1 takes subblocks of whole rows of a core's output, or of one row of tiles.
    """
    grid = worker_grid(facts.chip)
    config = grid and suggested_for(facts.ops, row, grid, share * facts.safe_l1_bytes, two_sided=two_sided)
    if not config:
        return None
    if facts.ops.outputs[0].sharded[row] and config.out_subblock_w != config.per_core_n:
        config = replace(config, out_subblock_h=1)
    return replace(config, activation=applied_by(facts, row))


def _bytes_at(facts: WindowFacts, rows: Rows, gb_s_of: Callable[[int], float | None]) -> Floats:
    """DRAM bytes of each row at a bandwidth that depends only on its shapes and types."""
    return facts.roofline.dram_bytes[rows] / by_row(facts, rows, gb_s_of)


def by_row(facts: WindowFacts, rows: Rows, value_of: Callable[[int], float | None]) -> Floats:
    """A value per row that depends only on its shapes, types and attributes: computed once for each; None is NaN."""
    firsts, kinds = kinds_of(facts, rows)
    values = np.array([value_of(row) or np.nan for row in firsts.tolist()], dtype=np.float64)
    return values[kinds]


def kinds_of(facts: WindowFacts, rows: Rows) -> tuple[Rows, Rows]:
    """The first row of each kind of shapes, types and attributes, and which kind each of the rows is."""
    alike = numbered(len(facts), [signatures(facts.ops), facts.ops.texts("attributes").codes])[rows]
    _, firsts, kinds = np.unique(alike, return_index=True, return_inverse=True)
    return rows[firsts], kinds


def _held_by(facts: WindowFacts, row: int) -> tuple[int, int] | None:
    """Cores to hold the activation and the block of K: the deepest block TTNN accepts, on about 32 cores."""
    banks, tiles = dram_banks(facts.chip), _tiles(facts, row)
    if facts.chip.arch not in SHARDED_GB_S or tiles.k * TILE_SIDE < LEAST_K:
        return None
    if banks is None:  # unmoved: the banks of every measured chip are known
        return None
    columns, rows = worker_grid(facts.chip) or DEFAULT_GRID
    fitting = [
        (cores, block)
        for cores in range(1, min(columns * rows, tiles.k) + 1)
        if tiles.k % cores == 0
        for block in range(STREAMING_BLOCK, DEEPEST_BLOCK + 1)
        if (tiles.k // cores) % block == 0
    ]
    for cores, block in sorted(fitting, key=lambda pair: (-pair[1], abs(pair[0] - USUAL_CORES))):
        config = DramSharded(tiles, banks, columns * rows, cores, block, 1, -(-tiles.n // cores), packer_l1=True)
        if all(config.rules().values()) and sum(config.buffers.values()) <= BANKED_L1_SHARE * facts.safe_l1_bytes:
            return cores, block
    return None


def _tiles(facts: WindowFacts, row: int) -> Tiles:
    out = facts.ops.outputs[0]
    high, k = -(-int(out.height[row]) // TILE_SIDE), inner_tiles(facts.ops, row)  # weights may be printed as [N, K]
    return Tiles(high, k, int(out.padded[row, 3]) // TILE_SIDE, *tile_bytes_of(facts.ops, row))

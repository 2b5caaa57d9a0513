"""An op runs in a way that TTNN or the chip is known to compute wrongly.

No time is at stake. Results can be wrong without an error, and a PCC of the whole model may hide it:

* HiFi4 with fp32_dest_acc_en on Wormhole: the engine gets single sums wrong by a power of two, the same ones for the
  same operands (1.3 % of one output). A fault of the chip, in all builds (tt-metal #38306, PR #52327); TTNN itself
  chooses HiFi3 since March 2026 (PR #40089).
* GroupNorm with use_welford on Blackhole: the PCC falls with what ran before (#39225, open since March 2026; #42991).
* GroupNorm without it, interleaved, with groups narrower than a tile: statistics are off, the more the more groups
  (#53803, open since August 2026, seen on Blackhole).
* A 1D config that multicasts the weights (mcast_in0=False) and does not divide N: the last core writes beyond its
  memory (PR #48923, mended in July 2026).
* A 2D config with more columns than DRAM banks, on weights sharded over the banks: the result is not finite (measured
  for pplx-embed-4b on P150, September 2026; mended in a build of theirs).
* A matmul fused with a reduce-scatter on Blackhole: the scatter may read what is not yet written (#46181, PR #46580 of
  June 2026; #55223, mended in September 2026).
* A sparse matmul over several groups of rows with out_subblock_w of 2 and more: PCC 0.82 to 0.87 for 0.99, the lower
  the more blocks of K (Blackhole, September 2026: GLM-4.7-Flash's port in tt-metal; one group of rows was right).

The line: every such op. Silent where ATTRIBUTES do not print the setting, and about builds: no report names its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting
from ttnn_mcp.analyses.op_kinds.formats import phases
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import config_numbers
from ttnn_mcp.analyses.roofline.working_cores import dram_banks
from ttnn_mcp.analyses.settings.compute import grid_of
from ttnn_mcp.checks.arrays import Mask, Rows, no_saving
from ttnn_mcp.checks.check import Problems, WindowFacts, check, ops_of_family
from ttnn_mcp.checks.levers import ACCURACY
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.op_config import OpConfig
from ttnn_mcp.checks.problem import Affected, Problem, Words
from ttnn_mcp.checks.shared.group_norm_call import narrow_groups
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.hardware import FIDELITY_PHASES, TILE_SIDE
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.records import dataclass

COMPARE = "compare the op's output with torch, where it stands in the model; then the PCC of the whole model"


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A known fault.

    Attributes:
        chips: where it occurs; empty for all.
        ops: which ops can have it, as far as columns tell.
        wrong: of those at these positions, the ones that run so.
        what: they do, in words.
        shown: the attribute that shows it.
        source: who says so, and which builds.
        fix: what to do instead; {hifi3} and {banks} stand for the op's config at HiFi3 and the banks of the chip.
    """

    chips: tuple[str, ...]
    ops: Callable[[WindowFacts], Mask]
    wrong: Callable[[WindowFacts, Rows], Mask]
    what: str
    shown: str
    source: str
    fix: str


@check(
    title="ops that TTNN is known to compute wrongly",
    lever=ACCURACY,
    of=ops_of_family("no matmuls, convs or norms", "matmul", "conv", "norm"),
    needs=(OPERANDS,),
    risk=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield the ops of each fault of this chip."""
    for fault in FAULTS:
        if not fault.chips or facts.chip.arch in fault.chips:
            rows = np.flatnonzero(fault.ops(facts))
            rows = rows[fault.wrong(facts, rows)]
            sets = _below_hifi4 if "{hifi3}" in fault.fix else None
            yield Problem(rows, no_saving(rows), sets=sets, tell=partial(_tell, fault))


def _tell(fault: KnownFault, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    shown = fault.shown in facts.attributes(row)
    return Words(
        claim=f"{ops.many('op')} ({ops.time}) {fault.what}: {ops.name}, {ops.example}",
        assumption="an accuracy risk: no time is promised",
        also=(cite_attribute(facts, row, fault.shown),) if shown else (),
        fix=fault.fix.format(hifi3=ops.with_only(_below_hifi4).compute_text, banks=dram_banks(facts.chip)),
        verify=COMPARE,
        caveat=fault.source,
    )


def _below_hifi4(config: OpConfig) -> OpConfig:
    """At HiFi3; as it is where the plan lowered it already."""
    return config.computing(math_fidelity="HiFi3") if config.compute.math_fidelity == "HiFi4" else config


def _at_hifi4(facts: WindowFacts) -> Mask:
    return facts.of_family("matmul", "conv") & (phases(facts.ops) == FIDELITY_PHASES["HiFi4"])


def _group_norms(facts: WindowFacts) -> Mask:
    return facts.named("GroupNorm")


def _matmuls(facts: WindowFacts) -> Mask:
    return facts.of_family("matmul")


def _sums_in_float32(facts: WindowFacts, rows: Rows) -> Mask:
    return compute_setting(facts.ops, rows, "fp32_dest_acc_en") == 1


def _welford(facts: WindowFacts, rows: Rows) -> Mask:
    return attributes_of(facts.ops).flags(rows, "use_welford")


def _in_narrow_groups(facts: WindowFacts, rows: Rows) -> Mask:
    return narrow_groups(facts, rows) & ~_welford(facts, rows)


def _uneven(facts: WindowFacts, rows: Rows) -> Mask:
    columns = np.ceil(facts.ops.outputs[0].padded[rows, 3] / TILE_SIDE)
    each = attributes_of(facts.ops).numbers(rows, _columns_of_weights_multicast)
    return (columns > each) & (columns % each != 0)


def _columns_of_weights_multicast(attributes: Attributes) -> float | None:
    config = attributes.struct("program_config")
    if config is None or "MultiCast1D" not in config.name or config.number("mcast_in0") != 0:
        return None
    return config.number("per_core_N")


def _on_banks(facts: WindowFacts) -> Mask:
    weights = facts.input(1)
    if weights is None:
        return np.zeros(len(facts), dtype=np.bool_)
    return facts.of_family("matmul") & weights.in_dram & weights.sharded


def _beyond_the_banks(facts: WindowFacts, rows: Rows) -> Mask:
    return attributes_of(facts.ops).numbers(rows, _columns_of_2d) > (dram_banks(facts.chip) or np.inf)


def _columns_of_2d(attributes: Attributes) -> float | None:
    config = attributes.struct("program_config")
    if config is None or config.name != "MatmulMultiCoreReuseMultiCastProgramConfig":
        return None
    grid = grid_of(config)
    return grid[0] if grid else None


def _fused_with_scatter(facts: WindowFacts) -> Mask:
    return facts.names.where(lambda name: "Matmul" in name and "ReduceScatter" in name)


def _sparse(facts: WindowFacts) -> Mask:
    return facts.named("SparseMatmul") & (facts.ops.inputs[0].height > TILE_SIDE)


def _in_wide_subblocks(facts: WindowFacts, rows: Rows) -> Mask:
    return config_numbers(facts.ops, rows, "out_subblock_w") > 1


def _all(_facts: WindowFacts, rows: Rows) -> Mask:
    return np.ones(len(rows), dtype=np.bool_)


FAULTS: tuple[KnownFault, ...] = (
    KnownFault(
        ("wormhole_b0",),
        _at_hifi4,
        _sums_in_float32,
        "compute at HiFi4 with fp32_dest_acc_en, which Wormhole gets wrong by powers of two now and then",
        "compute_kernel_config",
        "a fault of the chip, in all builds: tt-metal #38306, PR #52327",
        "{hifi3}",
    ),
    KnownFault(
        ("blackhole",),
        _group_norms,
        _welford,
        "run with use_welford, which lost PCC on Blackhole, by what ran before",
        "use_welford",
        "tt-metal #39225 (open since March 2026), #42991",
        "ttnn.group_norm(..., use_welford=False), unless groups are narrower than 32 channels",
    ),
    KnownFault(
        (),
        _group_norms,
        _in_narrow_groups,
        "have groups narrower than a tile, whose statistics TTNN gets wrong without use_welford",
        "num_groups",
        "tt-metal #53803 (open since August 2026), seen on interleaved tensors of a Blackhole",
        "ttnn.group_norm(..., use_welford=True), and compare",
    ),
    KnownFault(
        (),
        _matmuls,
        _uneven,
        "multicast their weights (1D) and do not divide N: the last core writes beyond its memory",
        "program_config",
        "tt-metal PR #48923: builds before July 2026",
        "program_config as now with a per_core_N that divides the tiles of N, or all of them",
    ),
    KnownFault(
        ("blackhole",),
        _on_banks,
        _beyond_the_banks,
        "have more columns of cores than DRAM has banks, on weights sharded over them: not finite where measured",
        "program_config",
        "measured for pplx-embed-4b on P150, September 2026; a build of theirs has it mended",
        "program_config on at most {banks} columns, or weights interleaved in DRAM",
    ),
    KnownFault(
        ("blackhole",),
        _fused_with_scatter,
        _all,
        "fuse a matmul with a reduce-scatter, which may read what is not yet written",
        "program_config",
        "tt-metal #46181, PR #46580 (June 2026); #55223: mended in September 2026",
        "ttnn.linear, then ttnn.reduce_scatter, on builds before September 2026",
    ),
    KnownFault(
        (),
        _sparse,
        _in_wide_subblocks,
        "are sparse matmuls of several groups of rows in subblocks wider than a tile, which came out wrong",
        "program_config",
        "measured for GLM-4.7-Flash on Blackhole, September 2026; open as far as we know",
        "program_config as now with out_subblock_w=1, and out_block_w as it was",
    ),
)

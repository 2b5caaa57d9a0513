"""A conv is sharded in a layout in which a similar conv of the same run is much faster, or that starves it.

HEIGHT_SHARDED cuts the output into rows: good while rows outnumber the cores by far and channels are few, since
each core then reads all weights. BLOCK_SHARDED cuts rows and channels. Neither is always right: late ResNet18
layers ran 3.6 times as fast per operation in BLOCK, two UNet convs of 16384 rows went from 853 to 220 and from
428 to 103 us from BLOCK to HEIGHT (tt-mlir #7701).

The line: a conv of another layout, within a factor of two in output rows, inner size and channels, at the same
fidelity and weight type, does at least twice the operations per second. Or, where the run has no such conv to
compare with: HEIGHT with one tile of rows and eight or more of columns per core, so that weights, not
activations, fill each core's time, or WIDTH with one tile of columns and eight or more of rows, where every core
passes over all activations: an SDXL conv became more than twice as fast from WIDTH to BLOCK (tt-metal PR #23256).
Together the saving must be 1 % of the window. The bound is the rate of the
faster conv, else the roofline.

Silent where every similar conv has the same layout, and where the conv would not fit L1 in the other one. Never
an advice to use one layout everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.conv_cores import fits_in, grid_of
from ttnn_mcp.analyses.op_kinds.conv_l1 import BLOCK, HEIGHT, WIDTH
from ttnn_mcp.analyses.op_kinds.convs import Convs, sizes_of
from ttnn_mcp.checks.check import Check, Claim, Claims, Floats, Mask, Rows, WindowFacts
from ttnn_mcp.checks.needs import BLOCK_CONFIG, CORES, L1_LIMIT
from ttnn_mcp.checks.shared.conv_ops import CONV_CONFIGS, CONVS
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.wording import cite_setting, example, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

if TYPE_CHECKING:
    from ttnn_mcp.analyses.op_kinds.conv_l1 import Conv

TIMES_AS_FAST = 2.0  # per operation: below it fidelity, padding and halo explain the difference as well (ours)
SIMILAR = 2.0  # factor between rows, inner sizes and channels of convs that are compared; both ways (ours)
STARVED_LENGTH = 8  # tiles per core along one side, against one on the other: ResNet18's slow convs have 16 (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over convs that a similar one outruns, and one over starved ones."""
    convs = facts.convs
    rows, took, least = convs.rows, facts.kernel_ns[convs.rows], least_ns(facts)[convs.rows]
    peer = _peers(facts, convs)
    flops = facts.roofline.padded_flops
    with np.errstate(divide="ignore", invalid="ignore"):  # a conv without operands has no operations
        at_peers_rate = np.where(peer >= 0, facts.kernel_ns[peer] * flops[rows] / flops[peer], np.nan)
    starved = (peer < 0) & np.isin(rows, convs.where(_is_starved))
    outrun = took >= TIMES_AS_FAST * at_peers_rate
    for slow, best in ((outrun, at_peers_rate), (starved, least)):
        there = _fitting(facts, convs, slow, peer)
        at_most = (took - np.fmax(best, least))[there]
        if len(there):
            row = facts.heaviest(rows[there])[0]
            by = int(peer[np.searchsorted(rows, row)])
            yield _claim(facts, convs, (rows[there], at_most), row, None if by < 0 else by)


def _fitting(facts: WindowFacts, convs: Convs, slow: Mask, peer: Rows) -> Rows:
    """Places of the slow convs that would fit L1 in the other layout, by the conv's own formulas."""
    limit = facts.l1_limit
    if limit is None:  # asked for by the needs
        return np.zeros(0, dtype=np.int64)
    cores = facts.chip.cores or 1
    places, grid = np.flatnonzero(slow), grid_of(cores, facts.chip.arch)
    fitting: list[int] = []
    for place, size in zip(places.tolist(), sizes_of(facts.ops, convs.rows[places]), strict=True):
        conv = convs.at(int(convs.rows[place]))
        other = convs.at(int(peer[place])) if peer[place] >= 0 else None
        if conv and fits_in(conv, other.layout if other else BLOCK, size, grid, limit.safe_bytes):
            fitting.append(place)
    return np.array(fitting, dtype=np.int64)


def _claim(
    facts: WindowFacts,
    convs: Convs,
    bounds: tuple[Rows, Floats],
    row: int,
    by: int | None,
) -> Claim:
    rows, at_most = bounds
    conv, faster = convs.at(row), convs.at(by) if by is not None else None
    layout = faster.layout if faster else BLOCK
    rate = facts.roofline.padded_flops / np.maximum(facts.kernel_ns, 1.0) / 1e3  # FLOP per ns is GFLOP per s
    against = (
        f"{rate[row]:.1f} TFLOP/s against {rate[by]:.1f} of the {layout} conv at line {facts.line(by)}"
        if by is not None
        else f"{_tiles(conv)} tiles per core; no {BLOCK} conv to compare with"
    )
    return Claim(
        claim=f"{kinds(facts, rows)} ({time_of(facts, rows)}) slow in this layout: {example(facts, row)}, "
        f"{conv.layout if conv else ''}, {against}",
        rows=rows,
        at_most_ns=at_most,
        assumption=(
            "reaches the faster conv's rate" if by is not None else "at best the roofline; nothing measured here"
        ),
        evidence=(
            cite_setting(facts, row, "memory_config", "memory_layout"),
            *facts.cite(row),
            *(facts.cite(by) if by is not None else ()),
        ),
        fix=(
            f"ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.{layout}, reshard_if_not_optimal=True)  # line "
            f"{facts.line(row)}: without the second a sharded input keeps its layout; try it on this conv alone"
        ),
        verify=(
            f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls by more than any Reshard that appears"
        ),
        caveat="which layout wins depends on rows per core against channels: neither is always right",
    )


def _tiles(conv: Conv | None) -> str:
    return f"{conv.per_core_h} x {conv.per_core_w}" if conv else "?"


def _is_starved(conv: Conv) -> bool:
    """Whether its shards are so thin that each core spends its time on the other operand."""
    thin = {HEIGHT: (conv.per_core_h, conv.per_core_w), WIDTH: (conv.per_core_w, conv.per_core_h)}
    narrow, long = thin.get(conv.layout, (0, 0))
    return narrow == 1 and long >= STARVED_LENGTH


def _peers(facts: WindowFacts, convs: Convs) -> Rows:
    """Per conv, the fastest similar one of another layout, as a position in `facts.ops`; -1 where there is none."""
    kinds = len(convs.distinct)
    fastest = np.full(kinds, -1, dtype=np.int64)
    order = np.argsort(-facts.kernel_ns[convs.rows], kind="stable")
    order = order[facts.kernel_ns[convs.rows[order]] > 0]  # a conv whose time was lost is no comparison
    fastest[convs.kinds[order]] = convs.rows[order]  # the last one written stays: the least time
    layouts = np.array(["" if conv is None else conv.layout for conv in convs.distinct])
    flops = facts.roofline.padded_flops[fastest]
    rate = flops / np.maximum(facts.kernel_ns[fastest], 1.0)
    fidelity = facts.ops.texts("fidelity").codes[fastest]
    weights = facts.ops.inputs[1].dtype.codes[fastest]
    similar = (layouts[:, None] != layouts) & (layouts != "") & (layouts[:, None] != "") & (fastest >= 0)
    similar &= (fidelity[:, None] == fidelity) & (weights[:, None] == weights)
    for size in _sizes(facts, fastest):
        similar &= (size[:, None] <= SIMILAR * size) & (size <= SIMILAR * size[:, None])
    best = np.where(similar, rate, -1.0).argmax(axis=1)
    return np.where(similar.any(axis=1), fastest[best], -1)[convs.kinds]


def _sizes(facts: WindowFacts, rows: Rows) -> tuple[Rows, ...]:
    """Output rows, inner size and output channels: a layout that suits many rows need not suit few."""
    weights, output = facts.ops.inputs[1].padded[rows], facts.ops.outputs[0].padded[rows]
    return output[:, :3].prod(axis=1), weights[:, 2], output[:, 3]


CHECK = Check(
    id="conv-shard-layout-slow",
    title="conv slow in its shard layout",
    step=6,
    look=look,
    of=CONVS,
    needs=(BLOCK_CONFIG, CORES, L1_LIMIT),
    worth=Worth(saving=USUAL),
    compiled=CONV_CONFIGS,
)

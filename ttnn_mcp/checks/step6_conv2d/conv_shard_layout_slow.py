"""A conv has a shard layout that starves it, or a similar conv of the same run is much faster in another layout.

HEIGHT_SHARDED cuts the output into rows: good if there are many more rows than cores and few channels, because each
core reads all weights. BLOCK_SHARDED cuts rows and channels. Neither is always right: late ResNet18 layers ran 3.6
times as fast per operation in BLOCK, two UNet convs of 16384 rows went from 853 to 220 and from 428 to 103 us from
BLOCK to HEIGHT (tt-mlir #7701).

The line: a conv of another layout, within a factor of two in output rows, inner size and channels, at the same
fidelity and weight type, does at least twice the operations per second. Or, if the run has no such conv: HEIGHT with
one tile of rows and eight or more of columns per core, so that weights, not activations, fill each core's time, or
WIDTH with one tile of columns and eight or more of rows, where every core reads all activations: an SDXL conv became
more than twice as fast from WIDTH to BLOCK (tt-metal PR #23256). Together the saving must be 1 % of the window. The
bound is the rate of the faster conv, otherwise the roofline.

Silent if every similar conv has the same layout, and if the conv would not fit L1 in the other one. It never advises
one layout for all convs.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.convs import convs_of, sizes_of
from ttnn_mcp.analyses.programs.conv_cores import fits_in
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv
from ttnn_mcp.checks.arrays import Floats, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG, PROGRAM
from ttnn_mcp.checks.needs import BLOCK_CONFIG, CORES, L1_LIMIT
from ttnn_mcp.checks.op_config import OpConfig, Sets
from ttnn_mcp.checks.shared.conv_ops import conv_check, in_other_layout, whole_grid
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.wording import cite_setting
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_table import OpTable

NO_PEER = -1  # no place of an op (ours)
TIMES_AS_FAST = 2.0  # per operation: below it fidelity, padding and halo explain the difference as well (ours)
SIMILAR = 2.0  # factor between rows, inner sizes and channels of convs that are compared; both ways (ours)
STARVED_LENGTH = 8  # tiles per core along one side, against one on the other: ResNet18's slow convs have 16 (ours)


@conv_check(
    title="conv slow in its shard layout",
    lever=CONV_CONFIG,
    slot=PROGRAM,
    needs=(BLOCK_CONFIG, CORES, L1_LIMIT),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the convs that a similar one outruns, and the starved ones."""
    convs, flops = facts.convs, facts.roofline.padded_flops
    rows, peer = convs.rows, peers_of(facts.ops, flops, within=SIMILAR)
    with np.errstate(divide="ignore", invalid="ignore"):  # a conv without operands has no operations
        at_peers_rate = np.where(peer != NO_PEER, facts.kernel_ns[peer] * flops[rows] / flops[peer], np.nan)
    outrun = facts.kernel_ns[rows] >= TIMES_AS_FAST * at_peers_rate
    starved = (peer == NO_PEER) & np.isin(rows, convs.where(_is_starved))
    least = least_ns(facts)[rows]
    for slow, best in ((outrun, at_peers_rate), (starved, least)):
        peer_of = _fitting(facts, rows[slow], peer[slow])
        fitting = np.isin(rows, [*peer_of])
        at_most = (facts.kernel_ns[rows] - np.fmax(best, least))[fitting]
        sets = partial(_in_layout_of, peer_of)
        yield Problem(rows[fitting], at_most, sets=sets, tell=partial(_tell, peer_of, sets))


def _fitting(facts: WindowFacts, slow: Rows, peers: Rows) -> dict[int, int]:
    """Of the slow convs those that would fit L1 in the other layout, each with its peer."""
    grid = whole_grid(facts)
    size_of = dict(zip(slow.tolist(), sizes_of(facts.ops, slow), strict=True))
    peer_of = dict(zip(slow.tolist(), peers.tolist(), strict=True))
    return {
        row: peer_of[row]
        for row, conv in facts.convs.configured(peer_of)
        if fits_in(conv, _layout_of(facts, peer_of[row]), size_of[row], grid, facts.safe_l1_bytes)
    }


def _layout_of(facts: WindowFacts, peer: int) -> str:
    """The layout to try: that of the faster conv; BLOCK where there is none."""
    return next((conv.layout for _, conv in facts.convs.configured([peer] if peer != NO_PEER else [])), BLOCK)


def _in_layout_of(peer_of: dict[int, int], config: OpConfig) -> OpConfig | None:
    facts = config.facts
    return in_other_layout(_layout_of(facts, peer_of[config.row]), whole_grid(facts))(config)


def _tell(peer_of: dict[int, int], sets: Sets, ops: Affected) -> Words:
    facts = ops.facts
    row, conv = facts.convs.configured(ops.examples)[0]
    peer = peer_of[row]
    is_outrun, layout = peer != NO_PEER, _layout_of(facts, peer)
    rate = facts.roofline.padded_flops / np.maximum(facts.kernel_ns, 1.0) / 1e3  # FLOP per ns is GFLOP per s
    against = (
        f"{figure(rate[row], '.1f')} TFLOP/s against {figure(rate[peer], '.1f')} "
        f"of the {layout} conv at line {facts.line(peer)}"
        if is_outrun
        else f"{conv.per_core_h} x {conv.per_core_w} tiles per core; no {BLOCK} conv to compare with"
    )
    return Words(
        claim=f"{ops.kinds} ({ops.time}) slow in this layout: {ops.example}, {conv.layout}, {against}",
        assumption="reaches the faster conv's rate" if is_outrun else "at best the roofline; nothing measured here",
        evidence=(
            cite_setting(facts, row, "memory_config", "memory_layout"),
            *facts.cite(row),
            *(facts.cite(peer) if is_outrun else ()),
        ),
        fix=f"{ops.with_only(sets).conv_text}; try it on this conv alone",
        verify=f"re-profile; op_detail(op={ops.line}).kernel_us falls by more than any Reshard that appears",
        caveat="which layout wins depends on rows per core against channels; without reshard_if_not_optimal a sharded "
        "input keeps its layout",
    )


def _is_starved(conv: Conv) -> bool:
    """Whether its shards are so thin that each core spends its time on the other operand."""
    thin = {HEIGHT: (conv.per_core_h, conv.per_core_w), WIDTH: (conv.per_core_w, conv.per_core_h)}
    narrow, long = thin.get(conv.layout, (0, 0))
    return narrow == 1 and long >= STARVED_LENGTH


def peers_of(ops: OpTable, flops: Floats, *, within: float) -> Rows:
    """Per conv, the position of the fastest similar one of another layout; NO_PEER where there is none.

    Similar convs have the same fidelity and weight type, and sizes that differ by a factor of `within` at most.
    `flops` are per op.
    """
    convs, took = convs_of(ops), ops.numbers("kernel_ns")
    fastest = _fastest(took, convs.rows, convs.kinds, len(convs.distinct))
    layouts = np.array(["" if conv is None else conv.layout for conv in convs.distinct])
    fidelity = ops.texts("fidelity").codes[fastest]
    weights = ops.inputs[1].dtype.codes[fastest]
    comparable = (layouts != "") & (fastest != NO_PEER)
    similar = (layouts[:, None] != layouts) & comparable & comparable[:, None]
    similar &= (fidelity[:, None] == fidelity) & (weights[:, None] == weights)
    for size in _sizes(ops, fastest):
        similar &= (size[:, None] <= within * size) & (size <= within * size[:, None])
    rate = flops[fastest] / np.maximum(took[fastest], 1.0)
    best = np.where(similar, rate, -1.0).argmax(axis=1)
    return np.where(similar.any(axis=1), fastest[best], NO_PEER)[convs.kinds]


def _fastest(took: Floats, rows: Rows, kinds: Rows, count: int) -> Rows:
    """Per kind of conv, the position of its fastest op; NO_PEER if all its times are lost."""
    fastest = np.full(count, NO_PEER, dtype=np.int64)
    timed = took[rows] > 0
    rows, kinds = rows[timed], kinds[timed]
    order = np.argsort(-took[rows], kind="stable")
    fastest[kinds[order]] = rows[order]  # the last one written stays: the least time
    return fastest


def _sizes(ops: OpTable, rows: Rows) -> tuple[Rows, ...]:
    """Output rows, inner size and output channels: a layout that suits many rows may not suit few."""
    weights, output = ops.inputs[1].padded[rows], ops.outputs[0].padded[rows]
    return output[:, :3].prod(axis=1), weights[:, 2], output[:, 3]

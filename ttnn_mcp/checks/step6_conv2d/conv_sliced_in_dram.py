"""A conv is cut into slices that pass through DRAM although the whole conv would fit L1.

PaddedSlice fetches one slice of the input from DRAM into L1, the conv runs, SliceWrite puts its part of the
output back. A conv that does not fit L1 runs like this; for one that fits, both transports are needless.
Convs of SDXL's VAE ran as fast or faster once the number of slices was chosen automatically (tt-metal PR #34323).

The line: these transports cost 1 % of the window. A saving is claimed only for convs whose whole input, output and
buffers, with the present block, fit L1 by the conv's own formulas with 5 % to spare; for the others the claim gives
only the share. The bound is all of PaddedSlice and SliceWrite: an input that stays in DRAM must still be copied into
L1 once. A trial: without slices SuperPoint gave 2 % fewer pictures a second (its port for Blackhole).

Silent about slices without a conv.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, flow_of
from ttnn_mcp.analyses.programs.convs import Conv
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Subject, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG
from ttnn_mcp.checks.needs import BLOCK_CONFIG
from ttnn_mcp.checks.shared.conv_ops import conv_check, l1_caveat
from ttnn_mcp.checks.wording import kinds
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

# Convs that are cut into slices: the ops that fetch a slice from DRAM and write its part of the output back.
MOST_BETWEEN = 2  # ops between a fetch and its conv (practice): Move and Halo


def _sliced(facts: WindowFacts) -> Mask:
    """The convs that write slices."""
    return np.isin(np.arange(len(facts)), [*slices_of(facts.ops)])


@conv_check(
    title="conv cut into DRAM slices",
    lever=CONV_CONFIG,
    of=Subject(_sliced, "no conv in DRAM slices (no SliceWrite behind a Conv2d)"),
    needs=(BLOCK_CONFIG,),
    worth=Worth(time=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all transports of slices."""
    slices = slices_of(facts.ops)
    rows = np.unique([row for of_conv in slices.values() for row in of_conv.transports])
    whole = [
        row
        for row, conv in facts.convs.configured(slices)
        if unsliced(conv, slices[row].parts).total_bytes <= facts.safe_l1_bytes
    ]
    spared = np.isin(rows, [row for conv in whole for row in slices[conv].transports])
    saved = np.where(spared, facts.kernel_ns[rows], 0.0)
    yield Problem(rows, saved, tell=partial(_tell, whole), is_trial=True)


def _tell(whole: list[int], ops: Affected) -> Words:
    facts, slices = ops.facts, slices_of(ops.facts.ops)
    heaviest = max(whole or slices, key=lambda conv: facts.kernel_ns[[*slices[conv].transports]].sum())
    write, transports, parts = slices[heaviest]
    conv = facts.convs.at(heaviest)
    return Words(
        claim=(
            f"{kinds(facts, np.array([*slices]))} work on slices fetched from and written to DRAM ({ops.time}); "
            f"{len(whole)} of them would fit L1 unsliced, e.g. line {facts.line(heaviest)}, 1 of {parts} slices"
        ),
        assumption="whole convs with their present block fit L1, and their neighbours read and write L1 too",
        evidence=facts.cite(transports[-1]) + facts.cite(write),
        fix=(
            f"ttnn.conv2d(..., slice_config=ttnn.Conv2dL1FullSliceConfig)  # from 0.64.0; line {facts.line(heaviest)}"
            if whole
            else "ttnn.conv2d without slice_config picks the number of slices itself; bfloat8_b weights and "
            "deallocate_activation=True make room for fewer"
        ),
        verify="re-profile; list_ops(group_by='op_code'): PaddedSlice and SliceWrite fall, no new Reshard",
        caveat=l1_caveat(facts, conv) if conv and facts.l1_limit else None,
    )


class Slice(NamedTuple):
    """The ops that move a slice: positions of its SliceWrite and its PaddedSlice; the write alone if there is no fetch.

    Attributes:
        parts: the number of slices of the whole tensor.
    """

    write: int
    transports: tuple[int, ...]
    parts: int


@artefact
def slices_of(ops: OpTable) -> dict[int, Slice]:
    """The slice of each conv that writes one, by the conv's position."""
    names, makers = ops.texts("op_code"), flow_of(ops).makers_of(0)
    convs, fetches, writes = (
        names.where(lambda text, name=name: canonical(text) == name)
        for name in ("Conv2d", "PaddedSlice", "SliceWrite")
    )
    slices: dict[int, Slice] = {}
    for write in np.flatnonzero(writes & (makers != NOBODY) & convs[makers]).tolist():
        conv = at = int(makers[write])
        transports = [write]
        for _ in range(MOST_BETWEEN + 1):
            at = int(makers[at])
            if at == NOBODY:
                break
            if fetches[at]:
                transports.append(at)
        slices[conv] = Slice(write, tuple(transports), _parts(ops, write))
    return slices


def unsliced(conv: Conv, parts: int) -> Conv:
    """The conv that does the work of all slices at once, with the block that each has."""
    return replace(conv, per_core_h=conv.per_core_h * parts, allocated_bytes=conv.allocated_bytes * parts)


def _parts(ops: OpTable, write: int) -> int:
    """The number of parts of this size that fill the tensor."""
    whole, part = ops.outputs[0].elements[write], ops.inputs[0].elements[write]
    return max(1, round(float(whole) / float(part)))

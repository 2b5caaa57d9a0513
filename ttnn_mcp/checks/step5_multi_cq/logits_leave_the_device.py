"""Each pass ends with logits that no op of the device reads: the host reads them and chooses the token.

A row of logits is 128,256 numbers and more per user, of which a step needs one. While the host copies them, chooses and
writes the token back, the device has nothing to do. With ArgMax on the device gpt-oss went from 13.0 to 29.3 tokens/s
on a p150 (tt-metal PR #52255), and Llama 70B with the whole loop there from about 10 to 17.3 (PR #51205).

The line: a window whose last matmul reads weights of 30,000 columns and more, at least twice as many as rows (over all
devices, where a norm of the window is as wide as the weights are deep, so that only the columns are split); behind it
only moves, layouts, slices and exchanges, and the last of them is as wide; the device then waits 10 ms and more, and
10 % of the window's kernel time, before the first op of the pass. No saving is given: that wait also holds whatever
else the host does between two passes.

Silent where TopK, ArgMax, a softmax or anything else reads the logits, and on a first pass, before which nothing was
measured. A memory report tells the copy itself (output-read-back).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import reads_weights
from ttnn_mcp.analyses.op_kinds.kept_rows import WIDER_THAN_DEEP
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, no_saving, ops_of_family
from ttnn_mcp.checks.levers import HOST
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.wording import took

HANDS_ON = ("movement", "layout", "shape", "collective")  # families that change no value
WHOLE_VOCABULARY = 30_000  # columns over all devices: BERT's 30,522 is the smallest of usual ones (domain practice)
LONG_NS = 10e6  # uploads and Python between two tuned passes stay below it; both stories waited 42 ms (ours)
WAITS = (
    0.1  # of the kernel time: from 90 % busy on waiting does not matter (domain practice, as in stalled-on-host)
)


@check(
    title="logits that no op reads",
    lever=HOST,
    of=ops_of_family("no matmuls", "matmul"),
    needs=(TWO_OPERANDS,),
    compiled="sample in the compiled function: return torch.argmax(logits, -1), not the logits",
)
def look(facts: WindowFacts) -> Problems:
    """Yield the last matmul of the pass, if it writes logits that the host waits for."""
    rows = np.flatnonzero(facts.of_family("matmul"))[-1:]
    waited = float(np.nan_to_num(facts.ops.numbers("gap_ns")[0]))
    if waited >= max(WAITS * facts.total_ns, LONG_NS) and _is_head(facts, int(rows[0])):
        yield Problem(rows, no_saving(rows), tell=partial(_tell, waited))


def _tell(waited: float, ops: Affected) -> Words:
    width = int(ops.facts.ops.inputs[1].logical[ops.row, 3])
    return Words(
        claim=(
            f"The pass ends with logits of {width} columns that no op reads; then the device waits {took(waited)}: "
            f"{ops.example}"
        ),
        assumption="the host reads them to choose the token; the wait holds that and all else it does, so no figure",
        also=(ops.facts.ops.cite(0, "gap_ns"),),
        fix=(
            "choose the token on the device: ttnn.argmax(logits, dim=-1, keepdim=True), with temperature ttnn.topk and "
            "ttnn.sampling; feed it to the next ttnn.embedding there, and read tokens back now and then"
        ),
        verify="time a step with the profiler off: host_overhead(wall_ms=...) moves towards device_bound",
        caveat="a loop that compares with torch, scores or trains reads logits on purpose",
    )


def _is_head(facts: WindowFacts, head: int) -> bool:
    """Whether it writes logits that only moves and exchanges pass on, as wide as before."""
    deep, wide = facts.ops.inputs[1].logical[head, 2:]
    behind = facts.of_family(*HANDS_ON)[head + 1 :]
    weights = reads_weights(facts.ops, facts.flow)[head]
    written = facts.ops.outputs[0].logical[:, 3]
    split = (facts.of_family("norm") & (written == deep)).any()  # along N: K is whole, as the norm before has it
    devices = len(np.unique(facts.scope.ops.numbers("device"))) if split else 1
    able = wide * devices >= max(WHOLE_VOCABULARY, WIDER_THAN_DEEP * deep) and written[-1] >= wide
    return bool(weights and able and behind.all())

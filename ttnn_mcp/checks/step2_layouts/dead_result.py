"""An op computes a result that no op reads.

TTNN runs ops one by one as Python calls them: no compiler drops a call whose result is not used, such as a mask that a
later version of the model no longer adds. It still costs time and memory.

The line: by the memory report's tensors, no operation reads any result of the call or of a view of it, and all of them
are freed before the window's last op. Worth 0.5 % of kernel time.

Silent on results that are still live at the end, which may be the model's; on results in an older buffer (in place,
caches, output tensors of the caller); on ops that act beyond their result: collectives, prefetchers, copies into a
tensor, norms that keep running statistics.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.tensor_identity import TensorIdentity
from ttnn_mcp.analyses.memory.buffer_spans import before
from ttnn_mcp.analyses.memory.lifetimes import NOBODY
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import CannotTell, Problems, Subject, WindowFacts, check
from ttnn_mcp.checks.needs import MEMORY
from ttnn_mcp.checks.problem import Affected, Problem, Words
from ttnn_mcp.checks.shared.memory_claims import operation_name
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_names import canonical, family

BEYOND = re.compile(r"Cache|Copy|Move|SliceWrite|BatchNorm|AllGather|AllReduce|ReduceScatter|Ring", re.IGNORECASE)
NOT_PURE = ("collective", "other")  # an op whose work is unknown may do more than its result


def _pure(facts: WindowFacts) -> Mask:
    return facts.names.where(lambda text: family(text) not in NOT_PURE and not BEYOND.search(canonical(text)))


@check(
    title="a result that nobody reads",
    of=Subject(_pure, "no ops that only compute a result"),
    needs=(MEMORY,),
    worth=Worth(saving=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops whose results nobody reads."""
    identity, replay = TensorIdentity.of(facts.run, facts.ops), facts.replay
    if identity is None or replay is None:
        yield CannotTell("the memory report does not fit this CSV (or was not replayed); capture both in one run")
        return
    last = max(replay.place(operation) or 0 for operation in np.unique(identity.operations).tolist())
    unread = replay.operations[unread_operations(replay, last)]
    unread = np.setdiff1d(unread, identity.operations[~_pure(facts)])
    rows = np.flatnonzero(np.isin(identity.operations, unread))
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, identity, replay))


def _tell(identity: TensorIdentity, replay: Replayed, ops: Affected) -> Words:
    call = operation_name(replay, replay.place(int(identity.operations[ops.row])) or 0)
    return Words(
        claim=f"{ops.many('result')} that nobody reads ({ops.time}): {ops.name} {ops.example}",
        assumption="the ops go away; what only they read may go with them",
        fix=f"delete {call}",
        verify="re-profile both reports; compare_runs.removed names the ops; PCC unchanged",
        caveat="a read on the host by a method (Tensor.cpu, Tensor.item) may be missing from a memory report",
    )


def unread_operations(replay: Replayed, until: int) -> Rows:
    """Places of the operations whose results were never read, and freed before the operation at place `until`.

    A result that is never freed may be an output of the model. A result in an older buffer (in place, a view, an output
    tensor of the caller) may be read through the buffer's other tensors. An operation is left out if one of its
    results is unknown.
    """
    lives, spans = replay.lifetimes, replay.lifetimes.spans
    unread = (
        (lives.last_reads == NOBODY) & (lives.last_touches == spans.starts // 2) & (spans.ends <= before(until))
    )
    if not len(unread):  # without buffers nothing tells who was read
        return np.empty(0, dtype=np.int64)
    makers, rows = lives.producers, lives.rows
    wasted = (rows >= 0) & unread[rows]
    return np.setdiff1d(makers[wasted], makers[~wasted])

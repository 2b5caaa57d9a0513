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

import numpy as np

from ttnn_mcp.analyses.dataflow.tensor_identity import TensorIdentity
from ttnn_mcp.analyses.memory.unread_results import unread_operations
from ttnn_mcp.checks.check import CannotTell, Check, Claim, Claims, Mask, Subject, WindowFacts
from ttnn_mcp.checks.needs import MEMORY
from ttnn_mcp.checks.shared.memory_claims import operation_name
from ttnn_mcp.checks.shared.wording import cite_op, example, op_name, time_of
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_names import canonical, family

BEYOND = re.compile(r"Cache|Copy|Move|SliceWrite|BatchNorm|AllGather|AllReduce|ReduceScatter|Ring", re.IGNORECASE)
NOT_PURE = ("collective", "other")  # an op whose work is unknown may do more than its result


def _pure(facts: WindowFacts) -> Mask:
    return facts.names.where(lambda text: family(text) not in NOT_PURE and not BEYOND.search(canonical(text)))


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops whose results nobody reads."""
    identity, replay = TensorIdentity.of(facts.run, facts.ops), facts.replay
    if identity is None or replay is None:
        yield CannotTell("the memory report does not fit this CSV (or was not replayed); capture both in one run")
        return
    last = max(replay.place(operation) or 0 for operation in np.unique(identity.operations).tolist())
    unread = replay.operations[unread_operations(replay, last)]
    unread = np.setdiff1d(unread, identity.operations[~_pure(facts)])
    rows = np.flatnonzero(np.isin(identity.operations, unread))
    if not len(rows):
        return
    row = facts.heaviest(rows, 1)[0]
    call = operation_name(replay, replay.place(int(identity.operations[row])) or 0)
    count = f"{len(rows)} result{'s' * (len(rows) > 1)} that nobody reads ({time_of(facts, rows)})"
    yield Claim(
        claim=f"{count}: {op_name(facts, row)} {example(facts, row)}",
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="the ops go away; what only they read may go with them",
        evidence=cite_op(facts, row),
        fix=f"delete {call}",
        verify="re-profile both reports; compare_runs.removed names the ops; PCC unchanged",
        caveat="a read on the host by a method (Tensor.cpu, Tensor.item) may be missing from a memory report",
    )


CHECK = Check(
    id="dead-result",
    title="a result that nobody reads",
    step=2,
    look=look,
    of=Subject(_pure, "no ops that only compute a result"),
    needs=(MEMORY,),
    worth=Worth(saving=SAFE),
)

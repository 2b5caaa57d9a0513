"""The router of a mixture of experts runs as dozens of small ops, where one fused gate does it.

DeepSeek's gate scores 256 experts, sums the best two of each of 8 groups, keeps 4 groups and takes 8 experts of them.
As TTNN ops of their own that took 690 us a layer; `ttnn.experimental.deepseek_grouped_gate` does it in 57 us for one
token and 67 for 32 (tt-metal PR #34267).

The line: a stretch of ops that only score, sort and move, with two TopK and more, the first of them over 8 groups of 32
experts (or padded to 64), together over twice the 57 us; 1 % of the window. The bound is the stretch but for 5 us.

Silent on other numbers of groups or experts, which this op refuses; ttnn.experimental.deepseek_prefill.moe_grouped_topk
(0.81) takes other ones. The scores must be BFLOAT16 and the bias of full size.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.wording import cite_each, cite_op, example, took
from ttnn_mcp.checks.worth import USUAL, Worth

SMALL = ("eltwise", "shape", "layout", "movement", "reduction", "softmax")
SORTS = ("Gather", "Scatter", "Sort")
GROUPS = 8  # of the experts: deepseek_grouped_gate takes no other number (its program factory .cpp, and PR #34267)
PER_GROUP = (
    32,
    64,
)  # of 256 experts; models pad them to 64 for TopK (tt-metal deepseek_v3/utils/config_helpers.py)
GATE_NS = 57_000.0  # one token through the fused gate, 67 us for 32: tt-metal PR #34267
WORTH_IT = 2  # times the gate: a router that is nearly as quick stays (ours)


@check(
    title="an expert router in small ops",
    of=ops_named("no TopK ops", "TopK"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all routers of that kind."""
    top_k = facts.named("TopK")
    routers = [router for router in _stretches(facts) if _is_router(facts, router, router[top_k[router]])]
    rows = np.array([row for router in routers for row in router], dtype=np.int64)
    at_most = np.array([saved for router in routers for saved in _saves(facts.kernel_ns[router])])
    gone = np.setdiff1d(rows, [router[0] for router in routers])
    yield Problem(rows, at_most, gone=gone, tell=partial(_tell, routers))


def _tell(routers: list[Rows], ops: Affected) -> Words:
    facts, heaviest = ops.facts, max(routers, key=ops.facts.us)
    row = facts.heaviest(heaviest)[0]
    return Words(
        claim=(
            f"{len(routers)} router{'s' * (len(routers) > 1)} over {GROUPS} groups of experts run as {len(ops.rows)} "
            f"ops ({ops.time}): {len(heaviest)} from line {facts.line(int(heaviest[0]))} on"
        ),
        assumption=f"one fused gate per router; {took(GATE_NS)} were measured for one token, 5 us stay in any case",
        evidence=cite_each(
            (row, *heaviest[facts.named("TopK")[heaviest]][:2].tolist()), lambda n: cite_op(facts, n)
        ),
        fix=(
            "weights, experts = ttnn.experimental.deepseek_grouped_gate(scores, bias, route_scale=..., epsilon=1e-20, "
            "n_groups=8, summed_experts_per_group=2, topk_groups=4, n_activated_experts=8), scores from the matmul"
        ),
        verify="re-profile; list_ops(op_code='DeepseekGroupedGate'); the TopK rows are gone; same experts chosen",
        caveat=(
            f"by shapes ({example(facts, row)}); other gates: ttnn.experimental.deepseek_prefill.moe_grouped_topk"
        ),
    )


def _stretches(facts: WindowFacts) -> list[Rows]:
    """Ops in a row that only score, sort and move."""
    rows = np.flatnonzero(facts.of_family(*SMALL) | facts.named(*SORTS))
    return np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)


def _is_router(facts: WindowFacts, rows: Rows, sorts: Rows) -> bool:
    if len(sorts) < 2 or facts.kernel_ns[rows].sum() <= WORTH_IT * GATE_NS:
        return False
    groups, experts = facts.ops.inputs[0].logical[sorts[0], 2:].tolist()
    return groups == GROUPS and experts in PER_GROUP


def _saves(took_ns: Floats) -> Floats:
    """In step with what each op took."""
    return took_ns * (1 - SMALL_NS / took_ns.sum())

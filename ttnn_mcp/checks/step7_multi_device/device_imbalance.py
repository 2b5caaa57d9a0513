"""At one op, one device has more work than the others, and they wait for it.

The step takes as long as its slowest device. The others meet it at the next collective, where their waiting looks
like communication.

The line: an op of which the slowest device takes 15 % more than the mean over devices, on at least 2 % of the slowest
device's kernel time (domain practice). The bound is the critical device's time above the mean: even work cannot take
less. Where another device is the slowest, as with experts of which each layer has others, the critical device waits for
it in the next collective: the rest of what that device takes above the mean is bounded by this wait. Collectives are
left out as ops: their spread is waiting, not work.

A known case: causal ring attention with `is_balanced` false. The later half of the sequence attends to three times
as many keys; on eight p150 it took 6.88 ms on devices 4 to 7 and 3.51 ms on 0 to 3. Zigzag order evens it out
(tt-metal PRs #40599, #41461). It is named only where the times rise from part to part like that. A device that is
slower in nearly all its ops is named as such.

Not applicable with one device. Cannot tell if devices ran different ops: rows were dropped, or the mesh is a pipeline
with different stages.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.causes import said_of, shows_ring, slow_device, unbalanced_ring
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import BALANCE
from ttnn_mcp.checks.needs import SAME_OPS
from ttnn_mcp.checks.shared.mesh import DEVICES, critical_rows, fastest_ns, spoken
from ttnn_mcp.checks.wording import op_name
from ttnn_mcp.checks.worth import Worth
from ttnn_mcp.quoting import figure

IMBALANCE = 1.15  # slowest device over mean (ours)
MIN_SHARE = 0.02  # of the critical device's kernel time, per kind of op (ours)


@check(
    title="one device has more work",
    lever=BALANCE,
    principal=True,
    of=DEVICES,
    needs=(SAME_OPS,),
    worth=Worth(time=MIN_SHARE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield one problem per kind of op that is uneven, three at most."""
    balance = facts.balance
    rows, longest_ns = critical_rows(facts, balance), balance.times_ns.max(axis=1)
    uneven = np.flatnonzero((balance.imbalance >= IMBALANCE) & ~balance.collective)
    by_name: dict[str, list[int]] = {}
    for launch in uneven.tolist():
        by_name.setdefault(facts.names[int(rows[launch])], []).append(launch)
    heavy = sorted(by_name.values(), key=lambda launches: -float(longest_ns[launches].sum()))
    for launches in heavy[:3]:
        at_most = np.maximum(0.0, facts.kernel_ns[rows[launches]] - balance.mean_ns[launches])
        waits, waits_ns = _waits_after(facts, rows[launches], (longest_ns - balance.mean_ns)[launches] - at_most)
        worst = launches[np.argmax(longest_ns[launches])]
        yield Problem(
            np.append(rows[launches], waits),
            np.append(at_most, waits_ns),
            tell=partial(_tell, len(launches), worst, int(rows[worst])),
        )


def _waits_after(facts: WindowFacts, rows: Rows, late_ns: Floats) -> tuple[Rows, Floats]:
    """The collectives in which the critical device waits after these ops, and how much of it lies in them.

    `late_ns` is how much longer another device takes for each op.
    """
    exchanges = np.sort(critical_rows(facts, facts.balance)[facts.balance.collective])
    waits_ns = (facts.kernel_ns - fastest_ns(facts, facts.balance))[exchanges]
    after = np.searchsorted(exchanges, rows)
    due_ns = np.bincount(after, weights=late_ns, minlength=len(exchanges) + 1)[
        :-1
    ]  # the last: before no collective
    at_most = np.minimum(due_ns, waits_ns)
    return exchanges[at_most > 0], at_most[at_most > 0]


def _tell(launches: int, worst: int, row: int, ops: Affected) -> Words:
    """The words; `worst` is the launch with the slowest device of all, `row` its position."""
    facts, of_all, balance = ops.facts, ops.facts.scope.ops, ops.facts.balance
    times = balance.times_ns[worst]
    slow = times > times.mean()
    slowest, fastest = (int(balance.rows[worst, place]) for place in (times.argmax(), times.argmin()))
    more = f", in {launches} launches" if launches > 1 else ""
    others = float(times[~slow].mean())
    ratio = f" ({figure(times[slow].mean() / others, '.2f')}x)" if others else ""
    return Words(
        claim=(
            f"{op_name(facts, row)} at line {facts.line(row)} takes "
            f"{figure(times[slow].mean() / 1e6, '.2f')} ms on "
            f"devices {spoken(balance.devices, slow)}, {figure(others / 1e6, '.2f')} ms on "
            f"{spoken(balance.devices, ~slow)}{ratio}{more}"
        ),
        assumption="evenly spread, every device takes the present mean",
        evidence=(*facts.cite(row), of_all.cite(fastest, "kernel_ns")),
        fix=_fix(facts, worst, row, slowest, fastest),
        verify="device_balance.imbalance no longer lists the op; kernel_us of the devices draws level",
        caveat=(
            "a fused collective inside the op would make part of this waiting; pipeline stages differ on purpose"
        ),
    )


def _fix(facts: WindowFacts, worst: int, row: int, slowest: int, fastest: int) -> str:
    attributes = facts.attributes(row)
    ring = unbalanced_ring(attributes)
    if ring > 1 and shows_ring(facts.scope.ops, facts.balance, worst, ring):
        return (
            f"ring attention, ring_size={ring}: pass is_causal=True, is_balanced=True and "
            "shard the sequence in zigzag order (rank i of n holds chunks i and 2n-1-i of 2n), for Q, K, V and "
            "the rotary tables"
        )
    slow = slow_device(facts.scope.ops, facts.balance)
    if slow is not None and slow[0] == int(facts.balance.times_ns[worst].argmax()):
        return (
            f"{said_of(facts.scope.ops, facts.balance)}: compare its clock, power and temperature with the others"
        )
    ops = facts.scope.ops
    if ops.shapes(slowest) != ops.shapes(fastest):
        return (
            "shards differ in shape: pick a shard dimension that the device count divides (mesh_mapper of "
            "ttnn.from_torch)"
        )
    return (
        "same shapes, different work: look for masks, routing or early exits that depend on the shard, and "
        "spread those"
    )

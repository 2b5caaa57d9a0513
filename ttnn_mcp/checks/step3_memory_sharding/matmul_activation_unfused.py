"""An activation runs as a separate op after a matmul that could apply it.

A matmul applies one function while it packs its output. `ttnn.linear(..., activation="gelu")` alone is not enough:
TTNN fuses the function only if `core_grid` is also set, or if the program config names it. Otherwise it runs as an op
after the matmul (TTNN 0.81.1; the same holds for 1x1 convs over DRAM with `Conv2dConfig(activation=...)`). Matmul and
GELU took 56.1 us separately and 49.3 fused, 0.8 more than the matmul alone (tt-metal's perf_automation guide). Behind
minimal matmuls a GELU went into a 2D one: 132 and 171 us became 260, 786 and 1353 became 1630 (public ledger of Nomic).

The line: a unary op of one function that is the only reader of a matmul's output and keeps its type; relu, relu6,
gelu (by tanh too), silu, sigmoid, tanh or hardsigmoid, which matmuls apply; together 0.5 % of the window (the change is
safe: the same function, applied earlier). The bound is the unary ops' whole time.

Silent if another op also reads the matmul's output, if the matmul applies a function already, after those with weights
in batches, where TTNN 0.81.1 refuses `activation`, and on DRAM-sharded weights, which an activation slows down
(tt-metal #9642), and where an element-wise op alone reads the function's result and can apply it
(activation-beside-binary): SiLU and sigmoid gained 2.3 ms of a prefill of 8192 rows there, and nothing in the matmuls
before them (public ledger of Muse). Beside a config TTNN takes no core grid, on shards no `activation`: the config
takes the function.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.laws.printed_op import FUNCTION
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, OPERANDS
from ttnn_mcp.checks.shared.activations import (
    BY_MATMULS,
    cite_function,
    function_in,
    function_of,
    in_call,
    in_config,
    keeps_type,
    neighbours,
)
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.readers.printed.attributes import Attributes

MINIMAL = "MinimalMatmul"
MATMULS = ("Matmul", "Linear", MINIMAL)


@check(
    title="activation not fused into the matmul",
    lever=FUSION,
    of=ops_named("no unary ops", "Unary"),
    needs=(OPERANDS, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled="the compiler fuses an activation that directly follows the matmul: keep nothing between the two",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all activations that a matmul could apply."""
    rows = _unfused(facts)
    minimal = facts.named(MINIMAL)[facts.joins.makers[rows]]
    for is_minimal in (False, True):
        alike = rows[minimal == is_minimal]
        yield Problem(alike, facts.kernel_ns[alike], tell=partial(_tell, is_minimal))


def _tell(is_minimal: bool, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    function, maker = function_of(facts, row), int(facts.joins.makers[row])
    applies = f"fused_activation={in_config(facts, row)}"
    fix = (
        f"g = device.compute_with_storage_grid_size(); ttnn.linear(x, w, activation={in_call(facts, row)}, "
        "core_grid=ttnn.CoreGrid(y=g.y, x=g.x), compute_kernel_config=<as now>, ...), also for a 1x1 conv; "
        "without core_grid it stays an op; or fused_activation in the config"
    )
    if is_minimal:
        fix = (
            f"ttnn.experimental.minimal_matmul(x, w, {applies}, config=<as now>, ...), or a 2D config with "
            "fused_activation"
        )
    elif facts.attributes(maker).text_of("program_config"):
        fix = f"{applies} in the program_config of line {facts.line(maker)}, the rest as now"
    elif facts.ops.inputs[0].sharded[maker]:
        fix = f"a program_config for the shards of line {facts.line(maker)}, with {applies}; TTNN takes no activation="
    return Words(
        claim=(
            f"Activations run as ops of their own behind matmuls ({len(ops.rows)}x, {ops.time}): heaviest "
            f"{function} at line {ops.line} on {facts.ops.outputs[0].shape_text(row)}, behind the matmul at "
            f"line {facts.line(maker)}"
        ),
        assumption="applied while packing, the function costs the matmul next to nothing",
        evidence=(cite_function(facts, row), *cite_op(facts, row)),
        fix=fix,
        verify="re-profile; list_ops(op_code='UnaryDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="readers are inferred from shapes; compare the matmul's time too: core_grid may change its config",
    )


def _unfused(facts: WindowFacts) -> Rows:
    """Unary ops that alone read a matmul's output, which could have applied their function."""
    joins, attributes_of_ops = facts.joins, facts.attributes_of_ops
    made_alone = facts.named(*MATMULS) & (joins.reader_counts == 1)  # the last op has no reader
    for weights in facts.ops.inputs[1:2]:
        made_alone &= weights.padded[:, :2].prod(axis=1) == 1
    _, partners = neighbours(facts)
    rows = np.flatnonzero(made_alone[joins.makers] & (partners < 0))
    rows = rows[
        attributes_of_ops.numbers(rows, lambda attributes: float(function_in(attributes) in BY_MATMULS)) > 0
    ]
    rows = rows[
        attributes_of_ops.numbers(joins.makers[rows], lambda attributes: float(_could_apply_one(attributes))) > 0
    ]
    rows = rows[[_wished(facts.attributes(int(joins.makers[row])), function_of(facts, int(row))) for row in rows]]
    return rows[[keeps_type(facts, row) for row in rows.tolist()]] if len(rows) else rows


def _wished(matmul: Attributes, function: str) -> bool:
    """Whether it applies none yet: a function that the call wants without a core grid is printed, and runs apart."""
    wish = matmul.text_of("user_fused_activation")
    return not wish or (FUNCTION.findall(wish) == [function] and matmul.text_of("user_core_coord") is None)


def _could_apply_one(matmul: Attributes) -> bool:
    config = matmul.struct("program_config")
    if matmul.text_of("fused_activation"):  # of a minimal matmul
        return False
    return config is None or ("DRAMSharded" not in config.name and config.text_of("fused_activation") is None)

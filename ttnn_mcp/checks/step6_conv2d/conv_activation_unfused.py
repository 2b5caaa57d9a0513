"""An activation runs as an op of its own behind a conv that could apply it.

The conv's packer can apply one unary function on the way out (`Conv2dConfig.activation`). As an op of its own the
function reads and writes the whole tensor again. Fused leaky ReLU gave YOLOv4 6 frames per second (tt-metal
#29236).

The line: a unary op reads the conv's output (directly, or through copies and slice writes), nobody else reads it,
the conv has no activation yet, and these unary ops take 0.5 % of the window (the change is safe: the same
function, applied earlier).

Silent where another op reads the conv's output too, where the unary op changes the data type or does something a
conv cannot apply (several functions at once, or a typecast), and behind GroupNorm and other ops in between. Who
reads whom is inferred from shapes, types and placements.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.checks.check import Check, Claim, Said
from ttnn_mcp.checks.shared.attribute_cells import cite_attribute
from ttnn_mcp.checks.shared.conv_ops import NO_CONVS, conv_behind, lever
from ttnn_mcp.checks.shared.wording import cite_op, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.checks.case import Case

MIN_SHARE = 0.005  # of the window: trivially safe
_FUNCTION = re.compile(r"UnaryOpType::(\w+)")
FUSABLE = frozenset(  # what ttnn's conv kernels apply when packing: SFPU functions without a second tensor
    {
        "RELU",
        "RELU6",
        "RELU_MAX",
        "GELU",
        "SILU",
        "SIGMOID",
        "LEAKY_RELU",
        "ELU",
        "TANH",
        "MISH",
        "HARDSWISH",
        "HARDSIGMOID",
    }
)


def look(case: Case) -> Iterator[Said]:
    """Yield one claim over all activations that a conv could apply."""
    if not case.named("Conv2d").any():
        yield NO_CONVS
        return
    joins = Joins(case.flow)
    behind = {row: conv_behind(case, joins, row) for row in np.flatnonzero(case.named("Unary")).tolist()}
    found = {row: conv for row, conv in behind.items() if conv is not None and _fusable(case, row, conv)}
    rows = np.array([*found], dtype=np.int64)
    if not len(rows) or case.share(rows) < MIN_SHARE:
        return
    examples = case.heaviest(rows)
    row = examples[0]
    function = _function(case, row)
    yield Claim(
        claim=(
            f"Activations run as ops of their own behind convs ({len(rows)}x, {time_of(case, rows)}): heaviest "
            f"{function} at line {case.line(row)} on {case.ops.outputs[0].shape_text(row)}, behind the conv at "
            f"line {case.line(found[row])}"
        ),
        rows=rows,
        at_most_ns=case.kernel_ns[rows],
        assumption="applied while packing, the function costs the conv nothing",
        evidence=(cite_attribute(case, row, "op_chain"), *cite_op(case, row)),
        fix=lever(
            case,
            f"ttnn.Conv2dConfig(activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.{function}))  # older builds: "
            f'activation="{function.lower()}"; drop the op at line {case.line(row)}',
        ),
        verify="re-profile; list_ops(op_code='UnaryDeviceOperation').total.count falls, PCC >= 0.99",
        caveat=(
            "readers are inferred from shapes; approximate GELU and sigmoid make the conv itself a little slower"
        ),
    )


def _function(case: Case, row: int) -> str:
    found = _FUNCTION.findall(case.attributes(row).get("op_chain", ""))
    return found[0] if len(found) == 1 else ""


def _fusable(case: Case, row: int, conv: int) -> bool:
    """One function a conv can apply, same type in and out, on a conv that has none yet."""
    same_type = case.ops.outputs[0].dtype[row] == case.ops.inputs[0].dtype[row]
    said = case.attributes(conv).given("activation") or ""
    return same_type and not said and _function(case, row) in FUSABLE


CHECK = Check(
    id="conv-activation-unfused",
    title="activation not fused into the conv",
    step=6,
    look=look,
    read_next="step-06-conv2d-optimization.md",
)

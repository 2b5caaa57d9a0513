"""An activation runs as a separate op after a conv that could apply it.

The conv's packer can apply one unary function to the output (`Conv2dConfig.activation`). A separate op reads and
writes the whole tensor again. Fused leaky ReLU gave YOLOv4 6 frames per second (tt-metal #29236).

The line: a unary op reads the conv's output (directly, or through copies and slice writes), no other op reads it,
the conv has no activation yet, and these unary ops take 0.5 % of the window (the change is safe: the same
function, applied earlier).

Silent if another op also reads the conv's output, if the unary op changes the data type or a conv cannot apply it
(several functions at once, or a typecast), and after GroupNorm and other ops in between. Also silent behind a depthwise
conv without bias over one dimension: its kernel (compute_depthwise_conv1d.cpp of 0.81.1) applies no function, and what
TTNN took without an error was wrong (PCC 0.88, Kimi Linear's port in tt-metal). Readers are inferred from shapes, types
and placements.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.convs import is_depthwise
from ttnn_mcp.analyses.programs.conv_window import window_of
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.op_config import OpConfig, Sets, set_alone
from ttnn_mcp.checks.shared.activations import cite_function, function_of, in_config, keeps_type
from ttnn_mcp.checks.shared.conv_ops import conv_check, convs_behind
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import SAFE, Worth

PLAIN = ("RELU", "RELU6", "GELU", "SILU", "SIGMOID", "TANH", "HARDSWISH", "HARDSIGMOID")
PARAMETER = {"LEAKY_RELU": ", slope", "ELU": ", alpha", "MISH": ", 0.0"}  # UnaryWithParam throws without one


@conv_check(
    title="activation not fused into the conv",
    lever=CONV_CONFIG,
    needs=(OPERANDS,),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all activations that a conv could apply."""
    behind = convs_behind(facts, np.flatnonzero(facts.named("Unary")))
    conv_of = {row: conv for row, conv in behind.items() if _fusable(facts, row, conv)}
    rows = np.array([*conv_of], dtype=np.int64)
    sets = partial(_applied, {conv: _with_numbers(facts, row) for row, conv in conv_of.items()})
    yield Problem(rows, facts.kernel_ns[rows], sets=sets, owners=conv_of, tell=partial(_tell, conv_of, sets))


def _applied(functions: dict[int, str], config: OpConfig) -> OpConfig:
    return config.with_conv_field("activation", functions[config.row])


def _with_numbers(facts: WindowFacts, row: int) -> str:
    """The function with its numbers; where the row prints none that it must have, with a name for them."""
    applied = in_config(facts, row)
    missing = "" if "," in applied else PARAMETER.get(function_of(facts, row), "")
    return f"{applied.removesuffix(')')}{missing})"


def _tell(conv_of: dict[int, int], sets: Sets, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    function = function_of(facts, row)
    return Words(
        claim=(
            f"Activations run as ops of their own behind convs ({len(ops.rows)}x, {ops.time}): heaviest {function} at "
            f"line {ops.line} on {facts.ops.outputs[0].shape_text(row)}, behind the conv at line "
            f"{facts.line(conv_of[row])}"
        ),
        assumption="applied while packing, the function costs the conv nothing",
        evidence=(cite_function(facts, row), *cite_op(facts, row)),
        fix=(
            f"{set_alone(facts, conv_of[row], sets).conv_text}; before 0.63.0: "
            f'activation="{function.lower()}"; drop the op at line {ops.line}'
        ),
        verify="re-profile; list_ops(op_code='UnaryDeviceOperation').total.count falls, PCC >= 0.99",
        caveat=(
            "readers are inferred from shapes; approximate GELU and sigmoid make the conv itself a little slower"
        ),
    )


def _fusable(facts: WindowFacts, row: int, conv: int) -> bool:
    """One function that ttnn's conv kernels apply when packing, same type in and out, on a conv that has none yet."""
    applied = facts.attributes(conv).text_of("activation") or _multiplies_channels(facts, conv)
    return keeps_type(facts, row) and not applied and function_of(facts, row) in (*PLAIN, *PARAMETER)


def _multiplies_channels(facts: WindowFacts, conv: int) -> bool:
    """Whether each channel is multiplied by itself, one-dimensional as far as the row tells: a kernel of its own."""
    attributes, ops = facts.attributes(conv), facts.ops
    window = window_of(attributes.struct("sliding_window_config"))
    groups = attributes.number("groups") or 1
    alone = all(int(operand.logical[conv, 3]) == groups > 1 for operand in (ops.inputs[0], ops.outputs[0]))
    alone |= is_depthwise(attributes)  # of channels that are padded in the tensors
    flat = window is None or 1 in (*window.kernel, *window.input)
    return alone and flat and not attributes.flag("has_bias")

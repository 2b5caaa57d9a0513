"""The function of a unary op that another op could apply to its output, and that which a matmul applies already."""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.laws.printed_op import FUNCTION
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import Evidence, Mask, WindowFacts
from ttnn_mcp.checks.op_config import COMPUTE_AS_NOW, function_text
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.replay.expressions import Unwritable, activation

BINARY_KIND = re.compile(r"BinaryOpType::(ADD|SUB|MUL|DIV)\b")
BESIDE_BINARY = frozenset(  # by element-wise ops of TTNN 0.81.1
    (
        *("RELU", "RELU6", "GELU", "SILU", "SIGMOID", "TANH", "HARDSIGMOID", "HARDSWISH", "EXP", "SQRT"),
        *("SQUARE", "NEG", "ABS", "RECIP", "RSQRT", "LOG"),
    )
)

BY_MATMULS = frozenset(  # by the matmul kernels of TTNN 0.81.1; it throws on others (mish, exp)
    ("RELU", "RELU6", "GELU", "GELU_TANH", "SILU", "SIGMOID", "TANH", "HARDSIGMOID")
)
IN_CALL = {"user_fused_activation": "activation=", "user_core_coord": "core_grid="}


def applied_by(facts: WindowFacts, row: int) -> str:
    """What the matmul at `row` applies to its result, as a config takes it: "None" if it applies nothing.

    A config takes the function over from `activation=`: beside a config TTNN 0.81.1 makes that an op of its own, and
    refuses it beside DRAM-sharded weights. A minimal matmul has it beside its config.
    """
    attributes = facts.attributes(row)
    config = attributes.struct("program_config")
    text = attributes.text_of("user_fused_activation", "fused_activation")
    text = text or (config and config.text_of("fused_activation"))
    return function_text(text) if text else "None"


def also_applied(facts: WindowFacts, row: int) -> str:
    """The same as a last argument of a call or config (", fused_activation=..."); empty if it applies nothing."""
    function = applied_by(facts, row)
    return f", fused_activation={function}" if function != "None" else ""


def has_bias(facts: WindowFacts, row: int) -> bool:
    """Whether the matmul at `row` adds a bias: its third input."""
    return any(operand.present[row] for operand in facts.ops.inputs[2:3])


def lies_elsewhere(facts: WindowFacts, row: int) -> bool:
    """Whether its result does not lie where a call without memory_config writes it."""
    return facts.ops.outputs[0].placement[row] not in ("", "DRAM_INTERLEAVED")


def kept_beside_config(facts: WindowFacts, row: int) -> str:
    """What of the call at `row` stays beside a config that applies its function, and what goes.

    A function of the call would be applied twice, and TTNN 0.81.1 takes no core grid beside a config. Without a dtype
    it gives the type of x.
    """
    attributes, ops = facts.attributes(row), facts.ops
    minimal = facts.named("MinimalMatmul")[row]  # of whose own passes no call of another op knows
    kept = ["compute_kernel_config"] * (not minimal)
    kept += ["bias"] * has_bias(facts, row)
    kept += ["memory_config"] * bool(minimal and lies_elsewhere(facts, row))
    kept += ["dtype"] * bool(ops.inputs[0].dtype[row] != ops.outputs[0].dtype[row])
    dropped = [name for key, name in IN_CALL.items() if attributes.text_of(key)]
    stays = [COMPUTE_AS_NOW] * bool(minimal) + [f"keep {', '.join(kept)}"] * bool(kept)
    return "; ".join(stays) + (f", drop {' and '.join(dropped)}" if dropped else "")


def on_core_grid(facts: WindowFacts, row: int) -> str:
    """The matmul at `row` on the whole grid, by TTNN's own config: it takes none beside (0.81.1), nor its function."""
    config = facts.attributes(row).struct("program_config")
    applied = ", activation=<that of its config>" if config and config.text_of("fused_activation") else ""
    instead = " in place of program_config" if config else ""
    return (
        "g = device.compute_with_storage_grid_size(); ttnn.linear(x, w, core_grid=ttnn.CoreGrid(y=g.y, x=g.x), "
        f"{COMPUTE_AS_NOW}{applied}, ...){instead}"
    )


def as_stored(facts: WindowFacts, row: int) -> str:
    """How its weights must be stored for a program that cannot turn them; empty where it need not."""
    return " stored as [K, N] (no transpose_b)" if facts.attributes(row).flag("transpose_b") else ""


def columns_dim(facts: WindowFacts, row: int) -> int:
    """The dim of the columns N in its weights as they are stored."""
    return -2 if facts.attributes(row).flag("transpose_b") else -1


def plain(facts: WindowFacts) -> Mask:
    """Ops that apply no function beside what they are: only their own arithmetic may go into a neighbour.

    What a matmul, a sum or a product applies to its result comes before all that stands behind it.
    """
    return ~facts.ops.texts("attributes").where(lambda text: FUNCTION.search(text) is not None)


def function_of(facts: WindowFacts, row: int) -> str:
    """The only function of its chain ("GELU"); empty if there are several or none."""
    return function_in(facts.attributes(row))


def in_config(facts: WindowFacts, row: int) -> str:
    """The same as a config takes it, with its numbers: GELU without one is exact, with a 1 it is not."""
    try:
        return activation(facts.attributes(row).get("op_chain", ""))
    except Unwritable:
        return f"ttnn.UnaryWithParam(ttnn.UnaryOpType.{function_of(facts, row)})"


def in_call(facts: WindowFacts, row: int) -> str:
    """The same as a call takes it: by its name where it has no numbers."""
    name = f"ttnn.UnaryOpType.{function_of(facts, row)}"
    whole = in_config(facts, row)
    return name if whole == f"ttnn.UnaryWithParam({name})" else whole


def function_in(attributes: Attributes) -> str:
    """The same of the op's attributes."""
    functions = FUNCTION.findall(attributes.get("op_chain", ""))
    return functions[0] if len(functions) == 1 else ""


def keeps_type(facts: WindowFacts, row: int) -> bool:
    """Whether its output has the data type of its input."""
    return facts.ops.outputs[0].dtype[row] == facts.ops.inputs[0].dtype[row]


def keep_width(facts: WindowFacts) -> Mask:
    """Ops whose output has elements of the size of their INPUT_0's."""
    return facts.ops.inputs[0].element_bytes == facts.ops.outputs[0].element_bytes


def cite_function(facts: WindowFacts, row: int) -> Evidence:
    """The function in the op's chain, without the hundreds of characters before it."""
    return cite_attribute(facts, row, "op_chain").model_copy(
        update={"value": f"UnaryOpType::{function_of(facts, row)}"}
    )


def neighbours(facts: WindowFacts) -> tuple[Mask, Rows]:
    """Per op: whether its function goes into the op before, and the row of the op that it goes into; -1 for none."""
    joins, size = facts.joins, len(facts)
    able = facts.ops.texts("attributes").where(lambda text: BINARY_KIND.search(text) is not None)
    unary = np.flatnonzero(keep_width(facts) & facts.ops.inputs[0].layout.among("TILE"))
    known = (
        facts.attributes_of_ops.numbers(unary, lambda attributes: float(function_in(attributes) in BESIDE_BINARY))
        > 0
    )
    rows = unary[known]
    alone = joins.reader_counts == 1
    partners = np.full(size, -1, dtype=np.int64)
    makers, readers = joins.edges
    into = np.isin(makers, rows) & alone[makers] & able[readers]
    partners[makers[into]] = readers[into]
    before = rows[(able & alone)[joins.makers[rows]]]  # the last op has no reader
    partners[before] = joins.makers[before]
    return np.isin(np.arange(size), before), partners

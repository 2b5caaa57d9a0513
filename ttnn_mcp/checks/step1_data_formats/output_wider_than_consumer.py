"""An op writes a wide data type, and a Typecast only narrows it again.

The producer packs its result anyway and can pack it narrow: the typecast disappears, and the producer writes fewer
bytes. The accuracy is that of the present program, whose consumer already reads the narrow type.

The line: a Typecast to fewer bytes per element is the only reader of an output whose op prints an output type in its
ATTRIBUTES (matmul, conv, binary, tilize, sharding moves), so that it can be given another; together 0.5 % of the
window, because the change is safe. The bound is the typecast itself; the producer's saving comes on top.

Silent if another op reads the wide output. Joins rest on equal size, type, layout and placement.
"""

from __future__ import annotations

from ttnn_mcp.analyses.op_kinds.casts import narrowed_behind_their_maker
from ttnn_mcp.analyses.op_kinds.layouts import TO_TILES
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import ACTIVATIONS
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.wording import op_name
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.run.ops.op_names import canonical, family


@check(
    title="written wide only to be narrowed",
    lever=ACTIVATIONS,
    of=ops_named("no Typecast ops", "Typecast"),
    needs=(OPERANDS,),
    worth=Worth(saving=SAFE),
    compiled="cast the module's output dtype in PyTorch once, so that the compiler need not insert a typecast",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all typecasts that their producer could make needless."""
    rows = narrowed_behind_their_maker(facts.ops, facts.flow)
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row, source, output = ops.facts, ops.row, ops.facts.ops.inputs[0], ops.facts.ops.outputs[0]
    made_by = int(facts.flow.producers[0][row])
    return Words(
        claim=(
            f"{len(ops.rows)} outputs are written as {source.dtype[row]} only to be cast to {output.dtype[row]} "
            f"({ops.time}); heaviest: {op_name(facts, made_by)} at line {facts.line(made_by)}, cast at line {ops.line}"
        ),
        assumption="the producer writes the narrow type and the typecast goes",
        cells=((output, "DATATYPE"),),
        also=(facts.ops.cite_operand(made_by, output, "DATATYPE"),),
        fix=_fix(facts, made_by, f"ttnn.{output.dtype[row].lower()}"),
        verify="re-profile: tensor_formats.conversions lists fewer Typecast ops; PCC unchanged",
        caveat="joined by size, type, layout and placement: make sure that nothing else reads the wide tensor",
    )


def _fix(facts: WindowFacts, made_by: int, dtype: str) -> str:
    name = facts.names[made_by]
    if canonical(name) in TO_TILES:
        return f"x = ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype={dtype})  # tilizes and narrows in one op"
    if family(name) == "conv":
        return f"y = ttnn.conv2d(..., dtype={dtype})  # before 0.60.1 a field of ttnn.Conv2dConfig"
    if family(name) == "matmul":
        return f"y = ttnn.linear(..., dtype={dtype})"
    return (
        f"give {shown(canonical(name))} the type it should write: dtype={dtype} (output_dtype= for sharding moves)"
    )

"""Bytes of operands: as narrow as the op's part in them allows."""

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.time_budget.operand_bytes import narrowed


@for_all(
    ("op_code", "tile_bytes"),
    [("Matmul", (1088, 576)), ("Conv2d", (1088, 576)), ("Binary", (1088, 1088)), ("SDPA", (1088, 1088))],
)
def test_only_weights_of_matmuls_and_convs_go_down_to_four_bits(tmp_path, op_code, tile_bytes):
    program = Program("wormhole_b0")
    x, y, out = (program.tensor([1, 1, 32, 32]) for _ in range(3))
    put(program, DeviceOp(f"{op_code}DeviceOperation", (x, y), (out,), 1_000))
    ops = ops_of(tmp_path, program)
    weigh = narrowed(ops)
    assert tuple(weigh(ops.inputs[number], number)[0] for number in (0, 1)) == tile_bytes
    assert weigh(ops.outputs[0], None)[0] == 1088

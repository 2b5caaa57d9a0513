"""Conv weights: the ops that prepare them in the window."""

from tests.analyses.tables import ops_of
from tests.checks.conv_programs import Conv, halo_output, relu
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import tilize
from ttnn_mcp.analyses.op_kinds.conv_weights import preparations_of

CONV = Conv(block=(8, 6))


def prepared(*, computed=False):
    """Raw weights permuted and tilized for one conv, ready ones for another."""
    program = Program("wormhole_b0")
    raw = program.weight([1, 1, 64, 576], layout="ROW_MAJOR")
    if computed:
        raw = relu(program, raw)
    turned = program.tensor([1, 1, 576, 96], layout="ROW_MAJOR")
    put(program, DeviceOp("PermuteDeviceOperation", (raw,), (turned,), 10_000))
    weight = put(program, tilize(turned, program.tensor([1, 1, 576, 96]), 10_000))
    for second in (weight, program.weight([1, 1, 576, 64])):
        out = program.tensor([1, 1, CONV.rows, CONV.columns], CONV.out)
        op = DeviceOp("Conv2dDeviceOperation", (halo_output(program, CONV), second), (out,), 100_000, cores=64)
        op.attributes = CONV.attributes()
        put(program, op)
    put(program, tilize(raw, program.tensor([1, 1, 64, 576]), 10_000))  # the last op of all makes no weight either
    return program


@for_all(("most", "found"), [(2, {2: [1, 0]}), (1, {})])
def test_ops_that_turn_raw_weights_into_a_convs_are_its_preparation(tmp_path, most, found):
    assert preparations_of(ops_of(tmp_path, prepared()), most) == found


def test_what_an_op_computed_is_no_weight(tmp_path):
    assert preparations_of(ops_of(tmp_path, prepared(computed=True)), 6) == {}

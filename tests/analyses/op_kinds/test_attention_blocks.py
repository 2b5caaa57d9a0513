"""The stretch of ops that one rewrite of an attention replaces."""

from tests.analyses.tables import ops_of
from tests.checks.asking import Case, case_of_reports, real_case
from tests.checks.rows import ONE_PASS, put
from tests.for_all import for_all
from tests.profiles import Program, write_performance_report
from tests.profiles.model import DeviceOp
from tests.shared_reports import CLIP
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.op_kinds.attention_blocks import attention_blocks
from ttnn_mcp.analyses.op_kinds.attention_chains import attention_chains

FUSED = "ScaledDotProductAttentionDeviceOperation"
HEADS, SOFTMAX = "AllReduceCreateQkvHeadsDeviceOperation", "SoftmaxDeviceOperation"
LINEAR, MOVE, NORM = "MatmulDeviceOperation", "ReshapeViewDeviceOperation", "LayerNormDeviceOperation"


def made_of(*names, widths=()) -> Program:
    """Ops of these names in order, each of sizes of its own; `widths` names the inner size of linears, in order."""
    made, inner = Program("wormhole_b0"), iter(widths)
    for place, name in enumerate(names):
        width = next(inner, 512) if name == LINEAR else 64 * (place + 1)
        x, y = made.tensor([1, 1, 64, width]), made.tensor([1, 1, 64, 96 * (place + 1)])
        second = (made.weight([1, 1, width, 96 * (place + 1)]),) if name == LINEAR else ()
        put(made, DeviceOp(name, (x, *second), (y,), 10_000))
    return made


def case(folder, *names, **sizes) -> Case:
    return case_of_reports(write_performance_report(folder, made_of(*names, **sizes), ONE_PASS))


def blocks(folder, *names, widths=()):
    at = case(folder, *names, widths=widths)
    return [(block.start, block.stop) for block in attention_blocks(at.ops, at.flow)]


def test_a_block_reaches_from_the_linears_of_its_inputs_to_the_linear_behind(tmp_path):
    ops = (NORM, LINEAR, MOVE, LINEAR, LINEAR, MOVE, FUSED, MOVE, LINEAR, NORM)
    assert blocks(tmp_path, *ops) == [(1, 8)]


@for_all(("widths", "start"), [((512, 512, 512, 512), 2), ((256, 512, 512), 2), ((512, 256, 512), 3), ((512,), 1)])
def test_at_most_three_linears_that_read_one_size_belong_to_it(tmp_path, widths, start):
    assert blocks(tmp_path, NORM, *[LINEAR] * len(widths), FUSED, widths=widths)[0][0] == start


def test_of_linears_whose_inputs_are_lost_the_nearest_belongs_to_it(tmp_path):
    program = made_of(NORM, LINEAR, LINEAR, MOVE, FUSED, MOVE, LINEAR)
    for lost, start in (("^OUTPUT", 1), ("^INPUT", 2)):
        ops = ops_of(tmp_path, program, without=lost)
        assert attention_blocks(ops, flow_of(ops)) == [range(start, 6)]


def test_norms_of_heads_lie_inside_and_a_norm_before_the_linear_does_not(tmp_path):
    assert blocks(tmp_path, NORM, LINEAR, NORM, FUSED, NORM) == [(1, 4)]


@for_all(
    ("ops", "block"),
    [
        ((LINEAR, HEADS, FUSED, HEADS, LINEAR), (0, 4)),
        ((LINEAR, SOFTMAX, LINEAR, FUSED), (2, 4)),
        ((LINEAR, FUSED, NORM, LINEAR), (0, 2)),
        ((LINEAR, FUSED, SOFTMAX, LINEAR), (0, 2)),
    ],
)
def test_head_ops_lie_inside_and_what_computes_ends_it(tmp_path, ops, block):
    assert blocks(tmp_path, *ops) == [block]


@for_all(("moves", "reached"), [(39, True), (40, False)])
def test_forty_ops_on_each_side_are_in_reach(tmp_path, moves, reached):
    front, behind = (LINEAR, *[MOVE] * moves, FUSED), (FUSED, *[MOVE] * moves, LINEAR)
    assert blocks(tmp_path, *front) == [(0 if reached else moves + 1, moves + 2)]
    assert blocks(tmp_path, *behind) == [(0, moves + 1 if reached else 1)]


def test_without_linears_it_is_the_attention_alone(tmp_path):
    assert blocks(tmp_path, MOVE, FUSED, NORM) == [(1, 2)]


def test_blocks_do_not_overlap(tmp_path):
    ops = (LINEAR, FUSED, LINEAR, NORM, LINEAR, FUSED, LINEAR)
    assert blocks(tmp_path, *ops) == [(0, 2), (4, 6)]


def test_of_two_attentions_that_share_a_product_the_first_is_a_block(tmp_path):
    made = Program("wormhole_b0")
    x = made.tensor([1, 4, 64, 64])
    for name in ("Matmul", "Softmax", "Matmul", "Softmax", "Matmul"):
        second = (made.tensor([1, 4, 64, 64]),) if name == "Matmul" else ()
        x = put(made, DeviceOp(f"{name}DeviceOperation", (x, *second), (made.tensor([1, 4, 64, 64]),), 10_000))
    at = case_of_reports(write_performance_report(tmp_path, made, ONE_PASS))
    assert [(chain.scores, chain.context) for chain in attention_chains(at.ops, at.flow)] == [(0, 2), (2, 4)]
    assert attention_blocks(at.ops, at.flow) == [range(3)]


def test_a_real_encoder_has_one_block_in_each_layer():
    at = real_case(CLIP)
    found = attention_blocks(at.ops, at.flow)
    assert (len(found), {len(block) for block in found}) == (32, {17})

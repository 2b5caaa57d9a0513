"""The stretch of ops that one rewrite of an attention replaces."""

import pytest

from tests.checks.asking import Case, case_of_reports, real_case
from tests.checks.rows import ONE_PASS, put
from tests.profiles import Program, write_performance_report
from tests.profiles.model import DeviceOp
from tests.shared_reports import CLIP
from ttnn_mcp.analyses.op_kinds.attention_blocks import attention_blocks

FUSED = "ScaledDotProductAttentionDeviceOperation"
LINEAR, MOVE, NORM = "MatmulDeviceOperation", "ReshapeViewDeviceOperation", "LayerNormDeviceOperation"


def case(folder, *names, widths=()) -> Case:
    """Ops of these names in order, each of sizes of its own; `widths` names the inner size of linears, in order."""
    made, inner = Program("wormhole_b0"), iter(widths)
    for place, name in enumerate(names):
        width = next(inner, 512) if name == LINEAR else 64 * (place + 1)
        x, y = made.tensor([1, 1, 64, width]), made.tensor([1, 1, 64, 96 * (place + 1)])
        second = (made.weight([1, 1, width, 96 * (place + 1)]),) if name == LINEAR else ()
        put(made, DeviceOp(name, (x, *second), (y,), 10_000))
    return case_of_reports(write_performance_report(folder, made, ONE_PASS))


def blocks(folder, *names, widths=()):
    at = case(folder, *names, widths=widths)
    return [(block.start, block.stop) for block in attention_blocks(at.ops, at.flow)]


def test_a_block_reaches_from_the_linears_of_its_inputs_to_the_linear_behind(tmp_path):
    ops = (NORM, LINEAR, MOVE, LINEAR, LINEAR, MOVE, FUSED, MOVE, LINEAR, NORM)
    assert blocks(tmp_path, *ops) == [(1, 8)]


@pytest.mark.parametrize(
    ("widths", "start"), [((512, 512, 512, 512), 2), ((256, 512, 512), 2), ((512, 256, 512), 3), ((512,), 1)]
)
def test_at_most_three_linears_that_read_one_size_belong_to_it(tmp_path, widths, start):
    assert blocks(tmp_path, NORM, *[LINEAR] * len(widths), FUSED, widths=widths)[0][0] == start


def test_norms_of_heads_lie_inside_and_a_norm_before_the_linear_does_not(tmp_path):
    assert blocks(tmp_path, NORM, LINEAR, NORM, FUSED, NORM) == [(1, 4)]


def test_without_linears_it_is_the_attention_alone(tmp_path):
    assert blocks(tmp_path, MOVE, FUSED, NORM) == [(1, 2)]


def test_blocks_do_not_overlap(tmp_path):
    ops = (LINEAR, FUSED, LINEAR, NORM, LINEAR, FUSED, LINEAR)
    assert blocks(tmp_path, *ops) == [(0, 2), (4, 6)]


def test_a_real_encoder_has_one_block_in_each_layer():
    at = real_case(CLIP)
    found = attention_blocks(at.ops, at.flow)
    assert (len(found), {len(block) for block in found}) == (32, {17})

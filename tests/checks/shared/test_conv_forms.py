"""Forms of a conv that a fix proposes: other cores, other layouts, larger blocks, double buffers."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.asking import asker
from tests.checks.conv_programs import of_unknown_chip, with_conv
from tests.checks.programs import prefill
from tests.profiles import Program
from ttnn_mcp.checks.op_config import present
from ttnn_mcp.checks.shared.conv_forms import grown, in_other_layout, on_grid, with_doubles


def case_of(tmp_path, program, **how):
    return asker(__name__, tmp_path).case(program, **how)


def test_an_op_that_is_no_conv_gets_no_form_of_one(tmp_path):
    program = Program("wormhole_b0")
    prefill(program)
    matmul = present(case_of(tmp_path, program), 0)
    forms = (grown, with_doubles, lambda one: on_grid(one, (8, 8)), in_other_layout("BLOCK_SHARDED", (8, 8)))
    assert [form(matmul) for form in forms] == [None] * 4


def test_double_buffers_that_a_conv_has_are_not_given_again(tmp_path):
    how = {"layout": "BLOCK", "channel_cores": 8, "allocated": 0}
    now = present(case_of(tmp_path, with_conv(**how)), 0)
    both = replace(now, conv=replace(now.conv, act_double=True, weights_double=True))
    assert with_doubles(now) == both
    assert with_doubles(both) is None


def test_a_conv_that_fits_no_other_cores_stays_where_it_is(tmp_path):
    now = present(case_of(tmp_path, with_conv(per_core=(2000, 2))), 0)
    assert on_grid(now, (8, 8)) is None
    assert in_other_layout("BLOCK_SHARDED", (8, 8))(now) is None


def test_without_a_known_limit_of_l1_a_block_grows_no_larger_than_now(tmp_path):
    now = present(case_of(tmp_path, of_unknown_chip(), generation="C4"), 0)
    moved = in_other_layout("HEIGHT_SHARDED", (8, 8))(now)
    assert (moved.conv.per_core_h, moved.conv.block_h) == (8, now.conv.block_h)

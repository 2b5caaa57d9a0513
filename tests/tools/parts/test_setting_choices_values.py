"""Values of settings as people write them."""

from __future__ import annotations

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools.parts.setting_choices import setting_value


@for_all(
    ("setting", "value", "written"),
    [
        ("in0_block_w", " -4 ", -4),
        ("in0_block_w", 16_777_216, 16_777_216),  # 2^24
        ("math_fidelity", "ttnn.MathFidelity.HiFi2", "HiFi2"),
        ("math_fidelity", "MathFidelity::lofi", "LoFi"),
        ("shard_layout", "h", "HEIGHT_SHARDED"),
        ("weights_dtype", "bfloat4", "BFLOAT4_B"),
        ("packer_l1_acc", " True", True),
        ("packer_l1_acc", 0, False),
        ("core_grid", "(x=8,y=7)", "8x7"),
        ("core_grid", "CoreCoord(8, 7)", "8x7"),
        ("core_grid", "ttnn.CoreGrid(y=7, x=8)", "8x7"),  # as models write it: rows first
    ],
)
def test_a_value_is_understood_in_any_spelling(setting, value, written):
    assert setting_value(setting, value) == written


@for_all(
    ("setting", "value", "match"),
    [
        ("in0_block_w", True, "in0_block_w is a whole number, not 'True'"),
        ("in0_block_w", "2.5", "number, not '2.5'"),
        ("in0_block_w", 16_777_217, "at most 16777216"),
        ("in0_block_w", -16_777_217, "at most 16777216"),
        ("math_fidelity", "HiFi", "LoFi, HiFi2, HiFi3, HiFi4; not 'HiFi'"),
        ("math_fidelity", "", "not ''"),
        ("packer_l1_acc", 2, "'2' is neither"),
        ("core_grid", "8", "not '8'"),
    ],
)
def test_a_value_that_could_be_several_or_none_is_refused(setting, value, match):
    with pytest.raises(QuestionRefused, match=match):
        setting_value(setting, value)

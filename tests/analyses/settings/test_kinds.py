"""Which ops have settings, and what a report must hold of them."""

from __future__ import annotations

import pytest

from tests.analyses.settings.rows import ops_in
from tests.analyses.tables import put
from tests.checks.conv_programs import with_conv
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.replay.made import linear
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.settings.conv import ConvSettings
from ttnn_mcp.analyses.settings.group_norms import GroupNormSettings
from ttnn_mcp.analyses.settings.kinds import modelled_as_it_ran, settings_of
from ttnn_mcp.analyses.settings.matmul import MatmulSettings
from ttnn_mcp.analyses.settings.norms import NormSettings
from ttnn_mcp.analyses.settings.sdpa import SdpaSettings
from ttnn_mcp.analyses.settings.trial import per_step_ns
from ttnn_mcp.errors import QuestionRefused


@pytest.fixture
def made(tmp_path):
    def of(code, without="", kernel_ns=9_000, **attributes):
        program = Program("wormhole_b0")
        tensors = [program.tensor([1, 1, 512, 64]) for _ in range(4)]
        op = DeviceOp(f"{code}DeviceOperation", tensors[:3], tensors[3:], kernel_ns, attributes=attributes)
        put(program, op)
        return ops_in(tmp_path, program, without=without)[0]

    return of


@for_all(
    ("code", "kind"),
    [
        ("Matmul", MatmulSettings),
        ("MinimalMatmul", MatmulSettings),
        ("SDPAOperation", SdpaSettings),
        ("LayerNorm", NormSettings),
        ("Softmax", NormSettings),
        ("GroupNorm", GroupNormSettings),
    ],
)
def test_each_kind_of_op_has_settings_of_its_own(made, code, kind):
    assert type(settings_of(made(code), 0)) is kind


def test_a_conv_has_settings_where_its_block_is_printed(made, tmp_path):
    assert type(settings_of(ops_in(tmp_path, with_conv())[0], 0)) is ConvSettings
    with pytest.raises(QuestionRefused, match="no block_config"):
        settings_of(made("Conv2d"), 0)


@for_all("empty", ["first", "output"])
def test_of_a_tensor_without_elements_no_setting_is_judged(tmp_path, empty):
    program = Program("wormhole_b0")
    x, y, z = (program.tensor([1, 1, rows, 64]) for rows in (0 if empty == "first" else 512, 64, 0))
    out = z if empty == "output" else y
    put(program, DeviceOp("MatmulDeviceOperation", [x, y], [out], 9_000))
    with pytest.raises(QuestionRefused, match="LostShape has no setting"):
        settings_of(ops_in(tmp_path, program)[0], 0)


@for_all("lost", ["INPUT_0_[WZYX]", "OUTPUT_0_[WZYX]"])
def test_where_no_op_of_a_report_has_the_shape_no_setting_is_judged(made, lost):
    with pytest.raises(QuestionRefused, match="does not show what this op read and wrote"):
        settings_of(made("Matmul", lost), 0)


@for_all("lost", ["INPUT_0_DATATYPE", "INPUT_2_DATATYPE", "OUTPUT_0_DATATYPE"])
@for_all("code", ["Matmul", "LayerNorm", "Softmax"])
def test_of_a_tensor_of_no_known_data_type_no_setting_is_judged(made, code, lost):
    with pytest.raises(QuestionRefused, match="no data type whose size is known"):
        settings_of(made(code, lost), 0)


def test_the_l1_of_an_op_as_it_ran_is_that_of_the_config_that_its_row_prints(made, tmp_path):
    """Two blocks of A and of B (1x2 and 2x2 tiles), and 1x2 tiles of sums; where TTNN chose the config, none is told."""
    conv, multiplied = (
        ops_in(tmp_path / str(at), program)[0] for at, program in enumerate((with_conv(), linear()))
    )
    assert modelled_as_it_ran(multiplied, 0) == 2 * 2 * 2_048 + 2 * 4 * 1_088 + 2 * 2_048
    held = {name: size for name, size in settings_of(conv, 0).conv.buffers.items() if name != "OUT"}
    assert modelled_as_it_ran(conv, 0) == sum(held.values()) == 76_864
    assert [modelled_as_it_ran(made(code), 0) for code in ("Matmul", "LayerNorm", "Unary")] == [None] * 3


def test_other_ops_have_none(made):
    with pytest.raises(QuestionRefused, match="Unary has no setting judged here"):
        settings_of(made("Unary"), 0)


@for_all(
    ("code", "lost", "enough"),
    [
        ("Matmul", "INPUT_[2-9]", True),
        ("Matmul", "INPUT_[1-9]", False),
        ("SDPAOperation", "INPUT_[1-9]", False),
        ("LayerNorm", "INPUT_[1-9]", True),
        ("LayerNorm", "INPUT_", False),
        ("Matmul", "OUTPUT_", False),
        ("Softmax", "OUTPUT_", False),
    ],
)
def test_a_norm_has_one_input_at_least_and_other_ops_two(made, code, lost, enough):
    op = made(code, lost)
    if enough:
        assert settings_of(op, 0).takes
    else:
        with pytest.raises(QuestionRefused, match="no operand columns"):
            settings_of(op, 0)


@for_all(("kernel_ns", "least"), [(100, 100), (350, 350), (9_000, LAUNCH_FLOOR_NS)])
def test_an_op_takes_its_launch_at_least(made, kernel_ns, least):
    """370 ns: the shortest kernels of real reports, and no roofline of a few tiles is longer."""
    op = made("Unary", "INPUT_|OUTPUT_", kernel_ns=kernel_ns)
    assert (op.least_ns, LAUNCH_FLOOR_NS) == (least, 370)


def test_fewer_steps_save_a_share_of_what_lies_above_the_least(made):
    op = made("Unary", "INPUT_|OUTPUT_", kernel_ns=1_370)
    saved = [per_step_ns(op, *steps) for steps in ((4, 2), (4, 1), (4, 8), (0, 1))]
    assert saved == [500, 750, 0, 0]

"""Arithmetic of convolutions: what the attributes say, and what is missing."""

from tests.analyses.roofline.arithmetic import counted, table
from tests.for_all import for_all
from ttnn_mcp.analyses.roofline.flops import WHY_KIND, WHY_OPERANDS, _per_pixel, _transposed_pixels
from ttnn_mcp.readers.printed.attributes import Attributes

SAID = {
    "groups": "2",
    "output_channels": "64",
    "input_tensor_shape": "{1, 8, 8, 32}",
    "sliding_window_config": "SlidingWindowConfig(window_hw=(3,3),stride_hw=(1,1))",
}
X, W, OUT = [1, 1, 64, 32], [1, 1, 288, 64], [1, 1, 64, 64]
CONV = ("Conv2d", [X, W], [OUT], SAID)
ASKED, DONE = 2 * 64 * 64 * 16 * 9, 2 * 64 * 288 * 64


def test_what_was_asked_for_and_what_is_performed(tmp_path):
    assert counted(table(tmp_path, CONV, without="INPUT_[2-9]")) == [(ASKED, DONE, "")]


@for_all("without", ["INPUT_[1-9]", "OUTPUT"])
def test_a_report_without_these_columns_shows_no_arithmetic(tmp_path, without):
    assert counted(table(tmp_path, CONV, without=without)) == [(None, None, WHY_OPERANDS)]


@for_all("blank", ["INPUT_1", "OUTPUT"])
def test_nor_does_one_whose_cells_are_all_blank(tmp_path, blank):
    assert counted(table(tmp_path, CONV, blank=blank)) == [(None, None, WHY_OPERANDS)]


def test_a_row_without_weights_shows_none(tmp_path):
    assert counted(table(tmp_path, CONV, CONV, blank="INPUT_1")) == [(None, None, WHY_OPERANDS), (ASKED, DONE, "")]


def test_an_unknown_kind_is_not_counted(tmp_path):
    assert counted(table(tmp_path, ("Conv4d", [X, W], [OUT], SAID))) == [(None, None, WHY_KIND)]


WINDOW = "SlidingWindowConfig(window_hw=({}),stride_hw=(1,1))"


@for_all(
    ("change", "each"),
    [
        ({}, 2 * 64 * 16 * 9),
        ({"groups": "0"}, None),
        ({"groups": "std::nullopt"}, None),
        ({"output_channels": "0"}, None),
        ({"output_channels": "std::nullopt"}, None),
        ({"input_tensor_shape": "{8, 8, 32}"}, None),
        ({"input_tensor_shape": "{1, 1, 8, 8, 32}"}, None),
        ({"sliding_window_config": WINDOW.format("3")}, None),
        ({"sliding_window_config": WINDOW.format("3,3,3")}, None),
        ({"sliding_window_config": "none"}, None),
    ],
)
def test_a_pixel_takes_window_times_channels_of_its_group(change, each):
    assert _per_pixel(Attributes({**SAID, **change})) == each


@for_all(
    ("change", "pixels"),
    [
        ({}, None),
        ({"sliding_window_config": "SlidingWindowConfig(is_transpose=true)"}, 64.0),
        ({"sliding_window_config": "SlidingWindowConfig(is_transpose=1)"}, 64.0),
        ({"sliding_window_config": "SlidingWindowConfig(is_transpose=false)"}, None),
        ({"sliding_window_config": "none"}, None),
        ({"sliding_window_config": "SlidingWindowConfig(is_transpose=true)", "input_tensor_shape": "none"}, None),
    ],
)
def test_a_transposed_window_is_applied_to_the_pixels_of_the_input(change, pixels):
    assert _transposed_pixels(Attributes({**SAID, **change})) == pixels

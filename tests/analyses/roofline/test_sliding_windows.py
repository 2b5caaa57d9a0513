"""Strides beyond the window leave pixels out, and so do halves of a window at the end."""

from tests.analyses.roofline.arithmetic import table
from tests.analyses.roofline.test_traffic import tiles
from tests.for_all import for_all
from ttnn_mcp.analyses.roofline.sliding_windows import pixels_read
from ttnn_mcp.readers.printed.attributes import Attributes


def window(**changed):
    parts = {
        "batch_size": "1",
        "input_hw": "(8;8)",
        "window_hw": "(1;1)",
        "stride_hw": "(1;1)",
        "padding": "((0; 0); (0; 0))",
        "dilation_hw": "(1;1)",
        "is_transpose": "false",
    } | changed
    return f"SlidingWindowConfig({'; '.join(f'{key}={text}' for key, text in parts.items() if text)})"


@for_all(
    ("changed", "pixels"),
    [
        ({}, 64),
        ({"batch_size": "2"}, 128),
        ({"stride_hw": "(2;2)"}, 16),
        ({"stride_hw": "(2;1)"}, 32),
        ({"window_hw": "(3;3)", "stride_hw": "(2;2)"}, 49),  # the last row and column are below no window
        ({"window_hw": "(3;3)", "stride_hw": "(2;2)", "padding": "((1; 0); (0; 1))"}, 81),
        ({"window_hw": "(3;3)", "padding": "((1; 1); (2; 2))"}, 10 * 12),
        ({"window_hw": "(3;3)", "padding": "", "pad_hw": "(1;2)"}, 10 * 12),
        ({"window_hw": "(9;1)"}, 0),
        ({"window_hw": "(8;8)"}, 64),
        ({"dilation_hw": ""}, 64),
        ({"dilation_hw": "(2;1)"}, None),
        ({"is_transpose": "true"}, None),
        ({"is_transpose": "1"}, None),
        ({"padding": ""}, None),
        ({"batch_size": ""}, None),
        ({"input_hw": ""}, None),
        ({"window_hw": ""}, None),
        ({"stride_hw": ""}, None),
        ({"window_hw": "(0;1)"}, None),
        ({"stride_hw": "(1;0)"}, None),
    ],
)
def test_pixels_below_some_window(changed, pixels):
    assert pixels_read(Attributes({"sliding_window_config": window(**changed)})) == pixels


def test_without_a_window_nothing_is_told():
    assert pixels_read(Attributes({})) is None


@for_all("code", ["Conv2d", "Pool2D"])
@for_all(
    ("attributes", "read"),
    [
        ({"sliding_window_config": window(stride_hw="(2;2)", input_hw="(16;16)")}, 2),
        ({"sliding_window_config": window(input_hw="(32;32)")}, 8),
        ({}, 1),  # of each pixel of the output, one of the input
    ],
)
def test_of_the_image_what_windows_cover_is_read(tmp_path, code, attributes, read):
    ops = table(tmp_path, (code, [[1, 1, 256, 32]], [[1, 1, 32, 32]], attributes))
    assert tiles(ops)[0] == read + 1

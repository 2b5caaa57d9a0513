"""Conv windows: the output's size, the input of one core, and the printed SlidingWindowConfig."""

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.conv_window import ConvWindow, window_of
from ttnn_mcp.readers.printed.nesting import parse_struct

FIELDS = {
    "batch_size": "2",
    "input_hw": "(64;48)",
    "window_hw": "(3;5)",
    "stride_hw": "(2;1)",
    "dilation_hw": "(1;1)",
    "padding": "((1;1);(2;2))",
}
WINDOW = ConvWindow(2, (64, 48), (3, 5), (2, 1), (1, 1, 2, 2))


def printed(**changed):
    fields = {key: text for key, text in {**FIELDS, **changed}.items() if text}
    return window_of(
        parse_struct(f"SlidingWindowConfig({'; '.join(f'{key}={text}' for key, text in fields.items())})")
    )


def test_every_field_is_read():
    assert printed() == WINDOW
    assert WINDOW.output == (32, 48)
    assert WINDOW.rows == 2 * 32 * 48


def test_padding_of_two_numbers_is_the_same_on_both_sides():
    assert printed(padding="(1;2)") == WINDOW
    assert printed(padding="((0;1);(2;3))").padding == (0, 1, 2, 3)


@for_all("key", FIELDS)
def test_a_field_that_is_not_printed_leaves_no_window(key):
    assert printed(**{key: ""}) is None


@for_all(
    "wrong",
    [
        {"batch_size": "0"},
        {"input_hw": "(0;48)"},
        {"input_hw": "(64)"},
        {"input_hw": "(64;48;1)"},
        {"stride_hw": "(0;1)"},
        {"dilation_hw": "(1;0)"},
        {"padding": "(1;1;1)"},
        {"padding": "(1;1;1;1;1)"},
    ],
)
def test_a_field_that_no_window_has_leaves_none(wrong):
    assert printed(**wrong) is None


def test_nothing_printed_is_no_window():
    assert window_of(None) is None


@for_all(("size", "is_one"), [((64, 1), True), ((1, 1), False), ((64, 64), False), ((1, 64), False)])
def test_an_image_of_one_column_is_one_dimensional(size, is_one):
    assert ConvWindow(1, size, (1, 1)).is_one_dimensional == is_one


def test_a_core_gets_all_that_lies_between_its_first_and_its_last_pixel():
    """64 outputs are one row, which reads three padded rows of 66; 96 end in the next row's 32nd."""
    window = ConvWindow(1, (64, 64), (3, 3), padding=(1, 1, 1, 1))
    assert window.sticks(64, 64) == 3 * 66
    assert window.sticks(43, 96) == window.sticks(1, 96) == 66 + 31 + 2 * 66 + 3
    assert window.sticks(500, 96) == window.sticks(43, 96)  # cores without outputs get nothing


def test_cores_beyond_any_chip_are_not_looked_at():
    """Where a row of outputs ends between two cores' pixels, the stride leaves out a row: the core holds it all."""

    def sticks(core):
        width = 2 * core + 1
        return ConvWindow(1, (3, width), (1, 1), stride=(2, 1)).sticks(5000, 2) > width

    assert sticks(1023)
    assert not sticks(1024)

"""Conv windows: the output's size, the input of one core, and the printed SlidingWindowConfig."""

from itertools import pairwise

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


def table(window, cores, rows, readers):
    """The longest table of a core, written word by word as its kernels read it."""
    (height, width), (down, across) = window.output, window.stride
    wide, tall = window.input[1] + sum(window.padding[2:]), window.input[0] + sum(window.padding[:2])
    places = [
        (image * tall + y * down) * wide + x * across
        for image in range(window.batch)
        for y in range(height)
        for x in range(width)
    ]
    lengths = []
    for core in range(cores):
        mine, words, turn = places[core * rows : (core + 1) * rows], 0, 0
        while mine:
            block, mine = mine[: readers[turn]], mine[readers[turn] :]
            words += 4 + 2 * sum(b != a + across for a, b in pairwise(block))
            turn = 1 - turn if readers[1] else 0
        lengths.append(words)
    return 2 * (max(lengths) + max(lengths) % 2)


def test_a_table_has_a_run_for_each_block_and_for_each_jump_of_the_input():
    """The first four are what TTNN 0.81.1 took of L1 for a conv of a p100, whole and in three blocks."""
    strided = ConvWindow(1, (512, 1024), (3, 3), (2, 2), (1, 1, 1, 1))
    for readers, taken in (((608, 608), 28), ((32, 0), 304), ((32, 32), 152 + 8), ((320, 288), 44)):
        assert strided.index_bytes(110, 1216, readers) == table(strided, 110, 1216, readers)
        assert strided.index_bytes(110, 1216, readers) == taken or readers == (32, 32)
    windows = (
        WINDOW,  # two images, a row of 48
        ConvWindow(3, (10, 7), (3, 3), padding=(1, 1, 1, 1)),
        ConvWindow(2, (8, 8), (1, 1)),  # each row follows on the one before, and each image too
        ConvWindow(2, (9, 8), (1, 1), (2, 1)),  # rows do not
        ConvWindow(4, (1, 16), (1, 3), padding=(0, 0, 1, 1)),
        ConvWindow(2, (50, 1), (3, 1), padding=(1, 1, 0, 0)),
        ConvWindow(2, (8, 9), (1, 2)),  # images and rows end alike
        ConvWindow(1, (1, 33), (1, 1)),  # the last block is one row
    )
    for window in windows:
        for cores, rows, readers in ((1, 4096, (64, 32)), (4, 64, (32, 32)), (3, 96, (96, 0)), (50, 32, (32, 0))):
            needed = -(-window.rows // rows)
            if needed <= cores:
                assert window.index_bytes(cores, rows, readers) == table(window, needed, rows, readers)


def test_a_core_gets_all_that_lies_between_its_first_and_its_last_pixel():
    """64 outputs are one row, which reads three padded rows of 66; 96 end in the next row's 32nd."""
    window = ConvWindow(1, (64, 64), (3, 3), padding=(1, 1, 1, 1))
    assert window.sticks(64, 64) == 3 * 66
    assert window.sticks(43, 96) == window.sticks(1, 96) == 66 + 31 + 2 * 66 + 3
    assert window.sticks(500, 96) == window.sticks(43, 96)  # cores without outputs get nothing
    assert ConvWindow(1, (64, 64), (1, 1), stride=(1, 2)).sticks(1, 16) == 15 * 2 + 1


def test_cores_beyond_any_chip_are_not_looked_at():
    """Where a row of outputs ends between two cores' pixels, the stride leaves out a row: the core holds it all."""

    def sticks(core):
        width = 2 * core + 1
        return ConvWindow(1, (3, width), (1, 1), stride=(2, 1)).sticks(5000, 2) > width

    assert sticks(1023)
    assert not sticks(1024)

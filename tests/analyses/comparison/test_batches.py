"""Whether two windows did the same work: shapes, batches, arithmetic; each line with a pair."""

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.comparison.alignment import Alignment
from ttnn_mcp.analyses.comparison.batches import Work, arithmetic_share, same_arithmetic, work_of

NOTHING = Work(1.0, None, differs=False, share=0.0)


def table(folder, shapes, without=""):
    """One op per shape of its output (None: not shown), each of which reads one tile."""
    program = Program()
    x = program.tensor([1, 1, 32, 32])
    for shape in shapes:
        outputs = (program.tensor(shape),) if shape else ()
        program.call("ttnn.relu", (x,), outputs, (DeviceOp("UnaryDeviceOperation", (x,), outputs),))
    return ops_of(folder, program, without=without)


def compared(before, after, padded=False):
    rows = np.arange(len(before))
    return work_of(Alignment(rows, rows, rows >= 0, ()), before, after, padded=padded)


@pytest.fixture
def work(tmp_path):
    return lambda before, after: compared(table(tmp_path, before), table(tmp_path, after))


def rows(*heights):
    return [[1, 1, height, 32] for height in heights]


@for_all(("changed", "ratio"), [(4, 1.0), (5, 2.0), (10, 2.0)])
def test_from_half_of_the_ops_on_other_shapes_are_those_of_the_window(work, changed, ratio):
    found = work(rows(*[32] * 10), rows(*[32] * (10 - changed), *[64] * changed))
    assert (found.ratio, found.share, found.differs) == (ratio, changed / 10, False)


def test_inner_shapes_alone_are_another_way_to_the_same_end(work):
    assert work(rows(*[32] * 10), rows(*[64] * 9, 32)).ratio == 1.0


@for_all(("alike", "ratio"), [(8, 2.0), (7, 1.0)])
def test_a_batch_has_one_ratio_in_four_of_five_tensors(work, alike, ratio):
    found = work(rows(*[32] * 10), rows(*[96] * (10 - alike), *[64] * alike))
    assert (found.ratio, found.differs) == (ratio, ratio == 1.0)


def test_a_millionth_of_the_size_is_no_batch_but_a_damaged_shape(work):
    huge = [[1, 1, 1 << 20, 1 << 20]] * 10
    assert (work(huge, rows(*[32] * 10)).ratio, work(huge, rows(*[32] * 10)).differs) == (1.0, True)


@for_all(("shown", "batch"), [(4, (2, 6)), (3, None)])
def test_a_fifth_of_the_tensors_must_show_the_batch_as_their_outermost_dimension(work, shown, batch):
    before = [[2, 1, 32, 32]] * shown + rows(*[64] * (20 - shown))
    after = [[6, 1, 32, 32]] * shown + rows(*[192] * (20 - shown))
    assert (work(before, after).ratio, work(before, after).batch) == (3.0, batch)


@for_all(
    ("before", "after", "batch"),
    [
        ([1, 1, 32, 32], [8, 1, 32, 32], (1, 8)),
        ([1, 1, 32, 32], [1, 8, 32, 32], (1, 8)),
        ([2, 1, 32, 32], [2, 8, 32, 32], None),  # not the outermost one
        ([1, 1, 32, 32], [4, 2, 32, 32], None),
        ([1, 1, 32, 32], [1, 1, 256, 32], None),
    ],
)
def test_a_batch_is_the_outermost_dimension_alone(work, before, after, batch):
    assert work([before] * 4, [after] * 4).batch == batch


def test_two_batches_are_none(work):
    """Each of them fits the ratio; which of them is the batch is not told."""
    found = work([[1, 1, 32, 32], [2, 1, 32, 32]] * 4, [[4, 1, 32, 32], [8, 1, 32, 32]] * 4)
    assert (found.ratio, found.batch) == (4.0, None)


def test_a_dimension_that_does_not_explain_the_ratio_is_no_batch(work):
    before = [[1, 1, 32, 32]] * 2 + rows(*[32] * 8)
    after = [[5, 1, 32, 32]] * 2 + rows(*[64] * 8)
    assert (work(before, after).ratio, work(before, after).batch) == (2.0, None)


def test_without_operands_nothing_is_told_of_the_work(tmp_path):
    sizes = rows(*[32] * 4), rows(*[64] * 4)
    for lost in ("OUTPUT", "INPUT"):
        before, after = (table(tmp_path, each, lost) for each in sizes)
        assert compared(before, after) == NOTHING
    assert compared(table(tmp_path, sizes[0]), table(tmp_path, sizes[1], "OUTPUT")) == NOTHING


def test_ops_without_a_partner_are_not_counted(tmp_path):
    before, after = table(tmp_path, rows(32)), table(tmp_path, rows(64))
    none = np.zeros(0, dtype=np.int64)
    assert work_of(Alignment(none, none, none == 0, ()), before, after, padded=False) == NOTHING


def test_an_output_that_one_side_does_not_show_counts_on_neither(work):
    found = work(rows(*[32] * 7) + [None] * 3, rows(*[64] * 4) + [None] * 3 + rows(*[64] * 3))
    assert (found.ratio, found.share) == (2.0, 1.0)


CONV = "SlidingWindowConfig(batch_size={};input_hw=(8,8))"


def convolutions(folder, batches, height):
    program = Program()
    for batch in batches:
        settings = {} if batch is None else {"sliding_window_config": CONV.format(batch)}
        x = program.tensor([1, 1, height, 32])
        program.op("Conv2dDeviceOperation", [x], shape=[1, 1, height, 32], attributes=settings)
    return ops_of(folder, program)


@for_all(
    ("before", "after", "batch"),
    [
        ([1] * 25, [8] * 25, (1, 8)),
        ([1] * 25, [*[8] * 19, 4, *[8] * 5], None),  # the twentieth differs
        ([1] * 25, [*[8] * 20, 4, *[8] * 4], (1, 8)),  # twenty of them are read
        ([1] * 4, [None] * 4, None),
        ([None] * 4, [8] * 4, None),
        ([1] * 4, [5] * 4, None),  # the tensors say 8
    ],
)
def test_convolutions_print_their_batch(tmp_path, before, after, batch):
    found = compared(convolutions(tmp_path, before, 32), convolutions(tmp_path, after, 256))
    assert (found.ratio, found.batch) == (8.0, batch)


def test_a_window_that_is_no_struct_prints_no_batch(tmp_path):
    program = Program()
    x = program.tensor([1, 1, 32, 32])
    for _ in range(4):
        program.op("Conv2dDeviceOperation", [x], attributes={"sliding_window_config": "batch_size 1"})
    assert compared(ops_of(tmp_path, program), convolutions(tmp_path, [8] * 4, 256)).batch is None


# arithmetic


def products(folder, *told):
    """(width, kernel time) per matmul; those of width None do not fit together, so their arithmetic is not known."""
    program = Program()
    x = program.tensor([1, 1, 32, 64])
    for width, kernel_ns in told:
        w = program.weight([1, 1, 64, width] if width else [1, 1, 96, 32])
        program.op(
            "MatmulDeviceOperation",
            [x, w],
            shape=[1, 1, 32, width or 32],
            kernel_ns=kernel_ns,
            fidelity="HiFi2",
        )
    return ops_of(folder, program)


@for_all(("unknown_ns", "share"), [(100, 2.0), (101, None), (300, None)])
def test_arithmetic_is_counted_where_nine_tenths_of_its_time_are_modelled(tmp_path, unknown_ns, share):
    after = products(tmp_path, (64, 1_000 - unknown_ns), (None, unknown_ns))
    assert arithmetic_share(products(tmp_path, (32, 900)), after, padded=False) == share
    assert arithmetic_share(after, products(tmp_path, (128, 900)), padded=False) == share


def test_without_matrix_products_no_arithmetic_is_counted(tmp_path):
    none, some = table(tmp_path, rows(32)), products(tmp_path, (32, 900))
    assert arithmetic_share(none, none, padded=False) is None
    assert arithmetic_share(none, some, padded=False) is None
    assert arithmetic_share(some, none, padded=False) is None


@for_all(("share", "same"), [(None, None), (1.049, True), (1.06, False), (0.951, True), (0.94, False), (1.0, True)])
def test_a_twentieth_of_the_arithmetic_may_differ(share, same):
    assert same_arithmetic(share) is same


def test_the_same_arithmetic_in_other_shapes_is_the_same_work(tmp_path):
    before = products(tmp_path, *[(32, 100)] * 4)
    assert compared(before, products(tmp_path, (32, 100), *[(64, 100)] * 3)).ratio == 2.0
    split = products(tmp_path, (32, 100), (64, 100), (16, 100), (16, 100))
    assert compared(before, split).ratio == 1.0

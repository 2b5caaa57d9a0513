"""The tables of memory_summary: how much of what they show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.asking import memory_summary_of, session
from tests.for_all import for_all
from tests.profiles import CircularBuffer, Program, height_sharded, write_memory_report
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.tools.parts.memory_tables import Stretch, devices, model_line, spelled, stretches

levels = st.lists(st.integers(0, 2_000_000), min_size=1, max_size=300)
SHAPE, SHARD = [1, 1, 2048, 32], height_sharded(32, 32, (8, 8))  # 2,048 bytes per bank


@pytest.fixture
def told(tmp_path):
    async def of(program, operation=None):
        path = write_memory_report(tmp_path / "memory", program)
        return await memory_summary_of(session(tmp_path), str(path), operation)

    return of


@pytest.fixture
def replayed(tmp_path):
    async def of(program):
        path = write_memory_report(tmp_path / "memory", program)
        return await replay_of(await session(tmp_path).run(str(path)))

    return of


def growing(ops, **how) -> Program:
    """Ops that each leave a tensor behind and have buffers of a size of their own."""
    program = Program(**how)
    x = program.tensor(SHAPE, placement=SHARD)
    for number in range(1, ops + 1):
        x = program.op("UnaryDeviceOperation", [x], circular_buffers=[CircularBuffer(10_000 * (number % 2) + 64)])
    return program


async def test_a_run_is_told_in_six_stretches_that_follow_each_other(told):
    """Thirty ops on tensors in DRAM, with small and large buffers in turn."""
    program = Program()
    x = program.tensor(SHAPE)
    for number in range(30):
        program.op("UnaryDeviceOperation", [x], circular_buffers=[CircularBuffer(64 if number % 2 else 10_000)])
    table = (await told(program)).timeline
    assert len(table.rows) == 6
    assert (table.rows[0][0], table.rows[-1][1]) == (1, 30)
    assert all(after[0] == before[1] + 1 for before, after in zip(table.rows, table.rows[1:], strict=False))


async def test_two_operations_on_both_sides_of_the_one_asked_for_are_told(told):
    program = growing(12)
    for operation, around in ((6, range(4, 9)), (2, range(1, 5)), (12, range(10, 13))):
        assert [row[2] for row in (await told(program, operation)).timeline.rows] == [*around]


async def test_of_what_is_live_the_sixteen_largest_are_shown_and_the_others_counted(told):
    """Twenty, of which the last two are larger."""
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    for _ in range(17):
        x = program.op("UnaryDeviceOperation", [x])
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 64], placement=height_sharded(32, 64, (8, 8)))])
    answer = await told(program)
    assert (len(answer.live.rows), answer.more_live) == (16, 4)
    assert [row[2] for row in answer.live.rows] == [4_096] * 2 + [2_048] * 14


async def test_dram_is_listed_last_and_only_of_an_operation_that_is_asked_for(told):
    program = growing(1)
    program.tensor([1, 1, 2048, 512])
    assert {row[2] for row in (await told(program)).live.rows} == {2_048}
    table = (await told(program, 1)).live
    assert [row[-1] for row in table.rows] == ["L1", "L1", "DRAM"]
    assert table.rows[-1][2] == 2048 * 512 * 2 // 12 // 2048 * 2048 + 2048  # whole tiles in each of twelve banks


async def test_the_four_kinds_of_cores_with_most_on_them_are_told(told):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    steps = [CircularBuffer(1_000, grid=((0, 0, column, 7),)) for column in reversed(range(6))]
    program.op("UnaryDeviceOperation", [x], circular_buffers=steps)
    table = (await told(program)).cores
    assert [row[0] for row in table.rows] == [f"{column}-0..{column}-7" for column in range(4)]
    assert [row[3] for row in table.rows] == [6_000, 5_000, 4_000, 3_000]


async def test_two_kinds_of_cores_are_told(told):
    program = Program()
    half = CircularBuffer(1_000, grid=((0, 0, 3, 7),))
    program.op("UnaryDeviceOperation", [program.tensor(SHAPE, placement=SHARD)], circular_buffers=[half])
    assert [row[3] for row in (await told(program)).cores.rows] == [1_000, 0]


async def test_even_cores_are_told_only_of_an_operation_that_is_asked_for(told):
    assert (await told(growing(1))).cores is None
    assert len((await told(growing(1), 1)).cores.rows) == 1


async def test_sixty_four_circular_buffers_of_an_operation_are_listed(told):
    """A program has 32 of them on a core."""
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    many = [CircularBuffer(64, grid=((0, row, 3, row),)) for row in range(8) for _ in range(9)]
    program.op("UnaryDeviceOperation", [x], circular_buffers=many)
    assert len((await told(program, 1)).circular_buffers.rows) == 64


async def test_of_a_long_file_name_the_end_is_enough(replayed):
    program = growing(1, source_path="/home/user/" + "m" * 70 + "odel.py")
    assert model_line(await replayed(program), 1) == "m" * 53 + "odel.py:5"
    assert model_line(await replayed(growing(1)), 99) is None


async def test_devices_that_the_graphs_speak_of_are_compared_where_there_are_several(replayed):
    one = await replayed(growing(3))
    first, second = replace(one.fullest, device=4), replace(one.fullest, device=2)
    table = devices(replace(one, devices=(first, second)))
    assert table.rows == ((2, 3, 18_256, 10_064), (4, 3, 18_256, 10_064))
    assert devices(replace(one, devices=(first, replace(second, followed=False)))) is None
    assert devices(one) is None


@for_all(
    ("cores", "text"),
    [
        ([(x, y) for x in range(3) for y in range(2)], "0-0..2-1"),
        ([(0, 0), (1, 0), (0, 1)], "within 0-0..1-1"),
        ([(4, 2)], "4-2..4-2"),
    ],
)
def test_cores_are_spelled_by_their_corners(cores, text):
    assert spelled(tuple(cores)) == text


@given(levels, st.integers(1, 12))
def test_stretches_cover_everything_and_name_the_highest(values, most):
    found = stretches(np.array(values), most)
    assert 1 <= len(found) <= most
    assert [one.first for one in found[1:]] == [one.last + 1 for one in found[:-1]]
    assert (found[0].first, found[-1].last) == (0, len(values) - 1)
    for one in found:
        assert values[one.highest] == max(values[one.first : one.last + 1])


def test_flat_stretches_stay_whole():
    found = stretches(np.array([5] * 40 + [90] * 3 + [5] * 40), 10)
    assert found == [Stretch(0, 39, 0), Stretch(40, 42, 40), Stretch(43, 82, 43)]


def test_a_curve_that_jumps_all_the_time_is_cut_evenly():
    found = stretches(np.array([0, 100] * 50), 10)
    assert len(found) == 10
    assert {one.last - one.first for one in found} == {9}


@pytest.mark.parametrize("values", [[], [7]])
def test_short_curves_are_no_trouble(values):
    assert len(stretches(np.array(values, dtype=np.int64), 5)) == len(values)


@for_all("tolerance", [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64])
def test_each_tolerance_is_tried_in_turn(tolerance):
    """A band just inside it, and a step just beyond it: a smaller one cuts the band, a larger one loses the step."""
    top = 1_000_000
    band = int(0.85 * tolerance * top)
    step = int(1.15 * tolerance * top)
    values = [top, top - band] * 8 + [top - step] * 4
    assert stretches(np.array(values), 3) == [Stretch(0, 15, 0), Stretch(16, 19, 16)]


def test_what_does_not_move_needs_no_tolerance():
    values = [1_000_000] * 3 + [999_999] * 3
    assert stretches(np.array(values), 2) == [Stretch(0, 2, 0), Stretch(3, 5, 3)]
    assert stretches(np.array([0, 0, 1, 1]), 2) == [Stretch(0, 1, 0), Stretch(2, 3, 2)]


@for_all(
    ("values", "most", "starts"),
    [
        ([5] * 20, 4, [0]),  # all of it one level, however long
        ([5, 9], 1, [0]),  # one is allowed
        ([5], 4, [0]),
        ([100, 99] * 4, 8, [0, 1, 2, 3, 4, 5, 6, 7]),  # as many as places
        ([1000, 995] * 4, 4, [0, 2, 4, 6]),  # small jumps, all the time
        ([1000, 995] * 4, 1, [0]),
        ([0, 1000] * 4, 4, [0, 2, 4, 6]),  # large ones
    ],
)
def test_cuts(values, most, starts):
    assert [one.first for one in stretches(np.array(values), most)] == starts


def test_nothing_is_no_stretch():
    assert stretches(np.array([], dtype=np.int64), 4) == []

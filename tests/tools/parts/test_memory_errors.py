"""Why something failed: what was asked for, who held it, what helps, each as far as it is known."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from tests.asking import memory_summary_of, session
from tests.for_all import for_all
from tests.profiles import DRAM, CircularBuffer, DeviceOp, Placement, Program, height_sharded, write_memory_report
from tests.tools.test_memory_summary import BASE, BEYOND, CLASH, NO_ROOM, SHAPE, SHARD, crashing
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.tools.parts import memory_errors

NO_L1 = NO_ROOM.format(64 * 1_300_000, 1_300_000)
CLASHED = CLASH.format(1_376_256, 1_403_712)


@pytest.fixture
def told(tmp_path):
    """The errors of a program's memory report, after some SQL changed it."""

    async def of(program, *statements, generation="3.3"):
        path = write_memory_report(tmp_path / "memory", program, generation)
        with closing(sqlite3.connect(path)) as database, database:
            for statement, values in statements:
                database.execute(statement, values)
        return (await memory_summary_of(session(tmp_path), str(path))).errors

    return of


@for_all(
    ("failed", "died", "told"),
    [
        (4, None, ("ran out", None)),
        (4, 4, ("ran out", None)),  # of that it died
        (4, 5, ("ran out", "it died")),  # the shortage was survived
        (None, 5, (None, "it died")),
        (0, 0, (None, "it died")),  # of something else than a shortage
    ],
)
async def test_how_a_run_died_is_told_unless_its_shortage_tells_it(monkeypatch, failed, died, told):
    async def replayed(_):
        if failed is None:
            raise ReportBroken("torn")

    async def explained(*_):
        return SimpleNamespace(operation=failed), "ran out" if failed else None

    death = None if died is None else SimpleNamespace(operation=died, sentence="it died")
    stubs = {"went_wrong": lambda _: True, "death_of": lambda _: death, "failures_of": lambda _: [None]}
    for name, stub in {**stubs, "replay_of": replayed, "explained": explained}.items():
        monkeypatch.setattr(memory_errors, name, stub)
    assert await memory_errors.ending_of(SimpleNamespace(memory=object())) == told


def erring(name, message, operation=0):
    columns = "operation_id, operation_name, error_type, error_message, rank"
    return f"INSERT INTO errors ({columns}) VALUES (?, ?, 'RuntimeError', ?, 0)", (operation, name, message)


@for_all(
    ("message", "said"),
    [
        ("m" * 240, "m" * 240),
        ("m" * 241, "m" * 237 + "..."),
        ("a\x1b[31m  b\n\n c" + "d" * 90, "a [31m b c" + "d" * 90),
    ],
)
async def test_a_message_of_240_characters_is_shown_whole(told, message, said):
    (error,) = await told(crashing(message))
    assert error.message == said


async def test_the_five_largest_holders_are_named(told):
    """x, a, b, c, the weight and the output, which take 16,384 bytes each, and a smaller and a larger tensor."""
    program = crashing(NO_L1)
    for rows in (8_192, 32_768):
        program.tensor([1, 1, rows, 32], placement=Placement("L1"))
    (error,) = await told(program)
    assert [row[2] for row in error.holders.rows] == [32_768] + [16_384] * 4


async def test_four_tensors_that_would_help_are_named(told):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    for _ in range(7):
        x = program.op("UnaryDeviceOperation", [x])
    program.fail(NO_L1)
    (error,) = await told(program)
    how = {row[0]: row[-1] for row in error.remedies.rows}
    assert how["deallocate"].endswith("tensors 2, 3, 4, 5")  # and 6: the last op reads 7


async def test_an_operation_that_the_report_identifies_is_not_said_to_be_known_by_name_alone(told):
    (error,) = await told(crashing("segmentation fault"))
    assert (error.outcome, error.tied_by) == ("unfinished", None)


async def test_a_shortage_of_no_operation_of_the_report_is_told_without_who_held_it(told):
    program = Program()
    program.op("UnaryDeviceOperation", [program.tensor(SHAPE)])
    (error,) = await told(program, erring("ttnn.nothing", CLASHED))
    assert (error.operation, error.name, error.ran_out_of) == (
        None,
        "ttnn.nothing",
        "L1 between circular buffers and tensors",
    )
    assert (error.asked_bytes, error.short_bytes) == (1_403_712 - BASE, 27_456)
    assert (error.holders, error.remedies) == (None, None)


async def test_only_the_first_error_is_told_with_who_held_it_and_what_helps(told):
    first, second = await told(crashing(NO_L1), erring("ttnn.gelu", NO_L1, 2))
    assert [one.operation for one in (first, second)] == [2, 4]
    assert first.holders
    assert first.remedies
    assert (second.holders, second.remedies) == (None, None)
    assert second.asked_bytes == 1_300_000
    assert second.short_bytes


async def test_what_was_free_is_told_where_an_allocator_found_no_room_in_l1(told):
    (error,) = await told(crashing(CLASHED))
    assert (error.free_bytes, error.largest_free_bytes) == (None, None)
    (error,) = await told(crashing(NO_ROOM.format(2_097_152, 32_768).replace(" L1 ", " L1_SMALL ")))
    assert (error.free_bytes, error.largest_free_bytes) == (None, None)


async def test_circular_buffers_take_no_room_from_the_allocator_of_tensors(told):
    (error,) = await told(crashing(NO_L1))
    program = crashing(NO_L1)
    program.calls[-1].ops[0].circular_buffers = [CircularBuffer(100_000)]
    (beside,) = await told(program)
    assert beside.free_bytes == error.free_bytes
    assert beside.short_bytes == error.short_bytes


@for_all(
    ("message", "figures"),
    [
        (CLASHED, (1_403_712, 1_376_256, None)),  # addresses: where buffers begin is not known
        (NO_L1, (1_300_000, 1_370_848, None)),
        (BEYOND.format(1_703_712), (1_703_712, 1_499_136, None)),
    ],
)
async def test_without_the_devices_only_the_message_s_own_figures_are_told(told, message, figures):
    (error,) = await told(crashing(message), ("DELETE FROM devices", ()))
    assert (error.asked_bytes, error.limit_bytes, error.free_bytes) == figures


async def test_a_small_tensor_between_two_free_pieces_is_enough_where_both_together_are(told):
    """A large tensor lay above a small one and is gone; the small one gives less than lacks, and joins what is free."""
    program = Program()
    x, small = program.tensor(SHAPE), program.tensor(SHAPE, placement=SHARD)
    large = program.tensor([1, 1, 614_400, 32], placement=height_sharded(9_600, 32, (8, 8)))
    program.call("ttnn.a", (x,), (large,), (DeviceOp("UnaryDeviceOperation", (x,), (large,)),))
    makes_small = DeviceOp("UnaryDeviceOperation", (large,), (small,))
    program.call("ttnn.b", (large,), (small,), (makes_small,), frees=(large,))
    program.op("UnaryDeviceOperation", [small], placement=DRAM)
    program.op("UnaryDeviceOperation", [x])
    program.fail(NO_ROOM.format(64 * 1_000_000, 1_000_000))
    (error,) = await told(program)
    assert error.short_bytes == 1_000_000 - (1_370_848 - 614_400 - 16_384)
    assert error.free_bytes == 1_370_848 - 16_384
    assert error.largest_free_bytes == error.free_bytes - 614_400
    measures = {row[0]: row[1:4] for row in error.remedies.rows}
    assert measures["deallocate"] == (16_384, "exact", True)

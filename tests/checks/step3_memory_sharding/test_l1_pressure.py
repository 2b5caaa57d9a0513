"""l1-pressure: what is left between tensors and circular buffers at the fullest moment is all the room there is."""

from __future__ import annotations

from functools import partial

from tests.checks.step3_programs import (
    BANK,
    altered,
    assert_cannot_tell,
    assert_needs_a_whole_replay,
    assert_short,
    held,
    in_l1,
)
from tests.for_all import for_all
from tests.profiles import DRAM, L1, CircularBuffer, Program, height_sharded
from tests.profiles.demo_model import demo_program

SHARD = height_sharded(256, 32, (8, 8))  # 16,384 bytes per bank: 1.2 %
SHAPE = [1, 1, 16384, 32]
TABLE = "captured_graph:1"


def tight(free, *, call="ttnn.made_up", tensors=2):
    """One op that leaves `free` bytes of a bank: two tensors, and the rest in circular buffers."""
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD) if tensors else program.tensor([1, 1, 64, 64])
    buffers = [CircularBuffer(BANK - tensors * 16_384 - free)]
    program.op("MatmulDeviceOperation", [x], call=call, circular_buffers=buffers)
    return program


def test_less_than_a_twentieth_of_l1_free_is_pressure(check):
    """5 % of 1,370,848 are 68,542.4 bytes."""
    outcome = check.pair(tight, silent=68_543, fires=68_542, memory="3.3")
    claim, circular = outcome.claim, BANK - 2 * 16_384 - 68_542
    assert claim.claim == (
        f"L1 is 95.0% full at operation 1 ttnn.made_up (model.py:5): {BANK - 68_542} of {BANK} bytes per bank, "
        f"{circular} of them circular buffers; 68542 free"
    )
    assert [(one.row, one.value) for one in claim.evidence] == [(TABLE, BANK - 68_542), ("devices:0", BANK)]
    assert claim.rows.tolist() == [0]
    assert not claim.at_most_ns.any()
    assert claim.caveat is None


def test_pressure_is_not_known_without_graphs(check):
    assert_cannot_tell(check.ask(tight(0), memory="G1"), "captured graphs")


def test_it_needs_a_whole_replay(check, tmp_path):
    assert_needs_a_whole_replay(check, tmp_path, lambda: tight(0))


def test_the_peak_is_a_floor_where_an_operation_has_no_graph(check, tmp_path):
    program = tight(0)
    program.op("UnaryDeviceOperation", [program.tensor(SHAPE)])
    outcome = check.ask(altered(tmp_path, program, "DELETE FROM captured_graph WHERE operation_id = 2"))
    assert outcome.claim.caveat == "a lower bound: not all circular buffers are known"


def test_what_python_dropped_is_not_known_without_snapshots(check, tmp_path):
    outcome = check.ask(altered(tmp_path, tight(0), "DELETE FROM buffers"))
    assert outcome.claim.caveat == "may be too high: the report does not tell what Python dropped"


def test_tensors_freed_late_go_first(check):
    """50,048 bytes per bank and more buffers than fit beside them."""
    program = Program()
    x = program.tensor([1, 1, 2048, 32])
    late = [program.op("UnaryDeviceOperation", [x], shape=[1, 1, 64 * 64 * n, 32], placement=height_sharded(64 * n, 32, (8, 8))) for n in range(4, 8)]  # fmt: skip
    z = program.op("MadeUpDeviceOperation", late, shape=[1, 1, 2048, 32], placement=DRAM)
    left = BANK - sum(64 * n * 64 for n in range(4, 8))
    z = program.op("MatmulDeviceOperation", [z], circular_buffers=[CircularBuffer(left - 1_000)])
    for each in late:
        program.free(each)
    fix = check.ask(program, memory="3.3").claim.fix
    sizes = ["ttnn.deallocate(tensor 5): 28672 bytes", "(tensor 4): 24576 bytes", "(tensor 3): 20480 bytes"]
    assert fix.split("; ") == [sizes[0], *(f"ttnn.deallocate{size}" for size in sizes[1:])]


@for_all(
    ("call", "fix"),
    [
        ("ttnn.conv2d", "ttnn.Conv2dConfig(act_block_h_override=<smaller>"),
        ("ttnn.linear", "smaller blocks in program_config"),
    ],
)
def test_buffers_that_take_most_are_made_smaller(check, call, fix):
    assert check.ask(tight(10, call=call), memory="3.3").claim.fix.startswith(fix)


@for_all("call", ["ttnn.conv2d", "ttnn.linear"])
def test_tensors_that_take_most_go_to_dram(check, call):
    program = Program()
    x = in_l1(program, 704_000)
    buffers = [CircularBuffer(BANK - 704_000 - 10_000)]
    program.op("MatmulDeviceOperation", [x], call=call, placement=DRAM, circular_buffers=buffers)
    fix = check.ask(program, memory="3.3").claim.fix
    assert fix.startswith("ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG) for what it does not read")


def test_buffers_that_take_as_much_as_tensors_are_not_most(check):
    program = Program()
    x = in_l1(program, 680_000)
    program.op("MatmulDeviceOperation", [x], placement=DRAM, circular_buffers=[CircularBuffer(680_000)])
    assert "to_memory_config" in check.ask(program, memory="3.3").claim.fix


def test_an_interleaved_input_counts_too(check):
    program = Program()
    x = program.tensor([1, 1, 2048, 32], placement=L1)
    program.op("UnaryDeviceOperation", [x], circular_buffers=[CircularBuffer(BANK - 4_096 - 10)])
    assert check.ask(program, memory="3.3").fires


def test_the_demo_has_room(check):
    assert check.ask(demo_program(), memory="3.3").status == "clean"


@for_all("program", [partial(tight, 10), partial(held, 341_376, 3)])
def test_texts_fit_an_answer(check, program):
    assert_short(check.ask(program(), memory="3.3").claim)

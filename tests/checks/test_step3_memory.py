"""The checks on a memory report: a pair at every line, and nothing said where it cannot be known."""

import asyncio

import numpy as np
import pytest

from tests.profiles import L1, CircularBuffer, Program, height_sharded, write_run
from tests.profiles.demo_model import demo_program
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.checks.case import Case
from ttnn_mcp.checks.check import CannotTell, Claim
from ttnn_mcp.checks.step3_memory_sharding import l1_pressure, late_free, long_lived_l1_tensor, weights_in_l1
from ttnn_mcp.session.opening import read_run

BANK = 1_499_136 - 103_712 - 24_576
SHARD = height_sharded(256, 32, (8, 8))  # 16,384 bytes per bank: 1.2 %
SHAPE = [1, 1, 16384, 32]
CHECKS = (l1_pressure, late_free, long_lived_l1_tensor, weights_in_l1)


def case_of(tmp_path, program, generation="3.3", *, replayed=True):
    made = write_run(tmp_path, program, schema_generation=generation)

    async def opened():
        run = await read_run("made", "made", made.performance, made.memory)
        if replayed:
            await replay_of(run)
        return run

    run = asyncio.run(opened())
    return Case(run, run.scope())


def said(check, case):
    return list(check.CHECK.look(case))


def claim(check, case):
    (one,) = said(check, case)
    assert isinstance(one, Claim)
    assert not one.at_most_ns.any()
    return one


def tight(free):
    """One op that leaves `free` bytes of a bank."""
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    program.op("MatmulDeviceOperation", [x], circular_buffers=[CircularBuffer(BANK - 2 * 16_384 - free)])
    return program


def test_less_than_a_twentieth_of_l1_free_is_pressure_and_a_twentieth_is_not(tmp_path):
    found = claim(l1_pressure, case_of(tmp_path / "tight", tight(BANK // 20 - 40)))
    assert "95.0% full at operation 1 ttnn.made_up (model.py:5)" in found.claim
    assert [one.value for one in found.evidence] == [BANK - BANK // 20 + 40, BANK]
    assert said(l1_pressure, case_of(tmp_path / "loose", tight(BANK // 20 + 40))) == []


def test_pressure_is_not_known_without_graphs(tmp_path):
    (one,) = said(l1_pressure, case_of(tmp_path, tight(0), "G1"))
    assert isinstance(one, CannotTell)
    assert "captured graphs" in one.why


def held(count, cores=(8, 8), rows=256):
    """A tensor last read by the second op and freed `count` ops later."""
    program = Program()
    shape, shard = [1, 1, rows * cores[0] * cores[1], 32], height_sharded(rows, 32, cores)
    x = program.tensor([1, 1, 2048, 32])
    y = program.op("UnaryDeviceOperation", [x], shape=shape, placement=shard)
    z = program.op("UnaryDeviceOperation", [y], placement=x.placement)
    for n in range(count):
        buffers = [CircularBuffer(1_000_000 if n == 0 else 64)]
        z = program.op("UnaryDeviceOperation", [z], circular_buffers=buffers)
    program.free(y)
    program.op("UnaryDeviceOperation", [z])
    return program


def test_a_tensor_held_over_the_peak_is_freed_late_if_it_is_two_percent_of_a_bank(tmp_path):
    found = claim(late_free, case_of(tmp_path / "large", held(3, rows=512)))
    assert "tensor 2 (32768 bytes per bank) stays 3 device operations too long" in found.claim
    assert "peak falls by 32768 bytes" in found.claim
    assert found.evidence[0].row.startswith("buffers:operation_id=2,address=")
    assert "operation 2 ttnn.made_up (model.py:6)" in found.fix
    assert said(late_free, case_of(tmp_path / "small", held(3))) == []


def test_a_tensor_freed_in_time_is_not_late(tmp_path):
    assert said(late_free, case_of(tmp_path, held(0, rows=4096))) == []


def waiting(count, rows=256):
    """A skip connection read again `count` ops later."""
    program = Program()
    x = program.tensor([1, 1, 2048, 32])
    skip = program.op(
        "UnaryDeviceOperation", [x], shape=[1, 1, rows * 64, 32], placement=height_sharded(rows, 32, (8, 8))
    )
    z = x
    for _ in range(count):
        z = program.op("UnaryDeviceOperation", [z])
    program.op("BinaryNgDeviceOperation", [z, skip])
    program.free(skip)
    return program


def test_twenty_operations_without_a_use_are_long_and_nineteen_are_not(tmp_path):
    found = claim(long_lived_l1_tensor, case_of(tmp_path / "long", waiting(20)))
    assert "tensor 2 (16384 bytes per bank) for 20" in found.claim
    assert "before operation 22" in found.fix
    assert said(long_lived_l1_tensor, case_of(tmp_path / "short", waiting(19))) == []
    assert said(long_lived_l1_tensor, case_of(tmp_path / "little", waiting(30, rows=128))) == []


def weighty(rows, free):
    """A weight of rows x 64 bytes per bank in L1, and one op that leaves `free` bytes."""
    program = Program()
    x = program.tensor([1, 1, 64, 32])
    weight = program.tensor([1, 1, rows * 64, 32], placement=height_sharded(rows, 32, (8, 8)))
    buffers = BANK - rows * 64 - free
    program.op("MatmulDeviceOperation", [x, weight], circular_buffers=[CircularBuffer(buffers)])
    return program


def test_weights_in_l1_starve_activations_only_where_both_lines_are_crossed(tmp_path):
    found = claim(weights_in_l1, case_of(tmp_path / "both", weighty(2176, BANK // 5 - 100)))
    assert "1 tensor made by no operation: 139264 bytes" in found.claim
    assert "the largest: tensors 2" in found.fix
    assert said(weights_in_l1, case_of(tmp_path / "room", weighty(2176, BANK // 5 + 100))) == []
    assert said(weights_in_l1, case_of(tmp_path / "light", weighty(2112, BANK // 5 - 100))) == []


def test_the_demo_is_late_with_two_frees_and_otherwise_clean(tmp_path):
    case = case_of(tmp_path, demo_program())
    assert [check.CHECK.id for check in CHECKS if said(check, case)] == ["late-free"]
    found = claim(late_free, case)
    lines = {case.line(int(row)) for row in found.rows}
    assert lines
    assert np.isin(found.rows, np.arange(len(case))).all()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.CHECK.id)
def test_a_report_that_was_not_replayed_is_not_clean(tmp_path, check):
    (one,) = said(check, case_of(tmp_path, tight(0), replayed=False))
    assert isinstance(one, CannotTell)
    assert check.CHECK.needs == ("performance", "memory")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.CHECK.id)
def test_texts_fit_an_answer(tmp_path, check):
    programs = [tight(10), held(3, rows=512), waiting(40), weighty(4096, 1_000), demo_program()]
    for n, program in enumerate(programs):
        for one in said(check, case_of(tmp_path / str(n), program)):
            assert len(one.claim) <= 200
            assert len(one.fix) <= 260
            assert len(one.verify) <= 120
            assert len(one.assumption) <= 120
            assert one.caveat is None or len(one.caveat) <= 160


def test_l1_weights_and_inputs_of_the_run_are_told_from_what_it_makes(tmp_path):
    program = Program()
    x = program.tensor([1, 1, 2048, 32], placement=L1)
    program.op("UnaryDeviceOperation", [x], circular_buffers=[CircularBuffer(BANK - 4_096 - 10)])
    case = case_of(tmp_path, program)
    assert said(weights_in_l1, case) == []
    assert [type(one) for one in said(l1_pressure, case)] == [Claim]

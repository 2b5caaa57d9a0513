"""repeated-small-ops: one short sequence, again and again, each time on its own result."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checks.programs import relu
from tests.checks.rows import case_of, pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul, tilize, unary, untilize
from ttnn_mcp.checks.step2_layouts.repeated_small_ops import repetitions_of

REPEATED_SHAPE = [1, 1, 64, 64]
SHAPE = [1, 1, 32, 4096]


def write_part(program, x, *, length=3, kernel_ns=20_000):
    rows = put(program, untilize(x, program.tensor(SHAPE, layout="ROW_MAJOR"), 5_000))
    for place in range(length - 2):
        indices = program.tensor([1, 1, 1, 64 + place], "INT32", "ROW_MAJOR")
        new = program.tensor(SHAPE, layout="ROW_MAJOR")
        rows = put(program, DeviceOp("ScatterDeviceOperation", (rows, indices), (new,), kernel_ns, cores=1))
    return put(program, tilize(rows, program.tensor(SHAPE), 5_000))


def loop(program, times=8, **how):
    x = program.tensor(SHAPE)
    for _ in range(times):
        x = write_part(program, x, **how)


def of_loop(times=8, **how):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    loop(program, times, **how)
    return program


def test_all_repetitions_but_one_can_go(check):
    claim = check.assert_sound(of_loop())
    assert claim.claim.startswith("8 times in a row: Untilize, Scatter, Tilize")
    assert len(claim.rows) == 24
    assert claim.at_most_ns.sum() == pytest.approx(7 * 30_000)
    assert "into one Scatter" in claim.fix


def test_eight_repetitions_are_the_line(check):
    check.pair(of_loop, silent=7, fires=8)


def test_eight_ops_are_the_longest_repetition(check):
    check.pair(lambda length: of_loop(length=length, times=9), silent=10, fires=8)


def test_one_percent_of_the_window_is_the_line(check):
    def build(program):
        pass_time(program, 1_000)
        loop(program)

    check.share_pair(build, 0.01, of="saving")


def test_ops_that_do_not_read_each_other_are_no_chain(check):
    program = Program("wormhole_b0")
    for _ in range(9):
        write_part(program, program.tensor(SHAPE))
    assert check.ask(program).status == "clean"


def test_layers_are_no_loop_over_parts(check):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 4096])
    for _ in range(9):
        x = put(program, matmul(x, program.weight([1, 1, 4096, 4096]), program.tensor([1, 1, 32, 4096]), 90_000))
        x = write_part(program, x, length=2)
    assert check.ask(program).status == "clean"


def test_records_copied_from_an_earlier_call_are_no_chain(check):
    """Equal records of an element-wise op whose times differ by more than 1.3 are those of other calls."""

    def of_relus(last_ns):
        program = Program("wormhole_b0")
        pass_time(program, 1_000)
        x = program.tensor(SHAPE)
        for kernel_ns in (*[20_000] * 8, last_ns):
            x = put(program, unary("RELU", x, program.tensor(SHAPE), kernel_ns))
        return program

    check.pair(of_relus, silent=27_000, fires=25_000, silent_is="not_applicable")


def test_without_operands_nothing_tells_who_reads_whom(check):
    assert check.ask(of_loop(), without="INPUT_").status == "cannot_tell"


def test_a_run_of_other_ops_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_a_compilers_user_writes_one_assignment(check):
    assert "torch.scatter" in check.ask(of_loop(), generation="tt-torch").claim.fix


@for_all("name", ["PagedFillCache", "PagedUpdateCache"])
def test_caches_written_user_by_user_are_told_elsewhere(check, name):
    def of(code):
        program = Program("wormhole_b0")
        pass_time(program, 1_000)
        x = program.tensor(SHAPE)
        for _ in range(9):
            x = put(program, unary("RELU", x, program.tensor(SHAPE), 20_000))
            x = put(program, DeviceOp(f"{code}DeviceOperation", (x,), (program.tensor(SHAPE),), 20_000))
        return program

    check.pair(of, silent=name, fires="Typecast")


def chain(program, x, times):
    for _ in range(times):
        x = relu(program, x)
    return x


def others(program, count=6):
    """Ops that nobody reads, all different."""
    for place in range(1, count + 1):
        x, y = (program.tensor([1, 1, 32, 32 * place], "FLOAT32") for _ in range(2))
        put(program, binary("ADD", x, y, program.tensor([1, 1, 32, 32 * place], "BFLOAT8_B"), 5_000))


def repeated(folder, program, unable=()):
    case = case_of(folder, program)
    able = ~np.isin(np.arange(len(case.ops)), unable)
    return [(each.rows.tolist(), each.period, each.times) for each in repetitions_of(case.ops, case.joins, able)]


@for_all(("times", "count"), [(8, 1), (7, 0)])
def test_eight_repetitions_are_a_chain_wherever_they_stand(tmp_path, times, count):
    program = Program("wormhole_b0")
    others(program)
    chain(program, program.tensor(REPEATED_SHAPE), times)
    others(program)
    assert repeated(tmp_path, program) == [([*range(6, 14)], 1, 8)] * count


def test_an_op_before_that_makes_the_first_input_and_one_behind_that_reads_the_result_change_nothing(tmp_path):
    program = Program("wormhole_b0")
    x = chain(program, relu(program, program.tensor(REPEATED_SHAPE, "FLOAT32"), "BFLOAT16"), 8)
    put(program, binary("ADD", x, x, program.tensor(REPEATED_SHAPE, "FLOAT32"), 5_000))
    assert repeated(tmp_path, program) == [([*range(1, 9)], 1, 8)]


def test_equal_ops_that_do_not_read_each_other_are_no_chain(tmp_path):
    program = Program("wormhole_b0")
    others(program)
    x = program.tensor(REPEATED_SHAPE)
    for _ in range(9):
        relu(program, x, "FLOAT32")
    assert repeated(tmp_path, program) == []


@for_all(("unable", "rows"), [((6, 7), range(7, 15)), ((14, 13), range(6, 14))])
def test_an_op_that_may_not_be_counted_ends_the_chain(tmp_path, unable, rows):
    """Nine equal ops; with two that may not be counted, seven are left."""
    program = Program("wormhole_b0")
    others(program)
    chain(program, program.tensor(REPEATED_SHAPE), 9)
    assert repeated(tmp_path, program, unable[:1]) == [([*rows], 1, 8)]
    assert repeated(tmp_path, program, unable) == []


def test_no_ops_are_no_chain(tmp_path):
    program = Program("wormhole_b0")
    relu(program, program.tensor(REPEATED_SHAPE))
    assert repeated(tmp_path, program) == []

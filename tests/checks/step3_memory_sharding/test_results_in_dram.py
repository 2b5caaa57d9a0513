"""results-in-dram: results of ops that fit L1 and are written to DRAM, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.matmul_programs import config
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, width_sharded
from tests.profiles.model import DeviceOp, sharded
from tests.profiles.ops import matmul, unary
from tests.shared_reports import DEEPLAB


def multiplied(kernel_ns=60_000, *, m=1024, n=1024, into=DRAM):
    """A result of 2.1 MB takes 8.7 us at 240 GB/s."""
    program = Program("wormhole_b0")
    x, w, y = (
        program.tensor([1, 1, m, 1024]),
        program.weight([1, 1, 1024, n]),
        program.tensor([1, 1, m, n], placement=into),
    )
    put(program, matmul(x, w, y, kernel_ns, program_config=config()))
    put(program, unary("RELU", y, program.tensor([1, 1, m, n], placement=L1), 1_000))
    return program


def test_a_result_whose_bytes_take_a_tenth_of_the_time_is_told(check):
    outcome = check.pair(multiplied, silent=89_000, fires=86_000)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 op writes to DRAM what fits L1 (86 us, 97.2%): 2.1 MB, ")
    assert "memory_config=ttnn.L1_MEMORY_CONFIG for the result" in claim.fix
    assert claim.expected is None
    assert (line, "OUTPUT_0_MEMORY") in cells(outcome)


def test_80_percent_of_the_time_may_go(check):
    assert check.ask(multiplied(85_000)).at_most_ns == pytest.approx(0.8 * 85_000)
    assert check.ask(multiplied(85_000, m=32)).at_most_ns == 20_000  # it waits for its weights


def test_arithmetic_and_what_no_op_made_stay(check):
    """2.1 Gflop take 16.4 us at 131 Tflops; a sum reads 2.1 MB that came from outside, in 7.3 us at peak."""
    assert check.ask(multiplied(26_000)).at_most_ns == pytest.approx(26_000 - 16_384, rel=0.01)
    assert check.ask(streamed(20_000)).at_most_ns == 0.8 * 20_000
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 1024, 1024]) for _ in range(2))
    put(program, unary("RELU", x, y, 20_000))
    assert check.ask(program).at_most_ns == pytest.approx(20_000 - 2 * 1024 * 1024 / 288, rel=0.01)


def streamed(kernel_ns, *, n=1024, into=DRAM):
    """A RELU of what an op made."""
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 1024, n]) for _ in range(2))
    z = program.tensor([1, 1, 1024, n], placement=into)
    put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), 1_000))
    put(program, unary("RELU", y, z, kernel_ns))
    return program


def test_a_matmul_of_one_row_of_tiles_waits_for_any_result(check):
    """64 kB take 0.3 us of 60."""
    check.pair(lambda m: multiplied(60_000, m=m), silent=64, fires=32)
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 32, 1024]) for _ in range(2))
    put(program, unary("RELU", x, y, 60_000))  # it reads no weights: more of it may go
    assert check.ask(program).at_most_ns == 0.8 * 60_000


def test_what_is_faster_than_its_bounds_promises_nothing(check):
    assert check.ask(multiplied(9_000)).status == "clean"


def test_a_quarter_of_l1_is_the_line(check):
    l1_bytes = 64 * check.case(multiplied()).safe_l1_bytes
    rows = int(l1_bytes / 4 / (4096 * 2) // 32) * 32  # of 4096 columns, that fill a quarter of L1
    check.pair(lambda m: multiplied(300_000, m=m, n=4096), silent=rows + 32, fires=rows)


def test_results_elsewhere_are_no_matter(check):
    for into in (L1, width_sharded(1024, 128, 8), sharded("WIDTH", 1024, 128, 8, buffer="DRAM")):
        assert check.ask(multiplied(into=into)).status == "clean", into
        assert check.ask(streamed(20_000, into=into)).status == "clean", into


def test_an_op_without_arithmetic_waits_for_any_result(check):
    """128 kB take 0.5 us of 60, as in a matmul that is not told of."""
    assert check.ask(streamed(60_000, n=64)).fires
    assert check.ask(multiplied(60_000, n=64)).status == "clean"


def test_without_placements_and_bandwidth_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("MEMORY",), multiplied())), "MEMORY")
    assert_cannot_tell(check.ask(rewritten(tmp_path, multiplied(), DEVICE_ARCH="later_chip")), "bandwidth")


def test_an_op_that_no_other_is_beside_is_its_matter_or_not(check):
    assert check.ask(no_such_ops()).status == "not_applicable"
    program = streamed(20_000)
    y, z = (program.tensor([1, 1, 1024, 1024]) for _ in range(2))
    put(program, DeviceOp("CopyDeviceOperation", (y,), (z,), 60_000))
    assert [len(claim.rows) for claim in check.ask(program).claims] == [1]


@for_all(
    ("name", "told"),
    [("NlpCreateHeads", True), ("RotaryEmbedding", True), ("LayerNorm", True), ("Softmax", True), ("Concat", True),
     ("Typecast", True), ("Reduce", True), ("UpdateKVCache", False), ("SliceWrite", False), ("TopK", False), ("ArgMax", False), ("Copy", False), ("AllGatherAsync", False)],
)  # fmt: skip
def test_all_ops_but_caches_moves_and_exchanges_may_write_to_l1(check, name, told):
    program = Program("wormhole_b0")
    x, y, z = (program.tensor([1, 1, 1024, 1024]) for _ in range(3))
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), 60_000))
    put(program, DeviceOp("MadeUpOfNoFamily", (y,), (z,), 1_000))
    assert check.ask(program).fires is told


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(multiplied())


def test_results_that_other_checks_place_are_theirs(check):
    """DeepLab's matmul of line 388 is to write to DRAM, that of 79 into the shards of 107."""
    asked = check.ask(real_case(DEEPLAB))
    assert not {388, 79} & {asked.case.line(int(row)) for row in asked.claim.rows}


def test_short_ops_are_not_told(check):
    check.pair(lambda ns: multiplied(ns, m=256, n=256), silent=4_900, fires=5_100)


def test_what_saves_less_than_one_percent_is_not_worth_telling(check):
    def at(share):
        program = multiplied()
        pass_time(program, (60_000 - 16_384) / share - 61_000)
        return program

    check.pair(at, silent=0.0099, fires=0.0101)

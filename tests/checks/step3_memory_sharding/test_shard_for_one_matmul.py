"""shard-for-one-matmul: a move into shards that one matmul reads, which could read DRAM itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks.matmul_programs import config, linear
from tests.checks.rows import put
from tests.checks.step3_programs import (
    assert_cannot_tell,
    cells,
    no_such_ops,
    relu,
    rewritten,
    timeless,
    to,
    without,
)
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.ops import matmul

SHARDS = height_sharded(32, 7168, (10, 10))
BYTES = 3200 * 7168 * 2  # 45.9 MB: 105 us at 435 GB/s


def moved(
    program,
    *,
    start=DRAM,
    kind="1D",
    readers=1,
    extra="",
    move_ns=115_000,
    kernel_ns=217_000,
    into=L1,
    then="matmul",
):
    x = program.tensor([1, 1, 3200, 7168], placement=start)
    copy = to(program, x, SHARDS, kernel_ns=move_ns)
    given = config(8, name=f"MatmulMultiCoreReuseMultiCast{kind}ProgramConfig").replace(")", f"{extra})")
    for _ in range(readers):
        if then == "matmul":
            w, y = program.weight([1, 1, 7168, 256]), program.tensor([1, 1, 3200, 256], placement=into)
            put(program, matmul(copy, w, y, kernel_ns, program_config=given))
        else:
            relu(program, copy)


def of_move(**how):
    program = Program("blackhole", grid=(11, 10))
    moved(program, **how)
    return program


def test_a_move_for_one_matmul_costs_what_it_spares(check):
    """tt-metal PR #42638: a move of 115 us and a matmul of 217; 264 from DRAM."""
    outcome = check.ask(of_move())
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [115_000]
    assert outcome.at_most_ns / 1e3 >= 115 + 217 - 264
    assert claim.claim == (
        "1 move into shards (115 us, 34.5%), each for one matmul: 3200x7168 -> 3200x7168 "
        f"at line {line}, 115 us, for 217 us at line {line + 1}"
    )
    assert f"drop the move at line {line}" in claim.fix
    assert cells(outcome) == [
        (line, "DEVICE KERNEL DURATION [ns]"),
        (line, "INPUT_0_MEMORY"),
        (line + 1, "DEVICE KERNEL DURATION [ns]"),
        (line + 1, "INPUT_0_MEMORY"),
    ]


def test_texts_are_short(check):
    claim = check.ask(of_move()).claim
    assert (len(claim.claim) <= 200, len(claim.assumption) <= 120, len(claim.fix) <= 260) == (True,) * 3


def test_what_two_ops_read_is_worth_its_move(check):
    check.pair(lambda readers: of_move(readers=readers), silent=2, fires=1)


def test_other_ops_want_the_shards(check):
    def program(then):
        program = of_move(then=then)
        linear(program, program_config=config())
        return program

    check.pair(program, silent="relu", fires="matmul")


def test_a_config_without_multicast_reads_its_operand_again_and_again(check):
    def program(name):
        program = of_move()
        matmul = program.device_ops[-1]
        text = str(matmul.attributes["program_config"])
        matmul.attributes = {**matmul.attributes, "program_config": text.replace("MultiCast1D", name)}
        return program

    check.pair(program, silent="", fires="MultiCast")


def test_shards_of_dram_are_no_tensor_that_the_matmul_could_read_itself(check):
    banks = replace(SHARDS, buffer="DRAM")
    check.pair(lambda start: of_move(start=start), silent=banks, fires=DRAM)


def test_the_weights_of_a_matmul_are_read_by_each_core(check):
    def program(weights):
        program = Program("blackhole", grid=(11, 10))
        x = program.tensor([1, 1, 3200, 7168])
        copy = to(program, x, SHARDS, kernel_ns=115_000)
        tall = relu(program, program.tensor([1, 1, 64, 3200]))
        operands = (tall, copy) if weights else (copy, program.weight([1, 1, 7168, 256]))
        y = program.tensor([1, 1, 64, 7168] if weights else [1, 1, 3200, 256], placement=L1)
        given = config(8, name="MatmulMultiCoreReuseMultiCast1DProgramConfig")
        put(program, matmul(*operands, y, 217_000, program_config=given))
        return program

    check.pair(program, silent=True, fires=False)


@for_all("kind", ["", "1D"])
def test_a_multicast_reads_its_operand_once(check, kind):
    check.pair(lambda one: of_move(kind=one), silent="DRAMSharded", fires=kind)


def test_a_ring_wants_its_shards(check):
    check.pair(lambda extra: of_move(extra=extra), silent=",gather_in0=1", fires="")


def test_an_output_in_shards_goes_with_its_operand(check):
    check.pair(lambda into: of_move(into=into), silent=height_sharded(32, 256, (10, 10)), fires=L1)


def test_what_lies_in_l1_already_is_not_read_from_dram(check):
    check.pair(lambda start: of_move(start=start), silent=L1, fires=DRAM)


def test_a_matmul_that_would_wait_for_the_bytes_gets_longer(check):
    """Its own 3.7 MB and the operand's 45.9 take 114 us; at 60 us it would wait for 54 of them."""
    at_most = check.ask(of_move(kernel_ns=60_000)).at_most_ns
    assert at_most == pytest.approx(115_000 - ((BYTES + 7168 * 256 * 2) / 435.2 - 60_000), abs=5)
    check.pair(lambda ns: of_move(kernel_ns=60_000, move_ns=ns), silent=53_000, fires=56_000)


def test_half_a_percent_of_the_window_is_worth_telling(check):
    check.share_pair(moved, 0.005, of="saving", arch="blackhole")


def test_several_are_several(check):
    program = of_move()
    moved(program, move_ns=130_000)
    relu(program, program.tensor([1, 1, 32, 32]))
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("2 moves into shards (245 us, ")
    assert f"drop the move at line {outcome.case.line(2)} " in outcome.claim.fix


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_move())).status == "clean"


def test_a_run_without_moves_is_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no op changes a placement"


@for_all(("lost", "word"), [("_MEMORY", "MEMORY"), ("ATTRIBUTES", "program_config")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)


def test_an_unknown_chip_has_no_bandwidth(check, tmp_path):
    assert_cannot_tell(check.ask(rewritten(tmp_path, of_move(), DEVICE_ARCH="quasar")), "DEVICE ARCH")

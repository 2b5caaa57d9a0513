"""sparse-matmul-blocks: experts' matmuls that take K in small steps."""

from __future__ import annotations

from tests.checks.matmul_programs import of_sparse, sparse
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.for_all import for_all


def test_one_tile_of_k_per_step_is_told(check):
    """tt-xla's E33 and E34: 48,783 us at 1, 25,365 at 2, 18,179 at 4."""
    outcome = check.ask(of_sparse())
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [48_783_000 * 7 / 8]
    assert outcome.at_most_ns / 1e3 >= 48_783 - 18_179
    assert claim.claim.startswith(
        "1 sparse matmul takes 1 of 224 tiles of K at a time (48.8 ms, 100.0%): 128x32x7168"
    )
    assert claim.fix.startswith("program_config as now with in0_block_w=8 ")
    assert cells(outcome) == [
        (line, "DEVICE KERNEL DURATION [ns]"),
        (line, "ATTRIBUTES.program_config.in0_block_w"),
    ]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of_sparse())


def test_blocks_half_as_deep_as_can_be_are_small(check):
    check.pair(lambda block: of_sparse(block=block), silent=8, fires=4)
    check.pair(lambda block: of_sparse(block=block, k=24 * 32), silent=6, fires=4)


def test_only_divisors_of_k_are_advised(check):
    """7168 + 64 is 226 tiles: 2 divides it, 4 does not."""
    outcome = check.pair(lambda k: of_sparse(k=k), silent=7168 + 32, fires=7168 + 64)
    assert "in0_block_w=2" in outcome.claim.fix


def test_only_what_fits_l1_is_advised(check):
    """Of 128 columns 8 tiles deep 2 x 8 x 128 x 1088 bytes are too much, 2 deep they are 557 KB and fit."""
    fix = check.ask(of_sparse(per_n=60, n=6400 * 32)).claim.fix
    assert "in0_block_w=2" in fix


def test_idle_cores_come_first(check):
    """128 tiles of N: with per_core_N=6 on 22 cores, with 2 on 64 of 110."""
    check.pair(lambda per_n: of_sparse(per_n=per_n), silent=6, fires=2)


def test_a_tenth_less_work_on_idle_cores_is_the_line(check):
    """1000 tiles of N on 110 cores are 10 each."""
    check.pair(lambda per_n: of_sparse(per_n=per_n, n=1000 * 32), silent=12, fires=11)


def test_without_a_printed_block_nothing_is_known(check):
    check.pair(lambda told: of_sparse(told=told), silent=False, fires=True)


def test_a_dense_matmul_has_a_check_of_its_own(check):
    program = of_sparse()
    sparse(program, k=3584)
    program.device_ops[-1].op_code = "MatmulDeviceOperation"
    assert check.ask(program).claim.rows.tolist() == [0]


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    check.pair(lambda ns: of_sparse(kernel_ns=ns), silent=4_999, fires=6_000)
    assert check.ask(of_sparse(kernel_ns=6_000)).at_most_ns == 1_000
    program = of_sparse()
    sparse(program, k=3584, kernel_ns=4_999)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: sparse(program, kernel_ns=1_000_000), 0.01, of="saving")


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_sparse())).status == "clean"


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no SparseMatmul ops"


@for_all(("lost", "word"), [("ATTRIBUTES", "ATTRIBUTES"), ("INPUT_", "INPUT_n"), ("CORE COUNT", "CORE COUNT")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of_sparse())), word)

"""sparse-matmuls-on-one-input: experts' matmuls that read one activation twice on few cores."""

from __future__ import annotations

from tests.checks.matmul_programs import of_sparse, sparse
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, timeless, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def twins(*, cores=11, widths=(704, 704), shared=True, kernel_ns=154_000_000):
    """Gate and up: 22 tiles of N, on 11 cores each."""
    program = Program("blackhole", grid=(11, 10))
    x = None
    if not shared:
        pass_time(program, 10_000)  # so that the two are no iterations
    for n in widths:
        if x is None or not shared:
            x = program.tensor([1, 128, 32, 7168])
            source = program.tensor([1, 32, 128, 7168])
            put(program, DeviceOp("TransposeDeviceOperation", (source,), (x,), 10_000))
        sparse(program, x, block=8, per_n=1, n=n, kernel_ns=kernel_ns, cores=cores)
    return program


def test_two_activations_that_no_op_made_are_not_one(check):
    """They look alike, and nothing tells whether they are the same."""
    program = Program("blackhole", grid=(11, 10))
    pass_time(program, 10_000)
    for _ in range(2):
        sparse(program, block=8, per_n=1, n=704, kernel_ns=154_000_000, cores=11)
    assert check.ask(program).status == "clean"


def test_two_on_one_activation_could_be_one(check):
    """tt-xla's E30: 309.6 ms, 238.0 with the weights stacked."""
    outcome = check.pair(lambda shared: twins(shared=shared), silent=False, fires=True)
    assert outcome.claim.rows.tolist() == [2]
    assert 309.6 - 238.0 <= outcome.at_most_ns / 1e6 <= 154
    assert "ttnn.concat(..., dim=-1)" in outcome.claim.fix
    assert "1 sparse matmul reads (154.0 ms, 50.0%) the activation" in outcome.claim.claim


def test_a_pair_that_fills_half_of_the_grid_finds_no_more_cores(check):
    check.pair(lambda cores: twins(cores=cores), silent=55, fires=54)


@for_all("cores", [(54, 55), (55, 54)])
def test_both_of_a_pair_leave_half_of_the_grid(check, cores):
    program = twins()
    program.device_ops[1].cores, program.device_ops[2].cores = cores
    assert check.ask(program).status == "clean"


def test_a_pair_of_different_widths_is_none(check):
    check.pair(lambda widths: twins(widths=widths), silent=(704, 1408), fires=(704, 704))


def test_three_in_a_row_are_one_pair_and_one_left(check):
    assert check.ask(twins(widths=(704,) * 3)).claim.rows.tolist() == [2]
    assert check.ask(twins(widths=(704,) * 4)).claim.rows.tolist() == [2, 4]


def test_other_matmuls_on_one_input_are_another_checks(check):
    program = twins()
    for op in program.device_ops[1:]:
        op.op_code = "MatmulDeviceOperation"
    sparse(program, kernel_ns=20_000)
    assert check.ask(program).status == "clean"


def test_a_pair_is_told_from_one_percent_on(check):
    check.share_pair(
        lambda program: program.calls.extend(twins(kernel_ns=154_000).calls), 0.01, of="saving", arch="blackhole"
    )


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(twins(), above=1)


def test_one_alone_is_no_pair(check):
    assert check.ask(of_sparse()).status == "clean"


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    check.pair(lambda ns: twins(kernel_ns=ns), silent=4_999, fires=6_000)
    program = twins(kernel_ns=20_000)
    program.device_ops[1].kernel_ns = 4_999
    assert check.ask(program).status == "clean"


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(twins())).status == "clean"


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no SparseMatmul ops"


@for_all(("lost", "word"), [("ATTRIBUTES", "ATTRIBUTES"), ("INPUT_", "INPUT_n"), ("CORE COUNT", "CORE COUNT")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of_sparse())), word)

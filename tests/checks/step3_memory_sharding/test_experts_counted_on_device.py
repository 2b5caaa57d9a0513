"""experts-counted-on-device: sparse matmuls of one token that are not told nnz."""

import re

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def put_token(program, *, nnz="std::nullopt", rows=1, k=2, after=False, us=130):
    scores = program.tensor([1, 1, 1, 16])
    chosen = DeviceOp(
        "TopKDeviceOperation", (scores,), (program.tensor([1, 1, 1, k or 2]),), 9_000, attributes={"k": k}
    )
    x, w = program.tensor([1, 1, rows, 256]), program.tensor([1, 16, 256, 512])
    sparse = DeviceOp("SparseMatmulDeviceOperation", (x, w), (program.tensor([1, 16, 32, 512]),), 1000 * us, attributes={"nnz": nnz})  # fmt: skip
    for one in (sparse, chosen) if after else (chosen, sparse) if k else (sparse,):
        put(program, one)


def token(**how) -> Program:
    program = Program("blackhole", grid=(11, 10))
    put_token(program, **how)
    return program


def test_one_token_has_k_experts(check):
    outcome = check.ask(token())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [1]
    bytes_ns = 2 / 16 * 16 * 256 * 512 * 2 / 435.2
    assert claim.at_most_ns[0] == pytest.approx(130_000 - bytes_ns, rel=0.001)
    assert claim.claim.startswith("1 sparse matmul of one token that is given no nnz (130 us, 92.5%)")
    assert "nnz=2" in claim.fix
    assert "hang" in claim.caveat
    assert (case.line(0), "ATTRIBUTES.k") in cells(outcome)


def test_texts_are_short(check):
    check.assert_sound(token(), above=1)


@for_all("how", [{"nnz": "2"}, {"rows": 2}, {"k": 0}, {"after": True}], ids=str)
def test_others_are_none(check, how):
    assert check.ask(token(**how)).status == "clean"


def test_two_of_one_choice_are_one_claim_and_each_has_its_own(check):
    program = token()
    for k in (2, 4):
        put_token(program, us=200, k=k)
    claims = check.ask(program).claims
    assert [claim.rows.tolist() for claim in claims] == [[1, 3], [5]]
    assert claims[0].claim.startswith("2 sparse matmuls of one token that are given no nnz")
    assert ["nnz=2" in claims[0].fix, "nnz=4" in claims[1].fix] == [True, True]


def put_chosen(program, *, among=16, tokens=1, k=2):
    scores = program.tensor([1, 1, tokens, among])
    put(program, DeviceOp("TopKDeviceOperation", (scores,), (program.tensor([1, 1, tokens, k]),), 9_000, attributes={"k": k}))  # fmt: skip


@for_all("how", [{"among": 32}, {"tokens": 2}, {"k": 17}], ids=str)
def test_a_later_choice_among_others_or_of_more_tokens_tells_nothing(check, how):
    """Groups of experts are chosen before them, and tokens after."""
    program = Program("blackhole", grid=(11, 10))
    put_chosen(program)
    put_chosen(program, **how)
    put_token(program, k=0)
    assert check.ask(program).status == "clean"


def test_all_of_them_may_be_chosen(check):
    program = Program("blackhole", grid=(11, 10))
    put_chosen(program, k=16)
    put_token(program, k=0)
    assert "nnz=16" in check.ask(program).claim.fix


@for_all(
    ("batches", "nnz", "before", "rows"),
    [(16, "std::nullopt", True, [1, 2]), (8, "std::nullopt", True, [1]), (16, "std::nullopt", False, [2]),
     (16, "2", True, [1]), (16, "2", False, [2])],
    ids=str,
)  # fmt: skip
def test_the_second_of_one_token_counts_too(check, batches, nnz, before, rows):
    def second(program):
        x, w = program.tensor([1, batches, 32, 512]), program.tensor([1, 16, 512, 256])
        y = program.tensor([1, 16, 32, 256])
        put(program, DeviceOp("SparseMatmulDeviceOperation", (x, w), (y,), 90_000, attributes={"nnz": nnz}))

    program = Program("blackhole", grid=(11, 10))
    for one in (put_token, second) if before else (second, put_token):
        one(program)
    assert check.ask(program).claim.rows.tolist() == rows


def behind_one_that_is_told(*, experts=16, over=16, nnz="4", rows=32, program=None):
    """The first is told, of any number of tokens; the second multiplies `over` of all its `experts`."""
    program = program or Program("blackhole", grid=(11, 10))
    put_token(program, nnz=nnz, rows=rows, k=0)
    x, w = program.tensor([1, over, 32, 512]), program.tensor([1, experts, 512, 256])
    op = DeviceOp("SparseMatmulDeviceOperation", (x, w), (program.tensor([1, experts, 32, 256]),), 90_000)
    op.attributes = {"nnz": "std::nullopt"}
    put(program, op)
    return program


def test_one_behind_another_that_is_told_has_as_many_experts(check):
    outcome = check.ask(behind_one_that_is_told())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns[0] == pytest.approx(90_000 - 4 / 16 * 16 * 512 * 256 * 2 / 435.2, rel=0.001)
    assert claim.claim.startswith("1 sparse matmul behind one with nnz that is given no nnz (90 us, 40.6%): ")
    assert "nnz=4) as in the one before it" in claim.fix
    assert (case.line(0), "ATTRIBUTES.nnz") in cells(outcome)
    check.assert_sound(behind_one_that_is_told(), above=1)


@for_all(
    "how", [{"experts": 8, "over": 8}, {"over": 1}, {"nnz": "std::nullopt"}, {"nnz": "17"}, {"nnz": "0"}], ids=str
)
def test_one_of_other_experts_or_of_one_row_block_or_behind_an_untold_one_is_none(check, how):
    assert check.ask(behind_one_that_is_told(**how)).status == "clean"


def test_only_the_one_right_before_tells_it(check):
    """Behind one of 4 experts of a prefill, and behind a token's of 2; another prefill's first is not told."""
    program = behind_one_that_is_told()
    behind_one_that_is_told(nnz="std::nullopt", program=program)
    put_token(program)
    behind_one_that_is_told(nnz="8", program=program)
    behind_one_that_is_told(nnz="16", program=program)
    claims = check.ask(program).claims
    assert [claim.rows.tolist() for claim in claims] == [[1], [5], [7], [9]]
    assert [re.search("nnz=([0-9]+)", claim.fix).group(1) for claim in claims] == ["4", "2", "8", "16"]


def test_an_op_faster_than_its_weights_promises_nothing(check):
    assert check.ask(token(us=1)).status == "clean"


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_token, 0.01, of="saving", arch="wormhole_b0")


def test_without_sparse_matmuls_or_operands(check, tmp_path):
    program = Program("blackhole")
    put(program, DeviceOp("MatmulDeviceOperation", (program.tensor([1, 1, 32, 64]),) * 2, (program.tensor([1, 1, 32, 64]),), 9_000))  # fmt: skip
    assert check.ask(program).why == "no SparseMatmul ops"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), token())), "INPUT_n")
    assert_cannot_tell(check.ask(without(tmp_path, ("ATTRIBUTES",), token())), "ATTRIBUTES")
    assert_cannot_tell(check.ask(token(), generation="C3"), "padded shapes only")

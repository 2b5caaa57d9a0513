"""experts-scanned: sparse matmuls of one token that visit all experts, and the ops around them."""

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.hardware import TILE_BYTES

PEAK = 512  # GB/s of Blackhole's DRAM
WEIGHT_NS = 256 * 512 / 1024 * TILE_BYTES["BFLOAT8_B"] / PEAK  # of one expert


def sparse(program, x, out, *, indexed=False, experts=16, us=100):
    w = program.weight([1, experts, x.shape[-1], out[-1]], dtype="BFLOAT8_B")
    mask = program.tensor([1, 1, 1, experts], "BFLOAT16", "ROW_MAJOR")
    numbers = program.tensor([1, 1, 1, 2], "UINT16", "ROW_MAJOR")
    attributes = {"is_input_b_sparse": True, "nnz": "std::nullopt"}
    inputs = (x, w, mask, numbers) if indexed else (x, w, mask)
    return put(program, DeviceOp("SparseMatmulDeviceOperation", inputs, (program.tensor(out),), 1_000 * us, attributes=attributes))  # fmt: skip


def op(program, name, x, shape, us=10):
    return put(program, DeviceOp(f"{name}DeviceOperation", (x,), (program.tensor(shape),), 1_000 * us))


def put_router(program, *, k=2, experts=16, tokens=1, name="TopK", attribute="k"):
    scores = program.tensor([1, 1, tokens, experts])
    chosen = program.tensor([1, 1, tokens, k or 1])
    put(program, DeviceOp(f"{name}DeviceOperation", (scores,), (chosen,), 9_000, attributes={attribute: k}))


def put_experts(program, *, rows=1, experts=16, apart=False, **how):
    """Twelve ops: the first, those of another branch and the last hold nothing for each expert."""
    op(program, "Softmax", program.tensor([1, 1, 1, 2]), [1, 1, 1, 2])
    spread = op(program, "Scatter", program.tensor([1, 1, 1, experts]), [1, 1, 1, experts])
    x = program.tensor([1, 1, rows, 256])
    op(program, "Permute", spread, [1, experts, 1, 1])
    up = sparse(program, x, [1, experts, 32, 512], experts=experts, **how)
    if apart:
        sparse(program, x, [1, experts, 32, 512], experts=experts, **how)
    half = op(program, "Slice", up, [1, experts, 32, 256])
    turned = op(program, "Transpose", half, [1, 1, experts, 256])
    op(program, "Tanh", x, [1, 1, rows, experts])
    op(program, "Repeat", x, [1, experts, 1, 256])
    down = sparse(program, op(program, "Transpose", turned, [1, experts, 32, 256]), [1, experts, 32, 512], experts=experts, **how)  # fmt: skip
    op(program, "Tanh", x, [1, 1, rows, 256])
    total = op(program, "FastReduceNC", down, [1, 1, 32, 512])
    op(program, "Tanh", total, [1, 1, 32, 512])


def token(*, router=None, **how) -> Program:
    program = Program("blackhole", grid=(11, 10))
    put_router(program, **(router or {}))
    put_experts(program, **how)
    return program


def test_sparse_matmuls_leave_the_chosen_experts_and_other_ops_their_part(check):
    outcome = check.ask(token())
    claim = outcome.claim
    weights_left = pytest.approx(100_000 - 2 * WEIGHT_NS, rel=1e-4)
    seven_eighths = pytest.approx(8_750)
    assert dict(zip(claim.rows.tolist(), claim.at_most_ns.tolist(), strict=True)) == {
        **dict.fromkeys((2, 3, 5, 6, 8, 9, 12), seven_eighths),
        **dict.fromkeys((4, 10), weights_left),
    }
    assert claim.claim.startswith(
        "2 sparse matmuls of one token and 7 around them go through 16 experts, of which 2 are active (270 us"
    )
    assert "indices=ids, is_input_b_sparse=True) without nnz" in claim.fix
    assert "[1, 1, 1, 2], ROW_MAJOR, uint16" in claim.fix
    assert (outcome.case.line(0), "ATTRIBUTES.k") in cells(outcome)


def test_its_claim_is_sound(check):
    check.assert_sound(token(), above=2)  # the router


@for_all(
    "how",
    [
        {"rows": 2},
        {"indexed": True},
        {"experts": 15, "router": {"experts": 15}},
        {"router": {"experts": 32}},
        {"router": {"tokens": 2}},
        {"router": {"k": 9}},
        {"router": {"k": 0}},
    ],
    ids=str,
)
def test_others_are_none(check, how):
    assert check.ask(token(**how)).status == "clean"


@for_all("name", ["MoeGroupedTopk", "DeepseekGroupedGate"])
def test_other_routers_tell_how_many_are_active(check, name):
    claim = check.ask(token(router={"k": 8, "name": name, "attribute": "n_activated_experts"})).claim
    assert "of which 8 are active" in claim.claim  # half of them is the line


def test_gate_and_up_apart_are_of_one_claim_and_each_router_has_its_own(check):
    program = token(apart=True)
    put_router(program, k=4)
    put_experts(program)
    first, second = check.ask(program).claims
    assert first.claim.startswith("3 sparse matmuls of one token and 7 around them")
    assert second.claim.startswith("2 sparse matmuls of one token and 7 around them")
    assert second.rows.tolist() == [17, 18, 19, 20, 21, 23, 24, 25, 27]


def test_another_activation_of_two_rows_is_not_of_the_claim(check):
    program = Program("blackhole", grid=(11, 10))
    put_router(program)
    for rows in (1, 2):
        sparse(program, program.tensor([1, 1, rows, 256]), [1, 16, 32, 512])
    assert check.ask(program).claim.claim.startswith("1 sparse matmul of one token")


def test_without_sparse_matmuls_or_what_tells_of_them_nothing_is_told(check, tmp_path):
    program = Program("blackhole", grid=(11, 10))
    put_router(program)
    assert check.ask(program).status == "not_applicable"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), token())), "INPUT_n")
    assert_cannot_tell(check.ask(without(tmp_path, ("ATTRIBUTES",), token())), "ATTRIBUTES")
    assert_cannot_tell(check.ask(token(), generation="C3"), "padded shapes only")


def test_without_a_sum_the_last_sparse_matmul_is_the_end(check):
    program = Program("blackhole", grid=(11, 10))
    put_router(program)
    sparse(program, program.tensor([1, 1, 1, 256]), [1, 16, 32, 512])
    op(program, "Tanh", program.tensor([1, 16, 32, 512]), [1, 16, 32, 512])
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1]
    assert claim.claim.startswith("1 sparse matmul of one token and 0 around them go through 16 experts")


def test_one_percent_of_the_window_is_the_line(check):
    def at(rest_us):
        program = Program("blackhole", grid=(11, 10))
        put_router(program)
        sparse(program, program.tensor([1, 1, 1, 256]), [1, 16, 32, 512], us=10)
        pass_time(program, 1_000 * rest_us)
        return program

    saved_us = 10 - 2 * WEIGHT_NS / 1e3
    check.pair(lambda share: at(saved_us / share - 19), silent=0.0099, fires=0.0101)

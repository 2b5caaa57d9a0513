"""experts-scanned: sparse matmuls of one token that visit all experts, and the ops around them."""

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import cells
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
    """Nine ops; the seventh is of another branch, and the last adds to the sum of all experts."""
    spread = op(program, "Scatter", program.tensor([1, 1, 1, experts]), [1, 1, 1, experts])
    x = program.tensor([1, 1, rows, 256])
    op(program, "Permute", spread, [1, experts, 1, 1])
    up = sparse(program, x, [1, experts, 32, 512], experts=experts, **how)
    if apart:
        sparse(program, x, [1, experts, 32, 512], experts=experts, **how)
    half = op(program, "Slice", up, [1, experts, 32, 256])
    turned = op(program, "Transpose", half, [1, 1, experts, 256])
    op(program, "Tanh", x, [1, 1, rows, 256])
    down = sparse(program, op(program, "Transpose", turned, [1, experts, 32, 256]), [1, experts, 32, 512], experts=experts, **how)  # fmt: skip
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
    assert dict(zip(claim.rows.tolist(), claim.at_most_ns.tolist(), strict=True)) == {
        1: pytest.approx(8_750),  # scatter: 10 us, of which an eighth stays
        2: pytest.approx(8_750),
        3: pytest.approx(100_000 - 2 * WEIGHT_NS, rel=1e-4),
        4: pytest.approx(8_750),
        5: pytest.approx(8_750),
        7: pytest.approx(8_750),
        8: pytest.approx(100_000 - 2 * WEIGHT_NS, rel=1e-4),
        9: pytest.approx(8_750),
    }
    assert claim.claim.startswith(
        "2 sparse matmuls of one token and 6 ops around them go through 16 experts, of which 2 are active (260 us"
    )
    assert "indices=ids, is_input_b_sparse=True) without nnz" in claim.fix
    assert "[1, 1, 1, 2], ROW_MAJOR, uint16" in claim.fix
    assert (outcome.case.line(0), "ATTRIBUTES.k") in cells(outcome)


def test_its_claim_is_sound(check):
    check.assert_sound(token(), above=1)  # the router


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
    assert first.claim.startswith("3 sparse matmuls of one token and 6 ops around them")
    assert second.claim.startswith("2 sparse matmuls of one token and 6 ops around them")
    assert second.rows.tolist() == [13, 14, 15, 16, 17, 19, 20, 21]


def test_without_a_sum_the_last_sparse_matmul_is_the_end(check):
    program = Program("blackhole", grid=(11, 10))
    put_router(program)
    sparse(program, program.tensor([1, 1, 1, 256]), [1, 16, 32, 512])
    op(program, "Tanh", program.tensor([1, 16, 32, 512]), [1, 16, 32, 512])
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1]
    assert claim.claim.startswith("1 sparse matmul of one token and 0 ops around them go through 16 experts")


def test_one_percent_of_the_window_is_the_line(check):
    def at(rest_us):
        program = Program("blackhole", grid=(11, 10))
        put_router(program)
        sparse(program, program.tensor([1, 1, 1, 256]), [1, 16, 32, 512], us=10)
        pass_time(program, 1_000 * rest_us)
        return program

    saved_us = 10 - 2 * WEIGHT_NS / 1e3
    check.pair(lambda share: at(saved_us / share - 19), silent=0.0099, fires=0.0101)

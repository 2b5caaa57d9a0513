"""matmul-beside-exchange: gather then matmul, matmul then scatter, one after the other."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.mesh_programs import mesh
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles.ops import collective, matmul, unary
from tests.shared_reports import CLIP, DEEPSEEK


def multiplied(program, x, wide, kernel_ns):
    w, y = program.weight([1, 1, x.shape[-1], wide], "BFLOAT8_B"), program.tensor([1, 1, x.shape[-2], wide])
    return put(program, matmul(x, w, y, kernel_ns))


def exchanged(program, kind, x, wide, kernel_ns, *, dim=3):
    out = program.tensor([1, 1, x.shape[-2], wide])
    op = collective(kind, x, out, kernel_ns, ring_size=4)
    op.attributes = {**op.attributes, "dim": dim}
    return put(program, op)


def read(program, x, kind="RELU"):
    return put(program, unary(kind, x, program.tensor(x.shape), 10_000))


def gathered(
    program, *, exchange_ns=200_000, work_ns=300_000, dim=3, kind="AllGatherAsync", also_read=False, works=True,
    rows=2048,
):  # fmt: skip
    x = exchanged(program, kind, read(program, program.tensor([1, 1, rows, 1024])), 4096, exchange_ns, dim=dim)
    read(program, multiplied(program, x, 2048, work_ns) if works else x)
    if also_read:
        read(program, x, "TANH")


def scattered(
    program, *, exchange_ns=200_000, work_ns=300_000, dim=3, also_read=False, works=True, kind=None, rows=2048
):  # fmt: skip
    x = read(program, program.tensor([1, 1, rows, 1024]))
    x = multiplied(program, x, 4096, work_ns) if works else read(program, program.tensor([1, 1, rows, 4096]))
    read(program, exchanged(program, kind or "ReduceScatterMinimalAsync", x, 1024, exchange_ns, dim=dim))
    if also_read:
        read(program, x, "TANH")


def of(build, **how):
    program = mesh()
    build(program, **how)
    return program


BOTH = for_all("build", [gathered, scattered])


@BOTH
def test_over_few_rows_the_fused_op_lost(check, build):
    """Qwen3.5 over 1024 rows: 42.8 ms apart, 44.2 fused; the fused op is no advice there."""
    check.pair(lambda rows: of(build, rows=rows), silent=2047, fires=2048)


@for_all(
    ("build", "fused"),
    [(gathered, "all_gather_minimal_matmul_async"), (scattered, "minimal_matmul_strided_reduce_scatter_async")],
)
def test_the_shorter_of_the_two_may_hide(check, build, fused):
    claim = check.ask(of(build)).claim
    texts = (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)
    assert all(len(text) <= most for text, most in zip(texts, (200, 120, 260, 120, 160), strict=True))
    assert claim.at_most_ns.tolist() == [200_000]
    assert claim.at_least_ns is None
    assert f"ttnn.experimental.{fused}" in claim.fix
    assert [one.value for one in claim.evidence] == [200_000, 300_000]
    assert check.ask(of(build, exchange_ns=400_000)).claim.at_most_ns.tolist() == [300_000]


@BOTH
def test_thirty_microseconds_of_exchange_are_the_line(check, build):
    check.pair(lambda ns: of(build, exchange_ns=ns), silent=29_999, fires=30_000)


@BOTH
@for_all("dim", [3, -1])
def test_the_fused_ops_take_the_last_dim_only(check, build, dim):
    check.pair(lambda one: of(build, dim=one), silent=2, fires=dim)


@BOTH
@for_all(
    "how",
    [{"also_read": True}, {"works": False}, {"kind": "AllBroadcast"}],
    ids=["read twice", "no matmul", "other"],
)
def test_what_cannot_be_fused_is_left_alone(check, build, how):
    assert check.ask(of(build, **how)).status == "clean"


def test_a_gather_that_is_fused_already_is_left_alone(check):
    assert check.ask(of(gathered, kind="AllGatherMinimalMatmulAsync")).status == "clean"


def test_a_gathered_weight_is_no_activation(check):
    program = mesh()
    w = exchanged(program, "AllGatherAsync", read(program, program.tensor([1, 1, 1024, 1024])), 4096, 200_000)
    x, y = program.tensor([1, 1, 32, 1024]), program.tensor([1, 1, 32, 4096])
    read(program, put(program, matmul(x, w, y, 300_000)))
    assert check.ask(program).status == "clean"


def test_the_heaviest_exchange_is_shown(check):
    program = of(gathered)
    scattered(program, exchange_ns=250_000)
    outcome = check.ask(program)
    case = outcome.case
    heaviest = int(outcome.claim.rows[case.kernel_ns[outcome.claim.rows].argmax()])
    assert outcome.claim.claim.startswith("Exchanges and matmuls run one after the other (2x, 450 us")
    assert f"250 us at line {case.line(heaviest)} beside" in outcome.claim.claim
    assert "strided_reduce_scatter" in outcome.claim.fix


def test_one_percent_of_the_window_is_the_line(check):
    def at(share):
        program = of(gathered)
        pass_time(program, 200_000 / share - 520_000)
        return program

    check.pair(at, silent=0.00995, fires=0.01005)


def test_one_device_is_not_applicable(check):
    assert check.ask(real_case(CLIP)).status == "not_applicable"


def test_without_operands_it_cannot_tell(check):
    outcome = check.ask(of(gathered), without="PUT_")
    assert outcome.status == "cannot_tell"
    assert "INPUT_n" in outcome.why


def test_two_matmuls_of_a_real_attention_are_followed_by_their_reduce_scatter(check):
    """Lines 3 and 11, 195 and 203; the gathers feed a norm and a sum."""
    outcome = check.ask(real_case(DEEPSEEK))
    assert [outcome.case.line(int(row)) for row in outcome.claim.rows] == [11, 203]
    assert outcome.at_most_ns == pytest.approx(917_800, rel=0.001)

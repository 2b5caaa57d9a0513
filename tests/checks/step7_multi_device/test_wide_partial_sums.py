"""wide-partial-sums: a reduce-scatter of columns that a matmul split along N would not write."""

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

CHIPS = 4


def put_head(
    program,
    *,
    deep=256,
    wide=8192,
    us=179,
    name="ReduceScatterMinimalAsync",
    also="",
    part=0,
    weights=True,
    first="Matmul",
    buffer=(),
):
    x, w = program.tensor([1, 1, 32, deep]), program.tensor([1, 1, deep, wide])
    if not weights:
        w = put(program, DeviceOp("UnaryDeviceOperation", (w,), (program.tensor([1, 1, deep, wide]),), 4_000))
    y = program.tensor([1, 1, 32, wide])
    put(program, DeviceOp(f"{first}DeviceOperation", (x, w), (y,), 400_000))
    out = program.tensor([1, 1, 32, part or wide // CHIPS])
    outputs = (*(program.tensor(shape) for shape in buffer), out)
    put(
        program, DeviceOp(f"{name}DeviceOperation", (y,), outputs, 1000 * us, attributes={"dim": 3, "num_links": 2})
    )
    if also:
        put(program, DeviceOp(f"{also}DeviceOperation", (y,), (program.tensor([1, 1, 32, 64]),), 9_000))


def head(*, devices=CHIPS, **how) -> Program:
    program = Program("blackhole", grid=(11, 10), devices=devices)
    put_head(program, **how)
    return program


def test_a_buffer_that_stands_before_the_result_is_not_the_result(check):
    """As in a report of DeepSeek on eight chips: of twice the input, then the result."""
    scatter, matmul = check.ask(head(buffer=[[2, 1, 32, 8192]])).claims
    assert "keeps 1 of 4 parts" in scatter.claim
    assert matmul.at_most_ns[0] == pytest.approx(0.75 * 32 * 8192 * 2 / 435.2)


def test_the_scatter_goes_and_the_matmul_writes_less(check):
    outcome = check.ask(head())
    (scatter, matmul), case = outcome.claims, outcome.case
    assert (scatter.rows.tolist(), scatter.at_most_ns.tolist()) == ([1], [179_000])
    assert matmul.rows.tolist() == [0]
    assert matmul.at_most_ns[0] == pytest.approx(0.75 * 32 * 8192 * 2 / 435.2)
    assert scatter.claim.startswith(
        "Matmuls split along K write all columns, then a reduce-scatter keeps 1 of 4 parts (1x, 179 us"
    )
    assert matmul.claim.startswith("Their matmuls write 4 times the columns that are kept (400 us")
    assert f"before the matmul of line {case.line(0)}" in scatter.fix
    assert {row for row, _ in [(cell.row, 0) for cell in scatter.evidence]} == {case.line(0), case.line(1)}
    for claim in outcome.claims:
        assert len(claim.claim) <= 200
        assert len(claim.fix) <= 260
        assert len(claim.assumption) <= 120


def test_inputs_of_half_the_columns_are_the_line(check):
    check.pair(lambda deep: head(deep=deep), silent=1056, fires=1024)


@for_all(
    "how",
    [{"name": "AllGather"}, {"name": "AllReduceAsync"}, {"also": "Unary"}, {"part": 8192}, {"weights": False},
     {"first": "Conv2d"}],
    ids=str,
)  # fmt: skip
def test_others_are_none(check, how):
    assert check.ask(head(**how)).status == "clean"


def test_a_scatter_of_something_else_is_none(check):
    program = head(name="AllGather")
    x = put(program, DeviceOp("UnaryDeviceOperation", (program.tensor([1, 1, 64, 2048]),), (program.tensor([1, 1, 64, 2048]),), 9_000))  # fmt: skip
    put(program, DeviceOp("ReduceScatterDeviceOperation", (x,), (program.tensor([1, 1, 64, 512]),), 99_000))
    assert check.ask(program).status == "clean"


def test_a_matmul_faster_than_its_bytes_promises_nothing(check):
    program = Program("blackhole", grid=(11, 10), devices=CHIPS)
    x, w, y = (program.tensor([1, 1, rows, columns]) for rows, columns in ((32, 256), (256, 8192), (32, 8192)))
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 300))
    put(program, DeviceOp("ReduceScatterDeviceOperation", (y,), (program.tensor([1, 1, 32, 2048]),), 9_000))
    assert check.ask(program).claims[-1].at_most_ns.tolist() == [0]


def test_two_heads(check):
    program = head()
    pass_time(program, 9_000)
    put_head(program, wide=16_384, us=300)
    first, second = check.ask(program).claims
    assert (first.rows.tolist(), second.rows.tolist()) == ([1, 4], [0, 3])
    assert second.at_most_ns[1] == pytest.approx(2 * second.at_most_ns[0])
    assert "(2x, 479 us" in first.claim


def test_one_percent_is_worth_telling(check):
    def longer(share):
        program = head()
        pass_time(program, 179_000 / share - 579_000)
        return program

    check.pair(longer, silent=0.00995, fires=0.01005)


def test_one_device_or_no_operands(check, tmp_path):
    assert check.ask(head(devices=1)).why == "one device"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), head())), "INPUT_n")

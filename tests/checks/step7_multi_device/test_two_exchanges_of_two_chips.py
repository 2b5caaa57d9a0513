"""two-exchanges-of-two-chips: a reduce-scatter and an all-gather of a small tensor."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

SENT = {"dim": 3, "num_links": 1, "cluster_axis": 1, "topology": "Topology::Linear"}


def reduce(program, *, chips=2, us=27, gather_us=26.5, between="", readers=1, wide=1024, buffer=()):
    x = put(program, DeviceOp("Matmul", (program.tensor([1, 1, 32, 512]),) * 2, (program.tensor([1, 1, 32, wide]),), 18_000))  # fmt: skip
    part = program.tensor([1, 1, 32, wide // chips])
    name = "ReduceScatterMinimalAsyncDeviceOperation"
    outputs = (*(program.tensor(shape) for shape in buffer), part)
    put(program, DeviceOp(name, (x,), outputs, round(1000 * us), attributes=SENT))
    if between:
        part = put(program, DeviceOp(between, (part,), (program.tensor([1, 1, 32, wide // chips]),), 3_000))
    for _ in range(readers - 1):
        put(program, DeviceOp("ReduceDeviceOperation", (part,), (program.tensor([1, 1, 32, 1]),), 1_000))
    whole = program.tensor([1, 1, 32, wide])
    put(
        program,
        DeviceOp("AllGatherAsyncDeviceOperation", (part,), (whole,), round(1000 * gather_us), attributes=SENT),
    )


def reduced(*, devices=2, **how):
    program = Program("wormhole_b0", devices=devices)
    reduce(program, **how)
    return program


def test_a_buffer_that_stands_before_the_result_is_not_the_result(check):
    """As tt-metal lists a reduce-scatter along a line: a buffer of twice its input, then its result."""
    claim = check.ask(reduced(buffer=[[2, 1, 32, 1024]])).claim
    assert claim.rows.tolist() == [1, 2]
    assert "y[..., :1024] + y[..., 1024:]" in claim.fix


def test_two_small_exchanges_of_two_chips_are_told(check):
    outcome = check.ask(reduced())
    claim, case = outcome.claim, outcome.case
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([1, 2], [27_000, 0])
    assert claim.at_most_ns.sum() >= (107 - 77) / 2 * 1000
    assert claim.claim == (
        "1 all-reduce of two chips in two exchanges each (27 us, 36.2% in the first ones): 32x1024 -> 32x512 at line "
        f"{case.line(1)}, gathered at line {case.line(2)}"
    )
    assert "ttnn.all_gather(x, dim=3, cluster_axis=1)" in claim.fix
    assert "y[..., :1024] + y[..., 1024:]" in claim.fix


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(reduced())


def test_over_more_chips_two_exchanges_send_less(check):
    check.pair(lambda chips: reduced(chips=chips, devices=chips), silent=4, fires=2)


def test_long_exchanges_wait_for_bytes(check):
    check.pair(lambda us: reduced(us=us), silent=30, fires=29.9)
    check.pair(lambda us: reduced(gather_us=us), silent=30, fires=29.9)


@for_all("name", ["LayerNormDeviceOperation", "TypecastDeviceOperation"])
def test_work_on_the_shard_is_what_the_scatter_is_for(check, name):
    check.pair(lambda between: reduced(between=between), silent=name, fires="")


def follow(*ops):
    """A matmul of 1024 columns, and each op (its name, its columns) on what was before."""
    program = Program("wormhole_b0", devices=2)
    part = put(program, DeviceOp("Matmul", (program.tensor([1, 1, 32, 512]),) * 2, (program.tensor([1, 1, 32, 1024]),), 18_000))  # fmt: skip
    for name, wide in ops:
        part = put(
            program, DeviceOp(f"{name}DeviceOperation", (part,), (program.tensor([1, 1, 32, wide]),), 27_000)
        )
    return program


SCATTER, GATHER = "ReduceScatterMinimalAsync", "AllGatherAsync"


def test_only_halves_made_whole_are_of_two_chips(check):
    check.pair(lambda part: follow((SCATTER, part), (GATHER, 2 * part)), silent=256, fires=512)
    check.pair(lambda whole: follow((SCATTER, 512), (GATHER, whole)), silent=2048, fires=1024)


def test_other_ops_that_halve_and_double_are_no_exchanges(check):
    check.pair(lambda halves: follow((halves, 512), (GATHER, 1024)), silent="Slice", fires=SCATTER)
    check.pair(lambda doubles: follow((SCATTER, 512), (doubles, 1024)), silent="Concat", fires=GATHER)


def test_a_part_that_another_op_reads_is_needed(check):
    check.pair(lambda readers: reduced(readers=readers), silent=2, fires=1)


def test_one_percent_of_the_window_is_worth_telling(check):
    def at(longer):
        program = reduced()
        pass_time(program, longer)
        return program

    check.pair(at, silent=2_640_000, fires=2_610_000)


def test_one_device_exchanges_nothing(check):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    assert check.ask(program).why == "one device"


def test_without_operands_it_cannot_tell(check):
    assert check.ask(reduced(), without="PUT_").status == "cannot_tell"

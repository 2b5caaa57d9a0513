"""Memory and performance report are linked only where every device op fits."""

import numpy as np

from tests.for_all import for_all
from tests.profiles import (
    CsvStyle,
    Iteration,
    Program,
    header_of,
    performance_rows,
    write_memory_report,
    write_performance_report,
    write_rows,
    write_run,
)
from tests.programs import block
from ttnn_mcp.run import link as linking
from ttnn_mcp.run.link import Launched, by_execution, linked
from ttnn_mcp.session.opening import read_run


@for_all("style", [CsvStyle(), CsvStyle(call_counts="plain")])
async def test_every_op_of_both_iterations_is_linked(tmp_path, style):
    made = write_run(tmp_path, block(), csv_style=style)
    run = await read_run("x", "x", made.performance, made.memory)
    assert run.linked.link.status == "linked"
    assert run.linked.link.matched == run.linked.link.of == 2 * len(block().device_ops)
    operation = run.linked.operation_at[2]
    assert run.memory.operations.names[run.memory.operations.row(operation)] == "ttnn.linear"


async def test_devices_that_ran_one_launch_share_its_operation(tmp_path):
    made = write_run(tmp_path, block(devices=2))
    run = await read_run("x", "x", made.performance, made.memory)
    ops = run.performance.ops
    assert run.linked.link.status == "linked"
    assert len({run.linked.operation_at[int(line)] for line in ops.lines[:2]}) == 1


async def test_another_model_is_never_linked_by_force(tmp_path):
    other = block()
    other.op("SoftmaxDeviceOperation", [other.tensor([1, 1, 32, 32])], call="ttnn.softmax")
    performance = write_performance_report(tmp_path / "perf", block())
    memory = write_memory_report(tmp_path / "memory", other)
    run = await read_run("x", "x", performance, memory)
    assert run.linked.link.status == "not_linked"
    assert "Softmax" in run.linked.link.why or "holds" in run.linked.link.why
    assert run.linked.operation_at == {}


async def test_set_up_ops_before_the_passes_stay_unlinked(tmp_path):
    rows = performance_rows(block(), style=CsvStyle(call_counts="plain"))
    first = {**rows[-1], "GLOBAL CALL COUNT": "0"}
    performance = write_rows(tmp_path / "perf.csv", [first, *rows], header_of(rows, "C7"))
    run = await read_run("x", "x", performance, write_memory_report(tmp_path / "memory", block()))
    assert run.linked.link.status == "linked"
    assert (run.linked.link.matched, run.linked.link.of) == (len(rows), len(rows) + 1)
    assert 2 not in run.linked.operation_at


def like_ops(*shapes: tuple[int, int]) -> Program:
    """Two matmuls of one name, in the order given."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 64, 64])
    for rows, width in shapes:
        y = program.tensor([1, 1, rows, 64])
        program.op("MatmulDeviceOperation", [y, program.weight([1, 1, 64, width])], call="ttnn.linear",
                   shape=[1, 1, rows, width], kernel_ns=9_000)  # fmt: skip
    program.op("UnaryDeviceOperation", [x], call="ttnn.relu", kernel_ns=4_000)
    return program


async def linked_pair(tmp_path, performed, remembered):
    performance = write_performance_report(tmp_path / "perf", performed)
    memory = write_memory_report(tmp_path / "memory", remembered)
    return await read_run("x", "x", performance, memory)


async def test_another_batch_is_no_link_however_well_the_names_fit(tmp_path):
    one, two = like_ops((32, 64), (32, 96)), like_ops((64, 64), (64, 96))
    run = await linked_pair(tmp_path, one, two)
    assert run.linked.link.status == "not_linked"
    assert "the names fit, the sizes do not" in run.linked.link.why
    assert run.linked.operation_at == {}


async def test_like_ops_that_changed_places_are_left_out_and_said(tmp_path):
    shapes = [(32, 64 + 32 * n) for n in range(8)]
    swapped = [shapes[1], shapes[0], *shapes[2:]]
    run = await linked_pair(tmp_path, like_ops(*shapes), like_ops(*swapped))
    assert run.linked.link.status == "linked"
    assert run.linked.link.matched == run.linked.link.of - 4  # both iterations
    assert "4 ops whose tensors have other sizes are left out, the first at line 2" in run.linked.link.why
    assert 2 not in run.linked.operation_at
    assert 4 in run.linked.operation_at


def passes(count: int) -> Program:
    program = Program("wormhole_b0")
    for _ in range(count):
        x = program.tensor([1, 1, 64, 64])
        for width in (64, 96, 128):
            x = program.op("MatmulDeviceOperation", [x, program.weight([1, 1, x.shape[-1], width])],
                           call="ttnn.linear", shape=[1, 1, 64, width], kernel_ns=9_000)  # fmt: skip
        program.op("SoftmaxDeviceOperation", [x], call="ttnn.softmax", kernel_ns=4_000)
    return program


async def test_a_database_with_more_passes_than_the_csv_links_as_far_as_they_go(tmp_path):
    performance = write_performance_report(tmp_path / "perf", passes(2), [Iteration()])
    memory = write_memory_report(tmp_path / "memory", passes(3))
    run = await read_run("x", "x", performance, memory)
    assert (run.linked.link.status, run.linked.link.matched, run.linked.link.of) == ("linked", 8, 8)
    assert len(set(run.linked.operation_at.values())) == 8


@for_all("cut", [1, 2, 3])
async def test_a_csv_with_its_tail_cut_links_what_is_left(tmp_path, cut):
    style = CsvStyle(call_counts="plain")
    rows = performance_rows(passes(1), [Iteration(), Iteration(), Iteration()], style=style)[:-cut]
    performance = write_rows(tmp_path / "perf.csv", rows, header_of(rows, "C7"))
    run = await read_run("x", "x", performance, write_memory_report(tmp_path / "memory", passes(1)))
    assert (run.linked.link.status, run.linked.link.matched) == ("linked", 12 - cut)


async def test_a_broken_pass_between_whole_ones_stays_unlinked(tmp_path):
    style = CsvStyle(call_counts="plain")
    rows = performance_rows(passes(1), [Iteration()] * 4, style=style)
    del rows[5]  # of the second pass
    performance = write_rows(tmp_path / "perf.csv", rows, header_of(rows, "C7"))
    run = await read_run("x", "x", performance, write_memory_report(tmp_path / "memory", passes(1)))
    assert run.linked.link.status == "linked"
    assert sorted(run.linked.operation_at) == [2, 3, 4, 5, *range(9, 17)]


async def test_rows_that_lost_their_call_count_are_not_linked_by_it(tmp_path):
    """The table `operation_executions` names an op by device and call count."""
    program = block()
    rows = performance_rows(program)
    rows[0]["GLOBAL CALL COUNT"] = ""
    run = await read_run("x", "x", write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7")), None)
    ops = run.performance.ops
    counts = ops.numbers("call_count")
    executions = [(7, 0, int(count)) for count in counts[1:]]
    assert by_execution(run.performance, executions) == {int(line): 7 for line in ops.lines[1:]}


async def test_a_csv_of_host_ops_alone_links_to_nothing(tmp_path):
    """The fuzz: executions that name ops and a CSV that shows none fit each other in nothing."""
    rows = performance_rows(block())
    for row in rows:
        row["OP TYPE"] = "tt_dnn_cpu"
    performance = write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))
    run = await read_run("x", "x", performance, write_memory_report(tmp_path / "memory", block()))
    assert (run.linked.link.status, run.linked.link.why) == (
        "not_linked",
        "the performance report shows no device ops",
    )


def matched(names, launched_names):
    """Report line (place + 2) -> operation (place in the names), of single letters."""
    lines = [np.array([place + 2]) for place in range(len(launched_names))]
    launches = linking._Launches([*launched_names], lines)
    return linking._matched_lines([*names], tuple(range(len(names))), launches)


@for_all(
    ("names", "launched_names", "operation_at"),
    [
        ("abc", "abc", {2: 0, 3: 1, 4: 2}),
        ("abc", "abcab", {2: 0, 3: 1, 4: 2, 5: 0, 6: 1}),  # the last pass is cut off
        ("abc", "xabc", {3: 0, 4: 1, 5: 2}),  # set-up before
        ("abc", "abcx", {2: 0, 3: 1, 4: 2}),  # the memory report ended before
        ("abc", "abcxabc", {2: 0, 3: 1, 4: 2, 6: 0, 7: 1, 8: 2}),
        ("abc", "ab", {2: 0, 3: 1}),  # the beginning of a pass
        ("abc", "ax", None),
        ("abc", "bca", None),
        ("abc", "xbcab", None),
        ("abc", "abxab", None),
        ("aa", "aaa", {3: 0, 4: 1}),  # the first is no whole pass
        ("ab", "abab", {2: 0, 3: 1, 4: 0, 5: 1}),
        ("ab", "cabab", {3: 0, 4: 1, 5: 0, 6: 1}),
        ("ab", "xx", None),
    ],
)
def test_whole_passes_are_matched_or_nothing_is(names, launched_names, operation_at):
    assert matched(names, launched_names) == operation_at


@for_all(
    ("captured", "launched_names", "said"),
    [
        ("ab", "a", "launched 2 device ops, the performance report holds 1: not the same run"),
        ("ab", "ac", "device op 2 is b in the memory report, c at line 3"),
        ("ab", "abx", "device op 3 is b in the memory report, x at line 4"),
        ("ab", "ab", "device op 3 is b in the memory report, nothing at line 0"),
    ],
)
def test_the_first_difference_is_told(captured, launched_names, said):
    lines = [np.array([place + 2]) for place in range(len(launched_names))]
    assert said in linking._first_difference([*captured], linking._Launches([*launched_names], lines))


async def test_executions_of_all_ops_are_the_link(tmp_path):
    run = await read_run("x", "x", write_performance_report(tmp_path / "perf", block()), None)
    ops = run.performance.ops
    pairs = zip(ops.numbers("device").tolist(), ops.numbers("call_count").tolist(), strict=True)
    executions = [(7, int(device), int(count)) for device, count in pairs]
    nothing = Launched((), (), ())
    exact = linked(run.performance, nothing, executions)
    assert (exact.link.method, exact.link.matched, exact.link.of) == ("operation_executions", len(ops), len(ops))
    for fewer in ((), executions[1:]):
        assert "captured no device ops" in linked(run.performance, nothing, fewer).link.why


async def test_nested_ops_are_matched_in_the_order_in_which_they_ended(tmp_path):
    run = await read_run("x", "x", write_performance_report(tmp_path / "perf", passes(1), [Iteration()]), None)
    codes = [run.performance.ops.texts("op_code")[row] for row in range(4)]
    launched = Launched((10, 11, 12, 13), (codes[3], *codes[:3]), (1, 2, 3, 0))
    found = linked(run.performance, launched)
    assert found.link.method.endswith("(order of completion)")
    assert [*found.operation_at.values()] == [11, 12, 13, 10]

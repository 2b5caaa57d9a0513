"""op_detail: one op, with everything the run knows of it, in a kilobyte and a half."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import (
    Iteration,
    Program,
    header_of,
    performance_rows,
    write_memory_report,
    write_performance_report,
    write_rows,
    write_run,
)
from tests.profiles.demo_model import demo_program
from tests.profiles.ops import binary, unary
from tests.programs import block, layered
from tests.shared_reports import MEMORY, shared
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.wire import bytes_of

CONV = 27  # a Conv2d's line in the demo program's report


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


async def test_a_matmul_s_roofline_can_be_recomputed_by_hand(at, tmp_path):
    said = await ask(at, "op_detail", run=str(write_performance_report(tmp_path, block())), op=2)
    assert (said["kernel_us"], said["cores"], said["worker_cores"]) == (20, 64, 64)
    roofline = said["roofline"]
    assert roofline["flops"] == 2 * 64 * 64 * 128
    assert roofline["dram_bytes"] == 2 * (64 * 64 + 64 * 128 + 64 * 128)
    # HiFi2 passes twice over 4096 FLOP per cycle and core, 64 cores at 1 GHz; 288 GB/s
    assert roofline["compute_us"] == pytest.approx(2 * roofline["flops"] / (4096 * 64) / 1e3, abs=0.01)
    assert roofline["dram_us"] == pytest.approx(roofline["dram_bytes"] / 288 / 1e3, abs=0.01)
    assert roofline["efficiency"] == pytest.approx(roofline["dram_bytes"] / 288 / 20_000, abs=1e-3)


async def test_operands_tell_where_they_live(at, tmp_path):
    said = await ask(at, "op_detail", run=str(write_performance_report(tmp_path, block())), op=2)
    assert [one["name"] for one in said["operands"]] == ["INPUT_0", "INPUT_1", "OUTPUT_0"]
    assert {one["placement"] for one in said["operands"]} == {"DRAM_INTERLEAVED"}


async def test_a_linked_op_names_its_call_and_the_model_s_line(at, tmp_path):
    made = write_run(tmp_path / "home", demo_program())
    await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name="both")
    said = await ask(at, "op_detail", run="both", op=CONV)
    assert said["call"]["operation"] == "ttnn.conv2d"
    assert said["call"]["file"].endswith("model.py")
    assert "conv2d" in said["call"]["text"]
    assert "Conv2d" in said["call"]["device_ops"]
    assert len(json.dumps(said, separators=(",", ":"))) <= 1536


async def test_without_a_memory_report_there_is_no_call_and_no_excuse(at, tmp_path):
    said = await ask(at, "op_detail", run=str(write_performance_report(tmp_path, block())), op=2)
    assert "call" not in said
    assert "caveat" not in said


async def test_an_operation_of_a_memory_report_alone_shows_tensors_and_arguments(at, tmp_path):
    memory = write_memory_report(tmp_path / "memory", block())
    said = await ask(at, "op_detail", run=str(memory), op=1)
    assert said["op_code"] == "ttnn.linear"
    assert [one["name"].split()[0] for one in said["operands"]] == ["in", "in", "out"]
    assert said["call"]["device_ops"] == ["Matmul"]
    with pytest.raises(QuestionRefused, match="has 1 to 5"):
        await ask(at, "op_detail", run=str(memory), op=99)


async def test_lines_that_are_no_timed_op_are_named(at, tmp_path):
    run = str(write_performance_report(tmp_path, block()))
    with pytest.raises(QuestionRefused, match="lines 2 to 11"):
        await ask(at, "op_detail", run=run, op=500)


async def test_a_long_argument_is_counted_when_left_out_and_shown_in_full_when_asked_for(tmp_path):
    at = session(tmp_path)
    detail = await ask(at, "op_detail", run="demo", op=67)
    assert detail["call"]["more_arguments"] > 0
    assert any("config" in name for name in detail["call"]["arguments"])
    assert detail["more_attributes"] > 0
    whole = await ask(at, "op_detail", run="demo", op=67, whole="sliding_window_config")
    assert next(iter(whole["attributes"])) == "sliding_window_config"
    assert not whole["attributes"]["sliding_window_config"].endswith("...")


def alone(folder, op_code="UnaryDeviceOperation", **risc_ns: int) -> str:
    """The report of one op of 100 us with these times per processor."""
    program = Program("wormhole_b0")
    operands = [program.tensor([1, 1, 512, 512]), program.weight([1, 1, 512, 512])]
    program.op(op_code, operands, shape=[1, 1, 512, 512], kernel_ns=100_000, risc_ns=risc_ns)
    return str(write_performance_report(folder, program))


async def test_the_part_that_a_kernel_waits_for_is_told_with_its_reason(at, tmp_path):
    said = await ask(at, "op_detail", run=alone(tmp_path, NCRISC=100_000, BRISC=30_000), op=2)
    # 100 - 30 us, less the 0.374 us in which the made op's cores start
    assert said["inside"] == {
        "bound": "reader",
        "why": "all other parts had ended 69.6 us before the end",
        "ended_before_us": {"writer": 69.63},
    }


async def test_where_all_ran_to_the_end_nobody_is_blamed(at, tmp_path):
    said = await ask(at, "op_detail", run=alone(tmp_path, NCRISC=99_000, BRISC=100_000), op=2)
    assert "inside" not in said


@for_all(
    ("op_code", "besides"),
    [
        ("MatmulDeviceOperation", "BRISC reads weights here too"),
        ("AllGatherAsync", "it may wait for other devices"),
    ],
)
async def test_what_else_a_busy_processor_may_do_is_said(at, tmp_path, op_code, besides):
    said = await ask(at, "op_detail", run=alone(tmp_path, op_code, NCRISC=10_000, BRISC=100_000), op=2)
    assert said["inside"]["bound"] == "writer"
    assert said["inside"]["why"].endswith(besides)


async def test_firmware_is_named_where_it_takes_longer_than_the_kernel(at, tmp_path):
    path = write_performance_report(tmp_path, block())
    lines = path.read_text().replace("\r\n", "\n").splitlines()
    place = lines[0].split(",").index("DEVICE FW DURATION [ns]")

    async def firmware(fw_ns: int) -> float | None:
        cells = lines[1].split(",")
        cells[place] = str(fw_ns)
        path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
        answer = await ask(session(tmp_path / str(fw_ns)), "op_detail", run=str(path), op=2)
        return answer.get("inside", {}).get("firmware_us")

    assert await firmware(40_001) == 20  # a kernel of 20 us
    assert await firmware(40_000) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*MEMORY, "../real/reports/resnet50_stages", "../real/reports/llama_decode"])
async def test_every_argument_of_a_real_call_can_be_read_whole(tmp_path, name):
    """However many there are and however long: the value is the database's."""
    at, path = session(tmp_path), shared(name)
    with closing(sqlite3.connect(path / "db.sqlite")) as database:
        arguments = database.execute("SELECT operation_id, name, value FROM operation_arguments").fetchall()
    long = {each[1:]: each[0] for each in arguments if len(each[2]) > 120 and not each[1].isdigit()}  # each once
    run, read = (await at.run(str(path))).id, 0
    for (argument, value), operation in long.items():
        said = await ask(at, "op_detail", run=run, op=operation, whole=argument)
        told = (said["call"].get("arguments") or {}).get(argument)
        if told is None:
            continue  # a tensor: it stands among the operands
        assert told == "".join(char if char.isprintable() else " " for char in value)[:8_000]
        read += 1
    assert read or not long


@for_all(("kernel_ns", "efficiency"), [(14_564, 1), (14_000, 1), (29_128, 0.5)])
async def test_no_op_is_said_to_do_better_than_its_bound(at, tmp_path, kernel_ns, efficiency):
    """4 MiB through 288 GB/s take 14.56 us; measured in 14 us, the peak is a little higher than specified."""
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=kernel_ns)
    said = await ask(at, "op_detail", run=str(write_performance_report(tmp_path, program)), op=2)
    assert said["roofline"]["efficiency"] == pytest.approx(efficiency, abs=1e-4)


async def test_an_op_is_judged_among_its_neighbours(at, tmp_path):
    """The second add fits neither of them, and repeats the row of the first: the profiler showed it once for both."""
    program = Program("wormhole_b0")
    for before, width, after in ((32, 64, 96), (128, 64, 160)):
        for op in (
            unary("RELU", *(program.tensor([1, 1, 32, each]) for each in (before, before)), 1_000),
            binary("ADD", *(program.tensor([1, 1, 32, width]) for _ in range(3)), 1_000),
            unary("RELU", *(program.tensor([1, 1, 32, each]) for each in (after, after)), 1_000),
        ):
            program.call("ttnn.made_up", op.inputs, op.outputs, (op,))
    path = str(write_performance_report(tmp_path, program, [Iteration()]))
    roofline = (await ask(at, "op_detail", run=path, op=6))["roofline"]
    assert "another op's operands" in roofline["why"]
    compiled = performance_rows(block(), [Iteration(), Iteration()], "tt-torch")
    prepared = [{**row, "CONST_EVAL_OP": "true"} for row in compiled[:1]]  # in no window: it has no neighbours
    rows = [*prepared, *({**row, "CONST_EVAL_OP": "false"} for row in compiled)]
    alone = str(write_rows(tmp_path / "device_ops_perf_trace.csv", rows, header_of(rows, "tt-torch")))
    first, later = [(await ask(at, "op_detail", run=alone, op=op))["roofline"] for op in (2, 3)]
    assert first["bound"] == later["bound"]


async def test_how_often_an_op_ran_is_told_from_the_second_time_on(at, tmp_path):
    program = block(devices=2)
    once = write_performance_report(tmp_path / "once", block(), [Iteration()])
    assert "repeats" not in await ask(at, "op_detail", run=str(once), op=2)
    twice = write_performance_report(tmp_path / "twice", block(), [Iteration(), Iteration()])
    (row,) = (await ask(at, "op_detail", run=str(twice), op=2))["repeats"]["rows"]
    assert row == [2, 1, 20, 20, 20]
    mesh = write_performance_report(tmp_path / "mesh", program, [Iteration()])
    (row,) = (await ask(at, "op_detail", run=str(mesh), op=2))["repeats"]["rows"]
    assert row[:2] == [2, 2]
    for column, other in (("CORE COUNT", "8"), ("MATH FIDELITY", "LoFi")):
        changed = performance_rows(block(), [Iteration()] * 3)
        first = next(row for row in changed if row["OP TYPE"] == "tt_dnn_device")
        first[column] = other
        path = str(write_rows(tmp_path / f"{other}.csv", changed, header_of(changed, "C7")))
        assert "repeats" not in await ask(at, "op_detail", run=path, op=2)  # another program than later
        rest = (await ask(at, "op_detail", run=path, op=2 + len(changed) // 3))["repeats"]["rows"]
        assert rest == [[2, 1, 20, 20, 20]]


@for_all(
    ("recorded", "op", "why"),
    [
        (block, 3, None),
        (block, 2, "no ttnn call: this op lies outside the linked pass"),
        (layered, 3, "no ttnn call: the reports are not linked (the memory report launched"),
    ],
)
async def test_why_an_op_has_no_call_is_said_where_there_is_a_memory_report(at, tmp_path, recorded, op, why):
    """The performance report begins with an op that sets the model up."""
    program = block()
    program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 64, 64])])
    program.calls.insert(0, program.calls.pop())
    performance = write_performance_report(tmp_path / "perf", program, [Iteration()])
    memory = write_memory_report(tmp_path / "memory", recorded())
    run = (await ask(at, "open_run", performance=str(performance), memory=str(memory)))["id"]
    said = await ask(at, "op_detail", run=run, op=op)
    assert ("call" in said) == (why is None)
    assert said.get("caveat", "").startswith(why or "")
    assert ("caveat" in said) == (why is not None)


async def test_a_tensor_that_the_report_lost_is_left_out_of_the_operands(at, tmp_path):
    memory = write_memory_report(tmp_path / "memory", block())
    with closing(sqlite3.connect(memory)) as database, database:
        ((tensor,),) = database.execute("SELECT tensor_id FROM output_tensors WHERE operation_id = 1")
        database.execute("DELETE FROM tensors WHERE tensor_id = ?", (tensor,))
    said = await ask(at, "op_detail", run=str(memory), op=1)
    assert [one["name"].split()[0] for one in said["operands"]] == ["in", "in"]


async def test_a_memory_report_alone_answers_about_operations(at, tmp_path):
    opened = await ask(at, "open_run", memory=str(write_memory_report(tmp_path / "memory", block())))
    assert "op_detail" in opened["answerable"]


async def test_attributes_fill_the_answer_s_1500_bytes_and_the_others_are_counted(at, tmp_path):
    attributes = {f"name_{place:02}": "v" * 40 for place in range(60)}
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 64])], attributes=attributes)
    said = await ask(at, "op_detail", run=str(write_performance_report(tmp_path, program)), op=2)
    entry = len('"name_00":"",') + 40
    assert 1_500 - entry < bytes_of(said) <= 1_500
    assert len(said["attributes"]) + said["more_attributes"] == 60

"""The ttnn call behind an op: its arguments, its line in the model, its device ops and their accuracy."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.analyses.tables import ops_of, put
from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Program, write_memory_report
from tests.profiles.model import DeviceOp
from ttnn_mcp.tools.parts.ttnn_call import attributes_of_op, call_of, operands_of_op


@pytest.fixture
def called(tmp_path):
    """The first call of a program, after some SQL changed its report."""

    async def of(program, *statements, whole=None):
        path = write_memory_report(tmp_path / "report", program)
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in statements:
                connection.execute(statement)
        return await call_of(await session(tmp_path).run(str(path)), 1, whole)

    return of


def calling(**arguments) -> Program:
    """One call from a tensor to another, with these arguments besides."""
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    program.call("ttnn.relu", (x,), (y,), (DeviceOp("UnaryDeviceOperation", (x,), (y,)),), arguments=arguments)
    return program


async def test_arguments_are_shown_up_to_ninety_characters_and_the_others_counted(called):
    """Names of five characters each."""
    call = await called(calling(first="a" * 40, other="b" * 40))
    assert call.host_ms == 1
    assert (call.arguments, call.more_arguments) == ({"first": "a" * 40, "other": "b" * 40}, 0)
    call = await called(calling(first="a" * 40, other="b" * 41))
    assert (call.arguments, call.more_arguments) == ({"first": "a" * 40}, 1)


async def test_the_first_argument_is_shown_however_long_its_name(called):
    call = await called(calling(**{"n" * 40: "v" * 60}))
    assert (call.arguments, call.more_arguments) == ({"n" * 40: "v" * 60}, 0)


async def test_a_value_of_more_than_sixty_characters_is_cut_unless_asked_for(called):
    long = f"Config(in0_block_w={'2' * 300})"
    program = calling(exact="e" * 60, program_config=long)
    assert (await called(program)).arguments == {"program_config": f"{long[:57]}..."}  # configs come first
    assert (await called(program, whole="program_config")).arguments == {"program_config": long}
    call = await called(program, whole="exact")
    assert (call.arguments, call.more_arguments) == ({"exact": "e" * 60}, 1)


@for_all(("length", "shown"), [(7_900, 7_900), (8_000, 8_000), (8_001, 7_997)])
async def test_what_is_asked_for_in_full_has_eight_thousand_characters_and_says_where_it_was_cut(
    called, length, shown
):
    arguments = (await called(calling(memory_config="m" * length), whole="memory_config")).arguments
    assert arguments == {"memory_config": "m" * shown + "..." * (shown < length)}


async def test_tensors_among_the_arguments_are_neither_shown_nor_counted(called):
    program = calling()
    x, y = program.calls[0].inputs[0], program.calls[0].outputs[0]
    program.calls[0].arguments = {"x": x, "scale": "2", "out": y}
    call = await called(program)
    assert (call.arguments, call.more_arguments) == ({"scale": "2"}, 0)


async def test_a_long_path_keeps_its_end_and_loses_what_cannot_be_printed(called):
    program = calling()
    for path, said in [
        ("/" + "m" * 159, "/" + "m" * 159),
        ("/" + "m" * 160, "..." + "m" * 160),
        ("/models/\x1b[31m\u202emodel.py", "/models/[31mmodel.py"),
    ]:
        program.calls[0].file = path
        assert (await called(program)).file == said


async def test_a_call_without_a_trace_or_its_source_is_told_without_them(called):
    call = await called(calling(), "DELETE FROM stack_traces")
    assert (call.operation, call.file, call.line, call.text) == ("ttnn.relu", None, None, None)
    bare = "UPDATE stack_traces SET stack_trace = 'File \"/m/model.py\", line 7, in forward'"
    call = await called(calling(), bare, "DELETE FROM source_files")
    assert (call.file, call.line, call.text) == ("/m/model.py", 7, None)


async def test_the_first_six_device_ops_of_a_call_are_named_in_their_order(called):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 64, 64])
    names = [f"{letter}DeviceOperation" for letter in "ABCDEFGH"]
    program.call("ttnn.all", (x,), (x,), [DeviceOp(name, (x,), (x,)) for name in names])
    assert (await called(program)).device_ops == tuple("ABCDEF")


async def test_accuracy_is_the_lowest_of_the_call_s_own_outputs_in_each_mode(called):
    program = Program("wormhole_b0")
    x, first, second, later = (program.tensor([1, 1, 64, 64]) for _ in range(4))
    program.call("ttnn.split", (x,), (first, second), (DeviceOp("SplitDeviceOperation", (x,), (first, second)),))
    program.call("ttnn.relu", (first,), (later,), (DeviceOp("UnaryDeviceOperation", (first,), (later,)),))

    def record(scope, tensor, actual):
        columns = "tensor_id, golden_tensor_id, matches, desired_pcc, actual_pcc"
        return (
            f"INSERT INTO {scope}_tensor_comparison_records ({columns}) VALUES ({tensor.id}, 0, 1, 0.9, {actual})"
        )

    local = [record("local", *one) for one in ((first, 0.97), (second, 0.99), (later, 0.91))]
    overall = [record("global", *one) for one in ((first, 0.95), (second, "NULL"))]
    call = await called(program, *local, *overall)
    assert (call.pcc_local, call.pcc_global, call.below_bound) == (0.97, 0.95, False)
    failed = f"UPDATE local_tensor_comparison_records SET matches = 0 WHERE tensor_id = {later.id}"
    assert (await called(program, *local, failed)).below_bound is False  # another call's output
    failed = f"UPDATE local_tensor_comparison_records SET matches = 0 WHERE tensor_id = {second.id}"
    assert (await called(program, *local, failed)).below_bound is True


def op_of(folder, inputs=1, dtype_of_input="BFLOAT16", **attributes):
    program = Program("wormhole_b0")
    x = [program.tensor([1, 1, 32, 32 * (place + 1)], dtype_of_input) for place in range(inputs)]
    put(program, DeviceOp("ConcatDeviceOperation", x, (program.tensor([1, 1, 32, 32]),), attributes=attributes))
    return ops_of(folder, program)


def test_five_operands_are_shown_the_output_among_them_and_the_others_counted(tmp_path):
    for inputs, shown, left in [
        (4, ["INPUT_0", "INPUT_1", "INPUT_2", "INPUT_3", "OUTPUT_0"], 0),
        (7, ["INPUT_0", "INPUT_1", "INPUT_2", "INPUT_3", "OUTPUT_0"], 3),
    ]:
        placed, more = operands_of_op(op_of(tmp_path, inputs))
        assert ([one.name for one in placed], more) == (shown, left)
        assert placed[1].bytes == 32 * 64 * 2
    (unknown, _), _ = operands_of_op(op_of(tmp_path, dtype_of_input="FP7"))
    assert unknown.bytes is None


def test_attributes_without_a_value_are_left_out_and_telling_ones_come_first(tmp_path):
    op = op_of(tmp_path, scalar=2, bias="std::nullopt", dtype="DataType::BFLOAT16", note="")
    assert list(attributes_of_op(op).items()) == [("dtype", "DataType::BFLOAT16"), ("scalar", "2")]


def test_a_value_of_more_than_180_characters_is_cut_and_one_of_8000_shown_where_asked_for(tmp_path):
    op = op_of(tmp_path, fits="f" * 180, long="l" * 181, longest="m" * 8_000, beyond="b" * 8_001)
    shown = attributes_of_op(op)
    assert shown["fits"] == "f" * 180
    assert shown["long"] == "l" * 177 + "..."
    assert attributes_of_op(op, "longest")["longest"] == "m" * 8_000
    assert next(iter(attributes_of_op(op, "longest"))) == "longest"
    assert attributes_of_op(op, "beyond")["beyond"] == "b" * 7_997 + "..."

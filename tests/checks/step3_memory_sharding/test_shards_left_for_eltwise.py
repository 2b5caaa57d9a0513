"""shards-left-for-eltwise: moves out of shards that only element-wise ops read."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.rows import put
from tests.checks.step3_programs import (
    assert_cannot_tell,
    cells,
    detour,
    linked,
    no_such_ops,
    sharded,
    timeless,
    to,
    without,
)
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.ops import matmul


def of_detour(**how):
    program = Program("wormhole_b0")
    detour(program, **how)
    return program


def test_leaving_shards_for_an_elementwise_op_is_a_detour(check):
    outcome = check.ask(of_detour())
    claim, line = outcome.claim, outcome.case.line(1)
    assert claim.at_most_ns.tolist() == [20_000]
    assert claim.claim == (
        "1 move only for element-wise ops takes a tensor out of its shards (20 us, 27.4%): "
        f"Matmul -> ShardedToInterleaved -> Binary, 2048x512 at line {line}"
    )
    assert f"drop the move at line {line}" in claim.fix
    assert ": ttnn.add(a, b, memory_config=a.memory_config(), ...) with a sharded" in claim.fix
    assert f"sharded as line {outcome.case.line(0)} writes it, b in the same shards or one that " in claim.fix
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "INPUT_0_MEMORY")]


@for_all(
    ("change", "call"),
    [
        ({"binary_op_type": "BinaryOpType::SUB"}, "ttnn.subtract(a, b, memory_config=a.memory_config(), ...) with"),
        ({"binary_op_type": "BinaryOpType::SUB", "turned": True}, "ttnn.subtract(b, a, memory_config=a.memory_"),
        ({"binary_op_type": "BinaryOpType::MUL", "scalar": 0.125}, "ttnn.multiply(a, 0.125, memory_config=a."),
        ({"binary_op_type": "BinaryOpType::DIV", "scalar": 8}, "ttnn.divide(a, 8, memory_config=a.memory_"),
        ({"binary_op_type": "BinaryOpType::GT"}, ": memory_config=a.memory_config() at line 7 with a sharded"),
        (
            {"op_chain": "{BasicUnaryWithParam<float>(op_type=UnaryOpType::RELU,param={})}"},
            "ttnn.unary_chain(a, [ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)], memory_config=a.memory_config(), ...)",
        ),
        ({"op_chain": "{op_type}"}, ": memory_config=a.memory_config() at line 7 with a sharded"),
    ],
)
def test_the_readers_own_function_is_told(check, change, call):
    program = of_detour()
    reader = program.device_ops[-1]
    reader.attributes = {**({} if "op_chain" in change else reader.attributes), **change}
    alone = not {"scalar", "op_chain"}.isdisjoint(change)
    copy, other = reader.inputs
    wide = program.tensor(other.shape, "FLOAT32")  # no copy of the shards
    reader.inputs = (wide, copy) if "turned" in change else (copy, other)[: 2 - alone]
    fix = check.ask(program).claim.fix
    assert call in fix
    assert ("b in the same shards" in fix) is not alone


def test_a_copy_that_others_read_too_is_no_detour(check):
    assert check.ask(of_detour(others=True)).status == "clean"


def test_a_copy_that_waits_for_more_than_four_ops_was_put_aside(check):
    check.pair(lambda waits: of_detour(waits=waits), silent=4, fires=3)


def test_detours_are_told_from_one_percent_on(check):
    check.share_pair(detour, 0.01, of="saving")


def test_an_add_described_by_another_adds_shapes_still_reads_what_came_before(check):
    """The profiler describes an add once per program: the small add below is written with the big one's shapes."""
    program = of_detour()
    big = program.device_ops[-1]
    small = sharded(program, [1, 1, 1024, 512], height_sharded(32, 512, (8, 4)))
    copy = to(program, small, DRAM, kernel_ns=10_000)
    program.call("ttnn.add", (copy,), big.outputs, (replace(big, kernel_ns=15_000),))
    assert sorted(check.ask(program).claim.at_most_ns.tolist()) == [10_000, 20_000]


def test_tensor_ids_know_readers_that_shapes_hide(check):
    program = Program("wormhole_b0")
    copy = detour(program)  # the add writes what looks like its copy
    put(program, matmul(copy, program.weight([1, 1, 512, 64]), program.tensor([1, 1, 2048, 64]), 20_000))
    assert check.ask(program).fires
    assert not check.ask(linked(check, program)).fires


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of_detour())


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_detour())).status == "clean"


def test_a_compiler_has_an_option_instead(check):
    fix = check.ask(of_detour(), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("keeps chains in shards")


def test_a_run_without_moves_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no op changes a placement")


@for_all("lost", ["PUT_", "_MEMORY"])
def test_without_placements_it_cannot_tell(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), "MEMORY columns")

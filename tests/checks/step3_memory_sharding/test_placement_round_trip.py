"""placement-round-trip: follows the tensor, not the order; a copy that others read is no waste."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import (
    BLOCK,
    SHAPE,
    TALL,
    TALLER,
    assert_cannot_tell,
    cells,
    detour,
    linked,
    no_such_ops,
    relu,
    sharded,
    timeless,
    to,
    without,
)
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul


def trip(program, target=TALL, *, out_ns=20_000, back_ns=30_000):
    relu(program, to(program, to(program, sharded(program), DRAM, kernel_ns=out_ns), target, kernel_ns=back_ns))


def of_trip(*args, **how):
    program = Program("wormhole_b0")
    trip(program, *args, **how)
    return program


def test_a_round_trip_into_the_same_shards_can_go_altogether(check):
    outcome = check.ask(of_trip())
    claim, first, second = outcome.claim, *(outcome.case.line(row) for row in (1, 2))
    assert claim.at_most_ns.tolist() == [20_000, 30_000]
    assert claim.claim == (
        "1 placement round trip (50 us, 77.5%): L1_HEIGHT_SHARDED -> DRAM_INTERLEAVED -> L1_HEIGHT_SHARDED, "
        f"2048x512, lines {first} and {second}"
    )
    assert claim.assumption == "the shards are the same: both ops go; no other op reads the copy"
    assert f"drop the ttnn.to_memory_config calls of lines {first} and {second}" in claim.fix
    assert f"no round-trip at line {second}" in claim.verify
    assert claim.caveat.startswith("likely, not certain")
    assert cells(outcome) == [
        (first, "DEVICE KERNEL DURATION [ns]"),
        (second, "DEVICE KERNEL DURATION [ns]"),
        (second, "OUTPUT_0_MEMORY"),
    ]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of_trip())


def test_round_trips_are_counted(check):
    program = of_trip(out_ns=10_000, back_ns=10_000)
    pass_time(program, 1_000)
    trip(program, TALLER, out_ns=30_000, back_ns=40_000)
    outcome = check.ask(program)
    assert "2 placement round trips (90 us" in outcome.claim.claim
    assert f"lines {outcome.case.line(6)} and {outcome.case.line(7)}" in outcome.claim.claim


@for_all("target", [TALLER, BLOCK], ids=["fewer cores", "another layout"])
def test_a_round_trip_into_other_shards_leaves_one_reshard(check, target):
    outcome = check.ask(of_trip(target))
    claim, first, second = outcome.claim, *(outcome.case.line(row) for row in (1, 2))
    assert claim.at_most_ns.tolist() == [20_000, 28_000]
    assert claim.assumption.startswith("the shards may differ: one reshard of 2 us replaces both")
    assert claim.fix.startswith(
        f"y = ttnn.reshard(x, cfg)  # x: the sharded tensor that line {first} reads; cfg: what"
    )
    assert f"line {second} writes (" in claim.fix


def test_the_target_is_named_as_the_report_names_it(check):
    """A move that says nothing of its memory config is described by the placement of its output."""
    program = Program("wormhole_b0")
    copy = to(program, sharded(program), DRAM)
    y = program.tensor(SHAPE, placement=BLOCK)
    relu(program, put(program, DeviceOp("InterleavedToShardedDeviceOperation", (copy,), (y,), 30_000)))
    assert "writes (L1_BLOCK_SHARDED)" in check.ask(program).claim.fix


def test_a_copy_that_another_op_reads_stays(check):
    program = Program("wormhole_b0")
    copy = to(program, sharded(program), DRAM)
    relu(program, to(program, copy, BLOCK, kernel_ns=30_000))
    relu(program, copy)
    outcome = check.ask(program)
    claim, lines = outcome.claim, [outcome.case.line(row) for row in range(5)]
    assert claim.at_most_ns.tolist() == [0, 28_000]
    assert claim.claim.endswith(f"; the copy is also read at line {lines[4]} and stays")
    assert claim.assumption == "the copy stays for its other readers; one reshard of 2 us replaces the way back"
    assert claim.fix.startswith("y = ttnn.reshard(x, cfg)")
    assert cells(outcome)[-1] == (lines[4], "INPUT_0_MEMORY")


def test_a_copy_that_is_another_ops_second_operand_is_cited_there(check):
    program = Program("wormhole_b0")
    copy = to(program, sharded(program), DRAM)
    relu(program, to(program, copy, BLOCK, kernel_ns=30_000))
    a = program.tensor([1, 1, 2048, 2048])
    put(program, matmul(a, copy, program.tensor([1, 1, 2048, 512]), 30_000))
    outcome = check.ask(program)
    assert cells(outcome)[-1] == (outcome.case.line(4), "INPUT_1_MEMORY")


def test_a_copy_that_stays_is_not_dropped_even_where_the_shards_are_the_same(check):
    program = Program("wormhole_b0")
    copy = to(program, sharded(program), DRAM)
    relu(program, to(program, copy, TALL, kernel_ns=30_000))
    relu(program, copy)
    outcome = check.ask(program)
    assert "stays" in outcome.claim.claim
    assert outcome.claim.assumption.endswith("the shards are the same, so the way back goes")
    assert outcome.claim.fix.startswith("drop the ttnn.to_memory_config call behind line")
    assert f"lines {outcome.case.line(1)} and {outcome.case.line(2)}" not in outcome.claim.fix


def test_two_ways_back_of_one_copy_are_no_other_readers(check):
    program = Program("wormhole_b0")
    copy = to(program, sharded(program), DRAM)
    relu(program, to(program, copy, TALL, kernel_ns=30_000))
    relu(program, to(program, copy, BLOCK, kernel_ns=20_000))
    outcome = check.ask(program)
    assert "also read" not in outcome.claim.claim
    assert "2 placement round trips" in outcome.claim.claim


def test_two_moves_in_a_row_on_different_tensors_are_no_round_trip(check):
    program = Program("wormhole_b0")
    whole = relu(program, program.tensor([1, 1, 4096, 512]))
    to(program, sharded(program), DRAM)
    relu(program, to(program, whole, height_sharded(64, 512, (8, 8))))
    assert check.ask(program).status == "clean"


def test_round_trips_are_told_from_a_tenth_of_a_percent_on(check):
    check.share_pair(lambda program: trip(program, out_ns=3_000, back_ns=3_000), 0.001, of="saving")


def test_a_detour_through_an_elementwise_op_is_no_round_trip(check):
    program = Program("wormhole_b0")
    detour(program)
    assert check.ask(program).status == "clean"
    trip(program)
    assert len(check.ask(program).claim.rows) == 2


def test_a_chain_is_no_round_trip(check):
    program = Program("wormhole_b0")
    relu(program, to(program, to(program, sharded(program), TALLER, kernel_ns=12_000), BLOCK, kernel_ns=30_000))
    assert check.ask(program).status == "clean"


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_trip())).status == "clean"


def test_a_compiler_has_an_option_instead(check):
    fix = check.ask(of_trip(), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("keeps chains in shards")


def test_a_run_without_moves_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no op changes a placement")


@for_all("lost", ["PUT_", "_MEMORY"])
def test_without_placements_it_cannot_tell(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), "MEMORY columns")


def test_tensor_ids_make_a_round_trip_certain(check):
    claim = check.ask(linked(check, of_trip())).claim
    assert claim.caveat is None
    assert claim.at_least_ns.tolist() == claim.at_most_ns.tolist() == [20_000, 30_000]
    assert check.ask(of_trip()).claim.at_least_ns is None


def test_one_pair_that_is_not_certain_leaves_the_doubt(check):
    """The second copy is read twice."""
    program = of_trip()
    copy = to(program, sharded(program, [1, 1, 1024, 512], height_sharded(32, 512, (8, 4))), DRAM)
    relu(program, to(program, copy, height_sharded(32, 512, (8, 4))))
    relu(program, copy)
    claim = check.ask(linked(check, program)).claim
    assert claim.caveat.startswith("likely, not certain")
    assert claim.at_least_ns[:2].tolist() == [20_000, 30_000]
    assert claim.at_least_ns[2:].sum() == 0 < claim.at_most_ns[2:].sum()


def test_tensor_ids_strike_a_pair_that_only_looks_like_one(check):
    program = Program("wormhole_b0")
    copy = to(program, sharded(program), DRAM)
    lookalike = program.tensor(SHAPE)  # same size, type and placement as the copy; the model's input
    relu(program, to(program, lookalike, TALL))
    relu(program, copy)
    assert check.ask(program).fires
    assert not check.ask(linked(check, program)).fires

"""Step 3, moves: round trips follow the tensor, not the order, and a copy that others read is no waste."""

from __future__ import annotations

import pytest

from tests.checks.rows import case_of, claims, pass_time, put, the_claim
from tests.profiles import DRAM, Program, block_sharded, height_sharded, write_run
from tests.profiles.ops import binary, interleaved_to_sharded, matmul, reshard, sharded_to_interleaved, unary
from ttnn_mcp.checks.case import Case
from ttnn_mcp.checks.check import NotApplicable
from ttnn_mcp.checks.step3_memory_sharding import placement_round_trip, reshard_chain
from ttnn_mcp.session.opening import read_run

SHAPE = [1, 1, 2048, 512]
TALL, TALLER = height_sharded(32, 512, (8, 8)), height_sharded(64, 512, (8, 4))
BLOCK = block_sharded(256, 64, (8, 8))


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def to(program, x, placement, *, kernel_ns=20_000):
    out = program.tensor(x.shape, x.dtype, placement=placement)
    move = {
        (True, True): reshard,
        (True, False): sharded_to_interleaved,
        (False, True): interleaved_to_sharded,
    }[x.placement.shard is not None, placement.shard is not None]
    return put(program, move(x, out, kernel_ns))


def relu(program, x, *, kernel_ns=5_000, placement=None):
    out = program.tensor(x.shape, x.dtype, placement=placement or x.placement)
    return put(program, unary("RELU", x, out, kernel_ns))


def sharded(program, shape=SHAPE, placement=TALL):
    return relu(program, program.tensor(shape, placement=placement))


def test_a_round_trip_into_the_same_shards_can_go_altogether(tmp_path, program):
    relu(program, to(program, to(program, sharded(program), DRAM), TALL, kernel_ns=30_000))
    claim = the_claim(placement_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [20_000, 30_000]
    assert "both ops go" in claim.assumption


@pytest.mark.parametrize("target", [TALLER, BLOCK], ids=["fewer cores", "another layout"])
def test_a_round_trip_into_other_shards_leaves_one_reshard(tmp_path, program, target):
    relu(program, to(program, to(program, sharded(program), DRAM), target, kernel_ns=30_000))
    claim = the_claim(placement_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [20_000, 28_000]
    assert "ttnn.reshard" in claim.fix


def test_a_copy_that_another_op_reads_stays(tmp_path, program):
    copy = to(program, sharded(program), DRAM)
    relu(program, to(program, copy, BLOCK, kernel_ns=30_000))
    relu(program, copy)
    case = case_of(tmp_path, program)
    claim = the_claim(placement_round_trip.CHECK, case)
    assert claim.at_most_ns.tolist() == [0, 28_000]
    assert f"also read at line {case.line(4)} and stays" in claim.claim
    assert "stays" in claim.assumption


def test_two_moves_in_a_row_on_different_tensors_are_no_round_trip(tmp_path, program):
    whole = relu(program, program.tensor([1, 1, 4096, 512]))
    to(program, sharded(program), DRAM)
    relu(program, to(program, whole, height_sharded(64, 512, (8, 8))))
    case = case_of(tmp_path, program)
    assert not list(placement_round_trip.CHECK.look(case))
    assert not list(reshard_chain.CHECK.look(case))


@pytest.mark.parametrize(("longer", "fires"), [(48_600, True), (49_000, False)])
def test_round_trips_are_told_from_a_tenth_of_a_percent_on(tmp_path, program, longer, fires):
    relu(program, to(program, to(program, sharded(program), DRAM, kernel_ns=25), TALL, kernel_ns=25))
    pass_time(program, longer - 10_050)  # 50 ns of round trip in a window of 48,600 or 49,000 + 1,450
    pass_time(program, 1_400)
    assert bool(claims(placement_round_trip.CHECK, case_of(tmp_path, program))) is fires


def detour(program, kernel_ns=20_000, *, others=False, waits=0):
    """matmul in shards -> interleaved -> add."""
    x, w = (
        program.tensor([1, 1, 2048, 256], placement=height_sharded(32, 256, (8, 8))),
        program.weight([1, 1, 256, 512]),
    )
    y = put(program, matmul(x, w, program.tensor(SHAPE, placement=TALL), 20_000))
    copy = to(program, y, DRAM, kernel_ns=kernel_ns)
    for height in range(waits):
        relu(program, program.tensor([1, 1, 32 * (height + 1), 64]))
    if others:
        put(program, matmul(copy, program.weight([1, 1, 512, 64]), program.tensor([1, 1, 2048, 64]), 20_000))
    put(program, binary("ADD", copy, program.tensor(SHAPE), program.tensor(SHAPE), 30_000))
    return copy


def test_leaving_shards_for_an_elementwise_op_is_a_detour(tmp_path, program):
    detour(program)
    claim = the_claim(placement_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [20_000]
    assert "element-wise" in claim.claim


@pytest.mark.parametrize("change", [{"others": True}, {"waits": 5}], ids=["a matmul reads it too", "put aside"])
def test_a_copy_for_more_than_the_next_elementwise_op_is_none(tmp_path, program, change):
    detour(program, **change)
    assert not claims(placement_round_trip.CHECK, case_of(tmp_path, program))


@pytest.mark.parametrize(("kernel_ns", "fires"), [(10_100, True), (9_900, False)])
def test_detours_are_told_from_one_percent_on(tmp_path, program, kernel_ns, fires):
    detour(program, kernel_ns)
    pass_time(program, 1_000_000 - 50_000 - kernel_ns)
    assert bool(claims(placement_round_trip.CHECK, case_of(tmp_path, program))) is fires


def test_an_add_described_by_another_adds_shapes_still_reads_what_came_before(tmp_path, program):
    """The profiler describes an add once per program: the small add below is written with the big one's shapes."""
    detour(program)
    big = program.device_ops[-1]
    small = sharded(program, [1, 1, 1024, 512], height_sharded(32, 512, (8, 4)))
    copy = to(program, small, DRAM, kernel_ns=10_000)
    program.call("ttnn.add", (copy,), big.outputs, (borrowing(big, 15_000),))
    claim = the_claim(placement_round_trip.CHECK, case_of(tmp_path, program))
    assert sorted(claim.at_most_ns.tolist()) == [10_000, 20_000]


def borrowing(op, kernel_ns):
    from dataclasses import replace

    return replace(op, kernel_ns=kernel_ns)


def test_moves_in_a_row_are_one_too_many(tmp_path, program):
    relu(program, to(program, to(program, sharded(program), TALLER, kernel_ns=12_000), BLOCK, kernel_ns=30_000))
    case = case_of(tmp_path, program)
    claim = the_claim(reshard_chain.CHECK, case)
    assert claim.at_most_ns.sum() == 30_000  # one stays, at the price of the cheaper
    assert not claims(placement_round_trip.CHECK, case)


def test_a_chain_whose_middle_is_read_is_none(tmp_path, program):
    middle = to(program, sharded(program), TALLER)
    relu(program, to(program, middle, BLOCK))
    relu(program, middle)
    assert not claims(reshard_chain.CHECK, case_of(tmp_path, program))


@pytest.mark.parametrize(("kernel_ns", "fires"), [(5_100, True), (4_900, False)])
def test_chains_are_told_from_half_a_percent_on(tmp_path, program, kernel_ns, fires):
    chain = to(program, to(program, sharded(program), TALLER, kernel_ns=kernel_ns), BLOCK, kernel_ns=kernel_ns)
    relu(program, chain)
    pass_time(program, 1_000_000 - 10_000 - 2 * kernel_ns)
    assert bool(claims(reshard_chain.CHECK, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize("check", [placement_round_trip.CHECK, reshard_chain.CHECK], ids=lambda check: check.id)
def test_a_run_without_moves_is_not_applicable(tmp_path, program, check):
    relu(program, relu(program, program.tensor(SHAPE)))
    (said,) = check.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


async def test_tensor_ids_know_readers_that_shapes_hide(tmp_path, program):
    copy = detour(program)  # the add writes what looks like its copy
    put(program, matmul(copy, program.weight([1, 1, 512, 64]), program.tensor([1, 1, 2048, 64]), 20_000))
    assert claims(placement_round_trip.CHECK, case_of(tmp_path, program))
    assert not claims(placement_round_trip.CHECK, await linked_case(tmp_path / "linked", program))


async def linked_case(folder, program):
    written = write_run(folder, program)
    run = await read_run("made", "made", written.performance, written.memory)
    assert run.linked.said.status == "linked", run.linked.said.why
    return Case(run, run.scope())


async def test_tensor_ids_make_a_round_trip_certain(tmp_path, program):
    relu(program, to(program, to(program, sharded(program), DRAM), TALL))
    claim = the_claim(placement_round_trip.CHECK, await linked_case(tmp_path, program))
    assert claim.caveat is None


async def test_tensor_ids_strike_a_pair_that_only_looks_like_one(tmp_path, program):
    copy = to(program, sharded(program), DRAM)
    lookalike = program.tensor(SHAPE)  # same size, type and placement as the copy; the model's input
    relu(program, to(program, lookalike, TALL))
    relu(program, copy)
    assert claims(placement_round_trip.CHECK, case_of(tmp_path, program))
    assert not claims(placement_round_trip.CHECK, await linked_case(tmp_path / "linked", program))

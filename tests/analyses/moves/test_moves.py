"""Moves: one row per change of placement, judged by who reads what."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.checks.asking import real_case
from tests.checks.rows import case_of, pass_time, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, block_sharded, height_sharded, write_memory_report
from tests.profiles.model import DeviceOp
from tests.profiles.ops import interleaved_to_sharded, layer_norm, matmul, sharded_to_interleaved, unary, untilize
from tests.shared_reports import DEEPLAB, SEGFORMER
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.analyses.moves.memory_report_moves import remembered_moves
from ttnn_mcp.analyses.moves.move_patterns import HELD_AT_MOST
from ttnn_mcp.analyses.moves.moves import moves_of
from ttnn_mcp.checks.step3_memory_sharding.placement_round_trip import look as check
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.run.ops.op_names import canonical

SHAPE = [1, 1, 2048, 512]
TALL = height_sharded(32, 512, (8, 8))


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def moves(tmp_path, program):
    case = case_of(tmp_path, program)
    return moves_of(case.ops, case.run)


def into_shards(program, x, placement=TALL):
    return put(program, interleaved_to_sharded(x, program.tensor(x.shape, x.dtype, x.layout, placement), 10_000))


def patterns(found):
    from ttnn_mcp.analyses.moves.move_patterns import PATTERNS

    return [PATTERNS[code] for code in found.patterns]


def test_the_models_input_and_output_are_boundaries(tmp_path, program):
    x = into_shards(program, program.tensor(SHAPE))
    y = put(program, unary("RELU", x, program.tensor(SHAPE, placement=TALL), 5_000))
    put(program, sharded_to_interleaved(y, program.tensor(SHAPE), 10_000))
    found = moves(tmp_path, program)
    assert patterns(found) == ["boundary", "boundary"]
    assert found.makers[0] == NOBODY
    assert (found.at_most_ns == 0).all()


def test_a_move_says_where_from_where_to_and_how_much(tmp_path, program):
    x = put(program, unary("RELU", program.tensor(SHAPE), program.tensor(SHAPE), 5_000))
    into_shards(program, x)
    found = moves(tmp_path, program)
    assert (found.kind(0), found.before(0), found.after(0)) == (
        "interleaved-to-sharded", "DRAM_INTERLEAVED", "L1_HEIGHT_SHARDED"
    )  # fmt: skip
    assert found.bytes[0] == 2048 * 512 * 2
    assert (found.makers[0], found.rows[0], found.kernel_ns[0]) == (0, 1, 10_000)


@for_all(
    ("op_code", "placements", "kind"),
    [
        ("MoveDeviceOperation", (TALL, TALL), None),
        ("CopyDeviceOperation", (DRAM, DRAM), None),
        ("CopyDeviceOperation", (L1, DRAM), "other-buffer"),
        ("CloneOperation", (TALL, DRAM), "sharded-to-interleaved"),
        ("MoveDeviceOperation", (TALL, block_sharded(256, 64, (8, 8))), "reshard"),
        ("HaloDeviceOperation", (DRAM, TALL), None),
    ],
)
def test_a_copy_is_a_move_only_where_the_placement_changes(tmp_path, program, op_code, placements, kind):
    source, target = placements
    put(
        program,
        DeviceOp(op_code, (program.tensor(SHAPE, placement=source),), (program.tensor(SHAPE, placement=target),)),
    )
    found = moves(tmp_path, program)
    assert [found.kind(index) for index in range(len(found))] == ([kind] if kind else [])


def test_a_norm_that_writes_interleaved_for_a_matmul_is_told_from_one_others_read_too(tmp_path, program):
    gamma, beta, w = (
        program.weight([1, 1, 1, 512]),
        program.weight([1, 1, 1, 512]),
        program.weight([1, 1, 512, 128]),
    )
    y = put(program, layer_norm(program.tensor(SHAPE), gamma, beta, program.tensor(SHAPE), 20_000))
    put(program, matmul(into_shards(program, y), w, program.tensor([1, 1, 2048, 128], placement=TALL), 20_000))
    found = moves(tmp_path, program)
    assert patterns(found) == ["norm-to-matmul"]
    assert found.verdict(0) == "likely"
    put(program, unary("RELU", y, program.tensor(SHAPE, placement=L1), 5_000))
    assert moves(tmp_path, program).verdict(0) == "partly"


def test_a_compacting_move_between_does_not_hide_the_conv(tmp_path, program):
    tiles = put(program, unary("RELU", program.tensor(SHAPE), program.tensor(SHAPE), 5_000))
    rows = put(program, untilize(tiles, program.tensor(SHAPE, layout="ROW_MAJOR"), 10_000))
    x = into_shards(program, rows)
    packed = put(
        program,
        DeviceOp("MoveDeviceOperation", (x, x), (program.tensor(SHAPE, layout="ROW_MAJOR", placement=TALL),)),
    )
    put(
        program,
        DeviceOp(
            "HaloDeviceOperation",
            (packed,),
            (program.tensor([1, 1, 2112, 512], layout="ROW_MAJOR", placement=TALL),),
        ),
    )
    assert patterns(moves(tmp_path, program)) == ["untilize-to-conv"]


def test_the_buffer_a_move_fills_is_nothing_it_reads(tmp_path, program):
    """Newer builds print the output a move was given as its INPUT_1."""
    first = put(
        program, unary("RELU", program.tensor(SHAPE, placement=TALL), program.tensor(SHAPE, placement=TALL), 5_000)
    )
    x = program.tensor(SHAPE)
    program.call("ttnn.to_memory_config", (x, first), (program.tensor(SHAPE, placement=TALL),), (
        DeviceOp("InterleavedToShardedDeviceOperation", (x, first), (program.tensor(SHAPE, placement=TALL),)),
    ))  # fmt: skip
    case = case_of(tmp_path, program)
    assert Joins(case.flow).reader_counts.tolist() == [0, 0]


def by_kind(name):
    case = real_case(name)
    found = moves_of(case.ops, case.run)
    shares = {}
    for index, row in enumerate(found.rows):
        op = canonical(case.names[int(row)])
        shares[op] = shares.get(op, 0.0) + found.kernel_ns[index] / case.total_ns
    return found, shares


def test_shares_of_moves_on_real_reports():
    _, deeplab = by_kind(DEEPLAB)
    assert deeplab["InterleavedToSharded"] == pytest.approx(0.0283, abs=0.0001)
    assert deeplab["ShardedToInterleaved"] == pytest.approx(0.0188, abs=0.0001)
    _, segformer = by_kind(SEGFORMER)
    assert segformer["InterleavedToSharded"] == pytest.approx(0.115, abs=0.0005)
    assert segformer["ShardedToInterleaved"] == pytest.approx(0.087, abs=0.0005)


def test_of_five_neighbours_in_deeplab_one_is_a_round_trip():
    found, _ = by_kind(DEEPLAB)
    lines = found.ops.lines[found.rows]
    names = [canonical(found.ops.texts("op_code")[int(row)]) for row in found.rows]
    neighbours = sum(
        one == "ShardedToInterleaved" and after == "InterleavedToSharded" and follows - row == 1
        for one, after, row, follows in zip(names, names[1:], found.rows, found.rows[1:], strict=False)
    )
    assert neighbours == 5
    assert lines[found.among("round-trip")].tolist() == [111, 112]
    assert found.occurrences("round-trip") == 1


def test_patterns_of_segformer():
    found, _ = by_kind(SEGFORMER)

    def figures(pattern):
        within = found.among(pattern)
        return found.occurrences(pattern), pytest.approx(found.kernel_ns[within].sum() / 1e3, abs=0.1)

    assert figures("eltwise-detour") == (24, 245.7)
    assert figures("untilize-to-conv") == (15, 409.8)
    softmax = [
        index
        for index in found.among("norm-to-matmul")
        if "Softmax" in found.ops.texts("op_code")[int(found.makers[index])]
    ]
    assert len(softmax) == 8
    assert found.kernel_ns[softmax].sum() / 1e3 == pytest.approx(116.2, abs=0.1)
    assert len(np.unique(found.rows)) == len(found) == 143


@for_all(("waits", "pattern"), [(4, "round-trip"), (5, "other")])
def test_a_tensor_that_waits_in_dram_was_put_aside_on_purpose(tmp_path, program, waits, pattern):
    x = put(
        program, unary("RELU", program.tensor(SHAPE, placement=TALL), program.tensor(SHAPE, placement=TALL), 5_000)
    )
    away = put(program, sharded_to_interleaved(x, program.tensor(SHAPE), 20_000))
    for _ in range(waits - 1):
        pass_time(program, 5_000)
    back = into_shards(program, away)
    put(program, unary("RELU", back, program.tensor(SHAPE, placement=TALL), 5_000))
    assert patterns(moves(tmp_path, program)) == [pattern] * 2


@for_all(("waits", "pattern"), [(4, "round-trip"), (5, "other")])
def test_a_memory_report_alone_puts_no_blame_on_a_spill_either(tmp_path, program, waits, pattern):
    x = program.op(
        "UnaryDeviceOperation", [program.tensor(SHAPE, placement=TALL)], call="ttnn.relu", kernel_ns=5_000
    )
    away = program.tensor(SHAPE)
    program.call("ttnn.to_memory_config", [x], [away], (sharded_to_interleaved(x, away, 20_000),))
    for _ in range(waits - 1):
        pass_time(program, 5_000)
    back = program.tensor(SHAPE, placement=TALL)
    program.call("ttnn.to_memory_config", [away], [back], (interleaved_to_sharded(away, back, 20_000),))
    program.op("UnaryDeviceOperation", [back], call="ttnn.relu", kernel_ns=5_000)
    memory = asyncio.run(read_memory_report(write_memory_report(tmp_path, program)))
    assert [move.pattern for move in remembered_moves(memory)] == [pattern] * 2


def test_a_tensor_taken_back_at_once_and_again_much_later_has_both_halves_of_its_round_trip(tmp_path, program):
    """Its way into DRAM was put aside with the late return, and the check fell over the half that was left."""
    x = put(
        program, unary("RELU", program.tensor(SHAPE, placement=TALL), program.tensor(SHAPE, placement=TALL), 5_000)
    )
    aside = put(program, sharded_to_interleaved(x, program.tensor(SHAPE), 10_000))
    put(program, unary("RELU", into_shards(program, aside), program.tensor(SHAPE, placement=TALL), 5_000))
    for height in range(HELD_AT_MOST):
        small = program.tensor([1, 1, 32 * (height + 1), 64])
        put(program, unary("RELU", small, program.tensor(small.shape), 5_000))
    put(program, unary("RELU", into_shards(program, aside), program.tensor(SHAPE, placement=TALL), 5_000))
    found = moves(tmp_path, program)
    assert patterns(found) == ["round-trip", "round-trip", "other"]
    assert found.at_most_ns[0] == 0  # the late return still reads what the first move wrote
    claims = list(check.look(case_of(tmp_path / "check", program)))
    assert [claim.rows.tolist() for claim in claims] == [[1, 2]]

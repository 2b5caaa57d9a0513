"""What a move is part of, by who made its tensor and who reads it: each term with a pair."""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from tests.analyses.tables import performance_of
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Placement, Program, block_sharded, height_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.analyses.moves.move_patterns import AVOIDABLE, NONE, PATTERNS, verdicts_of
from ttnn_mcp.analyses.moves.moves import _kinds

SHAPE = [1, 1, 256, 256]
TALL, BLOCK = height_sharded(32, 256, (8, 1)), block_sharded(64, 64, (4, 4))
CODES = {
    "in": "InterleavedToSharded", "out": "ShardedToInterleaved", "reshard": "Reshard", "relu": "Unary",
    "norm": "LayerNorm", "matmul": "Matmul", "untilize": "Untilize", "conv": "Conv2d", "halo": "Halo", "move": "Move",
    "softmax": "Softmax", "slice": "Slice", "untilize_more": "UntilizeWithUnpadding",
}  # fmt: skip
MOVES = {"in": (DRAM, TALL), "out": (TALL, DRAM), "reshard": (TALL, BLOCK)}
CONFIG = "MemoryConfig(memory_layout=TensorMemoryLayout::{};buffer_type=BufferType::L1;shard_spec={})"
SHARDS = "ShardSpec(grid={{[(x=0,y=0) - (x=7,y=0)]}};shape={{{},256}};orientation=ShardOrientation::ROW_MAJOR)"


def config(layout="HEIGHT_SHARDED", rows=32):
    return {"memory_config": CONFIG.format(layout, SHARDS.format(rows) if rows else "std::nullopt")}


@dataclass(frozen=True)
class Known(Joins):
    """Joins that are given."""

    @cached_property
    def doubtful(self):
        return np.zeros(len(self.ops), dtype=np.bool_)


def op(code, reads=None, ns=10_000, *, also=None, attributes=None, places=None):
    """`reads` is the row that made INPUT_0, `also` that of INPUT_1."""
    return SimpleNamespace(
        code=code,
        reads=reads,
        also=also,
        ns=ns,
        attributes=attributes or {},
        places=places or MOVES.get(code, (TALL, TALL)),
    )


def judged(folder, *ops, identity=None, without=""):
    """(pattern, avoidable, at most) of each move, by its row."""
    program = Program()
    for each in ops:
        x, y = (program.tensor(SHAPE, placement=where) for where in each.places)
        made = DeviceOp(f"{CODES[each.code]}DeviceOperation", (x,), (y,), each.ns, attributes=each.attributes)
        program.call("ttnn.made_up", (x,), (y,), (made,))
    table = performance_of(folder, program, without=without).ops
    makers = [
        np.array([NOBODY if row is None else row for row in rows])
        for rows in zip(*((each.reads, each.also) for each in ops), strict=True)
    ]
    joins = Known(SimpleNamespace(ops=table, producers=tuple(makers)))
    found = verdicts_of(joins, _kinds(table), identity)
    return {
        row: (PATTERNS[found.pattern[row]], AVOIDABLE[found.avoidable[row]], found.at_most_ns[row])
        for row in range(len(ops))
        if found.pattern[row] != NONE
    }


def patterns(folder, *ops, **more):
    return [pattern for pattern, _, _ in judged(folder, *ops, **more).values()]


BACK = {("out", "in"), ("in", "out")}


@for_all("first", MOVES)
@for_all("second", MOVES)
def test_a_move_that_undoes_the_one_before_is_a_round_trip_and_any_other_a_chain(tmp_path, first, second):
    found = judged(tmp_path, op("relu"), op(first, 0, 9_000), op(second, 1, 10_000), op("matmul", 2))
    if (first, second) in BACK:
        same = ("likely", 10_000.0) if first == "in" else ("partly", 8_000.0)  # a reshard may remain: 2 us
        assert found == {1: ("round-trip", "likely", 9_000.0), 2: ("round-trip", *same)}
    else:
        assert found == {1: ("chain", "likely", 9_000.0), 2: ("chain", "likely", 1_000.0)}


def test_of_three_moves_in_a_row_the_cheapest_may_remain(tmp_path):
    found = judged(
        tmp_path, op("relu"), op("in", 0, 5_000), op("reshard", 1, 9_000), op("reshard", 2, 8_000), op("relu", 3)
    )
    assert found == {
        1: ("chain", "likely", 5_000.0),
        2: ("chain", "likely", 9_000.0),
        3: ("chain", "likely", 0.0),
    }


def test_moves_are_no_chain_where_others_read_what_is_between_them(tmp_path):
    assert (
        patterns(tmp_path, op("relu"), op("in", 0), op("reshard", 1), op("relu", 1), op("relu", 2)) == ["other"] * 2
    )


def test_a_copy_that_others_read_stays(tmp_path):
    ops = op("relu"), op("out", 0, 9_000), op("in", 1), op("relu", 1), op("matmul", 2)
    assert judged(tmp_path, *ops)[1] == ("round-trip", "no", 0.0)


def test_a_copy_that_is_taken_back_twice_goes(tmp_path):
    ops = op("relu"), op("out", 0, 9_000), op("in", 1), op("in", 1), op("matmul", 2), op("matmul", 3)
    assert judged(tmp_path, *ops)[1] == ("round-trip", "likely", 9_000.0)


@for_all(
    ("began", "ends", "same"),
    [
        (config(), config(), True),
        (config(), config(rows=64), False),
        (config(), config("BLOCK_SHARDED"), False),
        (config("INTERLEAVED", 0), config("INTERLEAVED", 0), True),
        (config(rows=0), config(rows=0), False),  # reports of early 2025 leave the shards out
        ({}, {}, False),
        ({"memory_config": "none"}, {"memory_config": "none"}, False),
    ],
)
def test_a_way_back_into_the_shards_it_came_from_is_all_waste(tmp_path, began, ends, same):
    ops = op("relu", attributes=began), op("out", 0), op("in", 1, attributes=ends), op("matmul", 2)
    assert judged(tmp_path, *ops)[2] == ("round-trip", *(("likely", 10_000.0) if same else ("partly", 8_000.0)))


def test_shards_of_an_input_of_the_model_are_not_told(tmp_path):
    """The last row has the same config, and has nothing to do with it."""
    ops = op("out"), op("in", 0, attributes=config()), op("matmul", 1, attributes=config())
    assert judged(tmp_path, *ops)[1] == ("round-trip", "partly", 8_000.0)


def test_a_way_out_into_another_buffer_is_not_all_waste(tmp_path):
    ops = op("relu"), op("in", 0), op("out", 1, places=(TALL, L1)), op("matmul", 2)
    assert judged(tmp_path, *ops)[2] == ("round-trip", "partly", 8_000.0)


@for_all(("waits", "kind"), [(3, "round-trip"), (4, "other")])
def test_what_waits_in_dram_for_more_than_four_ops_was_put_aside(tmp_path, waits, kind):
    ops = op("relu"), op("out", 0), *[op("slice")] * waits, op("in", 1), op("matmul", 2 + waits)
    assert patterns(tmp_path, *ops) == [kind] * 2


@for_all(
    ("first", "second"),
    [(op("out", 0, places=(TALL, L1)), op("in", 1, places=(L1, TALL))), (op("in", 0), op("out", 1))],
)
def test_what_waits_elsewhere_was_not(tmp_path, first, second):
    ops = op("relu"), first, *[op("slice")] * 9, second, op("matmul", 11)
    assert patterns(tmp_path, *ops) == ["round-trip"] * 2


def test_what_waits_in_shards_in_dram_was_not_put_aside_and_what_is_no_copy_neither(tmp_path):
    banks = Placement("DRAM", "WIDTH_SHARDED")
    ops = op("relu"), op("in", 0, places=(DRAM, banks)), *[op("slice")] * 9, op("out", 1), op("matmul", 11)
    assert patterns(tmp_path, *ops) == ["round-trip"] * 2
    late = op("norm", places=(DRAM, DRAM)), *[op("slice")] * 9, op("in", 0), op("matmul", 10)
    assert patterns(tmp_path, *late) == ["norm-to-matmul"]


def test_a_move_that_put_a_tensor_aside_is_no_end_of_a_chain(tmp_path):
    ops = (
        op("relu"),
        op("reshard", 0),
        op("out", 1),
        op("relu", 2),
        *[op("slice")] * 5,
        op("in", 2),
        op("matmul", 9),
    )
    assert patterns(tmp_path, *ops) == ["chain", "other", "other"]


def test_a_return_long_after_another_one_is_no_second_half(tmp_path):
    ops = op("relu"), op("out", 0), op("in", 1), op("relu", 2), *[op("slice")] * 4, op("in", 1), op("relu", 8)
    found = judged(tmp_path, *ops)
    assert [found[row][0] for row in (1, 2, 8)] == ["round-trip", "round-trip", "other"]
    assert found[1] == ("round-trip", "no", 0.0)


@for_all(
    ("ops", "pattern"),
    [
        # out for element-wise ops, and in again
        ([op("relu"), op("out", 0), op("relu", 1), op("in", 2), op("relu", 3)], ["eltwise-detour"] * 2),
        ([op("out"), op("relu", 0), op("in", 1), op("relu", 2)], ["other"] * 2),
        ([op("relu"), op("reshard", 0), op("relu", 1), op("in", 2), op("relu", 3)], ["other"] * 2),
        ([op("relu"), op("out", 0), op("slice", 1), op("in", 2), op("relu", 3)], ["other"] * 2),
        ([op("relu"), op("out", 0), op("relu", 1), op("reshard", 2), op("relu", 3)], ["eltwise-detour", "other"]),
        (
            [op("relu"), op("out", 0), op("relu", 1), op("in", 2), op("relu", 2, also=3)],
            ["eltwise-detour", "other"],
        ),
        ([op("relu"), op("relu", 0), op("in", 1), op("relu", 2)], ["other"]),
        # from a norm to a matmul
        ([op("norm"), op("in", 0), op("matmul", 1)], ["norm-to-matmul"]),
        ([op("softmax"), op("in", 0), op("matmul", 1)], ["norm-to-matmul"]),
        ([op("norm"), op("reshard", 0), op("matmul", 1)], ["other"]),
        ([op("relu"), op("in", 0), op("matmul", 1)], ["other"]),
        ([op("norm"), op("in", 0), op("relu", 1)], ["other"]),
        ([op("norm"), op("move", 0), op("in", 1), op("matmul", 2)], ["norm-to-matmul"]),
        ([op("norm"), op("relu", 0), op("in", 1), op("matmul", 2)], ["other"]),
        ([op("in"), op("matmul", 0), op("norm", 1), op("move", 2)], ["boundary"]),
        # into a convolution
        ([op("untilize"), op("in", 0), op("conv", 1)], ["untilize-to-conv"]),
        ([op("untilize_more"), op("in", 0), op("halo", 1)], ["untilize-to-conv"]),
        ([op("relu"), op("in", 0), op("conv", 1)], ["conv-input"]),
        ([op("relu"), op("in", 0), op("move", 1), op("conv", 2)], ["conv-input"]),
        ([op("relu"), op("reshard", 0), op("halo", 1)], ["conv-input"]),
        ([op("untilize"), op("reshard", 0), op("conv", 1)], ["conv-input"]),
        ([op("relu"), op("out", 0), op("conv", 1)], ["other"]),
        ([op("in"), op("conv", 0)], ["boundary"]),
        ([op("untilize"), op("in", 0), op("relu", 1)], ["other"]),
        # at the ends of the model
        ([op("in"), op("relu", 0)], ["boundary"]),
        ([op("relu"), op("out", 0)], ["boundary"]),
        ([op("relu"), op("in", 0)], ["other"]),
        ([op("out"), op("slice", 0)], ["other"]),
        ([op("reshard"), op("relu", 0)], ["other"]),
        ([op("relu"), op("slice", 0)], []),
    ],
)
def test_who_made_it_and_who_reads_it_tell_what_a_move_is_for(tmp_path, ops, pattern):
    assert patterns(tmp_path, *ops) == pattern


@for_all(("waits", "avoidable"), [(3, "likely"), (4, "partly")])
def test_a_detour_that_is_read_late_was_put_aside(tmp_path, waits, avoidable):
    ops = (
        op("relu"),
        op("out", 0),
        *[op("slice")] * waits,
        op("relu", 1),
        op("in", 2 + waits),
        op("matmul", 3 + waits),
    )
    assert judged(tmp_path, *ops)[1] == ("eltwise-detour", avoidable, 10_000.0)


def test_a_norm_that_others_read_too_is_left_as_it_writes(tmp_path):
    ops = op("norm"), op("in", 0), op("matmul", 1)
    assert judged(tmp_path, *ops)[1][1] == "likely"
    assert judged(tmp_path, *ops, op("relu", 0))[1][1] == "partly"


def linked(*, passes=("t",), once=True, times=1):
    """What a memory report knows of every row."""
    return SimpleNamespace(passed_on=lambda *_: passes, read_once=lambda _: once, times_read=lambda _: times)


@for_all(
    ("identity", "found"),
    [
        (None, {1: ("round-trip", "likely", 10_000.0), 2: ("round-trip", "likely", 10_000.0)}),
        (linked(), {1: ("round-trip", "certain", 10_000.0), 2: ("round-trip", "certain", 10_000.0)}),
        (linked(once=False), {1: ("round-trip", "likely", 10_000.0), 2: ("round-trip", "likely", 10_000.0)}),
        (linked(passes=None), {1: ("round-trip", "likely", 10_000.0), 2: ("round-trip", "likely", 10_000.0)}),
        (linked(passes=()), {1: ("other", "no", 0.0), 2: ("other", "no", 0.0)}),
        (linked(times=None), {1: ("round-trip", "certain", 10_000.0), 2: ("round-trip", "certain", 10_000.0)}),
        (linked(times=2), {1: ("round-trip", "no", 0.0), 2: ("round-trip", "certain", 10_000.0)}),
    ],
)
def test_a_memory_report_proves_or_refutes_a_join(tmp_path, identity, found):
    ops = op("relu"), op("in", 0), op("out", 1), op("matmul", 2)
    assert judged(tmp_path, *ops, identity=identity) == found


def test_each_move_of_a_chain_is_as_certain_as_its_join(tmp_path):
    """The second join is of a tensor that several operations read."""
    identity = SimpleNamespace(
        passed_on=lambda maker, _: (maker,), read_once=lambda tensor: tensor == 1, times_read=lambda _: 1
    )
    ops = op("relu"), op("in", 0), op("reshard", 1), op("reshard", 2), op("matmul", 3)
    found = judged(tmp_path, *ops, identity=identity)
    assert {row: avoidable for row, (_, avoidable, _) in found.items()} == {1: "certain", 2: "certain", 3: "likely"}


def test_readers_that_only_the_memory_report_knows_are_of_no_known_kind(tmp_path):
    ops = op("norm"), op("in", 0), op("matmul", 1)
    assert patterns(tmp_path, *ops, identity=linked(passes=None, times=2)) == ["other"]


def test_moves_without_operands_or_ops_are_judged_by_their_names(tmp_path):
    ops = op("relu"), op("out", 0), op("in", 1), op("matmul", 2)
    for without in ("INPUT", "OUTPUT"):
        assert patterns(tmp_path, *ops, without=without) == ["round-trip"] * 2
    assert (
        patterns(
            tmp_path, op("relu"), op("out", 0), *[op("slice")] * 4, op("in", 1), op("relu", 6), without="OUTPUT"
        )
        == ["other"] * 2
    )


def test_no_ops_have_no_moves(tmp_path):
    table = performance_of(tmp_path, _one_relu()).ops.take(np.zeros(0, dtype=np.int64))
    joins = Known(SimpleNamespace(ops=table, producers=(np.zeros(0, dtype=np.int64),)))
    assert len(verdicts_of(joins, _kinds(table), None).pattern) == 0


def _one_relu():
    program = Program()
    program.op("UnaryDeviceOperation", [program.tensor(SHAPE)])
    return program

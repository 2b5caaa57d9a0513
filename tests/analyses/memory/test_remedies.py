"""What would have made room: whose bytes, how many, and whether they are enough."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import asked, device, memory, numbers, real, spans, tensor, tensors
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.failures import failures_of
from ttnn_mcp.analyses.memory.l1_moment import Moment, moment_of
from ttnn_mcp.analyses.memory.lifetimes import Lifetimes
from ttnn_mcp.analyses.memory.remedies import Remedy, remedies
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.shortage import Shortage
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL
from ttnn_mcp.readers.printed.memory_config import Placement, ShardSpec

BASE, TOP = 1_000, 101_000
PLACE = 4  # of the operation that failed
NO_ROOM = Shortage("no_room", "L1", 5_000)
MADE = inside(0)
TILED = 2_048

# spans: a dead one, one that waits, one that the operation reads, a weight that it reads, its own, and one in DRAM
ROWS = (
    (20_000, 1_000, MADE, None), (30_000, 2_000, MADE, None), (40_000, 4_096, MADE, None),
    (50_000, 8_192, 0, None, L1, False), (60_000, 500, inside(PLACE), None), (70_000, 3_000, MADE, None, DRAM),
)  # fmt: skip
TENSORS = (tensor(10), tensor(11), tensor(12), tensor(13, dtype="FLOAT32"), tensor(14), tensor(15))
DEAD, WAITING, READ, WEIGHT, OWN, IN_DRAM = range(6)
MADE_AND_READ = ((DEAD, 0, 2), (WAITING, 0, 6), (READ, 0, 4), (WEIGHT, -1, 4), (OWN, 4, 5), (IN_DRAM, 0, 3))
USED = ((READ, 4), (WEIGHT, 4), (DEAD, 2), (WAITING, 6))


def run(buffers=ROWS, table=TENSORS, lives=MADE_AND_READ, used=USED, *, devices=None, capacity=TOP - BASE):
    life = spans(*buffers)
    columns, places = ([numbers(*column) for column in zip(*one, strict=True)] for one in (lives, used))
    ids = numbers(*(row["id"] for row in table))
    made = Lifetimes(life, ids, *columns, tuple(places), np.ones(9, dtype=bool))
    described = (device(first_cb_address=BASE),) if devices is None else devices
    return SimpleNamespace(
        fullest=SimpleNamespace(spans=life, device=None), lifetimes=made, capacity_bytes=capacity,
        memory=memory(tensors=tensors(*table), devices=described),
    )  # fmt: skip


def told(shortage=NO_ROOM, name="ttnn.matmul", arguments="", *, at=None, **more):
    """The measures by name, the most useful first; or the one asked for."""
    made = run(**more)
    moment = Moment(PLACE, numbers(*range(len(made.fullest.spans))), (), None)
    listed = remedies(made, moment, shortage, name=name, arguments=arguments)
    found = {one.measure: one for one in listed}
    assert len(found) == len(listed)
    return found if at is None else found.get(at)


def test_tensors_that_nothing_reads_later_may_be_freed():
    assert told(at="deallocate") == Remedy("deallocate", 1_000, False, (10,), True)


@for_all(
    "life",
    [
        (DEAD, 0, 4),  # the operation itself reads it
        (DEAD, 0, 5),
        (DEAD, 0, -1),  # it may be an output
        (DEAD, 4, 2),  # a view of it is made now
    ],
)
def test_others_may_not(life):
    assert told(at="deallocate", lives=(life, *MADE_AND_READ[1:])) is None


def test_nor_what_the_operation_reads_itself():
    assert told(at="deallocate", used=((DEAD, 4), *USED)) is None


def test_nor_a_weight():
    lives = ((DEAD, -1, 2), *MADE_AND_READ[1:])
    weight = ((20_000, 1_000, 0, None, L1, False), *ROWS[1:])
    assert told(at="deallocate", lives=lives) is not None
    found = told(lives=lives, buffers=weight)
    assert "deallocate" not in found
    assert found["move_to_dram"].tensors == (13, 11, 10)


def test_tensors_that_wait_and_weights_may_be_in_dram():
    assert told(at="move_to_dram") == Remedy("move_to_dram", 2_000 + 8_192, False, (13, 11), True)


def test_what_the_operation_reads_may_be_narrower():
    assert told(at="narrower_dtype") == Remedy("narrower_dtype", 4_096 - 2 * 1_088 + 4_096, False, (12, 13))


@for_all(
    "row",
    [
        tensor(12, layout="ROW_MAJOR"),
        tensor(12, dtype="BFLOAT8_B"),
        tensor(12, dtype=None),
        tensor(12, dtype="UINT32"),
    ],
)
def test_unless_it_is_as_narrow_as_can_be_or_in_no_tiles(row):
    table = (*TENSORS[:2], row, *TENSORS[3:])
    assert told(at="narrower_dtype", table=table) == Remedy("narrower_dtype", 4_096, False, (13,))


def test_a_tensor_without_a_name_is_no_one_s_and_its_bytes_count():
    lives = ((-1, 0, 2), *MADE_AND_READ[1:2], (-1, 0, 4), *MADE_AND_READ[3:])
    found = told(lives=lives)
    assert found["narrower_dtype"].tensors == (13,)
    assert found["move_to_dram"].tensors == (13, 11)
    assert found["move_to_dram"].bytes_per_bank == 2_000 + 8_192 + 1_000  # nobody reads it, so nobody frees it


def test_the_most_useful_come_first_and_useless_ones_not_at_all():
    listed = [*told(Shortage("no_room", "L1", 51_000))]
    assert listed == ["reallocate", "move_to_dram", "narrower_dtype", "deallocate"]
    assert "smaller_blocks" not in listed  # the allocator says nothing of blocks


@for_all(("asked_bytes", "enough"), [(TOP - 60_500, True), (TOP - 60_500 + 1, False)])
def test_freed_alone_they_are_enough_if_the_room_is_in_one_piece(asked_bytes, enough):
    assert told(Shortage("no_room", "L1", asked_bytes), at="deallocate").enough is enough


def test_together_with_a_neighbour_s_room_they_are():
    rows = ((BASE, 500, MADE, None), *ROWS[1:4], (60_000, 41_000, inside(PLACE), None), ROWS[5])
    for size, enough in ((29_000, True), (29_001, False)):  # from the base to the tensor at 30,000
        assert told(Shortage("no_room", "L1", size), at="deallocate", buffers=rows).enough is enough


def made_of(rows):
    """The bytes of all holes above the lowest tensor, in L1."""
    taken = sorted((at, size) for at, size, _, _, *more in rows if not more or more[0] == L1)
    ends = [at + size for at, size in taken]
    return sum(max(at - end, 0) for end, (at, _) in zip(ends, taken[1:], strict=False)) + max(TOP - ends[-1], 0)


def test_where_the_bounds_of_l1_are_unknown_nobody_says_enough():
    found = told(capacity=None)
    assert found["deallocate"].enough is None
    assert "reallocate" not in found


CLASH = Shortage("clash", "L1", 35_000, 20_000)


def test_a_clash_ends_where_no_tensor_lies_below_what_the_buffers_reach():
    assert told(CLASH, at="deallocate").enough is False  # the one at 30,000 stays
    assert told(Shortage("clash", "L1", 30_000, 20_000), at="deallocate").enough is True
    assert told(CLASH, at="move_to_dram").enough is False
    both = told(CLASH, at="move_to_dram", lives=((DEAD, 0, 6), *MADE_AND_READ[1:]))
    assert (both.tensors, both.enough) == ((13, 11, 10), True)
    in_dram = (*ROWS[:5], (2_000, 3_000, MADE, None, DRAM))
    assert told(Shortage("clash", "L1", 30_000, 20_000), at="deallocate", buffers=in_dram).enough is True


def test_room_in_other_places_helps_a_clash_only_above_the_tensors():
    holes = made_of(ROWS)
    assert told(Shortage("clash", "L1", 20_000 + holes, 20_000), at="reallocate") == Remedy(
        "reallocate", holes, True, (), True
    )
    assert told(Shortage("clash", "L1", 20_001 + holes, 20_000), at="reallocate").enough is False
    assert told(Shortage("clash", "L1", 20_000), at="reallocate").enough is True  # it does not say how much
    below = 20_000 - BASE
    assert told(Shortage("no_room", "L1", below + holes), at="reallocate").enough is True
    assert told(Shortage("no_room", "L1", below + holes + 1), at="reallocate").enough is False
    grown = told(Shortage("no_room", "L1", below + holes, largest_free_bytes=below), at="reallocate")
    assert grown.bytes_per_bank == holes  # what the largest block gains, as little as is short of it


@for_all("name", ["ttnn.conv2d", "ttnn.max_pool2d", "ttnn.upsample"])
def test_what_makes_halos_can_move_them(name):
    found = told(name=name)
    assert "reallocate_halo_output" in found
    assert "reallocate" not in found


def test_what_the_operation_makes_is_placed_anew_above_the_buffers():
    """Its output lies low only because the tensors to be freed lie above."""
    low = (*ROWS[:4], (12_000, 500, inside(PLACE), None), ROWS[5])
    clash = Shortage("clash", "L1", 30_000, 12_000)
    assert told(clash, at="deallocate", buffers=low).enough is True
    for size, enough in ((TOP - 58_192, True), (TOP - 58_192 + 1, False)):  # the largest piece above the weight
        large = (*ROWS[:4], (12_000, size, inside(PLACE), None), ROWS[5])
        assert told(clash, at="deallocate", buffers=large).enough is enough
    assert told(clash, at="deallocate", buffers=low, capacity=None).enough is False


BEYOND = Shortage("beyond_l1", "L1", BASE + 2_000, 1_500)


def test_buffers_of_programs_that_need_more_than_a_core_need_smaller_blocks():
    assert told(BEYOND) == {"smaller_blocks": Remedy("smaller_blocks", 1_000, True)}
    assert told(BEYOND, devices=()) == {"smaller_blocks": Remedy("smaller_blocks", (BASE + 2_000) // 2, True)}
    assert told(CLASH, at="smaller_blocks") == Remedy("smaller_blocks", (35_000 - BASE) // 2, True)
    unknown = (device(first_cb_address=None),)
    assert told(BEYOND, at="smaller_blocks", devices=unknown).bytes_per_bank == (BASE + 2_000) // 2


def test_a_conv_has_blocks_and_slices_of_its_own():
    own = 4_096 + 8_192 + 500
    assert told(BEYOND, "ttnn.CONV2D") == {
        "dram_slicing": Remedy("dram_slicing", (own + 2_000) // 2, True),
        "smaller_act_block_h": Remedy("smaller_act_block_h", 1_000, True),
    }
    assert told(NO_ROOM, "ttnn.conv2d", at="dram_slicing").bytes_per_bank == (own + 5_000) // 2
    assert told(CLASH, "ttnn.conv2d", at="dram_slicing").bytes_per_bank == (own + 34_000) // 2


@for_all(("height", "smaller"), [("32", False), ("320", True), ("64", True)])
def test_the_smallest_block_cannot_be_smaller(height, smaller):
    found = told(BEYOND, "ttnn.conv2d", f"Conv2dConfig(act_block_h_override={height})")
    assert ("smaller_act_block_h" in found) == smaller


def test_nor_can_that_of_a_conv_that_was_built_with_one_tile():
    moment = Moment(PLACE, numbers(), (), None, printed="Conv2dBlockConfig(1, 9, 1, 2, ")
    assert "smaller_act_block_h" not in {
        one.measure for one in remedies(run(), moment, BEYOND, name="ttnn.conv2d", arguments="")
    }
    taller = replace(moment, printed="Conv2dBlockConfig(10, 9, 1, 2, ")
    assert "smaller_act_block_h" in {
        one.measure for one in remedies(run(), taller, BEYOND, name="ttnn.conv2d", arguments="")
    }


@for_all(
    ("layout", "height", "smaller"),
    [
        ("HEIGHT_SHARDED", 32, False),
        ("HEIGHT_SHARDED", 40, True),  # rows that are in no tiles
        ("HEIGHT_SHARDED", 64, True),
        ("BLOCK_SHARDED", 32, False),
        ("WIDTH_SHARDED", 32, True),
    ],
)
def test_nor_where_a_core_holds_one_tile_of_rows(layout, height, smaller):
    shard = Placement(layout, "L1", ShardSpec(shape=(height, 64)))
    table = (*TENSORS[:2], tensor(12, placement=shard), *TENSORS[3:])
    assert ("smaller_act_block_h" in told(BEYOND, "ttnn.conv2d", table=table)) == smaller


@for_all(
    "placement",
    [None, Placement("HEIGHT_SHARDED", "L1"), Placement("HEIGHT_SHARDED", "L1", ShardSpec(shape=None))],
)
def test_where_the_rows_of_a_core_are_not_told_a_smaller_block_is_worth_a_trial(placement):
    table = (*TENSORS[:2], tensor(12, placement=placement), *TENSORS[3:])
    assert "smaller_act_block_h" in told(BEYOND, "ttnn.conv2d", table=table)


@for_all("name", ["ttnn.add", "ttnn.concat", "ttnn.layer_norm"])
def test_an_operation_without_blocks_in_its_config_is_not_told_to_make_them_smaller(name):
    assert told(BEYOND, name) == {}


def test_a_halo_that_is_moved_already_cannot_be_moved_again():
    assert "reallocate_halo_output" not in told(name="ttnn.conv2d", arguments="reallocate_halo_output=true")
    assert "reallocate_halo_output" in told(name="ttnn.conv2d", arguments="reallocate_halo_output=false")


def test_in_dram_tensors_may_be_freed_or_narrower_and_nothing_else():
    found = told(Shortage("no_room", "DRAM", 5_000))
    assert found == {
        "deallocate": Remedy("deallocate", 3_000, False, (15,), None),
        "narrower_dtype": Remedy("narrower_dtype", 3_000 - 3_000 * 1_088 // 2_048, False, (15,)),
    }


def test_what_waits_in_dram_is_there_already():
    lives = (*MADE_AND_READ[:5], (IN_DRAM, 0, 6))
    assert [*told(Shortage("no_room", "DRAM", 5_000), lives=lives)] == ["narrower_dtype"]


def test_l1_small_can_be_reserved_larger():
    small = Shortage("no_room", "L1_SMALL", 128, 100, 30)
    rows = (*ROWS[:5], (70_000, 3_000, MADE, None, L1_SMALL))
    assert told(small) == {"larger_l1_small": Remedy("larger_l1_small", 98, False, (), True)}
    assert told(Shortage("no_room", "L1_SMALL", 128))["larger_l1_small"].bytes_per_bank == 128
    assert [*told(small, buffers=rows)] == ["larger_l1_small", "deallocate", "narrower_dtype"]


def test_a_memory_of_an_unknown_name_is_taken_as_l1():
    assert told(Shortage("no_room", "STRANGE", 5_000), at="move_to_dram").tensors == (13, 11)


def test_a_tensor_that_came_with_the_operation_is_its_own():
    rows = (*ROWS[:4], (60_000, 500, before(PLACE), None), ROWS[5])
    assert told(at="move_to_dram", buffers=rows).tensors == (13, 11, 14)


def test_of_the_real_run_out_of_l1_the_tensors_it_held_are_named():
    """Real: `out_of_l1` holds 983,040 bytes per bank and lacks 196,608 in one piece; each measure's bytes are tensors'."""
    folder = real("out_of_l1")
    replay = asyncio.run(replay_of(asyncio.run(opened(folder / "db.sqlite"))))
    (failure,) = failures_of(replay)
    moment = asyncio.run(moment_of(replay, failure.place))
    listed = remedies(replay, moment, failure.shortage, name=failure.name, arguments="")
    sizes = dict(
        asked(
            folder,
            "SELECT t.tensor_id, max(b.max_size_per_bank) FROM tensors t JOIN buffers b USING (address)"
            " WHERE b.buffer_type = 1 GROUP BY 1",
        )
    )
    named = [
        one for one in listed if one.measure in {"deallocate", "move_to_dram"} and set(one.tensors) <= set(sizes)
    ]
    assert all(sum(sizes[number] for number in one.tensors) == one.bytes_per_bank for one in named)
    assert listed
    assert failure.shortage.short_bytes == 393_216 - 196_608

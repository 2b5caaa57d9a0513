"""Matmuls for which TTNN chooses the program, against what dry captures of 0.81.1 showed on a mock Wormhole.

Before 0.78 no graph names the factory: the choice must be right without its name, too.
"""

from dataclasses import replace

from tests.analyses.from_graph.programs import BANK, KERNEL, modelled, sharded, tensor
from tests.for_all import for_all

NAME = "MatmulDeviceOperation"
PRINTED = "MatmulParams(<variant>, 1, {}, 0, {}, std::nullopt, 0, {}, {}, Tile(tile_shape={{32, 32}}))"
ONE, TWO, MANY, TILES = (
    f"MatmulMultiCore{kind}ProgramFactory" for kind in ("ReuseMcast1D", "ReuseMcast2D", "ReuseOptimized", "")
)


def told(inputs, out, factory, *, grid=None, kernel=(0, 1), turned=(0, 0), room=BANK):
    """What we tell with the factory's name, and without."""
    asked = {"core_grid": f"ttnn.CoreGrid(x={grid[0]}, y={grid[1]})"} if grid else {}
    attributes = PRINTED.format(KERNEL.format(*kernel), "<xy_pair>" if grid else "std::nullopt", *turned)
    return {
        modelled(NAME, inputs, out, factory=name, attributes=attributes, room=room, **asked)
        for name in (factory, "")
    }


def held(*shape, layout, shard, cores, **how):
    return sharded(*shape, layout=layout, shard=shard, cores=cores, **how)


L1 = {"place": "L1"}
CHOSEN = [  # operands, output, factory, what else was asked, measured
    (
        [tensor(1, 1, 64, 64, **L1), tensor(1, 1, 64, 32, dtype="b8", **L1)],
        tensor(1, 1, 64, 32, dtype="f32", **L1),
        (TILES, {"kernel": (1, 0), "room": 128_608}, 14_464),
    ),
    (
        [tensor(1, 1, 32, 96, **L1), tensor(96, 320, **L1)],
        tensor(1, 1, 32, 320, **L1),
        (TILES, {}, 12_288),
    ),
    (
        [tensor(1, 1, 3072, 32), tensor(1, 1, 32, 256)],
        tensor(1, 1, 3072, 256, dtype="b8", **L1),
        (TILES, {"kernel": (1, 1), "room": 131_744}, 10_368),
    ),
    (
        [tensor(1, 1, 3072, 256), tensor(256, 256)],
        tensor(1, 1, 3072, 256, **L1),
        (ONE, {"room": 131_744}, 65_536),
    ),
    (
        [tensor(1, 8, 96, 32, **L1), tensor(1, 1, 32, 32, **L1)],
        tensor(1, 8, 96, 32, dtype="f32", **L1),
        (ONE, {"kernel": (1, 0), "room": 127_648}, 10_240),
    ),
    (
        [tensor(1, 8, 32, 96, **L1), tensor(1, 8, 32, 3072, **L1)],
        tensor(1, 8, 96, 3072, dtype="b8", **L1),
        (ONE, {"kernel": (1, 1), "turned": (1, 0), "grid": (8, 8), "room": 1_333_920}, 63_872),
    ),
    (
        [tensor(1, 1, 1056, 128), tensor(128, 128)],
        tensor(1, 1, 1056, 128, **L1),
        (TILES, {"room": 336_544}, 12_288),
    ),
    (
        [tensor(1, 1, 256, 128), tensor(128, 1152)],
        tensor(1, 1, 256, 1152, **L1),
        (TILES, {"room": 336_544}, 12_288),
    ),
    ([tensor(1, 1, 256, 32), tensor(32, 256)], tensor(1, 1, 256, 256), (ONE, {"grid": (8, 8)}, 34_816)),
    ([tensor(1, 2, 3072, 32, **L1), tensor(1, 2, 32, 64, **L1)], tensor(1, 2, 3072, 64, **L1), (ONE, {}, 24_576)),
    ([tensor(1, 1, 512, 160), tensor(160, 512)], tensor(1, 1, 512, 512), (TWO, {"grid": (8, 4)}, 40_960)),
    ([tensor(1, 1, 2048, 768), tensor(768, 2048)], tensor(1, 1, 2048, 2048), (TWO, {"room": 49_824}, 24_576)),
    (
        [tensor(1, 8, 2048, 512), tensor(1, 8, 512, 2048)],
        tensor(1, 8, 2048, 2048),
        (TWO, {"grid": (8, 8), "room": 336_544}, 196_608),
    ),
]
ON_SHARDS = [  # of an operand, or of the output
    (
        [held(1, 8, 64, 256, layout="BLOCK", shard=(64, 256), cores=(1, 8)), tensor(256, 768)],
        tensor(1, 8, 64, 768, **L1),
        (TWO, {"room": 1_327_776}, 524_288),
    ),
    (
        [tensor(1, 1, 1024, 256), held(256, 1024, layout="WIDTH", shard=(256, 128), cores=(8, 1), buffer="DRAM")],
        tensor(1, 1, 1024, 1024),
        (TWO, {}, 786_432),
    ),
    (
        [tensor(1, 1, 224, 96, dtype="b8"), tensor(1, 1, 96, 224, dtype="b8")],
        held(1, 1, 224, 224, layout="BLOCK", shard=(224, 224), cores=(1, 1), dtype="b8"),
        (TWO, {}, 130_816),
    ),
    (
        [tensor(1, 1, 384, 96), tensor(96, 32)],
        held(1, 1, 384, 32, layout="BLOCK", shard=(384, 32), cores=(1, 1)),
        (TWO, {}, 53_248),
    ),
    (
        [tensor(1, 2, 224, 64, dtype="f32"), tensor(1, 1, 64, 96, dtype="b4", **L1)],
        held(1, 2, 224, 96, layout="BLOCK", shard=(224, 96), cores=(1, 2), dtype="b8"),
        (TWO, {"kernel": (0, 0), "room": 1_359_968}, 60_800),
    ),
    (
        [tensor(1, 1, 512, 224, dtype="b8", **L1), tensor(1, 1, 224, 1536, dtype="b4")],
        held(1, 1, 512, 1536, layout="HEIGHT", shard=(32, 1536), cores=(8, 2), dtype="b8"),
        (ONE, {"room": 129_568}, 78_976),
    ),
    (
        [tensor(1, 1, 1056, 256, dtype="f32", **L1), tensor(1, 1, 32, 256)],
        held(1, 1, 1056, 32, layout="WIDTH", shard=(1056, 32), cores=(1, 1), dtype="b8"),
        (ONE, {"turned": (0, 1), "room": 111_264}, 63_488),
    ),
    (
        [held(1, 8, 32, 64, layout="HEIGHT", shard=(32, 64), cores=(8, 1), dtype="f32"), tensor(64, 3072, **L1)],
        tensor(1, 8, 32, 3072, dtype="f32"),
        (ONE, {"kernel": (1, 0), "room": 322_208}, 131_072),
    ),
    (
        [held(1, 8, 256, 32, layout="HEIGHT", shard=(32, 32), cores=(8, 8)), tensor(1, 1, 32, 384, dtype="b4")],
        held(1, 8, 256, 384, layout="HEIGHT", shard=(32, 384), cores=(8, 8), dtype="b8"),
        (ONE, {"room": 334_496}, 6912),
    ),
]
WIDE = [held(1, 1, 64, 2048, layout="WIDTH", shard=(64, 256), cores=(8, 1)), tensor(1, 1, 2048, 512, dtype="b8")]
TURNED = [  # shape of the first operand as it lies, of the second, dtype of the second, what else, measured
    ((1, 8, 1024, 32), (1, 1, 1024, 768), ("b8", "bf"), {"kernel": (0, 0), "room": 336_544}, 22_784),
    ((1, 1, 1024, 224), (1, 1, 1024, 256), ("b8", "b8"), {"grid": (8, 8), "room": 746_144}, 44_608),
    ((1, 2, 1536, 384), (1, 1, 1536, 1056), ("b4", "bf"), {"kernel": (1, 1), "room": 746_144}, 148_224),
]


@for_all(("inputs", "out", "case"), CHOSEN + ON_SHARDS)
def test_the_choice_is_that_of_ttnn_whether_or_not_the_factory_is_named(inputs, out, case):
    factory, asked, measured = case
    assert told(inputs, out, factory, **asked) == {measured}


@for_all("grid", [(8, 8), None])
def test_shards_of_the_first_operand_decide_and_no_grid_of_the_call(grid):
    inputs, out = [*WIDE, tensor(1, 1, 1, 512)], tensor(1, 1, 64, 512, dtype="b8")
    assert told(inputs, out, ONE, grid=grid, kernel=(1, 1), room=713_376) == {125_184}


@for_all(("a", "b", "dtypes", "asked", "measured"), TURNED)
def test_a_first_operand_that_is_turned_lies_there_once_more(a, b, dtypes, asked, measured):
    x, y = tensor(*a, dtype="b8" if a[1] == 2 else "bf"), tensor(*b, dtype=dtypes[0])
    out = tensor(1, a[1], a[-1], b[-1], dtype=dtypes[1])
    assert told([x, y], out, "", turned=(1, 0), **asked) == {measured}


def test_a_turned_operand_counts_twice_in_what_is_thought_to_fit():
    a, b = tensor(1, 2, 128, 1024), tensor(1, 1, 128, 768)
    assert told([a, b], tensor(1, 2, 1024, 768, **L1), TWO, turned=(1, 0)) == {327_680}


@for_all(
    ("a", "b", "measured"),
    [
        (tensor(1, 3, 1024, 32, **L1), tensor(1, 1, 32, 32, dtype="b8"), 7232),
        (tensor(1, 8, 3072, 64), tensor(1, 1, 64, 32, dtype="b4"), 21_632),
        (tensor(1, 8, 768, 32, dtype="f32"), tensor(1, 1, 32, 128), 24_576),
    ],
)
def test_one_block_of_the_second_operand_serves_all_batches(a, b, measured):
    out = tensor(*a.shape[:-1], b.shape[-1], **(L1 if a.dtype == "FLOAT32" else {}))
    assert told([a, b], out, ONE, kernel=(0, int(a.dtype == "BFLOAT16"))) == {measured}


TALL = held(1, 1, 8192, 192, layout="HEIGHT", shard=(1024, 192), cores=(4, 2))
BATCHES = held(1, 8, 128, 128, layout="HEIGHT", shard=(32, 128), cores=(8, 4))
CUT = held(1, 1, 1120, 128, layout="HEIGHT", shard=(32, 128), cores=(7, 5))


@for_all(
    ("inputs", "out", "factory", "room"),
    [
        ([TALL, tensor(192, 384)], tensor(1, 1, 8192, 384), ONE, 967_328),  # 573,440: a shard is read in parts
        ([BATCHES, tensor(1, 8, 128, 128)], tensor(1, 8, 128, 128), MANY, 1_352_352),  # 73,728
        (
            [CUT, tensor(1, 1, 128, 1024)],  # 81,920: a shard of the output is made in parts
            held(1, 1, 1120, 1024, layout="HEIGHT", shard=(32, 1024), cores=(7, 5)),
            ONE,
            328_352,
        ),
        (
            [tensor(1, 1, 512, 1024), held(1024, 128, layout="WIDTH", shard=(1024, 32), cores=(4, 1))],
            tensor(1, 1, 512, 128),
            TWO,
            1_295_008,
        ),
    ],
)
def test_what_takes_more_than_we_know_is_not_told(inputs, out, factory, room):
    assert told(inputs, out, factory, room=room) == {None}


@for_all("lost", [0, 1, 2])
def test_nothing_is_chosen_for_tensors_whose_place_nobody_prints(lost):
    specs = [tensor(1, 1, 512, 160), tensor(160, 512), tensor(1, 1, 512, 512)]
    specs[lost] = replace(specs[lost], placement=None)
    assert told(specs[:2], specs[2], TWO) == {None}


def test_shards_that_are_not_of_rows_and_columns_are_not_told():
    unshaped = replace(CUT, placement=replace(CUT.placement, shard=None))
    assert told([unshaped, tensor(1, 1, 128, 1024)], tensor(1, 1, 1120, 1024), ONE) == {None}
    out = replace(unshaped, placement=replace(unshaped.placement, layout="BLOCK_SHARDED"))
    assert told([tensor(1, 1, 1120, 128), tensor(1, 1, 128, 128)], out, TWO) == {None}

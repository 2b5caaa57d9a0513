"""Group norms, and norms that chips share, against what dry captures of TTNN 0.81.1 showed on mock devices."""

from tests.analyses.from_graph.programs import KERNEL, modelled, sharded, tensor
from tests.for_all import for_all

SHARDED, MCAST = (f"GroupNorm{kind}ProgramFactory" for kind in ("Sharded", "Mcast"))
PLAIN = "GroupNormParams(1e-05, {}, MC, <variant>, {}, 0, 0)"


def norm(x, groups, width, *, factory, weights=2, attributes=PLAIN, kernel=(0, 0), **asked):
    """A group norm with a mask of so many columns of tiles, and weights in rows."""
    mask = tensor(1, groups, 32, 32 * width, dtype="b8")
    inputs = [x, *[tensor(1, 1, 10, 32, rows=True)] * weights, mask]
    told = attributes.format(groups, KERNEL.format(*kernel))
    return modelled("GroupNormDeviceOperation", inputs, x, factory=factory, attributes=told, **asked)


SHARDS = [  # shape, layout, shard, cores, groups, columns of the mask, weights, rows, measured
    ((1, 1, 1024, 640), "BLOCK", (128, 160), (4, 8), 32, 2, 2, True, 139_520),
    ((1, 1, 2048, 256), "HEIGHT", (32, 256), (8, 8), 32, 1, 2, True, 86_144),
    ((1, 1, 1024, 512), "BLOCK", (256, 128), (4, 4), 32, 1, 2, False, 116_864),
    ((2, 1, 1024, 256), "BLOCK", (256, 64), (4, 8), 8, 1, 0, True, 100_480),
    ((4, 1, 256, 256), "BLOCK", (512, 64), (4, 2), 32, 1, 2, False, 108_672),
]


@for_all("case", SHARDS)
def test_in_shards_a_norm_copies_them(case):
    shape, layout, shard, cores, groups, width, weights, rows, measured = case
    x = sharded(*shape, layout=layout, shard=shard, cores=cores, rows=rows)
    assert norm(x, groups, width, factory=SHARDED, weights=weights) == measured


SINGLE = tensor(1, 1, 1024, 64), 1, 2


def test_a_single_group_is_told_from_its_weights():
    x, groups, width = SINGLE
    for blocks in ("1", "0"):
        found = norm(x, groups, width, factory=MCAST, core_grid="ttnn.CoreGrid(x=1, y=8)", num_out_blocks=blocks)
        assert found == 145_664


SPREAD = [  # shape, groups, columns of the mask, grid, blocks, measured
    ((1, 1, 1024, 320), 32, 2, (4, 2), {"num_out_blocks": "2"}, 157_952),
    ((2, 1, 1024, 640), 32, 2, (4, 4), {}, 502_016),
    ((1, 1, 4096, 320), 32, 2, (8, 8), {"num_out_blocks": "-1"}, 157_952),
    ((16, 1, 256, 128), 32, 1, (4, 4), {"num_out_blocks": "None"}, 139_392),
]


@for_all("case", SPREAD)
def test_interleaved_a_norm_follows_its_grid(case):
    shape, groups, width, grid, blocks, measured = case
    cores = f"ttnn.CoreGrid(x={grid[0]}, y={grid[1]})"
    assert norm(tensor(*shape), groups, width, factory=MCAST, core_grid=cores, **blocks) == measured
    assert norm(tensor(*shape), groups, width, factory=MCAST) is None  # nobody prints its grid


WELFORD = PLAIN.replace("0, 0)", "1, 0)")
ALIKE = [  # shape, data type, columns of the mask, grid, blocks, weights; measured plainly, and by Welford's algorithm
    ((1, 1, 1024, 640), "bf", 2, (4, 4), 1, 2, 272_640, 279_552),
    ((2, 1, 4096, 320), "bf", 2, (4, 4), 4, 2, 272_640, 591_872),
    ((1, 1, 16384, 128), "bf", 1, (4, 8), 16, 2, 82_048, 229_888),
    ((1, 1, 4096, 960), "bf", 2, (2, 8), 6, 2, 141_568, None),
    ((1, 1, 4096, 960), "bf", 2, (2, 8), 6, 0, None, 661_504),
    ((1, 1, 8192, 256), "bf", 1, (8, 8), 3, 2, 168_064, None),
    ((2, 1, 1024, 1920), "bf", 3, (4, 4), 1, 2, 774_528, 935_424),
    ((1, 1, 65536, 128), "bf", 1, (4, 8), 64, 0, 84_096, 619_008),
    ((1, 1, 16384, 128), "f32", 1, (4, 8), 16, 2, 155_776, 444_928),
    ((1, 1, 1024, 1280), "f32", 2, (8, 4), 2, 2, None, 363_008),
    ((1, 1, 1024, 1280), "f32", 2, (8, 4), 2, 0, 268_544, None),
    ((1, 1, 65536, 128), "f32", 1, (4, 8), 64, 2, 159_872, None),
    ((1, 1, 1024, 512), "f32", 1, (1, 1), 4, 2, 331_904, None),
]


@for_all("case", ALIKE, ids=str)
def test_welfords_algorithm_keeps_the_whole_part_of_a_core(case):
    shape, dtype, width, (across, down), blocks, weights, plain, welford = case
    asked = {"factory": MCAST, "core_grid": f"ttnn.CoreGrid(x={across}, y={down})", "num_out_blocks": str(blocks)}
    for attributes, measured in ((PLAIN, plain), (WELFORD, welford)):
        x, asked = tensor(*shape, dtype=dtype), {**asked, "weights": weights, "attributes": attributes}
        sizes = {norm(x, 32, width, kernel=(fp32, 0), **asked) for fp32 in (0, 1)}
        assert measured is None or sizes == {measured}


@for_all(
    "case",
    [  # shape, shard, cores, columns of the mask, rows; measured plainly, and by Welford's algorithm
        ((1, 1, 1024, 640), (128, 160), (4, 8), 2, False, 98_560, 142_336),
        ((1, 1, 1024, 320), (128, 160), (2, 8), 2, True, 139_520, 249_856),
        ((2, 1, 1024, 256), (256, 64), (4, 8), 1, True, 108_672, 145_920),
        ((1, 1, 4096, 512), (512, 64), (8, 8), 1, False, 125_056, 116_992),
    ],
)
def test_in_shards_it_needs_the_masks_of_all_groups(case):
    shape, shard, cores, width, rows, plain, welford = case
    x = sharded(*shape, layout="BLOCK", shard=shard, cores=cores, rows=rows)
    for attributes, measured in ((PLAIN, plain), (WELFORD, welford)):
        for kernel in ((0, 0), (1, 0)):
            assert norm(x, 32, width, factory=SHARDED, attributes=attributes, kernel=kernel) == measured
    several = sharded(4, 1, 256, 256, layout="BLOCK", shard=(512, 64), cores=(4, 2))
    assert norm(several, 32, 1, factory=SHARDED, attributes=WELFORD) is None
    wide = sharded(*shape, layout="BLOCK", shard=shard, cores=cores, rows=rows, dtype="f32")
    assert norm(wide, 32, width, factory=SHARDED) is None


def test_what_was_not_measured_is_not_guessed():
    x = tensor(1, 1, 1024, 320)
    cores = "ttnn.CoreGrid(x=4, y=2)"
    assert norm(x, 32, 2, factory=MCAST, core_grid=cores, attributes="GroupNormParams(1e-05, {}, {})") is None
    assert norm(tensor(1, 1, 1000, 320), 32, 2, factory=MCAST, core_grid=cores) is None
    assert norm(tensor(1, 1, 1024, 320, dtype="b8"), 32, 2, factory=MCAST, core_grid=cores) is None
    assert norm(x, 32, 2, factory=MCAST, core_grid="ttnn.CoreGrid(x=3, y=5)") is None
    assert norm(x, 32, 2, factory=SHARDED) is None
    other = PLAIN.replace("GroupNormParams", "GroupNorm")
    assert norm(x, 32, 2, factory=MCAST, core_grid=cores, attributes=other) is None
    assert norm(x, 32, 2, factory=MCAST, core_grid=cores, attributes=PLAIN.replace("{}, MC", "16, MC, {}")) is None
    attributes = PLAIN.format(32, KERNEL.format(0, 0))
    assert modelled("GroupNormDeviceOperation", [x], x, factory=SHARDED, attributes=attributes) is None


BEFORE, AFTER = (f"LayerNorm{part}AllGatherProgramFactory" for part in ("Pre", "Post"))


@for_all(
    ("kind", "rows", "before", "after"), [("RMSNORM", 32, 528_384, 540_672), ("LAYERNORM", 128, 530_432, 948_224)]
)
def test_norms_before_and_after_their_statistics_are_gathered(kind, rows, before, after):
    x, gamma = tensor(1, 1, rows, 2048), tensor(1, 1, 64, 32, rows=True)
    columns = 32 if kind == "RMSNORM" else 64
    told, weights = f"LayerNormDistributedType::{kind}, fp32_dest_acc_en=0", [gamma] * (columns // 32)
    statistics = tensor(1, 1, rows, columns)
    assert (
        modelled("LayerNormPreAllGatherDeviceOperation", [x], statistics, factory=BEFORE, attributes=told) == before
    )
    inputs = [x, tensor(1, 1, rows, 4 * columns), *weights]
    assert modelled("LayerNormPostAllGatherDeviceOperation", inputs, x, factory=AFTER, attributes=told) == after
    for other in ("LayerNormPreAllGather2D", ""):
        assert modelled("LayerNormPreAllGatherDeviceOperation", [x], x, factory=other, attributes=told) is None
        assert modelled("LayerNormPostAllGatherDeviceOperation", inputs, x, factory=other, attributes=told) is None
    assert modelled("LayerNormPostAllGatherDeviceOperation", inputs, x, factory=AFTER, attributes="Other") is None
    held = sharded(1, 1, rows, 2048, layout="WIDTH", shard=(rows, 256), cores=(8, 1))
    assert modelled("LayerNormPreAllGatherDeviceOperation", [held], x, factory=BEFORE, attributes=told) is None
    inputs[0] = held
    assert modelled("LayerNormPostAllGatherDeviceOperation", inputs, x, factory=AFTER, attributes=told) is None
    wide = told.replace("acc_en=0", "acc_en=1")
    size = modelled("LayerNormPreAllGatherDeviceOperation", [x], statistics, factory=BEFORE, attributes=wide)
    assert size == before + 2 * 64 * 2048

"""Group norms, and norms that chips share, against what dry captures of TTNN 0.81.1 showed on mock devices."""

import pytest

from tests.analyses.program_models.programs import KERNEL, modelled, sharded, tensor

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


@pytest.mark.parametrize("case", SHARDS)
def test_in_shards_a_norm_copies_them(case):
    shape, layout, shard, cores, groups, width, weights, rows, measured = case
    x = sharded(*shape, layout=layout, shard=shard, cores=cores, rows=rows)
    assert norm(x, groups, width, factory=SHARDED, weights=weights) == measured


SPREAD = [  # shape, groups, columns of the mask, grid, blocks, measured
    ((1, 1, 1024, 320), 32, 2, (4, 2), {"num_out_blocks": "2"}, 157_952),
    ((2, 1, 1024, 640), 32, 2, (4, 4), {}, 502_016),
    ((1, 1, 4096, 320), 32, 2, (8, 8), {"num_out_blocks": "-1"}, 157_952),
    ((16, 1, 256, 128), 32, 1, (4, 4), {"num_out_blocks": "None"}, 139_392),
]


@pytest.mark.parametrize("case", SPREAD)
def test_interleaved_a_norm_follows_its_grid(case):
    shape, groups, width, grid, blocks, measured = case
    cores = f"ttnn.CoreGrid(x={grid[0]}, y={grid[1]})"
    assert norm(tensor(*shape), groups, width, factory=MCAST, core_grid=cores, **blocks) == measured
    assert norm(tensor(*shape), groups, width, factory=MCAST) is None  # nobody prints its grid


def test_what_was_not_measured_is_not_guessed():
    x = tensor(1, 1, 1024, 320)
    cores = "ttnn.CoreGrid(x=4, y=2)"
    assert norm(x, 32, 2, factory=MCAST, core_grid=cores, kernel=(1, 0)) is None
    assert norm(x, 32, 2, factory=MCAST, core_grid=cores, attributes=PLAIN.replace("0, 0)", "1, 0)")) is None
    assert norm(tensor(1, 1, 1000, 320), 32, 2, factory=MCAST, core_grid=cores) is None
    assert norm(tensor(1, 1, 1024, 320, dtype="b8"), 32, 2, factory=MCAST, core_grid=cores) is None
    assert norm(x, 32, 2, factory=MCAST, core_grid="ttnn.CoreGrid(x=3, y=5)") is None
    assert norm(x, 32, 2, factory=SHARDED) is None
    attributes = PLAIN.format(32, KERNEL.format(0, 0))
    assert modelled("GroupNormDeviceOperation", [x], x, factory=SHARDED, attributes=attributes) is None


BEFORE, AFTER = (f"LayerNorm{part}AllGatherProgramFactory" for part in ("Pre", "Post"))


@pytest.mark.parametrize(
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
    wide = told.replace("acc_en=0", "acc_en=1")
    size = modelled("LayerNormPreAllGatherDeviceOperation", [x], statistics, factory=BEFORE, attributes=wide)
    assert size == before + 2 * 64 * 2048

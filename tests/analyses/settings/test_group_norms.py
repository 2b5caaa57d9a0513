"""Group norms: what TTNN 0.81.1 accepted, refused and allocated on mock devices, and what check_setting says of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from tests.analyses.settings.rows import on_chip, ops_in, printing
from tests.asking import ask, session
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program, write_performance_report
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.programs.group_norms import GroupNorm, on_most_cores
from ttnn_mcp.analyses.settings.compute import grid_named
from ttnn_mcp.analyses.settings.group_norms import GroupNormSettings, group_norm_in
from ttnn_mcp.analyses.settings.kinds import settings_of
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

PRINTED = "GroupNormMultiCoreProgramConfig(compute_with_storage_grid_size=(x=4;y=8);inplace=0;num_out_blocks=2)"


def norm(batches, rows, channels, groups, grid, *, blocks=1, weights=0):
    tiles = batches * rows // TILE_SIDE
    return GroupNorm(batches, tiles, channels, groups, grid, blocks, weights, device_grid=(8, 8))


@for_all(
    ("plan", "legal"),
    [
        (norm(1, 512, 32, 32, (8, 8)), False),  # 64 rows of cores for 16 rows of tiles
        (norm(1, 1024, 512, 32, (8, 4)), True),
        (norm(1, 1024, 512, 32, (8, 7)), False),
        (norm(4, 768, 32, 16, (1, 6)), False),  # six rows of cores, four batches
        (norm(4, 768, 32, 16, (1, 3)), True),  # three: each has several batches
        (norm(3, 1024, 32, 16, (1, 2)), True),
        (norm(2, 4096, 640, 32, (5, 1)), True),  # four of the five columns work
        (norm(1, 4096, 320, 32, (9, 8)), False),
        (norm(2, 512, 512, 8, (8, 8), blocks=8), False),  # a core has four rows
        (norm(2, 512, 512, 8, (8, 8), blocks=4), True),
        (norm(1, 4096, 320, 32, (4, 8), blocks=0), False),
        (norm(1, 4096, 320, 32, (4, 8), blocks=-1), True),
        (norm(1, 4096, 320, 32, (0, 8)), False),
    ],
)
def test_a_grid_must_divide_rows_and_batches_and_blocks_a_core(plan, legal):
    assert all(plan.rules().values()) is legal


@for_all(
    ("plan", "tiles"),
    [
        (norm(1, 4096, 320, 32, (2, 8)), 237),  # ten channels to a group: two tiles
        (norm(1, 4096, 320, 32, (2, 8), blocks=3), 83),  # five rows of sixteen, and one left over
        (norm(1, 16384, 128, 32, (4, 8)), 459),
        (
            norm(1, 4096, 64, 32, (2, 8), blocks=9, weights=2),
            21,
        ),  # 17 rounds of eight cores: two tiles of sums
        (norm(1, 4096, 32, 32, (8, 2), blocks=8), 18),  # eight rounds of sixteen cores: one tile
        (norm(1, 32768, 32, 32, (8, 8), blocks=16), 25),
        (norm(1, 4096, 64, 32, (2, 8), blocks=-1), 0),  # TTNN chooses them
        (norm(4, 2048, 128, 8, (2, 1), weights=2), 463),  # one core has all batches, one at a time
        (norm(1, 512, 960, 8, (1, 1), blocks=10, weights=2), 114),  # 120 channels reach into five tiles
    ],
)
def test_buffers_are_ttnns_own(plan, tiles):
    assert sum(plan.buffers.values()) == tiles * TILE_BYTES["BFLOAT16"]


@for_all(
    ("plan", "tiles"),
    [
        (norm(1, 6656, 64, 32, (2, 8), blocks=9), 7 * 2 + 2 + 8 + 1),  # 26 rows: 14 rounds of 8 cores
        (norm(2, 2048, 64, 32, (2, 8), blocks=9), 7 + 2 + 8 + 1),  # 17 rounds of the 4 cores of a batch
        (norm(8, 4128, 64, 32, (2, 8), blocks=129), 7 + 2 + 8 + 1),  # a core alone sends nothing
    ],
)
def test_sums_take_16_bytes_for_each_round_of_each_core(plan, tiles):
    """Counted by hand: 128 of them fill a tile."""
    assert sum(plan.buffers.values()) == tiles * TILE_BYTES["BFLOAT16"]


def put_norm(made, dtype="BFLOAT16", layout="TILE", *, mask=False):
    x, out = (made.tensor([1, 1, 4096, 320], dtype=dtype, layout=layout) for _ in range(2))
    others = [made.tensor([1, 32, 32, 320])] if mask else []
    others += [made.tensor([1, 1, 10, 32], layout="ROW_MAJOR") for _ in range(2)]
    told = {"num_groups": "32", "program_config": PRINTED}
    code = "GroupNormDeviceOperation"
    put(made, DeviceOp(code, (x, *others), (out,), 500_000, attributes=told, fidelity="HiFi4"))


def program():
    made = Program("wormhole_b0", grid=(8, 8))
    put_norm(made)
    return made


async def asked(folder, made, setting, value=None):
    report = write_performance_report(folder, made)
    at, line = session(folder), 1 + 2 * len(made.device_ops)
    return await ask(at, "check_setting", run=str(report), op=line, setting=setting, value=value)


async def test_blocks_are_judged_by_the_buffers_they_take(tmp_path):
    told = await asked(tmp_path, program(), "num_out_blocks", 4)
    assert (told["now"], told["verdict"], told["buffers"]["BLOCKS"]) == (2, "fits", 28 * 2048)
    assert told["buffers"]["WEIGHTS"] == 2 * 5 * 2048


async def test_blocks_of_no_row_are_illegal_and_a_legal_number_is_told(tmp_path):
    told = await asked(tmp_path, program(), "num_out_blocks", 9)
    assert told["verdict"] == "illegal"
    assert "num_out_blocks from 1 to the 8 rows of a core" in told["why"]


async def test_blocks_that_ttnn_chooses_are_not_sized(tmp_path):
    assert (await asked(tmp_path, program(), "num_out_blocks", -1))["verdict"] == "cannot_tell"


async def test_a_grid_is_told_its_cores_and_what_goes_with_it(tmp_path):
    told = await asked(tmp_path, program(), "core_grid", "8x8")
    assert (told["now"], told["verdict"]) == ("4x8", "fits")
    assert told["expected"].startswith("64 cores work instead of 32")
    assert "ttnn.dram_group_norm_params_from_torch" in told["needs"]


async def test_a_grid_that_cuts_the_rows_unevenly_is_illegal(tmp_path):
    told = await asked(tmp_path, program(), "core_grid", "8x7")
    assert told["verdict"] == "illegal"
    assert "rows of cores divide the 128 rows of tiles" in told["why"]


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    made = program()
    put_norm(made, dtype="FLOAT32")
    put_norm(made, layout="ROW_MAJOR")
    put_norm(made, mask=True)
    names = ("plain", "wide", "row major", "with a mask")
    return dict(zip(names, ops_in(tmp_path_factory.mktemp("norms"), made), strict=True))


@for_all(
    ("name", "more", "why"),
    [
        ("plain", {"program_config": PRINTED.replace("Norm", "NormSharded")}, "a group norm on shards"),
        ("plain", {"program_config": None}, "a group norm on shards"),
        ("plain", {"program_config": PRINTED.replace("x=4", "x=?")}, "its grid, its blocks or its groups"),
        (
            "plain",
            {"program_config": PRINTED.replace("blocks=2", "blocks=?")},
            "its grid, its blocks or its groups",
        ),
        ("plain", {"num_groups": None}, "its grid, its blocks or its groups"),
        ("plain", {"use_welford": "true"}, "without use_welford"),
        ("wide", {}, "modelled for BFLOAT16 tiles"),
        ("row major", {}, "modelled for BFLOAT16 tiles"),
    ],
)
def test_what_is_not_modelled_is_said(ops, name, more, why):
    settings = settings_of(printing(ops[name], **more), 0)
    for setting, value in (("num_out_blocks", 4), ("core_grid", "8x8")):
        assert why in settings.tried(setting, value).unknown
        assert settings.choices(setting) == ()


def test_weights_are_row_major_and_a_mask_is_tiles(ops):
    assert [group_norm_in(ops[name]).weights for name in ("plain", "with a mask")] == [2, 2]


def test_the_grids_with_the_most_cores_are_listed(ops):
    """As many as an answer holds."""
    op = on_chip(ops["plain"], "blackhole", 130)
    norm = replace(group_norm_in(op), rows=240)  # which many numbers of cores divide
    settings = GroupNormSettings(op, norm)
    grids = settings.choices("core_grid")
    plans = [replace(norm, grid=grid, out_blocks=1) for grid in product(range(1, 14), range(1, 11))]
    legal = [x * y for x, y in (plan.grid for plan in plans if all(plan.rules().values()))]
    listed = [x * y for x, y in map(grid_named, grids)]
    assert len(legal) > 31
    assert listed == sorted(legal)[-24:]
    assert not any(settings.tried("core_grid", grid).broken for grid in grids)


def test_a_grid_that_breaks_a_rule_saves_nothing(ops):
    settings = settings_of(ops["plain"], 0)
    assert settings.tried("core_grid", "8x7").broken
    assert settings.tried("core_grid", "9x8").broken == ("within the worker grid 8x8",)
    assert settings.tried("core_grid", "0x8").broken == ("at least one core",)
    legal = settings.tried("core_grid", "8x8")
    assert legal.at_most_ns == pytest.approx((500_000 - ops["plain"].least_ns) / 2)


@for_all(
    ("plan", "room", "found"),
    [
        (norm(1, 4096, 320, 32, (1, 1)), 1_300_000, ((8, 8), 1)),
        (norm(1, 512, 32, 32, (1, 1)), 1_300_000, ((2, 8), 1)),  # sixteen rows of tiles: no more cores than that
        (norm(1, 122880, 64, 16, (1, 1)), 1_300_000, ((8, 8), 2)),
        (norm(1, 122880, 64, 16, (1, 1)), 200_000, ((8, 8), 16)),
        (norm(1, 122880, 64, 16, (1, 1)), 10_000, None),
    ],
)
def test_the_most_cores_that_may_work_take_as_few_blocks_as_fit(plan, room, found):
    best = on_most_cores(plan, (8, 8), room)
    assert (best and (best.grid, best.out_blocks)) == found
    assert best is None or on_most_cores(plan, (8, 8), sum(best.buffers.values())) == best

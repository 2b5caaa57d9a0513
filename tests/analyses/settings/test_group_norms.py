"""Group norms: what TTNN 0.81.1 accepted, refused and allocated on mock devices, and what check_setting says of it."""

from __future__ import annotations

import pytest

from tests.asking import ask, session
from tests.checks.rows import put
from tests.profiles import DRAM, Program, write_performance_report
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.settings.group_norm_plan import GroupNorm, on_most_cores
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE


def norm(batches, rows, channels, groups, grid, *, blocks=1, weights=0):
    tiles = batches * rows // TILE_SIDE
    return GroupNorm(batches, tiles, channels, groups, grid, blocks, weights, device_grid=(8, 8))


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
        (norm(4, 2048, 128, 8, (2, 1), weights=2), 463),  # one core has all batches, one at a time
        (norm(1, 512, 960, 8, (1, 1), blocks=10, weights=2), 114),  # 120 channels reach into five tiles
    ],
)
def test_buffers_are_ttnns_own(plan, tiles):
    assert sum(plan.buffers.values()) == tiles * TILE_BYTES["BFLOAT16"]


def program(config="GroupNormMultiCoreProgramConfig", dtype="BFLOAT16", **more):
    made = Program("wormhole_b0", grid=(8, 8))
    x = made.tensor([1, 1, 4096, 320], dtype=dtype, placement=DRAM)
    weights = [made.tensor([1, 1, 10, 32], layout="ROW_MAJOR", placement=DRAM) for _ in range(2)]
    printed = f"{config}(compute_with_storage_grid_size=(x=4;y=8);inplace=0;num_out_blocks=2)"
    attributes = {"num_groups": "32", "program_config": printed, **more}
    out = made.tensor([1, 1, 4096, 320], dtype=dtype, placement=DRAM)
    put(
        made,
        DeviceOp(
            "GroupNormDeviceOperation", (x, *weights), (out,), 500_000, attributes=attributes, fidelity="HiFi4"
        ),
    )
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


async def test_the_grids_listed_are_legal_ones(tmp_path):
    choices = [choice["value"] for choice in (await asked(tmp_path, program(), "core_grid"))["choices"]]
    assert "8x8" in choices
    assert "8x7" not in choices


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (program(config="GroupNormShardedMultiCoreProgramConfig"), "a group norm on shards is not modelled"),
        (program(dtype="FLOAT32"), "modelled for BFLOAT16 tiles"),
        (program(use_welford="true"), "without use_welford"),
        (program(num_groups=""), "does not print its grid, its blocks or its groups"),
    ],
    ids=["shards", "float32", "welford", "no groups"],
)
async def test_what_is_not_modelled_is_said(tmp_path, made, why):
    told = await asked(tmp_path, made, "num_out_blocks", 4)
    assert told["verdict"] == "cannot_tell"
    assert why in told["why"]


@pytest.mark.parametrize(
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

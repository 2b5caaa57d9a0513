"""The settings of a matmul: which it takes, which values are tried, and what is said of each."""

from __future__ import annotations

import pytest

from tests.analyses.settings.rows import on_chip, ops_in, printing
from tests.analyses.settings.test_matmul_printed import BANKED, GRID, MINIMAL, SAFE, config
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import DRAM, Program, block_sharded, width_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.settings.kinds import settings_of

BLOCKS = ("in0_block_w", "per_core_M", "per_core_N", "out_subblock_h", "out_subblock_w")
FLAGS = ("fp32_dest_acc_en", "packer_l1_acc")
OTHERS = ("weights_dtype", "math_fidelity")


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    """Matmuls of 32 x 64 x 64 tiles on 8 x 8 cores, and a row of 128 x 128 for weights in DRAM banks."""
    program = Program("wormhole_b0")
    for placed in (DRAM, block_sharded(128, 256, (8, 8))):
        x, w = program.tensor([1, 1, 1024, 2048]), program.weight([1, 1, 2048, 2048], "BFLOAT8_B")
        y = program.tensor([1, 1, 1024, 2048], placement=placed)
        put(program, matmul(x, w, y, 400_000, cores=64, program_config=config()))
    row = width_sharded(32, 128, 32)
    x, y = (program.tensor([1, 1, 32, 4096], placement=row) for _ in range(2))
    put(program, matmul(x, program.weight([1, 1, 4096, 4096], "BFLOAT8_B"), y, 90_000, cores=12))
    x, y = (program.tensor([1, 1, 1024, 2048]) for _ in range(2))
    w = program.weight([1, 1, 2048, 2048])
    one_row = (program.tensor([1, 1, 32, 1024]), program.weight([1, 1, 1024, 1280]))
    put(program, matmul(*one_row, program.tensor([1, 1, 32, 1280]), 60_000, cores=32))
    put(program, DeviceOp("MinimalMatmulDeviceOperation", (x, w), (y,), 400_000, cores=48, fidelity="HiFi2"))
    plain, to_blocks, banked, one_row, minimal = ops_in(tmp_path_factory.mktemp("settings"), program)
    return {
        "plain": plain,
        "on one batch": printing(plain, program_config=config("Reuse")),
        "to blocks": to_blocks,
        "no config": printing(plain, program_config=None),
        "no config, to blocks": printing(to_blocks, program_config=None),
        "one row": one_row,
        "unknown": printing(plain, program_config=config("MatmulOfTomorrow")),
        "banked": printing(banked, program_config=config("banked", BANKED)),
        "minimal": printing(minimal, config=f"MinimalMatmulConfig({MINIMAL},{GRID})"),
        "default": minimal,
    }


@pytest.fixture
def tried(ops):
    return lambda name, setting, value: settings_of(ops[name], SAFE).tried(setting, value)


@for_all(
    ("name", "takes"),
    [
        ("plain", {*BLOCKS, *FLAGS, *OTHERS, "core_grid"}),
        ("unknown", {*BLOCKS, *FLAGS, *OTHERS, "core_grid"}),
        ("banked", {"in0_block_w", "per_core_N", *FLAGS, *OTHERS}),  # its grid is that of the banks
        (
            "minimal",
            {
                "M_block_size", "K_block_size", "N_block_size", "subblock_h", "subblock_w", FLAGS[0], *OTHERS,
                "core_grid",
            },
        ),
    ],
)  # fmt: skip
def test_each_program_takes_its_own_settings(ops, name, takes):
    assert set(settings_of(ops[name], SAFE).takes) == takes


@for_all(
    ("name", "setting", "choices"),
    [
        ("plain", "in0_block_w", (1, 2, 4, 8, 16, 32, 64)),
        ("plain", "per_core_M", (1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 32)),
        ("plain", "per_core_N", (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, 22, 32, 64)),
        ("plain", "out_subblock_h", tuple(range(1, 17))),  # tiles of DST, as many as it has without half-sync
        ("plain", "core_grid", ()),
        ("unknown", "in0_block_w", ()),
        ("minimal", "K_block_size", (1, 2, 4, 8, 16, 32)),
        ("minimal", "subblock_w", tuple(range(1, 17))),
        ("plain", "packer_l1_acc", (False, True)),
    ],
)
def test_values_worth_a_trial(ops, name, setting, choices):
    assert settings_of(ops[name], SAFE).choices(setting) == choices


def test_no_more_shares_are_tried_than_a_chip_can_have_cores(tmp_path):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 32, 32]), program.weight([1, 1, 32, 32 * 1024**2], "BFLOAT8_B")
    put(program, matmul(x, w, program.tensor([1, 1, 32, 32 * 1024**2]), 400_000, program_config=config()))
    broken = on_chip(ops_in(tmp_path, program)[0], cores=10**9)
    assert settings_of(broken, SAFE).choices("per_core_N")[0] == 1024


@for_all(
    ("name", "setting", "value", "told"),
    [
        ("plain", "in0_block_w", 4, ("16 steps along K, 32 now", True)),
        ("plain", "per_core_M", 8, ("8 tiles per core, 4 now", False)),
        ("plain", "per_core_N", 9, ("9 tiles per core, 8 now", False)),
        ("plain", "out_subblock_w", 8, ("8 of the DST tiles filled at a time, 4 now", None)),
        ("plain", "out_subblock_h", 2, ("8 of the DST tiles filled at a time, 4 now", None)),
        ("banked", "per_core_N", 8, ("8 tiles per core, 4 now", False)),
    ],
)
def test_a_block_tells_what_it_changes(tried, name, setting, value, told):
    trial = tried(name, setting, value)
    saves = None if trial.at_most_ns is None else trial.at_most_ns > 0
    assert (trial.effect, trial.unknown, (trial.change, saves)) == (True, "", told)


@for_all(
    ("setting", "value", "is_known"),
    [
        ("in0_block_w", 2, True),  # divides the 4 that ran, so it divides the shard that 4 divides
        ("in0_block_w", 8, False),
        ("in0_block_w", 0, True),  # illegal of any shard
        ("per_core_N", 8, True),
    ],
)
def test_a_block_of_k_is_judged_only_where_it_divides_the_one_that_ran(tried, setting, value, is_known):
    assert (not tried("banked", setting, value).unknown) is is_known


def test_what_ttnn_chose_is_not_told_as_if_it_were_printed(tried):
    changes = {
        setting: tried("no config", setting, 2).change
        for setting in ("in0_block_w", "per_core_M", "out_subblock_w")
    }
    assert all(change.endswith(", TTNN chose the present ones") for change in changes.values()), changes


@for_all(
    ("name", "buffers"),
    [
        ("plain", True),
        ("no config", False),
        ("unknown", False),
        ("banked", True),
        ("minimal", True),
        ("default", False),
    ],
)
def test_lighter_weights_are_sized_where_a_config_was_given(tried, name, buffers):
    trial, now = tried(name, "weights_dtype", "BFLOAT4_B"), tried(name, "weights_dtype", "BFLOAT16")
    assert bool(trial.buffers) is buffers
    if buffers:
        assert trial.buffers["IN1"] / now.buffers["IN1"] == 576 / 2048
        assert trial.buffers["OUT"] == now.buffers["OUT"]


def test_a_larger_block_of_a_sharded_output_grows_a_tensor(tried):
    trials = [tried("to blocks", "per_core_M", high) for high in (4, 8, 2)]
    assert [trial.grown for trial in trials] == [0, 4 * 8 * 2048, 0]
    assert [trial.tensors["OPERANDS_IN_L1"] for trial in trials[:2]] == [4 * 8 * 2048, 8 * 8 * 2048]
    assert {trial.unsure_bytes for trial in trials} == {0}
    assert tried("minimal", "M_block_size", 16).grown == 0


@for_all(
    ("name", "value", "told"),
    [
        ("plain", "8x4", (True, False, None)),
        ("plain", "9x4", (False, False, "8x8")),
        ("minimal", "8x4", (True, True, None)),
        ("minimal", "1x8", (False, False, "8x8")),  # "a grid of at least 2x2"
        ("default", "4x4", (True, True, None)),
        ("unknown", "4x4", (True, False, None)),
    ],
)
def test_a_grid_has_buffers_where_blocks_do_not_depend_on_it(tried, name, value, told):
    trial = tried(name, "core_grid", value)
    assert (not trial.broken, bool(trial.buffers), trial.instead) == told


@for_all(
    ("name", "value", "effect", "most"),
    [
        ("plain", "8x8", False, 64),
        ("plain", "8x4", True, 32),
        ("one row", "8x8", True, 40),  # 1 x 40 tiles of the output
        ("one row", "8x5", True, 40),
        ("one row", "8x4", False, 32),
        ("minimal", "8x8", True, 64),
    ],
)
def test_a_grid_brings_as_many_cores_as_the_output_has_tiles(tried, name, value, effect, most):
    trial = tried(name, "core_grid", value)
    assert trial.effect is effect
    assert f"become at most {most}" in trial.change


@for_all(
    ("name", "setting", "value", "subblock"),
    [
        ("plain", "in0_block_w", 4, None),
        ("no config", "in0_block_w", 4, (1, 8)),
        ("no config", "per_core_N", 10, (1, 5)),  # blocks of 4 x 8 tiles are suggested, which (1, 8) divides
        ("no config", "per_core_N", 12, (1, 6)),
        ("no config", "per_core_M", 6, (1, 8)),
        ("no config", "out_subblock_h", 2, (2, 4)),
        ("no config", "out_subblock_w", 4, (2, 4)),
        ("no config", "out_subblock_w", 2, (4, 2)),
        ("no config, to blocks", "out_subblock_w", 4, (1, 4)),  # a sharded output is written in rows
        ("no config, to blocks", "out_subblock_w", 8, (1, 8)),
        ("no config, to blocks", "per_core_N", 16, (1, 8)),
    ],
)
def test_a_suggested_config_is_not_todays_and_its_subblock_suits_each_value(tried, name, setting, value, subblock):
    """Real TTNN takes per_core_N=16 of bge-m3 with subblocks of 1 x 8 and 1 x 4, where 1 x 6 suits the suggested 12."""
    trial = tried(name, setting, value)
    assert (trial.now is None, trial.at_most_ns is None, trial.broken) == (bool(subblock), bool(subblock), ())
    missing = "whole program_config (none was given: the other fields are a suggestion, out_subblock_h={}, out_subblock_w={})"
    assert missing.format(*subblock) in trial.needs if subblock else "whole" not in trial.needs


@for_all(
    ("setting", "value"), [("per_core_N", 0), ("out_subblock_w", 0), ("out_subblock_h", 3), ("out_subblock_w", 16)]
)
def test_a_value_that_no_subblock_suits_is_refused_of_a_suggestion_too(tried, setting, value):
    assert tried("no config", setting, value).broken
    assert tried("no config", "per_core_N", 10).beside == {"out_subblock_w": 5}  # a script sets it too
    assert tried("no config", "out_subblock_h", 2).beside == {"out_subblock_w": 4}
    assert tried("no config", "in0_block_w", 4).beside == tried("plain", "per_core_N", 16).beside == {}


def test_sums_in_float32_halve_the_tiles_of_dst(tried):
    assert tried("plain", "out_subblock_w", 8).broken == ()
    trial = tried("plain", "fp32_dest_acc_en", True)
    assert (trial.now, trial.effect, trial.broken) == (False, True, ())
    assert trial.buffers["PARTIALS"] == 4 * 8 * 4096
    assert not tried("plain", "packer_l1_acc", True).effect
    assert tried("minimal", "fp32_dest_acc_en", True).buffers["PARTIALS"] == 8 * 2 * 4096


@for_all(
    ("name", "setting", "ran"),
    [
        ("plain", "in0_block_w", (2 * 2 * 4 * 2048 + 2 * 2 * 8 * 1088 + 4 * 8 * 2048, 0)),
        ("plain", "fp32_dest_acc_en", (2 * 2 * 4 * 2048 + 2 * 2 * 8 * 1088 + 4 * 8 * 2048, 0)),
        ("no config", "in0_block_w", None),  # what we suggest never ran
    ],
)
def test_what_ran_is_kept_beside_what_is_tried(tried, name, setting, ran):
    assert tried(name, setting, 4).ran == ran


@for_all(("name", "wrong"), [("on one batch", True), ("plain", False), ("minimal", False)])
def test_blocks_that_older_builds_compute_wrong_are_told(ops, name, wrong):
    """32 rows of tiles in blocks of 1 on 8 x 8 cores are right, in blocks of 4 on 2 x 2 cores no more."""
    small = config(
        "Reuse",
        "in0_block_w=2,out_subblock_h=1,out_subblock_w=4,per_core_M=4,per_core_N=64",
        "compute_with_storage_grid_size=(x=2,y=2)",
    )
    op = printing(ops[name], program_config=small) if wrong else ops[name]
    setting = "K_block_size" if name == "minimal" else "in0_block_w"
    assert bool(settings_of(op, SAFE).tried(setting, 4).wrong_values) is wrong

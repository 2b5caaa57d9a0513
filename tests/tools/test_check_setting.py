"""check_setting: legal, fits, what instead; every rule is named and every buffer listed."""

from __future__ import annotations

import json

import pytest

from tests.asking import ask, session
from tests.checks.conv_programs import put_conv
from tests.checks.rows import put
from tests.profiles import DRAM, L1, Program, write_performance_report, write_run
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul, tilize
from tests.shared_reports import DEEPLAB, OFT, shared
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused

CONFIG = (
    "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=2,"
    "out_subblock_h=1,out_subblock_w=4,out_block_h=4,out_block_w=8,per_core_M=4,per_core_N=8,transpose_mcast=0,"
    "fused_activation=std::nullopt,fuse_batch=1)"
)


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


@pytest.fixture
def asked(at, tmp_path):
    """Ask about the only op of a program."""

    async def of(program, setting, value):
        report = write_performance_report(tmp_path / "perf", program)
        return await ask(at, "check_setting", run=str(report), op=3, setting=setting, value=value)

    return of


def conv(**change):
    program = Program("wormhole_b0")
    put_conv(program, **change)
    return program


def linear(*, config=CONFIG, m=1024, k=2048, n=2048, where=DRAM, kernel_ns=200_000):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, m, k]), program.weight([1, 1, k, n], "BFLOAT8_B")
    y = program.tensor([1, 1, m, n], placement=where)
    put(program, matmul(x, w, y, kernel_ns, program_config=config))
    return program


def attention(config="SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size=32,k_chunk_size=32)"):
    program = Program("wormhole_b0")
    q = [program.tensor([1, 8, 2048, 128]) for _ in range(3)]
    said = {"program_config": config}
    op = DeviceOp(
        "ScaledDotProductAttention",
        q,
        (program.tensor([1, 8, 2048, 128]),),
        900_000,
        fidelity="HiFi2",
        attributes=said,
    )
    put(program, op)
    return program


# --- Conv2d


@pytest.mark.parametrize("value", [256, 0, "256"])
async def test_a_larger_block_that_fits_lists_its_buffers_and_bounds_its_gain(asked, value):
    said = await asked(conv(), "act_block_h_override", value)
    assert (said["legal"], said["fits"], said["now"], said["instead"]) == (True, True, 64, None)
    assert said["l1_bytes"] == sum(said["buffers"].values())
    assert said["buffers"]["ALLOCATED"] == 100_000
    assert said["limit_bytes"] == 1_395_424
    assert "4 blocks become 1; saves at most 68.1 of 100.0 us" in said["expected"]


@pytest.mark.parametrize(
    ("value", "rule", "instead"),
    [(96, "divides a core's 8 tiles", "128"), (100, "a multiple of 32", "128"), (-32, "a multiple of 32", "32")],
)
async def test_an_illegal_block_names_the_rule_and_the_nearest_legal_one(asked, value, rule, instead):
    said = await asked(conv(), "act_block_h_override", value)
    assert (said["legal"], said["fits"]) == (False, None)
    assert rule in said["why"]
    assert said["instead"].startswith(instead)


async def test_raising_can_be_impossible_for_l1_and_the_answer_says_what_it_would_need(asked):
    said = await asked(conv(allocated=1_200_000), "act_block_h_override", 256)
    assert (said["legal"], said["fits"]) == (True, False)
    assert said["instead"].startswith("raising it is impossible: the next legal value 128 needs 1.3")
    assert said["expected"].startswith("nothing")


async def test_raising_can_be_impossible_because_it_is_the_maximum(asked):
    said = await asked(conv(block=(8, 6)), "act_block_h_override", 512)
    assert said["instead"] == "256 is the largest legal value: raising it is impossible"


async def test_width_sharded_convs_do_not_notice(asked):
    said = await asked(conv(layout="WIDTH", channel_cores=64), "act_block_h_override", 64)
    assert "act_block_w_div" in said["expected"]


async def test_a_second_buffer_without_a_second_block_changes_nothing(asked):
    assert "a single block" in (await asked(conv(block=(8, 6)), "enable_act_double_buffer", True))["expected"]
    several = await asked(conv(), "enable_act_double_buffer", "true")
    assert several["buffers"]["ACT"] == 2 * 2 * 6 * 2048
    assert "saves at most 40.0" in several["expected"]
    assert "all weights already" in (await asked(conv(), "enable_weights_double_buffer", True))["expected"]


async def test_lighter_weights_shrink_their_buffer(asked):
    before = await asked(conv(), "act_block_h_override", 64)
    after = await asked(conv(), "weights_dtype", "ttnn.bfloat4_b")
    assert after["buffers"]["WEIGHTS"] == before["buffers"]["WEIGHTS"] * 576 // 1088
    assert (after["now"], after["needs"]) == ("BFLOAT8_B", "PCC >= 0.99 afterwards")


async def test_another_layout_is_tried_with_the_block_that_needs_least(asked):
    said = await asked(conv(), "shard_layout", "block")
    assert said["legal"] is True
    assert said["fits"] is True
    assert "per core 64 x 1 tiles instead of 8 x 2" in said["expected"]
    assert "measure it" in said["expected"]


async def test_another_grid_is_judged_by_the_busiest_core(asked):
    said = await asked(conv(grid=(4, 8)), "core_grid", "8x8")
    assert "0.50 times the output tiles; saves at most 50.0" in said["expected"]
    beyond = await asked(conv(), "core_grid", "9x8")
    assert (beyond["legal"], beyond["instead"]) == (False, "8x8")
    assert "worker grid 8x8" in beyond["why"]


# --- matmul


async def test_a_block_of_k_must_divide_k_and_fit(asked):
    said = await asked(linear(), "in0_block_w", 4)
    assert (said["legal"], said["fits"], said["now"]) == (True, True, 2)
    assert said["buffers"] == {"IN0": 2 * 4 * 4 * 2048, "IN1": 2 * 4 * 8 * 1088, "OUT": 4 * 8 * 2048}
    assert "32 steps along K become 16" in said["expected"]
    assert "compute_kernel_config" in said["needs"]
    wrong = await asked(linear(), "in0_block_w", 3)
    assert "divides the 64 tiles of K" in wrong["why"]
    assert wrong["instead"].startswith(("2 (", "4 ("))
    huge = await asked(linear(), "in0_block_w", 64)
    assert huge["fits"] is False
    assert huge["instead"].startswith("32 (")


@pytest.mark.parametrize(
    ("setting", "value", "rule"),
    [
        ("out_subblock_w", 3, "divides per_core_N 8"),
        ("out_subblock_h", 4, "<= 8 (DST)"),
        ("per_core_M", 2, "fit the 8x8 grid"),
        ("per_core_N", 12, "divides per_core_N 12"),
        ("out_subblock_w", 0, "at least 1"),
    ],
)
async def test_each_rule_of_a_program_config_is_named(asked, setting, value, rule):
    said = await asked(linear(), setting, value)
    if rule.startswith("divides per_core_N 12"):
        assert said["legal"] is True  # 12 = 3 x 4: two blocks more than needed, but legal
        return
    assert said["legal"] is False
    assert rule in said["why"]


async def test_without_a_program_config_a_whole_one_is_needed(asked):
    said = await asked(linear(config=None), "in0_block_w", 2)
    assert said["now"] is None
    assert "whole program_config" in said["needs"]


async def test_operands_in_l1_count(asked):
    said = await asked(linear(where=L1), "in0_block_w", 4)
    assert said["buffers"]["OPERANDS_IN_L1"] == 1024 * 2048 * 2 // 64


async def test_a_grid_for_a_matmul_comes_with_its_kernel_config(asked):
    said = await asked(linear(config=None), "core_grid", "8x4")
    assert said["legal"] is True
    assert "tt-metal #55889" in said["needs"]


async def test_fidelity_saves_only_arithmetic_that_was_waited_for(asked):
    bound = linear(m=4096, k=4096, n=4096, kernel_ns=4_000_000)
    said = await asked(bound, "math_fidelity", "LoFi")
    assert said["now"] == "HiFi2"
    assert "passes over the operands: 2 now, 1 then; saves at most" in said["expected"]
    idle = await asked(linear(m=32, kernel_ns=900_000), "math_fidelity", "LoFi")
    assert "saves no time" in idle["expected"]


# --- attention


async def test_chunks_are_multiples_of_a_tile_and_fewer_pairs_of_them_help(asked):
    said = await asked(attention(), "q_chunk_size", 128)
    assert "4096 pairs of chunks per head become 1024" in said["expected"]
    assert said["legal"] is True
    assert "a multiple of 32" in (await asked(attention(), "k_chunk_size", 48))["why"]
    assert (await asked(attention(config=None), "k_chunk_size", 64))["now"] == 32


# --- the question


async def test_a_memory_reports_limit_comes_without_caveat(at, tmp_path):
    made = write_run(tmp_path, conv())
    opened = await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory))
    said = await ask(at, "check_setting", run=opened["id"], op=3, setting="act_block_h_override", value=256)
    assert "no memory report" not in said["caveat"]


@pytest.mark.parametrize(
    ("setting", "value", "match"),
    [
        ("q_chunk_size", 64, "Conv2d takes no q_chunk_size. It takes: act_block_h_override"),
        ("act_block_h_override", "many", "a whole number"),
        ("enable_act_double_buffer", "perhaps", "true or false"),
        ("shard_layout", "DIAGONAL", "one of HEIGHT_SHARDED"),
        ("core_grid", "wide", "columns x rows"),
        ("math_fidelity", "HiFi", "one of LoFi"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused_with_what_would(asked, setting, value, match):
    with pytest.raises(QuestionRefused, match=match):
        await asked(conv(), setting, value)


async def test_an_unknown_setting_and_an_unknown_line_are_refused(at, asked, tmp_path):
    with pytest.raises(ArgumentsInvalid, match="setting"):
        await asked(conv(), "act_block_w", 32)
    report = str(write_performance_report(tmp_path / "more", conv()))
    with pytest.raises(QuestionRefused, match="No op at line 99"):
        await ask(at, "check_setting", run=report, op=99, setting="math_fidelity", value="LoFi")


async def test_ops_without_settings_say_which_have_some(asked):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 64, 64], layout="ROW_MAJOR")
    put(program, tilize(x, program.tensor([1, 1, 64, 64]), 5_000))
    with pytest.raises(QuestionRefused, match="Conv2d, matmul or attention"):
        await asked(program, "math_fidelity", "LoFi")


async def test_older_convs_without_attributes_are_refused(asked):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64])
    put(program, DeviceOp("OptimizedConvNew", (x, w), (program.tensor([1, 1, 64, 64]),), 5_000))
    with pytest.raises(QuestionRefused, match="no block_config"):
        await asked(program, "act_block_h_override", 32)


# --- real reports


@pytest.mark.parametrize(
    ("name", "op", "value", "expected"),
    [
        (DEEPLAB, 221, 256, (644_224, True)),
        (OFT, 376, 320, (1_247_488, True)),
        (OFT, 376, 640, (1_616_128, False)),
    ],
)
async def test_real_convs_are_judged_as_computed_by_hand(at, name, op, value, expected):
    said = await ask(at, "check_setting", run=str(shared(name)), op=op, setting="act_block_h_override", value=value)
    assert (said["l1_bytes"], said["fits"]) == expected
    assert "inferred for blackhole" in said["caveat"]
    assert len(json.dumps(said, separators=(",", ":"))) <= 1_500


async def test_with_a_memory_report_the_tensors_beside_the_op_are_those_it_shows(tmp_path):
    """Operation 24 of the demo holds 157,952 bytes of tensors per core at its fullest (tests.profiles.Replay)."""
    at = session(tmp_path)
    said = await ask(at, "check_setting", run="demo", op=65, setting="act_block_h_override", value=64)
    moment = await ask(at, "memory_summary", run="demo")
    assert said["buffers"]["TENSORS"] == moment["l1_peak"]["tensors_bytes"] == 157_952
    assert said["l1_bytes"] == sum(said["buffers"].values())
    assert "memory report shows" in said["caveat"]

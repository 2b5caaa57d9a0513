"""check_setting: legal, fits, what instead; every rule is named and every buffer listed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from tests.asking import ask, session
from tests.checks.conv_programs import Conv, halo_output, put_conv
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, Replay, block_sharded, write_performance_report, write_run
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


@for_all("value", [256, "256"])
async def test_a_larger_block_that_fits_lists_its_buffers_and_bounds_its_gain(asked, value):
    said = await asked(conv(), "act_block_h_override", value)
    assert (said["legal"], said["fits"], said["now"], said["instead"]) == (True, True, 64, None)
    assert said["l1_bytes"] == sum(said["buffers"].values())
    assert said["buffers"]["ALLOCATED"] == 100_000
    assert (said["limit_bytes"], said["verdict"]) == (1_393_312, "fits")
    assert "4 blocks become 1; saves at most 68.1 of 100.0 us" in said["expected"]


@for_all(
    ("value", "rule", "instead"),
    [(100, "a multiple of 32", "128"), (-32, "a multiple of 32", "32")],
)
async def test_an_illegal_block_names_the_rule_and_the_nearest_legal_one(asked, value, rule, instead):
    said = await asked(conv(), "act_block_h_override", value)
    assert (said["legal"], said["fits"]) == (False, None)
    assert rule in said["why"]
    assert said["instead"].startswith(instead)


async def test_raising_can_be_impossible_for_l1_and_the_answer_says_what_it_would_need(asked):
    said = await asked(conv(allocated=1_340_000), "act_block_h_override", 256)
    assert (said["legal"], said["fits"], said["verdict"]) == (True, False, "too_large")
    assert said["instead"].startswith("raising it is impossible: the next legal value 128 needs 1.4")
    assert said["expected"].startswith("nothing")


async def test_without_a_memory_report_the_last_five_percent_are_too_close_to_tell(asked):
    said = await asked(conv(allocated=1_180_000), "act_block_h_override", 256)
    assert (said["legal"], said.get("fits"), said["verdict"]) == (True, None, "cannot_tell")
    assert "too close to the limit" in said["why"]


def conv_after(sharder, **change):
    """128 x 128 pixels of 64 channels, 512 tiles of rows over 64 cores, after an op that gave halo its input."""
    window = ", input_hw=(128,128), stride_hw=(1,1), padding=((1,1),(1,1)), dilation_hw=(1,1)"
    program, made = Program("wormhole_b0"), Conv(window=window, more=(("input_tensor_shape", "{1, 128, 128, 64}"),))
    x = program.tensor([1, 1, 128 * 128, 64], layout="ROW_MAJOR")
    sharded = program.tensor([1, 1, 128 * 128, 64], layout="ROW_MAJOR", placement=made.placed(256, 64))
    put(program, DeviceOp(sharder, (x,), (sharded,), 5_000))
    source = halo_output(program, made)
    put(program, DeviceOp("HaloDeviceOperation", (sharded,), (source,), 5_000))
    put_conv(program, made, source, **change)
    return program


@pytest.fixture
def asked_last(at, tmp_path):
    async def of(program, setting, value):
        report = write_performance_report(tmp_path / "last", program)
        line = 1 + 2 * len(program.device_ops)  # of the warm pass, behind a head and the cold pass
        return await ask(at, "check_setting", run=str(report), op=line, setting=setting, value=value)

    return of


@for_all("before", ["Conv2dDeviceOperation", "PaddedSliceDeviceOperation"])  # the latter: sliced in DRAM
@for_all(("value", "block"), [(96, 64), (0, 256)])
async def test_ttnn_lowers_a_block_that_does_not_divide_a_sharded_input(asked_last, value, block, before):
    said = await asked_last(conv_after(before), "act_block_h_override", value)
    assert said["legal"] is True
    assert said["buffers"]["ACT_TILIZED"] == block // 32 * 6 * 1088
    assert ("lowers it to" in said["expected"]) == (value > 0)


UNEXPLAINED = "any other input again"  # what is said where the ops before do not tell who sharded the input


@for_all(
    ("between", "told"),
    [
        (
            ("UntilizeWithUnpadding", "HaloDeviceOperation", "MoveDeviceOperation"),
            "57 cores along them instead of 64",
        ),
        (
            ("HaloDeviceOperation", "MatmulDeviceOperation", *["UnaryDeviceOperation"] * 3),
            UNEXPLAINED,
        ),  # another's halo
    ],
)
async def test_who_sharded_a_conv_s_input_is_read_off_the_four_ops_before(asked_last, between, told):
    program = conv_after("InterleavedToShardedDeviceOperation")
    halo, convolution = program.calls[-2:]
    program.calls[1:] = []
    source = halo.ops[0].outputs[0]
    for name in between:
        put(program, DeviceOp(name, (source,), (source,), 5_000))
    put(program, convolution.ops[0])
    assert told in (await asked_last(program, "act_block_h_override", 96))["expected"]


async def test_ttnn_deals_the_rows_of_an_interleaved_input_out_anew(asked_last):
    """512 tiles in multiples of 3: 64 cores of 9 would pad more than a core's share, 57 of 9 do not (TTNN's rule)."""
    said = await asked_last(conv_after("InterleavedToShardedDeviceOperation"), "act_block_h_override", 96)
    assert (said["legal"], said["fits"]) == (True, True)
    assert "57 cores along them instead of 64" in said["expected"]
    assert said["buffers"]["OUT"] == 9 * 2 * 1088
    assert said["buffers"]["ACT_TILIZED"] == 3 * 6 * 1088


async def test_a_second_buffer_without_a_second_block_changes_nothing(asked):
    assert "a single block" in (await asked(conv(block=(8, 6)), "enable_act_double_buffer", True))["expected"]
    several = await asked(conv(), "enable_act_double_buffer", "true")
    assert several["buffers"]["ACT"] == 2 * 2 * 6 * 2048
    assert "saves at most 50.0" in several["expected"]
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
    assert "16 steps along K, 32 now" in said["expected"]
    assert "compute_kernel_config" in said["needs"]
    wrong = await asked(linear(), "in0_block_w", 3)
    assert "divides the 64 tiles of K" in wrong["why"]
    assert wrong["instead"].startswith(("2 (", "4 ("))
    huge = await asked(linear(), "in0_block_w", 64)
    assert (huge["fits"], huge["buffers"]["IN0"]) == (
        True,
        64 * 4 * 2048,
    )  # all of K at once: nothing to read ahead
    larger = await asked(linear(k=4096), "in0_block_w", 64)
    assert (larger["fits"], larger["verdict"]) == (False, "too_large")
    assert larger["instead"].startswith("32 (")


@for_all(
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
    bound = linear(m=4096, k=4096, n=4096, kernel_ns=2_000_000)
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


def one_token(**change):
    """Attention of a token of 8 users, 32 heads over 8, against 2,048 keys."""
    program = Program("wormhole_b0")
    q, out = (program.tensor([1, 8, 32, 64], placement=change.pop("where", DRAM)) for _ in range(2))
    k, v = (program.tensor([8, 8, 2048, 64]) for _ in range(2))
    said = {
        "program_config": "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size=32,k_chunk_size=64,"
        "max_cores_per_head_batch=16)",
        "is_causal": True,
        "k_chunk_size": 64,
        **change,
    }
    put(
        program, DeviceOp("SdpaDecodeDeviceOperation", (q, k, v), (out,), 90_000, fidelity="HiFi2", attributes=said)
    )
    return program


async def test_attention_of_a_token_has_chunks_of_keys_only(asked):
    said = await asked(one_token(), "k_chunk_size", 32)
    assert (said["now"], said["l1_bytes"], said["fits"]) == (64, 77_824, True)  # TTNN's own buffers, see tests/real
    assert "power of 2" in (await asked(one_token(), "k_chunk_size", 96))["why"]
    with pytest.raises(QuestionRefused, match="It takes: k_chunk_size, math_fidelity"):
        await asked(one_token(), "q_chunk_size", 64)


async def test_chunks_that_a_cache_allows_are_listed_with_their_l1(asked):
    said = await asked(one_token(), "k_chunk_size", None)
    assert [choice["value"] for choice in said["choices"]] == [64, 1024, 32, 128, 256, 512]
    assert said["choices"][2]["l1_bytes"] == 77_824
    assert said["next_up"]["value"] == 128


# --- the question


async def test_a_memory_reports_limit_comes_without_caveat(at, tmp_path):
    made = write_run(tmp_path, conv())
    opened = await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory))
    said = await ask(at, "check_setting", run=opened["id"], op=3, setting="act_block_h_override", value=256)
    assert "no memory report" not in said["caveat"]


@for_all(
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
    with pytest.raises(QuestionRefused, match="Conv2d, matmul or attention op, or a norm"):
        await asked(program, "math_fidelity", "LoFi")


async def test_older_convs_without_attributes_are_refused(asked):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64])
    put(program, DeviceOp("OptimizedConvNew", (x, w), (program.tensor([1, 1, 64, 64]),), 5_000))
    with pytest.raises(QuestionRefused, match="no block_config"):
        await asked(program, "act_block_h_override", 32)


# --- real reports


@for_all(
    ("name", "op", "value", "expected"),
    [
        (DEEPLAB, 221, 256, (791_768, True)),  # 147,456 of it the second copy of the rows not yet tilized
        (OFT, 376, 320, (1_124_672, True)),
        (OFT, 376, 640, (1_370_432, None)),  # 1,616,064 in the builds of its day
    ],
)
async def test_real_convs_are_judged_as_computed_by_hand(at, name, op, value, expected):
    said = await ask(at, "check_setting", run=str(shared(name)), op=op, setting="act_block_h_override", value=value)
    assert (said["l1_bytes"], said["fits"]) == expected
    assert "limit of blackhole (no memory report)" in said["caveat"]
    assert len(json.dumps(said, separators=(",", ":"))) <= 1_500


async def test_values_that_older_builds_compute_wrong_are_told_and_not_proposed(asked):
    blocks = "in0_block_w=2,out_subblock_h=1,out_subblock_w=4,per_core_M=8,per_core_N=64"
    config = f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=2,y=2),{blocks})"
    said = await asked(linear(config=config), "per_core_M", 4)
    assert said["legal"] is True
    assert said["caveat"].startswith(
        "builds before 0.81 accept it and compute wrong values: 8 blocks of per_core_M on 4"
    )
    assert 4 not in [
        choice["value"] for choice in (await asked(linear(config=config), "per_core_M", None))["choices"]
    ]


# --- beside a memory report


async def test_with_a_memory_report_the_room_is_what_lies_below_the_lowest_tensor(tmp_path):
    at = session(tmp_path)
    said = await ask(at, "check_setting", run="demo", op=64, setting="act_block_h_override", value=64)
    moment = await ask(at, "memory_summary", run="demo")
    assert said["buffers"]["TENSORS"] >= moment["l1_peak"]["tensors_bytes"]
    assert said["l1_bytes"] == sum(said["buffers"].values())
    assert "lowest tensor" in said["caveat"]


def linear_in(program, *, frees=(), k=2048, n=2048):
    """An interleaved matmul whose circular buffers a report shows."""
    x, w = program.tensor([1, 1, 1024, k]), program.weight([1, 1, k, n], "BFLOAT8_B")
    y = program.tensor([1, 1, 1024, n])
    op = matmul(x, w, y, 200_000, program_config=CONFIG)
    program.call("ttnn.linear", (x, w), (y,), (op,), frees=frees)
    return op


@pytest.fixture
def linked(tmp_path):
    async def of(program, op, value, setting="in0_block_w"):
        at = session(tmp_path)
        made = write_run(tmp_path, program)
        opened = await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory))
        line = 2 + len(program.device_ops) + program.device_ops.index(op)  # of the warm pass
        return await ask(at, "check_setting", run=opened["id"], op=line, setting=setting, value=value)

    return of


def lowest(program, op):
    """Address of the lowest L1 tensor while the op runs, above the first circular buffer."""
    replay = Replay(program)
    moment = next(one for one in replay.moments if one.op is op)
    inside = [replay.addresses[one] for one in moment.live if one.is_in("L1")]
    return min(inside) - program.device.first_l1_address


async def test_the_output_of_an_interleaved_matmul_stays_a_buffer_beside_a_memory_report(linked):
    program = Program("wormhole_b0")
    held = program.tensor([1, 1, 1024, 1024], placement=L1)
    put(program, DeviceOp("MadeUp", (program.tensor([1, 1, 32, 32]),), (held,), 5_000))
    op = linear_in(program)
    put(program, DeviceOp("MadeUp", (held,), (program.tensor([1, 1, 32, 32]),), 5_000))
    said = await linked(program, op, 4)
    assert said["buffers"]["OUT"] == 4 * 8 * 2048
    assert said["buffers"]["TENSORS"] == program.device.cb_limit - lowest(program, op)
    assert said["l1_bytes"] == sum(said["buffers"].values())


async def test_holes_between_tensors_are_no_room_for_buffers(linked):
    """A large tensor is freed above a small one: what it leaves is a hole that buffers cannot use."""
    program = Program("wormhole_b0")
    large, small = program.tensor([1, 1, 4096, 8192], placement=L1), program.tensor([1, 1, 1024, 64], placement=L1)
    program.call("ttnn.a", (), (large,), (DeviceOp("MadeUp", (), (large,), 5_000),))
    program.call("ttnn.b", (large,), (small,), (DeviceOp("MadeUp", (large,), (small,), 5_000),), frees=(large,))
    op = linear_in(program)
    put(program, DeviceOp("MadeUp", (small,), (program.tensor([1, 1, 32, 32]),), 5_000))
    room = lowest(program, op)
    assert room < 400_000
    said = await linked(program, op, 16)
    assert (said["legal"], said["fits"]) == (True, False)
    assert said["buffers"]["TENSORS"] == program.device.cb_limit - room
    assert (await linked(program, op, 4))["fits"] is True


async def test_each_device_op_of_a_call_has_the_room_of_its_own_moment(linked):
    """The first op of the call runs beside an empty L1, the second beside what the first one made."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 1024, 2048]), program.weight([1, 1, 2048, 2048], "BFLOAT8_B")
    middle = program.tensor([1, 1, 4096, 8192], placement=L1)
    first, second = program.tensor([1, 1, 1024, 2048]), program.tensor([1, 1, 1024, 2048])
    ops = (
        matmul(x, w, first, 200_000, program_config=CONFIG),
        DeviceOp("MadeUp", (first,), (middle,), 5_000),
        matmul(x, w, second, 200_000, program_config=CONFIG),
    )
    program.call("ttnn.composite", (x, w), (first, middle, second), ops)
    put(program, DeviceOp("MadeUp", (middle,), (program.tensor([1, 1, 32, 32]),), 5_000))
    beside = await linked(program, ops[2], 16)
    assert beside["buffers"]["TENSORS"] == program.device.cb_limit - lowest(program, ops[2])
    assert beside["fits"] is False
    alone = await linked(program, ops[0], 16)
    assert alone["fits"] is True


# --- no value: what there is to choose from


async def test_without_a_value_the_legal_ones_are_listed_with_their_l1_and_the_next_one_up(asked):
    said = await asked(linear(), "in0_block_w", None)
    assert [one["value"] for one in said["choices"]] == [2, 64, 1, 4, 8, 16, 32]
    assert [one["verdict"] for one in said["choices"]].count("too_large") == 0
    assert said["next_up"]["value"] == 4
    assert said["next_up"]["l1_bytes"] == 2 * 4 * (4 * 2048 + 8 * 1088) + 4 * 8 * 2048
    assert (said.get("value"), said["now"], said.get("verdict")) == (None, 2, None)


async def test_a_listed_value_is_judged_as_it_is_when_asked_for(asked):
    listed = await asked(conv(), "act_block_h_override", None)
    assert [one["value"] for one in listed["choices"]] == [64, 256, 32, 128]
    for choice in listed["choices"]:
        said = await asked(conv(), "act_block_h_override", choice["value"])
        assert (said["l1_bytes"], said["verdict"]) == (choice["l1_bytes"], choice["verdict"])


async def test_of_a_long_list_the_values_around_today_s_are_kept_and_the_others_counted(asked):
    """5,040 tiles along K have 60 divisors."""
    divisors = [size for size in range(1, 5041) if 5040 % size == 0]
    today = divisors.index(42)

    async def listed(value, window):
        config = CONFIG.replace("in0_block_w=2", f"in0_block_w={value}")
        said = await asked(linear(config=config, k=5040 * 32), "in0_block_w", None)
        assert said["why"].endswith(f"; {60 - len(said['choices'])} further ones are not listed")
        marked = [one["value"] for one in said["choices"] if one.get("mark")]
        assert marked[0] == value
        assert 5040 in marked
        beside = {one["value"] for one in said["choices"]}.difference(window)
        assert beside <= {*marked}
        assert len(said["choices"]) == len(beside) + 24
        return said.get("next_up", {}).get("value")

    assert await listed(42, divisors[today - 11 : today + 13]) == 45
    assert await listed(1, divisors[:24]) == 2
    assert await listed(5040, divisors[-24:]) is None


async def test_today_s_value_the_largest_and_the_one_to_try_come_first_and_are_marked(asked):
    said = await asked(linear(), "in0_block_w", None)
    assert [one.get("mark") for one in said["choices"][:3]] == ["now", "largest, a trial", None]
    assert said["expected"] == "7 of 7 legal values fit; no law of time tells: a trial (64 first)"
    assert "law" not in said
    tight = await asked(linear(k=5040 * 32), "in0_block_w", None)
    assert [one.get("mark") for one in tight["choices"][:3]] == ["now", "largest", "largest that fits, a trial"]
    assert [one["verdict"] for one in tight["choices"][:3]] == ["fits", "too_large", "fits"]


async def test_a_list_that_is_short_enough_is_listed_whole(asked):
    """192 tiles along K have 14 divisors, 3,072 have 22."""
    for tiles, count in ((192, 14), (3072, 22)):
        said = await asked(linear(k=tiles * 32), "in0_block_w", None)
        assert sorted(one["value"] for one in said["choices"]) == [n for n in range(1, tiles + 1) if tiles % n == 0]
        assert len(said["choices"]) == count
        assert "not listed" not in said["why"]


async def test_of_two_states_of_a_switch_none_is_the_next_one_up(asked):
    said = await asked(conv(), "enable_act_double_buffer", None)
    assert ([one["value"] for one in said["choices"]], said["now"]) == ([False, True], False)
    assert "next_up" not in said
    assert "next_up" not in await asked(conv(), "weights_dtype", None)


@for_all(
    ("schema", "is_older"),
    [("3.5", False), ("3.6", False), ("4.0", False), ("3.5.1", False), ("3.4", True), ("2.9", True), ("3.x", True)],
)
async def test_wrong_values_of_older_builds_are_told_unless_the_memory_report_is_of_a_newer_one(
    at, tmp_path, schema, is_older
):
    blocks = "in0_block_w=2,out_subblock_h=1,out_subblock_w=4,per_core_M=8,per_core_N=64"
    config = f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=2,y=2),{blocks})"
    made = write_run(tmp_path, linear(config=config))
    with closing(sqlite3.connect(made.memory)) as connection, connection:
        connection.execute("UPDATE report_metadata SET value = ? WHERE key = 'schema_version'", (schema,))
    opened = await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory))
    said = await ask(at, "check_setting", run=opened["id"], op=3, setting="per_core_M", value=4)
    assert said.get("caveat", "").startswith("builds before 0.81 accept it") == is_older


async def test_formats_are_listed_by_name_and_grids_are_not(asked):
    said = await asked(conv(), "weights_dtype", None)
    assert [one["value"] for one in said["choices"]] == ["BFLOAT8_B", "BFLOAT4_B", "BFLOAT16", "FLOAT32"]
    with pytest.raises(QuestionRefused, match="no short list"):
        await asked(conv(), "core_grid", None)


async def test_a_number_no_tensor_has_is_refused_at_once(asked):
    with pytest.raises(QuestionRefused, match="no tensor has a longer side"):
        await asked(linear(), "in0_block_w", 10**8)


# --- other programs


BANKED = (
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4,per_core_M=1,per_core_N=4,"
    "fused_activation=std::nullopt)"
)


async def test_a_dram_sharded_matmul_reads_three_blocks_of_weights_ahead(asked):
    """n=4096 over 12 banks: 11 tiles each, padded to 12; TTNN 0.81.1 says 16,384, 143,616 and 24,576."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 32, 4096]), program.weight([1, 1, 4096, 4096], "BFLOAT8_B")
    put(program, matmul(x, w, program.tensor([1, 1, 32, 4096]), 50_000, program_config=BANKED))
    said = await asked(program, "in0_block_w", 4)
    assert {name: said["buffers"][name] for name in ("IN0", "IN1", "OUT")} == {
        "IN0": 16_384,
        "IN1": 143_616,
        "OUT": 24_576,
    }
    assert (await asked(program, "in0_block_w", 3))["legal"] is False
    assert (await asked(program, "in0_block_w", 8))["verdict"] == "cannot_tell"  # the shards' width is not printed


async def test_minimal_matmul_has_its_own_blocks(asked):
    config = (
        "MinimalMatmulConfig(M_block_size=8,K_block_size=8,N_block_size=8,subblock_h=2,subblock_w=2,"
        "compute_with_storage_grid_size=(x=8,y=8))"
    )
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 1024, 2048]), program.weight([1, 1, 2048, 2048])
    op = DeviceOp(
        "MinimalMatmulDeviceOperation", (x, w), (program.tensor([1, 1, 1024, 2048]),), 90_000, fidelity="HiFi2"
    )
    op.attributes = {"config": config, "compute_kernel_config": "ComputeKernelConfig(fp32_dest_acc_en=1)"}
    put(program, op)
    said = await asked(program, "M_block_size", 16)
    assert said["buffers"] == {
        "IN0": 2 * 16 * 8 * 2048,
        "IN1": 2 * 8 * 8 * 2048,
        "OUT": 2 * 16 * 8 * 2048,
        "PARTIALS": 16 * 8 * 4096,
    }
    assert "subblock_h divides M_block_size 3" in (await asked(program, "M_block_size", 3))["why"]
    with pytest.raises(QuestionRefused, match=r"takes no in0_block_w\. It takes: M_block_size"):
        await asked(program, "in0_block_w", 2)


async def test_a_sharded_norm_takes_the_blocks_of_its_shards(asked):
    """1024 x 2048 on 8 x 8 cores; TTNN 0.81.1 says 196,608 bytes of buffers for an RMS norm with a weight."""
    program, placed = Program("wormhole_b0"), block_sharded(128, 256, (8, 8))
    x, gamma = (
        program.tensor([1, 1, 1024, 2048], placement=placed),
        program.tensor([1, 1, 64, 32], layout="ROW_MAJOR"),
    )
    config = (
        "LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(x=8,y=8),subblock_w=1,block_h=4,"
        "block_w=8,inplace=0)"
    )
    said = {"program_config": config, "norm_type": "LayerNormType::RMSNORM", "output_mem_config": placed}
    out = program.tensor([1, 1, 1024, 2048], placement=placed)
    put(
        program, DeviceOp("LayerNormDeviceOperation", (x, gamma), (out,), 30_000, fidelity="HiFi2", attributes=said)
    )
    wider = await asked(program, "subblock_w", 4)
    own = sum(size for name, size in wider["buffers"].items() if name != "OPERANDS_IN_L1")
    assert (wider["legal"], wider["fits"], own) == (True, True, 196_608)
    assert "subblock_w divides block_w 8" in (await asked(program, "subblock_w", 3))["why"]
    assert "4 tiles of a shard's height" in (await asked(program, "block_h", 2))["why"]

"""low-core-count: ops of real time on under half of the grid whose output could be cut finer."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, left_to_ttnn, norm, timeless, without
from tests.for_all import for_all
from tests.profiles import L1, Program, height_sharded, width_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, collective, matmul, unary
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

SHARDS = height_sharded(512, 256, 8)


def upsample(
    program,
    *,
    cores=1,
    kernel_ns=100_000,
    shape=(1, 64, 64, 256),
    attributes=None,
    name="UpsampleOperation",
    layout="ROW_MAJOR",
    placement=L1,
):
    """64 x 64 rows of 256: 4096 pieces. All of it in L1, so that no traffic bounds the op."""
    x = program.tensor([1, 1, 1, shape[-1]], layout=layout, placement=L1)
    y = program.tensor(shape, layout=layout, placement=placement)
    put(program, DeviceOp(name, (x,), (y,), kernel_ns, cores=cores, attributes=attributes or {}))


def upsampled(**change):
    program = Program("wormhole_b0")
    upsample(program, **change)
    return program


def test_an_op_on_one_core_with_work_to_share_out_is_told(check):
    outcome = check.ask(upsampled(cores=4))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [100_000 - 100_000 * 4 / 64]
    assert "1 op uses under half of the 64 cores (100 us, 100.0%)" in claim.claim
    assert f"Upsample on 4 with 4096 pieces to share, 1x256 -> 64x64x256 at line {line}" in claim.claim
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "CORE COUNT")]
    assert claim.caveat.startswith("an op may need whole rows")


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(upsampled())


def test_half_the_grid_is_enough(check):
    check.pair(lambda cores: upsampled(cores=cores), silent=32, fires=31)


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    check.pair(lambda ns: many(ns, 40), silent=4_999, fires=5_000)


def many(kernel_ns, times):
    program = Program("wormhole_b0")
    for _ in range(times):
        upsample(program, kernel_ns=kernel_ns)
    pass_time(program, 1_000)
    return program


def test_a_launch_stays(check):
    """Heads split on one core took 39 us, over 16 cores 1.85; joined 20 and 1.2: no five microseconds stay."""
    assert check.ask(many(6_000, 3)).claim.at_most_ns.tolist() == [6_000 - LAUNCH_FLOOR_NS] * 3


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(upsample, 0.01, of="time")


def test_half_a_percent_of_the_window_must_be_saved(check):
    """36 pieces on 24 cores: a third of the time at most, so that the ops take 1.5 % where they could save 0.5 %."""

    def barely(program):
        upsample(program, cores=24, kernel_ns=30_000, shape=(1, 1, 36, 256))

    check.share_pair(barely, 0.005, of="saving")


def test_what_it_reads_and_writes_stays(check):
    """8,389,120 bytes at 240 GB/s: 35 us, more than 100 us / 64."""

    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 1, 256], layout="ROW_MAJOR"), program.tensor([4, 64, 64, 256], layout="ROW_MAJOR")
    put(program, DeviceOp("UpsampleOperation", (x,), (y,), 100_000, cores=1))
    assert check.ask(program).at_most_ns == pytest.approx(100_000 - (16_384 + 1) * 512 / 240)


def test_an_op_that_has_one_piece_cannot_be_spread(check):
    assert check.ask(upsampled(shape=(1, 1, 1, 256))).status == "clean"


@for_all(
    ("change", "pieces"),
    [
        ({}, 4096),
        ({"layout": "TILE"}, 64 * 2 * 8),
        ({"placement": height_sharded(512, 256, 8)}, 4096),
        ({"placement": height_sharded(512, 256, 8), "layout": "TILE"}, 128),
        ({"placement": width_sharded(4096, 32, 8), "layout": "TILE"}, 8),
    ],
    ids=["rows", "tiles", "rows in shards", "rows of tiles", "columns"],
)
def test_pieces_are_tiles_or_rows_as_the_output_lies(check, change, pieces):
    claim = check.ask(upsampled(cores=2, kernel_ns=1_000_000, **change)).claim
    assert f"on 2 with {pieces} pieces" in claim.claim
    assert claim.at_most_ns.tolist() == [pytest.approx(1_000_000 * (1 - 2 / min(64, pieces)))]


@for_all("setting", ["sub_core_grids", "sub_device_id"])
def test_a_part_of_the_grid_given_on_purpose_is_no_finding(check, setting):
    assert check.ask(upsampled(attributes={setting: "{[(x=0,y=0) - (x=0,y=0)]}"})).status == "clean"
    assert check.ask(upsampled(attributes={setting: None})).fires


def test_collectives_use_few_cores_on_purpose(check):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 2048, 512]), program.tensor([1, 1, 2048, 2048])
    put(program, collective("AllGatherAsync", x, y, 100_000, ring_size=4))
    assert check.ask(program).status == "clean"


@for_all(
    "name",
    [
        "Conv2dDeviceOperation",
        "GroupNormDeviceOperation",
        "InterleavedToShardedDeviceOperation",
        "MinimalMatmulOp",
    ],
)
def test_convs_norms_moves_and_minimal_matmuls_are_left_to_their_checks(check, name):
    assert check.ask(upsampled(name=name)).status == "clean"


def test_matmuls_with_operands_in_l1_are_left_to_their_check(check):
    def program(placement):
        program = Program("wormhole_b0")
        left_to_ttnn(program, first=placement)
        return program

    assert check.ask(program(L1)).status == "clean"
    assert check.ask(program(height_sharded(64, 512, 16))).fires


def test_attention_written_out_is_left_to_its_check(check):
    def program(softmax):
        program = Program("wormhole_b0")
        heads = [1, 20, 64, 64]
        q, k, v = (
            put(program, unary("RELU", program.tensor(heads), program.tensor(heads), 4_000)) for _ in range(3)
        )
        scores = put(program, matmul(q, k, program.tensor(heads), 30_000, cores=1))
        scores = put(program, DeviceOp(softmax, (scores,), (program.tensor(heads),), 20_000, fidelity="HiFi4"))
        put(program, matmul(scores, v, program.tensor(heads), 50_000, cores=2))
        return program

    assert check.ask(program("SoftmaxDeviceOperation")).status == "clean"
    assert len(check.ask(program("UnaryDeviceOperation")).claim.rows) == 2


def test_several_checks_ops_together_leave_nothing(check):
    program = Program("wormhole_b0")
    left_to_ttnn(program)
    norm(program)
    upsample(program, name="Conv2dDeviceOperation")
    assert check.ask(program).status == "clean"


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(upsampled())).status == "clean"


def test_a_matmul_gets_a_core_grid(check):
    program = Program("wormhole_b0")
    x, w = program.tensor([8, 1, 32, 512]), program.weight([1, 1, 512, 1024])
    put(program, matmul(x, w, program.tensor([8, 1, 32, 1024]), 200_000, cores=8))
    claim = check.ask(program).claim
    assert not claim.is_trial
    assert claim.fix.startswith(
        "g = device.compute_with_storage_grid_size(); ttnn.linear(x, w, core_grid=ttnn.CoreGrid(y=g.y, x=g.x), "
        "compute_kernel_config=<as now>, ...)"
    )
    assert "reshape to [1,1,B*M,K] first" in claim.fix


@for_all(
    ("config", "end"),
    [
        ("in0_block_w=8", "compute_kernel_config=<as now>, ...) in place of program_config; "),
        (
            "in0_block_w=8,fused_activation=Any(op_type=UnaryOpType::SILU,param={})",
            "compute_kernel_config=<as now>, activation=<that of its config>, ...) in place of program_config; ",
        ),
    ],
)
def test_a_core_grid_takes_the_place_of_a_config_and_its_function(check, config, end):
    """Real TTNN refuses both in one call, and of the grid alone it would apply no function."""
    program = Program("wormhole_b0")
    x, w, y = (
        program.tensor([1, 1, 1024, 1024]),
        program.weight([1, 1, 1024, 1024]),
        program.tensor([1, 1, 1024, 1024]),
    )
    name = "MatmulMultiCoreReuseMultiCastProgramConfig"
    put(program, matmul(x, w, y, 200_000, cores=4, program_config=f"{name}({config})"))
    assert end in check.ask(program).claim.fix


def test_an_op_on_shards_gets_finer_shards(check):
    """On as many cores as whole tiles fill: 4096 rows are 64 shards of 64, 4160 are 44 of 96 and a smaller one."""

    def fix(rows, placement, layout="TILE"):
        change = {"cores": 8, "placement": placement, "layout": layout, "shape": (1, 1, rows, 256)}
        return check.ask(upsampled(**change)).claim.fix

    tall = fix(4096, height_sharded(512, 256, 8))
    assert "ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(" in tall
    assert "num_cores_to_corerangeset(64, device.compute_with_storage_grid_size(), True), (64, 256)," in tall
    assert "corerangeset(44, device.compute_with_storage_grid_size(), True), (96, 256)" in fix(
        4160, height_sharded(544, 256, 8)
    )
    assert "corerangeset(64, device.compute_with_storage_grid_size(), True), (65, 256)" in fix(
        4160, height_sharded(520, 256, 8), "ROW_MAJOR"
    )


def test_columns_are_cut_in_whole_tiles(check):
    program = upsampled(cores=2, kernel_ns=1_000_000, placement=width_sharded(4096, 128, 2))
    fix = check.ask(program).claim.fix
    assert "WIDTH_SHARDED" in fix
    assert "corerangeset(8, device.compute_with_storage_grid_size(), True), (4096, 32)" in fix


@for_all(("rows", "more"), [(63, True), (64, False)])
def test_only_an_op_of_fewer_rows_than_cores_gets_more_of_them(check, rows, more):
    fix = check.ask(upsampled(shape=(1, 1, rows, 256))).claim.fix
    assert ("more rows to share" in fix) is more
    assert ("over 64 cores" in fix) is more


@for_all(
    ("height", "advice"),
    [
        (1, "its program shares the 1 piece of its input"),
        (31, "shares the 31 pieces"),
        (32, "shard the input: ttnn.Mem"),
    ],
)
def test_rows_enough_of_a_program_that_does_not_share_them_are_not_asked_for_again(check, height, advice):
    """DeepLab's upsample of one pixel: 2048 rows on one core, since it shares the rows of its input."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, height, 256], layout="ROW_MAJOR", placement=L1)
    y = program.tensor([1, 64, 64, 256], layout="ROW_MAJOR", placement=L1)
    put(program, DeviceOp("UpsampleOperation", (x,), (y,), 100_000, cores=1))
    fix = check.ask(program).claim.fix
    assert advice in fix
    assert "more rows to share" not in fix


@for_all(
    ("cores", "advice"), [(4, "the 4 rows of tiles of its input, one a core"), (3, "shard the input: ttnn.Mem")]
)
def test_as_many_shards_as_cores_now_are_no_advice(check, cores, advice):
    """128 rows are split on four cores, and shards of its input are four."""
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 128, 6144]), program.tensor([1, 32, 128, 128])
    put(program, DeviceOp("SoftmaxDeviceOperation", (x,), (y,), 100_000, cores=cores))
    assert advice in check.ask(program).claim.fix


def test_a_matmul_on_shards_gets_finer_shards_for_ttnn_passes_a_core_grid_over(check):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 4096, 64], placement=height_sharded(256, 64, 16)), program.weight([1, 1, 64, 256])
    put(program, matmul(x, w, program.tensor([1, 1, 4096, 256], placement=L1), 200_000, cores=16))
    fix = check.ask(program).claim.fix
    assert fix.startswith("the shards of x choose the cores: cut it finer: ttnn.MemoryConfig(")
    assert "num_cores_to_corerangeset(64, device.compute_with_storage_grid_size(), True), (64, 64)" in fix
    given = "MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w=4,per_core_M=1,per_core_N=3)"
    program.device_ops[0].attributes["program_config"] = given  # it chooses the cores, whatever the shards are
    assert check.ask(program).claim.fix.startswith(
        "a program_config with smaller per_core_M and per_core_N, on a larger"
    )


@for_all(
    ("source", "made", "is_trial"),
    [(SHARDS, SHARDS, True), (L1, SHARDS, False), (SHARDS, L1, False), (L1, L1, False)],
)
def test_finer_shards_are_a_trial_where_both_sides_lie_in_them(check, source, made, is_trial):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 4096, 256], placement=where) for where in (source, made))
    put(program, DeviceOp("UpsampleOperation", (x,), (y,), 100_000, cores=8))
    assert check.ask(program).claim.is_trial is is_trial


def test_a_matmul_on_a_chip_of_an_unknown_grid_gets_a_core_grid(check):
    program = Program("wormhole_b0")
    upsample(program, cores=64)
    x, w = program.tensor([1, 1, 256, 512]), program.weight([1, 1, 512, 1024])
    put(program, matmul(x, w, program.tensor([1, 1, 256, 1024]), 200_000, cores=8))
    assert "core_grid=ttnn.CoreGrid" in check.ask(program, generation="C3").claim.fix


def test_a_compiler_has_an_option_instead(check):
    program = upsampled()
    upsample(program, cores=64, shape=(1, 64, 64, 128))
    fix = check.ask(program, generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("chooses shards and cores")


def test_a_report_without_the_grid_says_so(check):
    program = upsampled()
    upsample(program, cores=64, shape=(1, 64, 64, 128))
    assert "64 is the most cores any op used" in check.ask(program, generation="C3").claim.caveat


def test_without_core_counts_nothing_can_be_told(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("CORE COUNT",))), "CORE COUNT")


def test_without_operands_nothing_can_be_told(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",))), "INPUT_n")


def test_the_grid_alone_does_not_say_what_was_used(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("=CORE COUNT=",), upsampled())), "CORE COUNT")


def test_elementwise_ops_count_too(check):
    program = Program("wormhole_b0")
    a, b, y = (program.tensor([1, 1, 1024, 1024], placement=L1) for _ in range(3))
    op = binary("ADD", a, b, y, 50_000)
    op.cores = 8
    put(program, op)
    assert "Binary on 8 with 1024 pieces" in check.ask(program).claim.claim


def test_dram_sharded_matmuls_work_on_as_many_cores_as_dram_has_banks(check):
    def program(config):
        program = Program("wormhole_b0")
        x, y = (program.tensor([1, 1, 32, 4096], placement=width_sharded(32, 64, (8, 8))) for _ in range(2))
        w = program.tensor([1, 1, 4096, 4096], "BFLOAT8_B")
        put(program, matmul(x, w, y, 600_000, cores=12, program_config=config))
        return program

    name = "MatmulMultiCoreReuseMultiCast{}ProgramConfig(in0_block_w=8,per_core_M=1,per_core_N=2)"
    check.pair(program, silent=name.format("DRAMSharded"), fires=name.format("1D"))
    ring = name.format("1D").replace(")", ",gather_in0=1)")
    check.pair(program, silent=ring, fires=name.format("1D"))


def test_what_cannot_be_done_in_its_time_is_not_free_to_save(check):
    """67 MB of BFLOAT16 weights in 20 us: 3355 GB/s."""

    def program(kernel_ns):
        program = Program("wormhole_b0")
        x, y = (program.tensor([1, 1, 32, side]) for side in (8192, 4096))
        w = program.tensor([1, 1, 8192, 4096])
        put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), kernel_ns, cores=2))
        return program

    check.pair(program, silent=20_000, fires=2_000_000)


@for_all(
    ("reader", "advice"),
    [
        ("UnaryDeviceOperation", "keep the shards that line {line} gives up: no move there"),
        ("NlpCreateHeadsDeviceOperation", "a core takes a row of its tiles"),  # TTNN 0.81.1 refuses shards as these
        ("NLPConcatHeadsDeviceOperation", "a core takes a row of its tiles"),
        ("RotaryEmbeddingLlamaDeviceOperation", "more pieces in one call"),
        ("SDPAOperation", "more pieces in one call"),
        ("ScatterDeviceOperation", "more pieces in one call"),
    ],
)
def test_what_was_moved_out_of_its_shards_can_stay_there_if_its_reader_takes_any(check, reader, advice):
    outcome = check.ask(behind_a_move(reader=reader))
    assert outcome.claim.fix.startswith(advice.format(line=outcome.case.line(0)))
    assert len(outcome.claim.fix) <= 260
    assert outcome.claim.is_trial == (reader != "UnaryDeviceOperation")
    takes_shards = advice != "more pieces in one call"
    assert outcome.claim.rows.tolist() == ([0, 1] if takes_shards else [1])  # the move goes away with them


def behind_a_move(*, again=False, into=None, reader="UnaryDeviceOperation"):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 2560], placement=width_sharded(32, 64, (8, 5)))
    flat = put(program, DeviceOp("ShardedToInterleavedDeviceOperation", (x,), (program.tensor(x.shape),), 5_000))
    if again:
        put(program, DeviceOp("TransposeDeviceOperation", (flat,), (program.tensor([1, 1, 2560, 32]),), 2_000))
    out = program.tensor([1, 20, 32, 128], placement=into) if into else program.tensor([1, 20, 32, 128])
    put(program, DeviceOp(reader, (flat, program.weight([1, 1, 2560, 128])), (out,), 22_000, cores=1))
    return program


def test_a_move_goes_away_with_the_shards_that_are_kept(check):
    claim = check.ask(behind_a_move()).claim
    assert claim.rows.tolist() == [0, 1]
    assert claim.at_most_ns[0] == 5_000
    assert claim.claim.startswith("1 op uses under half of the 64 cores (22 us, 77.2%)")
    assert claim.claim.endswith("; moves out of shards for them: 1")


@for_all(
    "change",
    [
        {"again": True},
        {"into": height_sharded(640, 128, 1)},
        {"reader": "MatmulDeviceOperation"},
    ],
    ids=["read again", "shards of its own", "a matmul"],
)
def test_a_move_that_is_needed_is_not_counted(check, change):
    outcome = check.ask(behind_a_move(**change))
    assert outcome.claim.rows.tolist() == [len(outcome.case) - 1]


def test_what_another_op_made_has_no_shards_to_keep_and_users_have_a_core_each(check):
    """TTNN 0.81.1 gives a user of a decode one core, whatever shards the call asks for."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 2560], placement=L1)
    y = put(program, DeviceOp("UnaryDeviceOperation", (x,), (program.tensor(x.shape),), 5_000))
    put(
        program,
        DeviceOp("SoftmaxDeviceOperation", (y,), (program.tensor([1, 20, 32, 128]),), 22_000, cores=1),
    )
    assert check.ask(program).claim.fix.startswith("give it more rows")
    shards, flat = height_sharded(32, 64, 2), L1
    for name, into, told in (
        ("NLPCreateQKVHeadsDecodeDeviceOperation", shards, False),
        ("RotaryEmbeddingLlamaDeviceOperation", shards, False),
        ("RotaryEmbeddingLlamaDeviceOperation", flat, True),
        ("SdpaDecodeDeviceOperation", flat, True),
    ):
        assert check.ask(behind_a_move(reader=name, into=into)).fires == told, name


def test_the_models_input_was_not_moved_by_the_last_op(check):
    program = upsampled()
    x = program.tensor([1, 1, 32, 2560], placement=width_sharded(32, 64, (8, 5)))
    put(program, DeviceOp("ShardedToInterleavedDeviceOperation", (x,), (program.tensor(x.shape),), 5_000))
    assert check.ask(program).claim.fix.startswith("its program shares the 1 piece of its input")


def test_of_small_blocks_the_depth_is_told_too(check):
    def program(block):
        config = f"MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w={block},per_core_M=4,per_core_N=8,transpose_mcast=1)"
        program = Program("wormhole_b0")
        x, w, y = (program.tensor([1, 8, *sides]) for sides in ((128, 2048), (2048, 1536), (128, 1536)))
        put(program, matmul(x, w, y, 900_000, cores=24, program_config=config))
        return program

    shallow, deep = (check.ask(program(block)).claim.fix for block in (2, 3))
    assert shallow.endswith("; in its config in0_block_w up to 8, 2 now")
    assert "core_grid alone would take 8 cores" in deep  # one for each pair of matrices: 24 work now
    assert "in0_block_w" not in deep
    assert len(shallow) <= 260


def test_sparse_matmuls_have_their_own_checks(check):
    assert check.ask(upsampled(name="SparseMatmulDeviceOperation")).status == "clean"


def test_an_update_of_a_cache_writes_a_few_rows_of_it(check):
    """Its output is the whole cache: 352 pieces, of which it writes a row of each head."""

    def updated(name):
        program = Program("wormhole_b0")
        cache = program.tensor([8, 1, 352, 128])
        rows = program.tensor([8, 1, 32, 128])
        op = DeviceOp(f"{name}DeviceOperation", (cache, rows), (cache,), 8_000, cores=16)
        put(program, op)
        return program

    check.pair(updated, silent="PagedUpdateCache", fires="Unary")


def test_an_op_that_takes_shards_and_gives_them_is_a_trial_of_its_own(check):
    """Its neighbours hold the same shards."""
    program = upsampled(cores=4)
    few = width_sharded(32, 64, 4)
    x, y = (program.tensor([1, 1, 4096, 256], placement=few) for _ in range(2))
    put(program, DeviceOp("UpsampleOperation", (x,), (y,), 100_000, cores=4))
    z = program.tensor([1, 1, 4096, 256], placement=L1)
    put(program, DeviceOp("UpsampleOperation", (y,), (z,), 90_000, cores=4))
    others, shards = check.ask(program).claims
    assert (others.rows.tolist(), shards.rows.tolist()) == ([0, 2], [1])
    assert (others.expected is None, shards.expected is None) == (False, True)

"""Matmuls against what dry captures of TTNN 0.81.1 showed on mock devices."""

from dataclasses import replace

from tests.analyses.from_graph.programs import BANK, KERNEL, modelled, sharded, tensor
from tests.for_all import for_all
from ttnn_mcp.analyses.from_graph.program import CALL, Machine

NAME, SPARSE = "MatmulDeviceOperation", "SparseMatmulDeviceOperation"
PRINTED = "MatmulParams(<variant>, 1, {}, 0, {}, std::nullopt, 0, {}, {}, Tile(tile_shape={{32, 32}}))"
PLAIN = PRINTED.format(KERNEL.format(0, 1), "std::nullopt", 0, 0)
ON_GRID = PLAIN.replace("0, std::nullopt, std::nullopt", "0, <xy_pair>, std::nullopt")
P300, P100 = Machine((11, 10), "blackhole", 8, 1_428_352), Machine((13, 10), "blackhole", 8, 1_428_352)
ONE, TWO, TILES = (f"MatmulMultiCore{kind}ProgramFactory" for kind in ("ReuseMcast1D", "ReuseMcast2D", ""))


@for_all(
    ("a", "b", "bias", "factory", "measured"),
    [
        (tensor(8, 384, 1024), tensor(1024, 3072), True, TWO, 100_352),
        (tensor(8, 384, 1024), tensor(1024, 1024), True, TWO, 38_912),
        (tensor(8, 384, 1024), tensor(1024, 4096), True, ONE, 167_936),
        (tensor(8, 16, 384, 64), tensor(8, 16, 64, 384), False, TWO, 24_576),
        (tensor(8, 16, 384, 384), tensor(8, 16, 384, 64), False, TWO, 16_384),
    ],
)
def test_all_in_dram_ttnn_spreads_the_output_over_all_cores(a, b, bias, factory, measured):
    out = tensor(*a.shape[:-1], b.shape[-1])
    inputs = [a, b, *([tensor(1, b.shape[-1])] if bias else [])]
    assert modelled(NAME, inputs, out, factory=factory, attributes=PLAIN, machine=P300) == measured


@for_all(
    ("a", "b", "factory", "room", "measured"),
    [
        (tensor(1, 1, 512, 1024, place="L1"), tensor(1024, 4096, dtype="b8"), ONE, BANK, 168_192),
        (tensor(1, 1, 1024, 1024, place="L1"), tensor(1024, 4096, dtype="b8"), TWO, 1_300_000, 724_992),
        (tensor(1, 1, 1024, 4096, place="L1"), tensor(4096, 1024), TWO, 1_200_000, 262_144),
        (tensor(2, 256, 512, place="L1"), tensor(512, 1536), ONE, BANK, 90_112),
        (tensor(2, 8, 256, 64, place="L1"), tensor(2, 8, 64, 256, place="L1"), TILES, BANK, 12_288),
    ],
)
def test_in_l1_the_blocks_follow_from_the_room(a, b, factory, room, measured):
    out = tensor(*a.shape[:-1], b.shape[-1], place="L1")
    machine = P100 if b.dtype == "BFLOAT8_B" or room == 1_200_000 else Machine((8, 8), "wormhole_b0", 12, BANK)
    assert modelled(NAME, [a, b], out, factory=factory, attributes=PLAIN, room=room, machine=machine) == measured


@for_all(
    ("a", "b", "grid", "measured"),
    [
        ((1, 1, 512, 1024), (1, 1, 1024, 2048), (8, 8), 196_608),
        ((1, 1, 512, 1024), (1, 1, 1024, 2048), (4, 1), 655_360),
        ((2, 256, 512), (512, 512), (8, 4), 114_688),
        ((1, 1, 32, 4096), (1, 1, 4096, 4096), (8, 8), 28_672),
        ((1, 1, 32, 4096), (1, 1, 4096, 4096), (4, 1), 1_196_032),
        ((1, 1, 4096, 64), (1, 1, 64, 64), (8, 4), 40_960),
        ((8, 64, 256), (8, 256, 64), (8, 8), 24_576),
        ((1, 1, 64, 64), (1, 1, 64, 4096), (8, 4), 40_960),
        ((8, 1056, 96), (96, 3072), (8, 8), 645_120),
        ((1, 1, 1056, 2048), (1, 1, 2048, 1536), (8, 9), 241_664),
    ],
)
def test_a_named_grid_takes_what_it_can(a, b, grid, measured):
    out, core_grid = tensor(*a[:-1], b[-1]), f"ttnn.CoreGrid(x={grid[0]}, y={grid[1]})"
    assert modelled(NAME, [tensor(*a), tensor(*b)], out, attributes=ON_GRID, core_grid=core_grid) == measured


def test_a_grid_that_the_chip_does_not_have_is_passed_over():
    a, b, bias, out = tensor(6, 384, 1024), tensor(1024, 3072), tensor(1, 3072), tensor(6, 384, 3072, dtype="b8")
    found = modelled(NAME, [a, b, bias], out, attributes=ON_GRID, core_grid="ttnn.CoreGrid(x=12, y=6)")
    assert found == 707_328


def test_a_grid_that_nobody_prints_is_not_guessed():
    a, b = tensor(1, 1, 512, 1024), tensor(1, 1, 1024, 2048)
    assert modelled(NAME, [a, b], tensor(1, 1, 512, 2048), attributes=ON_GRID) is None


def test_a_choice_that_the_factory_contradicts_is_not_told():
    a, b, out = tensor(1, 1, 512, 1024, place="L1"), tensor(1024, 4096), tensor(1, 1, 512, 4096, place="L1")
    assert modelled(NAME, [a, b], out, attributes=PLAIN, factory=TWO) is None
    assert modelled(NAME, [a, b], out, attributes=PLAIN, factory=TILES) == 3 * 4096


def test_a_program_config_of_the_call_decides():
    x = sharded(8, 224, 768, layout="BLOCK", shard=(224, 64), cores=(12, 8))
    out = sharded(8, 224, 2304, layout="BLOCK", shard=(224, 192), cores=(12, 8), dtype="b8")
    config = "MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w=2,per_core_M=7,per_core_N=6)"
    inputs = [x, tensor(768, 2304, dtype="b8"), tensor(1, 2304, dtype="b8")]
    found = modelled(NAME, inputs, out, attributes=PLAIN, factory=TWO, program_config=config)
    assert found == 2 * 2 * 7 * 2048 + 2 * 2 * 6 * 1088 + 7 * 6 * 2048 + 6 * 1088


def test_weights_in_dram_banks_are_read_three_blocks_ahead():
    x = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    out = sharded(1, 1, 32, 14_336, layout="WIDTH", shard=(32, 448), cores=(8, 4))
    weights = sharded(
        1, 1, 4096, 14_336, layout="WIDTH", shard=(4096, 1216), cores=(12, 1), dtype="b4", buffer="DRAM"
    )
    config = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4,per_core_M=1,per_core_N=14)"
    assert modelled(NAME, [x, weights], out, attributes=PLAIN, program_config=config) == 360_960
    two = config.replace(")", ",num_workers_per_dram_bank=2)")
    assert modelled(NAME, [x, weights], out, attributes=PLAIN, program_config=two) == 190_720


def test_a_turned_operand_counts_as_it_is_multiplied():
    turned = PRINTED.format(KERNEL.format(0, 1), "std::nullopt", 0, 1)
    a, b, out = tensor(8, 384, 1024), tensor(1024, 3072), tensor(8, 384, 3072)
    plain = modelled(NAME, [a, b], out, attributes=PLAIN, machine=P300)
    assert modelled(NAME, [a, tensor(3072, 1024)], out, attributes=turned, machine=P300) == plain


def test_sparse_and_minimal_matmuls_have_models_of_their_own():
    config = "MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w=4,per_core_M=1,per_core_N=2,out_block_h=1,out_block_w=1,mcast_in0=1)"
    inputs = [tensor(1, 1, 32, 1024), tensor(1, 8, 1024, 2048, dtype="b8"), tensor(1, 1, 1, 8, rows=True)]
    out = tensor(1, 1, 1, 8, 32, 2048)
    assert modelled(SPARSE, inputs, out, attributes=PLAIN, program_config=config) == 27_200
    x, w = tensor(1, 1, 64, 1024), tensor(1, 1, 1024, 1024)
    minimal = f"MinimalMatmulParams(std::nullopt, std::nullopt, std::nullopt, {KERNEL.format(1, 1)})"
    assert modelled("MinimalMatmulDeviceOperation", [x, w], x, attributes=minimal) == 1_048_576
    assert modelled("MinimalMatmulDeviceOperation", [x, w], x, attributes="MinimalMatmulParams(config") is None
    assert modelled("MinimalMatmulDeviceOperation", [x], x, attributes=minimal) is None
    assert modelled(SPARSE, inputs, out, attributes=PLAIN) is None
    assert modelled(SPARSE, inputs[:2], out, attributes=PLAIN, program_config=config) is None
    assert modelled(SPARSE, inputs, out, attributes=PLAIN, program_config=config.replace("1DPro", "Pro-")) is None


@for_all(
    ("a", "b", "room", "measured"),
    [
        (tensor(1, 1, 64, 1024), tensor(1, 8, 1024, 512, dtype="b8"), BANK, 167_936),
        (tensor(1, 1, 256, 96), tensor(1, 4, 96, 160, dtype="b8"), BANK, 27_264),
        (tensor(1, 1, 64, 2048), tensor(1, 4, 2048, 64, dtype="b8"), BANK, 143_872),
    ],
)
def test_a_first_operand_is_kept_for_all_batches_of_the_second(a, b, room, measured):
    out = tensor(1, b.shape[1], a.shape[-2], b.shape[-1])
    assert modelled(NAME, [a, b], out, factory=ONE, attributes=PLAIN, room=room) == measured


def test_batches_that_are_not_fused_are_read_ahead():
    a, b = tensor(1, 2, 768, 64, dtype="f32"), tensor(1, 1, 64, 768)
    out = tensor(1, 2, 768, 768, dtype="b8", place="L1")
    assert modelled(NAME, [a, b], out, factory=TWO, attributes=PLAIN) == 266_240


@for_all(("machine", "words"), [(Machine((8, 8), "wormhole_b0", 12, BANK), 64), (P100, 128)])
def test_words_of_a_sparsity_are_aligned_as_rows_in_dram(machine, words):
    config = "MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w=2,per_core_M=2,per_core_N=1,mcast_in0=1)"
    inputs = [tensor(1, 1, 64, 256), tensor(1, 8, 256, 512, dtype="b8"), tensor(1, 1, 1, 8, rows=True)]
    out = tensor(1, 1, 1, 8, 64, 512)
    found = modelled(SPARSE, inputs, out, attributes=PLAIN, program_config=config, machine=machine)
    assert found == 16_384 + 4352 + 4096 + words  # as measured, buffer by buffer


FUSED = [  # kind, block of K, per_core_M and _N, whether batches are fused, first and second operand, measured
    (TWO, (2, 2, 1), 1, (1, 2, 256, 64), (64, 256), 16_384),
    (TWO, (2, 1, 1), 0, (1, 2, 256, 64), (64, 256), 18_432),
    (TWO, (2, 1, 1), 0, (1, 2, 256, 64), (1, 2, 64, 256), 18_432),
    (ONE, (2, 2, 1), 0, (1, 2, 64, 64), (64, 1024), 24_576),
]


@for_all("case", FUSED)
def test_a_config_says_whether_batches_are_fused(case):
    factory, (k, high, wide), fused, a, b, measured = case
    name = "MatmulMultiCoreReuseMultiCast1D" if factory == ONE else "MatmulMultiCoreReuseMultiCast"
    blocks = f"in0_block_w={k},out_block_h={high},out_block_w={wide},per_core_M={high},per_core_N={wide}"
    config = f"{name}ProgramConfig({blocks},fuse_batch={fused},mcast_in0=1)"
    out = tensor(*a[:-1], b[-1])
    inputs = [tensor(*a), tensor(*b)]
    assert modelled(NAME, inputs, out, attributes=PLAIN, factory=factory, program_config=config) == measured


def test_what_a_config_leaves_open_is_not_told():
    a, b, out = tensor(1, 1, 512, 1024), tensor(1024, 1024), tensor(1, 1, 512, 1024)
    x = sharded(1, 1, 512, 1024, layout="BLOCK", shard=(64, 128), cores=(8, 8))
    unshaped = replace(x, placement=replace(x.placement, shard=None))
    config = "MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w=2,per_core_M=2,per_core_N=4)"
    banked = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4,per_core_M=1,per_core_N=4)"
    no_banks = replace(P300, dram_banks=0)
    cases = [
        ([a], out, config, P300),
        ([a, b], out, config.replace("Cast", "Caste"), P300),
        ([a, b], out, config.replace("per_core_M=2,", ""), P300),
        ([unshaped, b], out, config, P300),
        ([a, b], unshaped, config, P300),
        ([a, b], out, banked, no_banks),
    ]
    found = [
        modelled(NAME, inputs, gives, attributes=PLAIN, program_config=asked, machine=machine)
        for inputs, gives, asked, machine in cases
    ]
    assert found == [None] * len(cases)
    places = [replace(spec, placement=None) for spec in (a, b, out)]
    assert modelled(NAME, places[:2], places[2], attributes=PLAIN, program_config=config) == 65_536


@for_all(("call", "measured"), [("ttnn.conv2d", 40_960), ("ttnn.linear", 20_480)])
def test_a_conv_of_one_point_fills_its_channels_up_to_whole_shards(call, measured):
    """96 channels on two columns of cores: 64 each. A matmul of the same operands multiplies three tiles."""
    x = sharded(1, 1, 100, 96, layout="BLOCK", shard=(128, 64), cores=(2, 1))
    out = sharded(1, 1, 100, 8, layout="BLOCK", shard=(128, 32), cores=(2, 1))
    factory = "MatmulMultiCoreReuseMcast2DProgramFactory"
    printed = f"MatmulParams(<variant>, 1, MemoryConfig(), DataType::BFLOAT16, {KERNEL.format(0, 0)})"
    asked = {"factory": factory, "attributes": printed, CALL: call}
    assert modelled("MatmulDeviceOperation", [x, tensor(1, 1, 96, 8)], out, **asked) == measured


@for_all("call", ["ttnn.conv2d", "ttnn.linear"])
def test_pages_have_no_shards_to_fill_up(call):
    operands = [tensor(1, 1, 64, 96), tensor(1, 1, 96, 64)]
    assert modelled("MatmulDeviceOperation", operands, tensor(1, 1, 64, 64), **{CALL: call}) is not None

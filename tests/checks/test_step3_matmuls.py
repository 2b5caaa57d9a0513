"""Step 3, matmuls and what goes with them: program configs, minimal_matmul, attention, operands in DRAM."""

from __future__ import annotations

import pytest

from tests.checks.rows import case_of, claims, pass_time, put, the_claim
from tests.profiles import DRAM, L1, Placement, Program, height_sharded, width_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul, sharded_to_interleaved, unary
from ttnn_mcp.checks.check import CannotTell, NotApplicable
from ttnn_mcp.checks.step3_memory_sharding import (
    hot_operands_in_dram,
    matmul_program_config,
    minimal_matmul_on_few_rows,
    sdpa_small_chunks,
    unfused_attention,
)

CONFIG, MINIMAL = matmul_program_config.CHECK, minimal_matmul_on_few_rows.CHECK
ATTENTION, SDPA, HOT = unfused_attention.CHECK, sdpa_small_chunks.CHECK, hot_operands_in_dram.CHECK


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def config(block=4, height=1, width=4, *, name="MatmulMultiCoreReuseMultiCastProgramConfig"):
    return (
        f"{name}(compute_with_storage_grid_size=(x=8,y=8),in0_block_w={block},out_subblock_h={height},"
        f"out_subblock_w={width},per_core_M=4,per_core_N=4)"
    )


def linear(program, *, m=1024, k=1024, n=1024, kernel_ns=100_000, **how):
    """2.1 GFLOP: 16.4 us at HiFi2 on 64 cores; 6.3 MB: 26.2 us at 240 GB/s."""
    x, w, y = program.tensor([1, 1, m, k]), program.weight([1, 1, k, n]), program.tensor([1, 1, m, n])
    put(program, matmul(x, w, y, kernel_ns, **how))


@pytest.mark.parametrize(
    ("given", "fires"),
    [
        (config(block=1), True),
        (config(block=2), False),
        (config(height=1, width=1), True),
        (config(height=1, width=2), False),
        ("MatmulMultiCoreProgramConfig()", True),
    ],
)
def test_small_blocks_are_told(tmp_path, program, given, fires):
    linear(program, program_config=given)
    said = claims(CONFIG, case_of(tmp_path, program))
    assert bool(said) is fires
    for claim in said:
        assert "small blocks" in claim.claim
        assert claim.at_most_ns.tolist() == [pytest.approx(100_000 - 6_291_456 / 240)]


@pytest.mark.parametrize(("kernel_ns", "fires"), [(44_000, True), (43_000, False)])
def test_a_matmul_at_sixty_percent_of_its_roofline_is_well_blocked(tmp_path, program, kernel_ns, fires):
    linear(program, kernel_ns=kernel_ns, program_config=config(block=1))
    assert bool(claims(CONFIG, case_of(tmp_path, program))) is fires


def test_a_short_inner_dimension_leaves_nothing_to_block(tmp_path, program):
    linear(program, k=96, program_config=config(block=1))
    linear(program, k=128, program_config=config(block=1))
    claim = the_claim(CONFIG, case_of(tmp_path, program))
    assert len(claim.rows) == 1


@pytest.mark.parametrize(("kernel_ns", "fires"), [(75_500, True), (74_500, False)])
def test_a_config_never_given_is_told_below_35_percent_of_the_roofline(tmp_path, program, kernel_ns, fires):
    linear(program, kernel_ns=kernel_ns)
    said = claims(CONFIG, case_of(tmp_path, program))
    assert bool(said) is fires
    for claim in said:
        assert "no program config" in claim.claim
        assert "in0_block_w=8" in claim.fix
        assert "compute_kernel_config" in claim.fix


def test_a_guess_on_few_cores_or_with_operands_in_l1_is_another_checks(tmp_path, program):
    linear(program, cores=8)
    x, w = program.tensor([1, 1, 1024, 1024], placement=L1), program.weight([1, 1, 1024, 1024])
    put(program, matmul(x, w, program.tensor([1, 1, 1024, 1024]), 100_000))
    assert not claims(CONFIG, case_of(tmp_path, program))


def decoding(program, *, m=32, k=4096, n=4096, kernel_ns=94_000, where=DRAM, **how):
    """17.8 MB of weights: 74.3 us at 240 GB/s, 93.8 us at the 190 that interleaved ones reach."""
    x, y = program.tensor([1, 1, m, k], placement=L1_SHARDS), program.tensor([1, 1, m, n], placement=L1_SHARDS)
    w = program.tensor([1, 1, k, n], "BFLOAT8_B", placement=where)
    put(program, matmul(x, w, y, kernel_ns, **{"program_config": config(), **how}))


L1_SHARDS = width_sharded(32, 64, (8, 8))


@pytest.mark.parametrize(
    ("change", "fires"),
    [
        ({}, True),
        ({"program_config": None}, True),
        ({"kernel_ns": 87_000}, False),  # 85 % of what DRAM-sharded weights reach
        ({"m": 64, "kernel_ns": 100_000}, False),
        ({"n": 512}, False),
        ({"where": Placement("DRAM", "WIDTH_SHARDED")}, False),
        ({"program_config": config(block=1), "kernel_ns": 150_000}, False),  # told as a small block instead
    ],
)
def test_interleaved_weights_of_a_decode_matmul_could_be_sharded_over_the_banks(tmp_path, program, change, fires):
    decoding(program, **change)
    said = [one for one in claims(CONFIG, case_of(tmp_path, program)) if "interleaved weights" in one.claim]
    assert bool(said) is fires
    for claim in said:
        assert claim.at_most_ns.sum() == pytest.approx(94_000 - 16_384 * 1088 / 240, rel=1e-3)
        assert "DRAMShardedProgramConfig(in0_block_w=2, per_core_M=1, per_core_N=2" in claim.fix


def minimal(program, *, m=19, times=4, kernel_ns=60_000):
    x, w, y = program.tensor([1, 1, m, 1280]), program.weight([1, 1, 1280, 1280]), program.tensor([1, 1, m, 1280])
    for _ in range(times):
        put(program, DeviceOp("MinimalMatmulOp", (x, w), (y,), kernel_ns, fidelity="HiFi4"))
    pass_time(program, 10_000)


def test_minimal_matmul_over_one_row_of_tiles_is_the_wrong_tool(tmp_path, program):
    minimal(program)
    claim = the_claim(MINIMAL, case_of(tmp_path, program))
    moved = (1280 * 1280 + 2 * 32 * 1280) * 2
    assert claim.at_most_ns.tolist() == [pytest.approx(60_000 - moved / 240)] * 4
    assert "DRAMSharded" in claim.fix
    assert "in0_block_w=2, per_core_M=1, per_core_N=2" in claim.fix


@pytest.mark.parametrize(("m", "fires"), [(32, True), (33, False)])
def test_minimal_matmul_is_fine_from_two_rows_of_tiles_on(tmp_path, program, m, fires):
    minimal(program, m=m)
    assert bool(claims(MINIMAL, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize(("kernel_ns", "fires"), [(24_000, True), (23_500, False)])
def test_minimal_matmul_that_streams_is_fine_too(tmp_path, program, kernel_ns, fires):
    minimal(program, kernel_ns=kernel_ns)
    assert bool(claims(MINIMAL, case_of(tmp_path, program))) is fires


HEADS = [1, 20, 64, 64]


def attention(program, *, gate=False, between=True, weights=False, tail=None):
    q, k, v = (put(program, unary("RELU", program.tensor(HEADS), program.tensor(HEADS), 4_000)) for _ in range(3))
    if weights:
        k = program.weight([1, 1, 64, 64])
    scores = put(program, matmul(q, k, program.tensor(HEADS), 30_000, cores=1))
    if between:
        scores = put(program, binary("MUL", scores, program.tensor(HEADS), program.tensor(HEADS), 4_000))
    softmax = DeviceOp("SoftmaxDeviceOperation", (scores,), (program.tensor(HEADS),), 20_000, fidelity="HiFi4")
    scores = put(program, softmax)
    if gate:
        scores = put(program, DeviceOp("TopKDeviceOperation", (scores,), (program.tensor(HEADS),), 4_000))
    put(program, matmul(scores, v, program.tensor(tail or HEADS), 50_000, cores=2))


@pytest.mark.parametrize("between", [True, False], ids=["scaled", "bare"])
def test_attention_written_out_is_told(tmp_path, program, between):
    attention(program, between=between)
    claim = the_claim(ATTENTION, case_of(tmp_path, program))
    took = 104_000 if between else 100_000
    assert claim.at_most_ns.sum() == pytest.approx(took - 5_000)
    assert "matmuls on 1 to 2 of 64 cores" in claim.claim
    assert "scaled_dot_product_attention(" in claim.fix


@pytest.mark.parametrize("change", [{"gate": True}, {"weights": True}], ids=["a router", "a weight"])
def test_a_softmax_elsewhere_is_no_attention(tmp_path, program, change):
    attention(program, **change)
    assert not list(ATTENTION.look(case_of(tmp_path, program)))


@pytest.mark.parametrize(("window_ns", "fires"), [(9_800_000, True), (10_000_000, False)])
def test_attention_is_told_from_one_percent_on(tmp_path, program, window_ns, fires):
    attention(program)
    pass_time(program, window_ns - 116_000)
    assert bool(claims(ATTENTION, case_of(tmp_path, program))) is fires


def sdpa(program, *, rows=4096, chunks=None, kernel_ns=4_000_000, name="ScaledDotProductAttention", length=None):
    shape = [1, 8, rows, 64]
    q, k, v = (program.tensor(shape) for _ in range(3))
    given = (
        f"SDPAProgramConfig(q_chunk_size={chunks[0]},k_chunk_size={chunks[1]},exp_approx_mode=0)"
        if chunks
        else None
    )
    attributes = {"is_causal": False, "program_config": given}
    op = DeviceOp(f"{name}DeviceOperation", (q, k, v), (program.tensor(shape),), kernel_ns, fidelity="HiFi2")
    op.attributes = attributes
    put(program, op)


@pytest.mark.parametrize(
    ("chunks", "fires"),
    [(None, True), ((32, 32), True), ((128, 32), True), ((64, 64), False), ((128, 256), False)],
)
def test_sdpa_in_chunks_of_32_over_a_long_sequence_is_told(tmp_path, program, chunks, fires):
    sdpa(program, chunks=chunks)
    said = claims(SDPA, case_of(tmp_path, program))
    assert bool(said) is fires
    for claim in said:
        assert claim.at_most_ns.tolist() == [pytest.approx(4_000_000 * (1 - 1 / 3.75))]
        assert "q_chunk_size=128" in claim.fix


@pytest.mark.parametrize(("rows", "fires"), [(2048, True), (2016, False)])
def test_sdpa_over_a_short_sequence_is_left_alone(tmp_path, program, rows, fires):
    sdpa(program, rows=rows)
    assert bool(claims(SDPA, case_of(tmp_path, program))) is fires


def test_sdpa_that_saturates_the_engine_has_nothing_to_gain(tmp_path, program):
    sdpa(program, kernel_ns=350_000)  # 34.4 GFLOP at HiFi2: 262 us on 64 cores, three quarters of it
    assert not claims(SDPA, case_of(tmp_path, program))


def test_decode_attention_has_no_chunks_of_q(tmp_path, program):
    sdpa(program, name="ScaledDotProductAttentionDecode")
    (said,) = SDPA.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


BIG = [1, 1, 8192, 512]


def stream(program, *, shape=BIG, kernel_ns=110_000, placement=DRAM, conv=True, read=True):
    """8.4 MB in, 8.4 MB out: 58 us at 288 GB/s."""
    first = put(program, unary("RELU", program.tensor(shape, placement=L1), program.tensor(shape), 4_000))
    x = program.tensor(shape, placement=placement)
    if placement.shard is None:
        x = first
    y = put(program, unary("GELU", x, program.tensor(shape, placement=placement), kernel_ns))
    if read:
        put(program, unary("TANH", y, program.tensor(shape, placement=L1), 4_000))
    if conv:
        put(
            program,
            DeviceOp(
                "Conv2dDeviceOperation", (program.tensor([1, 1, 64, 64]),), (program.tensor([1, 1, 64, 64]),), 4_000
            ),
        )


def test_an_elementwise_op_that_streams_what_fits_l1_is_told(tmp_path, program):
    stream(program)
    claim = the_claim(HOT, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [108_000]  # the launch stays
    assert "ShardStrategy.HEIGHT" in claim.fix
    assert "program_config and compute_kernel_config" in claim.fix


@pytest.mark.parametrize(
    "change",
    [
        {"placement": height_sharded(128, 512, (8, 8))},
        {"read": False},
        {"conv": False},
        {"shape": [1, 1, 131_072, 512], "kernel_ns": 1_500_000},
    ],
    ids=["sharded already", "the model's output", "prefill", "too large for L1"],
)
def test_operands_that_belong_where_they_are_stay_there(tmp_path, program, change):
    stream(program, **change)
    assert not claims(HOT, case_of(tmp_path, program))


@pytest.mark.parametrize(("kernel_ns", "fires"), [(190_000, True), (198_000, False)])
def test_an_op_that_does_not_wait_for_dram_is_left_alone(tmp_path, program, kernel_ns, fires):
    stream(program, kernel_ns=kernel_ns)
    assert bool(claims(HOT, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize("check", [CONFIG, MINIMAL, ATTENTION, SDPA, HOT], ids=lambda check: check.id)
def test_a_run_without_such_ops_is_not_applicable(tmp_path, program, check):
    x, y = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64], placement=height_sharded(32, 64, 2))
    put(program, sharded_to_interleaved(y, x, 10_000))
    (said,) = check.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


def test_matmuls_that_say_nothing_of_their_config_cannot_be_judged(tmp_path, program):
    x, w, y = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 10_000))
    (said,) = CONFIG.look(case_of(tmp_path, program))
    assert isinstance(said, CannotTell)

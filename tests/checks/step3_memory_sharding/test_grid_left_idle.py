"""grid-left-idle: program configs that give a core more than the grid asks for."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.for_all import for_all
from tests.profiles import DRAM, Program, width_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.checks.levers import ATTENTION_GRID

NAME = "MatmulMultiCoreReuseMultiCast{}ProgramConfig"


def one_sided(per_n=6, per_m=1, *, mcast_in0=1, extra="", kind="1D"):
    sizes = f"in0_block_w=8,per_core_M={per_m},per_core_N={per_n},fuse_batch=1,mcast_in0={mcast_in0}{extra}"
    return f"{NAME.format(kind)}(compute_with_storage_grid_size=(x=8,y=8),{sizes})"


def both_sided(per_m, per_n, extra=""):
    sizes = f"in0_block_w=8,per_core_M={per_m},per_core_N={per_n}{extra}"
    return f"{NAME.format('')}(compute_with_storage_grid_size=(x=8,y=8),{sizes})"


def multiplied(
    program, config, *, name="Matmul", m=32, k=1024, n=4096, kernel_ns=400_000, where=DRAM, into=DRAM, **said
):
    x, y = program.tensor([1, 1, m, k], placement=where), program.tensor([1, 1, m, n], placement=into)
    attributes = {"program_config": config, **said}
    w = program.tensor([1, 1, k, n], "BFLOAT8_B")
    put(
        program, DeviceOp(f"{name}DeviceOperation", (x, w), (y,), kernel_ns, fidelity="LoFi", attributes=attributes)
    )


def of_matmul(config, arch="blackhole", grid=(11, 10), **how):
    program = Program(arch, grid=grid)
    multiplied(program, config, **how)
    return program


def attending(
    grid="(x=8,y=8)",
    chunk=128,
    *,
    heads=32,
    name="ScaledDotProductAttention",
    kernel_ns=2_994_400,
    cards=(11, 10),
    cores=None,
):
    program = Program("blackhole", grid=cards)
    q, k, v, y = (program.tensor([1, heads, 4096, 128], "BFLOAT8_B") for _ in range(4))
    config = f"SDPAProgramConfig(compute_with_storage_grid_size={grid},q_chunk_size={chunk},k_chunk_size=128)"
    attributes = {"is_causal": True, "program_config": config}
    op = DeviceOp(f"{name}DeviceOperation", (q, k, v), (y,), kernel_ns, fidelity="HiFi2", attributes=attributes)
    op.cores = cores
    put(program, op)
    return program


def test_columns_of_a_matmul_could_be_dealt_out_finer(check):
    """128 tiles on 110 cores: two each, not six (tt-xla's E31: 45 % of its time), in blocks of 32 tiles, not of 8."""
    outcome = check.ask(of_matmul(one_sided(6), name="SparseMatmul", nnz=1))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(400_000 * (1 - 2 / 6 * 8 / 32))]
    assert claim.expected is None
    assert claim.claim == (
        "1 matmul gives more work to each core than 8x8 cores need (400 us, 100.0%): 6 tiles, not 2, "
        f"32x1024 * 1024x4096 -> 32x4096 at line {line}"
    )
    assert "compute_with_storage_grid_size=(8, 8), per_core_M=1, per_core_N=2" in claim.fix
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "ATTRIBUTES.program_config")]


def test_blocks_of_a_sparse_matmul_get_no_deeper_than_was_measured(check):
    def left(block):
        config = one_sided(6).replace("in0_block_w=8", f"in0_block_w={block}")
        return 1 - check.ask(of_matmul(config, name="SparseMatmul", nnz=1)).at_most_ns / 400_000

    assert [left(block) for block in (16, 32, 40)] == pytest.approx([1 / 6, 1 / 3, 1 / 3])


def test_wider_subblocks_of_sparse_matmuls_are_no_advice(check):
    """At out_subblock_w of 2 and 3 the experts of GLM-4.7-Flash came out wrong."""
    sparse, dense = (
        check.ask(of_matmul(one_sided(6), name=name, nnz=1)).claim for name in ("SparseMatmul", "Matmul")
    )
    assert ("out_subblock" in sparse.fix, "out_subblock" in dense.fix) == (False, True)
    assert sparse.caveat.startswith("keep out_subblock_w=1")
    assert "on purpose" in dense.caveat


@for_all("program", [lambda: of_matmul(one_sided()), attending])
def test_texts_are_short_and_cells_its_own(check, program):
    check.assert_sound(program())


def test_work_that_does_not_divide_finer_is_dealt_out_well(check):
    """128 tiles on 110 cores are two each, though 46 cores are idle then."""
    check.pair(lambda per_n: of_matmul(one_sided(per_n)), silent=2, fires=3)


def test_a_tenth_less_work_is_the_line(check):
    """Wormhole: 64 cores; 640 tiles are 10 each."""
    sized = {"arch": "wormhole_b0", "grid": (8, 8), "m": 96, "n": 640 * 32, "kernel_ns": 3_000_000}
    check.pair(lambda per_n: of_matmul(one_sided(per_n, 3), **sized), silent=11, fires=12)


def test_few_rows_may_be_quickest_on_half_of_the_grid(check):
    """64 rows: 32 of 64 cores were the best of a sweep (Qwen3-TTS). 128 tiles are 4 on each of 32 cores, 5 on 26."""
    on = {"arch": "wormhole_b0", "grid": (8, 8)}
    check.pair(lambda per_n: of_matmul(one_sided(per_n, 2), m=64, **on), silent=4, fires=5)
    check.pair(lambda rows: of_matmul(one_sided(4, rows), m=rows * 32, **on), silent=2, fires=3)


def test_columns_that_do_not_divide_n_are_not_offered(check, measured):
    """192 tiles on 11 columns: 18 each leave a rest, which came out wrong (CLM-8B). 198 do not."""

    def claim(columns):
        return check.ask(of_matmul(both_sided(1, 32), m=128, n=columns * 32, kernel_ns=2_000_000)).claim

    def fix(columns):
        return claim(columns).fix

    measured("grid-left-idle")
    assert (claim(192).expected is None, claim(198).expected is None) == (True, False)

    assert fix(192).startswith("pad the weights' N to 6336 with zeros")
    assert fix(198).startswith("program_config as now with compute_with_storage_grid_size=(11, 10), per_core_M=1")
    assert all("per_core_N=18" in fix(columns) for columns in (192, 198))


def test_rows_are_dealt_out_where_the_weights_are_multicast(check):
    """440 tiles of M on 110 cores: 4 each."""
    wide = {"m": 440 * 32, "n": 32, "kernel_ns": 4_000_000}
    outcome = check.pair(lambda per_m: of_matmul(one_sided(1, per_m, mcast_in0=0), **wide), silent=4, fires=7)
    assert "per_core_M=4, per_core_N=1" in outcome.claim.fix


def test_both_sides_are_dealt_out_over_rows_and_columns(check):
    """40 x 44 tiles: 4 x 4 on 10 rows and 11 columns, 5 x 6 on 8 x 8."""
    square = {"m": 40 * 32, "n": 44 * 32, "kernel_ns": 900_000}
    outcome = check.pair(lambda sizes: of_matmul(both_sided(*sizes), **square), silent=(4, 4), fires=(5, 6))
    assert outcome.at_most_ns == pytest.approx(900_000 * (1 - 16 / 30))


def test_chunks_of_attention_are_dealt_out_over_the_grid_of_its_config(check):
    """tt-metal PR #56898: 2994 -> 2271 us. 1024 chunks: 16 on each of 64 cores, 10 on each of 110."""
    outcome = check.pair(attending, silent="(x=11,y=10)", fires="(x=8,y=8)")
    assert outcome.at_most_ns == pytest.approx(2_994_400 * 6 / 16)
    assert outcome.at_most_ns / 1e3 >= 2994.4 - 2271.1
    assert "1 attention op gives more work to each core than 11x10 cores need" in outcome.claim.claim
    assert "16 chunks, not 10" in outcome.claim.claim
    assert outcome.claim.lever == ATTENTION_GRID
    assert "compute_with_storage_grid_size=device.compute_with_storage_grid_size()" in outcome.claim.fix


def test_as_many_chunks_as_cores_need_no_more(check):
    """Two heads of 4096 rows in chunks of 128 are 64 chunks."""
    check.pair(lambda heads: attending(heads=heads), silent=2, fires=3)


def test_a_tenth_fewer_chunks_per_core_is_the_line_too(check):
    """1024 chunks: 10 on each of 110 cores, 11 on each of 100, 12 on each of 90."""
    check.pair(attending, silent="(x=10,y=10)", fires="(x=9,y=10)")


def test_blackhole_stops_at_eleven_columns(check):
    check.pair(lambda grid: attending(grid, cards=(13, 10)), silent="(x=11,y=10)", fires="(x=8,y=8)")


def test_a_minimal_matmul_takes_the_grid_that_its_config_names(check):
    """CLM-8B's QKV over 1024 rows: 652 us on 8 x 8 cores, 526 on 11 x 10."""

    def at(grid):
        program = of_matmul("", m=1024, k=4096, n=6144, kernel_ns=652_000)
        op = program.device_ops[0]
        op.op_code = "MinimalMatmulDeviceOperation"
        size = f",compute_with_storage_grid_size=(x={grid[0]},y={grid[1]})" if grid else ""
        op.attributes = {
            **op.attributes,
            "program_config": None,
            "config": f"MinimalMatmulConfig(M_block_size=8{size})",
        }
        return program

    claim = check.assert_sound(at((8, 8)))
    assert ": 96 tiles, not 72, " in claim.claim
    assert claim.at_most_ns.tolist() == [163_000]
    assert claim.fix == (
        "ttnn.MinimalMatmulConfig(compute_with_storage_grid_size=ttnn.CoreCoord(11, 10), <the rest as now>), "
        "M_block_size and N_block_size for 4 x 18 tiles a core"
    )
    assert [one.column for one in claim.evidence] == ["DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.config"]
    check.pair(at, silent=(11, 10), fires=(8, 8))
    check.pair(at, silent=None, fires=(8, 8))


@for_all("name", ["SdpaDecode", "RingJointScaledDotProductAttention", "FlashMLA"])
def test_decode_deals_out_its_cache_and_a_ring_keeps_cores_for_the_exchange(check, name):
    check.pair(lambda one: attending(name=one), silent=name, fires="ScaledDotProductAttention")


@for_all("operand", ["where", "into"])
def test_shards_choose_the_cores(check, operand):
    shards = {"where": width_sharded(32, 32, (8, 4)), "into": width_sharded(32, 128, (8, 4))}[operand]
    check.pair(lambda place: of_matmul(one_sided(6), **{operand: place}), silent=shards, fires=DRAM)


@for_all("extra", [",gather_in0=1", ",transpose_mcast=1"])
def test_rings_and_transposed_grids_have_reasons_for_theirs(check, extra):
    check.pair(lambda more: of_matmul(one_sided(6, extra=more)), silent=extra, fires="")


def test_weights_in_the_banks_are_another_checks(check):
    check.pair(lambda kind: of_matmul(one_sided(6, kind=kind)), silent="DRAMSharded", fires="1D")


def test_a_part_of_the_chip_was_given(check):
    said = {"silent": {"sub_device_id": "SubDeviceId(1)"}, "fires": {}}
    check.pair(lambda given: of_matmul(one_sided(6), **given), **said)


def test_rows_of_all_batches_count_where_they_are_fused(check):
    def at(fused):
        program = Program("wormhole_b0")
        x, y = (program.tensor([1, 8, 256, side]) for side in (1024, 256))
        w = program.tensor([1, 1, 1024, 256])
        config = both_sided(8, 1, f",fuse_batch={fused}")
        op = DeviceOp("MatmulDeviceOperation", (x, w), (y,), 900_000, fidelity="LoFi")
        op.attributes = {"program_config": config}
        put(program, op)
        return program

    check.pair(at, silent=1, fires=0)


def test_dram_bytes_stay(check):
    """17.8 MB of weights: 41 us at 435 GB/s."""
    outcome = check.ask(of_matmul(one_sided(6), k=4096, kernel_ns=50_000))
    assert outcome.at_most_ns == pytest.approx(50_000 - (17_825_792 + 2 * 32 * 8192) / 435.2)
    assert check.ask(of_matmul(one_sided(6), k=4096, kernel_ns=45_000)).status == "clean"


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    """A tenth of it must be left above 5 us."""
    small = {"k": 32, "n": 4096}
    check.pair(lambda ns: of_matmul(one_sided(6), kernel_ns=ns, **small), silent=5_500, fires=5_600)


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: multiplied(program, one_sided(6)), 0.01, of="saving")


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_matmul(one_sided(6)))).status == "clean"


def test_a_grid_that_is_not_in_the_report_cannot_be_called_idle(check):
    assert check.ask(of_matmul(one_sided(6)), without="AVAILABLE WORKER CORE COUNT").status == "clean"


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no matmuls and no fused attention"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("CORE COUNT", "CORE COUNT"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)


def test_two_columns_of_tiles_per_core_are_enough_for_experts(check):
    def experts(per_n, name="SparseMatmul"):
        program = Program("blackhole", grid=(11, 10))
        x, w, y = (program.tensor([1, 1, *sides]) for sides in ((32, 1024), (1024, 2048), (32, 2048)))
        attributes = {"program_config": one_sided(per_n), "nnz": 1}
        put(
            program,
            DeviceOp(f"{name}DeviceOperation", (x, w), (y,), 400_000, fidelity="LoFi", attributes=attributes),
        )
        return program

    check.pair(experts, silent=2, fires=3)
    assert check.ask(experts(2, "Matmul")).fires


def test_weights_in_batches_and_experts_are_a_trial(check, measured):
    measured("grid-left-idle")

    def asked(batches, name="Matmul", *, per_n=6, **said):
        program = Program("blackhole", grid=(11, 10))
        x, y = (program.tensor([1, batches, 32, n], "BFLOAT8_B") for n in (1024, 4096))
        w, config = (
            program.tensor([1, batches, 1024, 4096], "BFLOAT8_B"),
            {"program_config": one_sided(per_n), **said},
        )
        put(
            program,
            DeviceOp(f"{name}DeviceOperation", (x, w), (y,), 900_000, fidelity="LoFi", attributes=config),
        )
        return check.ask(program)

    assert asked(1).claim.expected
    assert asked(8).claim.expected is None
    assert asked(1, "SparseMatmul", nnz=1).claim.expected is None


def test_a_tenth_less_work_is_the_line_of_weights_in_batches_too(check):
    def batched(per_n):
        program = of_matmul(one_sided(per_n, 3), "wormhole_b0", (8, 8), m=96, n=640 * 32, kernel_ns=24_000_000)
        op = program.device_ops[0]
        x, w, y = (program.tensor([1, 8, *tensor.shape[2:]], tensor.dtype) for tensor in (*op.inputs, *op.outputs))
        op.inputs, op.outputs = (x, w), (y,)
        return program

    check.pair(batched, silent=11, fires=12)


def test_attention_is_told_once(check):
    """Its keys lie in batches of heads, as weights of experts do, or are one head."""
    for heads, grid in ((32, "(x=8,y=8)"), (1, "(x=4,y=4)")):
        assert len(check.ask(attending(grid, heads=heads)).claims) == 1
    assert check.ask(attending(cores=64)).claim.expected

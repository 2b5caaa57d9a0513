"""known-to-compute-wrongly: what TTNN or the chip gets wrong, by the setting that brings it about."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp, sharded

NAME = "MatmulMultiCoreReuseMultiCast{}ProgramConfig"
BANKS = sharded("WIDTH", 1024, 512, (8, 1), buffer="DRAM")


def computing(fidelity="HiFi4", fp32=1, *, arch="wormhole_b0", name="Matmul"):
    program = Program(arch)
    config = f"WormholeComputeKernelConfig(math_fidelity={fidelity},fp32_dest_acc_en={fp32},packer_l1_acc=1)"
    x, w, y = (program.tensor([1, 1, 1024, 1024]) for _ in range(3))
    attributes = {"compute_kernel_config": config}
    put(program, DeviceOp(f"{name}DeviceOperation", (x, w), (y,), 90_000, fidelity=fidelity, attributes=attributes))
    return program


def normed(groups=32, *, channels=512, welford=None, arch="blackhole", where=DRAM):
    program = Program(arch)
    x, y = (program.tensor([1, 1, 1024, channels], placement=where) for _ in range(2))
    said = {"num_groups": groups, **({} if welford is None else {"use_welford": welford})}
    put(program, DeviceOp("GroupNormDeviceOperation", (x,), (y,), 90_000, fidelity="HiFi4", attributes=said))
    return program


def multiplied(config, *, arch="blackhole", weights=DRAM, n=4096, name="Matmul"):
    program = Program(arch)
    x, y = program.tensor([1, 1, 2048, 1024]), program.tensor([1, 1, 2048, n])
    w = program.tensor([1, 1, 1024, n], "BFLOAT8_B", placement=weights)
    put(program, DeviceOp(name, (x, w), (y,), 90_000, fidelity="LoFi", attributes={"program_config": config}))
    return program


def by_rows(per_n, mcast_in0=0):
    sizes = f"in0_block_w=4,per_core_M=1,per_core_N={per_n},mcast_in0={mcast_in0}"
    return f"{NAME.format('1D')}(compute_with_storage_grid_size=(x=8,y=8),{sizes})"


def on_columns(columns, kind=""):
    return f"{NAME.format(kind)}(compute_with_storage_grid_size=(x={columns},y=8),per_core_M=8,per_core_N=12)"


def test_sums_in_float32_at_hifi4_are_wrong_on_wormhole(check):
    """tt-metal #38306: the pair of settings, on this chip."""
    claim = check.pair(computing, silent="HiFi3", fires="HiFi4").claim
    check.pair(lambda fp32: computing(fp32=fp32), silent=0, fires=1)
    check.pair(lambda arch: computing(arch=arch), silent="blackhole", fires="wormhole_b0")
    assert "math_fidelity=ttnn.MathFidelity.HiFi3" in claim.fix
    assert "fp32_dest_acc_en=True" in claim.fix
    assert claim.at_most_ns.tolist() == [0]


def test_only_the_engines_ops_have_that_fault(check):
    check.pair(lambda name: computing(name=name), silent="LayerNorm", fires="Matmul")


def test_attention_was_not_seen_to_have_it(check):
    program = computing()
    put(program, computing(name="ScaledDotProductAttention").device_ops[0])
    assert check.ask(program).claim.rows.tolist() == [0]


def test_welford_loses_accuracy_on_blackhole(check):
    wide = {"groups": 16}
    check.pair(lambda welford: normed(**wide, welford=welford), silent=False, fires=True)
    check.pair(lambda arch: normed(**wide, welford=True, arch=arch), silent="wormhole_b0", fires="blackhole")


def test_groups_narrower_than_a_tile_need_welford(check):
    """512 channels: 16 groups have 32 each, 17 have fewer."""
    claim = check.pair(normed, silent=16, fires=17).claim
    check.pair(lambda welford: normed(welford=welford, arch="wormhole_b0"), silent=True, fires=False)
    assert "use_welford=True" in claim.fix
    assert check.ask(normed(groups=None)).status == "clean"


def test_sharded_norms_were_not_seen_to_fail(check):
    shards = sharded("HEIGHT", 32, 512, (8, 4))
    check.pair(lambda where: normed(where=where), silent=shards, fires=L1)


def test_multicast_weights_must_divide_n(check):
    """128 tiles: 24 leave a rest, 32 do not; all 128 on each core is one block."""
    check.pair(lambda per_n: multiplied(by_rows(per_n)), silent=32, fires=24)
    check.pair(lambda per_n: multiplied(by_rows(per_n)), silent=130, fires=24)
    check.pair(lambda mcast: multiplied(by_rows(24, mcast)), silent=1, fires=0)
    check.pair(lambda kind: multiplied(by_rows(24).replace("1D", kind)), silent="", fires="1D")


def test_columns_beyond_the_banks_are_not_finite(check):
    def at(columns, **how):
        return multiplied(on_columns(columns), **{"weights": BANKS, **how})

    claim = check.pair(at, silent=8, fires=9).claim
    check.pair(lambda weights: at(9, weights=weights), silent=DRAM, fires=BANKS)
    check.pair(lambda weights: at(9, weights=weights), silent=replace(BANKS, buffer="L1"), fires=BANKS)
    check.pair(lambda name: at(9, name=name), silent="LayerNorm", fires="Matmul")
    check.pair(lambda arch: at(9, arch=arch), silent="wormhole_b0", fires="blackhole")
    assert "at most 8 columns" in claim.fix
    assert check.ask(multiplied(on_columns(9, "1D"), weights=BANKS)).status == "clean"


def test_a_fused_reduce_scatter_races_on_blackhole(check):
    def fused(arch="blackhole", name="MatmulReduceScatterAsync"):
        return multiplied(by_rows(32), arch=arch, name=name)

    check.pair(fused, silent="wormhole_b0", fires="blackhole")
    check.pair(lambda name: fused(name=name), silent="Matmul", fires="MinimalMatmulStridedReduceScatterAsync")
    check.pair(lambda name: fused(name=name), silent="LayerNormReduceScatter", fires="MatmulReduceScatterAsync")


def of_experts(subblock=2, rows=64, name="SparseMatmul"):
    program = Program("blackhole")
    x, w, y = program.tensor([1, rows // 32, 32, 2048]), program.weight([1, 8, 2048, 3072]), program.tensor([1, 8, rows, 3072])  # fmt: skip
    given = (
        f"{NAME.format('1D')}(in0_block_w=8,out_subblock_h=1,out_subblock_w={subblock},per_core_M=1,per_core_N=4)"
    )
    put(program, DeviceOp(f"{name}DeviceOperation", (x, w), (y,), 90_000, attributes={"program_config": given}))
    return program


def test_sparse_matmuls_of_several_groups_want_subblocks_of_a_tile(check):
    """GLM-4.7-Flash's came out with a PCC of 0.87 in subblocks of two, with 0.99 in those of one."""
    claim = check.pair(of_experts, silent=1, fires=2).claim
    assert "out_subblock_w=1" in claim.fix
    check.pair(lambda rows: of_experts(rows=rows), silent=32, fires=64)
    check.pair(lambda name: of_experts(name=name), silent="Matmul", fires="SparseMatmul")


@for_all(
    "program",
    [
        computing,
        of_experts,
        lambda: normed(16, welford=True),
        normed,
        lambda: multiplied(by_rows(24)),
        lambda: multiplied(on_columns(9), weights=BANKS),
        lambda: multiplied(by_rows(32), name="MatmulReduceScatterAsync"),
    ],
)
def test_texts_are_short_and_cells_its_own(check, program):
    check.assert_sound(program())


def test_each_fault_is_a_finding_of_its_own(check):
    program = computing()
    x, y = (program.tensor([1, 1, 1024, 512]) for _ in range(2))
    put(program, DeviceOp("GroupNormDeviceOperation", (x,), (y,), 90_000, attributes={"num_groups": 64}))
    assert len(check.ask(program).claims) == 2


def test_a_config_of_another_op_says_nothing(check):
    assert check.ask(multiplied("MatmulMultiCoreProgramConfig()", weights=BANKS)).status == "clean"
    assert check.ask(multiplied(f"{NAME.format('')}(per_core_M=8)", weights=BANKS)).status == "clean"
    assert check.ask(multiplied(None, weights=BANKS)).status == "clean"


def test_other_ops_are_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    assert check.ask(program).why == "no matmuls, convs or norms"


def test_a_report_without_operands_cannot_tell(check):
    assert check.ask(computing(), without="PUT_").status == "cannot_tell"
    assert check.ask(multiplied(by_rows(24)), without="INPUT_[1-9]").status == "found"
